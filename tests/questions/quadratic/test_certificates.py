"""Certificates at points of the empirical and the population risk (paper 002, appendix C; paper 001, Theorem 2.3)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.quadratic import (
    convex_optimum,
    equivalent_set,
    figure_2_data,
    full_rank_optimality,
    inspect,
    plain,
    residual_matrices,
    with_norm,
)


def random_problem(seed, d=3, width=4, samples=40, **options):
    source = np.random.default_rng(seed)
    X, y = source.standard_normal((samples, d)), source.standard_normal(samples)
    net = sh.Network(source.standard_normal((width, d)), source.standard_normal(width))
    return sh.Problem(None, sh.Samples(X, y), width, **options), net, X, y


@given(st.integers(0, 1000))
def test_the_residual_matrix_is_the_mean_of_r_x_x(seed):
    problem, net, X, y = random_problem(seed)
    naive = np.einsum("n,ni,nj->ij", y - net(X), X, X) / len(y)
    assert np.allclose(residual_matrices(problem, net)[0], naive, atol=1e-10 * (1 + np.abs(naive).max()))


@given(st.integers(0, 1000))
def test_equation_c15_with_the_factor_two_is_the_second_derivative(seed):
    """4 E(X•QΛUᵀ)² − 2R•UΛUᵀ against a central difference; without the 2 it is not (erratum)."""
    _, net, X, y = random_problem(seed)
    U = np.random.default_rng(seed + 1).standard_normal(net.W.shape)  # rows are the directions of the neurons
    R = np.einsum("n,ni,nj->ij", y - net(X), X, X) / len(y)
    along = np.einsum("ni,ij,nj->n", X, (net.W.T * net.a) @ U, X)
    bend = np.sum(R * ((U.T * net.a) @ U))
    h = 1e-4

    def loss(t):
        return np.mean((y - sh.Network(net.W + t * U, net.a)(X)) ** 2)

    second = (loss(h) - 2 * loss(0.0) + loss(-h)) / (2 * h**2)
    scale = np.mean(along**2) + abs(bend)
    assert abs(second - (4 * np.mean(along**2) - 2 * bend)) < 1e-5 * scale
    assert abs(second - 2 * (np.mean(along**2) - bend)) > 1e-3 * np.mean(along**2)  # as printed


def test_example_2_1_is_a_trap_of_the_plain_network_at_every_width():
    """Q = 0 and λ < 0 against a positive definite teacher; positive λ is a strict saddle with an explicit direction."""
    for width in (2, 5, 9):
        problem = sh.Problem(np.diag([1.0, 2.0]), sh.Gaussian(2), width)
        trap = inspect(problem, sh.Network(np.zeros((width, 2)), -np.ones(width)))
        assert trap.verdict == "trap" and trap.definiteness == "positive" and trap.rank == 0
        saddle = inspect(problem, sh.Network(np.zeros((width, 2)), np.ones(width)))
        assert saddle.verdict == "strict saddle" and "C.19" in saddle.direction.reason


def falls_along(problem, net, descent):
    """L decreases along the direction, as much as the curvature says."""
    theta, t = problem.pack(net), 1e-3
    drop = (problem.value(theta + t * descent.direction) + problem.value(theta - t * descent.direction)) / 2
    change = float(drop - problem.value(theta)) / t**2
    return change == pytest.approx(descent.curvature, rel=1e-2) and change < 0


def test_negative_curvature_directions_descend():
    problem = sh.Problem(np.diag([1.0, -1.0, 0.5]), sh.Gaussian(3), 3)
    origin = sh.Network(np.zeros((3, 3)), [1.0, 1.0, -1.0])
    found = inspect(problem, origin)
    assert found.stationary and falls_along(problem, origin, found.direction)
    idle = sh.Network([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 1.0]], [0.0, 0.0, 0.0])
    problem = sh.Problem(np.diag([0.0, 1.0, -1.0]), sh.Frobenius(3), 3)
    found = inspect(problem, idle)
    assert found.stationary and "switching on neuron 2" in found.direction.reason
    assert falls_along(problem, idle, found.direction)


def check_runs(d, runs, samples, seed):
    """Success exactly when the number of positive λ is that of the optimum; every failure has semidefinite ΣrX."""
    outcomes = []
    for offset, kind in enumerate(("diag", "gauss", "indep")):
        problem = plain(figure_2_data(kind, d, samples, scale="paper", rng=seed + offset), d)
        optimum = convex_optimum(problem)
        tolerance = 1e-9 * problem.value(np.zeros(problem.size))
        found = sh.ensemble(problem, runs, "lbfgs", tolerance=tolerance, rng=seed, cores=1)
        for theta in found.thetas:
            end = inspect(problem, problem.unpack(theta))
            assert end.is_global == (end.positive == optimum.positive)
            assert end.is_global or (end.verdict == "trap" and end.definiteness in ("positive", "negative"))
            assert end.is_global or end.rank < d  # Lemma C.3
            outcomes.append(end.is_global)
    return outcomes


def test_300_runs_of_the_plain_network_fail_only_in_traps():
    outcomes = check_runs(4, 100, 200, seed=0)
    assert len(outcomes) == 300 and 30 < sum(outcomes) < 270


@pytest.mark.thorough
def test_300_runs_at_the_size_of_figure_2():
    outcomes = check_runs(10, 100, 1500, seed=0)
    assert len(outcomes) == 300 and 30 < sum(outcomes) < 270


def test_the_norm_neuron_leaves_no_traps():
    """tr R = 0 at a stationary point, and R semidefinite then is zero (Theorem D.1, part 1)."""
    problem = with_norm(figure_2_data("diag", 4, 200, scale="paper"), 4)
    found = sh.ensemble(problem, 40, "lbfgs", tolerance=1e-9 * problem.value(np.zeros(problem.size)))
    for theta in found.thetas:
        end = inspect(problem, problem.unpack(theta))
        assert abs(np.trace(end.residual)) < 1e-6 * end.scale and end.is_global


@given(st.integers(0, 500))
def test_theorem_2_3_full_rank_stationary_points_are_global(seed):
    source = np.random.default_rng(seed)
    teacher = sh.Network(source.standard_normal((5, 3)))
    problem = sh.Problem(teacher, sh.Gaussian(3), 5, outer="ones")
    Q = np.linalg.qr(source.standard_normal((5, 5)))[0]
    assert full_rank_optimality(problem, sh.Network(Q @ teacher.W)) is True
    assert full_rank_optimality(problem, sh.Network(source.standard_normal((5, 3)))) is None  # not stationary
    origin = sh.Network(
        np.zeros((5, 3))
    )  # stationary: the paper's "no rank-deficient saddle points" is a slip
    assert (
        full_rank_optimality(problem, origin) is None and inspect(problem, origin).verdict == "strict saddle"
    )


@given(st.integers(0, 500), st.integers(1, 4), st.integers(1, 5))
def test_the_set_m_q_keeps_the_function(seed, rank, width):
    source, d = np.random.default_rng(seed), 4
    rank = min(rank, width)
    net = sh.Network(
        source.standard_normal((width, rank)) @ source.standard_normal((rank, d)),
        source.standard_normal(width),
    )
    members = equivalent_set(net)
    assert members.dimension == (width - rank) * (width - rank + 1) // 2
    other = members.sample(seed)
    X = source.standard_normal((6, d))
    assert np.allclose(other(X), net(X), atol=1e-9 * (1 + np.max(np.abs(net.W)) ** 2))


def test_lemma_c9_members_of_a_saddle_descend_and_members_of_a_trap_need_the_right_sign():
    problem = sh.Problem(np.diag([2.0, -1.0, 1.0]), sh.Frobenius(3), 3)
    fitted = sh.Network([[np.sqrt(2.0), 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [1.0, 0.0, 0.0])
    members = equivalent_set(fitted)
    assert inspect(problem, fitted).definiteness == "indefinite"
    for seed in range(20):
        assert inspect(problem, members.sample(seed)).verdict == "strict saddle"
    trap = sh.Problem(np.diag([2.0, 1.0, 1.0]), sh.Frobenius(3), 3)
    verdicts = {inspect(trap, members.sample(seed)).verdict for seed in range(40)}
    assert verdicts == {"trap", "strict saddle"}
    assert inspect(trap, members.member(-np.eye(2))).verdict == "trap"


def test_convex_optimum_is_least_squares():
    problem, _, X, y = random_problem(3, d=3, width=3)
    optimum = convex_optimum(problem)
    features = np.array([np.outer(x, x)[np.triu_indices(3)] for x in X])
    left = np.linalg.lstsq(features, y, rcond=None)
    assert optimum.unique and optimum.loss == pytest.approx(np.mean((features @ left[0] - y) ** 2), rel=1e-10)
    assert problem.loss(optimum.network()) == pytest.approx(optimum.loss, rel=1e-10)
    assert inspect(problem, optimum.network()).verdict == "global minimum"
    assert optimum.rank == 3
    with pytest.raises(sh.InvalidProblem, match="rank 3 needs as many neurons"):
        optimum.network(2)


def test_bad_input():
    relu = sh.Problem(sh.Network(np.eye(2), activation=sh.ReLU()), sh.Gaussian(2), 2)
    with pytest.raises(sh.InvalidProblem, match="quadratic activation"):
        inspect(relu, sh.Network(np.eye(2), activation=sh.ReLU()))
    with pytest.raises(sh.InvalidProblem, match="quadratic activation"):
        convex_optimum(relu)
    with pytest.raises(sh.InvalidProblem, match="one output"):
        equivalent_set(sh.Network(np.eye(2), np.eye(2)))
    with pytest.raises(sh.InvalidProblem, match="symmetric 1×1"):
        equivalent_set(sh.Network([[1.0, 0.0], [0.0, 0.0]])).member(np.eye(2))


def test_dying_neurons_are_what_they_die_to():
    """W = 1e-12·I is not stationary; W = 0 is, 1e-12 away: a local minimum where a = −1, a strict saddle for a = 1."""
    problem, tiny = sh.Problem(np.eye(2), sh.Gaussian(2), width=2), 1e-12 * np.eye(2)
    held = sh.Network(tiny, a=[-1.0, -1.0])
    found = inspect(problem, held)
    assert (found.verdict, found.away) == ("trap", 1e-12) and "without neurons of length 1e-12" in repr(found)
    assert np.abs(problem.gradient(held)).max() > 1e-12, "the network itself is not stationary"
    rest = sh.Network(np.zeros((2, 2)), a=[-1.0, -1.0])
    assert not problem.gradient(rest).any() and inspect(problem, rest).away == 0.0
    # ℓ(S) = 2‖S − I‖² + (tr S − 2)², by hand: no S = −Σ|aᵢ|wᵢwᵢᵀ is below ℓ(0) = 8, however small or large
    rng = np.random.default_rng(0)
    for size in (1e-6, 1e-3, 0.1, 1.0):
        W, a = size * rng.standard_normal((200, 2, 2)), -np.exp(rng.standard_normal((200, 2)))
        S = np.einsum("ki,kia,kib->kab", a, W, W)
        loss = 2 * ((S - np.eye(2)) ** 2).sum(axis=(1, 2)) + (np.trace(S, axis1=1, axis2=2) - 2) ** 2
        assert (loss >= 8.0).all()
    end = sh.descend(problem, held, method="flow").network
    assert problem.loss(end) == pytest.approx(8.0)
    free = inspect(problem, sh.Network(tiny, a=[1.0, 1.0]))
    assert free.verdict == "strict saddle" and free.away == 1e-12
