"""Critical points near trained weights: against points that are known otherwise, and where there is none."""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh

RNG = np.random.default_rng(0)


def moved(net: sh.Network, by: float) -> sh.Network:
    return sh.Network(net.W + by * RNG.standard_normal(net.W.shape), net.a, net.activation)


@pytest.mark.parametrize("by", [1e-6, 1e-3])
def test_every_point_of_a_chart_is_found_again(by: float) -> None:
    chart = sh.relu.symmetric_chart(4, [4])
    problem = sh.relu_problem(4)
    for point in list(chart.points)[:2]:  # those with distinct rows
        found = sh.nearest_critical(problem, moved(point.network, by))
        assert found.loss == pytest.approx(point.loss, abs=1e-12)
        assert found.signature == point.signature and found.certificate.signature_certified
        assert found.distance < 20 * by and np.allclose(found.network.W, point.network.W, atol=1e-8)


def test_trained_outer_weights_leave_flat_directions() -> None:
    teacher = sh.Network(RNG.standard_normal((3, 4)), activation=sh.ReLU())
    problem = sh.Problem(teacher, sh.Gaussian(4), 3)
    start = sh.Network(teacher.W * [[2.0], [0.5], [1.0]], [0.5, 2.0, 1.0], sh.ReLU())
    found = sh.nearest_critical(problem, moved(start, 1e-3))
    assert found.kind == "minimum" and found.loss < 1e-20 and found.signature == (12, 3, 0)
    assert found.certificate.signature_certified and "flat" in repr(found)


@pytest.mark.parametrize("activation", [sh.Smooth(np.tanh), sh.Polynomial([0.0, 1.0, 0.5])])
def test_other_activations_are_proved_where_they_are_formulas(activation: sh.Smooth) -> None:
    teacher = sh.Network([[1.0, 0.5, 0.0], [0.0, -1.0, 1.0]], activation=activation)
    problem = sh.Problem(teacher, sh.Gaussian(3), 2, outer="ones")
    found = sh.nearest_critical(problem, moved(teacher, 1e-3))
    assert found.loss < 1e-14 and found.signature == (6, 0, 0)
    assert found.certificate is not None and found.certificate.signature_certified


def test_an_activation_of_ones_own_is_numerical() -> None:
    teacher = sh.Network([[1.0, 0.5]], activation=sh.Smooth(lambda z: np.tanh(z)))
    found = sh.nearest_critical(sh.Problem(teacher, sh.Gaussian(2), 1, outer="ones"), moved(teacher, 1e-3))
    assert found.certificate is None and "numerical" in repr(found)


def test_a_saddle_of_a_quadratic_network_keeps_its_index() -> None:
    problem = sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Gaussian(3), width=2)
    saddle = next(p for p in sh.chart(problem).points if p.rank == 2 and p.index == 1)
    found = sh.nearest_critical(problem, moved(saddle.network, 1e-4))
    assert found.index == 1 and found.loss == pytest.approx(saddle.loss, rel=1e-9)


def test_where_there_is_none_it_says_so() -> None:
    problem = sh.Problem(sh.Network([[1.0, 0.0]], activation=sh.ReLU()), sh.Gaussian(2), 1, outer=[-1.0])
    with pytest.raises(sh.NotConverged, match="does not reach a critical point"):
        sh.nearest_critical(problem, sh.Network([[0.3, 0.4]], [-1.0], sh.ReLU()))
    with pytest.raises(sh.InvalidProblem, match="parameters"):
        sh.nearest_critical(sh.relu_problem(60), sh.Network(np.eye(60), activation=sh.ReLU()))
