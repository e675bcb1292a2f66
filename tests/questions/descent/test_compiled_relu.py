"""The compiled ReLU descent against its slow twin: side by side, one by one, with every way to end."""

import numpy as np
import pytest

import shallows as sh
from shallows.questions.descent.evaluate import evaluator
from shallows.questions.descent.methods.gradient import fixed_step, line_search
from shallows.questions.descent.results.run import Batch, Status
from shallows.questions.descent.starts import starts
from shallows.questions.descent.stopping import Stopping
from shallows.questions.relu.setting import relu_problem


def slow_descent(problem, theta, step, tolerance, limit):
    """θ ← θ − s∇L(θ) by the accurate formulas."""
    for iteration in range(limit + 1):
        _, slope = problem.value_and_gradient(theta)
        if np.linalg.norm(slope) <= tolerance or iteration == limit:
            return theta, iteration
        theta = theta - step * slope
    raise AssertionError


def trained(problem, begin, step, tolerance=1e-3, limit=10_000):
    batch = Batch.start(begin)
    fixed_step(evaluator(problem), batch, step, Stopping(tolerance, limit))
    return batch


@pytest.mark.parametrize("runs", [3, 40])
@pytest.mark.parametrize("outer", ["ones", "free"])
def test_the_loop_is_plain_descent(runs, outer):
    """3 runs go one by one, 40 side by side and then one by one."""
    problem = sh.Problem(sh.Network(np.eye(3, 4), activation=sh.ReLU()), sh.Gaussian(4), 4, outer=outer)
    begin = starts(problem, runs, rng=2)
    batch = trained(problem, begin, 0.1, limit=60)
    for row in range(runs):
        theta, iterations = slow_descent(problem, begin[row], 0.1, 1e-3, 60)
        assert iterations == batch.iterations[row]
        np.testing.assert_allclose(batch.thetas[row], theta, atol=1e-10)
        assert batch.losses[row] == pytest.approx(float(problem.value(theta)), abs=1e-11)


def test_more_runs_than_lanes_end_where_each_would_alone():
    problem = relu_problem(5)
    begin = starts(problem, 150, rng=0)
    together = trained(problem, begin, 0.5, tolerance=1e-9)
    assert np.all(together.status == Status.CONVERGED)
    for row in (0, 63, 64, 149):
        alone = trained(problem, begin[row : row + 1], 0.5, tolerance=1e-9)
        assert abs(alone.iterations[0] - together.iterations[row]) <= 1
        np.testing.assert_allclose(alone.thetas[0], together.thetas[row], atol=1e-8)


def test_a_general_teacher_with_a_zero_neuron_and_signs(rng):
    V = np.vstack([rng.standard_normal((2, 3)), np.zeros(3)])
    problem = sh.Problem(sh.Network(V, [1.0, -0.7, 2.0], sh.ReLU()), sh.Gaussian(3), 2, outer=[1.0, -1.0])
    begin = starts(problem, 20, rng=1)
    batch = trained(problem, begin, 0.05, limit=30)
    for row in range(20):
        theta, _ = slow_descent(problem, begin[row], 0.05, 1e-3, 30)
        np.testing.assert_allclose(batch.thetas[row], theta, atol=1e-11)


@pytest.mark.parametrize("runs", [2, 30])
def test_a_step_that_is_too_long_keeps_the_last_sound_point(runs):
    problem = relu_problem(4)
    batch = trained(problem, starts(problem, runs, rng=0), 50.0)
    assert np.all(batch.status == Status.DIVERGED)
    assert np.all(np.isfinite(batch.thetas)) and np.all(np.isfinite(batch.losses))
    np.testing.assert_allclose(problem.value(batch.thetas), batch.losses, rtol=1e-9)


def test_limits_goals_and_interruption():
    problem = relu_problem(4)
    begin = starts(problem, 30, rng=0)
    assert np.all(trained(problem, begin, 0.1, tolerance=1e-12, limit=7).iterations == 7)
    batch = Batch.start(begin)
    stopping = Stopping(1e-12, 1000)
    stopping.interrupted.set()
    fixed_step(evaluator(problem), batch, 0.1, stopping)
    assert np.all(batch.status == Status.INTERRUPTED) and np.all(batch.iterations == 0)


