"""Powers in two inputs, more neurons than a function determines: what is critical beside the target needs few of them.

At a critical network the slope M = ∇ℓ, a form of degree d, has a double root at every neuron that is in use. A form in
two variables that is not zero has at most d/2 of them. So a critical network with more than d/2 neurons, no two
parallel, has M = 0: it is the target, and all others are those of up to d/2 neurons, which are isolated.

Limits of merged neurons are `closure`'s: theirs are slopes with zeros of higher order, which a form has few of, too.

Whether networks of width r have the target is a matter of its real rank, at most d (`real_rank`, exact to degree 6),
and of signs where outer weights are fixed at even degree: Σ aₖ(1, xₖ)^d has the Hankel matrix Σ aₖ vₖvₖᵀ,
v = (1, x, …, x^(d/2)), which has no more positive eigenvalues than there are positive aₖ. Sylvester: Σ aₖ(1, xₖ)^d has
entries Tⱼ = Σ aₖ xₖʲ, so that g = Π(x − xₖ) has Σⱼ gⱼ T_(i+j) = 0 for i = 0, …, d − r. Of the r roots 2r − d − 1 can be
chosen, the others follow from a linear system; for r = d there is one other, which is real.

In more inputs forms with infinitely many singular points are in the way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import arb
from numpy.polynomial import Polynomial

from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.balls.systems import rational
from shallows.mathematics.exact.rational_arrays import fractions
from shallows.mathematics.same_points import is_among
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.points.kinds import Signs
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import POINT_ERROR, Counts, RealPoint, Stratum
from shallows.questions.geometry.ranks.real_rank import binary_rank
from shallows.support.checks import Array

#: So many choices of roots are tried for each number of neurons; at d ≤ 8 the typical ranks are met within a few.
TRIED = 400
#: Roots of an apolar form that are closer, in angle, are a double root that rounding has split: no network.
DISTINCT = 1e-4
#: What is left out with several outputs: where the target is a network, no limit is lower.
NO_LIMITS = "networks; limits in which neurons merge are left out"
OUT_OF_REACH = (
    "the target itself is no network of this width: forms in two variables may need as many real neurons as their "
    "degree, and fixed outer weights the signs that they have"
)
UNDECIDED = (
    "all networks and limits but the target itself: it is not known whether it is a network of this width"
)


def isolated_rank(problem: Problem) -> int:
    """Up to how many neurons critical networks are charted one by one; the width, but in one input, where all neurons
    are multiples of x^d, and in two."""
    if problem.degree == 2 or problem.n > 2:
        return problem.width
    return min(problem.width, 1 if problem.n == 1 else (problem.degree + 1) // 2)


def target_stratum(problem: Problem, found: Sequence[RealPoint], certify: bool) -> tuple[int, Stratum] | None:
    """The target as a network of more neurons than are isolated, and how many; None where none is found.

    0 neurons where it is among those `found` already.
    """
    if len(beside_target(problem, found)) < len(found):
        return 0, Stratum([], Counts(None, None, ""), [], [], "proved")
    signs = Signs.of(problem)
    for rank in range(isolated_rank(problem) + 1, min(signs.total, problem.degree) + 1):
        terms = _decomposed(problem.target_tensor().entries, rank, signs)
        if terms is not None:
            point = _point(problem, *terms, certify)
            return rank, Stratum([point], Counts(None, None, "the target itself"), [], [], "proved")
    return None


def beside_target(problem: Problem, found: Sequence[RealPoint]) -> list[RealPoint]:
    """Those that are not the target."""
    target = problem.target_tensor().entries
    near = POINT_ERROR * float(np.abs(target).max())
    return [point for point in found if not is_among(point.entries(2, problem.degree), [target], near)]


def is_out_of_reach(problem: Problem) -> bool:
    """Whether the target is proved to be no network of the problem: by its real rank, or by the signs it needs."""
    signs = Signs.of(problem)
    try:
        entries = ExactLoss.of(problem).target.tolist()
    except ZeroDivisionError:  # a metric that is singular in exact arithmetic has many targets
        return False
    if problem.degree % 2 == 0:
        half = problem.degree // 2
        own = inertia([[arb(rational(entries[i + j])) for j in range(half + 1)] for i in range(half + 1)])
        if own.positive > signs.positive or own.negative > signs.negative:
            return True
    rank = binary_rank(entries, np.random.default_rng(0))
    return (rank if isinstance(rank, int) else rank[0]) > signs.total


def _decomposed(entries: Array, rank: int, signs: Signs) -> tuple[Array, Array] | None:
    """Vectors and signs of real neurons with these entries, signs that fit; the best of those found, or None."""
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
        angles = np.sort(np.arctan(np.real(roots)))
        if np.abs(np.imag(roots)).max() > 0 or np.diff(angles, append=angles[0] + np.pi).min() < DISTINCT:
            continue
        units = np.column_stack([np.ones(rank), np.real(roots)])
        weights = np.linalg.lstsq(coordinates.monomials(units, degree).T, own)[0]
        vectors = (np.abs(weights) ** (1 / degree))[:, None] * units @ turn.T
        turns = np.sign(weights)
        if degree % 2:
            vectors, turns = vectors * turns[:, None], np.ones(rank)
        elif not signs.realisable(np.sum(turns > 0), np.sum(turns < 0)):
            continue
        gap = float(np.abs(turns @ coordinates.monomials(vectors, degree) - entries).max())
        if gap < least:
            best, least = (vectors, turns), gap
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
