"""Neuron kernels k(w, v) = E[σ(w·x) τ(v·x)] with first and second derivatives."""
