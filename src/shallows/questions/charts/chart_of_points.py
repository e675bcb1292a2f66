"""From the real points of all ranks to a chart: kinds, escapes, networks, sorting."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.exact_loss import ExactLoss
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.chart_of_rows import chart_of_rows
from shallows.questions.charts.points.first_order import escape, is_numerical, slope_range
from shallows.questions.charts.points.inward import inward_slope
from shallows.questions.charts.points.kinds import (
    PROVED_LOSS,
    ROUNDINGS,
    Levels,
    Signs,
    kinds,
    require_doubles,
)
from shallows.questions.charts.points.networks import are_networks, nearly, realise, with_idle
from shallows.questions.charts.points.rows import ChartRow
from shallows.questions.charts.points.stratum import POINT_ERROR, Counts, RealFamily, RealPoint
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array, counted
from shallows.support.tolerances import EPSILON, SAME_LOSS

#: ‖s − t‖² that is less than this share of its terms' sizes loses four of sixteen digits in doubles: twelve must stay.
CANCELLING = 1e-4
GLOBAL = "global minimum"


def chart_of_points(
    problem: Problem,
    found: Sequence[RealPoint],
    counts: dict[int, Counts],
    *,
    completeness: str,
    method: str,
    closed: bool = True,
    scope: str = "",
    families: Sequence[RealFamily] = (),
    notes: Sequence[str] = (),
) -> Chart:
    """The chart of the found points that the problem's outer weights can realise.

    `closed` says that these are the points of the closure of the networks, all its strata (for d ≥ 3 and rank ≥ 2 the
    set of networks itself is not closed: paper 000, Example 19), so that the lowest level is the infimum of the loss;
    otherwise `scope` says what is listed.
    """
    about = [None] * len(found) + list(families)
    found = [*found, *(family.point for family in families)]
    closed = closed and completeness != "sampled"  # others may be lower
    judged = _Judged.of(problem, found, [0 if f is None else f.dimension for f in about], closed)
    rows = [judged.row(i, about[i]) for i in judged.order]
    return chart_of_rows(
        problem,
        rows,
        counts,
        completeness=completeness,
        method=method,
        notes=[*notes, *judged.notes()],
        attained=judged.attained(rows) if closed else None,
        scope=scope,
    )


@dataclass(frozen=True, eq=False)
class _Judged:
    """Found points with their slopes 2G(s − t) and what these are off by, the room for idle neurons of either sign, and
    the kinds of those that outer weights can realise, in the `order` of their losses."""

    problem: Problem
    found: Sequence[RealPoint]
    signs: Signs
    entries: Array
    slopes: Array
    errors: Array
    room: NDArray[np.bool_]
    levels: Levels
    kind: NDArray[np.str_]
    order: list[int]

    @classmethod
    def of(
        cls, problem: Problem, found: Sequence[RealPoint], dimensions: Sequence[int], closed: bool
    ) -> _Judged:
        signs = Signs.of(problem)
        positive, negative = np.array([f.signed for f in found], dtype=np.intp).T
        entries = np.array([f.entries(problem.n, problem.degree) for f in found])
        slopes = 2 * (entries - problem.target_tensor().entries) @ problem.gram()
        levels = _levels(problem, entries, [f.certificate is not None for f in found])
        errors = _slope_errors(problem, found)
        room = np.column_stack(signs.room(positive, negative))
        reach = np.array(
            [
                slope_range(problem, f, slopes[i], (bool(room[i, 0]), bool(room[i, 1])), float(errors[i]))
                for i, f in enumerate(found)
            ]
        )
        inward = np.array([inward_slope(f, slopes[i], problem.degree) for i, f in enumerate(found)])
        kept = np.flatnonzero(signs.realisable(positive, negative))
        kind = np.full(len(found), "", dtype="<U14")
        kind[kept] = kinds(
            levels[kept],
            np.array([f.signature for f in found], dtype=np.intp)[kept],
            np.array(dimensions, dtype=np.intp)[kept],
            (room[kept, 0], room[kept, 1]),
            (reach[kept, 0], reach[kept, 1]),
            errors[kept],
            closed,
            inward[kept],
        )
        rank = np.array([f.rank for f in found], dtype=np.intp)
        order = kept[np.lexsort((rank[kept], levels.excess[kept]))].tolist()
        return cls(problem, found, signs, entries, slopes, errors, room, levels, kind, order)

    def row(self, i: int, about: RealFamily | None) -> ChartRow:
        """Point i as a row of the chart. A limit is a network where another one with its function is critical: where
        the slope is zero, and only there."""
        problem, point = self.problem, self.found[i]
        idle = (bool(self.room[i, 0]), bool(self.room[i, 1]))
        attainable = bool(self.kind[i] == GLOBAL) and are_networks(
            point, problem.degree, self.signs.total - point.rank
        )
        return ChartRow(
            _network(problem, point, attainable),
            float(self.levels.excess[i] + problem.floor),
            point.rank,
            point.signature,
            str(self.kind[i]),
            point.certificate,
            0 if about is None else about.dimension,
            point.limit and not attainable,
            SymmetricTensor(self.entries[i], problem.n, problem.degree),
            escape(problem, self.slopes[i], idle, point, float(self.errors[i])),
            None if about is None else (about.description, about.samples),
        )

    def attained(self, rows: Sequence[ChartRow]) -> bool | None:
        """False where only limits have the lowest level; else None: a network that has it says so by its kind."""
        levels = self.levels[np.array(self.order)]
        lowest = [rows[i] for i in np.flatnonzero(levels.same(float(levels.excess.min()))).tolist()]
        only = all(row.limit for row in lowest) and any(row.kind == GLOBAL for row in lowest)
        return False if only else None

    def notes(self) -> list[str]:
        """What kinds rest on where no eigenvalues or roots decide: an escape found proves a saddle, none found
        nothing."""
        resting = int(np.sum(self.room.any(axis=1) & (self.kind == "local minimum")))
        if not resting or not is_numerical(self.problem):
            return []
        return [
            f"{counted(resting, 'local minimum')} with idle neurons: that no further neuron decreases the "
            "loss rests on a numerical minimisation over the sphere, not on a proof"
        ]


def _network(problem: Problem, found: RealPoint, attainable: bool) -> Network:
    """The point's network, or one near a limit."""
    return realise(problem, *(with_idle(found) if attainable else nearly(found, problem.degree)))


