"""From the real points of all ranks to a chart: kinds, escapes, networks, sorting."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.exact_loss import ExactLoss
from shallows.model.network import Network
from shallows.model.problem import Problem
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
from shallows.questions.charts.points.point import Points, PointTable, Stored
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
    seed: int = 0,
) -> Chart:
    """The chart of the found points that the problem's outer weights can realise.

    `closed` says that these are the points of the closure of the networks, all its strata (for d ≥ 3 and rank ≥ 2 the
    set of networks itself is not closed: paper 000, Example 19), so that the lowest level is the infimum of the loss;
    otherwise `scope` says what is listed.
    """
    about = {len(found) + i: family for i, family in enumerate(families)}
    found = [*found, *(family.point for family in families)]
    signs = Signs.of(problem)
    positive, negative = np.array([f.signed for f in found], dtype=np.intp).T
    entries = np.array([f.entries(problem.n, problem.degree) for f in found])
    slopes = 2 * (entries - problem.target_tensor().entries) @ problem.gram()
    room = signs.room(positive, negative)
    levels = _levels(problem, entries, [f.certificate is not None for f in found])
    errors = _slope_errors(problem, found)
    idle = list(zip(room[0].tolist(), room[1].tolist(), strict=True))
    reach = np.array(
        [slope_range(problem, f, slopes[i], idle[i], float(errors[i])) for i, f in enumerate(found)]
    )
    signature = np.array([f.signature for f in found], dtype=np.intp)
    dimension = np.array([about[i].dimension if i in about else 0 for i in range(len(found))], dtype=np.intp)
    inward = np.array([inward_slope(f, slopes[i], problem.degree) for i, f in enumerate(found)])
    kept = np.flatnonzero(signs.realisable(positive, negative))
    kind = np.full(len(found), "", dtype="<U14")
    kind[kept] = kinds(
        levels[kept],
        signature[kept],
        dimension[kept],
        (room[0][kept], room[1][kept]),
        (reach[kept, 0], reach[kept, 1]),
        errors[kept],
        closed,
        inward[kept],
    )
    rank = np.array([f.rank for f in found], dtype=np.intp)
    attainable = _attainable(problem, found, kind, signs)
    order = kept[np.lexsort((rank[kept], levels.excess[kept]))]
    maker = Stored(
        [SymmetricTensor(entries[i], problem.n, problem.degree) for i in order],
        [_network(problem, found[i], attainable[i]) for i in order],
        [found[i].certificate for i in order],
        [escape(problem, slopes[i], idle[i], found[i], float(errors[i])) for i in order],
        {row: (about[i].description, about[i].samples) for row, i in enumerate(order.tolist()) if i in about},
    )
    loss = levels.excess + problem.floor
    limit = np.array([found[i].limit and not attainable[i] for i in order], dtype=bool)
    table = PointTable(loss[order], rank[order], signature[order], kind[order], dimension[order], limit)
    isolated = rank[order][(dimension[order] == 0) & ~limit]
    lowest = levels[order].same(float(levels.excess[order].min()))
    return Chart(
        critical=Points(table, maker, problem),
        completeness=completeness,
        method=method,
        complex_count={r: c.complex for r, c in counts.items() if c.complex is not None},
        real_count={r: int(np.sum(isolated == r)) for r in counts},
        expected_count={r: c.expected for r, c in counts.items()},
        expected_source={r: c.source for r, c in counts.items()},
        notes=(*notes, *_numerical_kinds(problem, kind[kept], (room[0] | room[1])[kept])),
        seed=seed,
        attained=_attained(closed, completeness, kind[order][lowest], limit[lowest]),
        scope=scope,
        problem=problem,
    )


def _attainable(
    problem: Problem, found: Sequence[RealPoint], kind: NDArray[np.str_], signs: Signs
) -> list[bool]:
    """Which limits are networks: another one with their function is critical where the slope is zero, only there."""
    idle = [signs.total - point.rank for point in found]
    return [
        bool(own == GLOBAL) and are_networks(point, problem.degree, room)
        for point, own, room in zip(found, kind, idle, strict=True)
    ]


def _network(problem: Problem, found: RealPoint, attainable: bool) -> Network:
    """The point's network, or one near a limit."""
    return realise(problem, *(with_idle(found) if attainable else nearly(found, problem.degree)))


def _attained(
    closed: bool, completeness: str, kind: NDArray[np.str_], limit: NDArray[np.bool_]
) -> bool | None:
    """False where only limits have the lowest level; else None: a network that has it says so by its kind."""
    whole = closed and completeness != "sampled"
    return False if whole and np.all(limit) and np.any(kind == GLOBAL) else None


def _numerical_kinds(problem: Problem, kind: NDArray[np.str_], idle: NDArray[np.bool_]) -> list[str]:
    """What kinds rest on where no eigenvalues or roots decide: an escape found proves a saddle, none found nothing."""
    resting = int(np.sum(idle & (kind == "local minimum"))) if is_numerical(problem) else 0
    if not resting:
        return []
    return [
        f"{counted(resting, 'local minimum')} with idle neurons: that no further neuron decreases the "
        "loss rests on a numerical minimisation over the sphere, not on a proof"
    ]


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
