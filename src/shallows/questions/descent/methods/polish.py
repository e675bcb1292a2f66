"""Polishing: descent to a small gradient, then matrix-free Newton-CG where that stays in the same basin.

Plain descent decides the basin; Newton-CG only finishes. For ReLU networks no wider than their teacher, descent goes on
by long accurate steps along the gradient flow (`_compiled.relu_flow`) once ‖g‖ ≤ 0.05, where its own steps only creep.
From ‖g‖ ≤ 1e-3 (times min(1, ‖g₀‖)) a run is handed to Newton-CG. It goes back, to a tenth of the last level, when

- a direction of negative curvature turns up in CG, or in a Lanczos run at the end point (descent leaves saddles),
- a Newton step does not halve the gradient norm, or
- the point moves by more than a quarter of its length.

Hessian products are central differences of the batch's gradients, (∇L(θ+hp) − ∇L(θ−hp)) / 2h: exact to about 1e-9,
which is ample for an inexact Newton step, and as fast as the fused loops are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shallows.mathematics.solvers.conjugate_gradients import Precondition, conjugate_gradients
from shallows.mathematics.solvers.rows import row_norms
from shallows.model.activations import ReLU
from shallows.model.problem import Problem
from shallows.questions.descent._compiled.relu import CompiledReLU
from shallows.questions.descent.evaluate import Evaluate
from shallows.questions.descent.results.run import Batch, Status
from shallows.questions.descent.stopping import Stopping
from shallows.questions.descent.thresholds import (
    CG_STEPS,
    EXHAUSTED,
    FARTHEST,
    FLAT,
    FORCING,
    HALVING,
    LANCZOS_STEPS,
    NEWTON_STEPS,
    SADDLE,
    SHORTEST_THETA,
)  # fmt: skip
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON, TINY

Descent = Callable[[Batch, Stopping], None]

#: The gradient norm (times min(1, ‖g₀‖)) at which Newton-CG is first tried. Measured for ReLU: it then ends where
#: descent does in 500 of 500 runs at k = 6, 10 and 20. After a failure, a tenth of it.
FIRST_LEVEL, NEXT_LEVEL = 1e-3, 0.1
#: The gradient norm at which a ReLU descent is over its transient and long steps along the flow begin.
TRANSIENT = 0.05
#: The accuracy of steps along the flow: while the basin is decided, and near a critical point.
ACCURATE, ROUGH = 0.15, 0.4
#: Wide networks have a longer way past more saddles: accuracy 0.5/√width.
LONG_WAY = 0.5
#: The step of central differences, relative to ‖θ‖: near the cube root of ε, where truncation and rounding balance.
DIFFERENCE = 1e-5
#: Gradients carry rounding of a few ε of E y² in each entry.
ROUNDINGS = 32


def preconditioner(problem: Problem) -> Precondition | None:
    """4(I − 11ᵀ/(k+1)) across the k neurons, near the inverse Hessian of ReLU problems with fixed outer weights."""
    if not isinstance(problem.activation, ReLU) or problem.outer is None or problem.norm_neuron:
        return None
    k, n = problem.width, problem.n

    def apply(vectors: Array) -> Array:
        rows = vectors.reshape(len(vectors), k, n)
        mean = np.sum(rows, axis=1, keepdims=True) / (k + 1)
        return np.asarray(4 * (rows - mean)).reshape(len(vectors), k * n)

    return apply


def descend_and_polish(
    evaluate: Evaluate, batch: Batch, descent: Descent, stopping: Stopping, precondition: Precondition | None
) -> None:
    """Alternate `descent` and Newton-CG on the running rows until each has a status."""
    rows = batch.running()
    _, gradient = evaluate(batch.thetas[rows])
    level = np.zeros(len(batch.thetas))
    level[rows] = FIRST_LEVEL * np.minimum(1.0, row_norms(gradient))
    accuracy = (
        min(ACCURATE, LONG_WAY / evaluate.width**0.5) if isinstance(evaluate, CompiledReLU) else ACCURATE
    )
    while len(rows) and not stopping.interrupted.is_set():
        _approach(
            evaluate, batch, descent, stopping.tightened(np.maximum(level, stopping.tolerance)), accuracy
        )
        accuracy = ROUGH
        near = rows[np.isin(batch.status[rows], (Status.CONVERGED, Status.LIMIT))]
        near = near[batch.norms[near] > stopping.tolerance]
        _finish(evaluate, batch, near, stopping, precondition)
        level[near] *= NEXT_LEVEL
        rows = near[(batch.status[near] == Status.CONVERGED) & (batch.norms[near] > stopping.tolerance)]
        batch.status[rows] = Status.RUNNING
    batch.status[batch.running()] = Status.INTERRUPTED


def _approach(
    evaluate: Evaluate, batch: Batch, descent: Descent, stopping: Stopping, accuracy: float
) -> None:
    """Descent to the tolerance; once a transient is over, by long steps along the flow where there are such."""
    if isinstance(evaluate, CompiledReLU) and evaluate.has_flow_steps:
        rows = batch.running()
        descent(batch, stopping.tightened(np.maximum(TRANSIENT, stopping.tolerance)))
        batch.status[rows[batch.status[rows] == Status.CONVERGED]] = Status.RUNNING
        evaluate.follow_flow(batch, stopping, accuracy)
        batch.status[rows[batch.status[rows] == Status.CONVERGED]] = Status.RUNNING
    descent(batch, stopping)


def _finish(
    evaluate: Evaluate, batch: Batch, rows: np.ndarray, stopping: Stopping, precondition: Precondition | None
) -> None:
    """Try Newton-CG on these rows; those where it fails keep their point."""
    if not len(rows):
        return
    floor = reachable(stopping.scale, batch.thetas.shape[1])
    compiled = (
        evaluate.polish(batch.thetas[rows], stopping, floor) if isinstance(evaluate, CompiledReLU) else None
    )
    if compiled is None:
        theta, loss, norm = newton_cg(evaluate, batch.thetas[rows], stopping, precondition)
    else:
        theta, loss, norm, saddle = compiled
    reached = norm <= stopping.tolerance
    good = reached | ((norm <= floor) & (norm < batch.norms[rows]))
    if compiled is not None:
        good &= ~saddle
    elif good.any():
        good[good] = ~is_saddle(evaluate, theta[good])
    chosen = rows[good]
    batch.thetas[chosen], batch.losses[chosen], batch.norms[chosen] = theta[good], loss[good], norm[good]
    batch.status[chosen] = np.where(reached[good], Status.CONVERGED, Status.STALLED)


def reachable(scale: float, size: int) -> float:
    """What rounding leaves of a gradient: about 32 ε √p E y²."""
    return float(ROUNDINGS * EPSILON * np.sqrt(size) * scale)


def newton_cg(
    evaluate: Evaluate, start: Array, stopping: Stopping, precondition: Precondition | None = None
) -> tuple[Array, Array, Array]:
    """End points, losses and gradient norms; a run that has to be rejected stops where it was."""
    theta = start.copy()
    loss, gradient = evaluate(theta)
    norm = row_norms(gradient)
    farthest = FARTHEST * row_norms(start)
    going = norm > stopping.tolerance
    for _ in range(NEWTON_STEPS):
        rows = np.flatnonzero(going)
        if not len(rows):
            break
        step, curved = _newton_steps(evaluate, theta[rows], gradient[rows], stopping.scale, precondition)
        trial = theta[rows] + step
        with np.errstate(over="ignore", invalid="ignore"):
            new_loss, new_gradient = evaluate(trial)
            new_norm = row_norms(new_gradient)
        near = row_norms(trial - start[rows]) <= farthest[rows]
        good = curved & near & (new_norm <= HALVING * norm[rows])
        taken = rows[good]
        theta[taken], loss[taken] = trial[good], new_loss[good]
        gradient[taken], norm[taken] = new_gradient[good], new_norm[good]
        going[rows[~good]] = False
        going &= norm > stopping.tolerance
    return theta, loss, norm


def hessian_products(evaluate: Evaluate, theta: Array, directions: Array) -> Array:
    """∇²L(θ)·p, row by row, by central differences of gradients."""
    size = row_norms(directions)
    h = DIFFERENCE * (row_norms(theta) + SHORTEST_THETA)
    shift = directions * (h / np.maximum(size, TINY))[:, None]
    both = evaluate(np.concatenate([theta + shift, theta - shift]))[1]
    return np.asarray((both[: len(theta)] - both[len(theta) :]) * (size / (2 * h))[:, None])


def _newton_steps(
    evaluate: Evaluate, theta: Array, gradient: Array, scale: float, precondition: Precondition | None
) -> tuple[Array, np.ndarray]:
    """Steps s with Hs ≈ −g, and whether no negative curvature was met; flat directions end the iteration."""
    norm = row_norms(gradient)
    found = conjugate_gradients(
        lambda directions, rows: hessian_products(evaluate, theta[rows], directions),
        -gradient,
        np.minimum(FORCING, np.sqrt(norm / max(scale, TINY))) * norm,
        min(CG_STEPS, 2 * theta.shape[1] + 10),
        precondition=precondition,
        flat=FLAT,
    )
    return found.x, found.curvature >= -SADDLE


def is_saddle(evaluate: Evaluate, theta: Array) -> np.ndarray:
    """Whether a Lanczos run of up to 30 steps finds an eigenvalue below −1e-6 of the largest one."""
    batch, p = theta.shape
    steps = min(LANCZOS_STEPS, p)
    first = np.random.default_rng(0).standard_normal(p)
    basis = np.zeros((batch, steps, p))
    q = np.broadcast_to(first / np.linalg.norm(first), (batch, p)).copy()
    tridiagonal = np.zeros((batch, steps, steps))
    for j in range(steps):
        basis[:, j] = q
        image = hessian_products(evaluate, theta, q)
        projections = np.einsum("bjp,bp->bj", basis[:, : j + 1], image)
        tridiagonal[:, j, : j + 1] = tridiagonal[:, : j + 1, j] = projections
        for _ in range(2):  # orthogonalise twice: differences are not exactly symmetric
            image = image - np.einsum(
                "bj,bjp->bp", np.einsum("bjp,bp->bj", basis[:, : j + 1], image), basis[:, : j + 1]
            )
        length = row_norms(image)
        q = image / np.maximum(length, TINY)[:, None]
        q[length < EXHAUSTED * (1 + np.abs(projections).max(axis=1))] = 0.0
    values = np.linalg.eigvalsh(tridiagonal)
    return np.asarray(values[:, 0] < -SADDLE * np.abs(values).max(axis=1))
