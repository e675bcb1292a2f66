"""Matrices by eigenvalues and eigenvectors: the map ρ_r and where it fails to be a chart (paper 000, Prop. 39)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.tensors import coordinates
from shallows.support.checks import Array, finite_array
from shallows.support.errors import InvalidProblem

#: Eigenvalues that differ by less, relatively to the largest, are equal.
TOLERANCE = 1e-9
#: How far given rows may be from orthonormal: rows that were written down with eight digits are, and the differential
#: is that of the nearest ones to as many.
ORTHONORMAL = 1e-8


def spectral_differential(alpha: ArrayLike, U: ArrayLike) -> Array:
    """dρ_r at (α, U) for ρ_r(α, U) = Uᵀ diag(α) U, U of r orthonormal rows in R^n (equation 36).

    Columns are the images of an orthonormal basis of the tangent space R^r × T_U V_r(R^n): ∂/∂αᵢ; rotations of
    uᵢ against uⱼ (i < j); uᵢ towards each vector of a basis of the complement. The scalar product of entries is
    Frobenius (off-diagonal entries times √2), so singular values do not depend on the frame.

    >>> J = spectral_differential([1.0, 1.0], np.eye(3)[:2])   # two equal eigenvalues: a rotation changes nothing
    >>> J.shape, int(np.linalg.matrix_rank(J))
    ((6, 5), 4)
    """
    values, rows = _checked(alpha, U)
    r, n = rows.shape
    frame = np.linalg.svd(rows, full_matrices=True)[2]
    images = [np.outer(u, u) for u in rows]
    for i, j in combinations(range(r), 2):
        images.append((values[i] - values[j]) * _symmetric(rows[i], rows[j]) / np.sqrt(2))
    images += [values[i] * _symmetric(rows[i], w) for i in range(r) for w in frame[r:]]
    table = coordinates.indices(n, 2)
    scale = np.sqrt(coordinates.multiplicities(n, 2))
    return np.array([scale * image[table[:, 0], table[:, 1]] for image in images]).T


def spectral_nullity(alpha: ArrayLike, n: int, tolerance: float = TOLERANCE) -> int:
    """#{i<j : αᵢ = αⱼ} + (n−r) #{i : αᵢ = 0}: the nullity of dρ_r (Prop. 39).

    The paper prints the first term only, which is right for non-zero α or r = n: an eigenvector of a zero
    eigenvalue also turns freely into the complement. "Equal" means to `tolerance` times the largest |αᵢ|.

    >>> [spectral_nullity(alpha, n=4) for alpha in ([2.0, 1.0], [1.0, 1.0], [1.0, 0.0])]
    [0, 1, 2]
    """
    values = finite_array("alpha", alpha, 1)
    if len(values) > n:
        raise InvalidProblem(
            f"alpha has {len(values)} entries; at most n = {n} vectors are orthonormal in R^{n}."
        )
    small = tolerance * float(np.max(np.abs(values), initial=0.0))
    pairs = sum(abs(x - y) <= small for x, y in combinations(values, 2))
    return int(pairs + (n - len(values)) * np.sum(np.abs(values) <= small))


def _symmetric(u: Array, w: Array) -> Array:
    return np.outer(u, w) + np.outer(w, u)


def _checked(alpha: ArrayLike, U: ArrayLike) -> tuple[Array, Array]:
    values, rows = finite_array("alpha", alpha, 1), finite_array("U", U, 2)
    if len(values) != len(rows) or rows.shape[0] > rows.shape[1]:
        raise InvalidProblem(
            f"alpha has {len(values)} entries and U shape {rows.shape}; expected r entries and r ≤ n rows of R^n."
        )
    defect = float(np.max(np.abs(rows @ rows.T - np.eye(len(rows))), initial=0.0))
    if defect > ORTHONORMAL:
        raise InvalidProblem(f"The rows of U are not orthonormal: U Uᵀ differs from Id by {defect:.3g}.")
    return values, rows
