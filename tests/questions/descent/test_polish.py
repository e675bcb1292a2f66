"""Polishing ends where plain descent ends, and never at a saddle."""

import numpy as np
import pytest

import shallows as sh
from shallows.questions.descent.ensemble import ensemble
from shallows.questions.descent.evaluate import evaluator
from shallows.questions.descent.methods.control import Control
from shallows.questions.descent.methods.polish import hessian_products, is_saddle, newton_cg, preconditioner
from shallows.questions.descent.starts import starts


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


def test_newton_cg_refuses_a_saddle_and_lanczos_sees_it():
    problem = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), 1, outer="ones")
    evaluate = evaluator(problem)
    saddle = np.array([[0.0, np.sqrt((3 * 1.0 + 2.0 - 0.0) / 3)]])  # the rank-one critical point along e₂
    minimum = np.array([[np.sqrt((2 * 2.0 + 3.0) / 3), 0.0]])
    for point in (saddle, minimum):
        assert np.linalg.norm(evaluate(point)[1]) < 1e-12
    assert is_saddle(evaluate, saddle)[0] and not is_saddle(evaluate, minimum)[0]
    near = saddle + np.array([[0.02, 0.0]])
    theta, _, norm = newton_cg(evaluate, near, Control(1e-12))
    assert norm[0] > 1e-12 or is_saddle(evaluate, theta)[0]
    theta, _, norm = newton_cg(evaluate, minimum + 0.01, Control(1e-12))
    assert norm[0] <= 1e-12 and np.allclose(theta, minimum, atol=1e-10)


def test_runs_started_on_the_ridge_of_a_saddle_still_end_at_a_minimum():
    problem = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), 1, outer="ones")
    begin = np.array([[1e-5, 0.7], [-1e-5, 0.7], [1e-4, -2.0]])
    runs = ensemble(problem, 3, init=begin)
    assert np.allclose(runs.losses, 2 * 1 + 2 * 1 / 3)  # the index-0 point, not the saddle above it
    assert runs.minima[0].kind == "minimum"


def test_the_preconditioner_is_symmetric_positive_and_only_for_relu():
    apply = preconditioner(relu(3))
    matrix = apply(np.eye(9))
    assert np.allclose(matrix, matrix.T) and np.linalg.eigvalsh(matrix)[0] > 0
    assert preconditioner(GAUSSIAN) is None
    assert starts(relu(3), 2).shape == (2, 9)
