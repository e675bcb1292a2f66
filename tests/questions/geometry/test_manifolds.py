"""Charts: exact derivatives against differences, dimensions against the literature, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows import InvalidProblem, SymmetricTensor
from shallows.mathematics.tensors.coordinates import dimension, multiplicities
from shallows.questions.geometry.manifolds.local_geometry import LocalGeometry
from shallows.questions.geometry.manifolds.parametric import ParametricChart
from shallows.questions.geometry.manifolds.rank_manifolds import MatricesOfRank, SumsOfPowers


def matrix_of_rank(rng, n, r):
    W = rng.standard_normal((r, n))
    return W.T @ np.diag(rng.choice([-1.0, 1.0], r)) @ W


def differences(chart, u, step):
    eye = np.eye(len(u)) * step
    return np.array([(chart.value(u + h) - chart.value(u - h)) / (2 * step) for h in eye]).T


def slow_jacobian(chart, u, step=1e-4):
    """Richardson's: neurons of different lengths have scales of 20, whose cubes plain differences show."""
    return (4 * differences(chart, u, step / 2) - differences(chart, u, step)) / 3


def second_differences(f, k, step):
    eye = np.eye(k) * step
    return np.array(
        [[(f(a + b) - f(a - b) - f(b - a) + f(-a - b)) / (4 * step**2) for b in eye] for a in eye]
    )


def slow_second(chart, u, covector, step=2e-3):
    """Richardson's second differences of c·x(u), exact for degree ≤ 5: nothing of the chart but its value."""
    wide, narrow = (
        second_differences(lambda shift: covector @ chart.value(u + shift), len(u), h)
        for h in (step, step / 2)
    )
    return (4 * narrow - wide) / 3


def check_derivatives(chart, rng):
    u = chart.base + 0.1 * rng.standard_normal(chart.dimension)
    covector = rng.standard_normal(chart.ambient)
    exact, slow = chart.jacobian(u), slow_jacobian(chart, u)
    assert exact.shape == (chart.ambient, chart.dimension)
    assert np.max(np.abs(exact - slow)) < 1e-7 * max(1, np.max(np.abs(slow)))
    second, reference = chart.second(u, covector), slow_second(chart, u, covector)
    assert np.max(np.abs(second - reference)) < 1e-6 * max(1, np.max(np.abs(reference)))
    assert chart.dimension == chart.ambient or np.max(np.abs(second)) > 1e-3


@given(st.integers(2, 5), st.data(), st.integers(0, 2**32))
def test_rank_matrices_have_exact_derivatives(n, data, seed):
    rng = np.random.default_rng(seed)
    r = data.draw(st.integers(1, n))
    S = matrix_of_rank(rng, n, r) / n
    if np.linalg.matrix_rank(S, tol=0.05) == r:
        check_derivatives(MatricesOfRank(S), rng)


@given(st.integers(2, 5), st.integers(1, 3), st.integers(1, 3), st.integers(0, 2**32))
def test_sums_of_powers_have_exact_derivatives(degree, n, rank, seed):
    rng = np.random.default_rng(seed)
    W = rng.choice([-1, 1], (rank, n)) * rng.uniform(0.5, 1.2, (rank, n))
    check_derivatives(SumsOfPowers(W, rng.choice([-1.0, 0.7], rank), degree), rng)


@pytest.mark.parametrize("n,r", [(2, 1), (4, 2), (5, 3), (5, 5), (6, 1)])
def test_rank_matrices_pass_through_the_matrix_and_keep_the_rank(n, r, rng):
    S = matrix_of_rank(rng, n, r)
    chart = MatricesOfRank(S)
    assert chart.rank == r
    assert chart.dimension == r * n - r * (r - 1) // 2  # the dimension of S(r, n)
    assert np.allclose(chart.value(chart.base), SymmetricTensor.from_matrix(S).entries, atol=1e-12)
    near = chart.value(0.05 * rng.standard_normal(chart.dimension))
    values = np.abs(np.linalg.eigvalsh(SymmetricTensor(near, n, 2).to_matrix()))
    assert np.sum(values > 1e-10 * values.max()) == r


