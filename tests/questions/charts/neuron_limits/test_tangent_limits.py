"""Limits of two merged neurons of neighbouring powers, against descents of a loss of its own."""

import numpy as np
import pytest
from numpy.polynomial.polynomial import polyder, polyval
from scipy.optimize import least_squares

import shallows as sh
from shallows.mathematics.homotopy.monodromy import monodromy
from shallows.questions.charts.continuation.detours import Detours
from shallows.questions.charts.continuation.equations import family
from shallows.questions.charts.continuation.generic_members import special_member
from shallows.questions.charts.neuron_limits.tangent_limits import has_tangent_limits
from shallows.questions.charts.neuron_limits.tangent_map import MergedPairEquations
from shallows.questions.charts.neurons.metrics import RotationInvariantMetrics


def samples(seed, n=2):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((40, n)), rng.standard_normal(40)


def gaussian_points(n, degree):
    """Points and weights that integrate polynomials of twice this degree under a standard Gaussian."""
    z, weight = np.polynomial.hermite_e.hermegauss(degree + 1)
    X = np.stack(np.meshgrid(*[z] * n), axis=-1).reshape(-1, n)
    shares = np.prod(np.stack(np.meshgrid(*[weight / weight.sum()] * n), axis=-1), axis=-1).ravel()
    return X, shares


def least_squares_lowest(X, y, shares, c, starts=12):
    """The least loss that MINPACK's Levenberg-Marquardt comes to, which goes further with growing weights."""
    n, root = X.shape[1], np.sqrt(shares)

    def gap(theta):
        return root * (polyval(X @ theta[: 2 * n].reshape(2, n).T, c) @ theta[2 * n :] - y)

    def slopes(theta):
        Z, a = X @ theta[: 2 * n].reshape(2, n).T, theta[2 * n :]
        inner = [root[:, None] * a[i] * polyval(Z[:, i], polyder(c))[:, None] * X for i in range(2)]
        return np.hstack([*inner, root[:, None] * polyval(Z, c)])

    rng = np.random.default_rng(0)
    draws = rng.standard_normal((starts, 2 * n + 2)) * rng.choice([0.5, 1.0, 2.0], (starts, 1))
    return min(2 * least_squares(gap, x, slopes, method="lm", max_nfev=400).cost for x in draws)


@pytest.mark.parametrize(
    ("seed", "c", "attained"),
    [
        (1, (0.0, 0.0, 1.0, 1.0), True),
        (2, (0.0, 0.0, 1.0, 1.0), False),
        pytest.param(2, (0.0, 1.0, 1.0, 1.0), True, marks=pytest.mark.thorough),
        *(
            pytest.param(k, c, None, marks=pytest.mark.thorough)
            for k in range(3, 9)
            for c in ((0.0, 0.0, 1.0, 1.0), (0.0, 1.0, -0.5, 1.0), (0.0, 0.0, 0.0, 1.0, 2.0))
        ),
    ],
)
def test_descents_come_to_the_infimum_and_not_below(seed, c, attained):
    X, y = samples(seed)
    problem = sh.Problem(None, sh.Samples(X, y), 2, sh.Polynomial(list(c)))
    chart = sh.chart(problem)
    best = least_squares_lowest(X, y, np.full(len(y), 1 / len(y)), c, 24)
    if chart.scope:
        assert attained is None and chart.attained in (None, True) and "limits" in chart.scope
        return
    assert chart.infimum - 1e-9 <= best
    assert attained is None or best < chart.infimum + 1e-2  # few starts of many seeds come to it
    assert abs(problem.loss(chart.minimum.network) - chart.infimum) < 1e-4
    assert attained is None or chart.attained is attained
    for point in chart.critical:
        if point.limit:
            assert abs(problem.loss(point.network) - point.loss) < 1e-4  # a network near it


