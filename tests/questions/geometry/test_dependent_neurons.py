"""Neurons that become idle without changing τ: along a relation of the powers, and by turning in a plane."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows import Frobenius, Gaussian, Network, Power, Problem, SymmetricTensor, explain_escape
from shallows.questions.geometry.escape.dependent_neurons import free_by_relation, free_by_turning
from shallows.questions.geometry.paths import Trail


def powers(a, W, degree):
    """Σ a w^I over all index sets, without the library's tensors."""
    chosen = list(combinations_with_replacement(range(W.shape[1]), degree))
    return np.array([np.sum(a * np.prod(W[:, list(index)], axis=1)) for index in chosen])


def stays(trail, state, degree, row):
    """The tensor is the same all along, no neuron jumps, and the named one is idle at the end."""
    size = np.abs(powers(*state, degree)).max()
    (segment,) = trail.segments
    before = state
    for t in np.linspace(0, 1, 101):
        a, W = segment.at(t)
        terms = np.abs(a) @ np.linalg.norm(W, axis=1) ** degree
        assert np.abs(powers(a, W, degree) - powers(*state, degree)).max() < 1e-11 * (size + terms)
        assert np.abs(W - before[1]).max() < 0.2 * (1 + np.abs(W).max())
        before = a, W
    assert np.array_equal(segment.at(0)[1], state[1]) and trail.state[0][row] == 0


@given(st.integers(2, 6), st.integers(2, 4), st.integers(0, 10**6))
def test_neurons_of_a_plane_turn_until_one_is_idle(degree, n, seed):
    rng = np.random.default_rng([seed, degree, n])
    angles = np.sort(rng.uniform(0, np.pi, degree + 1))
    gaps = np.diff(np.append(angles, angles[0] + np.pi))
    if gaps.min() < 0.02:
        angles = np.pi * np.arange(degree + 1) / (degree + 1)  # regular: on special input as well
    plane = np.linalg.qr(rng.normal(size=(n, 2)))[0].T
    flips = rng.choice([-1, 1], degree + 1) * rng.uniform(0.3, 3, degree + 1)
    W = (flips[:, None] * np.column_stack([np.cos(angles), np.sin(angles)]) @ plane)[
        rng.permutation(degree + 1)
    ]
    state = rng.normal(size=degree + 1), W
    trail = Trail(state)
    row = free_by_turning(trail, degree, rng)
    assert row is not None
    stays(trail, state, degree, row)


def test_four_neurons_that_are_not_in_a_plane_do_not_turn(rng):
    trail = Trail((np.ones(4), rng.normal(size=(4, 3))))
    assert (
        free_by_turning(trail, 3, rng) is None and free_by_relation(trail, 3) is None and not trail.segments
    )


@pytest.mark.parametrize(("width", "n", "degree"), [(5, 2, 3), (7, 2, 3), (12, 3, 3), (6, 2, 4)])
def test_more_neurons_than_independent_powers(width, n, degree, rng):
    """Lifted into three inputs, so that the dimension alone does not say it."""
    plane = np.linalg.qr(rng.normal(size=(3, n)))[0].T
    state = rng.normal(size=width), rng.normal(size=(width, n)) @ plane
    trail = Trail(state)
    row = free_by_relation(trail, degree)
    assert row is not None
    stays(trail, state, degree, row)
    assert np.count_nonzero(trail.state[0]) == width - 1


@pytest.mark.parametrize("metric", [Gaussian(3), Frobenius(3)], ids=["normal", "frobenius"])
@pytest.mark.parametrize("width", [4, 5, 8])
def test_critical_cubics_are_escaped(metric, width, rng):
    """Neurons in the plane z = 0 and dℓ = z²(x + z): critical, active, no two parallel, and not a minimum."""
    W = np.column_stack([rng.normal(size=(width, 2)), np.zeros(width)])
    net = Network(W, rng.normal(size=width), Power(3))
    slope = np.zeros(10)
    slope[[5, 9]] = 1.0  # the entries xzz and zzz
    teacher = SymmetricTensor(net.tensor().entries - np.linalg.solve(metric.gram(3), slope), 3, 3)
    problem = Problem(teacher, metric, width)
    assert np.abs(problem.gradient(net)).max() < 1e-11 * problem.loss(Network(0 * W, net.a, Power(3)))
    escape = explain_escape(problem, net)
    assert escape.theorem == "Finding 4 and Lemma 14"
    losses = escape.path.losses(300)
    assert np.diff(losses).max() < 1e-10 * losses[0] and losses[-1] < 0.9 * losses[0]
