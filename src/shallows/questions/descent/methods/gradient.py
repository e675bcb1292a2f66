"""Gradient descent θ ← θ − s∇L(θ): with a fixed step, or with a line search in each run of a batch."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.solvers.rows import row_norms
from shallows.questions.descent._compiled.base import Compiled
from shallows.questions.descent.evaluate import Evaluate
from shallows.questions.descent.methods.running import Running, iterate
from shallows.questions.descent.results.run import Batch, Recorder
from shallows.questions.descent.stopping import Stopping
from shallows.questions.descent.thresholds import (
    DECREASE,
    FIRST_MOVE,
    GROWTH,
    RESOLUTION,
    SHORTEST_THETA,
    SHRINK,
    SMALLEST_STEP,
)  # fmt: skip
from shallows.support.checks import Array
from shallows.support.tolerances import TINY


def fixed_step(
    evaluate: Evaluate, batch: Batch, step: float, stopping: Stopping, recorder: Recorder | None = None
) -> None:
    """θ ← θ − s∇L(θ) with the same s for all."""
    if isinstance(evaluate, Compiled) and recorder is None:
        evaluate.descend(batch, step, stopping)
        return
    iterate(evaluate, batch, lambda running: running.theta - step * running.gradient, stopping, recorder)


def line_search(
    evaluate: Evaluate, batch: Batch, stopping: Stopping, recorder: Recorder | None = None
) -> None:
    """θ ← θ − s∇L(θ), each run with its own step: one evaluation an iteration.

    A step s is taken when L falls by at least s‖g‖²/2 (Armijo), or, where rounding hides the change of L, when the
    slope there satisfies g₊·g ≥ 0, which for a quadratic function is the same condition (Hager and Zhang's
    approximate Wolfe test). Both mean s ≤ 1/λ along g: no step goes past the bottom of a valley. A step
    taken grows by 1.25, one refused is halved; a run whose step falls below 1e-14 of its first one has stalled.
    """
    if isinstance(evaluate, Compiled) and recorder is None:
        evaluate.descend(batch, None, stopping)
        return
    with np.errstate(over="ignore", invalid="ignore"):
        running = Running(evaluate, batch, stopping, recorder or Recorder(None))
        if not len(running):
            return
        lengths = row_norms(running.theta)
        steps = FIRST_MOVE * (lengths + SHORTEST_THETA) / np.maximum(running.norm, TINY)
        smallest = SMALLEST_STEP * steps
        while len(running):
            kept = running.release(steps < smallest)
            if kept is not None:
                steps, smallest = steps[kept], smallest[kept]
            if len(running):
                steps = _try(running, steps)


def _try(running: Running, steps: Array) -> Array:
    """One trial for all runs; those refused stay where they are. Returns the next steps."""
    trial = running.theta - steps[:, None] * running.gradient
    loss, gradient = running.evaluate(trial)
    norm = row_norms(gradient)
    drop, needed = running.loss - loss, DECREASE * steps * running.norm**2
    slope = np.einsum("ij,ij->i", gradient, running.gradient)
    noise = RESOLUTION * (np.abs(running.loss) + running.stopping.scale)
    hidden = (needed < noise) & (drop > -noise)
    flat = hidden & (slope >= (2 * DECREASE - 1) * running.norm**2)
    taken = ((drop >= needed) | flat) & np.isfinite(norm)
    running.accept(taken, trial, loss, gradient, norm)
    return np.asarray(np.where(taken, GROWTH * steps, SHRINK * steps))