@pytest.mark.parametrize(
    ("seed", "c", "n", "attained"),
    [
        (10, (0.0, 0.0, 1.0, 1.0), 2, True),
        (11, (0.0, 0.0, 1.0, 1.0), 2, False),
        pytest.param(11, (0.0, 1.0, 1.0, 1.0), 2, False, marks=pytest.mark.thorough),
        *(
            pytest.param(k, c, 2, None, marks=pytest.mark.thorough)
            for k in range(12, 18)
            for c in ((0.0, 0.0, 1.0, 1.0), (0.0, 1.0, -0.5, 1.0), (0.0, 0.0, 0.0, 1.0, 1.0))
        ),
    ],
)
def test_descents_come_to_the_infimum_under_gaussian_data(seed, c, n, attained):
    rng = np.random.default_rng(seed)
    V, b = rng.standard_normal((6, n)), rng.standard_normal(6)
    problem = sh.Problem(sh.Network(V, b, sh.Polynomial(list(c))), sh.Gaussian(n), 2)
    chart = sh.chart(problem)
    X, shares = gaussian_points(n, len(c))
    best = least_squares_lowest(X, polyval(X @ V.T, c) @ b, shares, c)
    if chart.scope or chart.completeness == "sampled":  # two neurons z³ + z⁴ are
        assert attained is None and chart.attained in (None, True) and "global minimum" not in chart.kinds()
        return
    size = max(chart.infimum, 1.0)
    assert chart.infimum - 1e-8 * size <= best < chart.infimum + 1e-2 * size
    assert attained is None or chart.attained is attained
    assert (chart.attained is False) == chart.minimum.limit
    for point in chart.critical:
        if point.limit:
            e = abs(problem.loss(point.network) - point.loss)
            assert e < 1e-3 * max(point.loss, 1.0)  # a network near it
            assert point.certificate is not None


def test_a_sequence_of_networks_goes_to_a_limit():
    """The loss of w ± tv tends to the limit's as t², from above, and no faster: its slope into the networks is real."""
    rng = np.random.default_rng(11)
    V, b = rng.standard_normal((6, 2)), rng.standard_normal(6)
    c = [0.0, 0.0, 1.0, 1.0]
    problem = sh.Problem(sh.Network(V, b, sh.Polynomial(c)), sh.Gaussian(2), 2)
    chart = sh.chart(problem)
    assert chart.attained is False
    (w1, w2), a = chart.minimum.network.W, np.ravel(chart.minimum.network.a)
    w, v, alpha, t = (w1 + w2) / 2, (w1 - w2) * (a[0] - a[1]) / 2, a.sum(), 1 / (a[0] - a[1])
    losses = []
    for s in (8 * t, 4 * t, 2 * t):
        pair = sh.Network([w + s * v, w - s * v], alpha / 2 + np.array([1, -1]) / (2 * s), sh.Polynomial(c))
        losses.append(problem.loss(pair) - chart.infimum)
    assert losses[0] > losses[1] > losses[2] > 0
    assert np.allclose(losses[0] / losses[1], 4, rtol=0.2) and np.allclose(losses[1] / losses[2], 4, rtol=0.1)


def test_limits_under_special_metrics_are_all_found_by_monodromy():
    """Monodromy among rotation-invariant metrics, from one limit, finds as many as paths from a generic metric."""
    for n, degrees, count in ((2, (2, 3), 6), (2, (3, 4), 8), (2, (1, 2, 3), 60)):
        equations, special = MergedPairEquations(n, degrees), RotationInvariantMetrics(degrees, n)
        member = special_member(equations, special, Detours)
        assert len(member.points) == count and member.completeness == "trace-tested"
        found = monodromy(
            family(equations, special),
            member.points[:1],
            member.parameters,
            rng=1,
            invariants=equations.tensors,
            trace=False,
            max_members=8,
        )
        assert found.count == count


def test_what_has_no_other_limits():
    def has(c, data=None, **options):
        target = sh.Network(
            np.eye(2), np.ones(2), sh.Polynomial(c), bias=np.zeros(2) if options.get("bias") else None
        )
        return has_tangent_limits(
            sh.Problem(target, data or sh.IID.laplace(2), options.pop("width", 2), **options)
        )

    assert has([0, 0, 1.0, 1.0]) and has([0, 1.0, 1.0, 1.0]) and has([0, 0, 0, 1.0, 1.0])
    assert not has([0, 1.0, 0, 1.0]) and not has([1.0, 1.0, 0, 1.0]) and not has([0, 1.0, 1.0, 0, 1.0])
    assert not has([0, 0, 1.0, 1.0], width=3) and not has([0, 0, 1.0, 1.0], bias=True)
    assert not has([0, 0, 1.0, 1.0], outer=[1.0, 1.0])
    assert has([0, 0, 1.0, 1.0], sh.Gaussian(2))
    wide = sh.Network(np.eye(3), np.ones(3), sh.Polynomial([0, 0, 1.0, 1.0]))
    assert not has_tangent_limits(sh.Problem(wide, sh.Gaussian(3), 2))
