"""Limits of one trained neuron: minimisation from many starts goes nowhere below the infimum, and comes near it."""

import numpy as np
import pytest
from scipy.optimize import minimize

import shallows as sh


def lowest_found(problem, seed, starts=5):
    """The lowest loss of a plain minimiser from weights of many sizes: it knows nothing of limits."""
    rng, best = np.random.default_rng(seed), np.inf
    for _ in range(starts):
        size = 10 ** rng.uniform(-2, 2)
        w = rng.standard_normal(problem.n + problem.bias) * size
        theta = np.append(w, rng.standard_normal() / size ** rng.integers(1, 4))
        found = minimize(problem.value_and_gradient, theta, jac=True, method="BFGS", options={"maxiter": 250})
        best = min(best, float(found.fun))
    return best


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("coefficients", "bias"),
    [
        ([1.0, 0, 1], False),
        ([-1.0, 0, 1], False),
        ([0, 1.0, 1], False),
        ([0, 1.0, 1], True),
        ([1.0, 0, 1], True),
    ],
)
def test_the_infimum_of_one_quadratic_neuron(coefficients, bias, seed):
    T = np.random.default_rng(seed).standard_normal((3, 3))
    problem = sh.Problem(T + T.T, sh.Gaussian(2), 1, sh.Polynomial(coefficients), bias=bias)
    chart = sh.chart(problem)
    found = lowest_found(problem, 3)
    assert chart.minimum.kind == "global minimum" and chart.scope == ""
    assert chart.attained == (not chart.minimum.limit)
    assert found >= chart.infimum - 1e-9 * (1 + chart.infimum)
    assert found <= chart.infimum + (1e-9 if chart.attained else 1e-2)


def test_cubic_neurons_have_limits_at_both_ends():
    cubic = sh.SymmetricTensor(np.random.default_rng(1).standard_normal(10), 3, 3)
    for sign in (1.0, -1.0):
        problem = sh.Problem(cubic, sh.Gaussian(2), 1, sh.Polynomial([0, 1.0, 0, sign]))
        chart = sh.chart(problem)
        assert any(point.limit for point in chart.critical)
        assert lowest_found(problem, 3) >= chart.infimum - 1e-9 * (1 + chart.infimum)
        assert chart.attained == (not chart.minimum.limit)


def test_a_limit_that_is_a_target_is_the_infimum_and_not_attained():
    chart = sh.chart(sh.Problem(np.diag([0.0, 1.0, 0.0]), sh.Gaussian(2), 1, sh.Polynomial([1.0, 0, 1.0])))
    assert chart.minimum.limit and chart.attained is False and abs(chart.infimum) < 1e-12


def test_one_cubic_neuron_in_one_input():
    chart = sh.chart(sh.Problem(sh.SymmetricTensor([2.0], 1, 3), sh.Gaussian(1), 1, sh.Power(3)))
    assert chart.minimum.kind == "global minimum" and chart.completeness == "proved"
