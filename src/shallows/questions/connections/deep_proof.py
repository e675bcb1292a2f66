"""Critical points of deep quadratic networks proved in balls, on a slice across the scalings between layers.

The loss is constant along the orbits of these scalings, whose tangents are linear in θ (`scalings.tangents`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import arb, arb_mat

from shallows.mathematics.balls.across import critical_box
from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.balls.rounding import above
from shallows.questions.charts.points.point import Certificate
from shallows.questions.connections.searched import Proof
from shallows.questions.learn.deep.problem import DeepProblem
from shallows.questions.learn.deep.scalings import ROUNDINGS, tangents
from shallows.questions.learn.deep.second_order import SecondOrder
from shallows.support.checks import Array

#: Values are float64 balls; Krawczyk's products are made with as many bits.
BITS = 53
#: Parameters of the largest network with a proof: Hessians on all samples are in memory.
LARGEST = 200
METHOD = "Krawczyk and interval Hessian across the scalings between layers, in parameter space"


class DeepBalls:
    """∇L and ∇²L in float64 balls."""

    is_real = True

    def __init__(self, problem: DeepProblem) -> None:
        Z = Ball.exact(problem.Z) / Ball.exact(np.array(problem.unit))
        weights = Ball.exact(problem.weights[:, None])
        self.n = problem.size
        self.loss = SecondOrder(
            problem.shape, Z, Ball.exact(problem.labels), weights / weights.sum(),
            Ball.exact(np.array(problem.penalty)), Ball.exact, Ball.rounded,
        )  # fmt: skip

    def __call__(self, x: Sequence[Any]) -> tuple[Any, Any]:
        """The gradient (p×1) and the Hessian (p×p)."""
        gradient, hessian = self.loss(_float_balls(x))
        return _arb_matrix(gradient.reshape(self.n, 1)), _arb_matrix(hessian)


def deep_proof(problem: DeepProblem, theta: Array, index: int) -> Proof | None:
    """A critical point of this index next to θ, up to scalings between layers; None when nothing is proved."""
    if problem.size > LARGEST:
        return None
    generators = Ball.rounded(tangents(problem.shape, orthogonal=problem.penalty > 0), ROUNDINGS)

    def moves(x: Sequence[Any]) -> Any:
        return _arb_matrix((generators @ _float_balls(x)).T)

    found = critical_box(DeepBalls(problem), theta, BITS, moves if len(generators.mid) else None)
    if found is None:
        return None
    known = found.signs.certified and found.signs.negative == index
    return Proof(Certificate(found.radius, known, True, METHOD), found.flat)


def _float_balls(x: Sequence[Any]) -> Ball:
    """Balls of Arb as float64 ones: the midpoint rounded, the radius raised by that."""
    mid = np.array([float(entry.mid()) for entry in x])
    return Ball(mid, np.array([above(abs(entry - m)) for entry, m in zip(x, mid.tolist(), strict=True)]))


def _arb_matrix(ball: Ball) -> Any:
    """A two-dimensional array of balls for Arb."""
    rows, columns = ball.shape
    pairs = zip(ball.mid.ravel().tolist(), ball.rad.ravel().tolist(), strict=True)
    return arb_mat(rows, columns, [arb(mid, rad) for mid, rad in pairs])
