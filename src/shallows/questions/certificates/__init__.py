"""Proofs at one point, in ball arithmetic: a critical point next to given weights, and its index."""