@pytest.mark.thorough
@pytest.mark.parametrize("k", [6, 10, 20])
def test_polished_runs_end_where_plain_descent_ends(k):
    from shallows.questions.descent.ensemble import ensemble

    problem = relu_problem(k)
    polished = ensemble(problem, 500, rng=7)
    plain = ensemble(problem, 500, rng=7, polish=False)
    same = np.abs(polished.thetas - plain.thetas).max(axis=1) < 1e-4
    assert same.mean() >= 0.995


@pytest.mark.parametrize("outer", ["ones", "free"])
def test_the_line_search_is_its_slow_twin(outer):
    problem = sh.Problem(sh.Network(np.eye(3), activation=sh.ReLU()), sh.Gaussian(3), 4, outer=outer)
    begin = starts(problem, 5, rng=0)
    fast, slow = Batch.start(begin), Batch.start(begin)
    line_search(evaluator(problem), fast, Stopping(1e-6, 80))
    line_search(problem.value_and_gradient, slow, Stopping(1e-6, 80))
    np.testing.assert_allclose(fast.thetas, slow.thetas, atol=1e-11)
    np.testing.assert_array_equal(fast.iterations, slow.iterations)


def test_exact_hessian_products_are_those_of_the_problem(rng):
    from shallows.model.kernels._compiled.kinds import INT, MATRIX, VECTOR, VOID
    from shallows.model.kernels._compiled.relu_hessian import (
        hessian_at,
        hessian_space,
        hessian_times,
        prepare,
    )
    from shallows.model.kernels._compiled.relu_loop import one_at, one_space
    from shallows.model.kernels._compiled.relu_model import model_at, relu_model
    from shallows.support.compiling import entry, pointer

    @entry(VOID(INT, INT, INT, MATRIX, MATRIX, VECTOR, MATRIX))
    def product(model_place, one_place, space_place, P, W, a, out):
        model, one, space = model_at(model_place), one_at(one_place), hessian_at(space_place)
        prepare(model, one, space, pointer(W), pointer(a))
        hessian_times(model, one, space, pointer(W), pointer(a), pointer(P), pointer(out))

    for k, m, n in ((3, 2, 4), (5, 5, 5), (4, 6, 3)):
        W, P, V = rng.standard_normal((k, n)), rng.standard_normal((k, n)), rng.standard_normal((m, n))
        a, b = rng.standard_normal(k), rng.standard_normal(m)
        problem = sh.Problem(sh.Network(V, b, sh.ReLU()), sh.Gaussian(n), k, outer=a)
        model, one = relu_model(k, n, V, b), one_space(k, n, m)
        space, out = hessian_space(k, n, m), np.empty((k, n))
        product(model.address, one.address, space.address, P, W, a, out)
        expected = problem.hvp(sh.Network(W, a, sh.ReLU()), P.ravel())
        np.testing.assert_allclose(out.ravel(), expected, atol=1e-11 * (1 + np.abs(expected).max()))


def slow_flow(problem, theta, target, accuracy):
    """ROS2 with dense matrices and the accurate formulas: M = I + γh(½aaᵀ⊗I + uuᵀ/π + 0.3I)."""
    k, n, a = problem.width, problem.n, problem.outer[0]
    h, gamma, evaluations = 0.5, 1 - np.sqrt(0.5), 2
    _, slope = problem.value_and_gradient(theta)
    while np.linalg.norm(slope) > target:
        W = theta.reshape(k, n)
        u = (a[:, None] * W / np.linalg.norm(W, axis=1)[:, None]).ravel()
        stiff = (
            0.5 * np.kron(np.outer(a, a), np.eye(n))
            + np.outer(u, u) / np.pi
            + 0.3 * np.mean(a**2) * np.eye(k * n)
        )
        M = np.eye(k * n) + gamma * h * stiff
        first = np.linalg.solve(M, -slope)
        second = np.linalg.solve(M, -problem.value_and_gradient(theta + h * first)[1] - 2 * first)
        change = 0.5 * np.linalg.norm(first + second) / np.linalg.norm(first)
        if change <= accuracy:
            theta = theta + h * (1.5 * first + 0.5 * second)
        h = min(h * np.clip(0.8 * accuracy / change, 0.3, 1.5), 50.0)
        _, slope = problem.value_and_gradient(theta)
        evaluations += 2
    return theta, evaluations


