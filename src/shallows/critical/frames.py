"""Tracking the rank-r equations in several frames: U = (I; Z) is large in some frames and harmless in others.

A path that comes close to infinity, or is badly conditioned, in one frame is not in another. All paths are tracked in
one frame after the other until every one is accounted for: the distinct finite ends of all frames, those at infinity
(the metric is then not generic) and the singular ones are together as many as there are paths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows._checks import Array
from shallows.critical.low_rank_family import Shape, frame_action
from shallows.critical.members import Complex, SolvedMember, family, pack, solved_generic
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


def run_in_frames(shape: Shape, gram: Array, g: Array, seed: int) -> FramedRun:
    """All solutions at (G, g), both of size about one."""
    known = solved_generic(shape)
    total = len(known.points)
    finite: list[Complex] = []
    frame = _frame(shape.n, seed, 0)
    best = _track(shape, known, gram, g, frame, seed)
    _collect(shape, finite, _turned(shape, best.finite.points, frame.T))
    for attempt in range(1, FRAMES):
        if best.failed.count == 0 or len(finite) + best.at_infinity.count + best.singular.count >= total:
            break
        turn = _frame(shape.n, seed, attempt)
        solutions = _track(shape, known, gram, g, turn, seed + attempt)
        _collect(shape, finite, _turned(shape, solutions.finite.points, turn.T))
        if solutions.failed.count < best.failed.count:
            best, frame = solutions, turn
    else:
        missing = total - len(finite) - best.at_infinity.count - best.singular.count
        raise IncompleteChart(
            f"{missing} of {total} paths were lost in each of {FRAMES} frames at rank {shape.r}. Fix: try another rng "
            f"(this was {seed})"
        )
    singular = _turned(shape, best.singular.points, frame.T)
    rows = np.array([_unknowns(shape, S) for S in finite]).reshape(len(finite), shape.unknowns)
    return FramedRun(rows, singular, best.at_infinity.count, known.completeness)


def _frame(n: int, seed: int, attempt: int) -> Array:
    if attempt == 0:
        return np.eye(n)
    return np.asarray(np.linalg.qr(np.random.default_rng([seed, attempt]).standard_normal((n, n)))[0])


def _track(shape: Shape, known: SolvedMember, gram: Array, g: Array, turn: Array, seed: int) -> Solutions:
    """The parameter homotopy with both ends, and the known solutions, in the frame `turn`."""
    action = frame_action(turn)
    size = shape.entries
    pairs = size * (size + 1) // 2
    start = np.zeros((size, size), np.complex128)
    start[np.triu_indices(size)] = known.parameters[:pairs]
    start = start + np.triu(start, 1).T
    begin = pack(action.T @ start @ action, action.T @ known.parameters[pairs:])
    return solve_member(
        family(shape),
        _turned(shape, known.points, turn),
        begin.tolist(),
        pack(action.T @ gram @ action, action.T @ g).tolist(),
        rng=seed,
        detour=False,
        on_incomplete="return",
    )


def _turned(shape: Shape, points: Complex, turn: Array) -> Complex:
    """The unknowns of Rᵀ S R."""
    moved = [_unknowns(shape, turn.T @ shape.matrix(x) @ turn) for x in points]
    return np.array(moved).reshape(len(points), shape.unknowns)


def _unknowns(shape: Shape, S: Complex) -> Complex:
    """A and Z from S = (I; Z) A (I; Z)ᵀ."""
    r = shape.r
    A = S[:r, :r]
    Z = np.linalg.solve(A, S[r:, :r].T).T
    return np.concatenate([A[np.triu_indices(r)], Z.ravel()])


def _collect(shape: Shape, known: list[Complex], points: Complex) -> None:
    """Add the matrices that are not there yet."""
    for x in points:
        S = shape.matrix(x)
        size = float(np.max(np.abs(S)))
        if all(np.max(np.abs(S - other)) > SAME * size for other in known):
            known.append(S)
