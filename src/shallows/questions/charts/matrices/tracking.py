"""Tracking the rank-r equations in several frames: U = (I; Z) is large in some frames and harmless in others.

A path that comes close to infinity, or is badly conditioned, in one frame is not in another. All paths are tracked in
one frame after the other until every one is accounted for: the distinct finite ends of all frames, those at infinity
(the metric is then not generic) and the singular ones are together as many as there are paths. A path that comes too
close to infinity in every frame calls for another way: all are tracked from elsewhere.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.parameter import random_parameters, solve_member
from shallows.mathematics.homotopy.paths import TrackerSettings, track
from shallows.mathematics.homotopy.solutions import Solution, Solutions, SolutionSet
from shallows.mathematics.same_points import nearest
from shallows.questions.charts.continuation.equations import (
    Complex,
    CriticalEquations,
    Member,
    SolvedMember,
    family,
)
from shallows.questions.charts.continuation.lost_paths import SETTINGS, Settled
from shallows.questions.charts.continuation.metrics import Turned
from shallows.questions.charts.matrices.equations import LowRankEquations
from shallows.questions.charts.matrices.sharp import sharp_twin
from shallows.support.checks import Array
from shallows.support.progress import Shown

#: Frames that are tried on each way: a budget; after the first only the lost paths are tracked.
FRAMES = 8
#: Frames in doubles before paths that all of them lost are tracked with 31 digits: a path there costs as much as a
#: hundred others, and nearly all that one frame loses another does not (1,164 paths of two neurons with a bias: 2.2 s
#: of processor time, 4.5 with more digits in the first frame).
IN_DOUBLES = 2
#: Matrices closer than this, relatively, are one: an end is known to about ε times its condition, which is 2·10⁻⁸ at a
#: condition of 10⁸.
SAME = 1e-7


class Ledger:
    """What the paths of all frames ended at, as matrices S in the member's coordinates."""

    def __init__(self, equations: LowRankEquations) -> None:
        self.equations = equations
        self.finite: list[Complex] = []
        self.singular: list[Complex] = []
        self.infinite = self.degenerate = 0

    def add(self, solutions: Solutions, turn: Array, confirmed: bool) -> None:
        """Enter the (distinct) ends of one frame; finite ones known from other frames are not entered again.

        Ends at infinity and simple singular ones count only when they are `confirmed`, by coming out so again.
        """
        entries = self.equations.n**2
        matrices = turn @ self.equations.matrices(solutions.finite.points) @ turn.T
        _, apart = nearest(matrices.reshape(-1, entries), np.array(self.finite).reshape(-1, entries))
        fresh = apart > SAME * np.max(np.abs(matrices), axis=(1, 2), initial=0.0)
        self.finite += list(matrices[fresh])
        singular = [s for s in solutions.singular if confirmed or s.multiplicity > 1]
        ends = np.array([s.point for s in singular]).reshape(len(singular), self.equations.unknowns)
        self.singular += list(turn @ self.equations.matrices(ends) @ turn.T)
        self.degenerate += sum(s.multiplicity for s in singular)
        self.infinite += solutions.at_infinity.count if confirmed else 0

    def forget(self) -> None:
        """Another way is tried: only the finite ends of the earlier ones stay."""
        self.singular.clear()
        self.infinite = self.degenerate = 0

    @property
    def accounted(self) -> int:
        """How many paths have an end."""
        return len(self.finite) + self.degenerate + self.infinite


