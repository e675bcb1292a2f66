"""Limits of one trained neuron: minimisation from many starts goes nowhere below the infimum, and comes near it."""

import numpy as np
import pytest
from numpy.polynomial import polynomial as series
from scipy.optimize import least_squares, minimize

import shallows as sh
from shallows.questions.charts.neuron_limits.ends import ends


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


class Sampled:
    """A loss of samples and its plain descents, from weights of many sizes and beside the zeros of the activation."""

    def __init__(self, coefficients, n, seed, mirrored=False):
        rng = np.random.default_rng(seed)
        self.c, self.X, self.y = np.array(coefficients), rng.standard_normal((30, n)), rng.standard_normal(30)
        if mirrored:
            self.X, self.y = np.vstack([self.X, -self.X]), np.tile(self.y, 2)
        self.problem = sh.Problem(
            None, sh.Samples(self.X, self.y), 1, sh.Polynomial(self.c.tolist()), bias=True
        )

    def residuals(self, theta):
        z = theta[1] + self.X @ theta[2:]
        return (theta[0] * series.polyval(z, self.c) - self.y) / np.sqrt(len(self.y))

    def lowest(self, seed, starts=12):
        rng, best = np.random.default_rng(seed), np.inf
        zeros = np.roots(self.c[::-1])
        for k in range(starts):
            v = rng.standard_normal(self.X.shape[1] + 1) * 10 ** rng.uniform(-2, 1.5)
            if k % 2:
                v = v / np.abs(v).max() * 0.02 + np.eye(len(v))[0] * rng.choice(zeros).real
            q = series.polyval(v[0] + self.X @ v[1:], self.c)
            start = np.append(q @ self.y / (q @ q), v)
            best = min(best, 2 * least_squares(self.residuals, start, x_scale="jac", max_nfev=200).cost)
        return best


#: Zeros that are double (at 0, at 2, at ±1), triple, or where the activation does not bend; and none of these.
WITH_BIAS = (
    [0.0, 1.0, 0.0, 1.0],
    [0.0, -1.0, 0.0, 1.0],
    [0.0, 0.0, 1.0, 1.0],
    [4.0, 0.0, -3.0, 1.0],
    [0.0, 0.0, 0.0, 1.0, 1.0],
    [0.0, 0.0, 1.0, 0.0, 1.0],
    [1.0, 0.0, -2.0, 0.0, 1.0],
    [0.3, 1.0, 1.0, 1.0],
)


@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("coefficients", WITH_BIAS)
def test_the_infimum_of_one_neuron_with_a_bias(coefficients, n):
    loss = Sampled(coefficients, n, 0)
    chart = sh.chart(loss.problem)
    assert chart.scope == "" and chart.minimum.kind == "global minimum"
    assert chart.attained is not chart.minimum.limit
    assert chart.infimum <= loss.lowest(1) + 1e-9
    net = chart.minimum.network
    theta = np.concatenate([net.a, net.bias, net.W[0]])
    assert abs(np.sum(loss.residuals(theta) ** 2) - chart.infimum) < (1e-9 if chart.attained else 1e-3)


def zeros(coefficients):
    target = sh.SymmetricTensor([1.0, *[0.0] * (len(coefficients) - 1)], 2, len(coefficients) - 1)
    found = ends(sh.Problem(target, sh.Gaussian(1), 1, sh.Polynomial(coefficients), bias=True))
    return [(end.own, end.beside, float(end.place)) for end in found if end.name == "at a zero"]


def test_zeros_of_an_activation_and_the_powers_there():
    assert zeros([1.0, 0, -2.0, 0, 1.0]) == [(2, 3, -1.0), (2, 3, 1.0)]
    assert zeros([0, -1.0, 0, 1.0]) == [(1, 2, -1.0), (1, 3, 0.0), (1, 2, 1.0)]
    assert not zeros([1.0, 3.0, 3.0, 1.0])  # a power: all its limits are networks


def test_a_square_is_a_limit_of_a_neuron_with_a_double_zero():
    square = sh.Network([[1.0, 2.0]], [1.5], sh.Power(2), bias=[0.5])
    chart = sh.chart(sh.Problem(square, sh.IID.laplace(2), 1, sh.Polynomial([4.0, 0, -3.0, 1.0]), bias=True))
    assert chart.attained is False and chart.minimum.limit and abs(chart.infimum) < 1e-9


def test_a_limit_that_no_slope_leaves_is_listed_where_the_target_is_even():
    loss = Sampled([0.0, 1.0, 0.0, 0.0, 1.0], 1, 3, mirrored=True)
    chart = sh.chart(loss.problem)
    assert chart.infimum <= loss.lowest(0) + 1e-9


def test_a_limit_that_is_a_target_is_the_infimum_and_not_attained():
    chart = sh.chart(sh.Problem(np.diag([0.0, 1.0, 0.0]), sh.Gaussian(2), 1, sh.Polynomial([1.0, 0, 1.0])))
    assert chart.minimum.limit and chart.attained is False and abs(chart.infimum) < 1e-12


def test_one_cubic_neuron_in_one_input():
    chart = sh.chart(sh.Problem(sh.SymmetricTensor([2.0], 1, 3), sh.Gaussian(1), 1, sh.Power(3)))
    assert chart.minimum.kind == "global minimum" and chart.completeness == "proved"
