"""Kernels on samples: k(w, v) = mean of σ(w·x) τ(v·x)."""

from __future__ import annotations

import numpy as np

from shallows.model.activations import Activation
from shallows.model.kernels.base import Kernel, transpose
from shallows.support.checks import Array


class EmpiricalKernel(Kernel):
    """The mean over the rows of X, for any activation with the derivatives that are asked for; `weights` of mean 1."""

    def __init__(self, X: Array, left: Activation, right: Activation, weights: Array | None = None) -> None:
        self.X, self.weights = X, weights
        self.left, self.right = left, right

    def value(self, W: Array, V: Array) -> Array:
        """mean σ(w·x) τ(v·x)."""
        left = self._weighted(self._hidden(self.left, W, 0))
        return np.asarray(left @ transpose(self._hidden(self.right, V, 0)) / len(self.X))

    def _weighted(self, values: Array) -> Array:
        """Values (…, N), each with the weight of its sample."""
        return values if self.weights is None else values * self.weights

    def _hidden(self, activation: Activation, W: Array, order: int) -> Array:
        """σ^(order)(wᵢ·x) for each neuron and sample, shape (…, k, N)."""
        return activation.derivative(W @ self.X.T, order)

    def value_jvp(self, W: Array, V: Array, dW: Array, dV: Array | None) -> Array:
        """mean σ′(w·x) (dw·x) τ(v·x) + σ(w·x) τ′(v·x) (dv·x)."""
        right = self._weighted(self._hidden(self.right, V, 0))
        result = (self._hidden(self.left, W, 1) * (dW @ self.X.T)) @ transpose(right)
        if dV is not None:
            slope = self._weighted(self._hidden(self.right, V, 1) * (dV @ self.X.T))
            result = result + self._hidden(self.left, W, 0) @ transpose(slope)
        return np.asarray(result / len(self.X))

    def gradient(self, W: Array, V: Array, B: Array) -> Array:
        """mean σ′(wᵢ·x) (Σⱼ B_ij τ(vⱼ·x)) x."""
        weights = self._hidden(self.left, W, 1) * (B @ self._hidden(self.right, V, 0))
        return np.asarray(self._weighted(weights) @ self.X / len(self.X))

    def gradient_jvp(
        self, W: Array, V: Array, B: Array, dW: Array, dV: Array | None, dB: Array | None
    ) -> Array:
        """The product rule on `gradient`."""
        right = self._hidden(self.right, V, 0)
        first = self._hidden(self.left, W, 1)
        weights = self._hidden(self.left, W, 2) * (dW @ self.X.T) * (B @ right)
        if dV is not None:
            weights = weights + first * (B @ (self._hidden(self.right, V, 1) * (dV @ self.X.T)))
        if dB is not None:
            weights = weights + first * (dB @ right)
        return np.asarray(self._weighted(weights) @ self.X / len(self.X))
