"""Charts of three and more quadratic neurons with a linear part, no bias and fixed outer weights (`fixed_slope`)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from shallows.model.activations import Polynomial, polynomial_of
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.assembly import assembled
from shallows.questions.charts.neurons.found import Found
from shallows.questions.charts.neurons.kinds import Placed, has_slope
from shallows.questions.charts.points.rows import FoundRow
from shallows.questions.charts.quadratics.fixed_slope import Spread, kind_of, placed, stratum_in_frames
from shallows.questions.charts.quadratics.spread_excluded import is_excludable, with_all_real
from shallows.questions.charts.quadratics.students import QuadraticStudents
from shallows.questions.charts.quadratics.zero_sum import ZeroSum
from shallows.questions.charts.quadratics.zero_sum_squares import (
    even_points,
    is_below,
    squares_alone,
    zero_point,
)
from shallows.questions.charts.result import Chart
from shallows.support.progress import status_line

#: Fewer neurons are isolated, and charted one by one.
FEWEST = 3
#: What is said of critical functions whose squares have other signs than the outer weights allow.
OTHER_SIGNS = "real functions whose squares have signs that these outer weights do not give: no real networks"


def is_spread(problem: Problem) -> bool:
    """Whether these are such neurons."""
    quadratic = (
        isinstance(problem.activation, Polynomial) and problem.activation.degree == 2 and has_slope(problem)
    )
    return quadratic and not problem.bias and problem.outer is not None and problem.width >= FEWEST


def fixed_slope_chart(
    problem: Problem, charted: Callable[[Problem], Chart], certify: bool, seed: int, progress: bool
) -> Chart:
    """All critical functions, one rank after the other, read as networks; `charted` makes charts of matrices."""
    assert problem.outer is not None
    gamma, beta, alpha = polynomial_of(problem.activation).coefficients
    space = PolynomialSpace.of(problem)
    students = QuadraticStudents(
        problem, space, float(alpha), 0.0, Fraction(float(gamma)), float(beta / (2 * alpha))
    )
    if not sum(map(Fraction, problem.outer[0].tolist())):
        return _of_zero_sum(students, charted, certify, seed, progress)
    spread, found = Spread.of(students), Found()
    top = min(problem.width - 1, problem.n)
    _strata(spread, top, certify, seed, progress, found)
    return _assembled(spread, found)


def _strata(spread: Spread, top: int, certify: bool, seed: int, progress: bool, found: Found) -> None:
    """Everything of the ranks up to this."""
    beyond, beside = 0, spread.beside
    for rank in range(top + 1):
        with status_line(f"rank {rank + beside} of {top + beside}", progress) as tell:
            own, stratum = stratum_in_frames(spread, rank, certify, seed, tell)
            if certify and stratum.completeness != "proved" and is_excludable(own, rank):
                stratum = with_all_real(own, rank, stratum, tell)
        found.notes += stratum.notes
        found.levels.append(stratum.completeness)
        found.complex[rank + beside] = stratum.count
        for point in stratum.found:
            made = placed(own, point, rank)
            found.placed += [] if made is None else [Placed(*made)]
            beyond += made is None
    found.notes += [f"{beyond} {OTHER_SIGNS}"] if beyond else []


def _assembled(spread: Spread, found: Found) -> Chart:
    def kind(row: FoundRow) -> str:
        positive, _, negative = row.signature
        if positive and negative:  # neurons may be too large for their Hessian
            return "saddle"
        return kind_of(spread, row.network, row.rank - spread.beside)

    return assembled(spread.problem, spread.students.space, found, "homotopy", kind)


def _of_zero_sum(
    students: QuadraticStudents, charted: Callable[[Problem], Chart], certify: bool, seed: int, progress: bool
) -> Chart:
    """Outer weights whose sum is zero (`zero_sum`)."""
    problem, spread, found = students.problem, ZeroSum.of(students), Found()
    zero = zero_point(spread)
    if zero is not None:
        found.placed.append(zero)
    found.complex[0] = 1
    squares = charted(squares_alone(students))
    if students.apart:
        found.placed += even_points(spread, squares)
        found.levels.append(squares.completeness)
        found.notes.append(
            f"no linear part: matrices with the signs of the outer weights ({squares.completeness})"
        )
        found.limits = True
        return _assembled(spread, found)
    used = int(np.count_nonzero(spread.weights))
    _strata(spread, min(used - 2, problem.n - 1), certify, seed, progress, found)
    found.limits = is_below(spread, found, squares)
    return _assembled(spread, found)
