"""Matrices of full rank are an open set: there the one critical point is the target, if it has full rank."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.exact.rational_arrays import fractions, rational_matrix
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.points.networks import spectral_terms
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import Counts, RealPoint, Stratum

#: What a chart says where the exact target has rank n and no double tells it from a matrix of lower rank.
FAINT = "the target has full rank, but only by eigenvalues below rounding: that network is not told from a listed one"


def full_rank_stratum(problem: Problem, certify: bool) -> Stratum:
    """The target as the one critical point of rank n, or nothing when it is singular: decided by its exact numbers."""
    found = full_rank_points(problem, certify)
    counts = Counts(len(found), len(found), "the target itself")
    if found or is_singular(problem):
        return Stratum(found, counts, [], [], "proved")
    return Stratum([], counts, [], [f"rank {problem.n}: {FAINT}"], "count-matched")


def is_singular(problem: Problem) -> bool:
    """Whether det T = 0, T = G⁻¹b in exact arithmetic."""
    return bool(rational_matrix(coordinates.symmetric_matrices(ExactLoss.of(problem).target)).det() == 0)


def full_rank_points(problem: Problem, certify: bool) -> list[RealPoint]:
    """The target as a critical point of rank n, or nothing when it is singular, or cannot be told from that in doubles.

    The Hessian on the stratum is 2G. Certified: G is positive definite and T has rank n (interval LDLᵀ of the numbers
    as they are stored); the radius is what the network's tensor, computed in floats, differs from G⁻¹b by, the target
    before it is rounded.
    """
    T = problem.target_tensor()
    if np.linalg.matrix_rank(T.to_matrix()) < problem.n:
        return []
    vectors, signs = spectral_terms(T.to_matrix(), problem.n)
    size = len(T.entries)
    point = RealPoint(vectors, signs, (size, 0, 0))
    if not certify:
        return [point]
    gap = np.abs(fractions(signs @ coordinates.monomials(vectors, 2)) - ExactLoss.of(problem).target)
    radius = float(np.nextafter(float(gap.max()), np.inf))
    proof = Certificate(
        radius,
        inertia(problem.gram().tolist()).positive == size,
        inertia(T.to_matrix().tolist()).certified,
        "interval LDLᵀ of the metric and the target",
    )
    return [RealPoint(vectors, signs, (size, 0, 0), proof)]
