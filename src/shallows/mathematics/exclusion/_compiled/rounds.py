"""What a round makes of values and derivatives, box after box: mean-value tests, preconditioner, Krawczyk, contraction.

The same bounds as `newton` has in NumPy: `raised` and `gamma` are those of `mathematics.balls.arrays`.
"""

from __future__ import annotations

from math import inf, nan

from numba import types

from shallows.mathematics.balls.arrays import SLACK, TINY, UNIT
from shallows.mathematics.exclusion._compiled.operations import down, up
from shallows.mathematics.exclusion._compiled.tapes import BOXES, REGISTERS, product
from shallows.support.compiling import constants, entry, part

TABLES = constants(types.float64, 3)


@part
def gamma(n: int) -> float:
    """nu/(1 − nu), rounded upwards."""
    return n * UNIT / (1 - n * UNIT) * (1 + SLACK)


@part
def raised(value, roundings):  # type: ignore[no-untyped-def]
    """An upper bound on a non-negative expression that was evaluated with at most so many roundings a factor."""
    return value * (1 + 2 * gamma(roundings + 4)) + TINY


@part
def middle(lo: float, hi: float) -> float:
    """A double inside."""
    return lo + 0.5 * (hi - lo)


@part
def halfwidth(lo, hi, mid):  # type: ignore[no-untyped-def]
    """The radius of the ball around the middle."""
    a, b = hi - mid, mid - lo
    return raised(a if a > b else b, 1)


@entry(types.void(REGISTERS, REGISTERS))
def invert(table, inverse):  # type: ignore[no-untyped-def]
    """The inverse, roughly, by elimination with pivots; zeros for a singular table, one for what is not finite."""
    n = len(table)
    finite = True
    for i in range(n):
        for j in range(n):
            finite = finite and abs(table[i, j]) < inf
            inverse[i, j] = 1.0 if i == j else 0.0
    if not finite:
        return
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(table[i, k]) > abs(table[best, k]):
                best = i
        if table[best, k] == 0.0:
            for i in range(n):
                for j in range(n):
                    inverse[i, j] = 0.0
            return
        for j in range(n):
            table[k, j], table[best, j] = table[best, j], table[k, j]
            inverse[k, j], inverse[best, j] = inverse[best, j], inverse[k, j]
        pivot = table[k, k]
        for j in range(n):
            table[k, j] /= pivot
            inverse[k, j] /= pivot
        for i in range(n):
            factor = table[i, k]
            if i != k and factor != 0.0:
                for j in range(n):
                    table[i, j] -= factor * table[k, j]
                    inverse[i, j] -= factor * inverse[k, j]
    for i in range(n):
        for j in range(n):
            if not abs(inverse[i, j]) < inf:
                for k in range(n):
                    for e in range(n):
                        inverse[k, e] = 0.0
                return


@part
def without_zero(lo: float, hi: float) -> bool:
    """Where 0 is proved to be outside."""
    return lo > 0.0 or hi < 0.0


@part
def mean_value(m, at_lo, at_hi, J_lo, J_hi, low, high):  # type: ignore[no-untyped-def]
    """Whether F(c) + J(x − c) excludes box m; x − c is in low, high."""
    n = len(low)
    for i in range(n):
        lo, hi = at_lo[m, i], at_hi[m, i]
        for j in range(n):
            p, q = product(J_lo[m, i, j], J_hi[m, i, j], low[j], high[j])
            lo, hi = down(lo + p), up(hi + q)
        if without_zero(lo, hi):
            return True
    return False


@part
def weighed(m, at_lo, at_hi, J_lo, J_hi, low, high, table, Y, y):  # type: ignore[no-untyped-def]
    """y = (Σ_j h_j²(J_jJ_jᵀ + radii))⁻¹ F(c), h_j the reach of x_j: y·F is large beside what x does to it."""
    n = len(low)
    widest = 0.0
    for j in range(n):
        y[j] = -low[j] if -low[j] > high[j] else high[j]
        widest = y[j] if y[j] > widest else widest
    for i in range(n):
        for k in range(i + 1):
            total = 0.0
            for j in range(n):
                h = y[j] / widest
                total += h * h * middle(J_lo[m, i, j], J_hi[m, i, j]) * middle(J_lo[m, k, j], J_hi[m, k, j])
                if i == k:
                    spread = 0.5 * h * (J_hi[m, i, j] - J_lo[m, i, j])
                    total += spread * spread
            table[i, k], table[k, i] = total, total
    invert(table, Y)
    largest = 0.0
    for i in range(n):
        y[i] = 0.0
        for k in range(n):
            y[i] += Y[i, k] * middle(at_lo[m, k], at_hi[m, k])
        largest = abs(y[i]) if abs(y[i]) > largest else largest
    for i in range(n):
        y[i] = y[i] / largest


@part
def combined(m, at_lo, at_hi, J_lo, J_hi, low, high, y):  # type: ignore[no-untyped-def]
    """Whether y·F(c) + (y·J)(x − c) excludes box m: any y will do."""
    n = len(low)
    lo, hi = 0.0, 0.0
    for i in range(n):
        p, q = product(at_lo[m, i], at_hi[m, i], y[i], y[i])
        lo, hi = down(lo + p), up(hi + q)
    for j in range(n):
        left, right = 0.0, 0.0
        for i in range(n):
            p, q = product(J_lo[m, i, j], J_hi[m, i, j], y[i], y[i])
            left, right = down(left + p), up(right + q)
        p, q = product(left, right, low[j], high[j])
        lo, hi = down(lo + p), up(hi + q)
    return without_zero(lo, hi)