@pytest.mark.parametrize(("k", "runs"), [(4, 3), (4, 20), (21, 1)])
def test_steps_along_the_flow_are_their_slow_twins(k, runs):
    """One by one, side by side (and then one by one, from two more evaluations), and too large for lanes."""
    outer = np.where(np.arange(k) % 3 == 2, -0.8, 1.1)
    problem = sh.Problem(sh.Network(np.eye(k), outer, sh.ReLU()), sh.Gaussian(k), k, outer=outer)
    begin = np.random.default_rng(5).standard_normal((runs, k * k)) * 0.1 + np.eye(k).ravel()
    batch = Batch.start(begin)
    target = 0.3 * np.linalg.norm(problem.value_and_gradient(begin)[1], axis=1).min()
    evaluator(problem).follow_flow(batch, Stopping(target), 0.15)
    assert np.all(batch.status == Status.CONVERGED)
    for row in range(min(runs, 4)):
        theta, evaluations = slow_flow(problem, begin[row], target, 0.15)
        assert batch.iterations[row] in (evaluations, evaluations + 2)
        np.testing.assert_allclose(batch.thetas[row], theta, atol=1e-9)
        assert batch.losses[row] == pytest.approx(float(problem.value(theta)), abs=1e-10)


def test_steps_along_the_flow_follow_it():
    """Against the integrator of `flow` at a tight tolerance: the same curve, of second order in the accuracy."""
    from scipy.integrate import solve_ivp

    problem = relu_problem(5)
    begin = trained(problem, starts(problem, 1, rng=3), 0.5, tolerance=0.1).thetas

    def field(_, theta):
        return -problem.value_and_gradient(theta)[1]

    curve = solve_ivp(field, (0, 400), begin[0], rtol=1e-9, atol=1e-11, dense_output=True)
    points = curve.sol(np.linspace(0, 400, 20_001)).T
    gaps = []
    for accuracy in (0.16, 0.04):
        batch = Batch.start(begin)
        evaluator(problem).follow_flow(batch, Stopping(1e-2), accuracy)
        gaps.append(np.linalg.norm(points - batch.thetas[0], axis=1).min())
    assert gaps[0] < 1e-2 and gaps[1] < 0.25 * gaps[0]


def test_steps_along_the_flow_stop_at_limits_goals_and_interruption_and_leave_wide_students_alone():
    problem = relu_problem(4)
    begin = starts(problem, 20, rng=0)
    for stopping, status in (
        (Stopping(1e-9, 10), Status.LIMIT),
        (Stopping(1e-9, goal=1e9), Status.GOAL),
    ):
        batch = Batch.start(begin)
        evaluator(problem).follow_flow(batch, stopping, 0.15)
        assert np.all(batch.status == status)
    stopping = Stopping(1e-9)
    stopping.interrupted.set()
    batch = Batch.start(begin)
    evaluator(problem).follow_flow(batch, stopping, 0.15)
    assert np.all(batch.status == Status.INTERRUPTED)
    wide = sh.Problem(sh.Network(np.eye(4), activation=sh.ReLU()), sh.Gaussian(4), 5, outer="ones")
    assert evaluator(problem).has_flow_steps and not evaluator(wide).has_flow_steps


def test_the_pivots_of_a_tridiagonal_matrix_see_a_negative_eigenvalue(rng):
    from shallows.model.kernels._compiled.kinds import BOOL, INT, VECTOR
    from shallows.questions.descent._compiled.relu_newton import _has_negative_pivot
    from shallows.support.compiling import entry, pointer

    @entry(BOOL(VECTOR, VECTOR, INT))
    def negative(diagonal, beside, size):
        return _has_negative_pivot(pointer(diagonal), pointer(beside), size)

    for _ in range(50):
        diagonal, beside = rng.standard_normal(6) + 1.5, rng.standard_normal(6)
        T = np.diag(diagonal) + np.diag(beside[:5], 1) + np.diag(beside[:5], -1)
        assert negative(diagonal, beside, 6) == (np.linalg.eigvalsh(T)[0] < 0)
