"""Lengths of neurons over boxes of directions: more linear equations than lengths, preconditioned and swept."""

from __future__ import annotations

from math import inf, nan

from numba import types

from shallows.mathematics.exclusion._compiled.operations import down, up
from shallows.mathematics.exclusion._compiled.rounds import (
    gamma,
    halfwidth,
    invert,
    middle,
    raised,
    without_zero,
)
from shallows.mathematics.exclusion._compiled.tapes import BOXES, NUMBERS, REGISTERS, product
from shallows.support.compiling import entry, part


@part
def left_inverse(m, lo, hi, n, square, inverse, Y):  # type: ignore[no-untyped-def]
    """(TᵀT)⁻¹Tᵀ, roughly; zeros where T is not known. Row m of lo, hi has n right sides, then the n×p table."""
    p = len(square)
    for a in range(p):
        for c in range(p):
            total = 0.0
            for k in range(n):
                one, two = n + k * p + a, n + k * p + c
                total += middle(lo[m, one], hi[m, one]) * middle(lo[m, two], hi[m, two])
            square[a, c] = total
    known = True
    for a in range(p):
        for c in range(p):
            known = known and abs(square[a, c]) < inf
    invert(square, inverse)
    for a in range(p):
        for k in range(n):
            total = 0.0
            for c in range(p):
                if known:
                    total += inverse[a, c] * middle(lo[m, n + k * p + c], hi[m, n + k * p + c])
            Y[a, k] = total


@part
def dot(m, lo, hi, Y, a, first, stride):  # type: ignore[no-untyped-def]
    """Σ_k Y_ak x_k as an interval, x_k at `first`, `first` + `stride`, … of row m."""
    n = Y.shape[1]
    value, spread = 0.0, 0.0
    for k in range(n):
        place = first + k * stride
        mid = middle(lo[m, place], hi[m, place])
        value += Y[a, k] * mid
        spread += abs(Y[a, k]) * (gamma(n) * abs(mid) + halfwidth(lo[m, place], hi[m, place], mid))
    spread = raised(spread, n + 5)
    return down(value - spread), up(value + spread)


@part
def bounded(m, counts, low, high, a):  # type: ignore[no-untyped-def]
    """What the other lengths leave for one: p_a ρ_a + Σ p_c ρ_c ≤ sum of all, which is the last unknown."""
    last = len(counts) - 1
    lo, hi = low[m, a], high[m, a]
    if a == last:
        least = 0.0
        for c in range(last):
            least = down(least + down(counts[c] * low[m, c]))
        return (least if least > lo else lo), hi
    most = high[m, last]
    for c in range(last):
        if c != a:
            most = up(most - down(counts[c] * low[m, c]))
    most = up(most / counts[a])
    return (0.0 if lo < 0.0 else lo), (most if most < hi else hi)


@entry(
    types.void(
        BOXES, BOXES, types.intp, NUMBERS, types.intp, REGISTERS, REGISTERS, REGISTERS, REGISTERS, REGISTERS,
        REGISTERS, REGISTERS,
    )
)  # fmt: skip
def lengths(lo, hi, n, counts, sweeps, low, high, square, inverse, Y, A_lo, A_hi):  # type: ignore[no-untyped-def]
    """Bounds low, high on the lengths, made tighter; the last five are room to work."""
    p = len(counts)
    for m in range(len(lo)):
        left_inverse(m, lo, hi, n, square, inverse, Y)
        for a in range(p):
            A_lo[a, p], A_hi[a, p] = dot(m, lo, hi, Y, a, 0, 1)
            for c in range(p):
                A_lo[a, c], A_hi[a, c] = dot(m, lo, hi, Y, a, n + c, p)
        for _ in range(sweeps):
            for a in range(p):
                left, right = A_lo[a, p], A_hi[a, p]
                for c in range(p):
                    if c != a:
                        u, v = product(A_lo[a, c], A_hi[a, c], low[m, c], high[m, c])
                        left, right = down(left - v), up(right - u)
                u, v = nan, nan
                if without_zero(A_lo[a, a], A_hi[a, a]):
                    u, v = product(left, right, down(1.0 / A_hi[a, a]), up(1.0 / A_lo[a, a]))
                least, most = bounded(m, counts, low, high, a)
                low[m, a] = u if u > least else least
                high[m, a] = v if v < most else most
