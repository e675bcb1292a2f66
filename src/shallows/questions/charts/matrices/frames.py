"""Tracking the rank-r equations in several frames: U = (I; Z) is large in some frames and harmless in others.

A path that comes close to infinity, or is badly conditioned, in one frame is not in another. All paths are tracked in
one frame after the other until every one is accounted for: the distinct finite ends of all frames, those at infinity
(the metric is then not generic) and the singular ones are together as many as there are paths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.parameter import random_parameters, solve_member
from shallows.mathematics.homotopy.paths import TrackerSettings, track
from shallows.mathematics.homotopy.solutions import Solutions
from shallows.questions.charts.continuation.members import (
    Complex,
    Member,
    SolvedMember,
    Tell,
    family,
    silently,
    solved_generic,
)
from shallows.questions.charts.continuation.metrics import Turned
from shallows.questions.charts.matrices.family import Shape, frame_action
from shallows.support.checks import Array
from shallows.support.errors import IncompleteChart

FRAMES, WAYS = 8, 4
SAME = 1e-7


@dataclass(frozen=True)
class FramedRun:
    """Finite and singular solutions in the first frame, one a row, and how complete they are."""

    finite: Complex
    singular: Complex
    at_infinity: int
    completeness: str


class Ledger:
    """What the paths of all frames ended at, as matrices S in the member's coordinates."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.finite: list[Complex] = []
        self.singular: list[Complex] = []
        self.infinite = self.degenerate = 0

    def add(self, solutions: Solutions, turn: Array, confirmed: bool) -> None:
        """Enter the (distinct) ends of one frame; finite ones known from other frames are not entered again.

        Ends at infinity and simple singular ones count only when they are `confirmed`, by coming out so again.
        """
        known = np.array(self.finite).reshape(-1, self.shape.n, self.shape.n)
        for S in turn @ self.shape.matrices(solutions.finite.points) @ turn.T:
            apart = np.max(np.abs(known - S), axis=(1, 2), initial=0.0)
            if not len(known) or np.min(apart) > SAME * float(np.max(np.abs(S))):
                self.finite.append(S)
        singular = [s for s in solutions.singular if confirmed or s.multiplicity > 1]
        ends = np.array([s.point for s in singular]).reshape(len(singular), self.shape.unknowns)
        self.singular += list(turn @ self.shape.matrices(ends) @ turn.T)
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


def run_in_frames(shape: Shape, member: Member, first: Array, seed: int, tell: Tell = silently) -> FramedRun:
    """All solutions of a member, in the orthogonal frame `first`: lost paths are tracked again, in the next frame.

    A path that comes too close to infinity in every frame calls for another way: all are tracked from elsewhere.
    """
    known = solved_generic(shape, member.special, tell=tell)
    ledger = Ledger(shape)
    for way in range(WAYS):
        start = known if way == 0 else _elsewhere(shape, member, known, seed + way, tell)
        if start is not None and _one_way(ledger, start, member, first, seed + FRAMES * way, tell):
            break
    else:
        total = len(known.points)
        raise IncompleteChart(
            f"{total - ledger.accounted} of {total} paths were lost in each of {FRAMES} frames, {WAYS} ways, at rank "
            f"{shape.r}. Fix: try another rng (this was {seed})"
        )
    finite = _turned(shape, np.array(ledger.finite).reshape(-1, shape.n, shape.n), first)
    singular = _turned(shape, np.array(ledger.singular).reshape(-1, shape.n, shape.n), first)
    return FramedRun(finite, singular, ledger.infinite, known.completeness)


def _one_way(
    ledger: Ledger, start: SolvedMember, member: Member, first: Array, seed: int, tell: Tell
) -> bool:
    """Enter the ends of all paths from one solved member, frame by frame; whether every one has an end."""
    shape, total = ledger.shape, len(start.points)
    ledger.forget()
    waiting = np.arange(total)
    for attempt in range(FRAMES):
        turn = first if attempt == 0 else _frame(shape.n, seed, attempt)
        solutions = _track(shape, start, waiting, member, turn, seed + attempt, tell)
        ledger.add(solutions, turn, confirmed=attempt > 0)
        again = [*solutions.failed]
        if attempt == 0:
            again += [s for s in solutions.singular if s.multiplicity == 1] + [*solutions.at_infinity]
        waiting = waiting[[solution.path for solution in again]]
        if ledger.accounted >= total:
            return True
        if not len(waiting):  # two paths met at one end: one of them jumped, so all are tracked again
            ledger.forget()
            waiting = np.arange(total)
    return False


def _elsewhere(
    shape: Shape, member: Member, known: SolvedMember, seed: int, tell: Tell
) -> SolvedMember | None:
    """The solutions at another random member of the same kind of metrics; None when a path to it was lost."""
    members = family(shape, member.metrics)
    rng = np.random.default_rng([seed, len(known.points)])
    other = random_parameters(members, rng, float(np.abs(known.parameters).max()))
    segment = members.segment(known.parameters, other)
    paths = track(segment, known.points, TrackerSettings().tighter(), endgame=False, progress=tell)
    if (paths.status != 0).any():
        return None
    return SolvedMember(other, paths.ends, known.completeness)


def _frame(n: int, seed: int, attempt: int) -> Array:
    return np.asarray(np.linalg.qr(np.random.default_rng([seed, attempt]).standard_normal((n, n)))[0])


def _track(
    shape: Shape,
    known: SolvedMember,
    rows: NDArray[np.intp],
    member: Member,
    turn: Array,
    seed: int,
    tell: Tell,
) -> Solutions:
    """The parameter homotopy of some paths with both ends, and the known solutions, in the frame `turn`."""
    action = frame_action(turn)
    split = member.metrics.parameters

    def turned(parameters: Complex) -> list[complex]:
        return list(np.concatenate([parameters[:split], action.T @ parameters[split:]]))

    return solve_member(
        family(shape, Turned(member.metrics, action)),
        _turned(shape, shape.matrices(known.points[rows]), turn),
        turned(known.parameters),
        turned(member.parameters),
        rng=seed,
        detour=False,
        on_incomplete="return",
        progress=tell,
    )


def _turned(shape: Shape, matrices: Complex, turn: Array) -> Complex:
    """The unknowns of Rᵀ S R, a row a matrix."""
    return shape.unknowns_of(turn.T @ matrices @ turn)
