"""Limits of many neurons in one place, in two inputs: Σ c_k C(d,k) w^(d−k)v^k, k < m, all of them by exact arithmetic.

With w = (1, t), v = (0, 1) and f(t) = w^d such a limit is s = Σ c_k f^(k)/k!. It is critical when the slope Gs − b is
zero on f, f′, …, f^(m): m + 1 equations, linear in c, A(t)c = b(t). They can be solved where

    P(t) = det(A(t) | b(t)) = 0,     A_kl = ⟨f^(k)/k!, f^(l)/l!⟩, k ≤ m, l < m, b_k = b(f^(k)/k!).

For real t, and G positive definite, A has rank m: every real root of P is one critical limit. P has rational
coefficients and its real roots are isolated exactly, so the list is proved, whatever G and b are. Over C there are
m(d−m+1) + (m+1)(d−m) for a generic metric: the degrees of the osculating developable and of its dual.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.exact.binary_forms import real_roots
from shallows.mathematics.exact.rational_arrays import rational_matrix
from shallows.mathematics.same_points import is_among
from shallows.mathematics.signature import signature
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.mathematics.tensors.symmetry import symmetry_algebra
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.closure.balls import TermSystem
from shallows.questions.charts.closure.real import half_hessian
from shallows.questions.charts.closure.real_students import ON_LIMITS, proved
from shallows.questions.charts.closure.term_map import Term, TermMap
from shallows.questions.charts.points.jet import Jet
from shallows.questions.charts.points.proved_signature import shown
from shallows.questions.charts.points.stratum import POINT_ERROR, Counts, RealFamily, RealPoint, Stratum
from shallows.support.checks import Array

#: c_(m−1) below this share of the largest term is none: the limit is one of fewer neurons, and charted there. Roots
#: are exact to far more digits, multiple ones too, so that only rounding of c is in the way.
FEWER = 1e-8
#: A slope below this share of its terms is none: sums of a few dozen terms, known to the rounding of G and the target.
CRITICAL = 1e-10
#: Members of a family of limits that are shown, at these t.
SHOWN = (0, 1, -1, 3, -3)
SINGULAR = "the metric is singular: limits of so many neurons in one place are not listed"


@dataclass(frozen=True)
class JetMap(TermMap):
    """(t, c₀, …, c_(m−1)) ↦ s, with w = (1, t) (`chart` 0) or (t, 1)."""

    degree: int
    size: int
    chart: int = 0

    @property
    def entries(self) -> int:
        """d + 1."""
        return self.degree + 1

    @property
    def unknowns(self) -> int:
        """m + 1."""
        return self.size + 1

    @cached_property
    def terms(self) -> list[Term]:
        """c_k C(i,k) t^(i−k), i how often the entry has t."""
        found = []
        for entry in range(self.degree + 1):
            i = self.degree - entry if self.chart else entry
            for k in range(min(self.size, i + 1)):
                factors = ((0, i - k), (1 + k, 1)) if i > k else ((1 + k, 1),)
                found.append(Term(entry, Fraction(comb(i, k)), factors))
        return found

    def jet(self, x: Array) -> Jet:
        """The limit itself."""
        ends = np.array([1.0, x[0]]), np.array([0.0, 1.0])
        w, v = (end[::-1] if self.chart else end for end in ends)
        return Jet(w, v, x[1:])


def one_place_stratum(problem: Problem, size: int, certify_points: bool) -> Stratum:
    """The critical limits of `size` neurons in one place, n = 2."""
    exact = ExactLoss.of(problem)
    if rational_matrix(exact.gram).det() == 0:
        return Stratum([], Counts(None, None, ""), [], [SINGULAR], "sampled")
    head = f"rank {size}, limits of {size} neurons in one place"
    alike = symmetry_algebra(problem.gram(), problem.target_tensor().entries, 2, problem.degree).dimension > 0
    places = None if alike else _places(exact, problem.degree, size)
    if places is None:
        return Stratum([], Counts(None, None, ""), _families(problem, exact, size), [], "proved")
    points: list[RealPoint] = []
    for map_, t in places:
        point = _point(problem, exact, map_, t, certify_points)
        if point is not None and not _is_known(problem, point, points):
            points.append(point)
    degree = problem.degree
    generic = size * (degree - size + 1) + (size + 1) * (degree - size)
    note = f"{head}: {len(points)} real (a generic metric has {generic} over C), real roots of one polynomial"
    return Stratum(points, Counts(None, None, ""), [], [note], "proved")


def _is_known(problem: Problem, point: RealPoint, known: list[RealPoint]) -> bool:
    """Whether another place has the same function: x²y² is w²q in two."""
    entries = point.entries(2, problem.degree)
    near = POINT_ERROR * float(np.abs(entries).max())
    return is_among(entries, [other.entries(2, problem.degree) for other in known], near)


def _places(exact: ExactLoss, degree: int, size: int) -> list[tuple[JetMap, float]] | None:
    """The t at which a limit is critical, each with the map in which |t| ≤ 1; None where all are."""
    gram, right = rational_matrix(exact.gram), rational_matrix(exact.right[:, None])
    maps = JetMap(degree, size, 0), JetMap(degree, size, 1)
    highest = sum(degree - k for k in range(size + 1)) + sum(degree - k for k in range(size))
    nodes = [fmpq(k - highest // 2) for k in range(highest + 1)]
    values = [_determinant(gram, right, degree, size, 0, t) for t in nodes]
    table = fmpq_mat(len(nodes), len(nodes), [t**k for t in nodes for k in range(len(nodes))])
    solved = table.solve(fmpq_mat(len(nodes), 1, values))
    polynomial = fmpq_poly([solved[k, 0] for k in range(len(nodes))])
    if polynomial.degree() < 0:
        return None
    found = [float(ball.mid()) for ball, _ in real_roots(polynomial)]
    places = [(maps[0], t) if abs(t) <= 1 else (maps[1], 1 / t) for t in found]
    if _determinant(gram, right, degree, size, 1, fmpq(0)) == 0:
        places.append((maps[1], 0.0))
    return places


def _determinant(gram: Any, right: Any, degree: int, size: int, chart: int, t: Any) -> Any:
    """P(t): det of (F G F₀ᵀ | F b), the rows of F being f^(k)/k! for k ≤ m and those of F₀ all but the last."""
    powers = [t**k for k in range(degree + 1)]
    rows = [
        [comb(i, k) * powers[i - k] if i >= k else fmpq(0) for i in range(degree + 1)]
        for k in range(size + 1)
    ]
    F = fmpq_mat([row[::-1] if chart else row for row in rows])
    inner, last = F * gram * F.transpose(), F * right
    return fmpq_mat([[*(inner[k, j] for j in range(size)), last[k, 0]] for k in range(size + 1)]).det()


def _point(
    problem: Problem, exact: ExactLoss, map_: JetMap, t: float, certify_points: bool
) -> RealPoint | None:
    """The limit in this place; None where fewer neurons have merged."""
    x = np.concatenate([[t], np.zeros(map_.size)])
    F = np.real(map_.slopes(x))[1:]
    x[1:] = np.linalg.solve(F @ problem.gram() @ F.T, F @ problem.gram() @ problem.target_tensor().entries)
    if np.abs(x[-1]) <= FEWER * np.abs(x[1:]).max():
        return None
    system = TermSystem(map_, exact)
    root = certify(system, x[None].astype(np.complex128)).roots[0] if certify_points else None
    if root is not None:
        root = shown(root)
        x = root.point.real
    own = signature(np.linalg.eigvalsh(half_hessian(problem, map_, x)), POINT_ERROR)
    found = RealPoint(np.zeros((0, 2)), np.zeros(0), own, jets=(map_.jet(x),))
    if root is None:
        return found
    own, certificate = proved(system, root, found.entries(2, problem.degree), own, ON_LIMITS)
    return replace(found, signature=own, certificate=certificate)


def _families(problem: Problem, exact: ExactLoss, size: int) -> list[RealFamily]:
    """The limit in every place, where it is one and critical: data and target look alike in all directions."""
    map_ = JetMap(problem.degree, size)
    found = [_point(problem, exact, map_, float(t), False) for t in SHOWN]
    points = [point for point in found if point is not None]
    if not points or not _is_critical(problem, map_, points[0].jets[0]):
        return []
    text = "one limit in every direction: data and target look alike in all of them"
    samples = [SymmetricTensor(point.entries(2, problem.degree), 2, problem.degree) for point in points]
    return [RealFamily(points[0], 1, text, tuple(samples))]


def _is_critical(problem: Problem, map_: JetMap, jet: Jet) -> bool:
    """Whether the slope is zero on the last derivative, too: with t = 0, on all parameters' directions."""
    x = np.concatenate([[0.0], jet.c])
    gap = jet.entries(problem.degree) - problem.target_tensor().entries
    value = np.abs(np.real(map_.slopes(x)) @ problem.gram() @ gap)
    size = np.abs(np.real(map_.slopes(x)) @ problem.gram()) @ np.abs(problem.target_tensor().entries)
    return bool(np.all(value <= CRITICAL * size.max()))
