"""What kind of critical point: judged in the problem's own function space (design: conventions on ranks).

Near a point of rank r the realisable tensors are its rank stratum and, when there are idle neurons, small rank-one
additions ±u^⊗d. A point is a minimum when the Hessian on the stratum is positive definite and no realisable addition
decreases the loss to first order, ℓ′(±u^⊗d) ≥ 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.signature import signature
from shallows.model.problem import Problem
from shallows.questions.charts.points.rows import FoundRow
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import EPSILON, SAME_LOSS

#: How many roundings of ‖t‖ the distance ‖s − t‖ is off by: sums over a few dozen entries.
ROUNDINGS = 64
#: Losses of proved points, and those in closed form, that agree to this share are one: rounding of a few sums.
PROVED_LOSS = 1e-12
#: Losses are told apart to nine digits of ‖t‖², and their differences must not underflow (below 2e-308).
SMALLEST_ENERGY = 1e-299
#: Kinds that the lowest of all points may have, as far as its Hessian and its slopes can tell.
NO_DESCENT = ("local minimum", "degenerate")
KINDS = ("global minimum", "local minimum", "saddle", "local maximum", "degenerate")


@dataclass(frozen=True)
class Signs:
    """How many neurons may carry a positive and a negative outer weight; `total` at most at once."""

    positive: int
    negative: int
    total: int

    @classmethod
    def of(cls, problem: Problem) -> Signs:
        """From the problem's outer weights; for odd degrees a sign moves into the neuron."""
        width = problem.width
        if problem.outer is None:
            return cls(width, width, width)
        a = problem.outer[0]
        used = int(np.count_nonzero(a))
        if problem.degree % 2:
            return cls(used, used, used)
        return cls(int(np.sum(a > 0)), int(np.sum(a < 0)), used)

    def realisable(self, positive: NDArray[np.intp], negative: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether tensors with that many positive and negative terms fit."""
        fits = (positive <= self.positive) & (negative <= self.negative)
        return np.asarray(fits & (positive + negative <= self.total))

    def room(
        self, positive: NDArray[np.intp], negative: NDArray[np.intp]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether a further positive, or negative, neuron is idle."""
        some = positive + negative < self.total
        return np.asarray(some & (positive < self.positive)), np.asarray(some & (negative < self.negative))


@dataclass(frozen=True, eq=False)
class Levels:
    """Losses above the floor and what they are measured by; two of them are the same when their roots are, to rounding.

    `excess` = ‖s − t‖²: its root is off by rounding of s and t, a few units of ‖t‖ = √energy, however small it is; and
    by the `share` of it to which points are known: a proved point, off by r, has its loss to r² (it is critical).
    """

    excess: Array
    energy: float
    share: Array | float = SAME_LOSS

    def __getitem__(self, rows: NDArray[np.intp]) -> Levels:
        """The levels of these rows."""
        share = np.broadcast_to(self.share, self.excess.shape)[rows]
        return Levels(self.excess[rows], self.energy, share)

    def same(self, value: float) -> NDArray[np.bool_]:
        """Which levels are this one."""
        roots, root = np.sqrt(np.maximum(self.excess, 0.0)), float(np.sqrt(max(value, 0.0)))
        room = self.share * np.maximum(roots, root) + ROUNDINGS * EPSILON * float(np.sqrt(self.energy))
        return np.asarray(np.abs(roots - root) <= room)


def require_doubles(problem: Problem, gram: Array) -> float:
    """‖t‖², refused where it is more, or less, than a double holds: losses would be infinite, or all the same."""
    target = problem.target_tensor().entries
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        energy = float(target @ gram @ target)
    if np.isfinite(energy) and (energy > SMALLEST_ENERGY or not target.any()):
        return energy
    size = float(np.abs(target).max())
    raise InvalidProblem(
        f"The target's entries reach {size:.3g}, and squares of them are more or less than a double holds. Fix: "
        "measure the target in other units."
    )


def kind_at(seen: tuple[int, int, int], moves: int = 0, turns: int = 0) -> str:
    """What a signature says of a critical point: `moves` of its zeros are those of the family that the point stands
    for, `turns` those of symmetries that change no function."""
    positive, zero, negative = seen
    if negative:
        return "saddle" if positive or zero > turns else "local maximum"
    return "degenerate" if zero > moves + turns else "local minimum"


def hessian_kind(hessian: Array, moves: int = 0, turns: int = 0) -> str:
    """The same of a Hessian."""
    return kind_at(signature(np.linalg.eigvalsh(hessian), POINT_ERROR), moves, turns)


def kinds_of(
    levels: Levels,
    rows: Sequence[FoundRow],
    judge: Callable[[FoundRow], str],
    closed: bool,
    among: tuple[str, ...] = NO_DESCENT,
) -> NDArray[np.str_]:
    """The kind of each row, known or by `judge`; the lowest `among` these kinds is global in a closed list."""
    low = levels.same(0.0)
    kind = np.array(
        ["global minimum" if own else row.kind or judge(row) for row, own in zip(rows, low, strict=True)],
        dtype="<U14",
    )
    if closed and len(kind):
        kind[np.isin(kind, among) & levels.same(float(np.min(levels.excess)))] = "global minimum"
    return kind


def kinds(
    levels: Levels,
    seen: NDArray[np.intp],
    dimension: NDArray[np.intp],
    room: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    slope: tuple[Array, Array],
    tolerance: Array | float,
    closed: bool,
    inward: Array | None = None,
) -> NDArray[np.str_]:
    """The kind of each point or family.

    `slope` are the smallest and the largest value of ℓ′(u^⊗d) over unit u, known to within `tolerance`; `dimension` of
    the zeros in a signature are a family's own directions. `inward` is the slope into the networks at a limit, where
    they have a boundary (`inward`), and ∞ elsewhere. `closed` says that the infimum is known to be among the levels:
    what has the lowest one is a global minimum, whatever its signature leaves open.
    """
    low, high = slope
    flat = np.maximum(np.abs(low), np.abs(high)) <= tolerance
    descends = (room[0] & (low < -tolerance)) | (room[1] & (high > tolerance))
    # a direction off the stratum along which the loss is flat to first order leaves the kind open
    touches = (room[0] & (np.abs(low) <= tolerance)) | (room[1] & (np.abs(high) <= tolerance))
    inward = np.full(len(seen), np.inf) if inward is None else inward
    # at a limit w^(d−1)v, ℓ′((w ± εv)^d) = ± ε³ inward: an idle neuron of either sign descends
    idle = (room[0] | room[1]) & np.isfinite(inward) & (inward > tolerance)
    descends |= idle | (inward < -tolerance)
    touches |= np.abs(inward) <= tolerance
    positive, zero, negative = seen.T
    result = np.full(len(zero), "local minimum", dtype="<U14")
    result[(zero > dimension) | touches] = "degenerate"
    result[(negative > 0) | descends] = "saddle"
    top = (negative > 0) & (positive == 0) & (zero == 0) & ~room[0] & ~room[1]
    result[top] = "local maximum"
    result[flat] = "global minimum"
    if closed:
        lowest = levels.same(float(np.min(levels.excess)))
        result[np.isin(result, NO_DESCENT) & lowest] = "global minimum"
    return result
