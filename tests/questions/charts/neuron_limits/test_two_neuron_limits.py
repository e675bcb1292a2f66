"""Limits of two neurons z + c z^k against a search over two directions that shares no code with the charts.

A neuron a p(w·x) in the direction u is x(u·x) + y(u·x)^k with xy of the sign of c, so with both directions fixed the
least loss is that of four non-negative least-squares problems, whose solutions with zeros are limits; merged neurons
are approached as the directions meet.
"""

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize, nnls

import shallows as sh
from shallows.model.polynomial_space import PolynomialSpace
from shallows.questions.charts.closure.equations import TermEquations
from shallows.questions.charts.neuron_limits import meeting
from shallows.questions.charts.neuron_limits.limit_map import LimitEquations
from shallows.questions.charts.neuron_limits.two_neuron_limits import two_neuron_limits
from shallows.support.seeds import complex_normal


def labelled(seed, rows=40, n=2):
    rng = np.random.default_rng([seed, 13])
    return rng.standard_normal((rows, n)), rng.standard_normal(rows)


#: Directions that are closer are taken to be so far apart: merged ones differ from that by as much, and columns that
#: agree to 10⁻¹³ would fit their own rounding, with weights of 10¹² (seed 6: to 0.73279, where the limit is 0.73381).
APART = 1e-5


def least(angles, X, y, k, sign):
    """The least loss of two neurons in these directions, limits with them."""
    middle, half = np.mean(angles), (angles[1] - angles[0]) / 2
    if abs(np.sin(half)) < APART:
        angles = middle + APART * np.array([-1.0, 1.0])
    U = np.stack([np.cos(angles), np.sin(angles)])
    Z = X @ U
    best = np.inf
    for first in (1.0, -1.0):
        for second in (1.0, -1.0):
            turns = np.array([first, second])
            columns = np.concatenate([Z * turns, sign * Z**k * turns], axis=1)
            scale = np.linalg.norm(columns, axis=0)
            best = min(best, nnls(columns / scale, y)[1] ** 2)
    return best / len(y)


def searched(X, y, k, sign, starts=3):
    grid = np.pi * np.arange(24) / 24
    values = sorted((least([a, b], X, y, k, sign), a, b) for i, a in enumerate(grid) for b in grid[:i])
    options = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 600}
    ends = [
        minimize(least, [a, b], (X, y, k, sign), "Nelder-Mead", options=options)
        for _, a, b in values[:starts]
    ]
    return min(ends, key=lambda end: end.fun)


def activation(k, c):
    return sh.Polynomial([0.0, 1.0, *[0.0] * (k - 2), c])


SLOW = pytest.mark.thorough
CASES = [
    (3, 1.0, 0),
    (3, -1.0, 1),
    *(pytest.param(3, c, seed, marks=SLOW) for c in (1.0, -1.0) for seed in range(2, 8)),
    *(pytest.param(5, 1.0, seed, marks=SLOW) for seed in range(3)),
]


