"""Ensembles against charts: which critical point each end point is, and what is not on the chart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shallows.mathematics.same_points import nearest
from shallows.model.problem import Problem
from shallows.questions.descent.results.symmetry import tensors_of
from shallows.support.checks import Array
from shallows.support.errors import IncompleteChart, InvalidProblem
from shallows.support.tolerances import TINY

if TYPE_CHECKING:
    from shallows.questions.charts.result import Chart

#: Losses on a family agree to the square of the runs' gradient norms; runs that stopped early leave this much.
SAME_FAMILY = 1e-7
#: How far the tensor of an end point may be from a chart's point, in units of the target; as in `symmetry`.
TOLERANCE = 1e-5
NOT_ENDED = -(10**9)
COMPLETE = ("proved", "count-matched", "trace-tested")


@dataclass(frozen=True, eq=False)
class Match:
    """For each run the index in `chart.critical` of the point or family it ended at, −1 for none.

    `shares` maps these indices to the share of all runs that end there.

    >>> problem = sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Gaussian(3), width=2)
    >>> chart = sh.chart(problem)
    >>> match = sh.ensemble(problem, runs=20, rng=0).match(chart)
    >>> match
    Match(85.0% at point 0, 5.0% at point 2, 10.0% at point 6; 0 of 20 ended runs are off the chart)
    >>> {rank: round(share, 3) for rank, share in match.by_rank(chart).items()}   # traps: neurons that died
    {0: 0.1, 1: 0.05, 2: 0.85}
    """

    points: np.ndarray
    distances: Array
    shares: dict[int, float]
    ended: int

    @property
    def unmatched(self) -> np.ndarray:
        """The runs that ended, but at no point or family of the chart."""
        return np.flatnonzero(self.points == -1)

    def by_rank(self, chart: Chart) -> dict[int, float]:
        """The share of runs at each rank."""
        result: dict[int, float] = {}
        for index, share in self.shares.items():
            rank = chart.critical[index].rank
            result[rank] = result.get(rank, 0.0) + share
        return dict(sorted(result.items()))

    def __repr__(self) -> str:
        parts = [f"{share:.1%} at point {index}" for index, share in self.shares.items()]
        return (
            f"Match({', '.join(parts)}; {len(self.unmatched)} of {self.ended} ended runs are off the chart)"
        )


def match(problem: Problem, thetas: Array, usable: np.ndarray, chart: Chart, strict: bool = True) -> Match:
    """Compare tensors with the chart's points (within 1e-5 of the target's size), and losses with its families.

    An end point that is not on a chart that claims to be complete raises `IncompleteChart`, unless `strict` is False.
    """
    if not hasattr(chart, "points") or not hasattr(chart, "completeness"):
        raise InvalidProblem(f"chart is {chart!r}; expected the result of shallows.chart(problem).")
    if problem.bias:
        return match(problem.homogeneous(), problem.lift(thetas), usable, chart, strict)
    tensors = tensors_of(problem, thetas).reshape(len(thetas), -1)
    scale = float(np.abs(problem._optimum[0]).max()) or 1.0
    known = np.array([[tensor.entries for tensor in item.tensors] for item in chart.critical])
    known = known.reshape(len(chart.critical), tensors.shape[1])
    isolated = np.flatnonzero(chart.critical.table.dimension == 0)
    points, distances = nearest(tensors, known[isolated])
    points = np.where(distances <= TOLERANCE * scale, isolated[points] if len(isolated) else -1, -1)
    _on_families(problem, thetas, chart, points)
    points[~usable] = NOT_ENDED
    result = Match(points, distances, _shares(points, len(thetas)), int(usable.sum()))
    lost = result.unmatched
    if strict and len(lost) and chart.completeness in COMPLETE:
        loss = float(problem.value(thetas[lost[0]]))
        raise IncompleteChart(
            f"{len(lost)} of {result.ended} end points are not on this chart, which is said to be complete "
            f"({chart.completeness}); run {int(lost[0])} ended at loss {loss:.10g}, "
            f"{distances[lost[0]] / scale:.2g} (relative) from the nearest point. Pass strict=False to look at them."
        )
    return result


def _on_families(problem: Problem, thetas: Array, chart: Chart, points: np.ndarray) -> None:
    """Give end points that are no isolated point to the family with their loss, if there is one."""
    losses = problem.value(thetas)
    scale = max(float(np.abs(losses).max(initial=0.0)), TINY)
    for index in np.flatnonzero(chart.critical.table.dimension):
        here = (points == -1) & (np.abs(losses - chart.losses[index]) <= SAME_FAMILY * scale)
        points[here] = index


def _shares(points: np.ndarray, runs: int) -> dict[int, float]:
    found, counts = np.unique(points[points >= 0], return_counts=True)
    return {int(i): float(c) / runs for i, c in zip(found, counts, strict=True)}
