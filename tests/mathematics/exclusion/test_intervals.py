"""Intervals against Arb: whatever is inside the arguments, the exact result is inside the interval."""

from __future__ import annotations

import numpy as np
from flint import arb

from shallows.mathematics.exclusion.intervals import MANY, Intervals, of_arb

RNG = np.random.default_rng(0)


def drawn(count: int) -> tuple[Intervals, np.ndarray]:
    """Intervals of all sizes and signs, and a point in each."""
    a = RNG.standard_normal(count) * 10.0 ** RNG.integers(-12, 6, count)
    b = a + np.abs(RNG.standard_normal(count)) * 10.0 ** RNG.integers(-18, 2, count)
    b = np.where(RNG.random(count) < 0.1, a, b)
    return Intervals(a, b), np.clip(a + (b - a) * RNG.random(count), a, b)


def holds(interval: Intervals, exact: list[arb]) -> None:
    for lo, hi, value in zip(interval.lo, interval.hi, exact, strict=True):
        assert not (arb(float(lo)) > value) and not (arb(float(hi)) < value), (lo, hi, value)


def test_operations_hold_the_exact_results() -> None:
    (x, p), (y, q) = drawn(2000), drawn(2000)
    exact = [(arb(float(a)), arb(float(b))) for a, b in zip(p, q, strict=True)]
    holds(x + y, [a + b for a, b in exact])
    holds(x - y, [a - b for a, b in exact])
    holds(x * y, [a * b for a, b in exact])
    holds(x.square(), [a * a for a, _ in exact])
    holds(x.abs(), [abs(a) for a, _ in exact])
    holds(x.abs().sqrt(), [abs(a).sqrt() for a, _ in exact])
    holds(1.0 - x, [1 - a for a, _ in exact])
    with np.errstate(all="ignore"):
        quotient = x / y
    known = np.flatnonzero(np.isfinite(quotient.lo) & (q != 0))
    holds(quotient[known], [exact[i][0] / exact[i][1] for i in known])


def test_arcsin_holds_the_exact_result_up_to_the_ends() -> None:
    points = np.concatenate([np.sin(RNG.uniform(-1.6, 1.6, 20_000)), [-1.0, 1.0, 0.0, 1e-320, 1 - 2.0**-53]])
    holds(Intervals.exact(points).arcsin(), [arb(float(x)).asin() for x in points])


def test_cosines_hold_the_exact_values_over_all_lengths() -> None:
    lo = RNG.uniform(-40.0, 40.0, 3000)
    lo[:40] = np.arange(-20, 20) * np.pi / 2
    x = Intervals(lo, lo + np.where(RNG.random(3000) < 0.3, 0.0, 10.0 ** RNG.uniform(-16, 1, 3000)))
    for share in (0.0, 0.3, 0.5, 1.0):
        points = np.clip(x.lo + share * (x.hi - x.lo), x.lo, x.hi)
        holds(x.cos(), [arb(float(p)).cos() for p in points])
        holds(x.sin(), [arb(float(p)).sin() for p in points])
    turn = Intervals([-0.1, 3.0, 100.0], [0.1, 3.3, 100.0]).cos()
    assert turn.hi[0] == 1.0 and turn.lo[1] == -1.0 and (turn.lo[2], turn.hi[2]) == (-1.0, 1.0)
    assert np.all(Intervals.exact(lo).cos().width < 1e-14)


def test_what_is_not_known_excludes_nothing() -> None:
    with np.errstate(all="ignore"):
        unknown = Intervals([1.0], [2.0]) / Intervals([-1.0], [1.0]) * Intervals([0.0], [0.0])
        assert unknown.has_zero.all() and not unknown.within(Intervals([-9.0], [9.0])).any()
        met = unknown.meet(Intervals([-3.0], [4.0]))
    assert (met.lo[0], met.hi[0]) == (-3.0, 4.0)


def test_balls_of_arb_become_intervals_around_them() -> None:
    third = arb(1) / 3
    made = of_arb(np.array([third, -third], dtype=object))
    assert made.lo[0] < third < made.hi[0] and np.all(made.width < 1e-15)


def with_special(count: int) -> Intervals:
    x, _ = drawn(count)
    lo, hi = x.lo.copy(), x.hi.copy()
    lo[:40], hi[20:60] = -np.inf, np.inf
    lo[60:80] = hi[80:100] = np.nan
    lo[100:120], hi[100:120] = 0.0, 0.0
    return Intervals(lo, hi)


def test_compiled_loops_give_the_bounds_of_numpy() -> None:
    count, rows = 3 * MANY, 3  # as a table of three rows the same intervals take the way of NumPy
    x, y = with_special(count), with_special(count)[np.random.default_rng(1).permutation(count)]
    wide, tall = (Intervals(z.lo.reshape(rows, -1), z.hi.reshape(rows, -1)) for z in (x, y))
    with np.errstate(all="ignore"):
        pairs = [
            (x * y, wide * tall), (x + y, wide + tall), (x / y, wide / tall), (x * -0.3, wide * -0.3),
            (x.square(), wide.square()), (x.abs().sqrt(), wide.abs().sqrt()),
        ]  # fmt: skip
    half = np.isnan(x.lo) | np.isnan(x.hi)  # where one end is known the loops keep that one
    for looped, plain in pairs:
        for a, b in ((looped.lo, plain.lo.ravel()), (looped.hi, plain.hi.ravel())):
            known = np.isfinite(b)
            assert np.array_equal(a[known], b[known]) and not np.isfinite(a[~known & ~half]).any()
