"""A list of interval operations over many boxes in one call: registers of a few boxes stay in the processor's cache.

The same bounds as `operations`, operation by operation. An end that is not known is infinite or NaN.
"""

from __future__ import annotations

from math import asin, inf, nan, sqrt

from numba import types

from shallows.mathematics.exclusion._compiled.operations import down, greatest, least, up
from shallows.mathematics.exclusion.codes import (
    ABS,
    ADD,
    ARCSINE,
    CHOOSE,
    DIVIDE,
    MEET,
    MULTIPLY,
    NEGATE,
    ROOT,
    SCALE,
    SQUARE,
)
from shallows.mathematics.exclusion.rounding import LIBRARY, TWO_UNITS, UNDERFLOW
from shallows.support.compiling import constants, entry, part

#: What is read: operations (kind, three operands, result), their factors, ends of intervals; and registers.
CODES = constants(types.int32, 2)
NUMBERS = constants(types.float64)
BOXES = constants(types.float64, 2)
REGISTERS = types.float64[:, ::1]


@part
def product(a: float, b: float, c: float, d: float) -> tuple[float, float]:
    """[a, b]·[c, d]."""
    p, q, r, s = a * c, a * d, b * c, b * d
    total = (p + q) + (r + s)
    if total != total:
        return nan, nan
    return down(least(p, q, r, s)), up(greatest(p, q, r, s))


@part
def arcsine(value: float, side: float) -> float:
    """A bound on the inverse sine of what is in [−1, 1] of it: a lower one with side −1, an upper one with side 1."""
    inside = value if value > -1.0 else (-1.0 if value == value else nan)
    at = asin(inside if inside < 1.0 else (1.0 if inside == inside else nan))
    return at + side * (LIBRARY * abs(at) + UNDERFLOW)


@entry(types.void(REGISTERS, REGISTERS, types.intp, types.intp, types.intp))
def multiply_row(lo, hi, x, y, r):  # type: ignore[no-untyped-def]
    """One product, for all boxes of the registers."""
    for i in range(lo.shape[1]):
        lo[r, i], hi[r, i] = product(lo[x, i], hi[x, i], lo[y, i], hi[y, i])


@entry(types.void(REGISTERS, REGISTERS, types.intp, types.intp, types.intp))
def divide_row(lo, hi, x, y, r):  # type: ignore[no-untyped-def]
    """One quotient; NaN where the divisor may be zero."""
    for i in range(lo.shape[1]):
        if lo[y, i] > 0.0 or hi[y, i] < 0.0:
            below, above = down(1.0 / hi[y, i]), up(1.0 / lo[y, i])
            lo[r, i], hi[r, i] = product(lo[x, i], hi[x, i], below, above)
        else:
            lo[r, i], hi[r, i] = nan, nan


@part
def add_row(lo, hi, x, y, r):  # type: ignore[no-untyped-def]
    """One sum."""
    for i in range(lo.shape[1]):
        low, high = lo[x, i] + lo[y, i], hi[x, i] + hi[y, i]
        lo[r, i] = low - (abs(low) * TWO_UNITS + UNDERFLOW)
        hi[r, i] = high + (abs(high) * TWO_UNITS + UNDERFLOW)


@part
def scale_row(lo, hi, x, factor, r):  # type: ignore[no-untyped-def]
    """One product with a double."""
    for i in range(lo.shape[1]):
        p, q = lo[x, i] * factor, hi[x, i] * factor
        lo[r, i] = down(p if factor >= 0.0 else q)
        hi[r, i] = up(q if factor >= 0.0 else p)


@part
def square_row(lo, hi, x, r):  # type: ignore[no-untyped-def]
    """One square."""
    for i in range(lo.shape[1]):
        a, b = lo[x, i], hi[x, i]
        p, q = a * a, b * b
        low = 0.0 if not (a > 0.0 or b < 0.0) else down(p if p < q else q)
        lo[r, i] = 0.0 if low < 0.0 else low
        hi[r, i] = up(p if p > q else q) if p == p and q == q else nan


