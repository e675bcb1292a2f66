"""Matrices of rank n − 1 beside a norm neuron: with it they are all forms, so the critical points are the target's.

S + νI runs through all of Sym²(Rⁿ) and, at a real S of rank n − 1, in all directions: uᵀu ≠ 0 for its kernel u, so that
I is no tangent. So S is critical exactly when S + νI = T: S = T − σI for a simple eigenvalue σ of T (for others its
rank is lower). Over C kernels with uᵀu = 0 add points that are never real.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.eigenpairs import enclose
from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.exact.linear_algebra import distinct_eigenvalues
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss, fractions
from shallows.model.problem import Problem
from shallows.model.reduced_problem import ReducedProblem
from shallows.questions.charts.closed_form.rotation_invariant import NEARLY_EQUAL
from shallows.questions.charts.points.kinds import ROUNDINGS
from shallows.questions.charts.points.networks import spectral_terms
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import Counts, RealPoint, Stratum
from shallows.support.tolerances import EPSILON


def fills_at(problem: Problem) -> int:
    """The highest rank that adds functions: n at degree 2, n − 1 beside a norm neuron, the width elsewhere."""
    if problem.degree != 2:
        return problem.width
    free = isinstance(problem, ReducedProblem) and problem.reduction.norm and not problem.reduction.penalty
    return problem.n - free


def norm_neuron_stratum(problem: ReducedProblem, certify: bool) -> Stratum:
    """The points T − σI of rank n − 1, one a simple eigenvalue of T."""
    n = problem.n
    sigma, vectors = np.linalg.eigh(problem.target_tensor().to_matrix())
    exact = _exact_matrix(problem)
    bounds = enclose(exact, sigma, vectors) if certify else None
    errors = np.zeros(n) if bounds is None else bounds.values
    rounding = ROUNDINGS * n * EPSILON * float(np.max(np.abs(sigma), initial=0.0))
    apart = np.diff(sigma) > rounding + 2 * errors.max()
    labels = np.concatenate([[0], np.cumsum(apart)])
    simple = [i for i in range(n) if int(np.sum(labels == labels[i])) == 1]
    found = [_point(problem, exact, float(sigma[i]), None if bounds is None else errors[i]) for i in simple]
    whole = len(simple) == n or distinct_eigenvalues(exact) == int(labels[-1]) + 1
    source = "T − σI for the simple eigenvalues σ of the target T; complex points beside them are not counted"
    counts = Counts(None, len(found), source)
    return Stratum(found, counts, [], [] if whole else [NEARLY_EQUAL], "proved" if whole else "count-matched")


def _exact_matrix(problem: Problem) -> NDArray[Any]:
    """T as fractions, the least-squares one for labels."""
    T = np.zeros((problem.n, problem.n), dtype=object)
    rows, columns = coordinates.indices(problem.n, 2).T
    T[rows, columns] = T[columns, rows] = ExactLoss.of(problem).target
    return T


def _point(problem: ReducedProblem, exact: NDArray[Any], value: float, error: float | None) -> RealPoint:
    """T − σI with σ known to within `error`, where that is proved; its Hessian is 2G, restricted."""
    n, size = problem.n, len(problem.gram())
    T = problem.target_tensor().to_matrix()
    vectors, signs = spectral_terms(T - value * np.eye(n), n - 1)
    proof = None
    if error is not None:
        made = fractions((vectors.T * signs) @ vectors)
        gap = np.abs(made - exact + Fraction(value) * fractions(np.eye(n))).max()
        definite = inertia(problem.original.gram().tolist()).positive == size
        radius = float(np.nextafter(float(gap) + error, np.inf))
        proof = Certificate(radius, definite, True, "eigenvalue enclosures of the target")
    return RealPoint(vectors, signs, (size - 1, 0, 0), proof)
