"""Levenberg-Marquardt on losses that are sums of squares, all runs of a batch at once."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.solvers.levenberg_marquardt import LevenbergMarquardt
from shallows.mathematics.solvers.rows import row_norms
from shallows.model.problem import Problem
from shallows.questions.descent.methods.residuals import constant_of, residual_of
from shallows.questions.descent.results.run import Batch, Recorder, Status
from shallows.questions.descent.stopping import Stopping
from shallows.support.checks import Array


def levenberg(problem: Problem, batch: Batch, stopping: Stopping, recorder: Recorder | None = None) -> None:
    """Minimise L = ‖r(θ)‖² + const from all starts; see `mathematics.solvers.levenberg_marquardt`."""
    rows, constant = batch.running(), constant_of(problem)
    recorder = recorder or Recorder(None)
    with np.errstate(over="ignore", invalid="ignore"):
        state, iteration = LevenbergMarquardt(residual_of(problem), batch.thetas[rows]), 0
        while len(rows):
            norm, loss = row_norms(state.gradient), state.squares() + constant
            if rows[0] == 0:
                recorder.note(iteration, state.theta[0], loss[0])
            status = _status(stopping, rows, state.stuck, loss, norm, iteration)
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
                state.step(stopping.scale)
            iteration += 1


def _status(
    stopping: Stopping, rows: np.ndarray, stuck: np.ndarray, loss: Array, norm: Array, iteration: int
) -> np.ndarray:
    status = np.full(len(rows), int(Status.RUNNING))
    if iteration >= stopping.iterations:
        status[:] = Status.LIMIT
    if stopping.interrupted.is_set():
        status[:] = Status.INTERRUPTED
    status[stuck] = Status.STALLED
    status[loss <= stopping.goal] = Status.GOAL
    status[norm <= stopping.tolerance_of(rows)] = Status.CONVERGED
    status[~(np.isfinite(loss) & np.isfinite(norm))] = Status.DIVERGED
    return status
