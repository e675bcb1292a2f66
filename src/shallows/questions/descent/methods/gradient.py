"""Gradient descent θ ← θ − s∇L(θ): with a fixed step, or with a line search in each run of a batch."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.solvers.rows import row_norms
from shallows.questions.descent._compiled.problems import Compiled
from shallows.questions.descent.evaluate import Evaluate
from shallows.questions.descent.methods.control import Control, Recorder
from shallows.questions.descent.methods.first_order import iterate
from shallows.questions.descent.methods.front import Front
from shallows.questions.descent.results.run import Batch
from shallows.support.checks import Array

DECREASE = 0.5
GROWTH = 1.25
SHRINK = 0.5
SMALLEST_STEP = 1e-14
RESOLUTION = 1e-12


def fixed_step(
    evaluate: Evaluate, batch: Batch, step: float, control: Control, recorder: Recorder | None = None
) -> None:
    """θ ← θ − s∇L(θ) with the same s for all."""
    if isinstance(evaluate, Compiled) and recorder is None:
        evaluate.descend(batch, step, control)
        return
    iterate(evaluate, batch, lambda front: front.theta - step * front.gradient, control, recorder)


def line_search(evaluate: Evaluate, batch: Batch, control: Control, recorder: Recorder | None = None) -> None:
    """θ ← θ − s∇L(θ), each run with its own step: one evaluation an iteration.

    A step s is taken when L falls by at least s‖g‖²/2 (Armijo), or, where rounding hides the change of L, when the
    slope there satisfies g₊·g ≥ 0, which for a quadratic function is the same condition (Hager and Zhang's
    approximate Wolfe test). Both mean s ≤ 1/λ along g: no step goes past the bottom of a valley. A step
    taken grows by 1.25, one refused is halved; a run whose step falls below 1e-14 of its first one has stalled.
    """
    if isinstance(evaluate, Compiled) and recorder is None:
        evaluate.descend(batch, None, control)
        return
    with np.errstate(over="ignore", invalid="ignore"):
        front = Front(evaluate, batch, control, recorder or Recorder(None))
        if not len(front):
            return
        lengths = row_norms(front.theta)
        steps = 0.01 * (lengths + 1e-3) / np.maximum(front.norm, 1e-300)
        smallest = SMALLEST_STEP * steps
        while len(front):
            kept = front.release(steps < smallest)
            if kept is not None:
                steps, smallest = steps[kept], smallest[kept]
            if len(front):
                steps = _try(front, steps)


def _try(front: Front, steps: Array) -> Array:
    """One trial for all runs; those refused stay where they are. Returns the next steps."""
    trial = front.theta - steps[:, None] * front.gradient
    loss, gradient = front.evaluate(trial)
    norm = row_norms(gradient)
    drop, needed = front.loss - loss, DECREASE * steps * front.norm**2
    slope = np.einsum("ij,ij->i", gradient, front.gradient)
    noise = RESOLUTION * (np.abs(front.loss) + front.control.scale)
    hidden = (needed < noise) & (drop > -noise)
    flat = hidden & (slope >= (2 * DECREASE - 1) * front.norm**2)
    taken = ((drop >= needed) | flat) & np.isfinite(norm)
    front.accept(taken, trial, loss, gradient, norm)
    return np.asarray(np.where(taken, GROWTH * steps, SHRINK * steps))
