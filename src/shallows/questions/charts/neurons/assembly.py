"""The chart of what the strata of neurons have brought: kinds, losses, counts, and what is left out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from shallows.mathematics.one_neuron_degree import NEURON_SOURCE
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.chart_of_rows import chart_of_rows
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.neurons.found import Found
from shallows.questions.charts.neurons.kinds import is_closed, kind_of
from shallows.questions.charts.neurons.on_one_line import APART, leaves_lines_out
from shallows.questions.charts.neurons.special_position import REGULAR, leaves_special_out
from shallows.questions.charts.points.kinds import Levels, kinds_of
from shallows.questions.charts.points.rows import FoundRow, attained, in_order
from shallows.questions.charts.points.stratum import Counts
from shallows.questions.charts.result import Chart

#: What is left out where weights can run away: functions that only limits of networks have.
SCOPE = "networks, not limits of networks whose weights grow without bound"
#: What is said where such limits are looked for, but only by a search.
SEARCHED = "networks; of limits of networks whose weights grow without bound those that a search finds"


def assembled(
    problem: Problem,
    space: PolynomialSpace,
    found: Found,
    method: str,
    of_their_own: Callable[[FoundRow], str] | None = None,
) -> Chart:
    """The chart of what was found; `of_their_own` judges points that are no isolated networks."""
    rows = [item.row(space) for item in found.placed]
    excess = space.excess(np.array([row.entries for row in rows]).reshape(-1, len(space.right)))
    completeness = weakest(found.levels)
    closed = is_closed(problem) or found.limits
    apart = [APART] * leaves_lines_out(problem) + [REGULAR] * leaves_special_out(problem) + found.left_out
    whole = closed and completeness != "sampled" and not apart
    levels = Levels(excess, float(space.energy))
    kind = kinds_of(levels, rows, of_their_own or partial(kind_of, problem), whole)
    made = in_order(rows, excess, space.floor, kind, [space.tensor(row.entries) for row in rows])
    bounds = {r: found.bounds.get(r) for r in found.complex}
    return chart_of_rows(
        problem,
        made,
        {r: Counts(found.complex[r], bound, _source(problem, r, bound)) for r, bound in bounds.items()},
        completeness=completeness,
        method=method,
        notes=found.notes,
        attained=attained(made, closed and not found.undecided),
        scope="; ".join([SEARCHED if found.searched else SCOPE] * (not closed) + apart),
    )


def _source(problem: Problem, rank: int, bound: int | None) -> str:
    if not rank:
        return "the zero function, or constants"
    if bound is not None and problem.outer is None:
        return NEURON_SOURCE
    return "not known beforehand" if bound is None else "Bézout's bound, w = 0 and symmetries taken off"
