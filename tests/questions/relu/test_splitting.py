"""Splitting neurons: Lemma 12, Theorems 8 and 9, and descents from the saddles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.questions.relu.global_minima import global_minimum
from shallows.questions.relu.setting import relu_problem
from shallows.questions.relu.splitting import descend_from_split, split_hessian, splits, wider
from shallows.questions.relu.symmetric import symmetric_minimum

MINIMA = {(7, (1, 6)): None, (10, (2, 8)): None, (11, (3, 8)): None}


def minimum(k, blocks):
    return relu_problem(k), symmetric_minimum(k, blocks).network()


@given(st.floats(0.05, 0.95), st.integers(0, 6))
def test_lemma_12_the_split_point_is_critical_with_this_hessian(alpha, i):
    problem, net = minimum(7, [1, 6])
    big, split = wider(problem), net.split(i, alpha)
    assert big.loss(split) == pytest.approx(problem.loss(net), abs=1e-13)
    assert np.linalg.norm(big.gradient(split)) < 1e-12
    np.testing.assert_allclose(split_hessian(problem, net, i, alpha), big.hessian(split), atol=1e-11)


@pytest.mark.parametrize(("k", "blocks"), list(MINIMA))
def test_theorem_9_every_split_of_these_minima_is_a_saddle(k, blocks):
    problem, net = minimum(k, blocks)
    found = splits(problem, net)
    assert found.all_saddles and found.theorem_8_applies
    assert found.mean_curvatures.min() < 0  # equation 68: at least one neuron, by the proof of Theorem 8
    assert np.all(found.eigenvalues[:, 0] <= found.mean_curvatures + 1e-12)
    means = np.trace(found.blocks, axis1=1, axis2=2) / k
    np.testing.assert_allclose(means, found.mean_curvatures, atol=1e-12)
    big = wider(problem)
    for i, alpha in ((0, 0.5), (k - 1, 0.2)):
        direction = found.escape(i, alpha)
        curvature = direction @ big.hvp(net.split(i, alpha), direction)
        assert curvature == pytest.approx(found.curvature(i, alpha), rel=1e-9)
        assert curvature < 0
        for sense in (1, -1):  # at a critical point with negative curvature both senses go down
            theta = big.pack(net.split(i, alpha)) + sense * 1e-3 * direction
            assert big.value(theta) < problem.loss(net) - 1e-9


def test_a_descent_from_the_saddle_ends_lower_and_here_at_a_global_minimum():
    problem, net = minimum(11, [3, 8])
    run = descend_from_split(problem, net)
    assert run.loss < 1e-10 < problem.loss(net)
    assert global_minimum(wider(problem), run.network, tolerance=1e-3) is not None
    assert descend_from_split(problem, net, i=10, alpha=0.3).loss < problem.loss(net)


def test_global_minima_split_into_global_minima_and_have_no_escape():
    problem = relu_problem(4)
    net = sh.Network(np.eye(4), activation=sh.ReLU())
    found = splits(problem, net)
    assert len(found.saddles) == 0 and np.abs(found.blocks).max() < 1e-12
    assert wider(problem).loss(net.split(2, 0.3)) < 1e-14
    with pytest.raises(sh.InvalidProblem, match="no negative eigenvalue"):
        found.escape(0)


def test_bad_splits_are_refused_by_name(rng):
    problem, net = minimum(7, [1, 6])
    with pytest.raises(sh.InvalidProblem, match="0 < α < 1"):
        split_hessian(problem, net, 0, 1.0)
    with pytest.raises(sh.InvalidProblem, match="neurons 0 to 6"):
        split_hessian(problem, net, 7, 0.5)
    zero = np.array(net.W)
    zero[3] = 0
    with pytest.raises(sh.NotDifferentiable, match="Neuron 3 is zero"):
        splits(problem, sh.Network(zero, activation=sh.ReLU()))
    skew = sh.Problem(
        sh.Network(rng.standard_normal((2, 2)), activation=sh.ReLU()), sh.Gaussian(2), 2, outer="ones"
    )
    with pytest.raises(sh.InvalidProblem, match="orthonormal"):
        splits(skew, sh.Network(np.eye(2), activation=sh.ReLU()))
