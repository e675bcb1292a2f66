"""Every real critical point of one neuron a(w·x)ᵈ, by interval exclusion over all directions.

With the best a the loss of a w^⊗d is E y² − C²/K, C = ⟨w^⊗d, t⟩ and K = ‖w^⊗d‖², the same at any length of w: the faces
w_k = 1 of a cube are all there is. Paths over C lose points on their way to special targets, where complex ones meet or
run away; over the reals nothing is lost. What this does not decide, and leaves as it was: critical sets with a
dimension, and points that are not simple.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.exact.linear_algebra import SIMPLE_DENOMINATOR
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.search import exclude
from shallows.mathematics.same_points import is_among
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.excluded import FEW_BOXES, MOST_BOXES, MOST_UNKNOWNS, AllReal
from shallows.questions.charts.neurons.polynomials import Polynomial, combination, product
from shallows.questions.charts.neurons.square_ratio import SquareRatio
from shallows.questions.charts.points.stratum import POINT_ERROR, RealPoint, Stratum
from shallows.questions.charts.powers.balls import PowerSystem
from shallows.questions.charts.powers.equations import PowerEquations
from shallows.questions.charts.powers.real import sort_points
from shallows.support.checks import Array
from shallows.support.progress import Shown

#: The stratum by paths; without patience lost ones are not looked for in other ways.
ByPaths = Callable[[bool], Stratum]
#: Entries above this share of the largest one decide the sign of a direction, where v and −v are one.
LEADS = 0.5


def is_excludable(problem: Problem) -> bool:
    """Whether directions have few enough unknowns."""
    return problem.degree > 2 and 1 <= problem.n - 1 <= MOST_UNKNOWNS


def one_power_stratum(problem: Problem, by_paths: ByPaths, tell: Shown = False) -> Stratum:
    """The critical points of rank one: by paths, all real ones proved where intervals can."""
    stratum = by_paths(False)
    lost = stratum.completeness == "sampled"
    if stratum.completeness == "proved" or stratum.families:
        return stratum
    simple = not any(point.signature[1] for point in stratum.found)
    found = _all_real(problem, MOST_BOXES if lost else FEW_BOXES, tell) if simple else None
    if found is not None:
        return _proved(problem, stratum, *found)
    return by_paths(True) if lost else stratum


def _proved(problem: Problem, stratum: Stratum, points: list[RealPoint], proof: AllReal) -> Stratum:
    """The stratum with the points that were proved to be all; "sampled" if a certified end of a path is another one."""
    entries = [point.entries(problem.n, problem.degree) for point in points]
    size = POINT_ERROR * max((float(np.abs(s).max()) for s in entries), default=0.0)
    for point in stratum.found:
        if point.certificate and not is_among(point.entries(problem.n, problem.degree), entries, size):
            note = "rank 1: paths and interval exclusion found different points. Please report this problem."
            return replace(stratum, completeness="sampled", notes=[*stratum.notes, note])
    return replace(stratum, found=points, notes=[proof.note(1)], completeness="proved", lost=0)


def _all_real(problem: Problem, most: int, tell: Shown) -> tuple[list[RealPoint], AllReal] | None:
    """All real critical points that are not zero; None where the search leaves something open."""
    rows, boxes = list[Array](), 0
    for face in _faces(problem):
        found = exclude(face.system, face.region, most=most, progress=tell)
        boxes += found.boxes
        own = face.neurons(found.box, found.domain) if found.complete else None
        if own is None:
            return None
        rows.append(own)
    equations = PowerEquations(problem.degree, problem.n, 1)
    system = PowerSystem.of(problem, equations, (1.0,), partial(ExactLoss.of, problem))
    points = _scaled(problem, np.concatenate(rows))
    proof = certify(system, points)
    if len(proof.distinct) + len(proof.repeated) < len(points):
        return None
    points = points[list(proof.distinct)]
    result = sort_points(problem, equations, points, True)
    if len(result.found) < len(points) or result.undecided or result.repeated:
        return None
    return result.found, AllReal(points, boxes)


def _scaled(problem: Problem, directions: Array) -> np.ndarray[Any, np.dtype[np.complex128]]:
    """x with x^⊗d = a v^⊗d, a the best weight: one of ±x where they are one."""
    d, gram = problem.degree, problem.gram()
    powers = coordinates.monomials(directions, d)
    a = powers @ gram @ problem.target_tensor().entries / np.einsum("ij,jk,ik->i", powers, gram, powers)
    if d % 2:
        return np.asarray(directions * (np.sign(a) * np.abs(a) ** (1 / d))[:, None], np.complex128)
    size = np.abs(directions)
    leading = np.argmax(size > LEADS * size.max(axis=1, initial=0.0, keepdims=True), axis=1)
    sign = np.sign(directions[np.arange(len(directions)), leading])
    return np.asarray(directions * sign[:, None] * (a.astype(np.complex128) ** (1 / d))[:, None])


@dataclass(frozen=True, eq=False)
class _Face:
    """The directions with w_k = 1, other entries up to 1."""

    k: int
    system: SquareRatio

    @property
    def region(self) -> Intervals:
        """Their boxes."""
        return Intervals(-np.ones(self.system.n), np.ones(self.system.n))

    def neurons(self, box: Intervals, domain: Intervals) -> Array | None:
        """Those of the system's zeros, without those of the zero function; None where that is not decided."""
        unclear = np.asarray(self.system.numerator(box).has_zero).reshape(len(box))
        if not all(self._is_zero(box.mid[k], domain[int(k)]) for k in np.flatnonzero(unclear)):
            return None
        return np.insert(box.mid[~unclear], self.k, 1.0, axis=1)

    def _is_zero(self, middle: Array, domain: Intervals) -> bool:
        """Whether the zero in a domain is where C and its slopes vanish, exactly: at simple fractions."""
        place = [Fraction(float(x)).limit_denominator(SIMPLE_DENOMINATOR) for x in middle]
        inside = all(
            Fraction(float(lo)) <= x <= Fraction(float(hi))
            for x, lo, hi in zip(place, domain.lo, domain.hi, strict=True)
        )
        return inside and self.system.is_weightless(place)


def _faces(problem: Problem) -> Iterator[_Face]:
    exact = ExactLoss.of(problem)
    for k in range(problem.n):
        rows = np.delete(coordinates.exponents(problem.n, problem.degree), k, axis=1)
        entries: list[Polynomial] = [{tuple(int(e) for e in row): Fraction(1)} for row in rows]
        C = combination(list(exact.right), entries)
        halves = [combination(list(row), entries) for row in exact.gram]
        K = combination(
            [Fraction(1)] * len(entries), [product(p, q) for p, q in zip(entries, halves, strict=True)]
        )
        yield _Face(k, SquareRatio(C, K))