def test_the_normal_space_of_rank_r_matrices_is_that_of_proposition_29(rng):
    """T_S S(r,n)^⊥ = {A : A S = 0}: of dimension (n−r)(n−r+1)/2, and Σ_I mult(I) A_I ∂x_I = 0."""
    n, r = 5, 2
    S = matrix_of_rank(rng, n, r)
    J = MatricesOfRank(S).jacobian(np.zeros(2 * n - 1))
    assert np.linalg.matrix_rank(J) == dimension(n, 2) - (n - r) * (n - r + 1) // 2
    P = np.eye(n) - S @ np.linalg.pinv(S)
    M = rng.standard_normal((n, n))
    A = SymmetricTensor.from_matrix(P @ (M + M.T) @ P)
    assert np.max(np.abs(J.T @ (multiplicities(n, 2) * A.entries))) < 1e-10
    wrong = SymmetricTensor.from_matrix(M + M.T)
    assert np.max(np.abs(J.T @ (multiplicities(n, 2) * wrong.entries))) > 1e-2


def test_tiny_eigenvalues_do_not_spoil_the_chart():
    chart = MatricesOfRank(1e-6 * np.diag([1.0, 1e-7, 0.0, 0.0]))
    assert chart.rank == 2
    assert np.linalg.cond(chart.jacobian(chart.base)) < 10


def test_numerical_rank_and_its_override():
    S = np.diag([1.0, 0.5, 1e-6])
    assert MatricesOfRank(S).rank == 3
    assert MatricesOfRank(S, tolerance=1e-5).rank == 2
    assert MatricesOfRank(S, rank=2).rank == 2
    assert MatricesOfRank(np.zeros((3, 3))).dimension == 0
    with pytest.raises(InvalidProblem, match="rank is 3, but only 2"):
        MatricesOfRank(np.diag([1.0, 2.0, 0.0]), rank=3)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
def test_rank_one_tensors_are_recognised(degree, rng):
    v = rng.standard_normal(3)
    tensor = SymmetricTensor.from_powers([v], [-1.7], degree)
    chart = SumsOfPowers.rank_one(tensor)
    assert chart.rank == 1 and chart.dimension == 3
    assert np.allclose(chart.value(chart.base), tensor.entries, atol=1e-12)


def test_a_tensor_of_rank_two_is_not_taken_for_rank_one(rng):
    tensor = SymmetricTensor.from_powers(rng.standard_normal((2, 3)), [1.0, 1.0], 3)
    with pytest.raises(InvalidProblem, match="away from rank one"):
        SumsOfPowers.rank_one(tensor)


def test_idle_neurons_are_dropped_and_shapes_checked():
    chart = SumsOfPowers([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]], [1.0, 1.0, 0.0], 3)
    assert chart.rank == 1
    with pytest.raises(InvalidProblem, match="one a row"):
        SumsOfPowers([[1.0, 0.0]], [1.0, 2.0], 3)


@pytest.mark.parametrize("W,degree", [([[1.0, 2.0], [2.0, 4.0]], 3), ([[1.0, 0.0], [0.0, 1.0]], 2)])
def test_sums_of_powers_that_are_no_chart_are_refused(W, degree):
    """Parallel neurons; and degree 2, where O(2) turns the neurons and leaves the matrix."""
    with pytest.raises(InvalidProblem, match="not an immersion"):
        LocalGeometry(SumsOfPowers(W, [1.0, 1.0], degree))


# -- functions the user gives ------------------------------------------------------------------------------


def torus(u):
    ring = 2 + np.cos(u[1])
    return np.array([ring * np.cos(u[0]), ring * np.sin(u[0]), np.sin(u[1])])


def torus_jacobian(u):
    (a, b), ring = u, 2 + np.cos(u[1])
    return np.array(
        [
            [-ring * np.sin(a), -np.sin(b) * np.cos(a)],
            [ring * np.cos(a), -np.sin(b) * np.sin(a)],
            [0 * a, np.cos(b)],
        ]
    )