def _levels(problem: Problem, entries: Array, proved: Sequence[bool]) -> Levels:
    """‖s − t‖² of each tensor, and ‖t‖²; in exact arithmetic where doubles cancel."""
    gap, gram = entries - problem.target_tensor().entries, problem.gram()
    excess = np.einsum("ij,ij->i", gap, gap @ gram)
    size = np.einsum("ij,ij->i", np.abs(gap), np.abs(gap) @ np.abs(gram))
    cancelling = np.flatnonzero(np.isfinite(size) & (excess < CANCELLING * size))
    if len(cancelling):
        with suppress(ZeroDivisionError):  # a metric that is singular in exact arithmetic
            excess[cancelling] = ExactLoss.of(problem).excess(entries[cancelling])
    return Levels(excess, require_doubles(problem, gram), np.where(proved, PROVED_LOSS, SAME_LOSS))


def _slope_errors(problem: Problem, found: Sequence[RealPoint]) -> Array:
    """How far ℓ′(u^⊗d) is off: 2‖G‖ times the point's own error, proved or assumed, and rounding of G(s − t)."""
    gram, target = problem.gram(), problem.target_tensor().entries
    scale = float(np.max(np.abs(2 * gram @ target)))
    rounding = ROUNDINGS * EPSILON * float(np.max(2 * np.abs(gram) @ np.abs(target)))
    size = 2 * float(np.max(np.sum(np.abs(gram), axis=1)))
    return np.array(
        [
            rounding + (POINT_ERROR * scale if f.certificate is None else size * f.certificate.radius)
            for f in found
        ]
    )
