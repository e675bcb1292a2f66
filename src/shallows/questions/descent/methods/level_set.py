"""The end of a gradient flow on the level set of its invariants δᵢ = Σ_o a_oi² − ‖wᵢ‖²/d (paper 000, Prop. 16).

Integrators drift off the level set, and Newton's method knows nothing of it: steps s solve ∇²L s = −∇L together with
dδ s = δ(θ₀) − δ(θ), in the sense of least squares, which holds the flow's own point on the fiber of a minimum.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.newton import falling, gauss_newton
from shallows.mathematics.signature import signature
from shallows.model.activations import Power, ReLU
from shallows.model.problem import Problem
from shallows.questions.descent.results.run import Batch, Status
from shallows.questions.descent.stopping import Stopping
from shallows.support.checks import Array

_STEPS, _RETRACTIONS = 40, 6
#: Singular values of the equations below this share of the largest are fibers of other symmetries: no step along them.
#: Measured at the ends of 24 flows of degrees 2 to 4, widths 1 and 2: fibers leave 5e-17, all others are above 6e-8.
_FLAT = 1e-9
#: Eigenvalues of the Hessian below minus this share of the largest: a saddle, which a flow leaves in time. In the same
#: flows minima have −3e-16 at the lowest, and ends that are not there yet −6e-8.
_SADDLE = 1e-6
#: The end may be this share of its length away, times √‖∇L‖ when that is less than 1: else Newton went elsewhere. The
#: same flows went 7e-3 at most.
_FARTHEST = 0.25


def has_invariants(problem: Problem) -> bool:
    """Whether a is trained and the activation positively homogeneous, so that (cw, c^−d a) is the same network."""
    return problem.outer is None and isinstance(problem.activation, (Power, ReLU))


def invariants(problem: Problem, theta: Array) -> tuple[Array, Array]:
    """δ and its derivative, shape (width, parameters)."""
    W, outer, norm = problem.layout.split(theta)
    assert outer is not None
    degree = problem.activation.degree if isinstance(problem.activation, Power) else 1
    outer = np.atleast_2d(outer)
    rows = []
    for i in range(problem.width):
        by_w, by_a = np.zeros_like(W), np.zeros_like(outer)
        by_w[i], by_a[:, i] = -2 * W[i] / degree, 2 * outer[:, i]
        rows.append(problem.layout.join(by_w, by_a, None if norm is None else np.zeros_like(norm)))
    return np.sum(outer**2, axis=0) - np.sum(W**2, axis=1) / degree, np.array(rows)


def retract(problem: Problem, theta: Array, delta: Array) -> Array:
    """The point of the level set next to θ: Newton's method for δ(θ) = δ, by steps of least length."""

    def system(at: Array) -> tuple[Array, Array]:
        value, slope = invariants(problem, at)
        return value - delta, slope

    for here in gauss_newton(system, theta, _RETRACTIONS, flat=_FLAT):
        theta = here.next
    return theta


def finish_on_level_set(problem: Problem, batch: Batch, starts: Array, stopping: Stopping) -> None:
    """Take flows that are slow on to the tolerance by Newton's method; where that fails they stay what they are."""
    tolerance = np.broadcast_to(stopping.tolerance, len(batch.thetas))
    for row in np.flatnonzero(np.isin(batch.status, (Status.SLOW, Status.LIMIT, Status.STALLED))):
        delta = invariants(problem, starts[row])[0]
        theta = _newton(problem, batch.thetas[row], delta, float(tolerance[row]))
        loss, gradient = problem.value_and_gradient(theta)
        norm = float(np.linalg.norm(gradient))
        way = float(np.linalg.norm(theta - batch.thetas[row])) / (1 + float(np.linalg.norm(theta)))
        near = way <= _FARTHEST * min(1.0, float(np.sqrt(batch.norms[row])))
        if norm > tolerance[row] or not near:
            continue
        if signature(np.linalg.eigvalsh(problem.hessian_product(theta, np.eye(problem.size))), _SADDLE)[2]:
            continue
        batch.thetas[row], batch.losses[row], batch.norms[row] = theta, loss, norm
        batch.status[row] = Status.CONVERGED


def _newton(problem: Problem, theta: Array, delta: Array, tolerance: float) -> Array:

    def step(at: Array, gradient: Array) -> Array:
        value, slope = invariants(problem, at)
        equations = np.concatenate([problem.hessian_product(at, np.eye(problem.size)), slope])
        return np.asarray(
            np.linalg.lstsq(equations, np.concatenate([-gradient, delta - value]), rcond=_FLAT)[0]
        )

    places = falling(
        lambda at: problem.value_and_gradient(at)[1],
        step,
        theta,
        _STEPS,
        move=lambda at: retract(problem, at, delta),
    )
    for place, gradient in places:
        theta = place
        if np.linalg.norm(gradient) <= tolerance:
            break
    return theta
