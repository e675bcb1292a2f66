"""Coordinates of Sym^d(R^n): the entries T_{i1≤…≤id} in lexicographic order, each once.

A symmetric tensor of degree d in n variables is stored as its N = C(n+d−1, d) distinct entries. Writing
I = (i1 ≤ … ≤ id), mult(I) = d! / Π_j (multiplicity of j in I)! and w^I = w_{i1}⋯w_{id}:

- the entries of w^⊗d are the monomials w^I (`monomials`),
- the polynomial of T is T(x) = Σ_I mult(I) T_I x^I.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb, isqrt, lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.support.budget import READING, require
from shallows.support.checks import Array

#: What is done with the N coordinates: tables of their indices, a matrix of N² numbers, or one that is factorised.
TABLES, MATRIX, FACTORS = 1, 2, 3
#: Seconds an entry: of a table made in Python, of a matrix filled, of a matrix factorised (N³ of them); measured.
TABLE_SECONDS, MATRIX_SECONDS, FACTOR_SECONDS = 2e-7, 1e-8, 4.5e-11
#: Binomial coefficients above this belong to no place: places are below the dimension.
UNUSED = 2**62
#: Dimensions with more digits than this are not computed: 15 digits of bytes are a petabyte.
MOST_DIGITS = 15


def dimension(n: int, degree: int) -> int:
    """N = dim Sym^d(R^n) = C(n+d−1, d)."""
    return comb(n + degree - 1, degree)


def require_storable(n: int, degree: int, what: int = TABLES) -> int:
    """The dimension N of Sym^d(R^n), refused when what is done with it takes too much: TABLES, MATRIX or FACTORS."""
    digits = (lgamma(n + degree) - lgamma(degree + 1) - lgamma(n)) / log(10)
    size = dimension(n, degree) if digits <= MOST_DIGITS else 10**MOST_DIGITS
    table = float(size * (n + degree))
    seconds = {
        TABLES: TABLE_SECONDS * table,
        MATRIX: MATRIX_SECONDS * size**2,
        FACTORS: FACTOR_SECONDS * size**3,
    }
    require(
        f"Sym^{degree}(R^{n}), of dimension {size:,}{' or more' if digits > MOST_DIGITS else ''},",
        seconds=seconds[what],
        size=16 * table if what == TABLES else 8.0 * size**2 * (1 if what == MATRIX else 3 + 2 * degree),
        limit=READING,
        fix="Use a Network as the target: kernels need no tensors.",
    )
    return size


@lru_cache(maxsize=128)
def indices(n: int, degree: int) -> NDArray[np.intp]:
    """All I = (i1 ≤ … ≤ id) in lexicographic order, shape (N, d); indices start at 0."""
    size = require_storable(n, degree)
    rows = combinations_with_replacement(range(n), degree)
    table = np.fromiter((i for row in rows for i in row), dtype=np.intp, count=size * degree)
    table = table.reshape(size, degree)
    table.setflags(write=False)
    return table


@lru_cache(maxsize=128)
def exponents(n: int, degree: int) -> NDArray[np.intp]:
    """How often each variable occurs in each I, shape (N, n)."""
    table = indices(n, degree)
    counts = np.zeros((len(table), n), dtype=np.intp)
    for slot in range(degree):
        counts[np.arange(len(table)), table[:, slot]] += 1
    counts.setflags(write=False)
    return counts


@lru_cache(maxsize=128)
def multiplicities(n: int, degree: int) -> Array:
    """mult(I) = d! / Π_j I_j!, the number of places of the full n^d array that hold entry I."""
    factorials = np.cumprod([1.0, *range(1, degree + 1)])
    result: Array = factorials[degree] / np.prod(factorials[exponents(n, degree)], axis=1)
    result.setflags(write=False)
    return result


def position(sorted_indices: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """Where the sorted index tuples (last axis) stand in lexicographic order.

    With c_l = i_l + l strictly increasing in {0, …, m−1}, m = n+d−1, the rank is
    C(m, d) − 1 − Σ_l C(m−1−c_l, d−l), l = 0, …, d−1.
    """
    degree = sorted_indices.shape[-1]
    m = n + degree - 1
    rank = np.full(sorted_indices.shape[:-1], comb(m, degree) - 1, dtype=np.intp)
    for slot in range(degree):
        rank -= _choices(m, degree - slot)[m - 1 - (sorted_indices[..., slot] + slot)]
    return rank


@lru_cache(maxsize=1024)
def _choices(m: int, size: int) -> NDArray[np.intp]:
    """C(c, size) for c = 0, …, m."""
    table = np.array([min(comb(c, size), UNUSED) for c in range(m + 1)], dtype=np.intp)
    table.setflags(write=False)
    return table


@lru_cache(maxsize=64)
def pair_table(n: int, degree: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each I of degree d and each slot l ≥ 2, where I∖i1 stands in degree d−1, and I∖{i1, il} in degree d−2:
    shapes (N,) and (d−1, N)."""
    rest = indices(n, degree)[:, 1:]
    pairs = [position(np.delete(rest, slot, axis=1), n) for slot in range(degree - 1)]
    left_out = np.array(pairs, dtype=np.intp).reshape(degree - 1, len(rest))
    places = position(rest, n)
    for table in (places, left_out):
        table.setflags(write=False)
    return places, left_out


