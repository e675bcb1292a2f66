"""Polynomials in a few unknowns by their exponents: sums, products, slopes, and enclosures over boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

from flint import arb

from shallows.mathematics.exclusion.intervals import Intervals, of_arb
from shallows.questions.charts.exclusion.polynomial_form import enclosed

#: A polynomial by its exponents; coefficients are fractions, or balls of python-flint.
Polynomial = Mapping[tuple[int, ...], Any]


class Sums:
    """Polynomials at traced unknowns, by Horner's rule: it encloses more tightly than a sum of monomials."""

    def __init__(self, box: Any, n: int) -> None:
        self.x = [box[:, j] for j in range(n)]

    def __call__(self, p: Polynomial) -> Any:
        """p there."""
        return self._nested(p, 0) if p else self.x[0].alike(0.0)

    def _nested(self, p: Polynomial, j: int) -> Any:
        """p as a polynomial in x_j, whose coefficients are polynomials in the unknowns after it."""
        if j == len(self.x):
            (c,) = p.values()
            return self.x[0].alike(0.0) + _interval(c)
        powers = sorted({row[j] for row in p}, reverse=True)
        total = None
        for e, below in zip(powers, [*powers[1:], 0], strict=True):
            part = self._nested({row: c for row, c in p.items() if row[j] == e}, j + 1)
            total = part if total is None else total + part
            total = total * _power(self.x[j], e - below) if e > below else total
        return total


def _power(x: Any, e: int) -> Any:
    """xᵉ, even powers through the square."""
    result = x.square() if e % 2 == 0 else x
    for _ in range((e - 1) // 2):
        result = result * x.square()
    return result


def _interval(c: Any) -> Intervals:
    return enclosed(c) if isinstance(c, Fraction) else of_arb([c])[0]


def slope(p: Polynomial, i: int, gap: int = 1) -> Polynomial:
    """∂_i p / x_i^(gap − 1)."""
    return {(*row[:i], row[i] - gap, *row[i + 1 :]): c * row[i] for row, c in p.items() if row[i]}


def value(p: Polynomial, place: Sequence[Fraction]) -> Fraction:
    """p at a place; its coefficients are fractions."""
    return sum((c * prod(x**e for x, e in zip(place, row, strict=True)) for row, c in p.items()), Fraction(0))


def product(p: Polynomial, q: Polynomial) -> Polynomial:
    """pq."""
    result: dict[tuple[int, ...], Any] = {}
    for row, c in p.items():
        for other, d in q.items():
            key = tuple(x + y for x, y in zip(row, other, strict=True))
            result[key] = result.get(key, 0) + c * d
    return result


def combination(weights: Sequence[Any], polynomials: Sequence[Polynomial]) -> Polynomial:
    """Σ weight · polynomial, terms that cancel exactly left out."""
    result: dict[tuple[int, ...], Any] = {}
    for weight, p in zip(weights, polynomials, strict=True):
        for row, c in p.items() if weight else ():
            result[row] = result.get(row, 0) + times(c, weight)
    return {row: c for row, c in result.items() if not _is_zero(c)}


def _is_zero(c: Any) -> bool:
    """Whether it is nothing else than zero: a ball that only contains zero is a term."""
    return bool(c.is_zero()) if isinstance(c, arb) else not c


def times(c: Any, weight: Fraction) -> Any:
    """A fraction, or a ball, times a fraction."""
    return c * weight if isinstance(c, Fraction) else c * arb(weight.numerator) / arb(weight.denominator)
