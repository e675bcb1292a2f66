"""Solved members that charts of several outputs with a penalty start from (`one_more_output`).

Networks and targets that make them critical are an affine bundle over (b, u): x is a function of u, and the slopes of
the outputs solve linear equations. So they are irreducible, monodromy over the targets of the outputs alone finds all
solutions, and the sum over a subset of them is no rational function of the target: the trace test tells whether all
are found. Directions u with u·u = 0, which the penalty does not see, are where solutions run to infinity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.homotopy.monodromy import monodromy
from shallows.mathematics.homotopy.paths import Homotopy
from shallows.mathematics.homotopy.rational_trace import rational_trace_test
from shallows.mathematics.homotopy.trace import TraceTest
from shallows.mathematics.same_points import PointSet
from shallows.questions.charts.continuation.equations import Complex, SolvedMember
from shallows.questions.charts.continuation.generic_members import (
    DIGITS,
    SPECIAL_SEEDS,
    TESTED,
    solved_once,
)
from shallows.questions.charts.continuation.lost_paths import SETTINGS
from shallows.questions.charts.limits import most_points
from shallows.questions.charts.penalty.members import PinnedFamily
from shallows.questions.charts.penalty.metrics import JoinedMetrics
from shallows.questions.charts.penalty.one_more_output import JoinedEquations
from shallows.support.progress import Shown
from shallows.support.seeds import complex_normal

#: Of more solutions the trace is not looked at: of 217, two neurons in three inputs under rotation-invariant data, some
#: path is lost on almost every way (measured: 10 of 1,307), so that too few samples arrive. Such members are "sampled".
TESTED_POINTS = 60


def joined_start(equations: JoinedEquations, special: JoinedMetrics, tell: Shown = False) -> SolvedMember:
    """Where every problem with such networks and metrics starts from; solved once a machine."""
    return solved_once(equations, special, lambda: solve_joined(equations, special, tell))


@dataclass(frozen=True, eq=False)
class MovingTargets:
    """The equations over targets g of the outputs, metric and the target of P held fixed."""

    pinned: PinnedFamily
    u: Complex
    v: complex

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return self.pinned.n

    @property
    def parameter_count(self) -> int:
        """M N."""
        return self.pinned.special.size

    def segment(self, start: Complex, target: Complex) -> Homotopy:
        """The equations along the segment between two targets."""
        return self.pinned.segment(self.whole(start), self.whole(target))

    def whole(self, g: Complex) -> Complex:
        """(u, g, v)."""
        return np.concatenate([self.u, g, [self.v]])

    def member(self, parameters: object) -> None:
        """No exact system: proofs are of the problem's own equations."""
        return


def solve_joined(equations: JoinedEquations, special: JoinedMetrics, tell: Shown = False) -> SolvedMember:
    """A generic member, solved now; another where the trace test does not pass."""
    found = [_solved(equations, special, SPECIAL_SEEDS[0], tell)]
    for seed in SPECIAL_SEEDS[1:]:
        if found[-1].completeness != "sampled":
            break
        found.append(_solved(equations, special, seed, tell))
    return max(found, key=lambda member: (member.completeness != "sampled", len(member.points)))


def _solved(equations: JoinedEquations, special: JoinedMetrics, seed: int, tell: Shown) -> SolvedMember:
    rng = np.random.default_rng([seed, equations.unknowns, equations.entries, len(special.kind)])
    u = np.round(complex_normal(rng, special.parameters) * DIGITS) / DIGITS
    x, targets = equations.first_of(special, u, rng)
    pinned = PinnedFamily(equations, special)
    moving, g = MovingTargets(pinned, u, complex(targets[-1])), targets[:-1]

    def test(found: PointSet, generator: np.random.Generator) -> TraceTest:
        if len(found) > TESTED_POINTS:
            return TraceTest(False, np.inf, len(found), 0, found.points[:0])
        tensors, poles = equations.tensors, equations.poles
        return rational_trace_test(
            moving, found.points, g, tensors, generator, poles=poles, settings=SETTINGS
        )

    found = monodromy(
        moving,
        x[None, :],
        g,
        rng=seed,
        invariants=equations.tensors,
        limit=most_points(),
        trace=test,
        max_members=TESTED,
        settings=SETTINGS,
        progress=tell,
    )
    return SolvedMember(pinned.full(moving.whole(g)), found.points, found.completeness)
