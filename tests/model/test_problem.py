"""Problems: the loss against its definition, derivatives, invariances, and refusals."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import shallows as sh
from shallows.model.objective.function_space import FunctionSpaceObjective
from shallows.model.objective.sample_pass import SamplePassObjective

N = 3
_random = np.random.default_rng(11)
X, Y = _random.standard_normal((300, N)), _random.standard_normal((300, 2))
_G = _random.standard_normal((10, 10))
CUBIC = sh.SymmetricTensor(_random.standard_normal(10), N, 3)
QUADRATIC = sh.Network(_random.standard_normal((4, N)), _random.standard_normal(4), norm=0.3)
TWO_OUTPUTS = sh.Network(_random.standard_normal((4, N)), _random.standard_normal((2, 4)), norm=[0.1, -0.2])
RELU = sh.Network(_random.standard_normal((4, N)), activation=sh.ReLU())
PARABOLA = sh.Network(_random.standard_normal((4, N)), activation=sh.Polynomial([0.5, -1.0, 2.0]))
TANH = sh.Smooth(np.tanh, lambda z: 1 / np.cosh(z) ** 2, lambda z: -2 * np.tanh(z) / np.cosh(z) ** 2)
SHIFTED = sh.Gaussian(N, np.eye(N) + 0.2, [0.5, 0.0, -0.3])

PROBLEMS = {
    "matrix-gaussian": sh.Problem(np.diag([2.0, 1.0, -0.5]), sh.Gaussian(N), 2),
    "matrix-frobenius-ones": sh.Problem(np.diag([2.0, 1.0, 0.5]), sh.Frobenius(N), 2, outer="ones"),
    "matrix-iid-signs": sh.Problem(np.diag([2.0, 1.0, -0.5]), sh.IID.laplace(N), 2, outer=[1, -1]),
    "cubic-metric": sh.Problem(CUBIC, sh.Metric(N, 3, _G @ _G.T + np.eye(10)), 2),
    "cubic-shifted": sh.Problem(CUBIC, SHIFTED, 2),
    "cubic-frobenius": sh.Problem(CUBIC, sh.Frobenius(N), 2),
    "cubic-other-student": sh.Problem(
        CUBIC, sh.IID.laplace(N), 2, activation=sh.Polynomial([1, 0.2, 0.3, 0.1])
    ),
    "vector": sh.Problem(sh.SymmetricTensor([1.0, 2.0, 3.0], N, 1), SHIFTED, 2, activation=sh.Power(2)),
    "norm-and-penalty": sh.Problem(QUADRATIC, sh.IID.uniform(N), 3, norm_neuron=True, orthogonality=0.7),
    "norm-metric": sh.Problem(QUADRATIC, sh.Metric(N, 2, np.eye(6)), 2, norm_neuron=True, outer=[1, -1]),
    "two-outputs": sh.Problem(TWO_OUTPUTS, sh.Gaussian(N), 3, norm_neuron=True),
    "two-outputs-samples": sh.Problem(None, sh.Samples(X, Y), 3, norm_neuron=True),
    "samples-relu": sh.Problem(None, sh.Samples(X, Y[:, 0]), 3, activation=sh.ReLU()),
    "samples-quadratic": sh.Problem(None, sh.Samples(X, Y[:, 0]), 3, orthogonality=0.2),
    "samples-few": sh.Problem(None, sh.Samples(X[:4], Y[:4, 0]), 2, activation=sh.Power(4)),
    "samples-teacher": sh.Problem(CUBIC, sh.Samples(X), 2),
    "samples-other-teacher": sh.Problem(QUADRATIC, sh.Samples(X), 2, activation=sh.Power(3)),
    "samples-smooth": sh.Problem(QUADRATIC, sh.Samples(X), 2, activation=TANH),
    "relu": sh.Problem(RELU, sh.Gaussian(N), 3),
    "relu-ones": sh.Problem(RELU, sh.Gaussian(N, np.eye(N) + 0.3), 3, outer="ones"),
    "square-student-of-relu": sh.Problem(RELU, sh.Gaussian(N, np.eye(N) + 0.2), 2, activation=sh.Power(2)),
    "parabola": sh.Problem(PARABOLA, sh.IID.laplace(N), 3),
    "parabola-sphere": sh.Problem(PARABOLA, sh.Sphere(N), 3, outer="ones"),
    "mixture": sh.Problem(QUADRATIC, sh.Mixture([0.5, 0.5], [SHIFTED, sh.IID.rademacher(N)]), 2),
    "tanh": sh.Problem(
        sh.Network(0.5 * np.eye(N), activation=sh.Smooth(np.tanh)), sh.Gaussian(N), 2, outer="ones"
    ),
}


def student(problem, seed=0, scale=0.7):
    return problem.unpack(scale * np.random.default_rng(seed).standard_normal(problem.size))


@pytest.mark.parametrize("name", PROBLEMS)
def test_derivatives_by_taylor_slope(name):
    problem = PROBLEMS[name]
    check = sh.check_derivatives(problem, student(problem, scale=0.5))
    assert check, check


@pytest.mark.parametrize("name", PROBLEMS)
def test_pack_and_unpack_are_inverse(name):
    problem = PROBLEMS[name]
    theta = np.random.default_rng(1).standard_normal(problem.size)
    np.testing.assert_array_equal(problem.pack(problem.unpack(theta)), theta)
    with pytest.raises(sh.InvalidProblem, match="parameters"):
        problem.unpack(np.zeros(problem.size + 1))


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_loss_is_its_definition(name, rng):
    """E(f − y)² by Monte Carlo with an error bar, exactly on samples, by the Gram matrix for metrics."""
    problem = PROBLEMS[name]
    net = student(problem, 2)
    penalty = problem.orthogonality * np.sum((net.W.T @ net.W - np.eye(N)) ** 2)
    loss = problem.loss(net) - penalty
    data, target = problem.data, problem.target
    if isinstance(data, sh.Frobenius | sh.Metric):
        gap = net.tensor() - (target.tensor() if isinstance(target, sh.Network) else target)
        assert loss == pytest.approx(gap.norm(data) ** 2, rel=1e-10)
    elif isinstance(data, sh.Samples):
        assert loss == pytest.approx(squared_gaps(net, data.X, data.y, target).mean(), rel=1e-10)
    else:
        squares = squared_gaps(net, data.sample(100_000, rng), None, target)
        assert abs(loss - squares.mean()) < 5 * squares.std() / np.sqrt(len(squares))


def squared_gaps(net, x, y, target):
    squares = (net(x) - (y if target is None else target(x))) ** 2
    return squares.sum(axis=1) if squares.ndim == 2 else squares


@pytest.mark.parametrize("name", PROBLEMS)
def test_hessian_is_the_stack_of_products(name, rng):
    problem = PROBLEMS[name]
    net = student(problem, 3, 0.5)
    direction = rng.standard_normal((2, problem.size))
    product = direction @ problem.hessian(net)
    np.testing.assert_allclose(problem.hvp(net, direction), product, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", PROBLEMS)
def test_batches_are_the_same_as_one_at_a_time(name):
    problem = PROBLEMS[name]
    thetas = 0.5 * np.random.default_rng(4).standard_normal((5, problem.size))
    values, gradients = problem.value_and_gradient(thetas)
    np.testing.assert_allclose(problem.value(thetas), values, rtol=1e-10, atol=1e-12)
    for theta, value, gradient in zip(thetas, values, gradients, strict=True):
        net = problem.unpack(theta)
        assert problem.loss(net) == pytest.approx(value, rel=1e-10, abs=1e-12)
        np.testing.assert_allclose(problem.gradient(net), gradient, rtol=1e-9, atol=1e-9)


@given(st.integers(0, 10_000), st.sampled_from(list(PROBLEMS)))
def test_permuting_neurons_changes_nothing(seed, name):
    problem = PROBLEMS[name]
    assume(problem.outer is None or np.ptp(problem.outer) == 0)  # else the neurons are not exchangeable
    net = student(problem, seed, 0.5)
    order = np.random.default_rng(seed).permutation(problem.width)
    moved = sh.Network(net.W[order], net.a[..., order], net.activation, net.norm)
    assert problem.loss(moved) == pytest.approx(problem.loss(net), rel=1e-9, abs=1e-12)


@given(st.integers(0, 10_000))
def test_rotating_everything_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    R, _ = np.linalg.qr(rng.standard_normal((N, N)))
    for activation, data in (
        (sh.ReLU(), sh.Gaussian(N)),
        (sh.Power(3), sh.Sphere(N)),
        (sh.Power(2), sh.Frobenius(N)),
    ):
        V, W = rng.standard_normal((2, 3, N))
        plain = sh.Problem(sh.Network(V, activation=activation), data, 3)
        turned = sh.Problem(sh.Network(V @ R, activation=activation), data, 3)
        net, moved = sh.Network(W, activation=activation), sh.Network(W @ R, activation=activation)
        assert turned.loss(moved) == pytest.approx(plain.loss(net), rel=1e-9, abs=1e-11)


@given(st.integers(0, 10_000), st.floats(0.2, 5.0))
def test_rescaling_a_homogeneous_neuron_changes_nothing(seed, factor):
    rng = np.random.default_rng(seed)
    for activation, degree in ((sh.Power(2), 2), (sh.Power(3), 3), (sh.ReLU(), 1)):
        problem = sh.Problem(
            sh.Network(rng.standard_normal((2, N)), activation=activation), sh.Gaussian(N), 2
        )
        W, a = rng.standard_normal((2, N)), rng.standard_normal(2)
        scale = np.array([factor, 1.0])
        moved = sh.Network(scale[:, None] * W, a / scale**degree, activation)
        assert problem.loss(moved) == pytest.approx(
            problem.loss(sh.Network(W, a, activation)), rel=1e-8, abs=1e-11
        )


def test_the_loss_vanishes_at_the_teacher():
    for problem, teacher in ((PROBLEMS["relu"], RELU), (PROBLEMS["parabola"], PARABOLA)):
        same = sh.Problem(teacher, problem.data, teacher.width)
        assert same.loss(teacher) < 1e-12
        assert np.linalg.norm(same.gradient(teacher)) < 1e-12


def test_equation_26_with_the_corrected_factors(rng):
    """∇_W L = 2 diag(α) W ∇ℓ(S), ∇_α L = Diag(W ∇ℓ(S) Wᵀ), ∇ℓ = 2(S − T) for Frobenius."""
    T = np.diag([3.0, 1.0, -2.0])
    problem = sh.Problem(T, sh.Frobenius(N), 2)
    net = sh.Network(rng.standard_normal((2, N)), rng.standard_normal(2))
    slope = 2 * (net.tensor().to_matrix() - T)
    expected = np.concatenate(
        [(2 * np.diag(net.a) @ net.W @ slope).ravel(), np.diag(net.W @ slope @ net.W.T)]
    )
    np.testing.assert_allclose(problem.gradient(net), expected, rtol=1e-12, atol=1e-12)


def test_the_gaussian_matrix_loss_has_a_closed_form(rng):
    """E(xᵀRx)² = 2‖R‖² + (tr R)²."""
    T = np.diag([3.0, 1.0, -2.0])
    problem = sh.Problem(T, sh.Gaussian(N), 2)
    net = sh.Network(rng.standard_normal((2, N)), rng.standard_normal(2))
    R = net.tensor().to_matrix() - T
    assert problem.loss(net) == pytest.approx(2 * np.sum(R**2) + np.trace(R) ** 2, rel=1e-12)


def test_statistics_and_direct_pass_are_one_function(rng):
    data = sh.Samples(X, Y)
    labels = Y
    statistics = FunctionSpaceObjective.from_samples(data, labels, 2)
    direct = SamplePassObjective(X, labels, sh.Power(2))
    U, A = rng.standard_normal((4, N)), rng.standard_normal((2, 4))
    dU, dA = rng.standard_normal((3, 4, N)), rng.standard_normal((3, 2, 4))
    for fast, slow in zip(statistics.value_and_gradient(U, A), direct.value_and_gradient(U, A), strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-10)
    for fast, slow in zip(statistics.hvp(U, A, dU, dA), direct.hvp(U, A, dU, dA), strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-9)


def test_the_function_space_optimum_is_least_squares():
    problem = PROBLEMS["samples-quadratic"]
    features = problem.data.evaluation_matrix(2)
    solution, residual, *_ = np.linalg.lstsq(features, Y[:, 0], rcond=None)
    np.testing.assert_allclose(problem.target_tensor().entries, solution, rtol=1e-9)
    assert problem.floor == pytest.approx(residual[0] / len(X), rel=1e-12)
    assert PROBLEMS["matrix-gaussian"].floor == 0.0


def test_interpolating_samples_have_floor_zero():
    problem = sh.Problem(None, sh.Samples(X[:4], Y[:4, 0]), 2)
    assert problem.floor < 1e-20
    assert np.max(np.abs(problem.target_tensor()(X[:4]) - Y[:4, 0])) < 1e-10


REFUSALS = [
    (lambda: sh.Problem(np.eye(2), sh.Gaussian(3), 1), "2 inputs and the data 3"),
    (lambda: sh.Problem(np.eye(3), sh.Gaussian(3), 0), "width is 0"),
    (lambda: sh.Problem(np.eye(3), "gaussian", 1), "expected Gaussian"),
    (lambda: sh.Problem([1.0, 2.0], sh.Gaussian(2), 1), "target is"),
    (lambda: sh.Problem([[1.0, 2.0], [0.0, 1.0]], sh.Gaussian(2), 1), "not symmetric"),
    (lambda: sh.Problem([[np.nan, 0.0], [0.0, 1.0]], sh.Gaussian(2), 1), "NaN"),
    (lambda: sh.Problem(None, sh.Gaussian(2), 1), "labelled Samples"),
    (lambda: sh.Problem(None, sh.Samples(X), 1), "no labels"),
    (lambda: sh.Problem(np.eye(3), sh.Samples(X, Y[:, 0]), 1), "Both a target and labels"),
    (lambda: sh.Problem(np.eye(3), sh.Gaussian(3), 1, activation="relu"), "expected Power"),
    (lambda: sh.Problem(np.eye(3), sh.Gaussian(3), 2, outer="free!"), '"free", "ones"'),
    (lambda: sh.Problem(np.eye(3), sh.Gaussian(3), 2, outer=[1.0]), r"outer has shape \(1,\)"),
    (lambda: sh.Problem(RELU, sh.Gaussian(3), 2, norm_neuron=True), "goes with Power"),
    (lambda: sh.Problem(np.eye(3), sh.Gaussian(3), 2, orthogonality=-1.0), "at least 0"),
    (lambda: sh.Problem(CUBIC, sh.Metric(3, 2, np.eye(6)), 1), "degree 2"),
    (lambda: sh.Problem(CUBIC, sh.Frobenius(3), 1, activation=sh.Power(2)), r"Power\(3\)"),
    (lambda: sh.Problem(CUBIC, sh.Gaussian(3), 1, activation=sh.ReLU()), "polynomial activation"),
    (lambda: sh.Problem(RELU, sh.IID.laplace(3), 1), "The combinations are"),
    (lambda: sh.Problem(RELU, sh.Sphere(3), 1, activation=sh.Power(2)), "The combinations are"),
    (lambda: sh.Problem(PARABOLA, sh.IID(3, [1, 0, 1]), 1), "order 4"),
]


@pytest.mark.parametrize(("build", "what"), REFUSALS, ids=[what for _, what in REFUSALS])
def test_bad_problems_are_refused_at_construction(build, what):
    with pytest.raises(sh.InvalidProblem, match=what):
        build()


def test_networks_that_are_not_points_of_the_problem_are_refused():
    problem = sh.Problem(np.eye(3), sh.Gaussian(3), 2, outer="ones")
    for net, what in [
        (sh.Network(np.ones((1, 3))), "width 1"),
        (sh.Network(np.ones((2, 3)), [1.0, 2.0]), "fixed to"),
        (sh.Network(np.ones((2, 3)), activation=sh.ReLU()), r"ReLU\(\)"),
        (sh.Network(np.ones((2, 3)), norm=1.0), "norm_neuron=True"),
        (np.ones(6), "Use problem.unpack"),
    ]:
        with pytest.raises(sh.InvalidProblem, match=what):
            problem.loss(net)


def test_check_derivatives_fails_for_a_wrong_gradient():
    """A negative control: the diagnostics must be able to say no."""
    problem = sh.Problem(CUBIC, sh.Gaussian(N), 2)
    right = problem.value_and_gradient
    problem.value_and_gradient = lambda theta: (right(theta)[0], 1.01 * right(theta)[1])
    check = sh.check_derivatives(problem, student(problem))
    assert not check
    assert "FAILED" in repr(check)
