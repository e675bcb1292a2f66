"""Products, quotients and sums of many intervals, each in one pass: NumPy takes eighteen for a product.

The same bounds as `intervals` has in NumPy. An end that is not known is infinite or NaN: where a product has both
infinities or a NaN among its four, neither end is known, and both become NaN.
"""

from __future__ import annotations

from math import nan, sqrt

from numba import types

from shallows.mathematics.exclusion.rounding import TWO_UNITS, UNDERFLOW
from shallows.support.compiling import constants, entry, part

#: Ends of intervals that are read, and those that are written.
READ = constants(types.float64)
WRITTEN = types.float64[::1]
PAIR = types.void(READ, READ, READ, READ, WRITTEN, WRITTEN)


@part
def down(value: float) -> float:
    """A lower bound on what was rounded to `value`."""
    return value - (abs(value) * TWO_UNITS + UNDERFLOW)


@part
def up(value: float) -> float:
    """An upper bound on what was rounded to `value`."""
    return value + (abs(value) * TWO_UNITS + UNDERFLOW)


@part
def least(a: float, b: float, c: float, d: float) -> float:
    """The smallest of four."""
    p = a if a < b else b
    q = c if c < d else d
    return p if p < q else q


@part
def greatest(a: float, b: float, c: float, d: float) -> float:
    """The largest of four."""
    p = a if a > b else b
    q = c if c > d else d
    return p if p > q else q


@entry(PAIR)
def multiply(a, b, c, d, lo, hi):  # type: ignore[no-untyped-def]
    """[a, b]·[c, d]."""
    for i in range(len(a)):
        p, q, r, s = a[i] * c[i], a[i] * d[i], b[i] * c[i], b[i] * d[i]
        total = (p + q) + (r + s)
        unknown = total != total
        low, high = down(least(p, q, r, s)), up(greatest(p, q, r, s))
        lo[i] = nan if unknown else low
        hi[i] = nan if unknown else high


@entry(PAIR)
def divide(a, b, c, d, lo, hi):  # type: ignore[no-untyped-def]
    """[a, b]/[c, d]; NaN where the divisor may be zero."""
    for i in range(len(a)):
        below, above = down(1.0 / d[i]), up(1.0 / c[i])
        p, q, r, s = a[i] * below, a[i] * above, b[i] * below, b[i] * above
        total = (p + q) + (r + s)
        unknown = total != total or not (c[i] > 0.0 or d[i] < 0.0)
        low, high = down(least(p, q, r, s)), up(greatest(p, q, r, s))
        lo[i] = nan if unknown else low
        hi[i] = nan if unknown else high


@entry(PAIR)
def add(a, b, c, d, lo, hi):  # type: ignore[no-untyped-def]
    """[a, b] + [c, d]."""
    for i in range(len(a)):
        lo[i] = down(a[i] + c[i])
        hi[i] = up(b[i] + d[i])


@entry(types.void(READ, READ, types.float64, WRITTEN, WRITTEN))
def scale(a, b, factor, lo, hi):  # type: ignore[no-untyped-def]
    """[a, b] times a double."""
    for i in range(len(a)):
        p, q = a[i] * factor, b[i] * factor
        lo[i] = down(p if factor >= 0.0 else q)
        hi[i] = up(q if factor >= 0.0 else p)


@entry(types.void(READ, READ, WRITTEN, WRITTEN))
def square(a, b, lo, hi):  # type: ignore[no-untyped-def]
    """The squares of [a, b]."""
    for i in range(len(a)):
        p, q = a[i] * a[i], b[i] * b[i]
        small, large = (p, q) if p < q else (q, p)
        inside = not (a[i] > 0.0 or b[i] < 0.0)
        low = 0.0 if inside else down(small)
        lo[i] = 0.0 if low < 0.0 else low
        hi[i] = up(large) if p == p and q == q else nan


@entry(types.void(READ, READ, WRITTEN, WRITTEN))
def root(a, b, lo, hi):  # type: ignore[no-untyped-def]
    """The roots of the part of [a, b] that is not negative."""
    for i in range(len(a)):
        low = down(sqrt(0.0 if a[i] < 0.0 else a[i]))
        lo[i] = 0.0 if low < 0.0 else low
        hi[i] = up(sqrt(0.0 if b[i] < 0.0 else b[i]))
