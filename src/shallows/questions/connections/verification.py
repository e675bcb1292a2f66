"""The proof of a tree: paths down that stay below their join over every whole segment, in ball arithmetic.

A path from a critical point J begins inside the piece of the lower link that it is to represent. On the first segment,
from the box that holds J to the first place, p(t) = ℓ − ℓ(J) has vanishing Bernstein coefficients below the order of
contact (two along a tangent, d with a further neuron), because J is critical; where all others are negative, p < 0 for
t > 0. Two ways v, v′ along tangents of an index-one point are into different pieces when vᵀHv′ > 0: H is of Lorentz
type, and v, v′ in different halves of its cone. Ways with further neurons differ by the neuron's sign. The last segment
ends in a box that holds a critical point, which the complete list has: the one whose own box meets it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import SLACK, Ball, stacked
from shallows.questions.charts.points.kinds import Signs
from shallows.questions.connections.landscape import SAME_LEVEL, Hop, Landscape
from shallows.questions.connections.neuron_loss import Neurons
from shallows.questions.connections.nondegenerate import (
    certified_on_stratum,
    is_convex,
    normal_inertia,
    target_is_realised,
)
from shallows.questions.connections.proved_places import BallLoss, ProvedPlace
from shallows.questions.connections.segments import to_bernstein

#: A path's neuron shorter than this share of the longest has vanished: the last segment takes it to zero exactly.
VANISHED = 1e-3


@dataclass(eq=False)
class Verification:
    """What of a landscape's tree is proved; `reasons` are what is not, in words."""

    landscape: Landscape
    loss: BallLoss = field(init=False)
    _places: dict[int, ProvedPlace | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.loss = BallLoss(self.landscape.problem)

    def reasons(self, joins: list[int]) -> list[str]:
        """Why the tree with these rows as joins is not proved; empty when it is."""
        chart = self.landscape.chart
        if chart.completeness != "proved":
            return [f"the list of critical points is {chart.completeness!r}"]
        if not self.landscape.closed:
            return ["networks of this width and degree are no closed set of functions"]
        if is_convex(self.landscape.problem):
            return []
        loose = [row for row in range(len(self.landscape)) if not self._is_nondegenerate(row)]
        if loose:
            losses = ", ".join(f"{chart.critical.table.loss[row]:.8g}" for row in loose[:4])
            return [f"not proved non-degenerate: critical points of loss {losses}{' …' * (len(loose) > 4)}"]
        open_hops = [row for row in self._used(joins) if not self._is_verified(row, row in joins)]
        if open_hops:
            losses = ", ".join(f"{chart.critical.table.loss[row]:.8g}" for row in open_hops[:4])
            return [f"paths down are not verified from the critical points of loss {losses}"]
        return []

    def place(self, row: int) -> ProvedPlace | None:
        """The proved box of a row."""
        if row not in self._places:
            point = self.landscape.chart.critical[row]
            self._places[row] = self.loss.proved(self.landscape.link(row).neurons, point.dimension)
        return self._places[row]

    def _is_nondegenerate(self, row: int) -> bool:
        point, problem = self.landscape.chart.critical[row], self.landscape.problem
        if not certified_on_stratum(point):
            return False
        link = self.landscape.link(row)
        idle = Signs.of(problem).total > link.neurons.rank and problem.degree == 2
        if not idle:
            return True
        if not link.pieces and row == 0 and target_is_realised(problem, point.rank):
            return True
        place = self.place(row)
        return place is not None and normal_inertia(self.loss, place).certified and not link.touching

    def _used(self, joins: list[int]) -> list[int]:
        """The joins, and all rows that paths go on from."""
        waiting, seen = [row for row in joins if not self.landscape.link(row).apex], []
        while waiting:
            row = waiting.pop()
            if row in seen or self.landscape.is_leaf(row):
                continue
            seen.append(row)
            ends = [hop.end for hop in self._hops(row, row in joins)]
            waiting += [end for end in ends if end is not None]
        return sorted(seen)

    def _hops(self, row: int, join: bool) -> list[Hop]:
        """All paths down from a join; one from another point, the one that `leaf` takes."""
        return self.landscape.hops(row) if join else self.landscape.hops(row)[:1]

    def _is_verified(self, row: int, join: bool) -> bool:
        place, hops = self.place(row), self._hops(row, join)
        if place is None or (join and len(hops) < (self.landscape.link(row).pieces or 0)):
            return False
        if join and not self._are_apart(place, hops):
            return False
        return all(self._stays_below(place, hop) for hop in hops)

    def _are_apart(self, place: ProvedPlace, hops: list[Hop]) -> bool:
        """Whether the two paths of an index-one point begin in different halves of its cone."""
        if any(hop.way.tangent is None for hop in hops):
            return len({hop.way.sign for hop in hops}) == len(hops)
        first, second = (Ball.exact(hop.path.places[0]) - place.vectors for hop in hops)
        H = self.loss.hessian(place)
        flat = (1, -1)
        v, w = (Ball(b.mid.reshape(flat), b.rad.reshape(flat)) for b in (first, second))
        return float((v @ H @ Ball(w.mid.T, w.rad.T)).lower[0, 0]) > 0

    def _stays_below(self, place: ProvedPlace, hop: Hop) -> bool:
        """The path's segments, from the box of its join to that of its end, and which listed point that is."""
        if hop.end is None:
            return False
        path = hop.path
        dimension = self.landscape.chart.critical[hop.end].dimension
        busy = _busy(path.end)
        end = self.loss.proved(Neurons(path.end.vectors[busy], path.signs[busy]), dimension)
        if end is None or not self._is_row(end, hop.end):
            return False
        signs = tuple(float(sign) for sign in path.signs)
        first = _placed(place.vectors, np.arange(len(place.signs)), len(signs))
        chain = stacked([first[None], Ball.exact(path.places), _placed(end.vectors, busy, len(signs))[None]])
        bounds = self._bernstein(chain, signs)
        level = place.loss
        order = 2 if hop.way.tangent is not None else self.landscape.problem.degree
        opening = bounds[:1] - level
        if not np.all(opening.upper[0, order:] < 0):
            return False
        return bool(np.all(bounds.upper[1:] < level.lower))

    def _bernstein(self, chain: Ball, signs: tuple[float, ...]) -> Ball:
        """Coefficients (segments, 2d + 1) of the loss on each segment of a chain of places."""
        degree = 2 * self.landscape.problem.degree
        t = range(degree + 1)
        there = Ball.of_fractions([[Fraction(k, degree) for k in t]])
        here = Ball.of_fractions([[Fraction(degree - k, degree) for k in t]])
        shape = (1, degree + 1, 1, 1)
        a, b = (Ball(x.mid.reshape(shape), x.rad.reshape(shape)) for x in (here, there))
        between = a * chain[:-1][:, None] + b * chain[1:][:, None]
        flat = (-1, *between.mid.shape[2:])
        values = self.loss.values(Ball(between.mid.reshape(flat), between.rad.reshape(flat)), signs)
        table = Ball(values.mid.reshape(-1, degree + 1), values.rad.reshape(-1, degree + 1))
        return table @ Ball.of_fractions([list(row) for row in to_bernstein(degree)]).T

    def _is_row(self, end: ProvedPlace, row: int) -> bool:
        """Whether a proved critical point can be no other of the complete list than this row."""
        critical = self.landscape.chart.critical
        near = np.abs(critical.table.loss - self.landscape.problem.floor - end.loss.mid)
        unit = self.landscape.loss.energy
        for other in np.flatnonzero(near <= SAME_LEVEL * unit).tolist():
            if other != row and (critical[other].dimension or self._meets(end, other)):
                return False
        return bool(critical[row].dimension) or self._meets(end, row)

    def _meets(self, end: ProvedPlace, row: int) -> bool:
        """Whether the box of a tensor and that of a listed point overlap."""
        point = self.landscape.chart.critical[row]
        assert point.certificate is not None
        gap = np.abs(end.tensor.mid - point.tensor.entries)
        return bool(np.all(gap <= (end.tensor.rad + point.certificate.radius) * (1 + SLACK)))


def _busy(end: Neurons) -> NDArray[np.intp]:
    """The neurons of a path's end that have not vanished."""
    sizes = np.linalg.norm(end.vectors, axis=1)
    return np.flatnonzero(sizes > VANISHED * np.max(sizes, initial=0.0))


def _placed(vectors: Ball, rows: NDArray[np.intp], count: int) -> Ball:
    """So many neurons, these in their rows and the others zero."""
    shape = (count, vectors.mid.shape[1])
    mid, rad = np.zeros(shape), np.zeros(shape)
    mid[rows], rad[rows] = vectors.mid, vectors.rad
    return Ball(mid, rad)
