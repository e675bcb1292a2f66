"""The fast evaluators against `Problem.value_and_gradient`, and compiled descent against its NumPy twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.questions.descent._compiled.base import Compiled
from shallows.questions.descent.evaluate import evaluator
from shallows.questions.descent.methods.gradient import fixed_step, line_search
from shallows.questions.descent.results.run import Batch, Recorder, Status
from shallows.questions.descent.stopping import Stopping

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


COMPILED = [
    "quadratic",
    "coloured",
    "linear",
    "cubic",
    "quartic",
    "quintic",
    "frobenius",
    "relu",
    "iid",
    "mean",
    "tensor",
]


@pytest.mark.parametrize("name", PROBLEMS)
def test_descent_is_compiled_wherever_a_loop_exists(name):
    assert isinstance(evaluator(PROBLEMS[name]), Compiled) == (name in COMPILED)


def test_statistics_too_large_to_multiply_by_are_not_formed():
    covariance = np.eye(18) + 0.1
    problem = sh.Problem(np.eye(18), sh.Gaussian(18, covariance), 2)
    evaluate = evaluator(problem)
    assert not isinstance(evaluate, Compiled)
    thetas = np.random.default_rng(0).standard_normal((3, problem.size))
    for ours, own in zip(evaluate(thetas), problem.value_and_gradient(thetas), strict=True):
        assert np.allclose(ours, own, rtol=1e-11, atol=1e-11 * np.abs(own).max())


@pytest.mark.parametrize("name", ["quadratic", "coloured", "cubic", "iid", "relu"])
@pytest.mark.parametrize("step", [None, 1e-3])
def test_compiled_descent_agrees_with_its_numpy_twin(name, step):
    problem = PROBLEMS[name]
    evaluate = evaluator(problem)
    thetas = 0.4 * np.random.default_rng(0).standard_normal((80, problem.size))  # more runs than lanes
    fast, slow = Batch.start(thetas), Batch.start(thetas)
    stopping = Stopping(1e-6, 150)
    if step is None:
        line_search(evaluate, fast, stopping)
        line_search(evaluate, slow, stopping, Recorder(None))  # a recorder asks for the NumPy loop
    else:
        fixed_step(evaluate, fast, step, stopping)
        fixed_step(evaluate, slow, step, stopping, Recorder(None))
    assert np.array_equal(fast.status, slow.status)
    assert np.array_equal(fast.iterations, slow.iterations)
    assert np.max(np.abs(fast.thetas - slow.thetas)) < 1e-9


def test_a_batch_does_not_depend_on_how_it_is_cut():
    for problem in PROBLEMS.values():
        thetas = np.random.default_rng(1).standard_normal((9, problem.size))
        evaluate = evaluator(problem)
        whole = evaluate(thetas)[1]
        assert np.array_equal(whole[2:5], evaluate(thetas[2:5])[1])


def trained(problem, thetas, step, stopping, recorder=None):
    batch = Batch.start(thetas)
    if step is None:
        line_search(evaluator(problem), batch, stopping, recorder)
    else:
        fixed_step(evaluator(problem), batch, step, stopping, recorder)
    return batch


@pytest.mark.parametrize("name", ["quadratic", "quartic", "iid"])
@pytest.mark.parametrize("step", [None, 1e-3])
def test_a_run_does_not_depend_on_its_neighbours(name, step):
    """Bit for bit: alone, or in a batch where lanes end, are refilled and move."""
    problem = PROBLEMS[name]
    thetas = 0.4 * np.random.default_rng(2).standard_normal((70, problem.size))
    tolerances = 10 ** np.linspace(0, -1, 70) * np.linalg.norm(evaluator(problem)(thetas)[1], axis=1)
    together = trained(problem, thetas, step, Stopping(tolerances, 60))
    assert len(set(together.iterations)) > 2
    for row in (0, 31, 32, 47, 69):
        alone = trained(problem, thetas[row : row + 1], step, Stopping(tolerances[row : row + 1], 60))
        assert np.array_equal(alone.thetas[0], together.thetas[row])
        assert alone.iterations[0] == together.iterations[row] and alone.status[0] == together.status[row]


def test_compiled_runs_end_with_the_same_statuses_as_their_numpy_twins():
    problem = PROBLEMS["quadratic"]
    rng = np.random.default_rng(4)
    thetas = 10.0 ** rng.uniform(-1, 1, (60, 1)) * rng.standard_normal((60, problem.size))
    thetas[7] = 0.0  # a critical point
    thetas[9, 0] = np.inf
    stopping = Stopping(1e-8, 400, goal=0.3, scale=1.0)
    fast, slow = (trained(problem, thetas, 0.01, stopping, r) for r in (None, Recorder(None)))
    assert np.array_equal(fast.status, slow.status) and np.array_equal(fast.iterations, slow.iterations)
    assert set(fast.status) >= {Status.CONVERGED, Status.DIVERGED, Status.GOAL, Status.LIMIT}
    sound = np.arange(60) != 9
    assert np.all(np.isfinite(fast.thetas[sound])) and np.all(np.isfinite(fast.losses[sound]))
    assert fast.status[7] == Status.CONVERGED and fast.status[9] == Status.DIVERGED
    stopping.interrupted.set()
    stopped = trained(problem, thetas[20:23], 0.01, Stopping(1e-8, 400, interrupted=stopping.interrupted))
    assert np.all(stopped.status == Status.INTERRUPTED) and np.array_equal(stopped.thetas, thetas[20:23])
