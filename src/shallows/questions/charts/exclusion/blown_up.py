"""Critical points of J = c²/K near w = 0 and near infinity: a search in t and the direction u, w = tu or w = u/t.

In w itself they cannot be searched for: J has no limit at w = 0, only one in each direction. In (t, u), u on the faces
of a cube, log J = 2μ log t + 2 log G − log k is smooth up to t = 0 (`blown_series`), and

    E₀ = (μGk + tG_t k − ½ t k_t G)/tʳ = 0,        E_i = G_i k − ½ k_i G = 0

are its critical equations; r is what they can be divided by. A teacher of norm ε has points with t ~ ε: shells of t,
each sixteen times as wide as the one before, are searched one after the other, and nothing in them cancels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from shallows.mathematics.balls.inertia import Inertia, inertias
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.newton import sharpened
from shallows.mathematics.exclusion.rounding import ROOM
from shallows.mathematics.exclusion.search import exclude
from shallows.questions.charts.exclusion.blown_series import BlownSeries
from shallows.questions.charts.exclusion.blown_system import BlownUp, Sums, squared
from shallows.questions.charts.exclusion.polynomial_form import power
from shallows.questions.charts.exclusion.smooth_target import SmoothTarget
from shallows.support.checks import Array

#: How much wider the next shell is, and how much of the teacher's norm the first one is.
SHELL, FIRST = 16.0, 1 / 8
#: Boxes of one face and shell that are looked at before a radius is given up.
MOST = 20_000
#: Directions a side of a face in which J may rise from limits that are all equal.
TRIED = 9


@dataclass(frozen=True, eq=False)
class BlownZero:
    """A critical point in there: w in coordinates (and the box in which it is alone, in its face's), a, J and signs.

    `curvature` is the inertia of the Hessian of log J in the coordinates that are searched, `across` the sign of its
    entry orthogonal to the teacher's span, which is `outside` 0 for a point in it.
    """

    place: list[Intervals]
    system: BlownUp
    domain: Intervals
    outer: Intervals
    taken: Intervals
    curvature: Inertia
    across: int
    outside: bool

    def holds(self, w: list[Intervals]) -> bool:
        """Whether a point lies in the box in which this one is alone."""
        height = w[self.system.face] * float(self.system.sign)
        if not height.lo > 0:
            return False
        t = 1.0 / height if self.system.series.inverted else height
        there = Intervals.stack([t, *[w[i] / height for i in self.system.free]])
        return bool(np.all(there.within(self.domain)))


@dataclass(frozen=True, eq=False)
class Edge:
    """The largest limit of J as t → 0, enclosed, a direction u that has it, and whether J rises from there (None: both
    may be)."""

    most: Intervals
    unit: Array
    rises: bool | None


@dataclass(frozen=True, eq=False)
class Blown:
    """All critical points within the bound, if it is `proved` that there are no others; and the limits."""

    proved: bool
    zeros: list[BlownZero]
    edge: Edge | None
    boxes: int


def blown_up(series: BlownSeries, target: SmoothTarget, bound: float, symmetric: bool) -> Blown:
    """Search all faces; where J(−w) = J(w), half of them."""
    dimension = target.rank + int(target.codimension > 0)
    found: list[BlownZero] = []
    proved, boxes = True, 0
    for face, sign, (low, high) in product(
        range(dimension), (1, -1)[: 1 if symmetric else 2], _shells(series, target, bound)
    ):
        system = BlownUp(series, target, face, sign, bound)
        side = np.ones(dimension - 1)
        region = Intervals(np.append(low, -side), np.append(high, side))
        search = exclude(system, region, most=MOST)
        boxes += search.boxes
        proved &= search.complete
        for i in range(len(search.box)):
            if _is_pole(system, search.domain[i]):
                continue
            zero = _zero(system, search.box[i : i + 1], search.domain[i])
            if zero is None:
                proved = False
            elif not _beyond(zero, bound, series.inverted):
                same = [_same(zero, other, symmetric) for other in found]
                proved &= None not in same
                if not any(same):
                    found.append(zero)
        if not proved:
            return Blown(False, [], None, boxes)
    straddle = any(_norm(zero.place).lo <= bound <= _norm(zero.place).hi for zero in found)
    return Blown(not straddle, found, _edge(series, target), boxes)


def _shells(series: BlownSeries, target: SmoothTarget, bound: float) -> Iterator[tuple[float, float]]:
    """From t = 0 to where the ball ends (or begins), the faces' corners included."""
    last = ROOM * 3**0.5 / bound if series.inverted else bound
    end = min(last, FIRST * min(target.longest, 1.0) * (last if series.inverted else 1.0))
    low = 0.0
    while True:
        yield low, min(end, last)
        if end >= last:
            return
        low, end = end, end * SHELL


def _zero(system: BlownUp, box: Intervals, domain: Intervals) -> BlownZero | None:
    """None where it may have t = 0, or lie in the teacher's span or not."""
    series, target = system.series, system.target
    with np.errstate(all="ignore"):
        box = sharpened(system, box)
        t, jets = box[:, 0], system.jets(box)
        u = [x[0] for x in jets.u]
        outside = False
        if target.codimension:
            outside = not bool(u[-1].has_zero)
            if not outside and not _on_the_mirror(system, box, domain):
                return None
        if not t.lo[0] > 0:
            return None
        place = [x / t[0] if series.inverted else x * t[0] for x in u]
        outer = (
            jets.G.value / jets.k.value * power(t, series.shift)
            if series.shift >= 0
            else jets.G.value / jets.k.value / power(t, -series.shift)
        )
        taken = jets.G.value.square() / jets.k.value * power(t, 2 * series.gain)
        curvature, across = _curvature(system, jets, outside)
    return BlownZero(place, system, domain, outer, taken, curvature, across, outside)


def _is_pole(system: BlownUp, domain: Intervals) -> bool:
    """Whether the only zero of the domain is at t = 0, orthogonal to the teacher's span: where G begins with an even
    degree, x = 0 makes the next part and all first derivatives vanish there. Or at the series' pole."""
    series = system.series
    even = series.divided == 1 and series.lowest[0] % 2 == 0
    nothing = Intervals.exact(np.zeros(system.n))
    if series.pole is not None and system.face < system.target.rank:
        height = series.pole[system.face] * float(system.sign)
        g = [*series.pole, Intervals.exact(0.0)]
        with np.errstate(all="ignore"):
            there = Intervals.stack([nothing[0], *[g[i] / height for i in system.free]])
        if not height.has_zero and bool(np.all(there.within(domain))):
            return True
    return system.face == system.target.rank and even and bool(np.all(nothing.within(domain)))


def _on_the_mirror(system: BlownUp, box: Intervals, domain: Intervals) -> bool:
    """Whether a zero's mirror image is in the box where it is alone: then they are the same, and q = 0."""
    q = system.target.rank
    if q == system.face:
        return False
    column = 1 + system.free.index(q)
    mirrored = Intervals(box.lo[0].copy(), box.hi[0].copy())
    mirrored.lo[column], mirrored.hi[column] = -box.hi[0, column], -box.lo[0, column]
    return bool(np.all(mirrored.within(domain)))


def _curvature(system: BlownUp, jets: Sums, outside: bool) -> tuple[Inertia, int]:
    """Signs of the Hessian of log J: with h = t^{(r−1)/2} that of (E₀_t, hE₀_i; hE₀_i, E_ij)/(Gk), by congruence."""
    rows, r = jets.equations(), system.series.divided
    root = jets.t.sqrt()
    powers = {0: 1.0 / root, 1: jets.zero + 1.0, 2: root}
    h = powers[0 if system.series.level is not None else r]  # with a level the E_i are divided, too
    scale = 1.0 / (jets.G.value * jets.k.value)
    table = [[entry * scale for entry in row.slope] for row in rows]
    for i in range(1, len(rows)):
        table[0][i] = table[i][0] = table[0][i] * h
        for k in range(1, i):
            table[i][k] = table[k][i]
    matrix = Intervals.stack([Intervals.stack(row) for row in table], axis=1)
    across, q = 0, system.target.rank
    if system.target.codimension and not outside:
        entry = table[1 + system.free.index(q)][1 + system.free.index(q)][0]
        across = 1 if entry.lo > 0 else -1 if entry.hi < 0 else 0
    return inertias(matrix.ball())[0], across


def _norm(w: list[Intervals]) -> Intervals:
    return squared(w).sqrt()


def _beyond(zero: BlownZero, bound: float, inverted: bool) -> bool:
    norm = _norm(zero.place)
    return bool(norm.hi < bound if inverted else norm.lo > bound)


def _same(zero: BlownZero, other: BlownZero, symmetric: bool) -> bool | None:
    """Whether two zeros are one function (or one family), found on two faces or in two shells; None if they may be."""
    target = zero.system.target
    for flip, mirror in product((1.0, -1.0)[: 1 + symmetric], (1.0, -1.0)[: 1 + (target.codimension > 1)]):
        w = [x * flip for x in zero.place]
        if target.codimension:
            w[-1] = w[-1] * mirror
        if any(x.lo > y.hi or x.hi < y.lo for x, y in zip(w, other.place, strict=True)):
            continue
        return True if other.holds(w) else None
    return False


def _edge(series: BlownSeries, target: SmoothTarget) -> Edge | None:
    """All critical limits at t = 0 and the largest of them; None where they are not all found."""
    dimension = target.rank + int(target.codimension > 0)
    if series.gain:
        return Edge(Intervals(0.0, 0.0), np.eye(1, dimension)[0], True)
    if series.level is not None:
        return _flat_edge(series, target)
    ends: list[tuple[Intervals, Intervals, Array]] = []
    for face in range(dimension):
        system = BlownUp(series, target, face, 1, np.inf, edge=True)
        boxes = Intervals(np.zeros((1, 0)), np.zeros((1, 0)))
        if dimension > 1:
            side = np.ones(dimension - 1)
            search = exclude(system, Intervals(-side, side), most=MOST)
            if not search.complete:
                return None
            boxes = search.box
        for i in range(len(boxes)):
            with np.errstate(all="ignore"):
                jets = system.jets(system.whole(boxes[i : i + 1]))
                limit = jets.G.value.square() / jets.k.value
                rise = jets.equations()[0].value * jets.G.value
            u = np.array([float(x.mid[0]) for x in jets.u])
            ends.append((limit[0], rise[0], u))
    top = max(ends, key=lambda end: float(end[0].lo))
    near = [rise for limit, rise, _ in ends if limit.hi >= top[0].lo]
    most = Intervals(top[0].lo, max(float(limit.hi) for limit, _, _ in ends))
    if series.divided == 1:  # u and −u: it rises from one of them
        return Edge(most, top[2], True if all(not x.has_zero for x in near) else None)
    if all(x.lo > 0 for x in near):
        return Edge(most, top[2], True)
    return Edge(most, top[2], False if all(x.hi < 0 for x in near) else None)


def _flat_edge(series: BlownSeries, target: SmoothTarget) -> Edge:
    """All limits are equal: J rises from them if it does so in one of the directions that are tried."""
    side = np.linspace(-1.0, 1.0, TRIED)
    rising = False
    for face, sign in product(range(target.rank), (1, -1)):
        system = BlownUp(series, target, face, sign, np.inf, edge=True)
        grid = np.stack(np.meshgrid(*[side] * system.n), axis=-1).reshape(-1, system.n)
        with np.errstate(all="ignore"):
            jets = system.jets(system.whole(Intervals.exact(grid)))
            rising |= bool(np.any((jets.equations()[0].value * jets.G.value).lo > 0))
            most = (jets.G.value.square() / jets.k.value)[0]
    return Edge(most, np.eye(1, target.rank)[0], True if rising else None)