@part
def plain_row(kind, lo, hi, x, r, factor):  # type: ignore[no-untyped-def]
    """Operations on one interval that are not rounded, or seldom: −x, √x, |x|, arcsin x and [−f·hi, f·hi]."""
    for i in range(lo.shape[1]):
        a, b = lo[x, i], hi[x, i]
        if kind == NEGATE:
            lo[r, i], hi[r, i] = -b, -a
        elif kind == ROOT:
            low = down(sqrt(0.0 if a < 0.0 else a))
            lo[r, i] = 0.0 if low < 0.0 else low
            hi[r, i] = up(sqrt(0.0 if b < 0.0 else b))
        elif kind == ABS:
            small = a if a > -b else -b
            lo[r, i] = 0.0 if small < 0.0 else small
            hi[r, i] = abs(a) if abs(a) > abs(b) else abs(b)
        elif kind == ARCSINE:
            lo[r, i], hi[r, i] = arcsine(a, -1.0), arcsine(b, 1.0)
        else:
            lo[r, i], hi[r, i] = -(b * factor), b * factor


@part
def meet_row(lo, hi, x, y, r):  # type: ignore[no-untyped-def]
    """What is in both; what is not known of one end is taken from the other."""
    for i in range(lo.shape[1]):
        a, b, c, d = lo[x, i], hi[x, i], lo[y, i], hi[y, i]
        lo[r, i] = a if c != c or a > c else c
        hi[r, i] = b if d != d or b < d else d


@part
def choose_row(lo, hi, x, y, z, r):  # type: ignore[no-untyped-def]
    """y where x is positive, z where it is negative, else the whole line."""
    for i in range(lo.shape[1]):
        positive, negative = lo[x, i] > 0.0, hi[x, i] < 0.0
        lo[r, i] = lo[y, i] if positive else (lo[z, i] if negative else -inf)
        hi[r, i] = hi[y, i] if positive else (hi[z, i] if negative else inf)


@part
def one(code, factor, lo, hi):  # type: ignore[no-untyped-def]
    """One operation, for all boxes of the registers."""
    kind, x, y, z, r = code[0], code[1], code[2], code[3], code[4]
    if kind == MULTIPLY:
        multiply_row(lo, hi, x, y, r)
    elif kind == ADD:
        add_row(lo, hi, x, y, r)
    elif kind == SCALE:
        scale_row(lo, hi, x, factor, r)
    elif kind == DIVIDE:
        divide_row(lo, hi, x, y, r)
    elif kind == SQUARE:
        square_row(lo, hi, x, r)
    elif kind == MEET:
        meet_row(lo, hi, x, y, r)
    elif kind == CHOOSE:
        choose_row(lo, hi, x, y, z, r)
    else:
        plain_row(kind, lo, hi, x, r, factor)


@entry(
    types.void(
        CODES, NUMBERS, NUMBERS, NUMBERS, constants(types.int32), BOXES, BOXES, REGISTERS, REGISTERS, REGISTERS,
        REGISTERS,
    )
)  # fmt: skip
def run(codes, factors, low, high, wanted, box_lo, box_hi, lo, hi, out_lo, out_hi):  # type: ignore[no-untyped-def]
    """All operations over all boxes: registers are the unknowns, then constants (low, high), then what is computed."""
    boxes, n = box_lo.shape
    lanes = lo.shape[1]
    for j in range(len(low)):
        for i in range(lanes):
            lo[n + j, i], hi[n + j, i] = low[j], high[j]
    for start in range(0, boxes, lanes):
        for i in range(lanes):
            row = min(start + i, boxes - 1)
            for j in range(n):
                lo[j, i], hi[j, i] = box_lo[row, j], box_hi[row, j]
        for k in range(len(codes)):
            one(codes[k], factors[k], lo, hi)
        for i in range(min(lanes, boxes - start)):
            for j in range(len(wanted)):
                out_lo[start + i, j], out_hi[start + i, j] = lo[wanted[j], i], hi[wanted[j], i]
