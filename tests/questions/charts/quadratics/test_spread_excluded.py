"""Three quadratic neurons and more with fixed weights of one sign: all real critical functions by exclusion."""

from fractions import Fraction

import numpy as np
import pytest
from tests.questions.charts.gradient_zeros import gradient_zeros

import shallows as sh
from shallows.model.polynomial_space import PolynomialSpace
from shallows.questions.charts.quadratics import spread_excluded
from shallows.questions.charts.quadratics.fixed_slope import Spread, spread_stratum, spread_system
from shallows.questions.charts.quadratics.spread_excluded import all_real, is_excludable
from shallows.questions.charts.quadratics.students import QuadraticStudents

SHIFTED = sh.Polynomial([0.0, 1, 1])
TEACHERS = {
    "identity": np.eye(2),
    "one neuron": np.eye(2)[:1],
    "twice": np.ones((2, 2)),
    "opposite": np.array([[1.0, 0], [-1, 0]]),
    "huge": 30.0 * np.eye(2),
    "random": np.random.default_rng(4).standard_normal((4, 2)),
}


def drawn(teacher, outer=(1.0, 1.0, 1.0), n=2):
    W = TEACHERS[teacher] if n == 2 else np.random.default_rng(n).standard_normal((n + 1, n))
    return sh.Problem(sh.Network(W, activation=SHIFTED), sh.Gaussian(n), len(outer), outer=np.array(outer))


def spread_of(problem):
    gamma, beta, alpha = problem.activation.coefficients
    space = PolynomialSpace.of(problem)
    return Spread.of(
        QuadraticStudents(problem, space, float(alpha), 0.0, Fraction(gamma), beta / (2 * alpha))
    )


@pytest.mark.parametrize("outer", [(1.0, 1.0, 1.0), (-1.0, -1.0, -2.0), (1.0, 2.0, 3.0, 1.0)])
@pytest.mark.parametrize("teacher", TEACHERS)
def test_zeros_of_the_gradient_are_all_listed(teacher, outer, rng):
    problem = drawn(teacher, outer)
    chart = sh.chart(problem)
    nearly_a_circle = teacher == "huge" and outer[0] > 0  # squares alone: too many boxes
    assert (chart.completeness == "sampled") == nearly_a_circle, chart
    size = max(float(chart.losses[-1]), problem.loss(problem.unpack(np.zeros(problem.size))))
    scale = 30.0 if teacher == "huge" else 1.0
    found = [problem.loss(net) for net in gradient_zeros(problem, 12, rng, (scale,), far=20 * scale)]
    assert all(np.abs(chart.losses - loss).min() <= 1e-6 * size for loss in found)
    for point in chart.points:
        assert np.abs(problem.gradient(point.network)).max() <= 1e-7 * size


def test_as_many_as_paths_find_for_a_generic_target():
    """Those of rank one whose B is a square, beside some that are not."""
    spread = spread_of(drawn("random"))
    system = spread_system(spread, 1)
    proof = all_real(spread, 1, system)
    assert proof is not None
    by_paths = spread_stratum(spread, 1, True, 0, False)
    squares = [p for p in by_paths.found if np.trace(spread.parts(p.entries)[1]) > 0]
    assert len(proof.points) == len(squares)


def test_functions_of_one_place_are_of_another_rank(monkeypatch):
    spread = spread_of(drawn("identity"))
    own = len(all_real(spread, 1, spread_system(spread, 1)).points)
    still = len(all_real(spread, 0, spread_system(spread, 0)).points)
    monkeypatch.setattr(spread_excluded, "_is_flat", lambda *_: False)
    found = all_real(spread, 1, spread_system(spread, 1))
    assert still and (found is None or len(found.points) > own)


def test_weights_of_both_signs_are_left_to_paths():
    assert not is_excludable(spread_of(drawn("identity", (1.0, 1.0, -1.0))), 1)
    assert is_excludable(spread_of(drawn("identity")), 1)
    assert not is_excludable(spread_of(drawn("random", n=3)), 1)
