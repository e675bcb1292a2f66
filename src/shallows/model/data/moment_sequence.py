"""One-dimensional moment sequences: are they moments at all, their cumulants, and a law that has them."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from shallows.support.budget import READING, require
from shallows.support.checks import Array, finite_array
from shallows.support.errors import InvalidProblem

#: Seconds for the eigenvalues of all leading blocks of the moment matrix, over the fourth power of its order: an order
#: of magnitude for large ones (at order 60 calls still dominate: 4e-10, measured).
EIGENVALUE_SECONDS = 1e-11
#: How negative an eigenvalue of a scaled moment matrix may be: entries written with ten digits move the eigenvalues of
#: a 10 × 10 matrix, one of order 18, by up to this much.
TOLERANCE = 1e-9
#: How far the moment of order 0 may be from one: some roundings.
ONE = 1e-12
#: Relative size of a Cholesky pivot below which the law has no more atoms. Measured: rounding leaves up to 7e-15 in
#: place of zero (2 to 5 random atoms); true pivots of uniform, normal and Laplace moments to order 20 are above 3e-5.
NO_PIVOT = 1e-10


def checked_moments(name: str, given: ArrayLike, nonnegative: bool = False) -> Array:
    """The sequence [1, E x, E x², …], refused when no distribution (on [0, ∞) if `nonnegative`) has it."""
    moments = finite_array(name, given, 1)
    require(
        f"Checking {len(moments):,} {name}",
        seconds=EIGENVALUE_SECONDS * float(len(moments)) ** 4,
        limit=READING,
        fix="Give moments up to twice the degree of the activation; more are not used.",
    )
    if len(moments) < 3:
        raise InvalidProblem(
            f"{name} has {len(moments)} entries; expected [1, E x, E x², ...], at least up to E x²."
        )
    if abs(moments[0] - 1.0) > ONE:
        raise InvalidProblem(f"{name} starts with {moments[0]}; the moment of order 0 is 1.")
    for order in range(2, len(moments), 2):
        if moments[order] < 0:
            raise InvalidProblem(
                f"{name}: the even moment of order {order} is {moments[order]}; it cannot be negative."
            )
    if moments[2] == 0:
        raise InvalidProblem(f"{name}: the second moment is 0, so x is 0 almost surely; expected E x² > 0.")
    if len(moments) > 4 and moments[4] < moments[2] ** 2 * (1 - TOLERANCE):
        raise InvalidProblem(
            f"{name}: μ4 = {moments[4]} is less than μ2² = {moments[2] ** 2}, which Jensen's inequality forbids."
        )
    _require_psd(name, moments, shift=0)
    if nonnegative:
        for order in range(1, len(moments), 2):
            if moments[order] < 0:
                raise InvalidProblem(
                    f"{name}: E ρ^{order} is {moments[order]}; a radius has no negative moment."
                )
        _require_psd(name, moments, shift=1)
    return moments


def hankel(moments: Array, shift: int = 0) -> Array:
    """The moment matrix (μ_{i+j+shift})."""
    size = (len(moments) - 1 - shift) // 2 + 1
    places = np.add.outer(np.arange(size), np.arange(size))
    return np.asarray(moments[places + shift])


def _require_psd(name: str, moments: Array, shift: int) -> None:
    matrix = hankel(moments, shift)
    for size in range(2, len(matrix) + 1):
        scale = np.sqrt(np.maximum(np.diag(matrix)[:size], 0.0))
        if np.any(scale == 0):
            continue
        lowest = np.linalg.eigvalsh(matrix[:size, :size] / np.outer(scale, scale))[0]
        if lowest < -TOLERANCE:
            raise InvalidProblem(
                f"{name}: the moment matrix of orders {shift} to {2 * (size - 1) + shift} has a negative eigenvalue "
                f"({lowest:.3g} after scaling its diagonal to one), so no distribution has these moments."
            )


def cumulants(moments: Array) -> Array:
    """κ_0 = 0, κ_1, …, from μ_n = Σ_j C(n−1, j−1) κ_j μ_{n−j}.

    In exact rational arithmetic: the recursion cancels badly for sequences like Rademacher's.
    """
    exact = [Fraction(float(m)) for m in moments]
    result = [Fraction(0)] * len(exact)
    for order in range(1, len(exact)):
        lower = (comb(order - 1, j - 1) * result[j] * exact[order - j] for j in range(1, order))
        result[order] = exact[order] - sum(lower, Fraction(0))
    return np.array([float(k) for k in result])


def gauss_law(moments: Array, nonnegative: bool = False) -> tuple[Array, Array]:
    """Nodes and weights of a discrete law with exactly these moments (Golub and Welsch 1969).

    The Jacobi matrix of the orthonormal polynomials comes from the Cholesky factor of the Hankel matrix. A
    sequence that ends with an even moment leaves its last diagonal entry free: it is set to the mean, or, for
    a radius, so that 0 is a node (Gauss-Radau).
    """
    scale = np.sqrt(moments[2])
    scaled = moments / scale ** np.arange(len(moments))
    factor = _leading_cholesky(hankel(scaled))
    inverse: Array = np.linalg.inv(factor).astype(np.float64)
    off_diagonal = np.diag(factor)[1:] / np.diag(factor)[:-1]
    known = [j for j in range(len(factor)) if 2 * j + 1 < len(scaled)]
    diagonal = np.array([_mean_of_x(scaled, inverse[: j + 1, j]) for j in known])
    if len(known) < len(factor):
        free = _radau_at_zero(diagonal, off_diagonal) if nonnegative else scaled[1]
        diagonal = np.append(diagonal, free)
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1))
    return nodes * scale, vectors[0] ** 2


def _leading_cholesky(matrix: Array) -> Array:
    """R with RᵀR the largest leading block that is positive definite beyond rounding."""
    rows: list[Array] = []
    rest = matrix.copy()
    for j in range(len(matrix)):
        if rest[j, j] <= NO_PIVOT * matrix[j, j]:
            break
        rows.append(rest[j] / np.sqrt(rest[j, j]))
        rest = rest - np.outer(rows[-1], rows[-1])
    return np.array(rows)[:, : len(rows)]


def _mean_of_x(moments: Array, coefficients: Array) -> float:
    """E[x p(x)²] for the polynomial p with these coefficients."""
    square = np.convolve(coefficients, coefficients)
    return float(square @ moments[1 : 1 + len(square)])


def _radau_at_zero(diagonal: Array, off_diagonal: Array) -> float:
    """The last diagonal entry for which the Jacobi matrix is singular, so that 0 is a node."""
    block = np.diag(diagonal) + np.diag(off_diagonal[:-1], 1) + np.diag(off_diagonal[:-1], -1)
    corner = np.zeros(len(diagonal))
    corner[-1] = off_diagonal[-1]
    return float(corner @ np.linalg.solve(block, corner))