def torus_hessian(u):
    (a, b), ring = u, 2 + np.cos(u[1])
    return np.array(
        [
            [[-ring * np.cos(a), np.sin(b) * np.sin(a)], [np.sin(b) * np.sin(a), -np.cos(b) * np.cos(a)]],
            [[-ring * np.sin(a), -np.sin(b) * np.cos(a)], [-np.sin(b) * np.cos(a), -np.cos(b) * np.sin(a)]],
            [[0.0, 0.0], [0.0, -np.sin(b)]],
        ]
    )


AT = np.array([0.7, -1.1])


@pytest.mark.parametrize(
    "given,accuracy,method",
    [
        ({}, 1e-11, "fourth-order"),
        ({"jacobian": torus_jacobian}, 1e-15, "complex step of the given"),
        ({"jacobian": torus_jacobian, "hessian": torus_hessian}, 1e-15, "second derivatives: given"),
        ({"hessian": torus_hessian}, 1e-15, "first derivatives: complex step; second derivatives: given"),
    ],
)
def test_every_way_to_derivatives_is_as_accurate_as_it_says(given, accuracy, method):
    chart = ParametricChart(torus, AT, **given)
    assert method in chart.method and method in repr(chart)
    assert np.max(np.abs(chart.jacobian(AT) - torus_jacobian(AT))) < 1e-14
    assert np.max(np.abs(chart.derivatives(AT) - torus_hessian(AT))) < accuracy * 10


@pytest.mark.parametrize("slot", [(0, 0), (1, 1), (2, 1)])
def test_a_wrong_jacobian_is_caught(slot):
    def wrong(u):
        J = torus_jacobian(u)
        J[slot] += 1e-3 * (1 + u[0])
        return J

    with pytest.raises(InvalidProblem, match="given jacobian differs from central differences"):
        ParametricChart(torus, AT, jacobian=wrong)


def test_a_wrong_hessian_is_caught():
    with pytest.raises(InvalidProblem, match="given hessian differs"):
        ParametricChart(torus, AT, hessian=lambda u: torus_hessian(u) * 1.001)


def test_a_function_that_is_not_analytic_is_caught_not_mistaken():
    """The complex step of |u| is zero: a wrong answer unless it is compared with differences."""
    with pytest.raises(InvalidProblem, match="not analytic"):
        ParametricChart(lambda u: np.array([u[0], np.abs(u[0]) ** 3]), at=1.0)


def test_a_function_of_real_numbers_only_is_refused_with_the_remedy():
    with pytest.raises(InvalidProblem, match="does not accept complex numbers"):
        ParametricChart(lambda u: [math.cos(u[0]), math.sin(u[0])], at=0.0)
    chart = ParametricChart(
        lambda u: [math.cos(u[0]), math.sin(u[0])],
        at=0.0,
        jacobian=lambda u: [[-math.sin(u[0])], [math.cos(u[0])]],
        hessian=lambda u: [[[-math.cos(u[0])]], [[-math.sin(u[0])]]],
    )
    assert np.allclose(chart.second(chart.base, np.array([1.0, 0.0])), [[-1.0]])


@pytest.mark.parametrize(
    "arguments,message",
    [
        ({"function": "circle"}, "expected a function"),
        ({"jacobian": 3}, "expected a function"),
        ({"jacobian": lambda u: np.ones((2, 2))}, r"shape \(2, 2\); expected \(3, 2\)"),
        ({"hessian": lambda u: np.ones((3, 2))}, r"expected \(3, 2, 2\)"),
        ({"function": lambda u: u[:1]}, "no more than there are coordinates"),
        ({"at": [np.nan, 0.0]}, "NaN"),
    ],
)
def test_bad_charts_are_refused(arguments, message):
    with pytest.raises(InvalidProblem, match=message):
        ParametricChart(**({"function": torus, "at": AT} | arguments))
