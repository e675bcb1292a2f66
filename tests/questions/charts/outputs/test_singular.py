"""Several outputs against symmetric targets: circles of minima and points that meet are listed."""

import numpy as np
import pytest

import shallows as sh


@pytest.mark.parametrize("degree", [2, 4])
@pytest.mark.parametrize("second", [1.0, 2.0])
def test_a_circle_of_minima_is_a_family(degree, second):
    """Outputs in proportion: the loss of one of them, times 1 + c²; a rotation-invariant target in the plane."""
    angles = np.arange(4) * np.pi / 4
    W = np.c_[np.cos(angles), np.sin(angles)]
    one = sh.Problem(sh.Network(W, np.ones(4), sh.Power(degree)), sh.Gaussian(2), 1)
    two = sh.Problem(sh.Network(W, np.outer([1.0, second], np.ones(4)), sh.Power(degree)), sh.Gaussian(2), 1)
    chart, single = sh.chart(two), sh.chart(one)
    assert chart.completeness == "count-matched" and chart.attained
    assert [(f.dimension, f.kind) for f in chart.families] == [(1, "global minimum")]
    assert chart.infimum == pytest.approx(single.infimum * (1 + second**2), rel=1e-9)
    assert two.loss(chart.minimum.network) == pytest.approx(chart.infimum, rel=1e-9)


def test_a_circle_in_space_is_a_family_of_dimension_one():
    """‖x‖² and x₁² + x₂²: minima lie in the plane of the second, and turn in it."""
    target = sh.Network(np.eye(3), np.array([[1.0, 1, 1], [1, 1, 0]]), sh.Power(2))
    chart = sh.chart(sh.Problem(target, sh.Gaussian(3), 1))
    (family,) = chart.families
    assert family.dimension == 1 and family.loss == pytest.approx(28 / 3, rel=1e-9)
    assert abs(family.network.W[0, 2]) < 1e-6


def test_points_that_meet_are_one_point_and_no_family():
    """2x³ + 6xy² twice: three critical points of one neuron have met at 16x³/5, where the loss is of fourth order."""
    target = sh.Network([[1.0, 1], [1, -1]], np.ones((2, 2)), sh.Power(3))
    problem = sh.Problem(target, sh.Gaussian(2), 1)
    chart = sh.chart(problem)
    assert not chart.families and chart.minimum.kind == "global minimum" and chart.minimum.dimension == 0
    assert chart.minimum.signature == (2, 1, 0) and chart.infimum == pytest.approx(172.8, rel=1e-9)
    net = chart.minimum.network
    assert net.a @ net.W[:, 0] ** 3 == pytest.approx([3.2, 3.2], rel=1e-4)
