"""Angles and divided differences: coordinates of binary networks that stay finite when neurons merge."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows import Network, Power
from shallows.questions.geometry.escape.merging_descent import Merging, divided_powers, newton_table, weights


def powers(theta, degree):
    """(cos θ, sin θ)^⊗d, entry by entry."""
    return np.array([np.cos(theta) ** (degree - k) * np.sin(theta) ** k for k in range(degree + 1)])


def naive(thetas, degree):
    """The textbook recursion f[θ₁…θ_m] = (f[θ₂…θ_m] − f[θ₁…θ_{m−1}]) / (θ_m − θ₁)."""
    if len(thetas) == 1:
        return powers(thetas[0], degree)
    upper, lower = naive(thetas[1:], degree), naive(thetas[:-1], degree)
    return (upper - lower) / (thetas[-1] - thetas[0])


@given(st.integers(1, 6), st.integers(1, 7), st.integers(0, 10**6))
def test_separate_angles_agree_with_the_recursion(count, degree, seed):
    theta = np.linspace(-1.2, 1.5, count) + 0.1 * np.random.default_rng(seed).random(count)
    table = divided_powers(theta, degree)
    for k in range(count):
        assert np.allclose(table[k], naive(theta[: k + 1], degree), atol=1e-10)


@pytest.mark.parametrize("degree", [1, 2, 3, 5, 8])
def test_coinciding_angles_give_derivatives(degree):
    """f[θ, θ] = f′(θ) and f[θ, θ, θ] = f″(θ)/2, from sin² + cos² = 1 and the product rule."""
    c, s = np.cos(0.7), np.sin(0.7)

    def term(p, q):
        return c**p * s**q if p >= 0 and q >= 0 else 0.0

    table = divided_powers(np.full(3, 0.7), degree)
    for k in range(degree + 1):
        p = degree - k
        first = k * term(p + 1, k - 1) - p * term(p - 1, k + 1)
        second = (
            k * (k - 1) * term(p + 2, k - 2)
            + p * (p - 1) * term(p - 2, k + 2)
            - (k * (p + 1) + p * (k + 1)) * term(p, k)
        )
        assert table[1, k] == pytest.approx(first, abs=1e-13)
        assert table[2, k] == pytest.approx(second / 2, abs=1e-13)


@pytest.mark.parametrize("degree", [2, 3, 6])
def test_example_19_is_a_finite_point(degree):
    """c = (0, 1) at two equal angles is d·x₁^{d−1}x₂ as a polynomial: rank d, and border rank two."""
    here = Merging(degree, np.arange(2), np.ones(2))
    entries = here.tensor(np.array([0.0, 1.0, 0.0, 0.0])).entries
    assert np.allclose(entries, np.eye(1, degree + 1, 1)[0], atol=1e-15)
    assert here.tensor(np.array([0.0, 1.0, 0.0, 0.0])).coefficients[1] == pytest.approx(comb(degree, 1))


@given(st.integers(1, 5), st.integers(2, 7), st.integers(0, 10**6))
def test_a_network_comes_back_with_its_tensor(width, degree, seed):
    rng = np.random.default_rng(seed)
    net = Network(rng.normal(size=(width, 2)), rng.normal(size=width), Power(degree))
    here, point = Merging.of((net.a, net.W), degree)
    a, W = here.state(point)
    terms = np.sum(np.abs(net.a) * np.linalg.norm(net.W, axis=1) ** degree)
    lengths = np.linalg.norm(net.W, axis=1) ** degree  # a short neuron's weight is known to rounding / length
    assert np.allclose(W, net.W, atol=1e-13) and np.allclose(a * lengths, net.a * lengths, atol=1e-12 * terms)
    assert np.allclose(here.tensor(point).entries, net.tensor().entries, atol=1e-12 * terms)


@given(st.integers(1, 6), st.integers(0, 10**6))
def test_weights_invert_newtons_table(count, seed):
    rng = np.random.default_rng(seed)
    theta = np.linspace(-1, 1, count) + 0.1 * rng.random(count)
    b = rng.normal(size=count)
    assert np.allclose(weights(newton_table(theta) @ b, theta), b, atol=1e-9)
    for k in range(count):
        direct = sum(b[i] * np.prod([theta[i] - theta[j] for j in range(k)]) for i in range(count))
        assert (newton_table(theta) @ b)[k] == pytest.approx(direct, abs=1e-12)


@pytest.mark.parametrize("gap", [1.0, 1e-3, 1e-7, 0.0])
def test_the_differential_at_any_gap(gap, rng):
    """Central differences of τ(c, θ), also where the first two angles all but coincide."""
    here = Merging(5, np.arange(3), np.ones(3))
    point = np.r_[rng.normal(size=3), 0.2, 0.2 + gap, 2.0]
    matrix, h = here.differential(point), 1e-5
    for k, step in enumerate(h * np.eye(6)):
        slope = (here.tensor(point + step).entries - here.tensor(point - step).entries) / (2 * h)
        assert np.allclose(matrix[:, k], slope, atol=1e-8)


def test_an_idle_direction_is_seen_only_where_two_angles_meet(rng):
    """dτ is onto at distinct angles (2r ≥ d+1, the proof of Theorem 11) and loses one rank where two coincide."""
    here = Merging(5, np.arange(3), np.ones(3))
    c = rng.normal(size=3)
    ranks = [
        np.linalg.matrix_rank(here.differential(np.r_[c, 0.2, 0.2 + gap, 2.0]), tol=1e-10)
        for gap in (0.5, 0.0)
    ]
    assert ranks == [6, 5]
