"""The orthogonality penalty, its repair, and eigenvalues by descent (paper 002, Theorem D.1(2), Corollary D.3)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.quadratic import eigendecompose, figure_2_data, fit_orthogonal, plain, with_orthogonality
from shallows.questions.quadratic.orthogonality import rotated_identity, vanishing_diagonal

SWAP = np.array([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize("kind", ["diag", "gauss", "indep"])
@pytest.mark.parametrize("width", [4, 6])
def test_theorem_d1_from_zero_and_the_identity(kind, width):
    """Global, orthogonal at the end, and for k > d the further neurons never move (they start at zero)."""
    problem = with_orthogonality(figure_2_data(kind, 4, 100, scale="paper"), width)
    fit = fit_orthogonal(problem)
    assert fit.inspection.is_global and fit.defect < 1e-6 and not fit.rotated
    assert problem.loss(fit.network) == pytest.approx(problem.floor, abs=1e-9)
    assert not np.any(fit.network.W[4:])


def test_the_corollary_fails_as_printed_and_holds_when_repaired():
    """A = [[0,1],[1,0]]: the gradient's diagonal vanishes at (0, I), which is stationary and not global."""
    problem = sh.Problem(SWAP, sh.Frobenius(2), 2, orthogonality=2.0)
    assert vanishing_diagonal(problem).tolist() == [0, 1]
    assert np.linalg.norm(problem.gradient(sh.Network(np.eye(2), np.zeros(2)))) == 0.0
    stuck = fit_orthogonal(problem, repair=False)
    assert stuck.inspection.verdict == "strict saddle" and stuck.run.iterations == 0
    with pytest.raises(sh.NotConverged, match="strict saddle"):
        eigendecompose(SWAP, repair=False)
    assert np.allclose(eigendecompose(SWAP).values, [-1.0, 1.0], atol=1e-8)


@pytest.mark.parametrize(
    "A",
    [
        np.kron(np.eye(3), SWAP),
        np.block([[SWAP, np.zeros((2, 1))], [np.zeros((1, 2)), np.array([[3.0]])]]),
        np.ones((4, 4)) - np.eye(4),
        np.diag([1.0, 2.0, 2.0, 5.0]),
        -np.eye(3),
        np.array([[1e-7, 2e-7], [2e-7, 3e-7]]),
        np.array([[-4.0]]),
    ],
    ids=["swaps", "swap and 3", "hollow", "repeated", "minus identity", "tiny", "one"],
)
def test_hard_matrices(A):
    found = eigendecompose(A)
    scale = np.linalg.norm(A)
    assert np.allclose(found.values, np.linalg.eigvalsh(A), rtol=0, atol=1e-7 * scale)
    assert np.allclose((found.vectors * found.values) @ found.vectors.T, A, rtol=0, atol=1e-7 * scale)
    assert found.residual < 1e-7 and found.fit.defect < 1e-6


@given(st.integers(1, 5), st.integers(0, 1000))
def test_eigendecomposition_of_random_matrices(d, seed):
    A = np.random.default_rng(seed).standard_normal((d, d))
    A = A + A.T
    assert np.allclose(eigendecompose(A).values, np.linalg.eigvalsh(A), atol=1e-6 * np.linalg.norm(A))


def test_the_rotated_start_is_orthogonal_and_costs_nothing():
    problem = sh.Problem(SWAP, sh.Frobenius(2), 3, orthogonality=2.0)
    net = problem.unpack(rotated_identity(problem, 0.3, rng=1))
    assert np.allclose(net.W.T @ net.W, np.eye(2), atol=1e-14) and not np.any(net.a)
    assert problem.loss(net) == pytest.approx(2.0)


@given(st.integers(1, 4), st.integers(0, 100))
def test_lemma_b4_rank_deficiency_costs_gamma(rank, seed):
    d = 5
    B = np.random.default_rng(seed).standard_normal((d, rank))
    Q, _ = np.linalg.qr(B)
    for W in (Q.T, B.T):  # the bound d − r is attained by orthonormal rows
        penalty = np.sum((W.T @ W - np.eye(d)) ** 2)
        assert penalty >= d - rank - 1e-9
    assert np.sum((Q @ Q.T - np.eye(d)) ** 2) == pytest.approx(d - rank)


def test_bad_input():
    data = figure_2_data("diag", 3, 30)
    with pytest.raises(sh.InvalidProblem, match="with_orthogonality"):
        fit_orthogonal(plain(data, 3))
    with pytest.raises(sh.InvalidProblem, match="at least d = 3"):
        fit_orthogonal(sh.Problem(None, data, 2, orthogonality=1.0))
    with pytest.raises(sh.InvalidProblem, match="zero"):
        eigendecompose(np.zeros((2, 2)))
    with pytest.raises(sh.InvalidProblem, match="not symmetric"):
        eigendecompose([[1.0, 2.0], [0.0, 1.0]])
