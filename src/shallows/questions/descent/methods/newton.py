"""Trust-region Newton-CG (Steihaug 1983) with exact Hessian products, one run at a time.

Negative curvature is followed to the boundary of the trust region, so saddles are left, not found.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.solvers.conjugate_gradients import End, conjugate_gradients
from shallows.model.problem import Problem
from shallows.questions.descent.methods.control import Control, Recorder
from shallows.questions.descent.results.run import Batch, Status
from shallows.support.checks import Array

#: A predicted decrease below this share of E y² is hidden by rounding of the loss, which carries 1e-15 to 1e-13 of it.
RESOLUTION = 1e-12
#: Curvature below this share of the largest one met is rounding of exact Hessian products.
FLAT = 1e-14


def newton(problem: Problem, batch: Batch, control: Control, recorder: Recorder | None = None) -> None:
    """Minimise from each start by a trust-region Newton method."""
    for row in batch.running():
        _one(problem, batch, int(row), control, recorder if recorder and row == 0 else Recorder(None))


def _one(problem: Problem, batch: Batch, row: int, control: Control, recorder: Recorder) -> None:
    tolerance = float(np.broadcast_to(control.tolerance, len(batch.thetas))[row])
    theta = batch.thetas[row].copy()
    loss, gradient = problem.value_and_gradient(theta)
    radius = 0.1 * (1 + float(np.linalg.norm(theta)))
    smallest = 1e-15 * radius
    for iteration in range(control.iterations + 1):
        norm = float(np.linalg.norm(gradient))
        recorder.note(iteration, theta, float(loss))
        status = _ended(float(loss), norm, tolerance, radius < smallest, iteration, control)
        if status is not Status.RUNNING:
            break
        step, predicted, at_edge = steihaug(problem, theta, gradient, radius)
        trial = theta + step
        trial_loss, trial_gradient = problem.value_and_gradient(trial)
        quality = _quality(float(loss - trial_loss), predicted, gradient, trial_gradient, step, control)
        if quality < 0.25:
            radius *= 0.25
        elif quality > 0.75 and at_edge:
            radius *= 2
        if quality > 0.05:
            theta, loss, gradient = trial, trial_loss, trial_gradient
    batch.thetas[row], batch.losses[row], batch.norms[row] = theta, loss, np.linalg.norm(gradient)
    batch.status[row] = status
    batch.iterations[row] += iteration
    recorder.note(iteration, theta, float(loss), always=True)


def _ended(
    loss: float, norm: float, tolerance: float, stuck: bool, iteration: int, control: Control
) -> Status:
    if not (np.isfinite(loss) and np.isfinite(norm)):
        return Status.DIVERGED
    if norm <= tolerance:
        return Status.CONVERGED
    if loss <= control.goal:
        return Status.GOAL
    if control.interrupted.is_set():
        return Status.INTERRUPTED
    if stuck:
        return Status.STALLED
    return Status.LIMIT if iteration >= control.iterations else Status.RUNNING


def _quality(
    drop: float, predicted: float, before: Array, after: Array, step: Array, control: Control
) -> float:
    """Actual over predicted decrease; where rounding hides it, the mean of the two slopes stands in for it."""
    if not np.isfinite(drop):
        return -1.0
    if predicted < RESOLUTION * control.scale:
        drop = -float((before + after) @ step) / 2
    return drop / predicted if predicted > 0 else -1.0


def steihaug(problem: Problem, theta: Array, gradient: Array, radius: float) -> tuple[Array, float, bool]:
    """The step, its predicted decrease −g·s − ½sᵀHs, and whether it ends on the boundary ‖s‖ = radius."""
    norm = float(np.linalg.norm(gradient))
    found = conjugate_gradients(
        lambda directions, _: problem.hessian_product(theta, directions[0])[None],
        -gradient[None],
        min(0.1, float(np.sqrt(norm))) * norm,
        2 * len(gradient) + 5,
        flat=FLAT,
        radius=radius,
    )
    step, curved = found.x[0], -gradient - found.residual[0]  # s and Hs
    return step, -float(gradient @ step) - 0.5 * float(step @ curved), found.end[0] == End.EDGE
