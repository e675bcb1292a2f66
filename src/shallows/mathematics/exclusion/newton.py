"""One round for many boxes: exclude, contract, or prove a zero (mean-value form, interval Newton, Krawczyk).

Around the middle c of a box X lies a somewhat larger box D. With J an enclosure of the derivatives over D and Y ≈ J⁻¹,
every zero x in X satisfies, for some matrix A in YJ,

    0 = F(c) + J (x − c),        A (x − c) = −Y F(c),        x = c − Y F(c) + (I − A)(x − c).

The first excludes X by the range of its right side, and so does any combination y of its equations (the one that is
large beside what it is sensitive to: `_weights`); the second contracts X component by component (E. Hansen and
S. Sengupta, BIT 21, 1981), and where the third maps D into its interior, exactly one zero lies in D (Krawczyk 1969).
D is larger than X so that a zero on the border of X is proved, too; X is then done with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import Ball, raised
from shallows.mathematics.balls.contraction import inverses
from shallows.mathematics.exclusion.intervals import Intervals, down, of_ball, up
from shallows.mathematics.exclusion.system import PartlyLinear, System
from shallows.support.checks import Array

#: D is so much wider than X: 1.1 takes an eighth more boxes, and zeros on borders are proved by `LEAST` anyway.
INFLATION = 1.02
#: The least half-width of D, as a share of the region and of c: far above rounding, so that a box which was contracted
#: to nothing around its zero is still proved.
LEAST = 2.0**-40
#: D around a cluster of undecided boxes, one after the other: derivatives whose enclosures grow with D need a small one
#: (tanh at ‖w‖ = 5 with twice the cluster), those that do not a large one.
ROOMS = (4.0, 2.0, 16.0)
#: Boxes from which on a round is compiled: with fewer a search is over before numba is loaded.
FEW = 128
#: Rounds of sharpening after a proof: linear at first, then each squares the error; and what a round must gain.
SHARPENINGS, GAIN = 60, 0.97


@dataclass(frozen=True, eq=False)
class Round:
    """What became of m boxes: `out` have no zero; `proved` have at most the one of `domain`, which is in `zero`."""

    out: NDArray[np.bool_]
    proved: NDArray[np.bool_]
    box: Intervals
    domain: Intervals
    zero: Intervals


@dataclass(frozen=True, eq=False)
class _Linear:
    """What F(c) and J over D say: Krawczyk's image of D, what is left of the boxes, and which are excluded."""

    domain: Intervals
    image: Intervals
    smaller: Intervals
    out: NDArray[np.bool_]


def examine(system: System, box: Intervals, scale: Array) -> Round:
    """One round; `scale` is the size of the region in each unknown."""
    with np.errstate(all="ignore"):
        linear = _linear(system, box, scale)
        domain, zero, smaller = linear.domain, linear.image, linear.smaller
        proved = np.asarray(zero.within(domain).all(axis=1)) & ~linear.out
        out = linear.out | np.any(smaller.lo > smaller.hi, axis=1)
        chosen = np.flatnonzero(proved & ~out)
        if len(chosen):
            sharp = sharpened(system, zero[chosen])
            zero.lo[chosen], zero.hi[chosen] = sharp.lo, sharp.hi
            away = np.any((sharp.lo > box.hi[chosen]) | (sharp.hi < box.lo[chosen]), axis=1)
            out[chosen[away]] = True
    return Round(out, proved & ~out, smaller, domain, zero)


def whole(system: System, hull: Intervals, scale: Array, room: float) -> Round:
    """Clusters of boxes at once, in domains so much larger that what is not known of the values does not matter.

    A contracted box is as small as the enclosure of F allows: its image under Krawczyk's operator is no smaller, and
    only a larger domain holds it.
    """
    with np.errstate(all="ignore"):
        linear = _linear(system, hull, scale, room)
        zero = linear.image
        proved = np.asarray(zero.within(linear.domain).all(axis=1)) & ~linear.out
        for i in np.flatnonzero(proved):
            sharp = sharpened(system, zero[i : i + 1])
            zero.lo[i], zero.hi[i] = sharp.lo[0], sharp.hi[0]
    return Round(linear.out, proved, hull, linear.domain, zero)


def _linear(system: System, box: Intervals, scale: Array, inflation: float = INFLATION) -> _Linear:
    """The system around the middle of the boxes."""
    centre = np.clip(box.mid, box.lo, box.hi)
    half = np.maximum(up(box.hi - centre), up(centre - box.lo))
    grow = inflation * half + LEAST * (np.abs(centre) + scale)
    domain = Intervals(centre - grow, centre + grow)
    over, derivatives = system(domain, True)
    assert derivatives is not None
    at, slopes = _centred(system, centre, derivatives)
    concluded = compiled_round if len(box) >= FEW else plain_round
    return concluded(box, centre, domain, over, at, derivatives, slopes)


