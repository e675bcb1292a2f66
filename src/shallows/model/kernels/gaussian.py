"""The cumulants of (w·x, v·x) for x ~ N(m, Σ): means w·m, v·m and covariances wᵀΣw, wᵀΣv, vᵀΣv."""

from __future__ import annotations

import numpy as np

from shallows.model.kernels.base import transpose
from shallows.model.kernels.price import Cumulants, Order
from shallows.support.checks import Array


class GaussianCumulants(Cumulants):
    """c_10 = w·m, c_20 = wᵀΣw, c_11 = wᵀΣv, and the same for v; nothing above order two."""

    def __init__(self, mean: Array, covariance: Array | None) -> None:
        """`covariance` None is the identity."""
        self.centred, self.mean, self.covariance = not mean.any(), mean, covariance

    def orders(self, left: int, right: int) -> list[Order]:
        """Orders one (when the mean is not zero) and two."""
        means = [] if self.centred else [(1, 0), (0, 1)]
        return [o for o in [*means, (2, 0), (1, 1), (0, 2)] if o[0] <= left and o[1] <= right]

    def _sigma(self, W: Array) -> Array:
        return W if self.covariance is None else W @ self.covariance

    def _column(self, X: Array) -> Array:
        return X[..., :, None]

    def _row(self, X: Array) -> Array:
        return X[..., None, :]

    def value(self, order: Order, W: Array, V: Array) -> Array:
        """The mean or covariance of that order."""
        if order == (1, 1):
            return self._sigma(W) @ transpose(V)
        if sum(order) == 1:
            return self._column(W @ self.mean) if order == (1, 0) else self._row(V @ self.mean)
        if order == (2, 0):
            return self._column(np.sum(self._sigma(W) * W, axis=-1))
        return self._row(np.sum(self._sigma(V) * V, axis=-1))

    def push(self, order: Order, W: Array, V: Array, dW: Array, dV: Array | None) -> Array:
        """The derivative of that mean or covariance."""
        if order == (1, 1):
            slope = self._sigma(dW) @ transpose(V)
            return slope if dV is None else slope + self._sigma(W) @ transpose(dV)
        if order == (1, 0):
            return self._column(dW @ self.mean)
        if order == (2, 0):
            return self._column(2 * np.sum(self._sigma(W) * dW, axis=-1))
        if dV is None:
            return np.zeros((1, 1))
        return self._row(dV @ self.mean if order == (0, 1) else 2 * np.sum(self._sigma(V) * dV, axis=-1))

    def pull(self, order: Order, W: Array, V: Array, C: Array) -> Array:
        """Σⱼ C_ij times m, 2Σwᵢ or Σvⱼ."""
        if order == (1, 1):
            return np.asarray(C @ self._sigma(V))
        total = np.sum(C, axis=-1, keepdims=True)
        return np.asarray(total * self.mean if order == (1, 0) else 2 * total * self._sigma(W))

    def pull_jvp(self, order: Order, W: Array, V: Array, C: Array, dW: Array, dV: Array | None) -> Array:
        """Σⱼ C_ij times 0, 2Σdwᵢ or Σdvⱼ."""
        if order == (2, 0):
            return np.asarray(2 * np.sum(C, axis=-1, keepdims=True) * self._sigma(dW))
        if order == (1, 1) and dV is not None:
            return np.asarray(C @ self._sigma(dV))
        return np.zeros_like(W)