@part
def preconditioned(m, at_lo, at_hi, J_lo, J_hi, Y, A, A_rad, b, b_rad):  # type: ignore[no-untyped-def]
    """A ∋ Y J and b ∋ Y F(c), as middles and radii."""
    n = len(b)
    for i in range(n):
        value, spread = 0.0, 0.0
        for k in range(n):
            mid = middle(at_lo[m, k], at_hi[m, k])
            value += Y[i, k] * mid
            spread += abs(Y[i, k]) * (gamma(n) * abs(mid) + halfwidth(at_lo[m, k], at_hi[m, k], mid))
        b[i], b_rad[i] = value, raised(spread, n + 5)
        for j in range(n):
            value, spread = 0.0, 0.0
            for k in range(n):
                mid = middle(J_lo[m, k, j], J_hi[m, k, j])
                value += Y[i, k] * mid
                spread += abs(Y[i, k]) * (gamma(n) * abs(mid) + halfwidth(J_lo[m, k, j], J_hi[m, k, j], mid))
            A[i, j], A_rad[i, j] = value, raised(spread, n + 5)


@part
def krawczyk(m, centre, dom_lo, dom_hi, A, A_rad, b, b_rad, image_lo, image_hi):  # type: ignore[no-untyped-def]
    """c − Y F(c) + (I − A)(D − c)."""
    n = len(b)
    for i in range(n):
        spread = b_rad[i]
        for j in range(n):
            mid = (1.0 if i == j else 0.0) - A[i, j]
            size = raised(abs(mid) + raised(A_rad[i, j] + UNIT * abs(mid), 3), 1)
            above, below = up(dom_hi[m, j] - centre[m, j]), up(centre[m, j] - dom_lo[m, j])
            spread += size * (above if above > below else below)
        spread = raised(spread, n + 4)
        image_lo[m, i] = down(down(centre[m, i] - b[i]) - spread)
        image_hi[m, i] = up(up(centre[m, i] - b[i]) + spread)


@part
def contracted(m, centre, A, A_rad, b, b_rad, low, high, new_lo, new_hi):  # type: ignore[no-untyped-def]
    """Gauss and Seidel, component by component; x − c is in low, high, and x in new_lo, new_hi of box m."""
    n = len(b)
    for i in range(n):
        lo, hi = down(b[i] - b_rad[i]), up(b[i] + b_rad[i])
        for j in range(n):
            if j != i:
                p, q = product(down(A[i, j] - A_rad[i, j]), up(A[i, j] + A_rad[i, j]), low[j], high[j])
                lo, hi = down(lo + p), up(hi + q)
        under, over = down(A[i, i] - A_rad[i, i]), up(A[i, i] + A_rad[i, i])
        p, q = nan, nan
        if without_zero(under, over):
            p, q = product(lo, hi, down(1.0 / over), up(1.0 / under))
        p, q = down(centre[m, i] - q), up(centre[m, i] - p)
        if p > new_lo[m, i]:
            new_lo[m, i] = p
        if q < new_hi[m, i]:
            new_hi[m, i] = q
        low[i], high[i] = down(new_lo[m, i] - centre[m, i]), up(new_hi[m, i] - centre[m, i])


@entry(
    types.void(
        BOXES, BOXES, BOXES, BOXES, BOXES, BOXES, TABLES, TABLES, TABLES, TABLES, types.uint8[::1], REGISTERS,
        REGISTERS, REGISTERS, REGISTERS, REGISTERS, REGISTERS, REGISTERS, REGISTERS, REGISTERS,
    )
)  # fmt: skip
def rounds(  # type: ignore[no-untyped-def]
    centre, dom_lo, dom_hi, over_lo, over_hi, at, J_lo, J_hi, S_lo, S_hi, out, image_lo, image_hi, new_lo, new_hi,
    table, Y, A, A_rad, lines,
):  # fmt: skip
    """One round. `at` has lower, then upper ends of F(c); J derivatives over D, S slopes: F(x) − F(c) ∈ S(x − c).

    new_lo, new_hi are the boxes; the last five are room to work.
    """
    n = centre.shape[1]
    at_lo, at_hi = at[: len(centre)], at[len(centre) :]
    b, b_rad, low, high, y = lines[0], lines[1], lines[2], lines[3], lines[4]
    for m in range(len(centre)):
        done = False
        for i in range(n):
            low[i], high[i] = down(new_lo[m, i] - centre[m, i]), up(new_hi[m, i] - centre[m, i])
            done = done or without_zero(over_lo[m, i], over_hi[m, i])
        done = done or mean_value(m, at_lo, at_hi, S_lo, S_hi, low, high)
        if not done:
            weighed(m, at_lo, at_hi, S_lo, S_hi, low, high, table, Y, y)
            done = combined(m, at_lo, at_hi, S_lo, S_hi, low, high, y)
        out[m] = 1 if done else 0
        if done:
            continue
        for i in range(n):
            for j in range(n):
                table[i, j] = middle(S_lo[m, i, j], S_hi[m, i, j])
        invert(table, Y)
        preconditioned(m, at_lo, at_hi, J_lo, J_hi, Y, A, A_rad, b, b_rad)
        krawczyk(m, centre, dom_lo, dom_hi, A, A_rad, b, b_rad, image_lo, image_hi)
        preconditioned(m, at_lo, at_hi, S_lo, S_hi, Y, A, A_rad, b, b_rad)
        contracted(m, centre, A, A_rad, b, b_rad, low, high, new_lo, new_hi)
