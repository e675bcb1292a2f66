"""Metrics of polynomials that rotations of the inputs leave alone, as Gaussian data have them: a linear space.

Coordinates are the coefficients on x^I / mult(I), degree by degree. For x ~ N(0, I), and every rotation-invariant law,

    G_IJ = u_{|I|,|J|} mult(I) mult(J) E[z^{I+J}],   z ~ N(0, I),

with u_ij = 1 (or the ratio of radial moments); so it is when degrees are scaled, as by an activation's coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

from shallows.mathematics.error_free import two_product
from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.continuation.metrics import Complex, Pair
from shallows.support.checks import Array


@dataclass(frozen=True)
class RotationInvariantMetrics:
    """The metrics G_IJ = u_{|I|,|J|} mult(I) mult(J) E[z^{I+J}] on polynomials of these degrees in n inputs."""

    degrees: tuple[int, ...]
    n: int
    kind: str = "rotation-invariant"

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The (i, j), i ≤ j, whose blocks do not vanish: odd moments do."""
        return [(i, j) for i in self.degrees for j in self.degrees if i <= j and (i + j) % 2 == 0]

    @property
    def parameters(self) -> int:
        """One a pair of degrees."""
        return len(self.pairs)

    def at(self, u: Complex) -> Pair:
        """Σ u_ij A_ij. Every entry of G has one A_ij that is not zero there, so sums are exact, products are paired."""
        basis = _basis(self.degrees, self.n)
        high = np.zeros(basis.shape[1:], np.complex128)
        low = np.zeros_like(high)
        for weight, matrix in zip(u, basis, strict=True):
            for part, unit in ((weight.real, 1.0), (weight.imag, 1j)):
                product, lost = two_product(matrix, float(part))
                high += unit * product
                low += unit * lost
        return Pair(high, low)

    def weights_of(self, gram: Array) -> Array:
        """The u of a metric of this kind, read off an entry of each block."""
        found = []
        for matrix in _basis(self.degrees, self.n):
            place = np.unravel_index(np.abs(matrix).argmax(), matrix.shape)
            found.append(gram[place] / matrix[place])
        return np.array(found)


@lru_cache(maxsize=64)
def _basis(degrees: tuple[int, ...], n: int) -> Array:
    """The integer matrices A_ij, symmetric, shape (pairs, N, N)."""
    rows = np.concatenate([coordinates.exponents(n, j) for j in degrees])
    weights = np.concatenate([coordinates.multiplicities(n, j) for j in degrees])
    degree = np.concatenate([np.full(coordinates.dimension(n, j), j) for j in degrees])
    normal = [0 if k % 2 else prod(range(1, k, 2)) for k in range(2 * max(degrees) + 1)]
    moments = np.array([[float(prod(normal[k] for k in a + b)) for b in rows] for a in rows])
    full = np.outer(weights, weights) * moments
    low, high = np.minimum.outer(degree, degree), np.maximum.outer(degree, degree)
    pairs = RotationInvariantMetrics(degrees, n).pairs
    return np.array([np.where((low == i) & (high == j), full, 0.0) for i, j in pairs])
