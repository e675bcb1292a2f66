"""Quadratic neurons with a slope whose fixed outer weights have the sum zero, against zeros of the gradient."""

import numpy as np
import pytest
from tests.questions.charts.gradient_zeros import gradient_zeros

import shallows as sh

SLOPE = sh.Polynomial([0.0, 1.0, 1.0])
#: Losses and gradients of networks whose weights are of size one.
SAME = 1e-8


def sampled(a, seed, n=2, activation=SLOPE):
    rng = np.random.default_rng(seed)
    data = sh.Samples(rng.standard_normal((20, n)), rng.standard_normal(20))
    return sh.Problem(None, data, len(a), activation, outer=a)


def zeros_are_listed(problem, chart, starts):
    for net in gradient_zeros(problem, starts, np.random.default_rng(0), sizes=(1.0, 3.0)):
        loss = problem.loss(net)
        assert np.abs(chart.losses - loss).min() < SAME * (1 + loss)


@pytest.mark.parametrize("a", [[1.0, 1.0, -2.0], [1.0, 1.0, -1.0, -1.0], [2.0, -2.0, 0.0]])
@pytest.mark.parametrize("activation", [SLOPE, sh.Polynomial([1.0, 2.0, -1.0])])
def test_networks_have_their_functions(a, activation):
    problem = sampled(a, 3, activation=activation)
    chart = sh.chart(problem)
    assert chart.completeness == "trace-tested" and chart.attained
    for point in chart.points:
        assert np.linalg.norm(problem.gradient(point.network)) < SAME
        assert problem.loss(point.network) == pytest.approx(point.loss, abs=SAME)
    zeros_are_listed(problem, chart, 8)


def test_one_input_has_the_target():
    chart = sh.chart(sampled([1.0, 1.0, -2.0], 1, n=1))
    assert chart.completeness == "proved" and chart.kinds() == {"global minimum": 1, "saddle": 1}


def test_a_far_point_is_found():
    chart = sh.chart(sampled([1.0, 1.0, -2.0], 7))  # neurons of size 10⁵
    assert chart.completeness == "trace-tested" and chart.complex_count[2] == 10


@pytest.mark.parametrize(("diagonal", "limits"), [([1.0, 2.0], 1), ([1.0, -2.0], 2), ([0.0, 3.0], 0)])
def test_even_targets_are_matrices_with_the_signs_of_the_weights(diagonal, limits):
    problem = sh.Problem(np.diag([0.0, *diagonal]), sh.Gaussian(2), 3, SLOPE, outer=[1.0, 1.0, -2.0])
    chart = sh.chart(problem)
    signs = sh.chart(sh.Problem(np.diag(diagonal), sh.Gaussian(2), 3, outer=[1.0, 1.0, -1.0]))
    assert np.allclose(chart.losses, signs.losses, atol=SAME) and chart.completeness == "proved"
    assert sum(point.limit for point in chart.points) == limits
    assert chart.attained is (limits == 0)
    for point in chart.points:
        if not point.limit:
            assert np.linalg.norm(problem.gradient(point.network)) < SAME
    assert problem.loss(chart.minimum.network) == pytest.approx(chart.infimum, abs=1e-2)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_many_zeros_are_listed(seed):
    for a in ([1.0, 1.0, -2.0], [1.0, -1.0, 2.0, -2.0]):
        problem = sampled(a, seed)
        zeros_are_listed(problem, sh.chart(problem), 80)
    rng = np.random.default_rng(seed)
    teacher = sh.Network(rng.standard_normal((3, 3)), rng.standard_normal(3), SLOPE)
    problem = sh.Problem(teacher, sh.Gaussian(3), 4, outer=[1.0, -1.0, 2.0, -2.0])
    chart = sh.chart(problem)
    assert chart.completeness == "trace-tested"
    zeros_are_listed(problem, chart, 30)
