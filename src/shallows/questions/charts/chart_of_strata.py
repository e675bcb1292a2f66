"""From the strata of all ranks, and the limits beside them, to a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shallows.model.problem import Problem
from shallows.questions.charts.chart_of_points import chart_of_points
from shallows.questions.charts.closure.closure import Closure
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.points.stratum import Counts, Stratum, origin
from shallows.questions.charts.result import Chart


def chart_of_strata(
    problem: Problem,
    strata: Mapping[int, Stratum],
    limits: Closure,
    *,
    method: str,
    notes: Sequence[str] = (),
) -> Chart:
    """Rank 0 is the zero tensor; the chart is as complete as the least complete stratum."""
    every = list(strata.values())
    completeness = weakest(["proved", *(s.completeness for s in every), limits.completeness])
    return chart_of_points(
        problem,
        [origin(problem), *(point for s in every for point in s.found), *limits.found],
        {0: Counts(1, 1, "the zero tensor"), **{rank: s.counts for rank, s in strata.items()}},
        completeness=completeness,
        method=method,
        closed=limits.is_whole(completeness),
        scope=limits.scope,
        families=[*(family for s in every for family in s.families), *limits.families],
        notes=[*notes, *(note for s in every for note in s.notes), *limits.notes],
    )
