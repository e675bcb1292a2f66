"""Activations by name, against mpmath at every order of magnitude."""

import mpmath
import numpy as np
import pytest

import shallows as sh
from shallows.model.smooth_functions import GELU_CUBIC, NAMED

mpmath.mp.dps = 40


def gelu_tanh(z):
    return z * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (z + mpmath.mpf(GELU_CUBIC) * z**3))) / 2


REFERENCE = {
    "tanh": mpmath.tanh,
    "erf": mpmath.erf,
    "sigmoid": lambda z: 1 / (1 + mpmath.exp(-z)),
    "softplus": lambda z: mpmath.log1p(mpmath.exp(z)),
    "gelu": lambda z: z * mpmath.ncdf(z),
    "gelu_tanh": gelu_tanh,
    "silu": lambda z: z / (1 + mpmath.exp(-z)),
}
POINTS = np.array([0.0, 1e-8, -1e-3, 0.3, -0.7, 1.0, -2.5, 4.0, -6.0, 9.0, -15.0, 30.0])


def test_every_name_has_a_reference():
    assert set(REFERENCE) == set(NAMED)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("name", NAMED)
def test_values_and_derivatives(name, order):
    expected = [float(mpmath.diff(REFERENCE[name], mpmath.mpf(float(z)), order)) for z in POINTS]
    np.testing.assert_allclose(sh.Smooth(name).derivative(POINTS, order), expected, atol=2e-14)


@pytest.mark.parametrize("name", NAMED)
def test_nothing_overflows(name):
    for order in range(3):
        assert np.isfinite(sh.Smooth(name).derivative(np.array([-745.0, -80.0, 80.0, 745.0]), order)).all()


def test_names_are_checked():
    with pytest.raises(sh.InvalidProblem, match="expected one of tanh, erf"):
        sh.Smooth("swish")
    with pytest.raises(sh.InvalidProblem, match=r"Fix: ReLU\(\)"):
        sh.Smooth("relu")
    with pytest.raises(sh.InvalidProblem, match="knows its derivatives"):
        sh.Smooth("tanh", np.cos)


def test_a_problem_with_a_named_activation_is_stored(tmp_path):
    teacher = sh.Network(np.eye(2), activation=sh.Smooth("gelu"))
    problem = sh.Problem(teacher, sh.Gaussian(2), width=2, outer="ones")
    runs = sh.ensemble(problem, runs=2, rng=0)
    runs.save(tmp_path / "runs")
    assert sh.load_ensemble(tmp_path / "runs").problem.activation == teacher.activation
