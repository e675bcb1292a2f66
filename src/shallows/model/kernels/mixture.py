"""Kernels of mixtures: weighted sums over the parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from shallows.model.kernels.base import Kernel
from shallows.support.checks import Array


class MixtureKernel(Kernel):
    """k = Σ γᵢ kᵢ (paper 000, equation 18)."""

    def __init__(self, weights: Iterable[float], parts: Sequence[Kernel]) -> None:
        self.terms = [(float(w), part) for w, part in zip(weights, parts, strict=True) if w != 0]

    def value(self, W: Array, V: Array) -> Array:
        """Σ γᵢ kᵢ(w, v)."""
        return np.asarray(sum(w * part.value(W, V) for w, part in self.terms))

    def truncation_error(self, W: Array, V: Array) -> float:
        """Σ γᵢ times the parts' bounds."""
        return sum(w * part.truncation_error(W, V) for w, part in self.terms)

    def value_jvp(self, W: Array, V: Array, dW: Array, dV: Array | None) -> Array:
        """The weighted sum of the parts' derivatives."""
        return np.asarray(sum(w * part.value_jvp(W, V, dW, dV) for w, part in self.terms))

    def gradient(self, W: Array, V: Array, B: Array) -> Array:
        """The weighted sum of the parts' gradients."""
        return np.asarray(sum(w * part.gradient(W, V, B) for w, part in self.terms))

    def gradient_jvp(
        self, W: Array, V: Array, B: Array, dW: Array, dV: Array | None, dB: Array | None
    ) -> Array:
        """The weighted sum of the parts' second derivatives."""
        return np.asarray(sum(w * part.gradient_jvp(W, V, B, dW, dV, dB) for w, part in self.terms))
