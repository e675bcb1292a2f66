"""Quadratic networks on integer data in rational arithmetic: the definitions of paper 002, written out once more.

In the paper's letters A = QΛQᵀ + αI, rₙ = yₙ − A•Xₙ, Xₙ = xₙxₙᵀ, Q = Wᵀ. Nothing here calls the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

import shallows as sh
from shallows.support.checks import Array


@dataclass(frozen=True, eq=False)
class IntegerData:
    """Integer inputs (a row each) and labels."""

    X: np.ndarray
    y: np.ndarray

    @property
    def samples(self) -> sh.Samples:
        """The same for the library."""
        return sh.Samples(self.X.astype(float), self.y.astype(float))

    def residuals(self, A: Any) -> list[Any]:
        """rₙ = yₙ − xₙᵀAxₙ."""
        return [fmpq(int(label)) - form(A, row) for row, label in zip(self.X, self.y, strict=True)]

    def loss(self, A: Any) -> Any:
        """mean rₙ²."""
        return sum((r * r for r in self.residuals(A)), fmpq(0)) / len(self.y)

    def residual_matrix(self, A: Any) -> Any:
        """R = mean rₙXₙ."""
        d = self.X.shape[1]
        total = fmpq_mat(d, d)
        for r, row in zip(self.residuals(A), self.X.tolist(), strict=True):
            total += fmpq_mat(d, d, [x * y for x in row for y in row]) * r
        return total / fmpq(len(self.y))

    def optimum(self) -> Any:
        """A* by the normal equations of the d(d+1)/2 features."""
        d = self.X.shape[1]
        pairs = [(i, j) for i in range(d) for j in range(i, d)]
        F = fmpq_mat([[int(row[i] * row[j]) for i, j in pairs] for row in self.X])
        y = fmpq_mat([[int(label)] for label in self.y])
        solution = (F.transpose() * F).solve(F.transpose() * y)
        A = fmpq_mat(d, d)
        for number, (i, j) in enumerate(pairs):
            A[i, j] = A[j, i] = solution[number, 0] / (1 if i == j else 2)
        return A


def integer_data(rng: np.random.Generator, d: int, count: int) -> IntegerData:
    """Inputs in −3, …, 3 and labels in −5, …, 5; the first rows are eᵢ + eⱼ, so that the optimum is unique."""
    X = rng.integers(-3, 4, (count, d))
    basis = [
        np.eye(d, dtype=int)[i] + (i != j) * np.eye(d, dtype=int)[j] for i in range(d) for j in range(i, d)
    ]
    X[: len(basis)] = basis
    y = rng.integers(-5, 6, count)
    y[0] += int(not np.any(y))
    return IntegerData(X, y)


def exact_matrix(table: Any) -> Any:
    """A matrix of integers, fractions or doubles, which are rationals too."""
    return fmpq_mat([[_exact(x) for x in row] for row in table])


def _exact(x: Any) -> Any:
    if isinstance(x, fmpq):
        return x
    return fmpq(*float(x).as_integer_ratio()) if isinstance(x, float) else fmpq(int(x))


def form(A: Any, x: Sequence[Any]) -> Any:
    """xᵀAx."""
    return inner(A, outer(x, x))


def outer(x: Sequence[Any], y: Sequence[Any]) -> Any:
    """xyᵀ."""
    return fmpq_mat(len(x), len(y), [_exact(a) * _exact(b) for a in x for b in y])


def inner(A: Any, B: Any) -> Any:
    """A • B."""
    return sum((a * b for a, b in zip(A.entries(), B.entries(), strict=True)), fmpq(0))


def trace(A: Any) -> Any:
    """tr A."""
    return sum((A[i, i] for i in range(A.nrows())), fmpq(0))


def identity(d: int) -> Any:
    """I."""
    return fmpq_mat(d, d, [int(i == j) for i in range(d) for j in range(d)])


def diagonal(values: Sequence[Any]) -> Any:
    """diag(values)."""
    d = len(values)
    return fmpq_mat(d, d, [_exact(values[i]) if i == j else fmpq(0) for i in range(d) for j in range(d)])


def product(W: Any, a: Sequence[Any]) -> Any:
    """QΛQᵀ with Q = Wᵀ."""
    return W.transpose() * diagonal(a) * W


def doubles(A: Any) -> Array:
    """The nearest doubles."""
    return np.array([int(x.p) / int(x.q) for x in A.entries()]).reshape(A.nrows(), A.ncols())


def near(value: Any, exact: Any, tolerance: float = 1e-9) -> bool:
    """Whether doubles are within `tolerance` of rationals, relative to 1 + their largest."""
    right = doubles(exact) if isinstance(exact, fmpq_mat) else np.array(int(exact.p) / int(exact.q))
    return bool(np.abs(np.asarray(value) - right).max() <= tolerance * (1 + np.abs(right).max()))


def reflection(rng: np.random.Generator, d: int) -> Any:
    """A rational orthogonal matrix, I − 2vvᵀ/‖v‖²."""
    v = [int(x) for x in rng.integers(1, 6, d)]
    return identity(d) - outer(v, v) * fmpq(2, sum(x * x for x in v))
