"""Prop. 10's losses and Example 19's sequence."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from shallows import Frobenius, Gaussian, InvalidProblem, Problem, SymmetricTensor
from shallows.mathematics.tensors.coordinates import multiplicities
from shallows.questions.geometry.escape.bad_minima import bad_minimum
from shallows.questions.geometry.ranks.diverging_sequence import diverging_sequence
from shallows.questions.geometry.ranks.real_rank import real_rank
from shallows.questions.geometry.ranks.widths import space_dimension

LOW = [
    (2, 2, 1),
    (2, 4, 2),
    (2, 5, 4),
    (3, 3, 2),
    (3, 3, 3),
    (3, 4, 4),
    (4, 3, 4),
    (4, 3, 5),
    (5, 2, 2),
    (4, 2, 1),
]
THICK = [(3, 2), (4, 3), (5, 3), (5, 4), (6, 4), (7, 6)]


@pytest.mark.parametrize(("d", "n", "r"), LOW)
def test_below_the_thick_width_the_bad_minimum_is_attained(d, n, r):
    """Loss 1 at a strict local minimum modulo the fiber, loss 0 elsewhere, and ℓ is convex."""
    bad = bad_minimum(d, n, r, rng=2)
    problem = bad.problem()
    assert bad.attained
    assert problem.loss(bad.network) == pytest.approx(1.0, abs=1e-9)
    assert problem.loss(bad.teacher) == pytest.approx(0.0, abs=1e-12)
    values = np.linalg.eigvalsh(problem.hessian(bad.network))
    assert np.max(np.abs(problem.gradient(bad.network))) < 1e-10 * values[-1]
    flat = problem.size - space_dimension(d, n, r)
    assert np.all(np.abs(values[:flat]) < 1e-10 * values[-1])
    assert values[flat] > 1e-6 * values[-1]  # strict across the fiber


@pytest.mark.parametrize(("d", "n", "r"), [(2, 4, 2), (3, 3, 2), (4, 3, 4)])
def test_descent_from_nearby_stays_in_the_bad_valley(d, n, r):
    bad = bad_minimum(d, n, r, rng=2)
    problem = bad.problem()
    rng = np.random.default_rng(0)
    start = problem.pack(bad.network)
    for _ in range(3):
        result = minimize(
            problem.value,
            start + 1e-3 * rng.standard_normal(problem.size),
            method="BFGS",
            options={"gtol": 1e-7},
        )
        assert result.fun == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(("d", "r"), THICK)
def test_binary_valleys_are_cut_off_by_forms_with_real_roots(d, r):
    bad = bad_minimum(d, 2, r)
    assert not bad.attained and bad.floor == 0.25
    assert bad.value(bad.network.tensor()) == pytest.approx(1.0)
    assert bad.value(bad.teacher.tensor()) == 0.0
    middle = 0.5 * (bad.network.tensor() + bad.teacher.tensor())
    cosine = np.array([comb(d, k) * np.real(1j**k) for k in range(d + 1)])
    assert np.allclose(middle.coefficients, cosine, atol=1e-11)  # Re (x+iy)^d
    assert real_rank(SymmetricTensor(cosine / multiplicities(2, d), 2, d)) == d > r


@pytest.mark.parametrize(("d", "r"), THICK)
def test_the_wall_is_out_of_reach_of_networks(d, r):
    """‖S − M‖_F < 1 keeps all d roots real; the distance of random networks to M is at least 1."""
    bad = bad_minimum(d, 2, r)
    middle = 0.5 * (bad.network.tensor() + bad.teacher.tensor())
    rng = np.random.default_rng(d)
    for _ in range(5):
        step = SymmetricTensor(rng.standard_normal(d + 1), 2, d)
        near = middle + (0.99 / step.norm(Frobenius(2))) * step
        assert real_rank(near) == d
    problem = Problem(middle, Frobenius(2), r)
    starts = rng.standard_normal((2, problem.size))
    best = min(minimize(problem.value, x, method="BFGS", options={"maxiter": 300}).fun for x in starts)
    assert best >= 1.0 - 1e-9


@pytest.mark.parametrize(("d", "r"), [(3, 2), (5, 3), (5, 4)])
def test_descent_never_leaves_the_binary_valley(d, r):
    """4,000 small steps downhill from the network: the loss falls and stays above the floor."""
    bad = bad_minimum(d, 2, r)
    problem = bad.problem()
    theta = problem.pack(bad.network)
    for _ in range(4000):
        value, slope = problem.value_and_gradient(theta)
        step = 1e-2 / (1 + np.linalg.norm(slope))
        while float(problem.value(theta - step * slope)) > float(value) - 1e-4 * step * float(slope @ slope):
            step /= 2
            if step < 1e-14:
                break
        theta = theta - step * slope
    assert 0.25 <= float(problem.value(theta)) < 1.0


def test_the_gradient_of_the_loss(rng):
    bad = bad_minimum(3, 3, 2)
    S, E = (SymmetricTensor(rng.standard_normal(10), 3, 3) for _ in range(2))
    h = 1e-5
    slope = (bad.value(S + h * E) - bad.value(S - h * E)) / (2 * h)
    assert bad.gradient(S).inner(E, Frobenius(3)) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((3, 3, 4), "dense"),
        ((2, 3, 3), "filling"),
        ((4, 3, 6), "not known"),
        ((3, 2, 3), "filling"),
        ((1, 2, 1), "filling"),
    ],
)
def test_refusals(arguments, match):
    with pytest.raises(InvalidProblem, match=match):
        bad_minimum(*arguments)


# -- Example 19 --------------------------------------------------------------------------------------------


@given(st.integers(3, 7), st.integers(2, 4), st.floats(0.5, 50.0))
def test_the_sequence_is_what_it_says(d, n, tau):
    sequence = diverging_sequence(d, n)
    difference = sequence.network(tau).tensor() - sequence.target
    assert np.allclose(difference.entries, sequence.residual(tau).entries, atol=1e-12 * (1 + tau))
    assert sequence.target.polynomial() == f"x1^{d - 1}*x2"
    loss = Problem(sequence.target, Gaussian(n), 2).loss(sequence.network(tau))
    assert sequence.losses(Gaussian(n), [tau])[0] == pytest.approx(loss, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("d", [3, 4, 6])
def test_losses_fall_like_one_over_tau_squared_and_the_limit_is_not_reached(d):
    sequence = diverging_sequence(d)
    taus = 10.0 ** np.arange(1, 8)
    losses = sequence.losses(Frobenius(2), taus)
    assert np.all(np.diff(losses) < 0) and np.all(losses > 0)
    assert losses[-1] * taus[-1] ** 2 == pytest.approx((d - 1) / (2 * d), rel=1e-6)
    assert real_rank(f"x^{d - 1}*y") == d > 2
    assert np.abs(sequence.network(1e7).a).max() == pytest.approx(1e7 / d)


def test_the_printed_coefficient_misses_the_target():
    """With τ/(d−1) as printed the limit is d/(d−1) times the target: the loss does not tend to 0."""
    d, tau = 3, 1e6
    net = diverging_sequence(d).network(tau)
    printed = SymmetricTensor.from_powers(net.W, net.a * d / (d - 1), d)
    miss = (printed - diverging_sequence(d).target).norm(Frobenius(2))
    assert miss == pytest.approx(diverging_sequence(d).target.norm(Frobenius(2)) / (d - 1), rel=1e-4)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, [[1.0]]])
def test_bad_tau(bad):
    with pytest.raises(InvalidProblem):
        diverging_sequence(3).losses(Frobenius(2), bad)


def test_bad_sequences():
    with pytest.raises(InvalidProblem):
        diverging_sequence(2)
    with pytest.raises(InvalidProblem, match="inputs"):
        diverging_sequence(3, 2).losses(Frobenius(3), [1.0])
