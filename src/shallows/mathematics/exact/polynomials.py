"""Polynomials with rational coefficients as {exponents: coefficient}: what the exact engine's equations are made of."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Polynomial = dict[tuple[int, ...], Fraction]


def variable(count: int, k: int) -> Polynomial:
    """The k-th of `count` unknowns."""
    return {tuple(int(i == k) for i in range(count)): Fraction(1)}


def constant(count: int, value: Fraction) -> Polynomial:
    """A number, as a polynomial in `count` unknowns."""
    return {(0,) * count: value} if value else {}


def scaled(p: Polynomial, factor: Fraction) -> Polynomial:
    """factor · p."""
    return {key: value * factor for key, value in p.items()} if factor else {}


def total(parts: Sequence[Polynomial]) -> Polynomial:
    """The sum of polynomials."""
    result: Polynomial = {}
    for part in parts:
        for key, value in part.items():
            result[key] = result.get(key, Fraction(0)) + value
    return {key: value for key, value in result.items() if value}


def times(p: Polynomial, q: Polynomial) -> Polynomial:
    """p · q."""
    result: Polynomial = {}
    for left, x in p.items():
        for right, y in q.items():
            key = tuple(a + b for a, b in zip(left, right, strict=True))
            result[key] = result.get(key, Fraction(0)) + x * y
    return {key: value for key, value in result.items() if value}


def in_frame(p: Polynomial, frame: Sequence[Sequence[int]]) -> Polynomial:
    """p(Rx), R a matrix of integers.

    >>> in_frame({(1, 1): Fraction(1)}, [[1, 1], [1, -1]])                  # xy becomes (x + y)(x − y)
    {(2, 0): Fraction(1, 1), (0, 2): Fraction(-1, 1)}
    """
    count = len(frame)
    forms = [total([scaled(variable(count, k), Fraction(c)) for k, c in enumerate(row)]) for row in frame]
    powers: list[list[Polynomial]] = [[constant(count, Fraction(1))] for _ in forms]
    for form, table in zip(forms, powers, strict=True):
        for _ in range(max((max(key) for key in p), default=0)):
            table.append(times(table[-1], form))
    parts = []
    for key, value in p.items():
        term = constant(count, value)
        for table, exponent in zip(powers, key, strict=True):
            term = times(term, table[exponent])
        parts.append(term)
    return total(parts)
