"""Levenberg-Marquardt on losses that are sums of squares, all runs of a batch at once."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.solvers.levenberg_marquardt import LevenbergMarquardt
from shallows.mathematics.solvers.rows import row_norms
from shallows.model.problem import Problem
from shallows.questions.descent.methods.control import Control, Recorder
from shallows.questions.descent.methods.residuals import constant_of, residual_of
from shallows.questions.descent.results.run import Batch, Status
from shallows.support.checks import Array


def levenberg(problem: Problem, batch: Batch, control: Control, recorder: Recorder | None = None) -> None:
    """Minimise L = ‖r(θ)‖² + const from all starts; see `mathematics.solvers.levenberg_marquardt`."""
    rows, constant = batch.running(), constant_of(problem)
    recorder = recorder or Recorder(None)
    with np.errstate(over="ignore", invalid="ignore"):
        state, iteration = LevenbergMarquardt(residual_of(problem), batch.thetas[rows]), 0
        while len(rows):
            norm, loss = row_norms(state.gradient), state.squares() + constant
            if rows[0] == 0:
                recorder.note(iteration, state.theta[0], loss[0])
            status = _status(control, rows, state.stuck, loss, norm, iteration)
            gone = status != Status.RUNNING
            if gone.any():
                ended = rows[gone]
                batch.store(ended, state.theta[gone], loss[gone], norm[gone])
                batch.status[ended] = status[gone]
                batch.iterations[ended] += iteration
                if 0 in ended:
                    recorder.note(iteration, batch.thetas[0], batch.losses[0], always=True)
                rows = rows[~gone]
                state.keep(~gone)
            if len(rows):
                state.step(control.scale)
            iteration += 1


def _status(
    control: Control, rows: np.ndarray, stuck: np.ndarray, loss: Array, norm: Array, iteration: int
) -> np.ndarray:
    status = np.full(len(rows), int(Status.RUNNING))
    if iteration >= control.iterations:
        status[:] = Status.LIMIT
    if control.interrupted.is_set():
        status[:] = Status.INTERRUPTED
    status[stuck] = Status.STALLED
    status[loss <= control.goal] = Status.GOAL
    status[norm <= control.tolerance_of(rows)] = Status.CONVERGED
    status[~(np.isfinite(loss) & np.isfinite(norm))] = Status.DIVERGED
    return status
