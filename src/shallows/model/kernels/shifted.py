"""The cumulants of (b + w·x, c + v·x) from those of (w·x, v·x): a constant moves the means and nothing else."""

from __future__ import annotations

import numpy as np

from shallows.model.kernels.price import Cumulants, Order
from shallows.support.checks import Array


class ShiftedCumulants(Cumulants):
    """c_10 gains b and c_01 gains c, the first entries of the neurons (b, w) and (c, v)."""

    def __init__(self, inner: Cumulants) -> None:
        self.inner = inner

    def orders(self, left: int, right: int) -> list[Order]:
        """Those of x, and the means."""
        means = [o for o in [(1, 0), (0, 1)] if o[0] <= left and o[1] <= right]
        return [*means, *(o for o in self.inner.orders(left, right) if o not in means)]

    def _has(self, order: Order) -> bool:
        return order in self.inner.orders(*order)

    def value(self, order: Order, W: Array, V: Array) -> Array:
        """The cumulant of x, plus the bias for a mean."""
        total = self.inner.value(order, W[..., 1:], V[..., 1:]) if self._has(order) else np.zeros((1, 1))
        if order == (1, 0):
            total = total + W[..., :, None, 0]
        if order == (0, 1):
            total = total + V[..., None, :, 0]
        return np.asarray(total)

    def push(self, order: Order, W: Array, V: Array, dW: Array, dV: Array | None) -> Array:
        """The derivative along (dW, dV)."""
        total = np.zeros((1, 1))
        if self._has(order):
            change = None if dV is None else dV[..., 1:]
            total = total + self.inner.push(order, W[..., 1:], V[..., 1:], dW[..., 1:], change)
        if order == (1, 0):
            total = total + dW[..., :, None, 0]
        if order == (0, 1) and dV is not None:
            total = total + dV[..., None, :, 0]
        return np.asarray(total)

    def pull(self, order: Order, W: Array, V: Array, C: Array) -> Array:
        """Σⱼ C_ij ∂c_ab/∂(b, w)ᵢ."""
        inner = np.zeros(W[..., 1:].shape)
        if self._has(order):
            inner = inner + self.inner.pull(order, W[..., 1:], V[..., 1:], C)
        first = np.sum(C, axis=-1) if order == (1, 0) else np.zeros(inner.shape[:-1])
        lead = np.broadcast_shapes(inner.shape[:-1], first.shape)
        inner = np.broadcast_to(inner, (*lead, W.shape[-1] - 1))
        return np.concatenate([np.broadcast_to(first, lead)[..., None], inner], axis=-1)

    def pull_jvp(self, order: Order, W: Array, V: Array, C: Array, dW: Array, dV: Array | None) -> Array:
        """The derivative of `pull`: that of the cumulants of x, the bias enters linearly."""
        inner = np.zeros(np.broadcast_shapes(W[..., 1:].shape, dW[..., 1:].shape))
        if self._has(order):
            change = None if dV is None else dV[..., 1:]
            inner = inner + self.inner.pull_jvp(order, W[..., 1:], V[..., 1:], C, dW[..., 1:], change)
        return np.concatenate([np.zeros((*inner.shape[:-1], 1)), inner], axis=-1)
