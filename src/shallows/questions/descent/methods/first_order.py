"""The loop that fixed-step methods share: let ended runs go, propose the next points, evaluate them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shallows.questions.descent.evaluate import Evaluate
from shallows.questions.descent.methods.control import Control, Recorder
from shallows.questions.descent.methods.front import Front
from shallows.questions.descent.results.run import Batch
from shallows.support.checks import Array

Propose = Callable[[Front], Array]
PATIENCE = 20_000
ROUNDING = 1e-12


class Patience:
    """Which runs are stuck in rounding: a gradient norm below 1e-12 E y² and no smaller one for 20,000 iterations.

    A large gradient that does not shrink is no stall: the run may be leaving a saddle.
    """

    def __init__(self, count: int) -> None:
        self.best, self.since = np.full(count, np.inf), np.zeros(count, dtype=np.int64)

    def stalled(self, front: Front) -> np.ndarray | None:
        """Look once in 500 iterations; None in between."""
        if front.iteration % 500:
            return None
        rows = front.rows
        better = front.norm < 0.99 * self.best[rows]
        self.best[rows] = np.minimum(self.best[rows], front.norm)
        self.since[rows[better]] = front.iteration
        tiny = front.norm <= ROUNDING * front.control.scale
        return np.asarray(tiny & (front.iteration - self.since[rows] >= PATIENCE))


def iterate(
    evaluate: Evaluate, batch: Batch, propose: Propose, control: Control, recorder: Recorder | None = None
) -> None:
    """θ ← propose(front) for all running rows, until each has a status."""
    with np.errstate(over="ignore", invalid="ignore"):
        front = Front(evaluate, batch, control, recorder or Recorder(None))
        patience = Patience(len(batch.thetas))
        while len(front):
            front.release(patience.stalled(front))
            if len(front):
                front.advance(propose(front))
