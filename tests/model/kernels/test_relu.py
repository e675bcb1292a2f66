"""The ReLU kernel at its difficult places, and the fused loop against its slow twin."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.model.kernels.arccos_polynomial import arccos_polynomial
from shallows.model.kernels.relu import Angles, ReLUKernel
from shallows.model.kernels.relu_fused import loss_and_gradient

K = ReLUKernel()


def mixed_block(w, v):
    """∂₁∂₂k(w, v), column by column."""
    n = len(w)
    zero = np.zeros((1, n))
    columns = [
        K.gradient_jvp(w[None], v[None], np.ones((1, 1)), zero, np.eye(n)[i : i + 1], None)[0]
        for i in range(n)
    ]
    return np.array(columns).T


def test_lemma_1_of_paper_003_parallel_and_antiparallel_neurons(rng):
    """In ½E units the off-diagonal block of two parallel neurons is ½I, of two antiparallel ones 0."""
    w = rng.standard_normal(4)
    np.testing.assert_allclose(mixed_block(w, w), np.eye(4) / 2, atol=1e-15)
    np.testing.assert_allclose(mixed_block(w, 2.5 * w), np.eye(4) / 2, atol=1e-15)
    np.testing.assert_allclose(mixed_block(w, -0.3 * w), np.zeros((4, 4)), atol=1e-15)


@pytest.mark.parametrize("angle", [1e-12, 1e-9, 1e-6, 1e-3, np.pi - 1e-3, np.pi - 1e-6, np.pi - 1e-9])
def test_the_hessian_is_accurate_at_nearly_parallel_neurons(angle):
    """Against 50-digit arithmetic: arccos would lose half the digits here."""
    w, v = np.array([1.0, 0.0]), np.array([np.cos(angle), np.sin(angle)])
    with mpmath.workdps(50):

        def k(a, b, c, d):
            p, q, r = mpmath.hypot(a, b), mpmath.hypot(c, d), a * c + b * d
            theta = mpmath.atan2(abs(a * d - b * c), r)
            return p * q * (mpmath.sin(theta) + (mpmath.pi - theta) * mpmath.cos(theta)) / (2 * mpmath.pi)

        at = tuple(mpmath.mpf(float(x)) for x in (*w, *v))
        orders = {(0, 0): (1, 0, 1, 0), (0, 1): (1, 0, 0, 1), (1, 0): (0, 1, 1, 0), (1, 1): (0, 1, 0, 1)}
        exact = np.zeros((2, 2))
        h = mpmath.mpf(10) ** (-16) * min(angle, np.pi - angle)
        for (i, j), order in orders.items():
            exact[i, j] = float(mpmath.diff(k, at, order, h=h))
    assert np.max(np.abs(mixed_block(w, v) - exact)) < 1e-13


def test_angles_survive_extreme_lengths():
    W = np.array([[1e-200, 0.0], [1e150, 1e150]])
    angles = Angles.between(W, np.array([[3.0, 0.0]]))
    np.testing.assert_allclose(angles.supplement[:, 0], [np.pi, 0.75 * np.pi], rtol=1e-15)


def test_the_loss_evaluates_at_a_zero_neuron_and_derivatives_are_refused_by_name():
    teacher = sh.Network(np.eye(3), activation=sh.ReLU())
    problem = sh.Problem(teacher, sh.Gaussian(3), 2, outer="ones")
    net = sh.Network([[1.0, 0, 0], [0, 0, 0]], activation=sh.ReLU())
    single = sh.Problem(teacher, sh.Gaussian(3), 1, outer="ones")
    assert problem.loss(net) == pytest.approx(single.loss(sh.Network([[1.0, 0, 0]], activation=sh.ReLU())))
    for derivative in (problem.gradient, problem.hessian):
        with pytest.raises(sh.NotDifferentiable, match="Neuron 1 is zero"):
            derivative(net)
    with pytest.raises(sh.NotDifferentiable, match="Neuron 1 is zero"):
        problem.value_and_gradient(np.stack([problem.pack(net)] * 5))
    assert issubclass(sh.NotDifferentiable, sh.InvalidProblem)


def test_the_arccos_polynomial_is_right_to_rounding():
    coefficients = arccos_polynomial()
    worst = 0.0
    with mpmath.workdps(40):
        for a in [*np.linspace(0, 1, 301), *(1 - np.logspace(-15, -1, 60))]:
            value = np.sqrt((1 - a) * (1 + a)) * np.polynomial.polynomial.polyval(2 * a - 1, coefficients)
            worst = max(worst, abs(float(mpmath.acos(mpmath.mpf(float(a))) - mpmath.mpf(float(value)))))
    assert worst < 1e-15


@given(st.integers(0, 10_000), st.integers(1, 7), st.integers(1, 6), st.integers(1, 5))
def test_the_fused_loop_is_its_slow_twin(seed, k, m, n):
    rng = np.random.default_rng(seed)
    batch = 5 if seed % 2 else 19  # one at a time, and side by side
    W, a = rng.standard_normal((batch, k, n)), rng.standard_normal((batch, k))
    V, b = rng.standard_normal((m, n)), rng.standard_normal(m)
    teacher = sh.Network(V, b, sh.ReLU())
    problem = sh.Problem(teacher, sh.Gaussian(n), k)
    energy = problem.objective.energy
    loss, dW, da = loss_and_gradient(W, a, V, b, energy)
    for i in range(batch):
        slow, inner, outer = super(type(problem.objective), problem.objective).value_and_gradient(
            W[i], a[i][None]
        )
        scale = 1 + energy + np.sum(np.abs(a[i])) ** 2 * np.max(W[i] ** 2)
        assert abs(loss[i] - slow) < 1e-12 * scale
        assert np.max(np.abs(dW[i] - inner)) < 1e-12 * scale
        assert np.max(np.abs(da[i] - outer[0])) < 1e-12 * scale


def sparse_teacher(m, n, rng):
    """Few entries, of both signs, and one neuron that is zero."""
    V = np.where(rng.random((m, n)) < 1.5 / n, rng.standard_normal((m, n)), 0.0)
    V[0], V[-1] = 0.0, np.eye(n)[0]
    return V


TEACHERS = {
    "coordinates": lambda m, n, rng: np.eye(m, n),
    "sparse": sparse_teacher,
    "dense": lambda m, n, rng: rng.standard_normal((m, n)),
}


@pytest.mark.parametrize("kind", TEACHERS)
@pytest.mark.parametrize(("k", "m", "n"), [(20, 20, 20), (7, 11, 50), (33, 5, 12)])
def test_large_networks_one_at_a_time_are_the_slow_twin(kind, k, m, n, rng):
    V, b = TEACHERS[kind](m, n, rng), rng.standard_normal(m)
    W, a = rng.standard_normal((6, k, n)), rng.standard_normal((6, k))
    W[0, 1], W[1, 1] = 2 * W[0, 0], -W[1, 0]
    problem = sh.Problem(sh.Network(V, b, sh.ReLU()), sh.Gaussian(n), k)
    objective = problem.objective
    loss, dW, da = loss_and_gradient(W, a, V, b, objective.energy)
    for i in range(6):
        slow, inner, outer = super(type(objective), objective).value_and_gradient(W[i], a[i][None])
        scale = 1 + objective.energy + np.sum(np.abs(a[i]) * np.linalg.norm(W[i], axis=1)) ** 2
        assert abs(loss[i] - slow) < 1e-14 * scale
        assert np.max(np.abs(dW[i] - inner)) < 1e-14 * scale
        assert np.max(np.abs(da[i] - outer[0])) < 1e-14 * scale


@pytest.mark.parametrize("batch", [4, 16])
@pytest.mark.parametrize("angle", [1e-12, 1e-9, 1e-7, 1e-4, 1e-2, np.pi - 1e-4, np.pi - 1e-9])
def test_the_fused_gradient_at_nearly_parallel_neurons(angle, batch):
    """Against 50 digits: one student at an angle to the teacher e₁, one and many networks at a time."""
    w = np.array([np.cos(angle), np.sin(angle)])
    with mpmath.workdps(50):
        x, y = (mpmath.mpf(float(t)) for t in w)
        length = mpmath.hypot(x, y)
        theta = mpmath.atan2(abs(y), x)
        rest, turn = (mpmath.pi - theta) / mpmath.pi, mpmath.sin(theta) / mpmath.pi
        exact = np.array([float(x - turn * x / length - rest), float(y - turn * y / length)])
    _, dW, _ = loss_and_gradient(
        np.tile(w, (batch, 1, 1)), np.ones((batch, 1)), np.eye(1, 2), np.ones(1), 0.5
    )
    np.testing.assert_allclose(dW[:, 0], np.tile(exact, (batch, 1)), rtol=0, atol=4e-16)


@pytest.mark.parametrize(("batch", "k"), [(5, 3), (20, 3), (5, 20)])
def test_a_nan_stays_a_nan_and_in_its_own_network(batch, k, rng):
    W = rng.standard_normal((batch, k, 20))
    W[2, 1, 0] = np.nan
    loss, dW, da = loss_and_gradient(W, np.ones((batch, k)), np.eye(20), np.ones(20), 10.0)
    assert np.array_equal(np.isnan(loss), np.arange(batch) == 2)
    assert np.all(np.isnan(dW[2, 1])) and np.all(np.isnan(da[2]))
    assert not np.any(np.isnan(dW[np.arange(batch) != 2]))


def test_the_fused_loop_at_parallel_neurons_and_with_a_zero_teacher():
    W = np.array([[[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0]]] * 4)
    V = np.array([[1.0, 0.0], [0.0, 0.0]])
    problem = sh.Problem(sh.Network(V, activation=sh.ReLU()), sh.Gaussian(2), 3, outer="ones")
    loss, gradient = problem.value_and_gradient(W.reshape(4, 6))
    slow = problem.value_and_gradient(W[0].ravel())
    assert loss[0] == pytest.approx(slow[0], abs=1e-15)
    np.testing.assert_allclose(gradient[0], slow[1], atol=1e-15)


def test_coloured_data_is_the_standard_problem_in_other_coordinates(rng):
    factor = rng.standard_normal((3, 3))
    data = sh.Gaussian(3, factor @ factor.T)
    V, W = rng.standard_normal((2, 3)), rng.standard_normal((3, 3))
    coloured = sh.Problem(sh.Network(V, activation=sh.ReLU()), data, 3, outer="ones")
    root = data.root()
    standard = sh.Problem(sh.Network(V @ root, activation=sh.ReLU()), sh.Gaussian(3), 3, outer="ones")
    net, moved = sh.Network(W, activation=sh.ReLU()), sh.Network(W @ root, activation=sh.ReLU())
    assert coloured.loss(net) == pytest.approx(standard.loss(moved), rel=1e-12)
    gradient = standard.gradient(moved).reshape(3, 3) @ root
    np.testing.assert_allclose(coloured.gradient(net).reshape(3, 3), gradient, rtol=1e-10, atol=1e-12)
    batch = np.stack([coloured.pack(net)] * 6)
    np.testing.assert_allclose(coloured.value_and_gradient(batch)[1][0], coloured.gradient(net), atol=1e-12)


@pytest.mark.parametrize(("batch", "k", "n"), [(40, 2, 3), (3, 2, 3), (2, 20, 20)])
def test_rooms_that_are_kept_remember_no_teacher(rng, batch, k, n):
    """Side by side and one by one, a call's answer is the same whatever was asked before it, in the same room."""
    W, a = rng.standard_normal((batch, k, n)), rng.standard_normal((batch, k))
    dense, sparse, zero = rng.standard_normal((k, n)), np.eye(k, n), np.zeros((k, n))
    teachers = [(V, b) for V in (dense, sparse, zero) for b in (np.ones(k), -2 * np.ones(k))]
    alone = [loss_and_gradient(W, a, V, b, 100.0) for V, b in teachers]
    for first in range(len(teachers)):
        for second in range(len(teachers)):
            loss_and_gradient(W, a, *teachers[first], 100.0)
            again = loss_and_gradient(W, a, *teachers[second], 100.0)
            for found, expected in zip(again, alone[second], strict=True):
                np.testing.assert_array_equal(found, expected)
