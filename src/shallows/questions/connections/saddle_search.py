"""Saddles of index one by following the lowest eigenvector up and all others down, refined by Newton, and proved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.balls.krawczyk import certify_point
from shallows.mathematics.balls.rounding import longest
from shallows.mathematics.balls.systems import precision
from shallows.mathematics.signature import signature
from shallows.model.activations import ReLU
from shallows.model.problem import Problem
from shallows.questions.charts.points.point import Certificate
from shallows.questions.relu.balls import ReLUBalls
from shallows.questions.relu.certificate import BITS, LARGEST
from shallows.questions.relu.setting import teacher_of
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem, NotConverged, NotDifferentiable
from shallows.support.tolerances import TINY

#: Steps of the search, the longest as a share of the parameters' size, and the gradient (in units of E y² over that
#: size) at which a point is critical: rounding is a hundred times less.
STEPS, REACH, CRITICAL = 300, 0.1, 1e-11
#: Curvatures below this share of the largest are flat: Hessians are exact to rounding, critical points to CRITICAL.
FLAT = 1e-7


@dataclass(frozen=True, eq=False)
class Stationary:
    """A critical point in parameter space with its Hessian's signature, its lowest eigenvector and what is proved."""

    theta: Array
    loss: float
    signature: tuple[int, int, int]
    lowest: Array
    certificate: Certificate | None


def stationary(problem: Problem, theta: Array, index: int) -> Stationary | None:
    """The critical point that Newton's method reaches, up along so many eigenvectors; None if none of that index."""
    size = max(float(np.linalg.norm(theta)), TINY)
    energy = float(problem.value(np.zeros((1, problem.size)))[0])
    try:
        for _ in range(STEPS):
            gradient = problem.value_and_gradient(theta)[1]
            hessian = problem.hessian(problem.unpack(theta))
            values, vectors = np.linalg.eigh(hessian)
            if np.max(np.abs(gradient)) * size <= CRITICAL * energy:
                break
            curvature = np.maximum(np.abs(values), FLAT * np.max(np.abs(values)))
            uphill = np.where(np.arange(len(values)) < index, -1.0, 1.0)
            step = -vectors @ (uphill * (vectors.T @ gradient) / curvature)
            length = max(float(np.linalg.norm(step)), TINY)
            theta = theta + min(1.0, REACH * size / length) * step
        else:
            return None
    except NotDifferentiable:
        return None
    signs = signature(values, FLAT)
    if signs[2] != index:
        return None
    proof = proved(problem, theta, index)
    return Stationary(theta, float(problem.value(theta)), signs, vectors[:, 0], proof)


def proved(problem: Problem, theta: Array, index: int) -> Certificate | None:
    """Krawczyk and the Hessian's inertia over the box, for ReLU networks with closed forms; None without a proof."""
    if not isinstance(problem.activation, ReLU) or theta.size > LARGEST:
        return None
    try:
        V, b = teacher_of(problem)
        assert problem.outer is not None
        with precision(BITS):
            balls = ReLUBalls((problem.width, problem.n), problem.outer[0], V, b)
            root = certify_point(balls, balls, theta.astype(np.complex128), BITS, real=True)
            if root is None:
                return None
            signs = inertia(balls(list(root.box))[1], BITS)
            gaps = [x - float(t) for x, t in zip(root.box, theta, strict=True)]
            radius = longest(gaps)
    except (InvalidProblem, NotConverged):
        return None
    method = "Krawczyk and interval Hessian, ReLU closed form, in parameter space"
    return Certificate(radius, signs.certified and signs.negative == index, True, method)
