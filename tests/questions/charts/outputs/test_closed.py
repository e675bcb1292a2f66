"""When networks with several outputs and fixed outer weights are closed, against sequences that run away."""

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.outputs.scope import is_closed

INDEPENDENT = np.array([[1.0, 0.5], [0.2, -1.0]])
ONE_SIDE = np.array([[1.0, 1.0, 0.5], [0.3, -0.2, -0.4]])
AROUND = np.array([[1.0, -0.5, -0.5], [0.0, 1.0, -1.0]])


def problem(outer, activation, bias=False, n=2, seed=0):
    rng = np.random.default_rng(seed)
    shift = rng.standard_normal(4) if bias else None
    teacher = sh.Network(
        rng.standard_normal((4, n)), rng.standard_normal((2, 4)), activation=activation, bias=shift
    )
    return sh.Problem(teacher, sh.Gaussian(n), outer.shape[1], activation, outer=outer, bias=bias)


CASES = [
    (INDEPENDENT, sh.Power(2), True),
    (INDEPENDENT, sh.Power(3), True),
    (INDEPENDENT, sh.Polynomial([0, 1, 0, 1]), True),
    (ONE_SIDE, sh.Power(2), True),
    (ONE_SIDE, sh.Polynomial([0, 1, 1]), True),
    (ONE_SIDE, sh.Power(3), False),
    (AROUND, sh.Power(2), False),
    (AROUND, sh.Power(3), False),
    (np.array([[1.0, 0.0], [2.0, 0.0]]), sh.Power(3), True),  # the second neuron has no weight
    (np.array([[1.0, -1.0], [2.0, -2.0]]), sh.Power(2), False),
    (np.array([[1.0, 1e-9], [0.0, -1e-9]]), sh.Power(3), True),
    (np.zeros((2, 2)), sh.Power(2), False),
]


@pytest.mark.parametrize(("outer", "activation", "closed"), CASES)
def test_which_networks_are_closed(outer, activation, closed):
    assert is_closed(problem(outer, activation)) is closed


@pytest.mark.parametrize(("degree", "outer"), [(2, AROUND), (3, AROUND), (3, ONE_SIDE)])
def test_others_have_limits(degree, outer):
    """Neurons that grow while the outputs converge to w^(d−1) v with any v in place of each neuron."""
    weights = np.linalg.svd(outer)[2][-1]  # Σ λᵢ aᵢ = 0
    weights = weights * np.sign(weights[0])
    assert degree % 2 or (weights > 0).all()
    rng = np.random.default_rng(1)
    w, V, X = rng.standard_normal(2), rng.standard_normal((3, 2)), rng.standard_normal((50, 2))
    roots = np.sign(weights) * np.abs(weights) ** (1 / degree)
    limit = degree * (X @ w)[:, None] ** (degree - 1) * ((X @ V.T) * weights) @ outer.T
    gaps = []
    for t in (10.0, 100.0, 1000.0):
        W = roots[:, None] * (t * w + t ** (1.0 - degree) * V)
        gaps.append(np.abs((X @ W.T) ** degree @ outer.T - limit).max())
    assert gaps[1] < gaps[0] / 5 and gaps[2] < gaps[1]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("degree", [2, 3])
def test_functions_of_closed_networks_bound_their_neurons(degree, bias):
    """bᵢ · f is the neuron itself: a large neuron is a large function."""
    dual = np.linalg.inv(INDEPENDENT)
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 2))
    for size in (1.0, 10.0, 1e3):
        W, c = size * rng.standard_normal((2, 2)), size * bias * rng.standard_normal(2)
        values = (X @ W.T + c) ** degree
        np.testing.assert_allclose((values @ INDEPENDENT.T) @ dual.T, values, atol=1e-9 * size**degree)
        assert np.abs(values).max() > 0.1 * size**degree


def test_charts_of_closed_networks_claim_their_global_minimum():
    given = problem(INDEPENDENT, sh.Power(3))
    chart = sh.chart(given)
    assert "limits" not in chart.scope and chart.attained is True
    lowest = sh.ensemble(given, runs=40, method="lm", rng=0).losses.min()
    assert lowest == pytest.approx(chart.infimum, rel=1e-6)
    if chart.completeness != "sampled":
        assert chart.minimum.kind == "global minimum"
