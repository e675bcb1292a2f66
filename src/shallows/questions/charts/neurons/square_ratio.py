"""Critical points of C²/K over boxes, C and K polynomials: what a trained outer weight leaves of the loss of a neuron.

With a = C/K the loss of aψ(u) is E y² − C²/K. Where C and K do not vanish its critical points are the zeros of

    F_i = 2K ∂_iC − C ∂_iK.

Zeros with C = 0, where a = 0, are not asked about; there may be sets of them. Where C has weights, Σ ω_i x_i ∂_iC = kC
as polynomials (a linear target gives C = (b + ½)(w·ℓ) for 1 + z + z², which has two), a zero F = 0 with C ≠ 0 has

    2kK = Σ ω_i x_i ∂_iK,

and boxes in which this cannot be are excused.

Where x₀ = 0 is not asked about, because only limits of networks are there, F₀ is divided by x₀^(g−1), g the first power
of x₀ that C and K have beside the power 0: it does not vanish at all limits for that reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import prod
from operator import mul
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from shallows.mathematics.exact.linear_algebra import from_flint, kernel, matrix
from shallows.mathematics.exclusion.intervals import Intervals, of_arb
from shallows.mathematics.exclusion.system import Plain
from shallows.mathematics.exclusion.tape import Tape
from shallows.questions.charts.exclusion.polynomial_form import enclosed

#: A polynomial by its exponents; coefficients are fractions, or balls of python-flint.
Polynomial = Mapping[tuple[int, ...], Any]


class SquareRatio(Plain):
    """The critical equations of C²/K in n unknowns.

    >>> one = Fraction(1)
    >>> C, K = {(1, 0): one, (0, 1): 2 * one}, {(0, 0): one, (2, 0): one, (0, 2): one}
    >>> value, _ = SquareRatio(C, K)(Intervals.exact(np.array([[1.0, 1.0]])), False)
    >>> value.mid                                       # 2·3·1 − 3·2, 2·3·2 − 3·2
    array([[0., 6.]])
    """

    def __init__(self, C: Polynomial, K: Polynomial, limits_at_zero: bool = False) -> None:
        self.n = len(next(iter(K)))
        self.C, self.K = C, K
        powers = [row[0] for p in (C, K) for row in p if row[0]] if limits_at_zero else []
        self.gaps = [min(powers, default=1), *[1] * (self.n - 1)]

    def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
        """Values (m, n), and derivatives (m, n, n) where asked for."""
        if not derivative:
            return self._values(box), None
        both = self._slopes(box)
        shape = (len(box), self.n, self.n)
        slopes = both[:, self.n :]
        return both[:, : self.n], Intervals(slopes.lo.reshape(shape), slopes.hi.reshape(shape))

    def excused(self, box: Intervals) -> NDArray[np.bool_]:
        """Those that have no zero with C ≠ 0, as C has weights.

        >>> C, K = {(2,): Fraction(1)}, {(0,): Fraction(1), (2,): Fraction(1)}     # 4(1 + x²) = 2x² nowhere
        >>> SquareRatio(C, K).excused(Intervals([[-1.0]], [[1.0]])).tolist()
        [True]
        """
        if not self._balances:
            return super().excused(box)
        return np.asarray((~self._balance(box).has_zero).any(axis=1))

    def numerator(self, box: Intervals) -> Intervals:
        """C over boxes."""
        return self._numerator(box)[:, 0]

    def is_weightless(self, place: Sequence[Fraction]) -> bool:
        """Whether C and its slopes vanish at a place, exactly: a = 0 there, and all F_i are zero for that reason.

        >>> square, one = {(2,): Fraction(1)}, {(0,): Fraction(1)}
        >>> ratio = SquareRatio(square, one)
        >>> ratio.is_weightless([Fraction(0)]), ratio.is_weightless([Fraction(1)])
        (True, False)
        """
        slopes = [_slope(self.C, i) for i in range(self.n)]
        return not any(_value(p, place) for p in (self.C, *slopes))

    @cached_property
    def _balances(self) -> list[Polynomial]:
        """2kK − Σ ω_i x_i ∂_iK for a basis of all (ω, k)."""
        if not self.C:
            return []
        rows = [[*map(Fraction, row), Fraction(-1)] for row in self.C]
        found = []
        for vector in kernel(matrix(rows)):
            *weights, k = map(from_flint, vector)
            shares = {row: 2 * k - sum(map(mul, weights, row)) for row in self.K}
            found.append({row: _times(c, shares[row]) for row, c in self.K.items() if shares[row]})
        return [p for p in found if p]

    @cached_property
    def _balance(self) -> Tape:
        def parts(box: Any) -> list[Intervals]:
            sums = _Sums(box, self.n)
            return [sums(p) for p in self._balances]

        return Tape(parts, self.n)

    @cached_property
    def _numerator(self) -> Tape:
        return Tape(lambda box: [_Sums(box, self.n)(self.C)], self.n)

    @cached_property
    def _values(self) -> Tape:
        return Tape(lambda box: list(self._equations(_Sums(box, self.n))), self.n)

    @cached_property
    def _slopes(self) -> Tape:
        def parts(box: Any) -> list[Intervals]:
            sums = _Sums(box, self.n)
            return [*self._equations(sums), *self._derivatives(sums)]

        return Tape(parts, self.n)

    def _equations(self, at: _Sums) -> Iterator[Intervals]:
        C, K = at(self.C), at(self.K)
        for i, gap in enumerate(self.gaps):
            yield K * at(_slope(self.C, i, gap)) * 2.0 - C * at(_slope(self.K, i, gap))

    def _derivatives(self, at: _Sums) -> Iterator[Intervals]:
        C, K = at(self.C), at(self.K)
        for i, gap in enumerate(self.gaps):
            own, other = _slope(self.C, i, gap), _slope(self.K, i, gap)
            for j in range(self.n):
                first = at(_slope(self.K, j)) * at(own) * 2.0 + K * at(_slope(own, j)) * 2.0
                yield first - at(_slope(self.C, j)) * at(other) - C * at(_slope(other, j))


class _Sums:
    """Polynomials at traced unknowns, by Horner's rule: it encloses more tightly than a sum of monomials."""

    def __init__(self, box: Any, n: int) -> None:
        self.x = [box[:, j] for j in range(n)]

    def __call__(self, p: Polynomial) -> Any:
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


def _slope(p: Polynomial, i: int, gap: int = 1) -> Polynomial:
    """∂_i p / x_i^(gap − 1)."""
    return {(*row[:i], row[i] - gap, *row[i + 1 :]): c * row[i] for row, c in p.items() if row[i]}


def _value(p: Polynomial, place: Sequence[Fraction]) -> Fraction:
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
            result[row] = result.get(row, 0) + _times(c, weight)
    return {row: c for row, c in result.items() if not _is_zero(c)}


def _is_zero(c: Any) -> bool:
    """Whether it is nothing else than zero: a ball that only contains zero is a term."""
    return bool(c.is_zero()) if isinstance(c, arb) else not c


def _times(c: Any, weight: Fraction) -> Any:
    """A fraction, or a ball, times a fraction."""
    return c * weight if isinstance(c, Fraction) else c * arb(weight.numerator) / arb(weight.denominator)
