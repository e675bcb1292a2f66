"""Exact linear algebra over Q and modulo a prime, on python-flint."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from operator import mul
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from shallows.support.tolerances import EPSILON

PRIME = 2_147_483_647
"""2³¹ − 1: products of two residues fit in 64 bits."""

#: A float stands for p/q with q up to this, within four units in the last place: what a few operations on such numbers
#: leave. One double in 70 million is so near to one of them by chance.
SIMPLE_DENOMINATOR, ROUNDING = 4096, 4 * EPSILON

Rational = Fraction | int | float


def simple_rational(value: Rational) -> Fraction:
    """The rational a float stands for: a simple one within rounding if there is one, else its exact value.

    Floats cannot hold 1/3; what was meant is recovered when some p/q with q ≤ 4096 is within four units in the
    last place. Fractions and integers pass unchanged.

    >>> simple_rational(1 / 3), simple_rational(0.5), simple_rational(Fraction(1, 12345))
    (Fraction(1, 3), Fraction(1, 2), Fraction(1, 12345))
    """
    if not isinstance(value, float):
        return Fraction(value)
    exact = Fraction(value)
    simple = exact.limit_denominator(SIMPLE_DENOMINATOR)
    return simple if abs(simple - exact) <= ROUNDING * abs(exact) else exact


def to_flint(value: Fraction) -> Any:
    """A python-flint rational."""
    return flint.fmpq(value.numerator, value.denominator)


def from_flint(value: Any) -> Fraction:
    """A fraction from a python-flint rational."""
    return Fraction(int(value.p), int(value.q))


def matrix(rows: Sequence[Sequence[Fraction]]) -> Any:
    """A python-flint matrix of rationals."""
    return flint.fmpq_mat(len(rows), len(rows[0]), [to_flint(value) for row in rows for value in row])


def kernel(table: Any) -> list[list[Any]]:
    """A basis of {x : table x = 0} over Q, from the reduced row echelon form."""
    reduced, rank = table.rref()
    columns = table.ncols()
    pivots = [next(j for j in range(columns) if reduced[i, j] != 0) for i in range(rank)]
    basis = []
    for free in (j for j in range(columns) if j not in pivots):
        vector = [flint.fmpq(0)] * columns
        vector[free] = flint.fmpq(1)
        for i, pivot in enumerate(pivots):
            vector[pivot] = -reduced[i, free]
        basis.append(vector)
    return basis


def integer_rank(table: NDArray[np.object_]) -> int:
    """The rank over Q of a matrix of Python integers."""
    if 0 in table.shape:
        return 0
    return int(flint.fmpz_mat(table.shape[0], table.shape[1], table.ravel().tolist()).rank())


def modular_rank(table: NDArray[np.int64]) -> int:
    """The rank modulo PRIME: at most the rank over Q, so a proof of a lower bound."""
    if 0 in table.shape:
        return 0
    return int(flint.nmod_mat(table.shape[0], table.shape[1], table.ravel().tolist(), PRIME).rank())


def distinct_eigenvalues(table: NDArray[Any]) -> int:
    """The number of distinct complex eigenvalues of a matrix of fractions: deg p − deg gcd(p, p′), p = det(λI − A).

    >>> third = Fraction(1, 3)
    >>> distinct_eigenvalues(np.array([[third, 1], [1, third]], dtype=object))
    2
    """
    p = _characteristic(table)
    return int(p.degree() - p.gcd(p.derivative()).degree())


def repeated_eigenspaces(table: NDArray[Any]) -> list[tuple[Fraction, list[list[Fraction]]]]:
    """The rational eigenvalues of a symmetric matrix of fractions that are multiple, each with an orthogonal basis.

    >>> ((value, basis),) = repeated_eigenspaces(np.array([[2, 0, 0], [0, 1, 1], [0, 1, 1]], dtype=object))
    >>> int(value), [list(map(int, vector)) for vector in basis]
    (2, [[1, 0, 0], [0, 1, 1]])
    """
    scale = lcm(*(Fraction(x).denominator for x in table.flat))
    found = []
    for factor, power in _characteristic(table).factor()[1]:
        if power > 1 and factor.degree() == 1:
            value = -Fraction(int(factor[0]), int(factor[1]) * scale)
            rows = matrix(
                [
                    [Fraction(x) - value * (i == j) for j, x in enumerate(row)]
                    for i, row in enumerate(table.tolist())
                ]
            )
            found.append((value, _orthogonal([[from_flint(x) for x in v] for v in kernel(rows)])))
    return found


def _orthogonal(basis: list[list[Fraction]]) -> list[list[Fraction]]:
    """Gram and Schmidt, without lengths."""
    done: list[list[Fraction]] = []
    for vector in basis:
        for other in done:
            share = sum(map(mul, vector, other)) / sum(x * x for x in other)
            vector = [x - share * y for x, y in zip(vector, other, strict=True)]
        done.append(vector)
    return done


def _characteristic(table: NDArray[Any]) -> Any:
    """det(λI − cA) for the least c that makes A a matrix of integers."""
    scale = lcm(*(Fraction(x).denominator for x in table.flat))
    return flint.fmpz_mat([[int(x * scale) for x in row] for row in table.tolist()]).charpoly()
