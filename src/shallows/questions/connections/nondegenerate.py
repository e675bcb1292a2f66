"""Whether a critical point is proved non-degenerate, normal data included: the condition of Morse theory."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.balls.inertia import Inertia, inertias
from shallows.mathematics.exact.rational_arrays import rational_matrix
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.points.kinds import Signs
from shallows.questions.charts.points.point import CriticalPoint
from shallows.questions.connections.proved_places import BallLoss, ProvedPlace
from shallows.support.checks import Array


def certified_on_stratum(point: CriticalPoint) -> bool:
    """Whether the signature on the stratum is proved, with no zeros but a family's own directions."""
    proof = point.certificate
    signed = proof is not None and proof.signature_certified and proof.rank_certified
    return bool(signed) and point.signature[1] == point.dimension


def normal_inertia(loss: BallLoss, place: ProvedPlace) -> Inertia:
    """At degree 2, the proved signs of P∇ℓP on the kernel of S.

    ∇ℓ·S = 0 at a critical point, so ∇ℓ is a form on R^n/range S: any complement of the range has its signs. Here that
    is the span of a matrix K of doubles, (W*ᵀ, K) invertible over the box.
    """
    n, rank = loss.problem.n, len(place.signs)
    slope = loss.slopes(place)
    K = _complement(place.vectors.mid, n)
    frame = Ball(np.vstack([place.vectors.mid, K.T]), np.vstack([place.vectors.rad, np.zeros((n - rank, n))]))
    if not inertias((frame @ frame.T)[None])[0].certified:
        return Inertia(0, n - rank, 0)
    basis = Ball.exact(K)
    form = Ball(*(coordinates.slope_matrices(part, n) for part in (slope.mid, slope.rad)))
    return inertias((basis.T @ form @ basis)[None])[0]


def _complement(vectors: Array, n: int) -> Array:
    if not len(vectors):
        return np.eye(n)
    return np.asarray(np.linalg.qr(vectors.T, mode="complete")[0][:, len(vectors) :])


def is_convex(problem: Problem) -> bool:
    """Whether the functions are a convex set, on which ℓ has one valley: all matrices, or all semidefinite ones."""
    if problem.degree != 2:
        return False
    signs = Signs.of(problem)
    n = problem.n
    if problem.outer is None or (signs.positive >= n and signs.negative >= n):
        return signs.total >= n
    return (signs.positive >= n and signs.negative == 0) or (signs.negative >= n and signs.positive == 0)


def target_is_realised(problem: Problem, rank: int) -> bool:
    """At degree 2 with a trained: whether the target itself has exactly this rank, in rationals, and fits."""
    exact = int(rational_matrix(coordinates.symmetric_matrices(ExactLoss.of(problem).target)).rank())
    return problem.outer is None and exact == rank <= problem.width
