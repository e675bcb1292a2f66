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

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exact.linear_algebra import from_flint, kernel, matrix
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.tape import Tape
from shallows.mathematics.exclusion.taped import Taped
from shallows.questions.charts.neurons.polynomials import Polynomial, Sums, slope, times, value


class SquareRatio(Taped):
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
        slopes = [slope(self.C, i) for i in range(self.n)]
        return not any(value(p, place) for p in (self.C, *slopes))

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
            found.append({row: times(c, shares[row]) for row, c in self.K.items() if shares[row]})
        return [p for p in found if p]

    @cached_property
    def _balance(self) -> Tape:
        def parts(box: Any) -> list[Intervals]:
            sums = Sums(box, self.n)
            return [sums(p) for p in self._balances]

        return Tape(parts, self.n)

    @cached_property
    def _numerator(self) -> Tape:
        return Tape(lambda box: [Sums(box, self.n)(self.C)], self.n)

    def values(self, box: Any) -> Iterator[Intervals]:
        """F_i."""
        at = Sums(box, self.n)
        C, K = at(self.C), at(self.K)
        for i, gap in enumerate(self.gaps):
            yield K * at(slope(self.C, i, gap)) * 2.0 - C * at(slope(self.K, i, gap))

    def slopes(self, box: Any) -> Iterator[Intervals]:
        """∂_jF_i."""
        at = Sums(box, self.n)
        C, K = at(self.C), at(self.K)
        for i, gap in enumerate(self.gaps):
            own, other = slope(self.C, i, gap), slope(self.K, i, gap)
            for j in range(self.n):
                first = at(slope(self.K, j)) * at(own) * 2.0 + K * at(slope(own, j)) * 2.0
                yield first - at(slope(self.C, j)) * at(other) - C * at(slope(other, j))
