"""Proofs of paths, sabotaged: each of these must fail."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.balls.arrays import Ball
from shallows.questions.connections.landscape import Landscape
from shallows.questions.connections.neuron_loss import Neurons
from shallows.questions.connections.verification import Verification


@pytest.fixture
def saddle():
    """A landscape with a saddle between two minima on one sheet, its row, its proof and its paths."""
    chart = sh.chart(sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), width=1))
    landscape = Landscape.of(chart, chart.problem)
    row = next(r for r in range(len(landscape)) if landscape.link(r).pieces == 2)
    verification = Verification(landscape)
    return verification, verification.place(row), landscape.hops(row)


def test_honest_paths_pass(saddle):
    verification, place, hops = saddle
    assert verification._are_apart(place, hops)
    assert all(verification._stays_below(place, hop) for hop in hops)


def test_both_paths_on_one_side(saddle):
    verification, place, hops = saddle
    assert not verification._are_apart(place, [hops[0], hops[0]])


def test_a_path_over_the_level(saddle):
    """A detour through a place as high as the join, and one through the other valley: straight over the ridge."""
    verification, place, (hop, other) = saddle
    for detour in (2.5 * hop.path.places[:1], other.path.places[-1:]):
        places = np.concatenate([hop.path.places[:2], detour, hop.path.places[2:]])
        assert not verification._stays_below(place, replace(hop, path=replace(hop.path, places=places)))


def test_a_path_to_another_minimum_than_it_says(saddle):
    verification, place, (hop, other) = saddle
    assert hop.end != other.end
    assert not verification._stays_below(place, replace(hop, end=other.end))


def test_a_path_that_ends_nowhere(saddle):
    verification, place, (hop, _) = saddle
    short = replace(hop.path, places=hop.path.places[:3])
    assert not verification._stays_below(place, replace(hop, path=short))


def test_a_place_that_is_not_critical_is_not_proved(saddle):
    verification, place, _ = saddle
    neurons = Neurons(place.vectors.mid, np.array(place.signs))
    assert verification.loss.proved(neurons, 0) is not None
    assert verification.loss.proved(neurons.at(neurons.vectors * 1.001), 0) is None


def test_bernstein_bounds_the_loss_in_rationals(saddle):
    """The coefficients' balls hold those of the exact polynomial, found by other means: its values at many places."""
    verification, _, (hop, _) = saddle
    chain, signs = hop.path.places[:2], tuple(hop.path.signs.tolist())
    bounds = verification._bernstein(Ball.exact(chain), signs)
    gram, target = verification.loss.exact.gram, verification.loss.exact.target
    for k in range(21):
        t = Fraction(k, 20)
        w = [(1 - t) * Fraction(a) + t * Fraction(b) for a, b in zip(chain[0, 0], chain[1, 0], strict=True)]
        s = [w[i] * w[j] * int(signs[0]) for i in range(3) for j in range(i, 3)]
        gap = [x - y for x, y in zip(s, target, strict=True)]
        loss = sum(gap[i] * gram[i, j] * gap[j] for i in range(6) for j in range(6))
        weights = [_binomial(4, j) * t**j * (1 - t) ** (4 - j) for j in range(5)]
        low = sum(w * Fraction(x) for w, x in zip(weights, bounds.lower[0].tolist(), strict=True))
        high = sum(w * Fraction(x) for w, x in zip(weights, bounds.upper[0].tolist(), strict=True))
        assert low <= loss <= high and high - low < Fraction(1, 10**9)


def _binomial(n, k):
    return 1 if k == 0 else _binomial(n, k - 1) * (n - k + 1) // k
