"""Binary forms known only to rounding, near a form of low border rank: what can still be said."""

from __future__ import annotations

from math import comb

import numpy as np

from shallows.mathematics.numerical_rank import rank_of
from shallows.support.checks import Array

#: Roots closer than this may be one double root: rounding 1e-12 splits a double root by about 1e-6.
SEPARATION = 1e-5
#: Leading coefficients below this share of the largest are zero: a root at infinity.
AT_INFINITY = 1e-13
#: Separated roots with a smaller imaginary part are real: LAPACK makes the roots of real forms real or conjugate, and
#: conjugate ones are SEPARATION apart.
REAL = 1e-12


def numerical_rank(table: Array, tolerance: float) -> int:
    """Singular values above `tolerance` times the largest."""
    return rank_of(np.linalg.svd(table, compute_uv=False), tolerance)


def apolar_vector(entries: Array, order: int) -> Array:
    """The form of degree `order` closest to apolar: the last right singular vector of the scaled catalecticant."""
    d = len(entries) - 1
    rows = np.array([[entries[i + j] for j in range(order + 1)] for i in range(d - order + 1)])
    left = np.sqrt([comb(d - order, i) for i in range(d - order + 1)])
    right = np.sqrt([comb(order, j) for j in range(order + 1)])
    return np.asarray(np.linalg.svd(left[:, None] * rows * right)[2][-1] * right)


def projective_roots(form: Array) -> Array:
    """The roots of Σ c_j X^{r−j} Y^j as unit vectors of C², one a row."""
    size = np.max(np.abs(form))
    start = int(np.argmax(np.abs(form) > AT_INFINITY * size))
    finite = np.roots(form[start:])
    points = np.concatenate(
        [np.tile([1.0 + 0j, 0.0], (start, 1)), np.stack([finite, np.ones_like(finite)], 1)]
    )
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))


def separation(points: Array) -> float:
    """The smallest sine of the angle between two of the points, or between a non-real one and its conjugate."""
    if len(points) < 2:
        return 1.0
    sines = np.abs(points[:, None, 0] * points[None, :, 1] - points[:, None, 1] * points[None, :, 0])
    return float(np.min(sines[np.triu_indices(len(points), 1)]))


def count_real(points: Array) -> int:
    """How many of the points are real up to a complex factor."""
    heights = np.abs(np.imag(points[:, 0] * np.conj(points[:, 1])))
    return int(np.sum(heights <= REAL))


def rank_near_low_rank(entries: Array, low: int) -> int | tuple[int, int]:
    """The real rank of the form of border rank `low` that the entries approximate; an interval when roots are close.

    A separated, real apolar form gives rank r₁; a separated one with non-real roots gives at least r₂ = d+2−r₁, and
    d exactly when the form itself has d separated real roots.
    """
    d = len(entries) - 1
    roots = projective_roots(apolar_vector(entries, low))
    if separation(roots) <= SEPARATION:
        return (low, d)
    if count_real(roots) == low:
        return low
    lower = d + 2 - low
    own = projective_roots(entries * np.array([comb(d, k) for k in range(d + 1)]))
    if separation(own) <= SEPARATION:
        return (lower, d) if lower < d else d
    if count_real(own) == d:
        return d
    return (lower, d - 1) if lower < d - 1 else lower
