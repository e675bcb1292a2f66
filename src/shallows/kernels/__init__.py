"""Neuron kernels k(w, v) = E[σ(w·x) τ(v·x)] with first and second derivatives."""

from shallows.kernels.base import Kernel
from shallows.kernels.dispatch import kernel

__all__ = ["Kernel", "kernel"]
