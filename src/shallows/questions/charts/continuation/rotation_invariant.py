"""Metrics on polynomials that rotations of the inputs leave alone, as those of Gaussian data: a linear space.

Coordinates are the coefficients on x^I / mult(I), degree by degree. For x ~ N(0, I), and every rotation-invariant law,

    G_IJ = u_{|I|,|J|} mult(I) mult(J) E[z^{I+J}],   z ~ N(0, I),

with u_ij = 1 (or the ratio of radial moments); so it is when degrees are scaled, as by an activation's coefficients.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.support.checks import Array


def degree_pairs(degrees: tuple[int, ...]) -> list[tuple[int, int]]:
    """The (i, j), i ≤ j, whose blocks of G do not vanish: odd moments do."""
    return [(i, j) for i in degrees for j in degrees if i <= j and (i + j) % 2 == 0]


@lru_cache(maxsize=64)
def rotation_invariant_basis(degrees: tuple[int, ...], n: int) -> Array:
    """The integer matrices A_ij with G = Σ u_ij A_ij, symmetric, shape (pairs, N, N)."""
    rows = np.concatenate([coordinates.exponents(n, j) for j in degrees])
    weights = np.concatenate([coordinates.multiplicities(n, j) for j in degrees])
    degree = np.concatenate([np.full(coordinates.dimension(n, j), j) for j in degrees])
    normal = [0 if k % 2 else prod(range(1, k, 2)) for k in range(2 * max(degrees) + 1)]
    moments = np.array([[float(prod(normal[k] for k in a + b)) for b in rows] for a in rows])
    full = np.outer(weights, weights) * moments
    low, high = np.minimum.outer(degree, degree), np.maximum.outer(degree, degree)
    return np.array([np.where((low == i) & (high == j), full, 0.0) for i, j in degree_pairs(degrees)])


def rotation_invariant_weights(gram: Array, degrees: tuple[int, ...], n: int) -> Array:
    """The u of such a metric, read off the largest entry of each block."""
    found = []
    for matrix in rotation_invariant_basis(degrees, n):
        place = np.unravel_index(np.abs(matrix).argmax(), matrix.shape)
        found.append(gram[place] / matrix[place])
    return np.array(found)
