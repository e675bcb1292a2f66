"""The chart of what the strata of neurons have brought: kinds, losses, counts, and what is left out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shallows.mathematics.one_neuron_degree import NEURON_SOURCE
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.neurons.found import Found
from shallows.questions.charts.neurons.kinds import Placed, is_closed, kinds_of
from shallows.questions.charts.neurons.on_one_line import APART, leaves_lines_out
from shallows.questions.charts.neurons.special_position import REGULAR, leaves_special_out
from shallows.questions.charts.points.rows import ChartRow, isolated, points_in_order
from shallows.questions.charts.result import Chart

#: What is left out where weights can run away: functions that only limits of networks have.
SCOPE = "networks, not limits of networks whose weights grow without bound"
#: What is said where such limits are looked for, but only by a search.
SEARCHED = "networks; of limits of networks whose weights grow without bound those that a search finds"


def assembled(
    problem: Problem,
    space: PolynomialSpace,
    found: Found,
    seed: int,
    method: str,
    of_their_own: Callable[[Placed], str] | None = None,
) -> Chart:
    """The chart of what was found; `of_their_own` judges points that are no isolated networks."""
    placed = found.placed
    full = [item.entries(space) for item in placed]
    excess = space.excess(np.array(full).reshape(-1, len(space.right)))
    completeness = weakest(found.levels)
    closed = is_closed(problem) or found.limits
    apart = [APART] * leaves_lines_out(problem) + [REGULAR] * leaves_special_out(problem) + found.left_out
    whole = closed and completeness != "sampled" and not apart
    kind = kinds_of(problem, space, placed, excess, of_their_own, whole)
    limit = np.array([item.point.limit for item in placed], dtype=bool)
    rows = [
        ChartRow(
            placed[i].network,
            float(excess[i] + space.floor),
            placed[i].point.rank,
            placed[i].point.signature,
            str(kind[i]),
            placed[i].point.certificate,
            placed[i].dimension,
            placed[i].point.limit,
            space.tensor(full[i]),
            family=None
            if (f := placed[i].family) is None
            else (f.description, tuple(map(space.tensor, f.samples))),
        )
        for i in np.lexsort((np.array([item.point.rank for item in placed]), excess))
    ]
    least = kind == "global minimum"
    return Chart(
        critical=points_in_order(problem, rows),
        completeness=completeness,
        method=method,
        complex_count={r: count for r, count in found.complex.items() if count is not None},
        real_count=isolated([row for row in rows if not row.limit], found.complex),
        expected_count={r: found.bounds.get(r) for r in found.complex},
        expected_source={r: _source(problem, r, found.bounds.get(r)) for r in found.complex},
        notes=tuple(found.notes),
        attained=True
        if (least & ~limit).any()
        else False
        if least.any() and closed and not found.undecided
        else None,
        scope="; ".join([SEARCHED if found.searched else SCOPE] * (not closed) + apart),
        seed=seed,
        title=f"{problem!r}",
        problem=problem,
    )


def _source(problem: Problem, rank: int, bound: int | None) -> str:
    if not rank:
        return "the zero function, or constants"
    if bound is not None and problem.outer is None:
        return NEURON_SOURCE
    return "not known beforehand" if bound is None else "Bézout's bound, w = 0 and symmetries taken off"
