"""Every method ends where theory says, records what is asked, and says what went wrong."""

from fractions import Fraction
from itertools import combinations_with_replacement
from math import prod

import numpy as np
import pytest
from scipy.optimize import minimize

import shallows as sh
from shallows.questions.descent.descend import descend
from shallows.questions.descent.methods.adam import Moments
from shallows.questions.descent.methods.newton import steihaug
from shallows.questions.descent.methods.perturbed import Noise
from shallows.questions.descent.methods.residuals import losses_by_squares, residual_of
from shallows.questions.descent.methods.sgd import Minibatches, minibatch_gradient
from shallows.questions.descent.options import Options
from shallows.questions.descent.plan import METHODS, plan_for
from shallows.questions.descent.results.run import Status
from shallows.questions.descent.starts import starts

POSITIVE = sh.Problem(np.diag([1.0, 0.8, 0.6, 0.3]), sh.Gaussian(4), 2, outer="ones")
BEST = 2 * (0.6**2 + 0.3**2) + 2 * 0.9**2 / 4  # 2Σs² + 2(Σs)²/(r+2), s the left-out eigenvalues


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_rank_two_minimum_of_a_positive_teacher(method):
    run = descend(POSITIVE, starts(POSITIVE, 1, rng=4)[0], method=method)
    assert run.status is Status.CONVERGED and run.converged
    assert run.loss == pytest.approx(BEST, abs=1e-10)
    assert run.gradient_norm <= 1e-12
    assert run.gradient_norm == pytest.approx(np.linalg.norm(POSITIVE.gradient(run.network)), abs=1e-13)
    assert method in repr(run) and run.message.endswith(".")


@pytest.mark.parametrize("method", METHODS)
def test_trajectories_keep_every_mth_step(method):
    start = starts(POSITIVE, 1, rng=4)[0]
    run = descend(POSITIVE, start, method=method, record=5, tolerance=1e-6)
    path = run.trajectory
    assert np.array_equal(path.thetas[0], start)
    assert np.all(np.diff(path.times) > 0)
    if method not in ("flow",):
        assert np.all(path.times[1:-1] % 5 == 0)
    if method != "sgd":
        again = [POSITIVE.loss(POSITIVE.unpack(theta)) for theta in path.thetas]
        assert np.allclose(path.losses, again, atol=1e-11)
    assert descend(POSITIVE, start, method=method, tolerance=1e-6).trajectory is None
    assert "points" in repr(path)


def test_fixed_step_descent_is_the_textbook_iteration():
    problem = sh.Problem(np.diag([1.0, 0.5]), sh.Gaussian(2), 1)
    theta = np.array([0.3, -0.2, 0.5])
    run = descend(problem, theta, step=0.02, record=1, iterations=7, tolerance=1e-12)
    for expected in run.trajectory.thetas:
        assert np.allclose(theta, expected, atol=1e-14)
        theta = theta - 0.02 * problem.gradient(problem.unpack(theta))
    assert run.status is Status.LIMIT and run.iterations == 7


def test_line_search_never_raises_the_loss():
    run = descend(POSITIVE, starts(POSITIVE, 1, "large")[0], record=1, tolerance=1e-6)
    assert np.all(np.diff(run.trajectory.losses) <= 0)


def test_a_step_that_diverges_is_reported_with_one_that_is_stable():
    start = starts(POSITIVE, 1)[0]
    run = descend(POSITIVE, start, step=5.0)
    assert run.status is Status.DIVERGED and np.all(np.isfinite(run.theta)) and np.isfinite(run.loss)
    suggested = float(run.message.split("A step of ")[1].split(" is stable")[0])
    again = descend(POSITIVE, start, step=suggested, polish=False, tolerance=1e-9)
    assert again.converged
    curvature = np.linalg.eigvalsh(POSITIVE.hessian(again.network))[-1]
    assert suggested <= 2 / curvature


