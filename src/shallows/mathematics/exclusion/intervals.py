"""Arrays of intervals [lo, hi] of doubles, rounded outward: every operation contains all exact results.

IEEE sums, products, quotients and square roots are correctly rounded, so one step outward makes a bound of them. The
inverse sine is monotone and its implementations are good to a few units in the last place (`LIBRARY`). Lower ends that
are not known are NaN or infinite, and no test here ever takes a comparison with those for a proof.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import Ball, raised
from shallows.mathematics.exclusion.rounding import LIBRARY, TWO_UNITS, UNDERFLOW
from shallows.support.checks import Array

#: Intervals from which on compiled loops are used: one pass instead of up to eighteen, but a first call compiles.
MANY = 512
#: Angles up to which cosines are taken, and how near to a multiple of π one counts as there: x/π is known to 1e-14.
TURNS, MARGIN = 64.0, 1e-12


def down(value: Array) -> Array:
    """A lower bound on what was rounded to `value`: a unit in the last place is at most 2u|value|.

    (`np.nextafter` would be sharper by at most one unit, and takes seven times as long.)
    """
    return value - (np.abs(value) * TWO_UNITS + UNDERFLOW)


def up(value: Array) -> Array:
    """An upper bound on what was rounded to `value`."""
    return value + (np.abs(value) * TWO_UNITS + UNDERFLOW)


@cache
def _loops() -> Any:
    from shallows.mathematics.exclusion._compiled import operations

    return operations


class Intervals:
    """An array of intervals; operations with doubles take those as exact.

    >>> x = sh.exclusion.Intervals(np.array([-1.0, 2.0]), np.array([2.0, 3.0]))
    >>> x.square()
    Intervals([0, 4], [4, 9])
    >>> bool(np.all((x - x).lo <= -1))                     # no correlation is known
    True
    """

    __slots__ = ("hi", "lo")
    __array_ufunc__ = None  # NumPy arrays leave operations with intervals to the intervals

    def __init__(self, lo: Any, hi: Any) -> None:
        self.lo, self.hi = np.asarray(lo, dtype=np.float64), np.asarray(hi, dtype=np.float64)

    @classmethod
    def exact(cls, value: Any) -> Intervals:
        """The doubles themselves."""
        array = np.asarray(value, dtype=np.float64)
        return cls(array, array)

    @classmethod
    def stack(cls, parts: list[Intervals], axis: int = -1) -> Intervals:
        """Intervals side by side along a new axis."""
        return cls(np.stack([p.lo for p in parts], axis), np.stack([p.hi for p in parts], axis))

    def alike(self, value: float) -> Intervals:
        """The same number in every place."""
        return Intervals.exact(np.full(self.lo.shape, value))

    def __getitem__(self, key: Any) -> Intervals:
        return Intervals(self.lo[key], self.hi[key])

    def __len__(self) -> int:
        return len(self.lo)

    def __neg__(self) -> Intervals:
        return Intervals(-self.hi, -self.lo)

    def _many(self, other: Any = None) -> bool:
        """Whether a compiled loop takes these: one axis, many of them, as many on both sides."""
        shape = self.lo.shape
        return (
            len(shape) == 1
            and shape[0] >= MANY
            and self.hi.shape == shape
            and (other is None or (other.lo.shape == shape and other.hi.shape == shape))
        )

    def _looped(self, loop: Any, other: Intervals | None = None) -> Intervals:
        ends = (self.lo, self.hi) if other is None else (self.lo, self.hi, other.lo, other.hi)
        lo, hi = np.empty(len(self.lo)), np.empty(len(self.lo))
        loop(*(np.ascontiguousarray(end) for end in ends), lo, hi)
        return Intervals(lo, hi)

    def __add__(self, other: Intervals | Array | float) -> Intervals:
        if isinstance(other, Intervals):
            if self._many(other):
                return self._looped(_loops().add, other)
            return Intervals(down(self.lo + other.lo), up(self.hi + other.hi))
        return Intervals(down(self.lo + other), up(self.hi + other))

    __radd__ = __add__

    def __sub__(self, other: Intervals | Array | float) -> Intervals:
        return self + (-other)

    def __rsub__(self, other: Array | float) -> Intervals:
        return (-self) + other

    def __mul__(self, other: Intervals | Array | float) -> Intervals:
        if not isinstance(other, Intervals):
            if isinstance(other, float) and self._many():
                return self._scaled(other)
            a, b = self.lo * other, self.hi * other
            return Intervals(down(np.minimum(a, b)), up(np.maximum(a, b)))
        if self._many(other):
            return self._looped(_loops().multiply, other)
        a, b, c, d = self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi
        low = np.minimum(np.minimum(a, b), np.minimum(c, d))
        high = np.maximum(np.maximum(a, b), np.maximum(c, d))
        return Intervals(down(low), up(high))

    __rmul__ = __mul__

    def _scaled(self, factor: float) -> Intervals:
        lo, hi = np.empty(len(self.lo)), np.empty(len(self.lo))
        _loops().scale(np.ascontiguousarray(self.lo), np.ascontiguousarray(self.hi), factor, lo, hi)
        return Intervals(lo, hi)

    def reciprocal(self) -> Intervals:
        """1/x; the whole line where x may be zero."""
        with np.errstate(divide="ignore"):
            lo, hi = down(1.0 / self.hi), up(1.0 / self.lo)
        known = (self.lo > 0) | (self.hi < 0)
        return Intervals(np.where(known, lo, -np.inf), np.where(known, hi, np.inf))

    def __truediv__(self, other: Intervals | Array | float) -> Intervals:
        other = other if isinstance(other, Intervals) else Intervals.exact(other)
        if self._many(other):
            return self._looped(_loops().divide, other)
        with np.errstate(invalid="ignore", divide="ignore"):
            return self * other.reciprocal()

    def __rtruediv__(self, other: Array | float) -> Intervals:
        with np.errstate(invalid="ignore"):
            return self.reciprocal() * other

    def square(self) -> Intervals:
        """x²."""
        if self._many():
            return self._looped(_loops().square)
        small, large = self.mignitude, self.magnitude
        return Intervals(np.maximum(down(small * small), 0.0), up(large * large))

    def sqrt(self) -> Intervals:
        """The root of the part of x that is not negative."""
        if self._many():
            return self._looped(_loops().root)
        low, high = np.sqrt(np.maximum(self.lo, 0.0)), np.sqrt(np.maximum(self.hi, 0.0))
        return Intervals(np.maximum(down(low), 0.0), up(high))

    def arcsin(self) -> Intervals:
        """Of the part of x in [−1, 1]: what lies outside can only be rounding."""
        low, high = (np.arcsin(np.clip(x, -1.0, 1.0)) for x in (self.lo, self.hi))
        return Intervals(low - LIBRARY * np.abs(low) - UNDERFLOW, high + LIBRARY * np.abs(high) + UNDERFLOW)

    def cos(self) -> Intervals:
        """For |x| up to `TURNS`: values at the ends, and ±1 where a multiple of π may lie between them."""
        at = np.cos(np.stack([self.lo, self.hi]))
        first, last = np.ceil((self.lo - MARGIN) / np.pi), np.floor((self.hi + MARGIN) / np.pi)
        even = (first <= last) & ((first % 2 == 0) | (last > first))
        odd = (first <= last) & ((first % 2 == 1) | (last > first))
        lo = np.where(odd, -1.0, np.maximum(at.min(axis=0) - LIBRARY, -1.0))
        hi = np.where(even, 1.0, np.minimum(at.max(axis=0) + LIBRARY, 1.0))
        known = (self.magnitude < TURNS) & (self.lo <= self.hi)
        return Intervals(np.where(known, lo, -1.0), np.where(known, hi, 1.0))

    def sin(self) -> Intervals:
        """cos(x − π/2)."""
        return (self - HALF_PI).cos()

    def abs(self) -> Intervals:
        """|x|."""
        return Intervals(self.mignitude, self.magnitude)

    def meet(self, other: Intervals) -> Intervals:
        """What is in both; what is not known of one end is taken from the other."""
        return Intervals(np.fmax(self.lo, other.lo), np.fmin(self.hi, other.hi))

    def mirrored(self, factor: float) -> Intervals:
        """[−f·hi, f·hi]; f is such that its product need not be rounded up."""
        bound = self.hi * factor
        return Intervals(-bound, bound)

    def choose(self, positive: Intervals, negative: Intervals) -> Intervals:
        """The first where this is positive, the second where it is negative, else the whole line."""
        ahead, behind = self.lo > 0, self.hi < 0
        return Intervals(
            np.where(ahead, positive.lo, np.where(behind, negative.lo, -np.inf)),
            np.where(ahead, positive.hi, np.where(behind, negative.hi, np.inf)),
        )

    def hull(self, other: Intervals) -> Intervals:
        """The smallest intervals that hold both."""
        return Intervals(np.minimum(self.lo, other.lo), np.maximum(self.hi, other.hi))

    @property
    def magnitude(self) -> Array:
        """The largest absolute value."""
        return np.maximum(np.abs(self.lo), np.abs(self.hi))

    @property
    def mignitude(self) -> Array:
        """The smallest absolute value."""
        return np.maximum(np.maximum(self.lo, -self.hi), 0.0)

    @property
    def mid(self) -> Array:
        """A double inside."""
        return np.asarray(self.lo + 0.5 * (self.hi - self.lo))

    @property
    def width(self) -> Array:
        """hi − lo, an upper bound."""
        return up(self.hi - self.lo)

    def ball(self) -> Ball:
        """Midpoints and radii."""
        mid = self.mid
        return Ball(mid, raised(np.maximum(self.hi - mid, mid - self.lo), 1))

    @property
    def has_zero(self) -> NDArray[np.bool_]:
        """Where 0 is not proved to be outside."""
        return ~((self.lo > 0) | (self.hi < 0))

    def within(self, other: Intervals) -> NDArray[np.bool_]:
        """Where it is inside the interior of the other."""
        return np.asarray((self.lo > other.lo) & (self.hi < other.hi))

    def __repr__(self) -> str:
        shown = [f"[{a:.6g}, {b:.6g}]" for a, b in zip(self.lo.ravel()[:6], self.hi.ravel()[:6], strict=True)]
        more = f", … {self.lo.size} in all" if self.lo.size > 6 else ""
        return f"Intervals({', '.join(shown)}{more})"


#: π/2 and π: the double below and the next one up.
HALF_PI = Intervals(np.pi / 2, np.nextafter(np.pi / 2, 4.0))
PI = Intervals(np.pi, np.nextafter(np.pi, 4.0))


def of_ball(ball: Ball) -> Intervals:
    """The intervals of a float64 ball."""
    return Intervals(ball.lower, ball.upper)


def of_arb(values: Any) -> Intervals:
    """The smallest intervals of doubles around Arb's balls, in an array of any shape."""
    from shallows.mathematics.balls.rounding import above, below

    array = np.asarray(values, dtype=object)
    lo = np.array([below(x) for x in array.ravel()]).reshape(array.shape)
    hi = np.array([above(x) for x in array.ravel()]).reshape(array.shape)
    return Intervals(lo, hi)
