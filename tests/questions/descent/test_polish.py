"""Polishing ends where plain descent ends, and never at a saddle."""

import numpy as np
import pytest

import shallows as sh
from shallows.questions.descent.ensemble import ensemble
from shallows.questions.descent.evaluate import evaluator
from shallows.questions.descent.methods.polish import hessian_products, is_saddle, newton_cg, preconditioner
from shallows.questions.descent.starts import starts
from shallows.questions.descent.stopping import Stopping


def relu(k):
    return sh.Problem(sh.Network(np.eye(k), activation=sh.ReLU()), sh.Gaussian(k), k, outer="ones")


GAUSSIAN = sh.Problem(np.diag([1.0, 0.8, 0.6, 0.3]), sh.Gaussian(4), 2)


@pytest.mark.parametrize(
    ("problem", "runs"), [(relu(6), 60), (relu(9), 60), (GAUSSIAN, 200)], ids=["relu6", "relu9", "quadratic"]
)
def test_polished_runs_end_where_plain_descent_ends(problem, runs):
    plain = ensemble(problem, runs, polish=False)
    fine = ensemble(problem, runs)
    assert plain.converged.all() and fine.converged.all()
    assert np.max(np.abs(plain.losses - fine.losses)) < 1e-9
    assert np.max(np.abs(plain.thetas - fine.thetas)) < 1e-3  # the same point, not only the same loss
    assert fine.iterations.mean() < 0.7 * plain.iterations.mean()


@pytest.mark.thorough
@pytest.mark.parametrize("k", [6, 10, 20])
def test_polished_relu_runs_end_where_plain_descent_ends(k):
    """For at least 99.5% of starts: long steps follow the flow, which plain descent leaves now and then."""
    plain = ensemble(relu(k), 500, polish=False, iterations=400_000)
    fine = ensemble(relu(k), 500, iterations=400_000)
    assert plain.converged.all() and fine.converged.all()
    assert np.mean(np.max(np.abs(plain.thetas - fine.thetas), axis=1) < 1e-5) >= 0.995


@pytest.mark.parametrize("problem", [GAUSSIAN, relu(4)], ids=["quadratic", "relu"])
def test_difference_products_against_exact_ones(problem):
    rng = np.random.default_rng(0)
    thetas = rng.standard_normal((3, problem.size))
    directions = rng.standard_normal((3, problem.size)) * np.array([[1e-6], [1.0], [1e3]])
    ours = hessian_products(evaluator(problem), thetas, directions)
    exact = [problem.hessian_product(theta, p) for theta, p in zip(thetas, directions, strict=True)]
    assert np.allclose(ours, exact, rtol=1e-6, atol=1e-7 * np.abs(exact).max(axis=1, keepdims=True))


SADDLE_PROBLEM = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), 1, outer="ones")
SADDLE = np.array([[0.0, np.sqrt(5 / 3)]])  # critical: of index 1, and of index 0 below
MINIMUM = np.array([[np.sqrt(7 / 3), 0.0]])


def test_lanczos_tells_a_saddle_from_a_minimum():
    evaluate = evaluator(SADDLE_PROBLEM)
    for point in (SADDLE, MINIMUM):
        assert np.linalg.norm(evaluate(point)[1]) < 1e-12
    assert is_saddle(evaluate, SADDLE)[0] and not is_saddle(evaluate, MINIMUM)[0]


@pytest.mark.parametrize("away", [0.02, 1e-3, 1e-6])
def test_newton_cg_refuses_a_saddle(away):
    """Plain Newton steps from here end at the saddle; conjugate gradients meet negative curvature and stay."""
    evaluate = evaluator(SADDLE_PROBLEM)
    near = SADDLE + np.array([[away, 0.0]])
    newton = near[0]
    for _ in range(8):
        hessian = SADDLE_PROBLEM.hessian(SADDLE_PROBLEM.unpack(newton))
        newton = newton - np.linalg.solve(hessian, SADDLE_PROBLEM.value_and_gradient(newton)[1])
    assert np.allclose(newton, SADDLE[0], atol=1e-10)
    theta, _, norm = newton_cg(evaluate, near, Stopping(1e-12))
    assert np.array_equal(theta, near) and norm[0] == np.linalg.norm(evaluate(near)[1])


def test_newton_cg_ends_at_a_minimum():
    theta, _, norm = newton_cg(evaluator(SADDLE_PROBLEM), MINIMUM + 0.01, Stopping(1e-12))
    assert norm[0] <= 1e-12 and np.allclose(theta, MINIMUM, atol=1e-10)


def test_runs_started_on_the_ridge_of_a_saddle_still_end_at_a_minimum():
    begin = np.array([[1e-5, 0.7], [-1e-5, 0.7], [1e-4, -2.0]])
    runs = ensemble(SADDLE_PROBLEM, 3, init=begin)
    assert np.allclose(runs.losses, 2 * 1 + 2 * 1 / 3)  # the index-0 point, not the saddle above it
    assert runs.minima[0].kind == "minimum"


def test_the_preconditioner_is_symmetric_positive_and_only_for_relu():
    apply = preconditioner(relu(3))
    matrix = apply(np.eye(9))
    assert np.allclose(matrix, matrix.T) and np.linalg.eigvalsh(matrix)[0] > 0
    assert preconditioner(GAUSSIAN) is None
    assert starts(relu(3), 2).shape == (2, 9)
