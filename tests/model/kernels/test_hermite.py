"""Hermite expansions: closed forms, the reported truncation error, and refusals."""

import numpy as np
import pytest

import shallows as sh
from shallows.model.kernels.hermite import HermiteSeries


def expectations(activation, other=None, data=None):
    return (data or sh.Gaussian(2)).kernel(activation, other or activation).expectations


def test_exponential_has_a_closed_form(rng):
    """E exp(w·x) exp(v·x) = exp(‖w+v‖²/2)."""
    exponential = sh.Smooth(np.exp)
    W, V = 0.5 * rng.standard_normal((2, 4, 3))
    expected = np.exp(np.sum((W[:, None] + V[None]) ** 2, axis=-1) / 2)
    np.testing.assert_allclose(
        sh.Gaussian(3).kernel(exponential, exponential).value(W, V), expected, rtol=1e-12
    )


def test_sine_has_a_closed_form_with_a_mean(rng):
    """E sin(w·x) sin(v·x) = ½[cos(w−v)·m e^{−‖w−v‖²/2} − cos(w+v)·m e^{−‖w+v‖²/2}]."""
    sine, mean = sh.Smooth(np.sin), np.array([0.3, -0.7])
    W, V = rng.standard_normal((2, 4, 2))
    minus, plus = W[:, None] - V[None], W[:, None] + V[None]
    expected = np.cos(minus @ mean) * np.exp(-np.sum(minus**2, -1) / 2)
    expected -= np.cos(plus @ mean) * np.exp(-np.sum(plus**2, -1) / 2)
    value = sh.Gaussian(2, mean=mean).kernel(sine, sine).value(W, V)
    np.testing.assert_allclose(value, expected / 2, rtol=1e-11, atol=1e-13)


def test_a_smooth_polynomial_is_the_polynomial(rng):
    W, V = rng.standard_normal((2, 3, 2))
    data = sh.Gaussian(2, [[1.0, 0.4], [0.4, 2.0]], [0.5, 0.5])
    smooth = data.kernel(sh.Smooth(lambda z: z**3 - z), sh.Power(2)).value(W, V)
    exact = data.kernel(sh.Polynomial([0, -1, 0, 1]), sh.Power(2)).value(W, V)
    np.testing.assert_allclose(smooth, exact, rtol=1e-10)


def test_relu_against_a_square_has_a_closed_form():
    """E ReLU(z) z² = √(2/π); E ReLU(w·x)(v·x)² = ‖w‖(‖v‖² + ρ²‖v‖²)/√(2π)."""
    w, v = np.array([[2.0, 0.0]]), np.array([[3.0, 4.0]])
    expected = 2 * 25 * (1 + 0.36) / np.sqrt(2 * np.pi)
    assert sh.Gaussian(2).kernel(sh.ReLU(), sh.Power(2)).value(w, v)[0, 0] == pytest.approx(
        expected, rel=1e-13
    )


def test_relu_coefficients_reproduce_its_energy_and_shift():
    series = HermiteSeries(sh.ReLU(), np.array([0.0, 0.8, -0.5]), np.array([1.0, 1.3, 0.7]))
    rng = np.random.default_rng(0)
    x = np.array([0.0, 0.8, -0.5]) + np.array([1.0, 1.3, 0.7]) * rng.standard_normal((1_000_000, 1))
    draws = np.maximum(x, 0) ** 2
    assert np.max(np.abs(series.energy - draws.mean(0)) / (draws.std(0) / 1000)) < 5
    assert np.all(series.energy - np.sum(series.coefficients**2, axis=-1) < 1e-3)


def test_the_reported_truncation_error_bounds_the_true_error(rng):
    """Cut the series of exp short by hand: what is missing stays below the bound."""
    W = 0.5 * rng.standard_normal((4, 2))
    table = expectations(sh.Smooth(np.exp))
    assert table.truncation_error(W, W) < 1e-12
    left, right, rho = table.series(W, W)
    full = np.exp(np.sum((W[:, None] + W[None]) ** 2, axis=-1) / 2)
    for terms in (1, 2, 4, 8):
        cut = sum(
            left.coefficients[:, None, j] * right.coefficients[None, :, j] * rho**j for j in range(terms)
        )
        rest = np.sqrt(np.maximum(left.energy - np.sum(left.coefficients[:, :terms] ** 2, axis=-1), 0))
        assert np.all(np.abs(full - cut) <= np.outer(rest, rest) + 1e-12)


def test_problems_report_the_truncation_error_and_closed_forms_have_none():
    smooth = sh.Network([[0.5, 0.0]], activation=sh.Smooth(np.tanh))
    assert 0 < sh.Problem(smooth, sh.Gaussian(2), 1).truncation_error(smooth) < 1e-9
    mixed = sh.Mixture([0.5, 0.5], [sh.Gaussian(2), sh.Gaussian(2, 2 * np.eye(2))])
    assert 0 < sh.Problem(smooth, mixed, 1).truncation_error(smooth) < 1e-9
    for activation in (sh.ReLU(), sh.Power(3)):
        net = sh.Network([[0.5, 0.0]], activation=activation)
        assert sh.Problem(net, sh.Gaussian(2), 1).truncation_error(net) == 0.0


@pytest.mark.parametrize("function", [lambda z: np.abs(z) ** 0.5, np.sign, lambda z: np.abs(np.sin(3 * z))])
def test_a_series_that_does_not_converge_is_an_error(function, rng):
    W = rng.standard_normal((3, 2))
    with pytest.raises(sh.NotConverged, match="does not converge"):
        sh.Gaussian(2).kernel(sh.Smooth(function), sh.Smooth(function)).value(W, W)


def test_weights_too_large_for_the_series_are_an_error_not_a_wrong_number():
    W = np.array([[40.0, 0.0]])
    k = sh.Gaussian(2).kernel(sh.Smooth(np.tanh), sh.Smooth(np.tanh))
    with pytest.raises(sh.NotConverged):
        k.value(W, W)


def test_a_polynomial_has_derivatives_at_a_zero_neuron():
    """E[p(u·x) max(x₁, 0)] has the gradient p′(0) E[x max(x₁, 0)] = (p′(0)/2, 0) at u = 0."""
    k = sh.Gaussian(2).kernel(sh.Polynomial([1.0, 3.0, 1.0]), sh.ReLU())
    slope = k.gradient(np.zeros((1, 2)), np.array([[1.0, 0.0]]), np.ones((1, 1)))
    assert slope == pytest.approx(np.array([[1.5, 0.0]]), abs=1e-12)


def test_a_zero_neuron_has_a_value_and_refuses_derivatives():
    k = sh.Gaussian(2).kernel(sh.Smooth(np.cos), sh.Smooth(np.cos))
    zero, one = np.zeros((1, 2)), np.array([[1.0, 0.0]])
    assert k.value(zero, one)[0, 0] == pytest.approx(np.exp(-0.5), rel=1e-12)
    with pytest.raises(sh.InvalidProblem, match="neuron is zero"):
        k.gradient(zero, one, np.ones((1, 1)))
