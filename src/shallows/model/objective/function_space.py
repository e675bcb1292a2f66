"""The loss in function space: L = Σ_o (s_o − s*_o)ᵀ G (s_o − s*_o) + L*, s = Σ aᵢ uᵢ^⊗d.

For samples this sees the data only through the sufficient statistics G, s* and L*: its cost does not depend on
the number of samples, and there is no cancellation near the optimum.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors import coordinates, forms
from shallows.model.data.samples import Samples
from shallows.model.objective.base import Objective
from shallows.support.checks import Array

#: Eigenvalues of a Gram matrix of unit diagonal below this, relative to the largest, are zero: rounding of eigenvalues,
#: about √N·ε for random errors, is 1e-14 at N = 2,000.
RCOND = 1e-13


class FunctionSpaceObjective(Objective):
    """A quadratic function of the student's tensor; `optimum` is (M, N), `floor` is L*."""

    def __init__(self, n: int, degree: int, gram: Array, optimum: Array, floor: float) -> None:
        self.n, self.degree = n, degree
        self.gram, self.optimum, self.floor = gram, optimum, floor

    @classmethod
    def from_samples(cls, data: Samples, labels: Array, degree: int) -> FunctionSpaceObjective:
        """Gather G = mean φφᵀ and b = mean yφ in chunks; s* is the least-squares tensor, minimum norm if not unique."""
        gram = data.gram(degree)
        b = np.zeros((labels.shape[1], len(gram)))
        for rows, block in data.features(degree):
            b += labels[rows].T @ data.weighted(block, rows)
        optimum = least_squares(gram, b / data.count)
        residual = 0.0
        for rows, block in data.features(degree):
            gap = block @ optimum.T - labels[rows]
            residual += float(np.sum(gap * data.weighted(gap, rows)))
        return cls(data.n, degree, gram, optimum, residual / data.count)

    def _excess(self, U: Array, A: Array) -> tuple[Array, Array]:
        """s − s* and G (s − s*), shape (…, M, N)."""
        difference = A @ coordinates.monomials(U, self.degree) - self.optimum
        return difference, difference @ self.gram

    def value(self, U: Array, A: Array) -> Array:
        """(s − s*)ᵀ G (s − s*) + L*."""
        difference, image = self._excess(U, A)
        return np.asarray(np.maximum(np.sum(difference * image, axis=(-1, -2)), 0.0) + self.floor)

    def value_and_gradient(self, U: Array, A: Array) -> tuple[Array, Array, Array]:
        """With the form e = 2G(s − s*): ∂L/∂a = e(uᵢ), ∂L/∂uᵢ = aᵢ ∇e(uᵢ)."""
        difference, image = self._excess(U, A)
        value = np.maximum(np.sum(difference * image, axis=(-1, -2)), 0.0) + self.floor
        E = 2 * image
        return value, forms.gradient(E, U, A, self.degree), forms.values(E, U, self.degree)

    def hvp(self, U: Array, A: Array, dU: Array, dA: Array) -> tuple[Array, Array]:
        """The product rule, with ds = dA τ(U) + A dτ(U)."""
        d = self.degree
        E = 2 * self._excess(U, A)[1]
        change = dA @ coordinates.monomials(U, d) + A @ coordinates.monomials_jvp(U, dU, d)
        dE = 2 * (change @ self.gram)
        outer = forms.values(dE, U, d) + forms.values_jvp(E, U, d, dU)
        return forms.gradient_jvp(E, U, A, d, dE, dU, dA), outer


def least_squares(gram: Array, right: Array) -> Array:
    """The minimum-norm solution of G sᵀ = bᵀ for each row, with unit diagonal scaling and `RCOND`."""
    scale = np.sqrt(np.diag(gram))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    keep = values > RCOND * values[-1]
    projected = (right / scale) @ vectors[:, keep]
    return np.asarray((projected / values[keep]) @ vectors[:, keep].T / scale)
