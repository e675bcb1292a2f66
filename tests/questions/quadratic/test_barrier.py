"""Energy barriers (paper 001, Theorem 2.1, Corollary 2.2) against numerical minimisation and closed-form numbers."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import shallows as sh
from shallows.quadratic import energy_barrier
from shallows.questions.quadratic.barrier import weakest_direction


def positive_definite(d, seed):
    W = np.random.default_rng(seed).standard_normal((2 * d, d))
    return W.T @ W / d


def lowest_by_descent(T, rank, signs, seed=0, starts=3):
    """min 2‖S−T‖² + tr(S−T)² over S = Σ ±bbᵀ with these signs, by L-BFGS from random starts, in plain NumPy."""
    d, source = len(T), np.random.default_rng(seed)

    def value(z):
        B = z.reshape(d, rank)
        D = (B * signs) @ B.T - T
        G = 4 * D + 2 * np.trace(D) * np.eye(d)
        return 2 * np.sum(D**2) + np.trace(D) ** 2, (2 * (G @ B) * signs).ravel()

    options = {"maxiter": 4000, "ftol": 1e-16, "gtol": 1e-12}
    return min(
        minimize(value, source.standard_normal(d * rank), jac=True, method="L-BFGS-B", options=options).fun
        for _ in range(starts)
    )


@pytest.mark.parametrize("d", range(2, 13))
def test_the_exact_barrier_is_what_minimisation_finds(d):
    T = positive_definite(d, d)
    barrier = energy_barrier(T)
    found = lowest_by_descent(T, d - 1, np.ones(d - 1), starts=1 if d > 6 else 2)
    assert barrier.exact == pytest.approx(found, rel=1e-10)
    smallest = np.linalg.eigvalsh(T)[0]
    assert barrier.exact == pytest.approx(2 * smallest**2 * (1 + 1 / (d + 1)), rel=1e-12)
    assert barrier.lower == pytest.approx(2 * smallest**2, rel=1e-12)
    assert barrier.example == pytest.approx(3 * smallest**2, rel=1e-12)


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_lower_ranks(rank):
    T = positive_definite(5, 3)
    barrier = energy_barrier(T, rank)
    assert barrier.exact == pytest.approx(lowest_by_descent(T, rank, np.ones(rank)), rel=1e-10)
    s = np.linalg.eigvalsh(T)[: 5 - rank]
    assert barrier.exact == pytest.approx(2 * np.sum(s**2) + 2 * np.sum(s) ** 2 / (rank + 2), rel=1e-12)
    assert barrier.lower <= barrier.exact <= barrier.example


@given(st.lists(st.floats(-3, 3).filter(lambda x: abs(x) > 0.05), min_size=2, max_size=6), st.integers(1, 5))
def test_the_best_left_out_set_is_contiguous(eigenvalues, rank):
    """Against all subsets: the formula over windows is the minimum over every choice of left-out eigenvalues."""
    d = len(eigenvalues)
    rank = min(rank, d - 1)
    t = np.array(eigenvalues)
    losses = []
    for out in combinations(range(d), d - rank):
        s = t[list(out)]
        losses.append(2 * np.sum(s**2) + 2 * np.sum(s) ** 2 / (rank + 2))
    barrier = energy_barrier(np.diag(t), rank, outer="free")
    assert barrier.exact == pytest.approx(min(losses), rel=1e-12)


@pytest.mark.parametrize(
    "eigenvalues", [[3.0, 1.0, -2.0, -2.5], [1.0, -1.0, 0.5, -0.5], [-1.0, -2.0, -3.0, 0.1]]
)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_indefinite_teachers_by_descent_over_all_signs(eigenvalues, rank):
    T = np.diag(eigenvalues)
    found = min(
        lowest_by_descent(T, rank, np.array([1.0] * p + [-1.0] * (rank - p))) for p in range(rank + 1)
    )
    assert energy_barrier(T, rank, outer="free").exact == pytest.approx(found, rel=1e-9)
    positive = energy_barrier(T, rank, outer="ones")
    assert positive.exact == pytest.approx(lowest_by_descent(T, rank, np.ones(rank)), rel=1e-9)


COVARIANCE = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 0.7]])


@pytest.mark.parametrize(
    "data",
    [sh.Gaussian(3), sh.Gaussian(3, COVARIANCE), sh.Sphere(3), sh.IID.uniform(3), sh.IID.laplace(3)],
    ids=repr,
)
def test_the_network_attains_the_minimum_and_the_bounds_hold(data):
    T = positive_definite(3, 1)
    barrier = energy_barrier(T, data=data)
    problem = sh.Problem(T, data, barrier.network.width, outer="ones")
    assert problem.loss(barrier.network) == pytest.approx(barrier.exact, rel=1e-9)
    assert np.linalg.matrix_rank(barrier.network.W) == 2
    assert barrier.lower <= barrier.exact <= barrier.example * (1 + 1e-12)
    lowest = sh.ensemble(sh.Problem(T, data, 2, outer="ones"), 10, "lm", tolerance=1e-10).losses.min()
    assert barrier.exact == pytest.approx(lowest, rel=1e-9)


def test_iid_barrier_is_the_best_semidefinite_point_and_its_factor():
    """E(xᵀAx)² ≥ min(2μ2², μ4 − μ2²)‖A‖² for centred i.i.d. data."""
    assert weakest_direction(sh.IID.uniform(3)) == pytest.approx(9 / 5 - 1)
    assert weakest_direction(sh.IID.laplace(3)) == pytest.approx(2.0)
    barrier = energy_barrier(np.diag([3.0, 2.0, 1.0]), data=sh.IID.uniform(3))
    assert barrier.method == "chart" and barrier.completeness in ("proved", "count-matched")


def test_a_teacher_network_gets_a_barrier_network_of_its_own_width():
    teacher = sh.Network(np.random.default_rng(0).standard_normal((6, 4)))
    barrier = energy_barrier(teacher)
    assert barrier.network.width == 6
    assert sh.Problem(teacher, sh.Gaussian(4), 6, outer="ones").loss(barrier.network) == pytest.approx(
        barrier.exact
    )


@pytest.mark.parametrize("alpha", [2.0, -0.7])
def test_corollary_2_2_without_a_linear_term_is_exact(alpha):
    W = np.random.default_rng(5).standard_normal((5, 3))
    teacher = sh.Network(W, activation=sh.Polynomial([0.4, 0.0, alpha]))
    barrier = energy_barrier(teacher)
    smallest = np.linalg.svd(W, compute_uv=False)[-1] ** 4
    assert barrier.exact == pytest.approx(2 * alpha**2 * smallest * 1.25, rel=1e-10)
    assert sh.Problem(teacher, sh.Gaussian(3), 5, outer="ones").loss(barrier.network) == pytest.approx(
        barrier.exact
    )


def test_a_norm_neuron_beside_a_linear_term_is_refused():
    teacher = sh.Network(np.eye(3), activation=sh.Polynomial([0.0, 1.0, 1.0]), norm=0.5)
    with pytest.raises(sh.InvalidProblem, match="norm neuron of weight"):
        sh.energy_barrier(teacher)


def test_corollary_2_2_with_a_linear_term_is_above_the_bound_and_says_it_is_numerical():
    W = np.random.default_rng(5).standard_normal((5, 3))
    teacher = sh.Network(W, activation=sh.Polynomial([0.4, 1.0, 2.0]))
    barrier = energy_barrier(teacher)
    quadratic = energy_barrier(sh.Network(W, activation=sh.Polynomial([0.4, 0.0, 2.0])))
    assert barrier.method == "numerical" and quadratic.exact < barrier.exact <= barrier.example
    problem = sh.Problem(teacher, sh.Gaussian(3), 5, outer="ones")
    assert problem.loss(barrier.network) == pytest.approx(barrier.exact, rel=1e-9)
    assert np.linalg.matrix_rank(barrier.network.W, tol=1e-8) == 2


@given(st.integers(0, 1000), st.floats(0.1, 10))
def test_rotation_and_scaling(seed, scale):
    source = np.random.default_rng(seed)
    T = positive_definite(4, seed)
    Q = np.linalg.qr(source.standard_normal((4, 4)))[0]
    barrier = energy_barrier(T, 2)
    assert energy_barrier(Q @ T @ Q.T, 2).exact == pytest.approx(barrier.exact, rel=1e-9)
    assert energy_barrier(scale * T, 2).exact == pytest.approx(scale**2 * barrier.exact, rel=1e-9)


@pytest.mark.parametrize(
    ("teacher", "options", "what"),
    [
        (np.diag([1.0, 0.0]), {}, "no barrier"),
        (np.eye(3), {"rank": 3}, "at most d − 1"),
        (np.eye(3), {"rank": 0}, "rank is 0"),
        (np.eye(3), {"data": sh.Gaussian(2)}, "must agree"),
        (np.eye(3), {"outer": "both"}, "outer is"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), {}, "NaN"),
        (sh.Network(np.eye(2), activation=sh.Power(3)), {}, "barriers are for Power"),
        (sh.Network(np.eye(2), [2.0, 1.0], sh.Polynomial([0.0, 1.0, 1.0])), {}, "outer weights 1"),
    ],
)
def test_bad_input(teacher, options, what):
    with pytest.raises(sh.InvalidProblem, match=what):
        energy_barrier(teacher, **options)


@pytest.mark.parametrize(
    "data", [sh.Frobenius(4), sh.Gaussian(4, np.diag([1.0, 2.0, 0.5, 1.5])), sh.Sphere(4)], ids=repr
)
@pytest.mark.parametrize("outer", ["free", "ones"])
def test_the_closed_form_is_the_lowest_point_of_the_chart(data, outer, rng):
    """One Theorem 35 (34 for Frobenius), two questions."""
    A = rng.standard_normal((4, 4))
    problem = sh.Problem(A + A.T, data, 2, outer=outer)
    barrier = energy_barrier(A + A.T, 2, data=data, outer=outer)
    assert barrier.method == "closed form"
    assert barrier.exact == pytest.approx(sh.chart(problem).minimum.loss, rel=1e-12)
    assert problem.loss(barrier.network) == pytest.approx(barrier.exact, rel=1e-9)
