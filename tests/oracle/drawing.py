"""What families of problems are drawn from: numbers, matrices and laws.

Numbers are whole or binary fractions of few digits where a symmetry is meant, so that it is there exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from tests.oracle.exact import (
    NAMED,
    FrobeniusLaw,
    GaussianLaw,
    IIDLaw,
    MetricLaw,
    NamedLaw,
    Product,
    RadialLaw,
)

Rng = np.random.Generator


#: A Gram matrix that is this close to singular may be refused: the library says so (1e-12 with unit diagonal).
SINGULAR = 1e-11


def rows(matrix: Any) -> tuple[tuple[float, ...], ...]:
    """A matrix as nested tuples of floats."""
    return tuple(tuple(float(x) for x in row) for row in np.asarray(matrix))


def floats(values: Any) -> tuple[float, ...]:
    """A vector as a tuple of floats."""
    return tuple(float(x) for x in np.asarray(values))


def pick(rng: Rng, choices: Sequence[Any]) -> Any:
    """One of them."""
    return choices[int(rng.integers(len(choices)))]


def grid(rng: Rng, shape: Any, size: int = 16, unit: float = 4.0) -> Any:
    """Random binary fractions."""
    return rng.integers(-size, size + 1, shape) / unit


def nonzero(rng: Rng, n: int, size: int = 3) -> Any:
    """A random vector of whole numbers that is not zero."""
    while True:
        u = rng.integers(-size, size + 1, n)
        if np.any(u):
            return u.astype(float)


def symmetric(rng: Rng, n: int) -> Any:
    """A random symmetric matrix."""
    A = grid(rng, (n, n))
    return np.triu(A) + np.triu(A, 1).T


def diagonal(*values: float) -> tuple[tuple[float, ...], ...]:
    """diag(values)."""
    return rows(np.diag(values))


def law(rng: Rng, n: int, degree: int, *kinds: str) -> Product:
    """Data of one of the kinds."""
    kind = pick(
        rng,
        kinds
        or ("gaussian", "covariance", "moved", "frobenius", "sphere", "radial", "laplace", "iid", "metric"),
    )
    if kind == "gaussian":
        return GaussianLaw(n)
    if kind == "covariance":
        A = grid(rng, (n, n), 4, 2.0)
        return GaussianLaw(n, covariance=rows(A @ A.T + np.eye(n)))
    if kind == "moved":
        return GaussianLaw(n, mean=floats(nonzero(rng, n, 2) / pick(rng, (1.0, 2.0, 4.0))))
    if kind == "frobenius":
        return FrobeniusLaw(n)
    if kind == "sphere":
        return RadialLaw(n)
    if kind == "radial":  # moments of ρ = 1 or 3 with equal probability
        return RadialLaw(n, floats([(1 + 3.0**k) / 2 for k in range(2 * degree + 1)]))
    if kind == "laplace":
        return NamedLaw(n, "laplace")
    if kind == "iid":  # lighter tails: sums of m coins, scaled; heavier ones: N(0, 1) or N(0, s²)
        m, s = pick(rng, ((8, 0.5), (16, 0.25), (0, 2.0), (0, 8.0)))
        moments = [
            _coins(m, k) * s**k if m else NAMED["normal"](k) * (1 + s**k) / 2 for k in range(2 * degree + 1)
        ]
        return IIDLaw(n, floats(moments))
    return random_metric(rng, n, degree)


def _coins(m: int, k: int) -> float:
    """E x^k of a sum of m fair coins ±1."""
    return float(sum(Fraction(comb(m, j), 2**m) * (2 * j - m) ** k for j in range(m + 1)))


def random_metric(rng: Rng, n: int, degree: int) -> MetricLaw:
    """A Gram matrix nobody chose."""
    size = comb(n + degree - 1, degree)
    A = grid(rng, (size, size), 8, 4.0)
    return MetricLaw(n, degree, rows(A @ A.T + np.eye(size)))


def copied(data: Product, degree: int) -> MetricLaw:
    """The same inner product, given as numbers only."""
    return MetricLaw(data.n, degree, tuple(tuple(float(x) for x in row) for row in data.gram(degree)))


def singular(data: Product, degree: int) -> bool:
    gram = np.array([[float(x) for x in row] for row in data.gram(degree)])
    unit = np.sqrt(gram.diagonal())
    values = np.linalg.eigvalsh(gram / np.outer(unit, unit))
    return bool(values[0] <= SINGULAR * values[-1])
