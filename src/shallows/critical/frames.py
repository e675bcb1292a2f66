"""Tracking the rank-r equations in several frames: U = (I; Z) is large in some frames and harmless in others.

A path that comes close to infinity, or is badly conditioned, in one frame is not in another. All paths are tracked in
one frame after the other until every one is accounted for: the distinct finite ends of all frames, those at infinity
(the metric is then not generic) and the singular ones are together as many as there are paths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows._checks import Array
from shallows.critical.low_rank_family import Shape, frame_action
from shallows.critical.members import Complex, SolvedMember, Tell, family, pack, silently, solved_generic
from shallows.errors import IncompleteChart
from shallows.homotopy import Solutions, solve_member

FRAMES = 12
SAME = 1e-7


@dataclass(frozen=True)
class FramedRun:
    """Finite and singular solutions in the first frame, one a row, and how complete they are."""

    finite: Complex
    singular: Complex
    at_infinity: int
    completeness: str


class Ledger:
    """What the paths of all frames ended at, in the first frame's coordinates."""

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
        self.singular += list(_turned(self.shape, ends, turn.T))
        self.degenerate += sum(s.multiplicity for s in singular)
        self.infinite += solutions.at_infinity.count if confirmed else 0

    @property
    def accounted(self) -> int:
        """How many paths have an end."""
        return len(self.finite) + self.degenerate + self.infinite


def run_in_frames(shape: Shape, gram: Array, g: Array, seed: int, tell: Tell = silently) -> FramedRun:
    """All solutions at (G, g), both of size about one: lost paths are tracked again, in the next frame."""
    known = solved_generic(shape, tell=tell)
    total = len(known.points)
    ledger = Ledger(shape)
    waiting = np.arange(total)
    for attempt in range(FRAMES):
        turn = _frame(shape.n, seed, attempt)
        solutions = _track(shape, known, waiting, (gram, g), turn, seed + attempt, tell)
        ledger.add(solutions, turn, confirmed=attempt > 0)
        again = [*solutions.failed]
        if attempt == 0:
            again += [s for s in solutions.singular if s.multiplicity == 1] + [*solutions.at_infinity]
        waiting = waiting[[solution.path for solution in again]]
        if ledger.accounted >= total:
            break
        if not len(waiting):  # two paths met at one end: one of them jumped, so all are tracked again
            ledger.singular.clear()
            ledger.infinite = ledger.degenerate = 0
            waiting = np.arange(total)
    else:
        raise IncompleteChart(
            f"{total - ledger.accounted} of {total} paths were lost in each of {FRAMES} frames at rank {shape.r}. Fix: "
            f"try another rng (this was {seed})"
        )
    finite = shape.unknowns_of(np.array(ledger.finite).reshape(-1, shape.n, shape.n))
    singular = np.array(ledger.singular).reshape(-1, shape.unknowns)
    return FramedRun(finite, singular, ledger.infinite, known.completeness)


def _frame(n: int, seed: int, attempt: int) -> Array:
    if attempt == 0:
        return np.eye(n)
    return np.asarray(np.linalg.qr(np.random.default_rng([seed, attempt]).standard_normal((n, n)))[0])


def _track(
    shape: Shape,
    known: SolvedMember,
    rows: NDArray[np.intp],
    member: tuple[Array, Array],
    turn: Array,
    seed: int,
    tell: Tell,
) -> Solutions:
    """The parameter homotopy of some paths with both ends, and the known solutions, in the frame `turn`."""
    gram, g = member
    action = frame_action(turn)
    size = shape.entries
    pairs = size * (size + 1) // 2
    start = np.zeros((size, size), np.complex128)
    start[np.triu_indices(size)] = known.parameters[:pairs]
    start = start + np.triu(start, 1).T
    begin = pack(action.T @ start @ action, action.T @ known.parameters[pairs:])
    return solve_member(
        family(shape),
        _turned(shape, known.points[rows], turn),
        begin.tolist(),
        pack(action.T @ gram @ action, action.T @ g).tolist(),
        rng=seed,
        detour=False,
        on_incomplete="return",
        progress=tell,
    )


def _turned(shape: Shape, points: Complex, turn: Array) -> Complex:
    """The unknowns of Rᵀ S R, a row a point."""
    return shape.unknowns_of(turn.T @ shape.matrices(points) @ turn)
