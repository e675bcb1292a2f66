"""The closure of the networks of a width: which limits there are beside them, and the charted ones.

At degree 2, and for one neuron, networks are closed. At d ≥ 3 neurons of opposite signs can merge while their outer
weights grow. Two of them leave w^(d−1)v; three in one place leave w^(d−2)v² + w^(d−1)u, and so on. With fixed outer
weights at even degree a limit needs neurons of both signs: sums of neurons of one sign are bounded below by each of
them, so none can grow. At odd degree signs move into the neurons.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from shallows.model.problem import Problem
from shallows.questions.charts.closure.merged import merged_stratum
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.points.kinds import Signs
from shallows.questions.charts.points.stratum import RealFamily, RealPoint
from shallows.support.progress import status_line


@dataclass
class Closure:
    """The critical points among limits, and where no limits were looked for (`scope`, empty when everywhere).

    `closed` says that networks have no limits beside them.
    """

    found: list[RealPoint] = field(default_factory=list)
    families: list[RealFamily] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    completeness: str = "proved"
    scope: str = ""
    closed: bool = True
    critical_inward: dict[int, int] = field(default_factory=dict)

    def is_whole(self, completeness: str) -> bool:
        """Whether every stratum of the closure is charted: none left out and, where there are limits, none lost."""
        return not self.scope and (self.closed or completeness != "sampled")


def merging(problem: Problem) -> int:
    """How many neurons can merge in limits of a problem's networks, all in all; 0 when its networks are closed."""
    if problem.degree == 2 or problem.n == 1:
        return 0
    signs = Signs.of(problem)
    return signs.total if signs.total > 1 and signs.positive and signs.negative else 0


def strata(width: int, n: int) -> list[tuple[int, ...]]:
    """The kinds of limits that are charted for a width: two merged neurons, and for binary forms others beside them."""
    return [(2, *[1] * others) for others in range(width - 1) if n == 2 or not others]


def closure_of(problem: Problem, top: int, certify: bool, seed: int, progress: bool = False) -> Closure:
    """The limits of networks with up to `top` neurons (0: the target is zero, and nothing but zero is critical)."""
    result = Closure()
    width = min(merging(problem), top)
    for blocks in strata(width, problem.n):
        with status_line(f"limits of {sum(blocks)} neurons", progress) as tell:
            stratum = merged_stratum(problem, blocks, certify, seed, tell)
        result.closed = False
        result.found += stratum.found
        result.families += stratum.families
        result.notes += stratum.notes
        result.critical_inward[sum(blocks)] = stratum.critical_inward
        result.completeness = weakest([result.completeness, stratum.completeness])
    if width > 2:
        beside = "" if problem.n == 2 else " and no others are left"
        result.scope = (
            f"networks of width {problem.width}, and limits in which two neurons merge{beside}; other limits are not "
            "charted, so no minimum is called global"
        )
    return result
