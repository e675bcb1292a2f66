"""The closure of the networks of a width: which limits there are beside them, and the charted ones.

At degree 2, and for one neuron, networks are closed. At d ≥ 3 neurons of opposite signs can merge while their outer
weights grow. Two of them leave w^(d−1)v; three in one place leave ±w^(d−2)v² + w^(d−1)u, and so on. With fixed outer
weights at even degree a limit needs neurons of both signs: sums of neurons of one sign are bounded below by each of
them, so none can grow. At odd degree signs move into the neurons.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from shallows.model.problem import Problem
from shallows.questions.charts.closure.merged import merged_stratum
from shallows.questions.charts.closure.one_place import one_place_stratum
from shallows.questions.charts.closure.triangles import CUBIC
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.limits import too_many_limits
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


#: At most so many neurons in one place are charted beside others, or in three and more inputs: limits of more are
#: further derivatives of powers.
IN_ONE_PLACE = 3
#: In three and more inputs limits of so many neurons: of four there are many thousands already among cubics.
MOST_NEURONS = 3


def strata(width: int, n: int, degree: int) -> list[tuple[int, ...]]:
    """The kinds of limits that there are for a width, by how many neurons merge in each place; n ≥ 3: that are charted.

    In two inputs the slope at a critical limit has a zero of order m + 1 where m neurons merge: a form of degree d that
    is not zero has no more than d. Where it is zero the limit is the target.

    >>> strata(3, 2, 5), strata(4, 5, 3), strata(4, 2, 6)[2:]
    ([(2,), (2, 1), (3,)], [(2,), (2, 1), (3,)], [(3,), (2, 2), (3, 1), (4,)])
    """
    if n > 2:
        return merging_kinds(min(width, MOST_NEURONS), IN_ONE_PLACE)
    return [blocks for blocks in merging_kinds(width, width) if sum(blocks) + len(blocks) <= degree]


def merging_kinds(most: int, largest: int) -> list[tuple[int, ...]]:
    """All ways in which up to `most` neurons merge, some of them, at most `largest` in one place.

    >>> merging_kinds(4, 3)[3:]
    [(2, 1, 1), (2, 2), (3, 1)]
    """
    kinds = [blocks for total in range(2, most + 1) for blocks in partitions(total, largest)]
    return sorted((blocks for blocks in kinds if blocks[0] > 1), key=lambda blocks: (sum(blocks), blocks))


def is_charted(blocks: tuple[int, ...]) -> bool:
    """Whether limits of a kind are charted: more than three neurons in one place have no others beside them."""
    return blocks[0] <= IN_ONE_PLACE or len(blocks) == 1


def partitions(total: int, largest: int) -> list[tuple[int, ...]]:
    """The partitions of a number, each with its largest part first."""
    if not total:
        return [()]
    firsts = range(1, min(total, largest) + 1)
    return [(first, *rest) for first in firsts for rest in partitions(total - first, first)]


def closure_of(problem: Problem, top: int, certify: bool, seed: int, progress: bool = False) -> Closure:
    """The limits of networks with up to `top` neurons (0: the target is zero, and nothing but zero is critical)."""
    result = Closure()
    width = min(merging(problem), top)
    kinds = strata(width, problem.n, problem.degree)
    skipped = (
        []
        if problem.n == 2
        else [blocks for blocks in kinds if too_many_limits(problem.degree, problem.n, blocks)]
    )
    for blocks in kinds if not skipped else [blocks for blocks in kinds if sum(blocks) < IN_ONE_PLACE]:
        if not is_charted(blocks):
            continue
        with status_line(f"limits of {sum(blocks)} neurons", progress) as tell:
            if problem.n == 2 and len(blocks) == 1 and blocks[0] > 2:
                stratum = one_place_stratum(problem, blocks[0], certify)
            else:
                stratum = merged_stratum(problem, blocks, certify, seed, tell)
        result.closed = False
        result.found += stratum.found
        result.families += stratum.families
        result.notes += stratum.notes
        inward = result.critical_inward
        inward[sum(blocks)] = inward.get(sum(blocks), 0) + stratum.critical_inward
        inward[CUBIC] = inward.get(CUBIC, 0) + stratum.of_three
        result.completeness = weakest([result.completeness, stratum.completeness])
    which = _left_out(width, problem, kinds, skipped)
    if which:
        result.scope = (
            f"networks of width {problem.width}, and limits in which {which}; other limits are not charted, so no "
            "minimum is called global"
        )
    return result


def _left_out(
    width: int, problem: Problem, kinds: list[tuple[int, ...]], skipped: list[tuple[int, ...]]
) -> str:
    """Which limits are charted, in words, where some are not; empty where all are."""
    if skipped:
        return "two neurons merge and no others are left"
    if problem.n == 2:
        whole = all(is_charted(blocks) for blocks in kinds)
        return "" if whole else "up to three merge in each place, or all in one"
    return "" if width <= IN_ONE_PLACE else "two or three neurons take part and no others"
