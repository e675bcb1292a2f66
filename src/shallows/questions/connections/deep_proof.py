"""Critical points of deep quadratic networks proved in balls, on a slice across the scalings between layers.

The loss L is invariant under scalings between layers; the orbit through θ has tangents T(θ) (`scalings.tangents`). On
a slice θ = c + Nu Krawczyk's operator proves that one u has Nᵀ∇L = 0. Invariance gives T(θ)ᵀ∇L = 0 at every θ, so
where the columns of T(θ) and N together span R^p, which balls decide over the whole box, ∇L = 0 there. The Hessian has
T(θ) in its kernel, and its inertia on a complement is that of Nᵀ∇²L N. More flat directions than these make that
singular, and nothing is proved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import arb, arb_mat

from shallows.mathematics.balls.arrays import Ball, stacked
from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.balls.krawczyk import certify_point
from shallows.mathematics.balls.rounding import above, longest
from shallows.mathematics.balls.systems import precision
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
#: Tangents shorter than this share of the longest do not count: the orbit is of lower dimension there.
SHORT = 1e-8
METHOD = "Krawczyk and interval Hessian across the scalings between layers, in parameter space"


class SliceBalls:
    """Nᵀ∇L and Nᵀ∇²L N at θ = centre + Nu in balls."""

    is_real = True

    def __init__(self, problem: DeepProblem, centre: Array, frame: Array) -> None:
        Z = Ball.exact(problem.Z) / Ball.exact(np.array(problem.unit))
        weights = Ball.exact(problem.weights[:, None])
        self.loss = SecondOrder(
            problem.shape, Z, Ball.exact(problem.labels), weights / weights.sum(),
            Ball.exact(np.array(problem.penalty)), Ball.exact, Ball.rounded,
        )  # fmt: skip
        self.centre, self.frame = Ball.exact(centre), Ball.exact(frame)
        self.n = frame.shape[1]

    def ball_evaluator(self, bits: int) -> SliceBalls:
        """Itself: float64 balls serve every precision, no sharper."""
        return self

    def point(self, u: Sequence[Any]) -> Ball:
        """θ of slice coordinates."""
        return self.centre + self.frame @ _float_balls(u)

    def __call__(self, x: Sequence[Any]) -> tuple[Any, Any]:
        """The gradient (n×1) and Hessian (n×n) on the slice."""
        gradient, hessian = self.loss(self.point(x))
        N = self.frame
        return _arb_matrix((N.T @ gradient).reshape(self.n, 1)), _arb_matrix(N.T @ hessian @ N)


def deep_proof(problem: DeepProblem, theta: Array, index: int) -> Proof | None:
    """A critical point of this index next to θ, up to scalings between layers; None when nothing is proved."""
    if problem.size > LARGEST:
        return None
    generators = tangents(problem.shape, orthogonal=problem.penalty > 0)
    moves = (generators @ theta).T
    frame = _complement(moves, len(theta))
    if frame is None:
        return None
    u = frame.T @ theta
    balls = SliceBalls(problem, theta - frame @ u, frame)
    with precision(BITS):
        root = certify_point(balls, balls, u.astype(np.complex128), BITS, real=True)
        if root is None:
            return None
        around = balls.point(root.box)
        moved = (Ball.rounded(generators, ROUNDINGS) @ around).T
        whole = _arb_matrix(stacked([moved, Ball.exact(frame)], axis=1))
        if inertia(whole.transpose() * whole, BITS).positive < problem.size:  # slice and orbit may not span
            return None
        signs = inertia(balls(root.box)[1], BITS)
        gaps = [
            a - b for a, b in zip(_arb_matrix(around.reshape(-1, 1)).entries(), theta.tolist(), strict=True)
        ]
        radius = longest(gaps)
    return Proof(
        Certificate(radius, signs.certified and signs.negative == index, True, METHOD), len(generators)
    )


def _complement(moves: Array, size: int) -> Array | None:
    """An orthonormal basis (p, p − g) across the orbit; None where the orbit has a lower dimension than its group."""
    if not moves.shape[1]:
        return np.eye(size)
    left, lengths, _ = np.linalg.svd(moves, full_matrices=True)
    if len(lengths) < moves.shape[1] or lengths[-1] <= SHORT * lengths[0]:
        return None
    return np.asarray(left[:, moves.shape[1] :])


def _float_balls(u: Sequence[Any]) -> Ball:
    """Balls of Arb as float64 ones: the midpoint rounded, the radius raised by that."""
    mid = np.array([float(x.mid()) for x in u])
    return Ball(mid, np.array([above(abs(x - m)) for x, m in zip(u, mid.tolist(), strict=True)]))


def _arb_matrix(ball: Ball) -> Any:
    """A two-dimensional array of balls for Arb."""
    rows, columns = ball.shape
    pairs = zip(ball.mid.ravel().tolist(), ball.rad.ravel().tolist(), strict=True)
    return arb_mat(rows, columns, [arb(mid, rad) for mid, rad in pairs])
