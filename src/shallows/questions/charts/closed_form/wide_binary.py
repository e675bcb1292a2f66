"""Powers in two inputs, more neurons than a function determines: what is critical beside the target needs few of them.

At a critical network the slope M = ∇ℓ, a form of degree d, has a double root at every neuron that is in use. A form in
two variables that is not zero has at most d/2 of them. So a critical network with more than d/2 neurons, no two
parallel, has M = 0: it is the target, and all others are those of up to d/2 neurons, which are isolated.

Whether networks of width r have the target is a matter of its real rank, at most d. Sylvester: Σ aₖ(1, xₖ)^d has
entries Tⱼ = Σ aₖ xₖʲ, so that g = Π(x − xₖ) has Σⱼ gⱼ T_(i+j) = 0 for i = 0, …, d − r. Of the r roots 2r − d − 1 can be
chosen, the others follow from a linear system; for r = d there is one other, which is real.

In more inputs forms with infinitely many singular points are in the way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.polynomial import Polynomial

from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.exact.rational_arrays import fractions
from shallows.mathematics.same_points import is_among
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import POINT_ERROR, Counts, RealPoint, Stratum
from shallows.support.checks import Array

#: So many choices of roots are tried for each number of neurons; at d ≤ 8 the typical ranks are met within a few.
TRIED = 400
#: What is left out: where the target is a network, no limit is lower.
NO_LIMITS = "networks; limits in which neurons merge are left out"
OUT_OF_REACH = (
    "the target itself was not found to be a network of this width: forms in two variables may need as many real "
    "neurons as their degree"
)


def isolated_rank(problem: Problem) -> int:
    """Up to how many neurons critical networks are charted one by one; the width, but in two inputs."""
    wide = problem.degree > 2 and problem.n == 2 and (problem.outer is None or problem.degree % 2 == 1)
    return min(problem.width, (problem.degree + 1) // 2) if wide else problem.width


def target_stratum(problem: Problem, found: Sequence[RealPoint], certify: bool) -> tuple[int, Stratum] | None:
    """The target as a network of more neurons than are isolated, and how many; None where none is found.

    0 neurons where it is among those `found` already.
    """
    target = problem.target_tensor().entries
    near = POINT_ERROR * float(np.abs(target).max())
    if is_among(target, [point.entries(2, problem.degree) for point in found], near):
        return 0, Stratum([], Counts(None, None, ""), [], [], "proved")
    used = problem.width if problem.outer is None else int(np.count_nonzero(problem.outer))
    for rank in range(isolated_rank(problem) + 1, min(used, problem.degree) + 1):
        terms = _decomposed(target, rank)
        if terms is not None:
            point = _point(problem, *terms, certify)
            return rank, Stratum([point], Counts(None, None, "the target itself"), [], [], "proved")
    return None


def _decomposed(entries: Array, rank: int) -> tuple[Array, Array] | None:
    """Vectors and signs of real neurons with these entries; the best of those found, None without any."""
    degree = len(entries) - 1
    rng = np.random.default_rng([degree, rank])
    best, least = None, POINT_ERROR * float(np.abs(entries).max())
    for _ in range(TRIED if rank < degree else 1 + TRIED // degree):
        turn = np.linalg.qr(rng.standard_normal((2, 2)))[0]
        own = _turned(entries, turn)
        free = np.asarray(Polynomial.fromroots(rng.standard_normal(2 * rank - degree - 1)).coef, np.float64)
        count = degree - rank + 1
        rows = np.array(
            [[free @ own[i + j : i + j + len(free)] for j in range(count + 1)] for i in range(count)]
        )
        if np.linalg.matrix_rank(rows[:, :-1]) < count:
            continue
        rest = Polynomial([*np.linalg.solve(rows[:, :-1], -rows[:, -1]), 1.0])
        roots = np.concatenate([Polynomial(free).roots(), rest.roots()])
        if np.abs(np.imag(roots)).max() > 0:
            continue
        units = np.column_stack([np.ones(rank), np.real(roots)])
        weights = np.linalg.lstsq(coordinates.monomials(units, degree).T, own)[0]
        vectors = (np.abs(weights) ** (1 / degree))[:, None] * units @ turn.T
        signs = np.sign(weights)
        if degree % 2:
            vectors, signs = vectors * signs[:, None], np.ones(rank)
        gap = float(np.abs(signs @ coordinates.monomials(vectors, degree) - entries).max())
        if gap < least:
            best, least = (vectors, signs), gap
    return best


def _turned(entries: Array, turn: Array) -> Array:
    """The entries of T(turn ·), by powers of which it is the sum: linear in the entries."""
    degree = len(entries) - 1
    basis = np.column_stack([np.cos(np.arange(degree + 1)), np.sin(np.arange(degree + 1))])
    weights = np.linalg.solve(coordinates.monomials(basis, degree).T, entries)
    return np.asarray(weights @ coordinates.monomials(basis @ turn, degree))


def _point(problem: Problem, vectors: Array, signs: Array, certify: bool) -> RealPoint:
    """The network, whose Hessian in function space is 2G."""
    size = len(problem.gram())
    if not certify:
        return RealPoint(vectors, signs, (size, 0, 0))
    made = fractions(signs @ coordinates.monomials(vectors, problem.degree))
    gap = np.abs(made - ExactLoss.of(problem).target).max()
    definite = inertia(problem.gram().tolist()).positive == size
    proof = Certificate(float(np.nextafter(float(gap), np.inf)), definite, False, "the target, decomposed")
    return RealPoint(vectors, signs, (size, 0, 0), proof)
