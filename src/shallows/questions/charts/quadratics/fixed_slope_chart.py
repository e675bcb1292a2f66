"""Charts of three and more quadratic neurons with a linear part, no bias and fixed outer weights (`fixed_slope`)."""

from __future__ import annotations

from fractions import Fraction

from shallows.model.activations import Polynomial
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.chart import Found, assembled
from shallows.questions.charts.neurons.kinds import Placed, has_slope
from shallows.questions.charts.quadratics.fixed_slope import Spread, kind_of, placed, spread_stratum
from shallows.questions.charts.quadratics.students import QuadraticStudents
from shallows.questions.charts.result import Chart
from shallows.support.errors import InvalidProblem
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


def fixed_slope_chart(problem: Problem, certify: bool, seed: int, progress: bool) -> Chart:
    """All critical functions, one rank after the other, read as networks."""
    assert isinstance(problem.activation, Polynomial) and problem.outer is not None
    gamma, beta, alpha = problem.activation.coefficients
    if not sum(map(Fraction, problem.outer[0].tolist())):
        raise InvalidProblem(
            f"{problem.width} neurons with {problem.activation!r} and outer weights whose sum is zero: their functions "
            "have infinitely many networks, so that critical points are not isolated in the neurons, and, without a "
            "mean Σ aᵢwᵢ / Σ aᵢ, no other coordinates are known here in which they are. Fix: weights with another sum, "
            'two neurons, a bias, or method="descent".'
        )
    space = PolynomialSpace.of(problem)
    students = QuadraticStudents(
        problem, space, float(alpha), 0.0, Fraction(float(gamma)), float(beta / (2 * alpha))
    )
    spread, found, beyond = Spread.of(students), Found(), 0
    top = min(problem.width - 1, problem.n)
    for rank in range(top + 1):
        with status_line(f"rank {rank + 1} of {top + 1}", progress) as tell:
            stratum = spread_stratum(spread, rank, certify, seed, tell)
        found.notes += stratum.notes
        found.levels.append(stratum.completeness)
        found.complex[rank + 1] = stratum.count
        for point in stratum.found:
            made = placed(spread, point, rank)
            found.placed += [] if made is None else [Placed(*made)]
            beyond += made is None
    found.notes += [f"{beyond} {OTHER_SIGNS}"] if beyond else []
    return assembled(
        problem,
        space,
        found,
        seed,
        "homotopy",
        lambda item: kind_of(spread, item.network, item.point.rank - 1),
    )
