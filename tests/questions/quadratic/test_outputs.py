"""Several outputs (paper 002, appendix E)."""

import numpy as np
import pytest

import shallows as sh
from shallows.quadratic import basis_network, fit_blocks, sufficient_width
from shallows.questions.quadratic.outputs import basis_neurons, block_penalty


def samples(outputs, d, planted=True, seed=0, count=80):
    source = np.random.default_rng(seed)
    X = source.standard_normal((count, d))
    if not planted:
        return sh.Samples(X, source.standard_normal((count, outputs)))
    A = source.standard_normal((outputs, d, d))
    return sh.Samples(X, np.einsum("ni,mij,nj->nm", X, A, X))


@pytest.mark.parametrize("planted", [True, False])
@pytest.mark.parametrize(("outputs", "d"), [(1, 3), (2, 3), (5, 3)])
def test_lemma_e1_the_fixed_neurons_solve_all_outputs(outputs, d, planted):
    data = samples(outputs, d, planted)
    net = basis_network(sh.Problem(None, data, 2))
    assert net.width == d * (d + 1) // 2
    features = np.array([np.outer(x, x)[np.triu_indices(d)] for x in data.X])
    fitted = features @ np.linalg.lstsq(features, data.y, rcond=None)[0]
    assert np.allclose(net(data.X).reshape(fitted.shape), fitted, atol=1e-9)


def test_basis_neurons_are_the_papers_up_to_scale():
    assert basis_neurons(2).tolist() == [[1, 0], [1, 1], [0, 1]]
    squares = np.array([np.outer(w, w).ravel() for w in basis_neurons(4)])
    assert np.linalg.matrix_rank(squares) == 10


def test_block_penalty_by_finite_differences():
    problem = sh.Problem(None, samples(2, 3), 7)
    W = np.random.default_rng(1).standard_normal((7, 3))
    value, slope = block_penalty(problem, W)
    naive = sum(np.sum((W[3 * m : 3 * m + 3].T @ W[3 * m : 3 * m + 3] - np.eye(3)) ** 2) for m in range(2))
    assert value == pytest.approx(naive, rel=1e-12) and not np.any(slope[6])
    for i, j in ((0, 1), (4, 2), (5, 0)):
        E = np.zeros_like(W)
        E[i, j] = 1e-6
        difference = (block_penalty(problem, W + E)[0] - block_penalty(problem, W - E)[0]) / 2e-6
        assert slope[i, j] == pytest.approx(difference, rel=1e-6)


@pytest.mark.parametrize("planted", [True, False])
def test_theorem_e2_with_rotated_blocks(planted):
    problem = sh.Problem(None, samples(2, 3, planted), 6)
    for seed in range(4):
        fit = fit_blocks(problem, rng=seed)
        assert fit.is_global and fit.excess < 1e-9 and np.max(fit.defects) < 1e-5


def test_theorem_e2_fails_from_equal_blocks():
    """All blocks start at I with Λ = 0, have equal gradients, and never part (erratum)."""
    problem = sh.Problem(None, samples(2, 3), 6)
    fit = fit_blocks(problem, rotate=False)
    assert not fit.is_global and fit.excess > 0.01
    assert np.allclose(fit.network.W[:3], fit.network.W[3:], atol=1e-9)
    assert fit.gradient_norm < 1e-6 * float(problem.value(np.zeros(problem.size)))


def test_theorem_e1_norm_neurons_and_md_neurons():
    problem = sh.Problem(None, samples(2, 3), 6, norm_neuron=True)
    runs = sh.ensemble(problem, 20, "lm", tolerance=1e-8)
    assert np.all(runs.losses < 1e-12 + problem.floor)


def test_widths():
    assert [sufficient_width(m, 4) for m in (1, 2, 3)] == [4, 8, 10]
    with pytest.raises(sh.InvalidProblem, match="at least Md = 6"):
        fit_blocks(sh.Problem(None, samples(2, 3), 5))
    with pytest.raises(sh.InvalidProblem, match="the penalty is added here"):
        fit_blocks(sh.Problem(None, samples(2, 3), 6, norm_neuron=True))
    with pytest.raises(sh.InvalidProblem, match="1 more is missing"):
        basis_network(sh.Problem(None, samples(2, 3, count=5), 3))
