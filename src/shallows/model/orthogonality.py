"""The orthogonality penalty γ‖WᵀW − I‖²_F (paper 002) on neurons whose first weights, biases, it leaves out."""

from __future__ import annotations

import numpy as np

from shallows.support.checks import Array


def penalty_and_slope(gamma: float, neurons: Array, first: int) -> tuple[Array, Array]:
    """The penalty on neurons (…, k, m), W their columns from `first` on, and its slope 4γ W(WᵀW − I).

    >>> value, slope = penalty_and_slope(0.5, np.array([[7.0, 2.0]]), first=1)        # 0.5 (2² − 1)², a bias of 7
    >>> float(value), slope
    (4.5, array([[ 0., 12.]]))
    """
    W = neurons[..., first:]
    defect = W.swapaxes(-1, -2) @ W - np.eye(W.shape[-1])
    slope = np.zeros_like(neurons)
    slope[..., first:] = 4 * gamma * (W @ defect)
    return np.asarray(gamma * np.sum(defect**2, axis=(-1, -2))), slope


def penalty_product(gamma: float, neurons: Array, direction: Array, first: int) -> Array:
    """Its second derivative at neurons (k, m) times directions (…, k, m)."""
    W, dW = neurons[..., first:], direction[..., first:]
    defect = W.T @ W - np.eye(W.shape[-1])
    change = dW.swapaxes(-1, -2) @ W + W.T @ dW
    product = np.zeros_like(direction)
    product[..., first:] = 4 * gamma * (dW @ defect + W @ change)
    return product
