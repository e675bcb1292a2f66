"""Balanced coordinates: the action on tensors, isotropy, and charts that do not depend on the units of the inputs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.mathematics.tensors import coordinates as co
from shallows.questions.charts.continuation.balanced_coordinates import balanced_frame, power_action
from shallows.questions.charts.continuation.balanced_problem import BalancedProblem


@given(st.integers(2, 4), st.integers(1, 5), st.integers(0, 10**6))
def test_the_action_on_powers(n, degree, seed):
    rng = np.random.default_rng(seed)
    B, v = rng.standard_normal((n, n)), rng.standard_normal(n)
    moved = power_action(B, degree) @ co.monomials(v, degree)
    np.testing.assert_allclose(
        moved, co.monomials(B @ v, degree), atol=1e-11 * np.abs(B).max() ** degree * 50
    )


def test_the_action_is_a_representation(rng):
    A, B = rng.standard_normal((2, 3, 3))
    np.testing.assert_allclose(power_action(A @ B, 4), power_action(A, 4) @ power_action(B, 4), atol=1e-10)


@pytest.mark.parametrize(("n", "degree"), [(2, 3), (3, 3), (3, 4), (2, 6)])
def test_a_gaussian_becomes_isotropic(n, degree, rng):
    A = rng.standard_normal((n, n))
    covariance = A @ A.T + 1e-2 * np.eye(n)
    frame = balanced_frame(sh.Gaussian(n, covariance).gram(degree), n, degree)
    white = frame.T @ covariance @ frame
    np.testing.assert_allclose(white / white[0, 0], np.eye(n), atol=1e-2)


def test_points_come_back_to_the_problems_coordinates(generic, rng):
    """⟨s′ − t′, s′ − t′⟩ in balanced coordinates is the loss of the restored neurons, up to the units."""
    problem = generic(3, 2, 0, 3)
    even = BalancedProblem.of(problem)
    point = rng.standard_normal((1, 6))
    W = even.restored(point + 0j).real.reshape(2, 3)
    gap = co.monomials(point.reshape(2, 3), 3).sum(axis=0) - even.target
    zero = even.target @ even.gram @ even.target
    loss = problem.loss(sh.Network(W, np.ones(2), sh.Power(3)))
    nothing = problem.loss(sh.Network(np.zeros((2, 3)), np.ones(2), sh.Power(3)))
    assert gap @ even.gram @ gap / zero == pytest.approx(loss / nothing)


@pytest.mark.parametrize("stretch", [1.0, 30.0])
def test_the_units_of_an_input_do_not_change_the_chart(stretch, rng):
    """x₁ in other units: neurons move, losses and counts do not. Without balancing, far points look infinite."""
    inputs = rng.standard_normal((40, 2))
    entries = rng.standard_normal(5)
    units = np.diag([1 / stretch, 1.0])
    target = sh.SymmetricTensor(power_action(units, 4) @ entries, 2, 4)
    chart = sh.chart(sh.Problem(target, sh.Samples(inputs @ np.linalg.inv(units)), 2))
    plain = sh.chart(sh.Problem(sh.SymmetricTensor(entries, 2, 4), sh.Samples(inputs), 2))
    assert chart.complex_count == plain.complex_count and chart.completeness == "proved"
    np.testing.assert_allclose(chart.losses, plain.losses, rtol=1e-7)
