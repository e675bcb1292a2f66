"""Theorem 37: how many components a fiber has, and the invariants that tell them apart."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows import InvalidProblem, Network, Power, SymmetricTensor
from shallows.questions.geometry.fibers.components import (
    DifferentComponents,
    Spectrum,
    fiber_components,
    fiber_invariant,
)
from shallows.questions.geometry.fibers.fiber_path import fiber_path


@pytest.mark.parametrize(
    ("diagonal", "width", "expected"),
    [
        ([1, 2, 3], 2, 0),  # case 1: rank above the width
        ([1, 2, 3], 3, 2),  # case 2
        ([-1, -2, 0], 2, 2),
        ([1], 1, 2),
        ([1, -1], 2, 8),  # case 3: 4·C(2, 1)
        ([1, 2, -3], 3, 12),  # 4·C(3, 1)
        ([1, 2, -3, -4, 0], 4, 24),  # 4·C(4, 2)
        ([1, 2, 3], 4, 1),  # case 4
        ([1, -1], 3, 1),
        ([0, 0], 1, 1),
    ],
)
def test_the_four_cases(diagonal, width, expected):
    S = np.diag(np.array(diagonal, dtype=float))
    assert fiber_components(S, width) == expected
    assert fiber_components(SymmetricTensor.from_matrix(S), width) == expected


@pytest.mark.parametrize(
    ("diagonal", "width", "expected"),
    [([1, 2], 2, 2), ([1, 2], 3, 1), ([1, 2], 1, 0), ([1, -2], 2, 0), ([0, 0], 1, 1)],
)
def test_fixed_outer_weights(diagonal, width, expected):
    assert fiber_components(np.diag(np.array(diagonal, dtype=float)), width, outer="ones") == expected


@given(st.integers(1, 5), st.integers(0, 3), st.integers(0, 3), st.integers(1, 7), st.integers(0, 10**6))
def test_the_count_depends_only_on_signature_and_width(samples, n, plus, minus, width, seed):
    plus, minus = min(plus, n), min(minus, n - min(plus, n))
    rng = np.random.default_rng(seed)
    S = samples.symmetric(rng, n, plus, minus)
    G = rng.normal(size=(n, n)) + 3 * np.eye(n)
    rank = plus + minus
    expected = 0 if rank > width else 1 if rank < width else 4 * comb(width, plus) if plus and minus else 2
    assert fiber_components(S, width) == expected
    assert fiber_components(G.T @ S @ G, width) == expected  # Sylvester's law of inertia
    assert fiber_components(1e-30 * S, width) == expected


@pytest.mark.parametrize(("plus", "minus"), [(1, 0), (2, 0), (0, 2), (1, 1), (2, 1), (1, 2)])
def test_random_points_meet_every_component_and_no_other(plus, minus, rng, samples):
    """The invariants take exactly `fiber_components` values, and points that share them are joined by a path."""
    width = plus + minus
    S = samples.symmetric(rng, width + 1, plus, minus)
    frame = Spectrum.of(S)
    classes = {}
    for _ in range(15 * fiber_components(S, width)):
        net = samples.network(rng, S, width)
        classes.setdefault(fiber_invariant(net, frame), []).append(net)
    assert len(classes) == fiber_components(S, width)
    firsts = [members[0] for members in classes.values()]
    for members in classes.values():
        assert fiber_path(members[0], members[1]).drift(50) < 1e-12
    for other in firsts[1:]:
        with pytest.raises(DifferentComponents):
            fiber_path(firsts[0], other)


@pytest.mark.parametrize(("plus", "minus"), [(2, 0), (1, 1), (2, 1)])
def test_the_invariant_is_constant_on_random_walks_in_the_fiber(plus, minus, rng, samples):
    """An independent walk: random tangent steps, projected back onto Σ a w wᵀ = S by Gauss-Newton."""
    width, n = plus + minus, plus + minus
    S = samples.symmetric(rng, n, plus, minus)
    frame = Spectrum.of(S)
    net = samples.network(rng, S, width, boost=0.3)
    first = fiber_invariant(net, frame)
    theta = np.r_[net.W.ravel(), net.a]
    start = theta.copy()
    for _ in range(150):
        theta = _projected(theta + 0.05 * rng.normal(size=len(theta)), S, width)
        W, a = theta[:-width].reshape(width, n), theta[-width:]
        assert fiber_invariant(Network(W, a), frame) == first
    assert np.linalg.norm(theta - start) > 0.3


def _projected(theta, S, width):
    n = len(S)
    for _ in range(20):
        W, a = theta[:-width].reshape(width, n), theta[-width:]
        defect = (W.T * a) @ W - S
        columns = []
        for i in range(width):
            for k in range(n):
                E = np.zeros((n, n))
                E[k] += a[i] * W[i]
                columns.append((E + E.T).ravel())
        columns += [np.outer(w, w).ravel() for w in W]
        theta = theta - np.linalg.lstsq(np.array(columns).T, defect.ravel(), rcond=1e-10)[0]
    assert np.max(np.abs(defect)) < 1e-9
    return theta


def test_the_invariant_is_none_where_the_fiber_is_connected():
    assert fiber_invariant(Network(np.eye(2)[:1].repeat(2, axis=0))) is None


def test_errors_name_the_invariant(samples):
    W = np.eye(2)
    plus_minus, minus_plus = Network(W, [1.0, -1.0]), Network(W[::-1], [-1.0, 1.0])
    assert np.allclose(samples.matrix(plus_minus), samples.matrix(minus_plus))
    with pytest.raises(DifferentComponents, match="signs of a") as caught:
        fiber_path(plus_minus, minus_plus)
    assert caught.value.invariant == "signs of a"
    assert caught.value.first.signs == (1, -1)
    for row, name in ((0, "positive"), (1, "negative")):
        flipped = W.copy()
        flipped[row] *= -1
        with pytest.raises(DifferentComponents, match=f"{name} a are oppositely oriented"):
            fiber_path(plus_minus, Network(flipped, [1.0, -1.0]))


@pytest.mark.parametrize(
    "call",
    [
        lambda: fiber_components(np.eye(2), 0),
        lambda: fiber_components([[0.0, 1.0], [2.0, 0.0]], 2),
        lambda: fiber_components(SymmetricTensor(np.ones(4), 2, 3), 2),
        lambda: fiber_components(np.eye(2), 2, outer="twos"),
        lambda: fiber_components([[np.nan]], 1),
        lambda: fiber_invariant(Network(np.eye(2), activation=Power(3))),
        lambda: fiber_invariant(Network(np.eye(2), np.ones((2, 2)))),
    ],
)
def test_bad_input(call):
    with pytest.raises(InvalidProblem):
        call()
