"""What compiled loops decide about a run: whether a step is taken and whether the run ends. The slow twins are in
`methods.running` and `methods.gradient`."""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.model.kernels._compiled.kinds import BOOL, FLOAT, INT, VOID
from shallows.questions.descent._compiled.runs import RUNS
from shallows.questions.descent.thresholds import (
    CHECK,
    CONVERGED,
    DECREASE,
    DIVERGED,
    GOAL,
    GOING,
    INTERRUPTED,
    LIMIT,
    NEW_LOW,
    PATIENCE,
    RESOLUTION,
    ROUNDING,
)  # fmt: skip
from shallows.support.compiling import several, unit


@unit(INT(RUNS, INT, FLOAT, FLOAT, INT), rare=True)
def verdict(runs: Any, row: int, loss: float, norm: float, iteration: int) -> int:
    """The status of a run at its present point; GOING when it goes on."""
    if not (np.isfinite(loss) and np.isfinite(norm)):
        return DIVERGED
    if norm <= runs.tolerances[row]:
        return CONVERGED
    if loss <= runs.goal:
        return GOAL
    if runs.flag[0] != 0:
        return INTERRUPTED
    return LIMIT if iteration >= runs.limits[row] else GOING


@unit(VOID(RUNS, INT, INT, FLOAT, FLOAT, INT), rare=True)
def conclude(runs: Any, row: int, code: int, loss: float, norm: float, iterations: int) -> None:
    """Write down where a run ended, and how."""
    runs.losses[row], runs.norms[row], runs.status[row] = loss, norm, code
    runs.iterations[row] += iterations


@unit(several(BOOL, INT, FLOAT)(FLOAT, INT, INT, FLOAT, FLOAT), rare=True)
def patience(norm: float, iteration: int, since: int, best: float, scale: float) -> tuple[bool, int, float]:
    """Whether a run with a fixed step is stuck in rounding, since when its gradient had no new low, and that low."""
    if iteration % CHECK == 0:
        if norm < NEW_LOW * best:
            return False, iteration, norm
        if iteration - since >= PATIENCE and norm <= ROUNDING * scale:
            return True, since, best
    return False, since, best


@unit(BOOL(FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT))
def falls(loss: float, norm: float, step: float, value: float, slope: float, scale: float) -> bool:
    """The test of `gradient.line_search`: Armijo, or the slope where rounding hides the change of the loss."""
    drop, needed = loss - value, DECREASE * step * norm * norm
    noise = RESOLUTION * (abs(loss) + scale)
    if drop >= needed:
        return True
    return needed < noise and drop > -noise and slope >= (2 * DECREASE - 1) * norm * norm
