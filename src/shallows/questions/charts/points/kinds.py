"""What kind of critical point: judged in the problem's own function space (design: conventions on ranks).

Near a point of rank r the realisable tensors are its rank stratum and, when there are idle neurons, small rank-one
additions ±u^⊗d. A point is a minimum when the Hessian on the stratum is positive definite and no realisable addition
decreases the loss to first order, ℓ′(±u^⊗d) ≥ 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.model.problem import Problem
from shallows.support.checks import Array

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


def kinds(
    loss: Array,
    signature: NDArray[np.intp],
    room: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    slope: tuple[Array, Array],
    scale: float,
    global_loss: float | None,
) -> NDArray[np.str_]:
    """The kind of each point.

    `slope` are the smallest and the largest value of ℓ′(u^⊗d) over unit u; `global_loss` is the loss that a minimum
    must have to be called global (None when the infimum is not known to be attained and listed).
    """
    low, high = slope
    tolerance = 1e-9 * scale
    flat = np.maximum(np.abs(low), np.abs(high)) <= tolerance
    descends = (room[0] & (low < -tolerance)) | (room[1] & (high > tolerance))
    # a direction off the stratum along which the loss is flat to first order leaves the kind open
    touches = (room[0] & (np.abs(low) <= tolerance)) | (room[1] & (np.abs(high) <= tolerance))
    positive, zero, negative = signature.T
    result = np.full(len(loss), "local minimum", dtype="<U14")
    result[(zero > 0) | touches] = "degenerate"
    result[(negative > 0) | descends] = "saddle"
    top = (negative > 0) & (positive == 0) & (zero == 0) & ~room[0] & ~room[1]
    result[top] = "local maximum"
    result[flat] = "global minimum"
    if global_loss is not None:
        lowest = np.abs(loss - global_loss) <= 1e-9 * max(abs(global_loss), scale * 1e-3, 1e-300)
        result[(result == "local minimum") & lowest] = "global minimum"
    return result
