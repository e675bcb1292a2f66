"""The cumulants of (w·x, v·x) for i.i.d. coordinates: c_ab = κ_{a+b} Σ_i w_i^a v_i^b."""

from __future__ import annotations

import numpy as np

from shallows.model.kernels.base import transpose
from shallows.model.kernels.price import Cumulants, Order
from shallows.support.checks import Array


class IIDCumulants(Cumulants):
    """Cumulants add over independent coordinates, so each is one matrix product W^{∘a} (V^{∘b})ᵀ."""

    def __init__(self, cumulants: Array) -> None:
        self.kappa = cumulants

    def orders(self, left: int, right: int) -> list[Order]:
        """All (a, b) with κ_{a+b} ≠ 0."""
        grid = ((a, b) for a in range(left + 1) for b in range(right + 1) if a + b > 0)
        return [(a, b) for a, b in grid if self.kappa[a + b] != 0]

    @staticmethod
    def _power(X: Array, exponent: int) -> Array:
        if exponent == 0:
            return np.ones_like(X)
        result = X
        for _ in range(exponent - 1):
            result = result * X
        return result

    def _slope(self, X: Array, dX: Array, exponent: int) -> Array:
        return exponent * self._power(X, exponent - 1) * dX

    def value(self, order: Order, W: Array, V: Array) -> Array:
        """κ_{a+b} W^{∘a} (V^{∘b})ᵀ."""
        a, b = order
        kappa = self.kappa[a + b]
        if b == 0:
            return np.asarray(kappa * np.sum(self._power(W, a), axis=-1)[..., :, None])
        if a == 0:
            return np.asarray(kappa * np.sum(self._power(V, b), axis=-1)[..., None, :])
        return np.asarray(kappa * (self._power(W, a) @ transpose(self._power(V, b))))

    def push(self, order: Order, W: Array, V: Array, dW: Array, dV: Array | None) -> Array:
        """κ_{a+b} (a w^{a−1}dw · v^b + w^a · b v^{b−1}dv)."""
        a, b = order
        result = np.zeros((1, 1))
        if a > 0:
            result = result + self._slope(W, dW, a) @ transpose(self._power(V, b))
        if b > 0 and dV is not None:
            result = result + self._power(W, a) @ transpose(self._slope(V, dV, b))
        return np.asarray(self.kappa[a + b] * result)

    def pull(self, order: Order, W: Array, V: Array, C: Array) -> Array:
        """κ_{a+b} a wᵢ^{a−1} ∘ Σⱼ C_ij vⱼ^b."""
        a, b = order
        return np.asarray(self.kappa[a + b] * a * self._power(W, a - 1) * (C @ self._power(V, b)))

    def pull_jvp(self, order: Order, W: Array, V: Array, C: Array, dW: Array, dV: Array | None) -> Array:
        """The product rule on `pull`."""
        a, b = order
        result = np.zeros_like(W)
        if a > 1:
            result = result + self._slope(W, dW, a - 1) * (C @ self._power(V, b))
        if b > 0 and dV is not None:
            result = result + self._power(W, a - 1) * (C @ self._slope(V, dV, b))
        return np.asarray(self.kappa[a + b] * a * result)