@lru_cache(maxsize=64)
def product_table(n: int, left: int, right: int) -> NDArray[np.intp]:
    """The position of I ∪ J in degree left+right, for I of degree `left` and J of degree `right`."""
    rows, columns = indices(n, left), indices(n, right)
    joined = np.empty((len(rows), len(columns), left + right), dtype=np.intp)
    joined[..., :left] = rows[:, None, :]
    joined[..., left:] = columns[None, :, :]
    joined.sort(axis=-1)
    table = position(joined, n)
    table.setflags(write=False)
    return table


@lru_cache(maxsize=64)
def _first_and_rest(n: int, degree: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each I of degree d: its first index, and where the other d−1 indices stand in degree d−1."""
    table = indices(n, degree)
    return np.ascontiguousarray(table[:, 0]), position(table[:, 1:], n)


def _pick(X: Array, places: NDArray[np.intp]) -> Array:
    return np.take(X, places, axis=-1, mode="clip")  # the places are valid; "clip" spares the check


def monomials(W: Array, degree: int) -> Array:
    """The entries w^I of w^⊗d for each row, (…, n) → (…, N): w^I = w_{i1} · w^(I∖i1)."""
    if degree == 0:
        return np.ones((*W.shape[:-1], 1))
    result = W
    for d in range(2, degree + 1):
        first, rest = _first_and_rest(W.shape[-1], d)
        result = _pick(W, first) * _pick(result, rest)
    return result


def monomials_jvp(W: Array, dW: Array, degree: int) -> Array:
    """The derivative of `monomials` in direction dW (batch axes broadcast)."""
    if degree == 0:
        return np.zeros((*np.broadcast_shapes(W.shape, dW.shape)[:-1], 1))
    value, slope = W, np.broadcast_to(dW, np.broadcast_shapes(W.shape, dW.shape))
    for d in range(2, degree + 1):
        first, rest = _first_and_rest(W.shape[-1], d)
        slope = _pick(dW, first) * _pick(value, rest) + _pick(W, first) * _pick(slope, rest)
        value = _pick(W, first) * _pick(value, rest)
    return slope


@lru_cache(maxsize=64)
def _raise_weights(n: int, degree: int) -> Array:
    """J_x + 1 for J of degree d−1: the factor when ∂/∂w_x acts on w^(J∪x)."""
    return np.asarray(exponents(n, degree - 1) + 1.0, dtype=np.float64)


def square_action(R: NDArray[Any]) -> NDArray[Any]:
    """The matrix P with entries(R S Rᵀ) = P entries(S) at degree 2, for numbers of any kind.

    >>> square_action(np.array([[0, 1], [1, 0]]))
    array([[0, 0, 1],
           [0, 1, 0],
           [1, 0, 0]])
    """
    rows, columns = indices(len(R), 2).T
    square = R[rows][:, rows] * R[columns][:, columns]
    other = R[rows][:, columns] * R[columns][:, rows]
    return np.asarray(np.where(rows != columns, square + other, square))


def slope_matrices(slopes: Array, n: int) -> Array:
    """Symmetric matrices M, one a row, with uᵀMu = Σ_I slopes_I u^I, degree 2: those off the diagonal are there twice.

    >>> slope_matrices(np.array([1.0, 4.0, 3.0]), 2)
    array([[1., 2.],
           [2., 3.]])
    """
    return symmetric_matrices(slopes / multiplicities(n, 2))


def symmetric_matrices(entries: NDArray[Any]) -> NDArray[Any]:
    """Symmetric matrices with these entries of degree 2 (last axis), numbers of any kind.

    >>> symmetric_matrices(np.array([1, 2, 3]))
    array([[1, 2],
           [2, 3]])
    """
    n = inputs_of(entries.shape[-1])
    rows, columns = indices(n, 2).T
    made = np.zeros((*entries.shape[:-1], n, n), entries.dtype)
    made[..., rows, columns] = made[..., columns, rows] = entries
    return made


def matrix_entries(matrices: NDArray[Any]) -> NDArray[Any]:
    """The entries of symmetric matrices (last two axes)."""
    rows, columns = indices(matrices.shape[-1], 2).T
    return np.asarray(matrices[..., rows, columns])


def inputs_of(size: int) -> int:
    """n with n(n+1)/2 = size."""
    return (isqrt(8 * size + 1) - 1) // 2


def gradient_matrix(coefficients: Array, n: int, degree: int) -> Array:
    """The matrix M with ∇_w Σ_I c_I w^I = monomials(w, d−1) @ M; shape (…, N_{d−1}, n)."""
    return coefficients[..., product_table(n, degree - 1, 1)] * _raise_weights(n, degree)
