"""Trivial symmetries: found when present, refused when not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows import InvalidProblem, Network, Power
from shallows.questions.geometry.fibers.trivial_symmetry import trivial_symmetry

cases = st.tuples(st.integers(1, 5), st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32 - 1))


def related(net0, net1):
    return trivial_symmetry(net0, net1) is not None


@given(cases)
def test_a_random_symmetry_is_recovered(case):
    d, n, r, seed = case
    rng = np.random.default_rng(seed)
    W, a = rng.standard_normal((r, n)), rng.standard_normal(r)
    W[rng.random(r) < 0.15] = 0.0
    a[rng.random(r) < 0.15] = 0.0
    net = Network(W, a, Power(d))
    order, scale = rng.permutation(r), rng.choice([-1, 1], r) * rng.uniform(0.2, 5.0, r)
    moved = Network(scale[:, None] * W[order], scale ** (-d) * a[order], Power(d))
    assert np.allclose(moved.tensor().entries, net.tensor().entries, atol=1e-9)
    found = trivial_symmetry(net, moved)
    assert found is not None
    places, scales = list(found.permutation), found.scales
    assert np.allclose(moved.W[places], scales[:, None] * net.W)
    assert np.allclose(moved.a[places], scales ** (-d) * net.a)
    assert related(moved, net)


@given(cases)
def test_a_changed_neuron_is_noticed(case):
    d, n, r, seed = case
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((r, n))
    net = Network(W / np.linalg.norm(W, axis=1, keepdims=True), rng.uniform(1, 2, r), Power(d))
    heavier = net.a.copy()
    heavier[0] *= 1.001
    assert not related(net, Network(net.W, heavier, Power(d)))
    if n > 1:
        turned = net.W.copy()
        turned[0, 0] += 0.01
        assert not related(net, Network(turned, net.a, Power(d)))


def test_same_function_without_a_trivial_symmetry():
    """d = 2: a rotation of two neurons keeps WᵀW, and is no trivial symmetry; nor is splitting a neuron."""
    c, s = np.cos(0.3), np.sin(0.3)
    net = Network(np.eye(2))
    turned = Network([[c, s], [-s, c]])
    assert np.allclose(net.tensor().entries, turned.tensor().entries)
    assert not related(net, turned)
    whole = Network([[1.0, 2.0], [0.0, 0.0]], [3.0, 0.0], Power(3))
    split = Network([[1.0, 2.0], [1.0, 2.0]], [1.0, 2.0], Power(3))
    assert np.allclose(whole.tensor().entries, split.tensor().entries)
    assert not related(whole, split)


def test_signs():
    """w ↦ −w costs α a sign exactly when d is odd."""
    for d in (3, 4):
        net = Network([[1.0, 2.0]], [1.0], Power(d))
        flipped = Network([[-1.0, -2.0]], [1.0], Power(d))
        assert related(net, flipped) == (d % 2 == 0)
    assert not related(Network([[0.0, 0.0]], [1.0]), Network([[0.0, 0.0]], [-1.0]))
    assert related(Network([[0.0, 0.0]], [1.0], Power(3)), Network([[0.0, 0.0]], [-8.0], Power(3)))


def test_networks_that_cannot_be_related():
    net = Network(np.eye(2), activation=Power(3))
    assert not related(net, Network(np.ones((3, 2)), activation=Power(3)))
    with pytest.raises(InvalidProblem, match="activation"):
        trivial_symmetry(net, Network(np.eye(2)))