def test_adam_follows_its_defining_recursion():
    gradients = np.random.default_rng(0).standard_normal((6, 3))
    moments, m, v = Moments((1, 3)), np.zeros(3), np.zeros(3)
    for t, g in enumerate(gradients, start=1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        expected = (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        assert np.allclose(moments.direction(np.array([0]), g[None], t - 1)[0], expected, rtol=1e-12)


def test_algorithm_1_moves_all_neurons_alike_and_the_variant_does_not():
    sources = np.random.default_rng(0).spawn(50)
    W = Noise(POSITIVE, sources, 0.1, per_neuron=False).draw(np.arange(50), 0).reshape(50, 2, 4)
    assert np.array_equal(W[:, 0], W[:, 1])
    assert np.mean(np.sum(W[:, 0] ** 2, axis=1)) == pytest.approx(0.01, rel=0.3)
    each = Noise(POSITIVE, sources, 0.1, per_neuron=True).draw(np.arange(50), 0).reshape(50, 2, 4)
    assert np.all(np.any(each[:, 0] != each[:, 1], axis=1))
    free = sh.Problem(np.eye(4), sh.Gaussian(4), 2)
    assert np.all(Noise(free, sources, 0.1, False).draw(np.arange(50), 0)[:, 8:] == 0)


def sample_problems():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    tanh = sh.Smooth(np.tanh, lambda z: 1 / np.cosh(z) ** 2, lambda z: -2 * np.tanh(z) / np.cosh(z) ** 2)
    yield sh.Problem(None, sh.Samples(X, y), 2, norm_neuron=True)
    yield sh.Problem(None, sh.Samples(X, y), 3, orthogonality=0.5)
    yield sh.Problem(None, sh.Samples(X, y), 2, tanh)
    yield sh.Problem(None, sh.Samples(X, rng.standard_normal((40, 2))), 2, sh.ReLU())
    yield sh.Problem(None, sh.Samples(X, rng.standard_normal((40, 2))), 2, sh.Power(3))
    yield sh.Problem(sh.Network(np.eye(3), activation=sh.Power(3)), sh.Samples(X), 2)


@pytest.mark.parametrize("problem", list(sample_problems()), ids=repr)
def test_minibatch_gradients_of_all_samples_are_the_problems(problem):
    thetas = np.random.default_rng(0).standard_normal((3, problem.size))
    X = np.broadcast_to(problem.data.X, (3, 40, 3))
    from shallows.model.objective.build import labels_of

    labels = labels_of(problem.target, problem.data)
    value, gradient = minibatch_gradient(problem, thetas, X, np.broadcast_to(labels, (3, *labels.shape)))
    expected, slopes = problem.value_and_gradient(thetas)
    assert np.allclose(value, expected, rtol=1e-10)
    assert np.allclose(gradient, slopes, rtol=1e-9, atol=1e-10)


def test_fresh_minibatches_are_unbiased():
    problem = sh.Problem(np.diag([1.0, -0.5]), sh.Gaussian(2), 1)
    theta = np.array([0.7, 0.3, 0.9])
    batches = Minibatches(problem, [np.random.default_rng(0)], 64)
    draws = [
        minibatch_gradient(problem, theta[None], *batches.next(np.array([0]), t))[1][0] for t in range(3000)
    ]
    error = np.std(draws, axis=0) / np.sqrt(3000)
    assert np.all(np.abs(np.mean(draws, axis=0) - problem.gradient(problem.unpack(theta))) < 5 * error)


TWO_OUTPUTS = sh.Network(np.eye(3), [[1.0, 2.0, -1.0], [0.5, -1.0, 3.0]])
SAMPLED = np.random.default_rng(5).standard_normal((20, 5))


@pytest.mark.parametrize(
    "problem",
    [
        *sample_problems(),
        POSITIVE,
        sh.Problem(np.eye(3), sh.Gaussian(3), 2, norm_neuron=True),
        sh.Problem(TWO_OUTPUTS, sh.Gaussian(3), 2, norm_neuron=True),
        sh.Problem(None, sh.Samples(SAMPLED[:, :3], SAMPLED[:, 3:]), 2, norm_neuron=True),
    ],
    ids=repr,
)
def test_residuals_are_the_loss_and_their_jacobian_the_gradient(problem):
    residual = residual_of(problem)
    thetas = np.random.default_rng(0).standard_normal((3, problem.size))
    r, J = residual(thetas)
    value, gradient = problem.value_and_gradient(thetas)
    constant = value - np.sum(r**2, axis=1)
    assert np.allclose(constant, constant[0], atol=1e-9 * (1 + value.max()))
    assert np.allclose(2 * np.einsum("bri,br->bi", J, r), gradient, rtol=1e-8, atol=1e-8)
    h = 1e-6 * np.random.default_rng(1).standard_normal(problem.size)
    slope = (residual(thetas + h)[0] - residual(thetas - h)[0]) / 2
    assert np.allclose(slope, J @ h, rtol=1e-4, atol=1e-10)


@pytest.mark.parametrize("size", [0.0, 1e-200, 1e-8, 1.0, 1e3, 1e8, 1e40, 1e200])
def test_lm_ends_from_any_start(size):
    """Flat directions make JJᵀ singular, most often with a < 0: no start may end in a LinAlgError or a bad number."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 3))
    problems = (
        sh.Problem(np.diag([1.0, 0.8, 0.6, 0.3]), sh.Gaussian(4), 2),
        sh.Problem(sh.Network([[3.0, 1.0], [-1.0, 4.0]], activation=sh.Power(3)), sh.IID.laplace(2), 3),
        sh.Problem(None, sh.Samples(X, np.sin(X[:, 0])), 4),
    )
    for problem in problems:
        starts = size * rng.standard_normal((300 if size == 1 else 20, problem.size))
        starts[::2, -problem.width :] = -np.abs(starts[::2, -problem.width :])
        plan = plan_for(
            problem, "lm", None, None, starts, Options(iterations=2_000 if size == 1 else 200, polish=False)
        )
        batch = plan.train(starts, [])
        assert not np.any(batch.status == Status.RUNNING)
        sound = batch.status != Status.DIVERGED
        assert np.all(np.isfinite(batch.thetas)) and np.all(np.isfinite(batch.losses[sound]))
        if size <= 1e8:
            assert sound.all()
            assert np.all(batch.losses <= problem.value(starts) * (1 + 1e-9))
        if size == 1:
            assert np.mean(batch.status == Status.CONVERGED) > 0.6


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("make", [sh.Gaussian, sh.Frobenius, sh.IID.laplace])
def test_losses_of_lm_near_zero_are_the_exact_ones(degree, make):
    """A teacher of energy 10³ to 10⁵: aᵀKa − 2aᵀc + E y² would leave ±1e-12 and more; against rational arithmetic."""
    n = 2
    V = np.array([[3.0, 1.0], [-1.0, 4.0]])
    problem = sh.Problem(sh.Network(V, activation=sh.Power(degree)), make(n), 2)
    runs = sh.ensemble(problem, 10, method="lm", rng=0)
    gram = [[Fraction(float(g)) for g in row] for row in problem.gram()]
    small = 0
    for theta, loss in zip(runs.thetas, runs.losses, strict=True):
        net = problem.unpack(theta)
        s = [-Fraction(float(t)) for t in problem.target_tensor().entries]
        for w, outer in zip(net.W, net.a, strict=True):
            for q, index in enumerate(combinations_with_replacement(range(n), degree)):
                s[q] += Fraction(float(outer)) * prod(Fraction(float(w[i])) for i in index)
        exact = float(
            sum(x * g * y for x, row in zip(s, gram, strict=True) for y, g in zip(s, row, strict=True))
        )
        scale = float(problem.value(np.zeros(problem.size)))
        assert loss >= 0
        assert abs(np.sqrt(loss) - np.sqrt(exact)) < 1e-14 * np.sqrt(scale)
        small += exact < 1e-16 * scale
    assert small


def test_losses_of_lm_include_what_no_tensor_fits_and_the_penalty(rng):
    X = rng.standard_normal((30, 2))
    data = sh.Samples(X, np.sin(X[:, 0]))
    for problem in (
        sh.Problem(None, data, 2),
        sh.Problem(None, data, 2, orthogonality=0.3),
        sh.Problem(None, data, 2, activation=sh.Polynomial([0, 1, 1])),
    ):
        runs = sh.ensemble(problem, 5, method="lm", rng=0)
        np.testing.assert_allclose(runs.losses, problem.value(runs.thetas), rtol=1e-12)


P = sh.Polynomial
TEACHER = np.array([[1.0, 0.5], [-0.5, 2.0], [0.0, 1.0]])


@pytest.mark.parametrize(
    "problem",
    [
        sh.Problem(sh.Network(TEACHER, activation=P([0, 1, 1])), sh.Gaussian(2, mean=[1.0, 0.0]), 2),
        sh.Problem(
            sh.Network(TEACHER, activation=P([1, 1, 0, 1]), bias=[1.0, 0, 2]), sh.IID.laplace(2), 2, bias=True
        ),
        sh.Problem(
            sh.Network(TEACHER, [[1.0, 2, 3], [0, 1, -1]], P([0, 1, 1])),
            sh.Gaussian(2),
            1,
            outer=[[1.0], [2]],
        ),
        sh.Problem(sh.Network(TEACHER, activation=sh.ReLU()), sh.Gaussian(2), 1, P([1, 1, 1])),
        sh.Problem(sh.Network(TEACHER, activation=P([1, 1, 1])), sh.Sphere(2), 2),  # ‖x‖² − 1 vanishes
        sh.Problem(sh.Network(TEACHER, activation=P([1, 1, 1])), sh.Gaussian(2), 2, orthogonality=0.3),
    ],
    ids=["moved", "bias", "outputs", "another teacher", "sphere", "penalty"],
)
def test_lm_of_polynomial_activations_under_a_law(problem, rng):
    """‖r‖² and its slope are those of the loss by kernels, which knows no coordinates."""
    trained = problem.homogeneous() if problem.bias else problem
    thetas = rng.standard_normal((3, trained.size))
    np.testing.assert_allclose(
        losses_by_squares(trained, thetas), trained.value(thetas), rtol=1e-9, atol=1e-9
    )
    r, J = residual_of(trained)(thetas)
    _, gradient = trained.value_and_gradient(thetas)
    np.testing.assert_allclose(2 * np.einsum("bri,br->bi", J, r), gradient, rtol=1e-8, atol=1e-8)
    runs = sh.ensemble(problem, 3, method="lm", rng=0, iterations=200)
    np.testing.assert_allclose(runs.losses, problem.value(runs.thetas), rtol=1e-6, atol=1e-6)


def test_lm_is_refused_where_the_loss_is_no_finite_sum_of_squares():
    problem = sh.Problem(sh.Network(np.eye(2), activation=sh.ReLU()), sh.Gaussian(2), 2, outer="ones")
    with pytest.raises(sh.InvalidProblem, match="sum of squares"):
        descend(problem, np.ones(4), method="lm")


def test_steihaug_solves_newton_systems_and_follows_negative_curvature():
    problem = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), 1, outer="ones")
    theta = np.array([1.5, 0.1])
    _, gradient = problem.value_and_gradient(theta)
    step, predicted, edge = steihaug(problem, theta, gradient * 1e-3, 10.0)
    hessian = problem.hessian(problem.unpack(theta))
    assert np.linalg.eigvalsh(hessian)[0] > 0 and not edge and predicted > 0
    assert np.linalg.norm(hessian @ step + gradient * 1e-3) <= 0.1 * np.linalg.norm(gradient * 1e-3)
    saddle = np.array([1e-3, 1e-3])
    step, predicted, edge = steihaug(problem, saddle, problem.value_and_gradient(saddle)[1], 0.5)
    assert edge and np.linalg.norm(step) == pytest.approx(0.5) and predicted > 0


def test_scipy_agrees_on_a_generic_cubic_problem():
    problem = sh.Problem(
        sh.Network([[1.0, 0.2], [0.1, -0.7]], activation=sh.Power(3)), sh.Gaussian(2), 2, outer="ones"
    )
    start = np.array([0.9, 0.1, 0.3, -0.8])
    peer = minimize(
        lambda t: problem.value_and_gradient(t), start, jac=True, method="BFGS", options={"gtol": 1e-10}
    )
    for method in ("gd", "lbfgs", "newton", "lm"):
        assert descend(problem, start, method=method).loss == pytest.approx(peer.fun, abs=1e-10)
