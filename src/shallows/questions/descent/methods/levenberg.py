"""Levenberg-Marquardt for a batch of runs: (JᵀJ + λI) δ = −Jᵀr, solved on the smaller side."""

from __future__ import annotations

import numpy as np

from shallows.model.problem import Problem
from shallows.questions.descent.methods.control import Control, Recorder
from shallows.questions.descent.methods.front import norms_of
from shallows.questions.descent.methods.residuals import Residual, constant_of, residual_of
from shallows.questions.descent.results.run import Batch, Status
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON, TINY

#: The first damping, as a share of the largest squared column of J (Madsen, Nielsen, Tingleff 2004, (3.14): τ = 1e-3).
FIRST_DAMPING = 1e-3
#: A predicted decrease below this share of E y² is hidden by rounding of the loss: gradients decide instead. Measured
#: losses carry errors of 1e-15 to 1e-13 of E y².
RESOLUTION = 1e-12


class _State:
    """Points, residuals, Jacobians and damping of the runs that go on."""

    names = ("rows", "theta", "r", "J", "gradient", "damping", "factor", "stuck")

    def __init__(self, residual: Residual, batch: Batch) -> None:
        self.rows = batch.running()
        self.theta = batch.thetas[self.rows]
        self.r, self.J = residual(self.theta)
        self.gradient = 2 * np.einsum("bri,br->bi", self.J, self.r)
        self.damping = FIRST_DAMPING * np.einsum("bri,bri->bi", self.J, self.J).max(axis=1) + TINY
        self.factor, self.stuck = np.full(len(self.rows), 2.0), np.zeros(len(self.rows), dtype=bool)

    def squares(self) -> Array:
        """‖r‖² of each run."""
        return np.asarray(np.sum(self.r**2, axis=1))

    def keep(self, mask: np.ndarray) -> None:
        """Drop runs that have ended."""
        for name in self.names:
            setattr(self, name, getattr(self, name)[mask])


def levenberg(problem: Problem, batch: Batch, control: Control, recorder: Recorder | None = None) -> None:
    """Minimise ‖r(θ)‖² from all starts at once; each run has its own λ (Nielsen's rule for its change).

    The gradient is 2Jᵀr. Steps are taken when the loss falls, or, where rounding hides that, when the gradient does.
    """
    residual, constant = residual_of(problem), constant_of(problem)
    recorder = recorder or Recorder(None)
    with np.errstate(over="ignore", invalid="ignore"):
        state, iteration = _State(residual, batch), 0
        while len(state.rows):
            norm, loss = norms_of(state.gradient), state.squares() + constant
            if state.rows[0] == 0:
                recorder.note(iteration, state.theta[0], loss[0])
            status = _status(control, state, loss, norm, iteration)
            gone = status != Status.RUNNING
            if gone.any():
                _end(batch, state, gone, loss, norm, status, iteration, recorder)
            if len(state.rows):
                _try(state, residual, control)
            iteration += 1


def _end(
    batch: Batch, state: _State, gone: np.ndarray, loss: Array, norm: Array, status: np.ndarray, iteration: int,
    recorder: Recorder,
) -> None:  # fmt: skip
    ended = state.rows[gone]
    batch.thetas[ended], batch.losses[ended], batch.norms[ended] = state.theta[gone], loss[gone], norm[gone]
    batch.status[ended] = status[gone]
    batch.iterations[ended] += iteration
    if 0 in ended:
        recorder.note(iteration, batch.thetas[0], batch.losses[0], always=True)
    state.keep(~gone)


def _try(state: _State, residual: Residual, control: Control) -> None:
    """One damped step for all runs; those refused stay, with more damping."""
    state.damping = np.maximum(state.damping, smallest_damping(state.J))
    step = solve_damped(state.J, state.r, state.damping)
    trial = state.theta + step
    state.stuck = np.all(trial == state.theta, axis=1)
    r, J = residual(trial)
    gradient = 2 * np.einsum("bri,br->bi", J, r)
    drop = state.squares() - np.sum(r**2, axis=1)
    predicted = np.einsum("bi,bi->b", step, state.damping[:, None] * step - state.gradient / 2)
    hidden = predicted < RESOLUTION * control.scale
    calmer = norms_of(gradient) <= norms_of(state.gradient)
    taken = np.where(hidden, calmer, drop > 0) & np.isfinite(drop)
    gain = np.where(hidden, 1.0, drop / np.maximum(predicted, TINY))
    shrink = np.maximum(1 / 3, 1 - (2 * np.clip(gain, 0, 1) - 1) ** 3)
    state.damping = state.damping * np.where(taken, shrink, state.factor)
    state.factor = np.where(taken, 2.0, 2 * state.factor)
    state.theta, state.r = np.where(taken[:, None], trial, state.theta), np.where(taken[:, None], r, state.r)
    state.J = np.where(taken[:, None, None], J, state.J)
    state.gradient = np.where(taken[:, None], gradient, state.gradient)


def smallest_damping(J: Array) -> Array:
    """(m + n) ε ‖J‖²_F for J of m rows and n columns: below it rounding may leave JJᵀ + λI singular.

    Forming JJᵀ or JᵀJ is exact up to max(m, n) ε/2 ‖J‖²_F (Higham 2002, (3.13)), and the solve is backward stable to
    about as much again.
    """
    m, n = J.shape[1:]
    return np.asarray((m + n) * EPSILON * np.einsum("bri,bri->b", J, J))


def solve_damped(J: Array, r: Array, damping: Array) -> Array:
    """−(JᵀJ + λI)⁻¹Jᵀr = −Jᵀ(JJᵀ + λI)⁻¹r, whichever matrix is smaller."""
    rows, columns = J.shape[1:]
    Jt = J.swapaxes(-1, -2)
    if columns <= rows:
        matrix = Jt @ J + damping[:, None, None] * np.eye(columns)
        return np.asarray(-np.linalg.solve(matrix, Jt @ r[..., None])[..., 0])
    matrix = J @ Jt + damping[:, None, None] * np.eye(rows)
    return np.asarray(-(Jt @ np.linalg.solve(matrix, r[..., None]))[..., 0])


def _status(control: Control, state: _State, loss: Array, norm: Array, iteration: int) -> np.ndarray:
    status = np.full(len(state.rows), int(Status.RUNNING))
    if iteration >= control.iterations:
        status[:] = Status.LIMIT
    if control.interrupted.is_set():
        status[:] = Status.INTERRUPTED
    status[state.stuck] = Status.STALLED
    status[loss <= control.goal] = Status.GOAL
    status[norm <= control.tolerance_of(state.rows)] = Status.CONVERGED
    status[~(np.isfinite(loss) & np.isfinite(norm))] = Status.DIVERGED
    return status
