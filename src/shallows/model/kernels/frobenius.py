"""Powers under the Frobenius inner product: k(w, v) = (w·v)^d."""

from __future__ import annotations

import numpy as np

from shallows.model.kernels.base import Kernel, transpose
from shallows.support.checks import Array


class FrobeniusKernel(Kernel):
    """⟨w^⊗d, v^⊗d⟩_F = (w·v)^d."""

    def __init__(self, degree: int) -> None:
        self.degree = degree

    def _power(self, r: Array, order: int) -> Array:
        """The derivative of r^d of the given order."""
        if order > self.degree:
            return np.zeros_like(r)
        factor = float(np.prod(np.arange(self.degree, self.degree - order, -1)))
        return np.asarray(factor * r ** (self.degree - order))

    def value(self, W: Array, V: Array) -> Array:
        """(w·v)^d."""
        return self._power(W @ transpose(V), 0)

    def _slope(self, W: Array, V: Array, dW: Array, dV: Array | None) -> Array:
        slope = dW @ transpose(V)
        return slope if dV is None else slope + W @ transpose(dV)

    def value_jvp(self, W: Array, V: Array, dW: Array, dV: Array | None) -> Array:
        """d (w·v)^(d−1) (dw·v + w·dv)."""
        return np.asarray(self._power(W @ transpose(V), 1) * self._slope(W, V, dW, dV))

    def gradient(self, W: Array, V: Array, B: Array) -> Array:
        """Σⱼ B_ij d (wᵢ·vⱼ)^(d−1) vⱼ."""
        return np.asarray((B * self._power(W @ transpose(V), 1)) @ V)

    def gradient_jvp(
        self, W: Array, V: Array, B: Array, dW: Array, dV: Array | None, dB: Array | None
    ) -> Array:
        """The product rule on `gradient`."""
        r = W @ transpose(V)
        first = self._power(r, 1)
        weights = B * self._power(r, 2) * self._slope(W, V, dW, dV)
        if dB is not None:
            weights = weights + dB * first
        result = weights @ V
        return np.asarray(result if dV is None else result + (B * first) @ dV)
