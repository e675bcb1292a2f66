"""Ways from one member of a family of equations to another: straight, then by random members in between.

Two ways agree when they lose no path and find as many regular and singular ends, and no other way has found a regular
one beside them. Different ways lose different paths: when the regular ends of all ways together, and the infinite ones
of one, are as many as there are paths, nothing is lost either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.homotopy.families import Family
from shallows.mathematics.homotopy.parameter import solve_member
from shallows.mathematics.homotopy.solutions import Solutions, SolutionSet
from shallows.mathematics.same_points import SAME, close_pairs, nearest
from shallows.questions.charts.continuation.equations import (
    Complex,
    CriticalEquations,
    Member,
    SolvedMember,
    family,
)
from shallows.questions.charts.continuation.lost_paths import SETTINGS, Settled
from shallows.support.errors import IncompleteChart
from shallows.support.progress import Shown

#: Points, one a row, moved to where they belong, and which of them are proved to lie next to a regular solution.
Regular = Callable[[Complex], tuple[Complex, NDArray[np.bool_]]]
#: Relative distance of tensors that are taken for one: a triple root is known to about ε^{1/3} = 6·10⁻⁶.
AGREE = 1e-5
#: So many lost paths are soon given up: another way round finds them.
FEW = 20


def proved_regular(system: Any, restored: Callable[[Complex], Complex] = lambda ends: ends) -> Regular:
    """Ends that look singular for being far out, but are regular: Krawczyk decides, in the coordinates of `system`."""

    def regular(ends: Complex) -> tuple[Complex, NDArray[np.bool_]]:
        return ends, np.array([root is not None for root in certify(system, restored(ends)).roots])

    return regular


class Detours:
    """The ways from a solved member to a wanted one; `regular` gives ends that look singular a second chance."""

    def __init__(
        self,
        equations: CriticalEquations,
        known: SolvedMember,
        wanted: Member,
        seed: int,
        tell: Shown = False,
        regular: Regular | None = None,
    ) -> None:
        self.equations, self.known, self.wanted = equations, known, wanted
        self.seed, self.tell, self.regular = seed, tell, regular
        self.family = family(equations, wanted.metrics)
        self.runs: list[Solutions] = []

    def follow(self, way: int) -> Settled | None:
        """All paths, straight at first; settled when none is lost, or as soon as two ways agree."""
        solutions = self._tracked(way)
        if solutions is None:
            return None
        solutions = _met(self.equations, solutions)
        if self.regular is not None:
            solutions = _regular_after_all(self.equations, solutions, self.regular)
        if solutions.finite.count == len(self.known.points):
            return self._settled(solutions)
        other = next((earlier for earlier in self.runs if _agree(solutions, earlier)), None)
        self.runs.append(solutions)
        ways = self._joined() if len(self.runs) > 1 else []
        if other is not None and ways[-1].finite.count == solutions.finite.count:
            return self._settled(solutions, other)
        whole = next((way for way in ways if _accounted(way) == len(self.known.points)), None)
        return None if whole is None else self._settled(whole)

    def unsettled(self) -> Settled:
        """The way with most regular ends, joined by those of all others."""
        return self._settled(max(self._joined(), key=lambda run: (run.finite.count, -run.failed.count)))

    def _settled(self, solutions: Solutions, other: Solutions | None = None) -> Settled:
        marks = self.equations.marks
        isolated = np.zeros(solutions.singular.count, bool)
        if other is not None:
            isolated = _found_again(marks(solutions.singular.points), marks(other.singular.points))
        return Settled(
            solutions.finite,
            solutions.singular,
            isolated,
            solutions.at_infinity.count,
            solutions.failed.count,
            self.known.completeness,
        )

    def _tracked(self, way: int) -> Solutions | None:
        """All paths to the wanted member; None when the random member in between was not reached."""
        start, goal = self.known.parameters, self.wanted.parameters
        try:
            return self._between(self.family, self.known.points, start, goal, way)
        except IncompleteChart:
            return None

    def _between(
        self, members: Family, points: Complex, start: Complex, goal: Complex, way: int
    ) -> Solutions:
        """All paths from these solutions of one member to another."""
        return solve_member(
            members,
            points,
            start.tolist(),
            goal.tolist(),
            rng=self.seed + way,
            detour=way > 0,
            on_incomplete="return",
            settings=SETTINGS,
            give_up=FEW,
            progress=self.tell,
        )

    def _joined(self) -> list[Solutions]:
        """Every way with the regular ends of all of them; those it lost and others found are no longer lost."""
        marks = self.equations.marks
        finite = self.runs[0].finite
        for other in self.runs[1:]:
            again = _found_again(marks(other.finite.points), marks(finite.points))
            fresh = [s for s, old in zip(other.finite, again, strict=True) if not old]
            finite = SolutionSet((*finite, *fresh), finite.n)
        return [_with_finite(run, finite) for run in self.runs]


def _with_finite(run: Solutions, finite: SolutionSet) -> Solutions:
    still = max(run.failed.count - (finite.count - run.finite.count), 0)
    return replace(run, finite=finite, failed=SolutionSet(tuple(run.failed)[:still], finite.n))


def _accounted(way: Solutions) -> int:
    """How many paths end at regular points or at infinity; 0 when some are singular, which needs a second look."""
    return 0 if way.singular.count else way.finite.count + way.at_infinity.count


def _regular_after_all(equations: CriticalEquations, solutions: Solutions, regular: Regular) -> Solutions:
    """Simple ends that looked singular in double precision, but are proved regular and new, join the finite ones."""
    simple = [s for s in solutions.singular if s.multiplicity == 1]
    if not simple:
        return solutions
    ends, proved = regular(np.array([s.point for s in simple]))
    fresh = ~_found_again(equations.marks(ends), equations.marks(solutions.finite.points))
    moved = {s.path: x for s, x, good in zip(simple, ends, proved & fresh, strict=True) if good}
    n = solutions.finite.n
    stay = tuple(s for s in solutions.singular if s.path not in moved)
    join = tuple(replace(s, point=moved[s.path]) for s in simple if s.path in moved)
    return replace(
        solutions, finite=SolutionSet((*solutions.finite, *join), n), singular=SolutionSet(stay, n)
    )


def _met(equations: CriticalEquations, solutions: Solutions) -> Solutions:
    """Regular ends that are images of one another are one end: all but one of the paths jumped there, and are lost."""
    finite = solutions.finite
    first, second = close_pairs(equations.marks(finite.points), np.full(finite.count, SAME / 2))
    jumped = {
        int(j)
        for i, j in zip(first.tolist(), second.tolist(), strict=True)
        if _found_again(finite[j].point[None], equations.orbit(finite[i].point))[0]
    }
    if not jumped:
        return solutions
    lost = [replace(finite[j], note="ended at an image of a solution of another path") for j in jumped]
    rest = tuple(end for k, end in enumerate(finite) if k not in jumped)
    return replace(
        solutions,
        finite=SolutionSet(rest, finite.n),
        failed=SolutionSet((*solutions.failed, *lost), finite.n),
    )


def _agree(first: Solutions, second: Solutions) -> bool:
    """Whether two ways round lost nothing and found the same numbers of regular and singular ends."""
    if first.failed.count or second.failed.count or first.finite.count != second.finite.count:
        return False
    return sum(first.singular.multiplicities) == sum(second.singular.multiplicities)


def _found_again(marks: Complex, others: Complex) -> NDArray[np.bool_]:
    """Which of the marks (or points) are, to the accuracy of a multiple root, among the others."""
    _, gaps = nearest(marks, others)
    return np.asarray(gaps <= AGREE * np.abs(marks).max(axis=1, initial=0.0))
