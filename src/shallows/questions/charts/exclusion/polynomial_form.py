"""Polynomials under Gaussian data, over boxes: E[(w·x)^i (v·x)^j] in S = ‖w‖², T = ‖v‖², C = w·v (Isserlis)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial

import numpy as np

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.questions.charts.exclusion.pair_functions import Cross, Own
from shallows.support.checks import Array


def pairings(i: int, j: int, k: int) -> int:
    """Ways to pair i and j factors so that k pairs are mixed."""
    if (i - k) % 2 or (j - k) % 2 or k > min(i, j):
        return 0
    p, q = (i - k) // 2, (j - k) // 2
    return int(factorial(i) * factorial(j) // (factorial(k) * 2 ** (p + q) * factorial(p) * factorial(q)))


@dataclass(frozen=True, eq=False)
class PolynomialForm:
    """Σ cⱼ zʲ; coefficients are the doubles as they are stored."""

    coefficients: tuple[Fraction, ...]

    @classmethod
    def of(cls, coefficients: Array) -> PolynomialForm:
        """From c_0, …, c_d."""
        return cls(tuple(Fraction(float(c)) for c in coefficients))

    @property
    def name(self) -> str:
        """For notes."""
        return "polynomial"

    @property
    def odd(self) -> bool:
        """Whether σ(−z) = −σ(z)."""
        return not any(self.coefficients[::2])

    @property
    def at_zero(self) -> bool:
        """Whether σ(0) = 0."""
        return not self.coefficients[0]

    def terms(self) -> dict[tuple[int, int, int], Fraction]:
        """{(p, q, k): coefficient} of S^p T^q C^k."""
        table: dict[tuple[int, int, int], Fraction] = {}
        for i, ci in enumerate(self.coefficients):
            for j, cj in enumerate(self.coefficients):
                for k in range(min(i, j) + 1):
                    count = pairings(i, j, k)
                    if count and ci and cj:
                        key = ((i - k) // 2, (j - k) // 2, k)
                        table[key] = table.get(key, Fraction(0)) + ci * cj * count
        return table

    def powers(self) -> list[Fraction]:
        """K = Σ κ_p S^p."""
        found = [Fraction(0)] * len(self.coefficients)
        for (p, q, k), value in self.terms().items():
            found[p + q + k] += value
        return found

    def cross(self, S: Intervals, T: Intervals, C: Intervals, X: Intervals) -> Cross:
        """F and its derivatives; X is not needed."""
        parts = []
        for a, b in ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)):
            sum_ = Intervals.exact(np.zeros(len(S)))
            for (p, q, k), value in self.terms().items():
                if p < a or k < b:
                    continue
                factor = value * falling(p, a) * falling(k, b)
                term = power(S, p - a) * power(C, k - b) * (power(T, q) * enclosed(factor))
                sum_ = sum_ + term
            parts.append(sum_)
        return Cross(*parts)

    def own(self, S: Intervals) -> Own:
        """K and its derivatives."""
        parts = []
        for a in range(3):
            sum_ = Intervals.exact(np.zeros(len(S)))
            for p, value in enumerate(self.powers()):
                if p >= a and value:
                    sum_ = sum_ + power(S, p - a) * enclosed(value * falling(p, a))
            parts.append(sum_)
        return Own(*parts)


def falling(n: int, k: int) -> int:
    """n(n − 1) … (n − k + 1)."""
    return int(np.prod(range(n - k + 1, n + 1))) if k else 1


def enclosed(value: Fraction) -> Intervals:
    """A fraction, rounded outward."""
    near = float(value)
    if Fraction(near) == value:
        return Intervals.exact(near)
    return Intervals(np.nextafter(near, -np.inf), np.nextafter(near, np.inf))


def power(x: Intervals, exponent: int) -> Intervals:
    """xᵉ; even powers through the square."""
    if exponent == 0:
        return Intervals.exact(np.ones_like(x.lo))
    result = x.square() if exponent % 2 == 0 else x
    for _ in range((exponent - 1) // 2):
        result = result * x.square()
    return result
