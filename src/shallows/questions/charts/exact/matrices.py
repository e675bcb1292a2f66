"""The rank-r critical equations at degree 2 as exact polynomials in (A, Z), in a frame of small integers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from shallows.mathematics.exact.polynomials import Polynomial, constant, scaled, times, total, variable
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.matrices.equations import LowRankEquations
from shallows.support.checks import Array

Table = list[list[Polynomial]]


def integer_frame(n: int, seed: int) -> Array:
    """An invertible matrix of integers between −2 and 2."""
    rng = np.random.default_rng([seed, n])
    while True:
        frame = rng.integers(-2, 3, (n, n)).astype(np.float64)
        if abs(np.linalg.det(frame)) > 0.5:
            return np.asarray(frame)


def rank_equations(problem: Problem, rank: int, frame: Array) -> list[Polynomial]:
    """The lower block of RᵀMRU and the upper triangle of its top block: S = R U A Uᵀ Rᵀ, M the matrix of G s − b."""
    equations = LowRankEquations(problem.n, rank)
    n, r = equations.n, equations.r
    A, U = _unknowns(equations)
    R = [[constant(equations.unknowns, Fraction(int(x))) for x in row] for row in frame]
    RU = _product(R, U)
    S = _product(_product(RU, A), _transposed(RU))
    pairs = list(combinations_with_replacement(range(n), 2))
    exact = ExactLoss.of(problem)
    M: Table = [[{} for _ in range(n)] for _ in range(n)]
    for (i, j), row, b in zip(pairs, exact.gram.tolist(), exact.right.tolist(), strict=True):
        scale = Fraction(1) if i == j else Fraction(1, 2)
        terms = [scaled(S[k][l], scale * weight) for (k, l), weight in zip(pairs, row, strict=True)]
        M[i][j] = M[j][i] = total([*terms, constant(equations.unknowns, -scale * b)])
    MU = _product(_transposed(R), _product(M, RU))
    lower = [MU[i][a] for i in range(r, n) for a in range(r)]
    return lower + [MU[a][b] for a in range(r) for b in range(a, r)]


def _unknowns(equations: LowRankEquations) -> tuple[Table, Table]:
    """A and U = (I; Z) in the order of `Shape.split`."""
    n, r = equations.n, equations.r
    A: Table = [[{} for _ in range(r)] for _ in range(r)]
    k = 0
    for a in range(r):
        for b in range(a, r):
            A[a][b] = A[b][a] = variable(equations.unknowns, k)
            k += 1
    U: Table = [[constant(equations.unknowns, Fraction(int(i == a))) for a in range(r)] for i in range(r)]
    for _ in range(r, n):
        U.append([variable(equations.unknowns, k + a) for a in range(r)])
        k += r
    return A, U


def _product(X: Table, Y: Table) -> Table:
    columns = range(len(Y[0]))
    return [[total([times(x, Y[k][j]) for k, x in enumerate(row)]) for j in columns] for row in X]


def _transposed(X: Table) -> Table:
    return [list(row) for row in zip(*X, strict=True)]
