"""Levenberg-Marquardt for a batch of runs: (JᵀJ + λI) δ = −Jᵀr, solved on the smaller side."""

from __future__ import annotations

import numpy as np

from shallows._checks import Array
from shallows.descent.control import Control, Recorder
from shallows.descent.front import norms_of
from shallows.descent.residuals import residual_of
from shallows.descent.run import Batch, Status
from shallows.problem import Problem

LARGEST = 1e16


def levenberg(problem: Problem, batch: Batch, control: Control, recorder: Recorder | None = None) -> None:
    """Minimise ‖r(θ)‖² from all starts at once; each run has its own λ (Nielsen's rule for its change).

    The gradient is 2Jᵀr. Steps are taken when the loss falls, or, where rounding hides that, when the gradient does.
    """
    residual = residual_of(problem)
    recorder = recorder or Recorder(None)
    rows = batch.running()
    theta = batch.thetas[rows]
    r, J = residual(theta)
    gradient = 2 * np.einsum("bri,br->bi", J, r)
    damping = 1e-3 * np.einsum("bri,bri->bi", J, J).max(axis=1) + 1e-300
    floor = 1e-16 * damping
    factor = np.full(len(rows), 2.0)
    constant = problem.value(theta) - np.sum(r**2, axis=1)
    for iteration in range(control.iterations + 1):
        norm = norms_of(gradient)
        loss = np.sum(r**2, axis=1) + constant
        if len(rows) and rows[0] == 0:
            recorder.note(iteration, theta[0], loss[0])
        status = _status(control, rows, loss, norm, damping, iteration)
        gone = status != Status.RUNNING
        if gone.any():
            ended = rows[gone]
            batch.thetas[ended], batch.losses[ended], batch.norms[ended] = theta[gone], loss[gone], norm[gone]
            batch.status[ended] = status[gone]
            batch.iterations[ended] += iteration
            if 0 in ended:
                recorder.note(iteration, batch.thetas[0], batch.losses[0], always=True)
            keep = ~gone
            rows, theta, r, J, gradient = rows[keep], theta[keep], r[keep], J[keep], gradient[keep]
            damping, floor, factor, constant = damping[keep], floor[keep], factor[keep], constant[keep]
        if not len(rows):
            return
        step = solve_damped(J, r, damping)
        trial = theta + step
        trial_r, trial_J = residual(trial)
        trial_gradient = 2 * np.einsum("bri,br->bi", trial_J, trial_r)
        drop = np.sum(r**2, axis=1) - np.sum(trial_r**2, axis=1)
        predicted = np.einsum("bi,bi->b", step, damping[:, None] * step - gradient / 2)
        hidden = predicted < 1e-12 * control.scale
        calmer = norms_of(trial_gradient) <= norms_of(gradient)
        taken = np.where(hidden, calmer, drop > 0) & np.isfinite(drop)
        gain = np.where(hidden, 1.0, drop / np.maximum(predicted, 1e-300))
        shrink = np.maximum(1 / 3, 1 - (2 * np.clip(gain, 0, 1) - 1) ** 3)
        damping = np.where(taken, np.maximum(damping * shrink, floor), damping * factor)
        factor = np.where(taken, 2.0, 2 * factor)
        theta, r = np.where(taken[:, None], trial, theta), np.where(taken[:, None], trial_r, r)
        J = np.where(taken[:, None, None], trial_J, J)
        gradient = np.where(taken[:, None], trial_gradient, gradient)


def solve_damped(J: Array, r: Array, damping: Array) -> Array:
    """−(JᵀJ + λI)⁻¹Jᵀr = −Jᵀ(JJᵀ + λI)⁻¹r, whichever matrix is smaller."""
    rows, columns = J.shape[1:]
    Jt = J.swapaxes(-1, -2)
    if columns <= rows:
        matrix = Jt @ J + damping[:, None, None] * np.eye(columns)
        return np.asarray(-np.linalg.solve(matrix, Jt @ r[..., None])[..., 0])
    matrix = J @ Jt + damping[:, None, None] * np.eye(rows)
    return np.asarray(-(Jt @ np.linalg.solve(matrix, r[..., None]))[..., 0])


def _status(
    control: Control, rows: np.ndarray, loss: Array, norm: Array, damping: Array, iteration: int
) -> np.ndarray:
    status = np.full(len(rows), int(Status.RUNNING))
    if iteration >= control.iterations:
        status[:] = Status.LIMIT
    if control.interrupted.is_set():
        status[:] = Status.INTERRUPTED
    status[damping > LARGEST] = Status.STALLED
    status[loss <= control.goal] = Status.GOAL
    status[norm <= control.tolerance_of(rows)] = Status.CONVERGED
    return status
