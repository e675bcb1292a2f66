"""The rank-r critical equations at degree 2 as exact polynomials in (A, Z), in a frame of small integers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from shallows._checks import Array
from shallows.critical.low_rank_family import Shape
from shallows.problem import Problem

Polynomial = dict[tuple[int, ...], Fraction]
Table = list[list[Polynomial]]


def integer_frame(n: int, seed: int) -> Array:
    """An invertible matrix of integers between −2 and 2."""
    rng = np.random.default_rng([seed, n])
    while True:
        frame = rng.integers(-2, 3, (n, n)).astype(np.float64)
        if abs(np.linalg.det(frame)) > 0.5:
            return np.asarray(frame)


def rank_equations(problem: Problem, rank: int, frame: Array) -> list[Polynomial]:
    """The lower block of RᵀMRU and the upper triangle of its top block: S = R U A Uᵀ Rᵀ, M the matrix of G(s − t)."""
    shape = Shape(problem.n, rank)
    n, r = shape.n, shape.r
    A, U = _unknowns(shape)
    R = [[_constant(shape, Fraction(int(x))) for x in row] for row in frame]
    RU = _product(R, U)
    S = _product(_product(RU, A), _transposed(RU))
    pairs = list(combinations_with_replacement(range(n), 2))
    gram = [[Fraction(float(x)) for x in row] for row in problem.gram()]
    target = [Fraction(float(x)) for x in problem.target_tensor().entries]
    gaps = [_sum([S[i][j], _constant(shape, -t)]) for (i, j), t in zip(pairs, target, strict=True)]
    M: Table = [[{} for _ in range(n)] for _ in range(n)]
    for (i, j), row in zip(pairs, gram, strict=True):
        scale = Fraction(1) if i == j else Fraction(1, 2)
        M[i][j] = M[j][i] = _sum(
            [_scaled(gap, scale * weight) for gap, weight in zip(gaps, row, strict=True)]
        )
    MU = _product(_transposed(R), _product(M, RU))
    lower = [MU[i][a] for i in range(r, n) for a in range(r)]
    return lower + [MU[a][b] for a in range(r) for b in range(a, r)]


def _unknowns(shape: Shape) -> tuple[Table, Table]:
    """A and U = (I; Z) in the order of `Shape.split`."""
    n, r = shape.n, shape.r
    A: Table = [[{} for _ in range(r)] for _ in range(r)]
    k = 0
    for a in range(r):
        for b in range(a, r):
            A[a][b] = A[b][a] = _variable(shape, k)
            k += 1
    U: Table = [[_constant(shape, Fraction(int(i == a))) for a in range(r)] for i in range(r)]
    for _ in range(r, n):
        U.append([_variable(shape, k + a) for a in range(r)])
        k += r
    return A, U


def _variable(shape: Shape, k: int) -> Polynomial:
    return {tuple(int(i == k) for i in range(shape.unknowns)): Fraction(1)}


def _constant(shape: Shape, value: Fraction) -> Polynomial:
    return {(0,) * shape.unknowns: value} if value else {}


def _scaled(p: Polynomial, factor: Fraction) -> Polynomial:
    return {key: value * factor for key, value in p.items()} if factor else {}


def _sum(parts: Sequence[Polynomial]) -> Polynomial:
    total: Polynomial = {}
    for part in parts:
        for key, value in part.items():
            total[key] = total.get(key, Fraction(0)) + value
    return {key: value for key, value in total.items() if value}


def _times(p: Polynomial, q: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for left, x in p.items():
        for right, y in q.items():
            key = tuple(a + b for a, b in zip(left, right, strict=True))
            total[key] = total.get(key, Fraction(0)) + x * y
    return {key: value for key, value in total.items() if value}


def _product(X: Table, Y: Table) -> Table:
    columns = range(len(Y[0]))
    return [[_sum([_times(x, Y[k][j]) for k, x in enumerate(row)]) for j in columns] for row in X]


def _transposed(X: Table) -> Table:
    return [list(row) for row in zip(*X, strict=True)]