@pytest.mark.parametrize(("k", "c", "seed"), CASES)
def test_the_infimum_is_the_least_over_all_directions(k, c, seed):
    X, y = labelled(seed)
    problem = sh.Problem(None, sh.Samples(X, y), 2, activation(k, c))
    chart = sh.chart(problem)
    assert chart.completeness != "sampled" and chart.scope == ""
    found = searched(X, y, k, np.sign(c))
    assert chart.infimum == pytest.approx(found.fun, rel=1e-5)
    assert chart.minimum.kind == "global minimum" and chart.attained is not chart.minimum.limit
    lowest = sh.ensemble(problem, runs=8, method="lm", rng=seed).losses.min()
    assert chart.infimum * (1 - 1e-9) <= lowest


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=SLOW) for seed in (3, 4))])
def test_limits_far_out_are_no_singular_ends(seed):
    """One path of some stratum ends so far out that its end looks singular; the infimum is a limit all the same."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 2)), rng.standard_normal(40)
    chart = sh.chart(sh.Problem(None, sh.Samples(X, y), 2, activation(3, 1.0)))
    assert chart.scope == "" and chart.attained is False and chart.minimum.kind == "global minimum"

    def gap(theta):
        Z = X @ theta[:4].reshape(2, 2).T
        return (Z + Z**3) @ theta[4:] - y

    starts = rng.standard_normal((8, 6)) * rng.choice([0.5, 1.0, 2.0], (8, 1))
    best = min(2 * least_squares(gap, x, method="lm", max_nfev=1500).cost for x in starts) / len(y)
    assert (
        chart.infimum * (1 - 1e-9) <= best < chart.infimum + 2e-3
    )  # directions that meet are too much for `searched`


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=SLOW) for seed in (1, 2, 3))])
def test_kinds_are_those_among_networks_near_them(seed):
    """From a local minimum nothing near it is lower; from a saddle something is."""
    X, y = labelled(seed)
    problem = sh.Problem(None, sh.Samples(X, y), 2, activation(3, 1.0))
    rng = np.random.default_rng(seed)
    chart = sh.chart(problem)
    limits = [point for point in chart.points if point.limit]
    assert limits and all(point.certificate is not None for point in limits)
    for point in limits:
        net = point.network
        assert problem.loss(net) == pytest.approx(point.loss, rel=2e-3)
        angles = np.arctan2(net.W[:, 1], net.W[:, 0])
        near = [least(angles + 2e-3 * rng.standard_normal(2), X, y, 3, 1.0) for _ in range(40)]
        if point.kind == "local minimum":  # the least over directions may be lower, elsewhere in the weights
            start = problem.pack(net)
            end = minimize(
                lambda theta: problem.loss(problem.unpack(theta)),
                start,
                jac=lambda theta: problem.gradient(problem.unpack(theta)),
                method="L-BFGS-B",
            )
            assert end.fun >= point.loss * (1 - 1e-7)
        assert min(near) >= chart.infimum * (1 - 1e-9)


@pytest.mark.parametrize("which", [0, *(pytest.param(k, marks=SLOW) for k in (1, 2))])
def test_targets_that_are_limits(which):
    """x² y, x³ + y³ and x + y³ are limits of two neurons z + z³, and no networks of two."""
    X = np.random.default_rng(0).standard_normal((40, 2))
    a, b = X.T
    y = (a**2 * b, a**3 + b**3, a + b**3)[which]
    chart = sh.chart(sh.Problem(None, sh.Samples(X, y), 2, activation(3, 1.0)))
    assert chart.infimum < 1e-12
    assert chart.attained is not True and chart.minimum.limit


def test_a_network_attains_its_own_target():
    net = sh.Network([[1.0, 0.5], [-0.3, 0.8]], [1.0, -0.7], activation(3, 1.0))
    chart = sh.chart(sh.Problem(net, sh.Samples(labelled(3)[0]), 2))
    assert chart.infimum < 1e-12 and chart.attained is True and not chart.minimum.limit


def test_other_activations_claim_nothing():
    """Where limits are not charted no minimum above the floor is global, and the scope says so."""
    X, y = labelled(1, 60)
    chart = sh.chart(sh.Problem(None, sh.Samples(X, y), 2, sh.Polynomial([1.0, 0, 1.0, 1.0])))
    assert chart.attained is None and chart.scope and "global minimum" not in chart.kinds()


@pytest.mark.parametrize("rows", [1, 2])
def test_limits_of_an_identity_have_all_an_end(rows, monkeypatch):
    """Two neurons z + z³ against e₁ and e₂, or e₁ alone: where neurons meet at infinity paths creep, and were lost.

    What Newton's method finds among x u + y u³ + z v³, in quadrature, is listed.
    """
    problem = sh.Problem(sh.Network(np.eye(2)[:rows], activation=activation(3, 1.0)), sh.Gaussian(2), width=2)
    space = PolynomialSpace.of(problem)
    limits = two_neuron_limits(problem, space, True, 0)
    assert limits.completeness == "trace-tested"
    losses = np.array([space.excess(item.point.entries[None])[0] for item in limits.placed])

    p, mass = np.polynomial.hermite_e.hermegauss(6)
    X, mass = np.array([[a, b] for a in p for b in p]), np.outer(mass, mass).ravel() / mass.sum() ** 2
    label = (X[:, :rows] + X[:, :rows] ** 3).sum(axis=1)

    def parts(t):
        first, second = (X @ [np.cos(s), np.sin(s)] for s in t[:2])
        slopes = [X @ [-np.sin(s), np.cos(s)] for s in t[:2]]
        r = t[2] * first + t[3] * first**3 + t[4] * second**3 - label
        rows = [(t[2] + 3 * t[3] * first**2) * slopes[0], 3 * t[4] * second**2 * slopes[1]]
        return r, np.array([*rows, first, first**3, second**3])

    def slope(t):
        r, D = parts(t)
        return D @ (mass * r)

    rng, seen = np.random.default_rng(0), 0
    for start in rng.standard_normal((60, 5)) * [2, 2, 1, 1, 1]:
        t = least_squares(slope, start, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=300)
        x = t.x
        idle = np.abs(x[2:]).min() < 1e-3 or np.abs(x[2:]).max() > 50 or abs(np.sin(x[0] - x[1])) < 1e-2
        if np.abs(t.fun).max() > 1e-12 or idle or x[2] * x[3] < 0:
            continue
        seen += 1
        assert np.abs(losses - mass @ parts(x)[0] ** 2).min() < 1e-8
    assert seen or rows == 1

    monkeypatch.setattr(LimitEquations, "rewritten", TermEquations.rewritten)
    assert two_neuron_limits(problem, space, True, 0).completeness == "sampled"


@pytest.mark.parametrize(("k", "n", "kinds"), [(3, 2, "NP"), (5, 3, "NP"), (3, 3, "PP"), (3, 2, "PP")])
def test_powers_that_meet_are_the_same_in_other_parameters(k, n, kinds, rng):
    equations, linear = LimitEquations(k, n, kinds), kinds == "NP"
    x = complex_normal(rng, 5, equations.unknowns)
    y = meeting.there(x, n, linear)
    map_ = meeting.MeetingMap(k, n, linear)
    np.testing.assert_allclose(map_.tensors(y), equations.tensors(x), atol=1e-11)
    np.testing.assert_allclose(meeting.back(y, n), x)
    y[:, 2 * n - 3] = 0  # they meet
    assert np.all(np.isfinite(map_.tensors(y))) and not np.isfinite(meeting.back(y, n)).all(axis=1).any()
