"""Trust-region Newton-CG (Steihaug 1983) with exact Hessian products, one run at a time.

Negative curvature is followed to the boundary of the trust region, so saddles are left, not found.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.solvers.conjugate_gradients import End, conjugate_gradients
from shallows.model.problem import Problem
from shallows.questions.descent.results.run import Batch, Recorder, Status
from shallows.questions.descent.stopping import Stopping
from shallows.questions.descent.thresholds import FORCING, RESOLUTION
from shallows.support.checks import Array

#: The first trust region, as a share of 1 + ‖θ‖, and the share of it at which rounding stops progress.
FIRST_RADIUS, SMALLEST_RADIUS = 0.1, 1e-15
#: Actual over predicted decrease: above ACCEPTED a step is taken, below POOR the region shrinks, above GOOD it doubles
#: (Nocedal and Wright 2006, algorithm 4.1).
ACCEPTED, POOR, GOOD, SHRINK = 0.05, 0.25, 0.75, 0.25
#: Curvature below this share of the largest one met is rounding of exact Hessian products.
FLAT = 1e-14


def newton(problem: Problem, batch: Batch, stopping: Stopping, recorder: Recorder | None = None) -> None:
    """Minimise from each start by a trust-region Newton method."""
    for row in batch.running():
        _one(problem, batch, int(row), stopping, recorder if recorder and row == 0 else Recorder(None))


def _one(problem: Problem, batch: Batch, row: int, stopping: Stopping, recorder: Recorder) -> None:
    tolerance = float(np.broadcast_to(stopping.tolerance, len(batch.thetas))[row])
    theta = batch.thetas[row].copy()
    loss, gradient = problem.value_and_gradient(theta)
    radius = FIRST_RADIUS * (1 + float(np.linalg.norm(theta)))
    smallest = SMALLEST_RADIUS * radius
    for iteration in range(stopping.iterations + 1):
        norm = float(np.linalg.norm(gradient))
        recorder.note(iteration, theta, float(loss))
        status = _ended(float(loss), norm, tolerance, radius < smallest, iteration, stopping)
        if status is not Status.RUNNING:
            break
        step, predicted, at_edge = steihaug(problem, theta, gradient, radius)
        trial = theta + step
        trial_loss, trial_gradient = problem.value_and_gradient(trial)
        quality = _quality(float(loss - trial_loss), predicted, gradient, trial_gradient, step, stopping)
        if quality < POOR:
            radius *= SHRINK
        elif quality > GOOD and at_edge:
            radius *= 2
        if quality > ACCEPTED:
            theta, loss, gradient = trial, trial_loss, trial_gradient
    batch.thetas[row], batch.losses[row], batch.norms[row] = theta, loss, np.linalg.norm(gradient)
    batch.status[row] = status
    batch.iterations[row] += iteration
    recorder.note(iteration, theta, float(loss), always=True)


def _ended(
    loss: float, norm: float, tolerance: float, stuck: bool, iteration: int, stopping: Stopping
) -> Status:
    if not (np.isfinite(loss) and np.isfinite(norm)):
        return Status.DIVERGED
    if norm <= tolerance:
        return Status.CONVERGED
    if loss <= stopping.goal:
        return Status.GOAL
    if stopping.interrupted.is_set():
        return Status.INTERRUPTED
    if stuck:
        return Status.STALLED
    return Status.LIMIT if iteration >= stopping.iterations else Status.RUNNING


def _quality(
    drop: float, predicted: float, before: Array, after: Array, step: Array, stopping: Stopping
) -> float:
    """Actual over predicted decrease; where rounding hides it, the mean of the two slopes stands in for it."""
    if not np.isfinite(drop):
        return -1.0
    if predicted < RESOLUTION * stopping.scale:
        drop = -float((before + after) @ step) / 2
    return drop / predicted if predicted > 0 else -1.0


def steihaug(problem: Problem, theta: Array, gradient: Array, radius: float) -> tuple[Array, float, bool]:
    """The step, its predicted decrease −g·s − ½sᵀHs, and whether it ends on the boundary ‖s‖ = radius."""
    norm = float(np.linalg.norm(gradient))
    found = conjugate_gradients(
        lambda directions, _: problem.hessian_product(theta, directions[0])[None],
        -gradient[None],
        min(FORCING, float(np.sqrt(norm))) * norm,
        2 * len(gradient) + 5,
        flat=FLAT,
        radius=radius,
    )
    step, curved = found.x[0], -gradient - found.residual[0]  # s and Hs
    return step, -float(gradient @ step) - 0.5 * float(step @ curved), found.end[0] == End.EDGE