def _centred(system: System, centre: Array, derivatives: Intervals) -> tuple[Intervals, Intervals]:
    """F(c), and slopes: F(x) − F(c) ∈ S(x − c) for x in D.

    Where F is linear in the unknowns r that are not bisected, F(t, r) − F(c) is what r does at the middle of t, which
    is known exactly, and then what t does at r: S has the columns of r at one point.
    """
    if not isinstance(system, PartlyLinear):
        return system(Intervals.exact(centre), False)[0], derivatives
    at, columns = system.centred(centre)
    lo, hi = derivatives.lo.copy(), derivatives.hi.copy()
    rest = [j for j in range(system.n) if j not in system.split]
    lo[:, :, rest], hi[:, :, rest] = columns.lo, columns.hi
    return at, Intervals(lo, hi)


def compiled_round(
    box: Intervals,
    centre: Array,
    domain: Intervals,
    over: Intervals,
    at: Intervals,
    derivatives: Intervals,
    slopes: Intervals,
) -> _Linear:
    """All of it, box after box, in one compiled loop."""
    from shallows.mathematics.exclusion._compiled.rounds import rounds

    m, n = centre.shape
    image = Intervals(np.full((m, n), np.nan), np.full((m, n), np.nan))  # not known of what is excluded
    smaller = Intervals(box.lo.copy(), box.hi.copy())
    out = np.zeros(m, np.uint8)
    ends = np.concatenate([at.lo, at.hi])
    tables = (derivatives.lo, derivatives.hi, slopes.lo, slopes.hi)
    given = (centre, domain.lo, domain.hi, over.lo, over.hi, ends, *tables)
    room = [np.empty((rows, n)) for rows in (n, n, n, n, 5)]
    rounds(*map(np.ascontiguousarray, given), out, image.lo, image.hi, smaller.lo, smaller.hi, *room)
    return _Linear(domain, image, smaller, out.astype(bool))


def plain_round(
    box: Intervals,
    centre: Array,
    domain: Intervals,
    over: Intervals,
    at: Intervals,
    derivatives: Intervals,
    slopes: Intervals,
) -> _Linear:
    """The same with arrays, for a few boxes: nothing is compiled for them."""
    n = centre.shape[1]
    step = box - centre
    mean = at
    for j in range(n):
        mean = mean + slopes[:, :, j] * step[:, j : j + 1]
    y = _weights(step, at, slopes)
    combined = _sum(at * y)
    for j in range(n):
        combined = combined + _sum(slopes[:, :, j] * y) * step[:, j]
    out = ~np.asarray((over.has_zero & mean.has_zero).all(axis=1) & combined.has_zero)
    inverse = Ball.exact(inverses(slopes.mid))
    b = (inverse @ Ball(at.ball().mid[:, :, None], at.ball().rad[:, :, None]))[:, :, 0]
    A = inverse @ slopes.ball()
    defect = (Ball.exact(np.eye(n)) - inverse @ derivatives.ball()).size
    reach = np.maximum(up(domain.hi - centre), up(centre - domain.lo))
    spread = raised((defect @ reach[:, :, None])[:, :, 0] + b.rad, n + 4)
    middle = Intervals.exact(centre) - b.mid
    image = Intervals(down(middle.lo - spread), up(middle.hi + spread))
    return _Linear(domain, image, _contracted(of_ball(A), of_ball(b), centre, box), out)


def _weights(step: Intervals, at: Intervals, slopes: Intervals) -> Array:
    """y = (Σ_j h_j²(S_jS_jᵀ + radii))⁻¹ F(c), h_j the reach of x_j: y·F is large beside what x does to it."""
    reach = step.magnitude
    reach = reach / reach.max(axis=1, keepdims=True)
    middles = slopes.mid * reach[:, None, :]
    radii = 0.5 * (slopes.hi - slopes.lo) * reach[:, None, :]
    table = middles @ np.swapaxes(middles, 1, 2)
    place = np.arange(table.shape[1])
    table[:, place, place] += np.sum(radii**2, axis=2)
    y = (inverses(table) @ at.mid[:, :, None])[:, :, 0]
    return np.asarray(y / np.abs(y).max(axis=1, keepdims=True))


def _sum(terms: Intervals) -> Intervals:
    """Along the second axis."""
    total = terms[:, 0]
    for i in range(1, terms.lo.shape[1]):
        total = total + terms[:, i]
    return total


def _contracted(A: Intervals, b: Intervals, centre: Array, box: Intervals) -> Intervals:
    """Gauss and Seidel, component by component."""
    lo, hi = box.lo.copy(), box.hi.copy()
    n = lo.shape[1]
    steps = [box[:, j] - centre[:, j] for j in range(n)]
    for i in range(n):
        total = b[:, i]
        for j in range(n):
            if j != i:
                total = total + A[:, i, j] * steps[j]
        moved = centre[:, i] - total / A[:, i, i]
        here = Intervals(lo[:, i], hi[:, i]).meet(moved)
        lo[:, i], hi[:, i] = here.lo, here.hi
        steps[i] = here - centre[:, i]
    return Intervals(lo, hi)


def sharpened(system: System, zero: Intervals) -> Intervals:
    """Boxes that each hold exactly one zero, made as small as doubles allow."""
    nothing = np.zeros(system.n)
    for _ in range(SHARPENINGS):
        new = zero.meet(_linear(system, zero, nothing, 1.0).image)
        gained = np.any(new.width < GAIN * zero.width)
        zero = new
        if not gained:
            break
    return zero
