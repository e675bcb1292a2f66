"""From the real points of all ranks to a chart: kinds, escapes, networks, sorting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.problem import Problem
from shallows.questions.charts.points.family import CriticalFamily
from shallows.questions.charts.points.first_order import escape, slope_range
from shallows.questions.charts.points.kinds import Signs, kinds
from shallows.questions.charts.points.networks import realise
from shallows.questions.charts.points.point import Points, PointTable, Stored
from shallows.questions.charts.points.stratum import Counts, RealPoint
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array


def chart_of_points(
    problem: Problem,
    found: Sequence[RealPoint],
    counts: dict[int, Counts],
    *,
    completeness: str,
    method: str,
    attained: bool = True,
    families: Sequence[CriticalFamily] = (),
    notes: Sequence[str] = (),
    seed: int = 0,
) -> Chart:
    """The chart of the found points that the problem's outer weights can realise.

    `attained` says that the infimum of the loss is attained at a listed point, so that the lowest may be called the
    global minimum (for d ≥ 3 and rank ≥ 2 the set of networks is not closed: paper 000, Example 19).
    """
    signs = Signs.of(problem)
    positive = np.array([int(np.sum(f.signs > 0)) for f in found], dtype=np.intp)
    negative = np.array([int(np.sum(f.signs < 0)) for f in found], dtype=np.intp)
    keep = np.flatnonzero(signs.realisable(positive, negative))
    found = [found[int(i)] for i in keep]
    entries = np.array([_entries(problem, f) for f in found])
    gram, target = problem.gram(), problem.target_tensor().entries
    gap = entries - target
    loss = np.einsum("ij,ij->i", gap, gap @ gram) + problem.floor
    slopes = 2 * gap @ gram
    room = signs.room(positive[keep], negative[keep])
    reach = [slope_range(problem, f, slope) for f, slope in zip(found, slopes, strict=True)]
    low, high = np.array([r[0] for r in reach]), np.array([r[1] for r in reach])
    signature = np.array([f.signature for f in found], dtype=np.intp)
    lowest = min([*loss.tolist(), *(f.loss for f in families)]) if attained else None
    scale = max(float(np.max(np.abs(2 * gram @ target))), 1e-300)
    kind = kinds(loss, signature, room, (low, high), scale, lowest)
    notes = [*notes, *_lowest_note(loss, families)] if attained else list(notes)
    rank = np.array([f.rank for f in found], dtype=np.intp)
    order = np.lexsort((rank, loss))
    maker = Stored(
        [SymmetricTensor(entries[i], problem.n, problem.degree) for i in order],
        [realise(problem, found[i].vectors, found[i].signs) for i in order],
        [found[i].certificate for i in order],
        [escape(problem, slopes[i], (bool(room[0][i]), bool(room[1][i])), found[i]) for i in order],
    )
    table = PointTable(loss[order], rank[order], signature[order], kind[order])
    return Chart(
        points=Points(table, maker, problem),
        completeness=completeness,
        method=method,
        complex_count={r: c.complex for r, c in counts.items() if c.complex is not None},
        real_count={r: int(np.sum(rank == r)) for r in counts},
        expected_count={r: c.expected for r, c in counts.items()},
        expected_source={r: c.source for r, c in counts.items()},
        families=tuple(families),
        notes=tuple(notes),
        seed=seed,
        problem=problem,
    )


def _lowest_note(loss: Array, families: Sequence[CriticalFamily]) -> list[str]:
    """When a family lies below every point, the global minimum is not isolated."""
    lowest = min((family.loss for family in families), default=np.inf)
    if not lowest < float(np.min(loss)) * (1 - 1e-9):
        return []
    return [f"the global minimum is not isolated: it is a family, of loss {lowest:.8g}"]


def _entries(problem: Problem, found: RealPoint) -> Array:
    if not found.rank:
        return np.zeros(coordinates.dimension(problem.n, problem.degree))
    return np.asarray(found.signs @ coordinates.monomials(found.vectors, problem.degree))