class Frames:
    """The ways from a solved member to a wanted one, each in many frames; the ends are given in the frame `first`."""

    def __init__(
        self,
        equations: LowRankEquations,
        known: SolvedMember,
        wanted: Member,
        seed: int,
        tell: Shown = False,
        first: Array | None = None,
    ) -> None:
        self.equations, self.known, self.wanted = equations, known, wanted
        self.seed, self.tell = seed, tell
        self.first = np.eye(equations.n) if first is None else first
        self.ledger = Ledger(equations)

    def follow(self, way: int) -> Settled | None:
        """Enter the ends of all paths from one solved member, frame by frame, until every one has an end."""
        start = self.known if way == 0 else self._elsewhere(self.seed + way)
        if start is None:
            return None
        seed, total = self.seed + FRAMES * way, len(start.points)
        self.ledger.forget()
        waiting = np.arange(total)
        for attempt in range(FRAMES):
            turn = (
                self.first if attempt == 0 else self.equations.frame(np.random.default_rng([seed, attempt]))
            )
            solutions = self._track(start, waiting, turn, seed + attempt, attempt >= IN_DOUBLES)
            self.ledger.add(solutions, turn, confirmed=attempt > 0)
            again = [*solutions.failed]
            if attempt == 0:
                again += [s for s in solutions.singular if s.multiplicity == 1] + [*solutions.at_infinity]
            waiting = waiting[[solution.path for solution in again]]
            if self.ledger.accounted >= total:
                return self.unsettled()
            if not len(waiting):  # two paths met at one end: one of them jumped, so all are tracked again
                self.ledger.forget()
                waiting = np.arange(total)
        return None

    def unsettled(self) -> Settled:
        """The ends that are known so far."""
        ledger = self.ledger
        singular = self._ends(ledger.singular)
        lost = max(len(self.known.points) - ledger.accounted, 0)
        isolated = np.zeros(singular.count, bool)
        return Settled(
            self._ends(ledger.finite), singular, isolated, ledger.infinite, lost, self.known.completeness
        )

    def _ends(self, matrices: list[Complex]) -> SolutionSet:
        n, size = self.equations.n, self.equations.unknowns
        points = self.equations.unknowns_in(self.first, np.array(matrices).reshape(-1, n, n))
        return SolutionSet(tuple(Solution(x) for x in points), size)

    def _elsewhere(self, seed: int) -> SolvedMember | None:
        """The solutions at another random member of the same kind of metrics; None when a path to it was lost."""
        known, members = self.known, family(self.equations, self.wanted.metrics)
        rng = np.random.default_rng([seed, len(known.points)])
        other = random_parameters(members, rng, float(np.abs(known.parameters).max()))
        segment = members.segment(known.parameters, other)
        paths = track(segment, known.points, TrackerSettings().tighter(), endgame=False, progress=self.tell)
        if (paths.status != 0).any():
            return None
        return SolvedMember(other, paths.ends, known.completeness)

    def _track(
        self, start: SolvedMember, rows: NDArray[np.intp], turn: Array, seed: int, sharp: bool
    ) -> Solutions:
        """The parameter homotopy of some paths with both ends, and the known solutions, in the frame `turn`; lost ones
        are tracked again with more digits if `sharp`."""
        equations, metrics = self.equations, self.wanted.metrics
        action = equations.action(turn)
        points = equations.unknowns_in(turn, equations.matrices(start.points[rows]))

        def turned(parameters: Complex) -> list[complex]:
            split = metrics.parameters
            return list(np.concatenate([parameters[:split], action.T @ parameters[split:]]))

        def solved(
            equations: CriticalEquations, points: Complex, settings: TrackerSettings, few: int = 0
        ) -> Solutions:
            return solve_member(
                family(equations, Turned(metrics, action)),
                points,
                turned(start.parameters),
                turned(self.wanted.parameters),
                rng=seed,
                detour=False,
                on_incomplete="return",
                progress=self.tell,
                settings=settings,
                give_up=few,
            )

        found = solved(equations, points, TrackerSettings())
        lost = [end.path for end in found.failed]
        if not (sharp and lost and np.isfinite(points[lost]).all()):
            return found
        return _with(found, solved(sharp_twin(equations), points[lost], SETTINGS, len(lost)), lost)


def _with(found: Solutions, again: Solutions, rows: list[int]) -> Solutions:
    """The ends of all paths, those of these rows as they came out again."""

    def joined(old: SolutionSet, new: SolutionSet) -> SolutionSet:
        return SolutionSet((*old, *(replace(end, path=rows[end.path]) for end in new)), old.n)

    return replace(
        found,
        finite=joined(found.finite, again.finite),
        singular=joined(found.singular, again.singular),
        at_infinity=joined(found.at_infinity, again.at_infinity),
        failed=joined(SolutionSet((), found.failed.n), again.failed),
    )
