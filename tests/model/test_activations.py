import numpy as np
import pytest

import shallows as sh

Z = np.linspace(-2, 2, 41)
SECOND = -2 * np.tanh(Z) / np.cosh(Z) ** 2
TANH = sh.Smooth(np.tanh, lambda z: 1 / np.cosh(z) ** 2, lambda z: -2 * np.tanh(z) / np.cosh(z) ** 2)


@pytest.mark.parametrize(
    ("activation", "expected"),
    [
        (sh.Power(3), Z**3),
        (sh.Polynomial([1, 0, -2]), 1 - 2 * Z**2),
        (sh.ReLU(), np.where(Z > 0, Z, 0)),
        (TANH, np.tanh(Z)),
    ],
)
def test_values(activation, expected):
    np.testing.assert_allclose(activation(Z), expected, atol=1e-15)


@pytest.mark.parametrize("activation", [sh.Power(1), sh.Power(4), sh.Polynomial([1.0, 2.0, 0.5, -1.0]), TANH])
@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_match_finite_differences(activation, order):
    h = 1e-5
    difference = (activation.derivative(Z + h, order - 1) - activation.derivative(Z - h, order - 1)) / (2 * h)
    np.testing.assert_allclose(activation.derivative(Z, order), difference, atol=1e-8)


def test_a_polynomial_drops_trailing_zeros_and_knows_its_degree():
    assert sh.Polynomial([1, 2, 0, 0]) == sh.Polynomial([1, 2])
    assert sh.Polynomial([0, 0, 3]).degree == 2
    assert sh.Power(5).degree == 5


@pytest.mark.parametrize("degree", [0, -1, 1.5, "2", True])
def test_power_refuses_what_is_not_a_positive_integer(degree):
    with pytest.raises(sh.InvalidProblem, match="at least 1"):
        sh.Power(degree)


@pytest.mark.parametrize("coefficients", [[], [3.0], [0.0, 0.0], [1.0, np.nan], [[1.0, 2.0]]])
def test_polynomial_refuses_constants_and_nonsense(coefficients):
    with pytest.raises(sh.InvalidProblem):
        sh.Polynomial(coefficients)


def test_smooth_refuses_functions_that_are_not_vectorised():
    with pytest.raises(sh.InvalidProblem, match="7 finite numbers"):
        sh.Smooth(lambda z: 1.0)
    with pytest.raises(sh.InvalidProblem, match="expected a vectorised function"):
        sh.Smooth(3.0)


def test_smooth_asks_for_a_derivative_it_was_not_given():
    with pytest.raises(sh.InvalidProblem, match="second_derivative"):
        sh.Smooth(np.tanh).derivative(Z, 2)
