"""The fast evaluators against `Problem.value_and_gradient`, and compiled descent against its NumPy twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.descent.control import Control, Recorder
from shallows.descent.evaluate import evaluator
from shallows.descent.gradient import fixed_step, line_search
from shallows.descent.run import Batch, Status

COVARIANCE = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 0.7]])


def teacher(degree, seed=3):
    rng = np.random.default_rng(seed)
    return sh.Network(rng.standard_normal((4, 3)), rng.standard_normal(4), sh.Power(degree))


PROBLEMS = {
    "quadratic": sh.Problem(np.diag([1.0, 0.5, -0.3]), sh.Gaussian(3), 2),
    "coloured": sh.Problem(np.diag([1.0, 0.5, -0.3]), sh.Gaussian(3, COVARIANCE), 2, outer=[1.0, -1.0]),
    "linear": sh.Problem(teacher(1), sh.Gaussian(3), 2),
    "cubic": sh.Problem(teacher(3), sh.Gaussian(3), 3),
    "quartic": sh.Problem(teacher(4), sh.Sphere(3), 3),
    "quintic": sh.Problem(teacher(5), sh.Gaussian(3), 2, outer="ones"),
    "frobenius": sh.Problem(teacher(4), sh.Frobenius(3), 2),
    "relu": sh.Problem(sh.Network(np.eye(3), activation=sh.ReLU()), sh.Gaussian(3), 4),
    "relu coloured": sh.Problem(sh.Network(np.eye(3), activation=sh.ReLU()), sh.Gaussian(3, COVARIANCE), 4),
    "iid": sh.Problem(teacher(3), sh.IID.laplace(3), 2),
    "mean": sh.Problem(np.eye(3), sh.Gaussian(3, mean=[1.0, 0.0, 0.0]), 2),
    "norm neuron": sh.Problem(np.eye(3), sh.Gaussian(3), 2, norm_neuron=True),
    "penalty": sh.Problem(np.eye(3), sh.IID.uniform(3), 3, orthogonality=0.7),
    "tensor": sh.Problem(teacher(3).tensor(), sh.Gaussian(3), 2),
    "polynomial": sh.Problem(np.eye(3), sh.Gaussian(3), 2, sh.Polynomial([0.0, 1.0, 1.0])),
}


@pytest.mark.parametrize("name", PROBLEMS)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.1, 1.0, 3.0]))
def test_fast_evaluation_is_the_problems_own(name, seed, scale):
    problem = PROBLEMS[name]
    thetas = scale * np.random.default_rng(seed).standard_normal((6, problem.size))
    losses, gradients = evaluator(problem)(thetas)
    expected, slopes = problem.value_and_gradient(thetas)
    size = 1 + np.abs(expected)
    assert np.max(np.abs(losses - expected) / size) < 1e-11
    assert np.max(np.abs(gradients - slopes)) < 1e-11 * (1 + np.abs(slopes).max())


@pytest.mark.parametrize("name", ["quadratic", "cubic", "quartic", "relu"])
def test_fused_routes_are_taken_where_they_exist(name):
    assert hasattr(evaluator(PROBLEMS[name]), "compiled")


@pytest.mark.parametrize("name", ["coloured", "iid", "tensor"])
def test_other_routes_have_no_compiled_descent(name):
    assert not hasattr(evaluator(PROBLEMS[name]), "compiled")


@pytest.mark.parametrize("name", ["quadratic", "relu"])
@pytest.mark.parametrize("step", [None, 0.01])
def test_compiled_descent_agrees_with_its_numpy_twin(name, step):
    problem = PROBLEMS[name]
    evaluate = evaluator(problem)
    thetas = 0.4 * np.random.default_rng(0).standard_normal((12, problem.size))
    fast, slow = Batch.start(thetas), Batch.start(thetas)
    control = Control(1e-6, 150)
    if step is None:
        line_search(evaluate, fast, control)
        line_search(evaluate, slow, control, Recorder(None))  # a recorder asks for the NumPy loop
    else:
        fixed_step(evaluate, fast, step, control)
        fixed_step(evaluate, slow, step, control, Recorder(None))
    assert np.array_equal(fast.status, slow.status)
    assert np.array_equal(fast.iterations, slow.iterations)
    assert np.max(np.abs(fast.thetas - slow.thetas)) < 1e-9
    assert set(fast.status) <= {Status.CONVERGED, Status.LIMIT}


def test_a_batch_does_not_depend_on_how_it_is_cut():
    for problem in PROBLEMS.values():
        thetas = np.random.default_rng(1).standard_normal((9, problem.size))
        evaluate = evaluator(problem)
        whole = evaluate(thetas)[1]
        assert np.array_equal(whole[2:5], evaluate(thetas[2:5])[1])
