"""Biases: losses against quadrature and enumeration, θ's order, networks on (1, x), and what is refused."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.model.data.with_constant import WithConstant, with_constant

#: Exact sums of some hundred terms of size up to a few thousand, in doubles.
ROUNDING = 1e-11
_random = np.random.default_rng(3)
ACTIVATIONS = {
    "square": sh.Power(2),
    "cube": sh.Power(3),
    "polynomial": sh.Polynomial([0.5, -1.0, 0.0, 0.3]),
}


def network(activation, seed, n=2, k=2, outputs=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((outputs, k) if outputs else k)
    return sh.Network(rng.standard_normal((k, n)), a, activation, bias=rng.standard_normal(k))


def hermite_grid(n, mean, root, nodes=12):
    """Points and weights that integrate polynomials of degree < 2·nodes exactly under N(mean, root²)."""
    z, w = np.polynomial.hermite_e.hermegauss(nodes)
    points = np.array(list(product(z, repeat=n))) @ root + mean
    return points, np.prod(np.array(list(product(w / w.sum(), repeat=n))), axis=1)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("outputs", [0, 2])
def test_loss_under_a_gaussian_is_the_quadrature_of_its_definition(name, outputs):
    covariance, mean = np.array([[1.5, 0.4], [0.4, 0.7]]), np.array([0.3, -1.0])
    teacher, net = (network(ACTIVATIONS[name], seed, outputs=outputs) for seed in (0, 1))
    problem = sh.Problem(teacher, sh.Gaussian(2, covariance, mean), width=2, bias=True)
    values, vectors = np.linalg.eigh(covariance)
    x, weights = hermite_grid(2, mean, (vectors * np.sqrt(values)) @ vectors.T)
    expected = weights @ np.sum(np.reshape((net(x) - teacher(x)) ** 2, (len(x), -1)), axis=1)
    assert problem.loss(net) == pytest.approx(expected, rel=ROUNDING)
    assert problem.loss(teacher) == pytest.approx(0.0, abs=ROUNDING * expected)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_loss_under_discrete_laws_is_their_sum(name):
    corners = np.array(list(product([-1.0, 1.0], repeat=2)))
    teacher, net = network(ACTIVATIONS[name], 4), network(ACTIVATIONS[name], 5)
    expected = np.mean((net(corners) - teacher(corners)) ** 2)
    for data in (sh.IID.rademacher(2), sh.Samples(corners), WithoutCumulants(2)):
        assert sh.Problem(teacher, data, 2, bias=True).loss(net) == pytest.approx(expected, rel=ROUNDING)
    labelled = sh.Problem(None, sh.Samples(corners, teacher(corners)), 2, teacher.activation, bias=True)
    assert labelled.loss(net) == pytest.approx(expected, rel=ROUNDING)


class WithoutCumulants(sh.IID.rademacher(2).__class__):
    """Rademacher by moments alone: `WithConstant` must then go through moment tensors."""

    def __init__(self, n):
        super().__init__(n, [1, 0, 1, 0, 1, 0, 1])

    def cumulants(self, order):
        return None


@pytest.mark.parametrize("law", [sh.IID.laplace(2), sh.Radial(2, [1, 1.5, 3, 6.5, 16.0]), sh.Sphere(2)])
def test_moments_of_a_lifted_law_are_those_of_its_samples(law):
    lifted = with_constant(law)
    assert isinstance(lifted, WithConstant) and lifted.n == 3
    x = lifted.sample(200_000, 0)
    assert np.all(x[:, 0] == 1)
    table = [(i, j, k) for i in range(3) for j in range(i, 3) for k in range(j, 3)]
    products = np.array([np.prod(x[:, index], axis=1) for index in table])
    error = 5 * products.std(axis=1) / np.sqrt(len(x))
    assert np.all(np.abs(products.mean(axis=1) - lifted.moments(3)) <= error + ROUNDING)
    assert [float(m) for m in lifted.exact_moments(3)] == pytest.approx(
        lifted.moments(3).tolist(), abs=ROUNDING
    )


@pytest.mark.parametrize(
    "data",
    [
        sh.Gaussian(2, mean=[0.2, 0.0]),
        sh.IID.laplace(2),
        sh.Sphere(2),
        sh.Mixture([0.5, 0.5], [sh.Gaussian(2), sh.IID.uniform(2)]),
        sh.Samples(_random.standard_normal((30, 2))),
    ],
    ids=repr,
)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_derivatives(data, name):
    activation = ACTIVATIONS[name]
    for bias in (True, False):  # without: students on x of a teacher that has a bias
        problem = sh.Problem(network(activation, 6), data, width=2, bias=bias)
        net = problem.unpack(0.6 * np.random.default_rng(7).standard_normal(problem.size))
        assert sh.check_derivatives(problem, net)


def test_parameters_stand_in_the_order_of_the_contract():
    problem = sh.Problem(network(sh.Power(2), 8, outputs=2), sh.Gaussian(2), width=2, bias=True)
    net = problem.unpack(np.arange(10.0))
    assert net.W.tolist() == [[0, 1], [2, 3]] and net.bias.tolist() == [4, 5]
    assert net.a.tolist() == [[6, 7], [8, 9]]
    assert problem.pack(net).tolist() == list(range(10))
    assert np.array_equal(problem.lower(problem.lift(np.arange(10.0))), np.arange(10.0))


@given(st.integers(0, 10**6))
def test_the_problem_on_one_and_x_is_the_same_problem(seed):
    problem = sh.Problem(network(sh.Power(2), seed), sh.IID.laplace(2), width=2, bias=True)
    twin = problem.homogeneous()
    theta = np.random.default_rng(seed).standard_normal(problem.size)
    net = problem.unpack(theta)
    assert twin.loss(net.homogeneous()) == pytest.approx(problem.loss(net), rel=ROUNDING)
    assert np.allclose(problem.lift(problem.gradient(net)), twin.gradient(net.homogeneous()), rtol=ROUNDING)
    assert np.array_equal(net.homogeneous().affine().bias, net.bias)
    x = np.random.default_rng(seed).standard_normal((5, 2))
    assert np.allclose(net.tensor()(np.column_stack([np.ones(5), x])), net(x), rtol=ROUNDING)


def test_a_target_in_one_input_more_is_any_polynomial():
    # y = 3 + 2x₁ + x₂², as a matrix in (1, x₁, x₂)
    target = np.array([[3.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    problem = sh.Problem(target, sh.Gaussian(2), width=1, bias=True)
    # the zero network: E(3 + 2x₁ + x₂²)² = 9 + 4 + 3 + 6
    assert problem.loss(sh.Network([[0.0, 0.0]], bias=[0.0])) == pytest.approx(22.0, rel=ROUNDING)
    # a target on x alone is the same with zeros in front
    small = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1, bias=True)
    large = sh.Problem(np.diag([0.0, 2.0, 1.0]), sh.Gaussian(2), width=1, bias=True)
    net = sh.Network([[0.3, 1.0]], bias=[0.5])
    assert small.loss(net) == pytest.approx(large.loss(net), rel=ROUNDING)


def test_norm_neuron_of_a_teacher_is_kept():
    teacher = sh.Network([[1.0, 2.0]], bias=[0.5], norm=0.7)
    problem = sh.Problem(teacher, sh.Gaussian(2), width=1, bias=True)
    x, weights = hermite_grid(2, np.zeros(2), np.eye(2))
    net = sh.Network([[0.2, -1.0]], bias=[0.1])
    assert problem.loss(net) == pytest.approx(weights @ (net(x) - teacher(x)) ** 2, rel=ROUNDING)
    student = sh.Problem(teacher, sh.Gaussian(2), width=1, norm_neuron=True)
    own = sh.Network([[0.2, -1.0]], norm=-0.4)
    assert student.loss(own) == pytest.approx(weights @ (own(x) - teacher(x)) ** 2, rel=ROUNDING)
    assert sh.check_derivatives(student, own)


def test_splitting_keeps_the_function():
    x = np.random.default_rng(0).standard_normal((9, 2))
    for activation in (sh.ReLU(), sh.Power(2)):
        net = network(activation, 9)
        assert np.allclose(net.split(1, 0.3)(x), net(x), rtol=ROUNDING)
        assert net.split(1, 0.3).bias.shape == (3,)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: sh.Network([[1.0, 2.0]], bias=[1.0, 2.0]), "one a neuron"),
        (lambda: sh.Problem(np.eye(2), sh.Frobenius(2), 1, bias=True), "Metric in 3 inputs"),
        (lambda: sh.Problem(np.eye(4), sh.Gaussian(2), 1, bias=True), "constant 1 first"),
        (lambda: sh.Problem(np.eye(3), sh.Gaussian(2), 1), "must agree"),
        (lambda: sh.Problem(np.eye(2), sh.Gaussian(2), 1).pack(network(sh.Power(2), 0, k=1)), "bias=True"),
        (lambda: sh.Problem(np.eye(2), sh.Gaussian(2), 1, bias=True).degree, "homogeneous"),
        (lambda: sh.Network([[1.0]]).affine(), "two inputs"),
    ],
)
def test_refusals_say_what_to_do(make, words):
    with pytest.raises(sh.InvalidProblem, match=words):
        make()


def test_students_without_bias_are_homogeneous_already():
    problem = sh.Problem(network(sh.Power(2), 0), sh.Gaussian(2), 1)
    assert problem.homogeneous() is problem and problem.degree == 2


def test_problems_with_bias_are_stored(tmp_path):
    problem = sh.Problem(network(sh.Power(2), 1), sh.IID.laplace(2), width=1, bias=True)
    runs = sh.ensemble(problem, runs=3, rng=0)
    again = sh.load_ensemble(runs.save(tmp_path / "biased"))
    assert again.problem.bias and np.array_equal(again.thetas, runs.thetas)
    assert np.array_equal(again.problem.target.bias, problem.target.bias)


@pytest.mark.parametrize("outer", ["free", "ones", [1.0, -2.0]])
@pytest.mark.parametrize("norm, gamma", [(True, 0.0), (False, 0.7), (True, 0.7)])
def test_norm_neuron_and_penalty_beside_a_bias_are_what_they_say(outer, norm, gamma):
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    problem = sh.Problem(
        None, sh.Samples(X, y), 2, outer=outer, norm_neuron=norm, orthogonality=gamma, bias=True
    )
    theta = rng.standard_normal(problem.size)
    W, b, rest = theta[:6].reshape(2, 3), theta[6:8], theta[8:]  # W, bias, a, norm
    a = rest[:2] if outer == "free" else np.ones(2) if outer == "ones" else np.array(outer)
    f = (X @ W.T + b) ** 2 @ a + (rest[-1] if norm else 0.0) * np.sum(X**2, axis=1)
    expected = np.mean((f - y) ** 2) + gamma * np.sum((W.T @ W - np.eye(3)) ** 2)
    net = problem.unpack(theta)
    assert np.isclose(problem.loss(net), expected, rtol=ROUNDING)
    assert np.array_equal(problem.pack(net), theta)
    assert np.allclose(net(X), f, rtol=ROUNDING)
    sh.check_derivatives(problem, net)
    lifted = problem.lift(theta)
    assert np.isclose(problem.homogeneous().value(lifted), expected, rtol=ROUNDING)
    assert np.array_equal(problem.lower(lifted), theta)


def test_networks_on_one_and_x_have_no_norm_neuron():
    twin = sh.Problem(np.eye(2), sh.Gaussian(2), 1, norm_neuron=True, bias=True).homogeneous()
    with pytest.raises(sh.InvalidProblem, match="the problem itself"):
        twin.unpack(np.ones(twin.size))
    with pytest.raises(sh.InvalidProblem, match="this problem has none"):
        twin.pack(sh.Network([[1.0, 0.0, 0.0]], norm=1.0))
