"""Ball arithmetic on float64 arrays: a midpoint and a radius an entry, with every rounding inside the radius.

u = 2⁻⁵³ and γ_n = nu/(1 − nu): a floating-point sum of n products, in whatever order BLAS takes, is off by at most γ_n
times the sum of their sizes (Higham 2002, section 3.1). Radii are themselves rounded, so each is raised by more than
the roundings that went into it (`raised`); `TINY` covers underflow. Complex midpoints make discs: a complex product is
off by at most √5 u of its size (Brent, Percival and Zimmermann 2007), a sum of k of them by √2 γ_2k. Leading axes are a
batch: n×n matrices of m points are (m, n, n). Against Arb in the tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.support.checks import Array
from shallows.support.tolerances import UNIT_ROUNDOFF

#: One rounded operation is off by this share at most.
UNIT = UNIT_ROUNDOFF
#: Added to every radius: far more than underflow, 2⁻¹⁰⁷⁴ an operation, can lose in any sum that fits into a memory.
TINY = 1e-290
#: More than the roundings of a product or quotient of up to four factors and of their sum: (1 + u)⁷ < 1 + 8u.
SLACK = 8 * UNIT


def gamma(n: int) -> float:
    """γ_n = nu/(1 − nu), rounded upwards."""
    return n * UNIT / (1 - n * UNIT) * (1 + SLACK)


def raised(value: Array, roundings: int = 1) -> Array:
    """An upper bound on a non-negative expression that was evaluated with at most so many roundings a factor."""
    return np.asarray(value * (1 + 2 * gamma(roundings + 4)) + TINY)


def raised_number(value: float, roundings: int = 1) -> float:
    """The same for one number."""
    return float(raised(np.asarray(value), roundings))


@dataclass(frozen=True, eq=False)
class Ball:
    """All arrays within `rad` of `mid`, entry by entry."""

    mid: Any
    rad: Array

    @classmethod
    def exact(cls, mid: Any) -> Ball:
        """The array itself."""
        return cls(np.asarray(mid), np.zeros(np.shape(mid)))

    @classmethod
    def of_fractions(cls, values: Any) -> Ball:
        """Rationals, rounded to the nearest doubles."""
        ratios = [value.as_integer_ratio() for row in values for value in row]
        near = [
            numerator / denominator for numerator, denominator in ratios
        ]  # rounded once: integers are exact
        exact = [x.as_integer_ratio() == ratio for x, ratio in zip(near, ratios, strict=True)]
        mid = np.array(near).reshape(np.shape(values))
        return cls(mid, np.where(np.reshape(exact, mid.shape), 0.0, raised(UNIT * np.abs(mid), 1)))

    @classmethod
    def rounded(cls, mid: Array, roundings: int) -> Ball:
        """What was computed with at most so many relative roundings an entry, none of them in a sum."""
        return cls(mid, raised(gamma(roundings) * np.abs(mid), 1))

    @property
    def _roundings(self) -> int:
        """How many units a product is off by: 1, or 3 > √5 when it is complex."""
        return 3 if np.iscomplexobj(self.mid) else 1

    @property
    def T(self) -> Ball:
        """The transpose."""
        return Ball(self.mid.T, self.rad.T)

    @property
    def size(self) -> Array:
        """An upper bound on the absolute values."""
        return raised(np.abs(self.mid) + self.rad, 1)

    @property
    def upper(self) -> Array:
        """An upper bound on the values."""
        return np.asarray(np.nextafter(self.mid + self.rad, np.inf))

    @property
    def lower(self) -> Array:
        """A lower bound on the values."""
        return np.asarray(np.nextafter(self.mid - self.rad, -np.inf))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return tuple(self.mid.shape)

    def reshape(self, *shape: int) -> Ball:
        """The same entries in another shape."""
        return Ball(self.mid.reshape(*shape), self.rad.reshape(*shape))

    def swapaxes(self, first: int, second: int) -> Ball:
        """Two axes exchanged."""
        return Ball(self.mid.swapaxes(first, second), self.rad.swapaxes(first, second))

    def __getitem__(self, key: Any) -> Ball:
        return Ball(self.mid[key], self.rad[key])

    def __neg__(self) -> Ball:
        return Ball(-self.mid, self.rad)

    def __add__(self, other: Ball) -> Ball:
        mid = self.mid + other.mid
        return Ball(mid, raised(self.rad + other.rad + UNIT * np.abs(mid), 3))

    def __sub__(self, other: Ball) -> Ball:
        return self + (-other)

    @cached_property
    def _sizes(self) -> Array:
        """The absolute values of the midpoints, rounded: the most expensive part of a product of discs."""
        return np.asarray(np.abs(self.mid))

    def __mul__(self, other: Ball) -> Ball:
        """|ab − âb̂| ≤ |â||b − b̂| + |a − â||b|, and the rounding, at most √5 u |â||b̂|."""
        sizes, theirs = self._sizes, other._sizes
        unit = max(self._roundings, other._roundings) * UNIT
        rad = sizes * (other.rad + unit * theirs) + self.rad * (theirs + other.rad)
        return Ball(self.mid * other.mid, raised(rad, 6))

    def __truediv__(self, other: Ball) -> Ball:
        """|a/b − â/b̂| ≤ (|a − â| + |â/b̂||b − b̂|)/b for a positive b."""
        mid = self.mid / other.mid
        rad = (self.rad + raised(np.abs(mid), 1) * other.rad) / other.lower
        return Ball(mid, raised(rad + UNIT * np.abs(mid), 6))

    def __matmul__(self, other: Ball) -> Ball:
        """|fl(AB) − AB| ≤ (γ_k|A| + r_A)|B| + (|A| + r_A)r_B, k the number of products summed."""
        terms = self.mid.shape[-1] * max(self._roundings, other._roundings)
        size = np.abs(self.mid)
        rad = (gamma(terms) * size + self.rad) @ np.abs(other.mid)
        if other.rad.any():
            rad = rad + (size + self.rad) @ other.rad
        return Ball(self.mid @ other.mid, raised(rad, terms + 5))

    def sum(self, axis: int | None = None) -> Ball:
        """The sum along an axis, or of all entries."""
        terms = self.mid.size if axis is None else self.mid.shape[axis]
        rad = np.asarray(np.sum(gamma(terms) * np.abs(self.mid) + self.rad, axis=axis))
        return Ball(np.asarray(self.mid.sum(axis=axis)), raised(rad, terms + 3))

    def segment_sums(self, starts: NDArray[np.intp]) -> Ball:
        """The sums, along the last axis, of segments that begin there, none of them empty.

        >>> Ball.exact(np.array([[1.0, 2.0, 4.0]])).segment_sums(np.array([0, 2])).mid
        array([[3., 4.]])
        """
        terms = int(np.diff(starts, append=self.mid.shape[-1]).max())
        rad = np.add.reduceat(gamma(terms) * np.abs(self.mid) + self.rad, starts, axis=-1)
        return Ball(np.add.reduceat(self.mid, starts, axis=-1), raised(rad, terms + 3))

    def norm(self) -> float:
        """An upper bound on the Frobenius norm."""
        squares = float(np.sum(self.size**2))
        return raised_number(float(np.sqrt(raised_number(squares, self.mid.size + 2))), 2)


def stacked(balls: list[Ball], axis: int = 0) -> Ball:
    """Balls side by side."""
    return Ball(
        np.concatenate([b.mid for b in balls], axis=axis), np.concatenate([b.rad for b in balls], axis=axis)
    )
