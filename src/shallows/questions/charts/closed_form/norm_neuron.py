"""Matrices of rank n − 1 beside a norm neuron: with it they are all forms, so the critical points are the target's.

S + νI runs through all of Sym²(Rⁿ) and, at a real S of rank n − 1, in all directions: uᵀu ≠ 0 for its kernel u, so that
I is no tangent. So S is critical exactly when S + νI = T: S = T − σI for a simple eigenvalue σ of T (for others its
rank is lower). Over C kernels with uᵀu = 0 add points that are never real.

With a bias T = ((c, l), (l, Q)) is a form in (1, x) and q = 0 ⊕ I. Then T − σq is singular for the eigenvalues σ of
Q − llᵀ/c, n of them; where c = 0, for those of Q on the complement of l, n − 1. For c = 0 and l = 0 T itself is, and is
listed with fewer neurons. A kernel e₀ has e₀ᵀqe₀ = 0: S = 0 ⊕ Q′ can be critical with S + νq ≠ T, for one ν as for
another, so that it is listed with fewer neurons as well.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.eigenpairs import enclose
from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.exact.linear_algebra import distinct_eigenvalues
from shallows.mathematics.exact.rational_arrays import fractions
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.model.reduced_problem import ReducedProblem
from shallows.questions.charts.closed_form.rotation_invariant import NEARLY_EQUAL
from shallows.questions.charts.points.kinds import ROUNDINGS
from shallows.questions.charts.points.networks import spectral_terms
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import Counts, RealPoint, Stratum
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON

#: Where the points of the highest rank come from.
SIMPLE = "T − σI for the simple eigenvalues σ of the target T; complex points beside them are not counted"
MODULO = (
    "T − σ‖x‖² for the simple σ at which the target T on (1, x) loses a rank; no complex points are counted"
)


def fills_at(problem: Problem) -> int:
    """The highest rank that adds functions: n at degree 2, n − 1 beside a norm neuron, the width elsewhere.

    Beside a norm neuron and a bias there is one exception: in one input bx, b ≠ 0, needs two neurons.
    """
    if problem.degree != 2:
        return problem.width
    free = isinstance(problem, ReducedProblem) and problem.reduction.norm and not problem.reduction.penalty
    return problem.n - free


def norm_neuron_stratum(problem: ReducedProblem, certify: bool) -> Stratum:
    """The points T − σq of rank n − 1, n counting a constant: one a simple eigenvalue σ of T, or of T modulo that."""
    exact = coordinates.symmetric_matrices(ExactLoss.of(problem).target)
    if problem.reduction.constants and not exact[0, 0]:
        return _without_constant(problem, exact)
    form = _schur(exact) if problem.reduction.constants else exact
    sigma, vectors = np.linalg.eigh(form.astype(np.float64))
    bounds = enclose(form, sigma, vectors) if certify else None
    errors = np.zeros(len(sigma)) if bounds is None else bounds.values
    labels = _labels(sigma, 2 * float(errors.max()))
    simple = _simple(labels)
    found = [_point(problem, exact, float(sigma[i]), None if bounds is None else errors[i]) for i in simple]
    whole = len(simple) == len(sigma) or distinct_eigenvalues(form) == int(labels[-1]) + 1
    counts = Counts(None, len(found), MODULO if problem.reduction.constants else SIMPLE)
    return Stratum(found, counts, [], [] if whole else [NEARLY_EQUAL], "proved" if whole else "count-matched")


def _labels(sigma: Array, doubt: float) -> NDArray[np.intp]:
    """Numbers of sorted eigenvalues, the same for those that rounding and a doubt do not tell apart."""
    rounding = ROUNDINGS * len(sigma) * EPSILON * float(np.max(np.abs(sigma), initial=0.0))
    return np.concatenate([[0], np.cumsum(np.diff(sigma) > rounding + doubt)]).astype(np.intp)


def _simple(labels: NDArray[np.intp]) -> list[int]:
    return [i for i in range(len(labels)) if int(np.sum(labels == labels[i])) == 1]


def _schur(T: NDArray[Any]) -> NDArray[Any]:
    """Q − llᵀ/c."""
    return np.asarray(T[1:, 1:] - np.outer(T[0, 1:], T[0, 1:]) / T[0, 0])


def _without_constant(problem: ReducedProblem, T: NDArray[Any]) -> Stratum:
    """c = 0: the eigenvalues of Q on the complement of l, in doubles; none for l = 0."""
    found: list[RealPoint] = []
    linear = T[0, 1:].astype(np.float64)
    notes: list[str] = []
    if linear.any() and problem.n > 2:
        basis = np.linalg.svd(linear[None])[2][1:]
        sigma = np.linalg.eigvalsh(basis @ T[1:, 1:].astype(np.float64) @ basis.T)
        labels = _labels(sigma, 0.0)
        found = [_point(problem, T, float(sigma[i]), None) for i in _simple(labels)]
        notes = [] if len(found) == len(sigma) else [NEARLY_EQUAL]
    level = "count-matched" if linear.any() and problem.n > 2 else "proved"
    return Stratum(found, Counts(None, len(found), MODULO), [], notes, level)


def _point(problem: ReducedProblem, exact: NDArray[Any], value: float, error: float | None) -> RealPoint:
    """T − σI with σ known to within `error`, where that is proved; its Hessian is 2G, restricted."""
    n, size = problem.n, len(problem.gram())
    q = np.diag(np.arange(n) >= problem.reduction.constants).astype(np.float64)
    vectors, signs = spectral_terms(problem.target_tensor().to_matrix() - value * q, n - 1)
    proof = None
    if error is not None:
        made = fractions((vectors.T * signs) @ vectors)
        gap = np.abs(made - exact + Fraction(value) * fractions(q)).max()
        definite = inertia(problem.original.gram().tolist()).positive == size
        radius = float(np.nextafter(float(gap) + error, np.inf))
        proof = Certificate(radius, definite, True, "eigenvalue enclosures of the target")
    return RealPoint(vectors, signs, (size - 1, 0, 0), proof)
