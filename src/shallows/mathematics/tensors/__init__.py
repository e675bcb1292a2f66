"""Symmetric tensors and forms: coordinates of Sym^d(R^n), values and gradients, text."""
