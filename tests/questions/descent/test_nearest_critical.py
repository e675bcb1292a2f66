"""Critical points near trained weights: against points that are known otherwise, and where there is none."""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh

#: Losses of ReLU networks are sums of kernels of the size of E y², which cancel: this share of it is rounding.
CANCELLED = 1e-14


def moved(net: sh.Network, by: float) -> sh.Network:
    step = np.random.default_rng(0).standard_normal(net.W.shape)
    return sh.Network(net.W + by * step, net.a, net.activation)


@pytest.mark.parametrize("by", [1e-6, 1e-3])
def test_every_point_of_a_chart_is_found_again(by: float) -> None:
    chart = sh.relu.symmetric_chart(4, [4])
    problem = sh.relu_problem(4)
    for point in list(chart.points)[:2]:  # those with distinct rows
        found = sh.nearest_critical(problem, moved(point.network, by))
        assert found.loss == pytest.approx(point.loss, abs=1e-12)
        assert found.signature == point.signature and found.certificate.signature_certified
        assert found.distance < 20 * by and np.allclose(found.network.W, point.network.W, atol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_trained_outer_weights_leave_flat_directions(seed: int) -> None:
    teacher = sh.Network(np.random.default_rng(seed).standard_normal((3, 4)), activation=sh.ReLU())
    problem = sh.Problem(teacher, sh.Gaussian(4), 3)
    start = sh.Network(teacher.W * [[2.0], [0.5], [1.0]], [0.5, 2.0, 1.0], sh.ReLU())
    found = sh.nearest_critical(problem, moved(start, 1e-3))
    energy = problem.value(np.zeros(problem.size))
    assert found.kind == "minimum" and found.loss < CANCELLED * energy and found.signature == (12, 3, 0)
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


AUDITED = {
    "ReLU": sh.ReLU(),
    **{name: sh.Smooth(name) for name in ("erf", "tanh", "sigmoid", "softplus", "gelu")},
    "cubic": sh.Polynomial([0.3, 1.0, -0.5, 0.2]),
    "power": sh.Power(3),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", AUDITED)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("outer", ["ones", "free"])
@pytest.mark.parametrize(("n", "width"), [(2, 1), (2, 2), (3, 1), (3, 3)])
def test_a_student_near_its_teacher_is_taken_there_and_proved(
    name: str, bias: bool, outer: str, n: int, width: int
) -> None:
    rng, activation = np.random.default_rng(10 * n + width), AUDITED[name]
    V, b = np.eye(width, n) + 0.4 * rng.standard_normal((width, n)), rng.uniform(0.5, 1.5, width)
    b = b if outer == "free" else np.ones(width)
    shift = 0.3 * rng.standard_normal(width) if bias else None
    problem = sh.Problem(
        sh.Network(V, b, activation, bias=shift), sh.Gaussian(n), width=width, outer=outer, bias=bias
    )
    begun = sh.Network(V + 1e-4 * rng.standard_normal(V.shape), b, activation, bias=shift)
    with pytest.raises(sh.NotConverged, match="nearest_critical"):
        sh.certify_minimum(problem, begun)
    found = sh.nearest_critical(problem, begun)
    assert found.kind == "minimum" and found.distance < 0.1 and found.certificate is not None
    proof = sh.certify_minimum(problem, found.network)
    assert proof.loss_bounds[0] == 0.0 and proof.loss_bounds[1] < 1e-4 and not proof.is_local
