"""The empirical risk by a direct pass over the samples, for any activation."""

from __future__ import annotations

import numpy as np

from shallows.model.activations import Activation
from shallows.model.objective.base import Objective
from shallows.support.checks import Array


class SamplePassObjective(Objective):
    """L = mean over samples of ‖A σ(Ux) − y‖²; X is (N, n), labels are (N, M); `weights` have mean 1."""

    def __init__(self, X: Array, labels: Array, activation: Activation, weights: Array | None = None) -> None:
        self.X, self.labels, self.activation, self.weights = X, labels, activation, weights

    def _residual(self, U: Array, A: Array) -> tuple[Array, Array, Array]:
        """w·x, σ(w·x) and the residual, shapes (…, k, N), (…, k, N), (…, M, N)."""
        z = U @ self.X.T
        hidden = self.activation(z)
        return z, hidden, A @ hidden - self.labels.T

    def _mean_square(self, residual: Array) -> Array:
        return np.asarray(np.sum(residual * self._weighted(residual), axis=(-1, -2)) / len(self.X))

    def _weighted(self, values: Array) -> Array:
        """Values (…, N), each with the weight of its sample."""
        return values if self.weights is None else values * self.weights

    def value(self, U: Array, A: Array) -> Array:
        """The mean squared residual."""
        return self._mean_square(self._residual(U, A)[2])

    def value_and_gradient(self, U: Array, A: Array) -> tuple[Array, Array, Array]:
        """∂L/∂A = 2 mean r σᵀ, ∂L/∂U = 2 mean (Aᵀr ∘ σ′) xᵀ."""
        z, hidden, residual = self._residual(U, A)
        value = self._mean_square(residual)
        residual = self._weighted(residual)
        back = (A.swapaxes(-1, -2) @ residual) * self.activation.derivative(z, 1)
        scale = 2 / len(self.X)
        return (
            value,
            scale * (back @ self.X),
            scale * (residual @ hidden.swapaxes(-1, -2)),
        )

    def hvp(self, U: Array, A: Array, dU: Array, dA: Array) -> tuple[Array, Array]:
        """The product rule on both gradients."""
        z, hidden, residual = self._residual(U, A)
        slope = self.activation.derivative(z, 1)
        dz = dU @ self.X.T
        d_hidden = slope * dz
        residual, d_residual = self._weighted(residual), self._weighted(dA @ hidden + A @ d_hidden)
        At, dAt = A.swapaxes(-1, -2), dA.swapaxes(-1, -2)
        back = (dAt @ residual + At @ d_residual) * slope
        back = back + (At @ residual) * self.activation.derivative(z, 2) * dz
        scale = 2 / len(self.X)
        outer = d_residual @ hidden.swapaxes(-1, -2) + residual @ d_hidden.swapaxes(-1, -2)
        return scale * (back @ self.X), scale * outer
