"""Paths inside fibers: τ is constant to 1e-10 of Σ|a|‖w‖², they are continuous, and they end where they should."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows import InvalidProblem, Network, Power
from shallows.questions.geometry.fibers.components import DifferentComponents
from shallows.questions.geometry.fibers.fiber_path import fiber_path
from shallows.questions.geometry.paths import Path, Straight

POINTS = 1000


def check(samples, net0, net1, points=POINTS):
    """The promise, with τ summed neuron by neuron; returns the path."""
    path = fiber_path(net0, net1)
    nets = path.networks(points)
    S, scale = samples.matrix(net0), max(samples.energy(net0), samples.energy(net1))
    assert max(np.max(np.abs(samples.matrix(net) - S)) for net in nets) <= 1e-10 * scale
    assert np.array_equal(nets[0].W, net0.W) and np.array_equal(nets[0].a, net0.a)
    assert np.array_equal(nets[-1].W, net1.W) and np.array_equal(nets[-1].a, net1.a)
    return path


def biggest_step(path, points):
    thetas = [np.r_[net.W.ravel(), net.a] for net in path.networks(points)]
    return max(np.linalg.norm(q - p) for p, q in pairwise(thetas))


CASES = {
    "semidefinite, spare neurons": (3, 2, 0, 5, (2, 0)),
    "mixed signature, one idle": (3, 2, 1, 4, (0, 0)),
    "mixed signature, cancelling pair": (4, 2, 1, 5, (1, 1)),
    "isotropic: a pair cancels along a null vector": (5, 1, 1, 6, (2, 2)),
    "width far above n": (2, 1, 1, 9, (3, 3)),
    "rank zero": (3, 0, 0, 4, (2, 2)),
    "rank zero, one neuron": (3, 0, 0, 1, (0, 0)),
    "negative, spare of both signs": (3, 0, 2, 5, (1, 1)),
    "one input": (1, 1, 0, 3, (1, 1)),
}


@pytest.mark.parametrize("case", CASES)
def test_connected_fibers(case, rng, samples):
    n, plus, minus, width, extra = CASES[case]
    S = samples.symmetric(rng, n, plus, minus)
    check(samples, samples.network(rng, S, width, extra=extra), samples.network(rng, S, width, extra=extra))
    check(samples, samples.network(rng, S, width, extra=extra), samples.network(rng, S, width))


@given(st.integers(0, 10**9))
def test_random_fibers(samples, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    plus = int(rng.integers(0, n + 1))
    minus = int(rng.integers(0, n - plus + 1))
    width = max(1, plus + minus + int(rng.integers(0, 4)))
    S = samples.symmetric(rng, n, plus, minus) * 10.0 ** rng.integers(-30, 30)
    net0, net1 = samples.network(rng, S, width), samples.network(rng, S, width)
    try:
        check(samples, net0, net1, points=100)
    except DifferentComponents:
        assert plus + minus == width  # only where Theorem 37 has several components


@pytest.mark.parametrize(("plus", "minus"), [(3, 0), (1, 1), (2, 2)])
def test_full_rank_within_one_component(plus, minus, rng, samples):
    """M in the identity component of O(p, q): a product of many small steps, so a path is known to exist."""
    width = plus + minus
    S = samples.symmetric(rng, width, plus, minus)
    net0 = samples.network(rng, S, width)
    J = np.sign(net0.a)
    W = net0.W * np.sqrt(np.abs(net0.a))[:, None]
    for _ in range(60):
        A = 0.2 * rng.normal(size=(width, width))
        X = J[:, None] * (A - A.T)  # JX + XᵀJ = 0: the Lie algebra
        W = (
            np.linalg.solve(np.eye(width) - X / 2, np.eye(width) + X / 2) @ W
        )  # the Cayley transform stays in O(p, q)
    assert check(samples, net0, Network(W, J)).length > 0


def test_the_path_is_continuous(rng, samples):
    S = samples.symmetric(rng, 4, 2, 1)
    path = check(samples, samples.network(rng, S, 5, extra=(1, 1)), samples.network(rng, S, 5, extra=(0, 1)))
    for points in (1000, 4000):
        assert biggest_step(path, points) <= 25 * path.length / points
    for before, after in pairwise(path.segments):
        assert np.allclose(before.at(1.0)[1], after.at(0.0)[1], rtol=0, atol=1e-12)
        assert np.allclose(before.at(1.0)[0], after.at(0.0)[0], rtol=0, atol=1e-12)


def test_the_energy_falls_to_the_nuclear_norm_and_rises(rng, samples):
    S = samples.symmetric(rng, 4, 2, 2)
    width = 6
    path = check(samples, samples.network(rng, S, width), samples.network(rng, S, width))
    energies = np.array([samples.energy(net) for net in path.networks(600)])
    bottom = int(np.argmin(energies))
    slack = 1e-9 * energies.max()
    assert np.all(np.diff(energies[: bottom + 1]) <= slack) and np.all(np.diff(energies[bottom:]) >= -slack)
    assert energies[bottom] == pytest.approx(np.sum(np.abs(np.linalg.eigvalsh(S))), rel=1e-6)


@pytest.mark.parametrize(("spread", "boost"), [(8.0, 1.0), (4.0, 4.0), (0.0, 7.0), (0.0, 9.0)])
def test_ill_conditioned(spread, boost, rng, samples):
    """Eigenvalues over eight decades; networks a million times larger than their matrix."""
    S = samples.symmetric(rng, 4, 2, 1, spread)
    for extra in ((0, 0), (1, 1)):
        check(
            samples,
            samples.network(rng, S, 5, boost, extra),
            samples.network(rng, S, 5, boost, extra),
            points=300,
        )


def test_a_reflection_needs_the_idle_neuron(samples):
    net0 = Network([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    net1 = Network([[-1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    assert "turn a neuron over" in check(samples, net0, net1).labels
    with pytest.raises(DifferentComponents):
        fiber_path(Network(net0.W[:2]), Network(net1.W[:2]))


@pytest.mark.parametrize("seed", range(4))
def test_an_idle_neuron_joins_all_components(seed, samples):
    """What the error message advises."""
    rng = np.random.default_rng(seed)
    S = samples.symmetric(rng, 2, 1, 1)
    nets = [samples.network(rng, S, 2) for _ in range(12)]
    padded = [Network(np.vstack([net.W, np.zeros(2)]), np.r_[net.a, 0.0]) for net in nets]
    refused = 0
    for net, wide in zip(nets[1:], padded[1:], strict=True):
        check(samples, padded[0], wide, points=60)
        try:
            fiber_path(nets[0], net)
        except DifferentComponents:
            refused += 1
    assert refused > 0


def test_signs_of_a_exchange_through_one_idle_neuron(samples):
    W = np.vstack([np.eye(3), np.zeros(3)])
    check(samples, Network(W, [1.0, -1.0, 2.0, 0.0]), Network(W[[1, 0, 2, 3]], [-1.0, 1.0, 2.0, 0.0]))


def test_from_a_network_to_itself(samples):
    net = Network(np.eye(2), [1.0, -1.0])
    path = check(samples, net, net)
    assert path.length == 0.0


def test_the_norm_neuron_rides_along():
    net = Network([[1.0, 0.0], [0.0, 0.0]], norm=2.0)
    assert fiber_path(net, Network(net.W[::-1], norm=2.0))(0.5).norm == 2.0
    with pytest.raises(InvalidProblem, match="norm"):
        fiber_path(net, Network(net.W, norm=1.0))


def test_the_straight_line_is_no_fiber_path(rng, samples):
    """Negative control: `drift` sees a path that leaves the fiber."""
    S = samples.symmetric(rng, 3, 2, 1)
    net0, net1 = samples.network(rng, S, 5), samples.network(rng, S, 5)
    line = Path([Straight("line", (net0.a, net0.W), (net1.a, net1.W))], Power(2))
    assert line.drift(50) > 1e-2


@pytest.mark.parametrize(
    ("net0", "net1", "message"),
    [
        (Network(np.eye(2)), Network(2 * np.eye(2)), "not in one fiber"),
        (Network(np.eye(2)), Network(np.eye(2)[:1]), "one shape"),
        (Network(np.eye(2), activation=Power(4)), Network(np.eye(2)), "Power"),
        (Network(np.eye(2), np.ones((2, 2))), Network(np.eye(2)), "outputs"),
        (np.eye(2), Network(np.eye(2)), "Network"),
    ],
)
def test_bad_input(net0, net1, message):
    with pytest.raises(InvalidProblem, match=message):
        fiber_path(net0, net1)


def test_nearly_equal_functions_are_refused_beyond_the_tolerance():
    net0, net1 = Network(np.eye(2)), Network(np.eye(2) * (1 + 1e-8))
    with pytest.raises(InvalidProblem, match="not in one fiber"):
        fiber_path(net0, net1)
    assert fiber_path(net0, net1, tolerance=1e-6).end is not None


@pytest.mark.parametrize("seed", range(40))
def test_small_integer_networks_with_parallel_rows(seed, samples):
    """What people type: rows repeated, opposite, zero; a whole plane of principal angles can then vanish."""
    rng = np.random.default_rng([seed, 11])
    width, n = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    W, a = rng.integers(-3, 4, (width, n)).astype(float), rng.choice([-1.0, 1.0, 2.0], width)
    W[-1] = rng.choice([1, -1, 2, 0]) * W[0]
    order = rng.permutation(width)
    try:
        check(samples, Network(W, a), Network(W[order], a[order]), points=50)
    except DifferentComponents:
        assert np.linalg.matrix_rank(samples.matrix(Network(W, a))) == width


def test_parallel_rows_among_those_that_cancel(samples):
    """Rows 3 and 4 are opposite: one of two principal angles is zero, and its direction is rounding."""
    half = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
    W = np.array([[1.0, -1.0], [-2.0, 5.0], [-1.0, -2.0], [1.0, 2.0]])
    check(samples, Network(W), Network(half @ W))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(300))
def test_many_fibers(seed, samples):
    rng = np.random.default_rng([seed, 7])
    n = int(rng.integers(1, 9))
    plus = int(rng.integers(0, n + 1))
    minus = int(rng.integers(0, n - plus + 1))
    width = plus + minus + int(rng.integers(1, 6))
    S = samples.symmetric(rng, n, plus, minus, spread=float(rng.choice([0.0, 3.0, 6.0])))
    boost = float(rng.choice([0.3, 1.0, 3.0]))
    check(samples, samples.network(rng, S, width, boost), samples.network(rng, S, width, boost))
