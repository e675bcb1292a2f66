"""Limits of many neurons in one place, and powers in two inputs at every width, against searches over directions.

For fixed directions the best outer weights are linear least squares, so the loss is a function φ of directions alone,
and with an orthonormal basis of the span, confluent where directions meet, φ is continuous on all of them, merged ones
too. Nothing here uses the strata, the homotopy or the polynomials of the charts.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

import shallows as sh
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.closure.one_place import JetMap, _places
from shallows.questions.charts.points.jet import Jet

#: Losses of a search by Nelder-Mead, relatively to the target's own size: it stops at differences of 10⁻¹⁰.
SEARCHED = 1e-6
#: Outer weights that a search may take: rounding of terms that are 10⁴ times as large as their sum is no matter.
LARGE = 1e4


def form(roots, degree):
    """Π (x − ry) as a tensor."""
    c = np.polynomial.polynomial.polyfromroots(roots)
    entries = {}
    for k, value in enumerate(c[::-1]):
        entries[(degree - k, k)] = float(value)
    return sh.SymmetricTensor(
        np.array([entries[(degree - k, k)] / comb(degree, k) for k in range(degree + 1)]), 2, degree
    )


def gram_of(data, degree):
    """E of products of monomials x^(d−k)y^k, with binomials, from moments by quadrature: Gaussian and Laplace."""
    if isinstance(data, sh.Gaussian):
        moment = [1, 0, 1, 0, 3, 0, 15, 0, 105, 0, 945, 0, 10395]
    else:  # Laplace of variance one: (2k)!/2^k
        moment = [1, 0, 1, 0, 6, 0, 90, 0, 2520, 0, 113400, 0, 7484400]
    rows = range(degree + 1)
    return np.array(
        [
            [comb(degree, i) * comb(degree, j) * moment[2 * degree - i - j] * moment[i + j] for j in rows]
            for i in rows
        ],
        float,
    )


def span(places, degree):
    """Columns that span the powers of the directions (1, t), and those where they meet: divided differences of t^k.

    f[t₁, …, t_j] of t^k is the complete homogeneous polynomial h_(k−j+1)(t₁, …, t_j): nothing cancels where t meet.
    """
    columns = []
    for j in range(1, len(places) + 1):
        h = np.array([1.0] + [0.0] * degree)
        for t in places[:j]:  # 1/(1 − tz), multiplied in
            for k in range(1, degree + 1):
                h[k] += t * h[k - 1]
        column = np.concatenate([np.zeros(j - 1), h[: degree + 2 - j]])
        columns.append(column / np.linalg.norm(column))
    return np.array(columns).T


def best(angles, gram, target, degree):
    """φ: the loss of the best weights."""
    L = np.linalg.cholesky(gram).T
    q = np.linalg.qr(L @ span(np.tan(angles), degree))[0]
    rest = L @ target
    return float(np.sum((rest - q @ (q.T @ rest)) ** 2))


def searched(gram, target, degree, width):
    """The lowest φ of a grid of directions, merged ones too, the best refined as they are and with all in one place."""
    grid = np.linspace(-np.pi / 2, np.pi / 2, 18)[1:-1]
    start = sorted((best(a, gram, target, degree), a) for a in combinations_with_replacement(grid, width))[:4]
    lowest = np.inf
    for _, angles in start:
        for own in (np.array(angles), np.mean(angles, keepdims=True)):
            found = minimize(
                lambda x: best(np.broadcast_to(x, width), gram, target, degree),
                own,
                method="Nelder-Mead",
                options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 1000},
            )
            lowest = min(lowest, float(found.fun))
    return lowest


@pytest.mark.parametrize("data", [sh.Gaussian(2), sh.IID.laplace(2)], ids=["Gaussian", "Laplace"])
@pytest.mark.parametrize(
    "roots", [(-2, -1, 1, 2), (0, 1, 2, 3), (-1.5, -0.25, 0.5, 0.5), (0.5, 1j, -1j, -3)], ids=str
)
def test_quartics_of_three_neurons(roots, data):
    """With four real roots the target is no network of three neurons, and the infimum is a limit; else it is one."""
    target = form(roots, 4) if np.isrealobj(np.array(roots)) else form_of_complex(roots)
    problem = sh.Problem(target, data, width=3, activation=sh.Power(4))
    chart = sh.chart(problem)
    gram = gram_of(data, 4)
    entries = target.entries
    energy = float(entries @ gram @ entries)
    assert chart.scope == "" and chart.completeness in ("proved", "count-matched")
    assert abs(searched(gram, entries, 4, 3) - chart.infimum) <= SEARCHED * energy
    real = bool(np.isrealobj(np.array(roots)))
    assert chart.attained is not real
    assert chart.minimum.limit is real


def form_of_complex(roots):
    c = np.real(np.polynomial.polynomial.polyfromroots(roots))
    return sh.SymmetricTensor(np.array([c[::-1][k] / comb(4, k) for k in range(5)]), 2, 4)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_quintics_of_four_neurons(seed):
    """Quintics with five real roots need five neurons; the best of four are limits of four in one place, or fewer."""
    rng = np.random.default_rng(seed)
    target = form(np.sort(rng.standard_normal(5)), 5)
    problem = sh.Problem(target, sh.IID.laplace(2), width=4, activation=sh.Power(5))
    chart = sh.chart(problem)
    gram = gram_of(problem.data, 5)
    energy = float(target.entries @ gram @ target.entries)
    assert chart.scope == "" and chart.attained is False
    assert abs(searched(gram, target.entries, 5, 4) - chart.infimum) <= SEARCHED * energy


@pytest.mark.parametrize(
    ("degree", "width", "n"),
    [(3, 3, 2), (3, 5, 2), (4, 3, 2), (4, 4, 2), pytest.param(3, 3, 3, marks=pytest.mark.thorough)],
)
def test_points_that_are_no_limits_are_critical_networks(degree, width, n):
    """Each with zero gradient; a limit's function may have another network, which is not critical."""
    rng = np.random.default_rng(degree * 10 + width)
    target = sh.SymmetricTensor(rng.standard_normal(comb(n + degree - 1, degree)), n, degree)
    data = sh.IID.laplace(2) if n == 2 else sh.Gaussian(3)
    problem = sh.Problem(target, data, width=width, activation=sh.Power(degree))
    chart = sh.chart(problem)
    assert any(point.limit for point in chart.critical)
    scale = np.abs(problem.gram() @ target.entries).max()
    for point in chart.critical:
        if not point.limit:
            assert (
                np.abs(problem.gradient(point.network)).max()
                <= 1e-7 * scale * (1 + np.abs(point.network.W).max()) ** degree
            )


@pytest.mark.parametrize("weights", [(1, 1, 1), (2, 1, 1), (1, 1, -1), (1, -1, -1)], ids=str)
def test_quartics_with_fixed_signs(weights):
    """Lowest losses of searches over directions with weights of these signs are none below the infimum, and near it."""
    rng = np.random.default_rng(7)
    for _ in range(2):
        target = sh.SymmetricTensor(rng.standard_normal(5), 2, 4)
        problem = sh.Problem(
            target, sh.Gaussian(2), width=3, activation=sh.Power(4), outer=np.array(weights, float)
        )
        chart = sh.chart(problem)
        gram = gram_of(problem.data, 4)
        L = np.linalg.cholesky(gram).T
        signs = np.sign(weights)

        def loss(angles, signs=signs, L=L, target=target):
            powers = np.array([[np.cos(a) ** (4 - k) * np.sin(a) ** k for k in range(5)] for a in angles]).T
            own, rest = nnls(L @ powers * signs, L @ target.entries)
            return rest**2 if own.max() < LARGE else np.inf

        starts = rng.uniform(0, np.pi, (40, 3))
        ends = [minimize(loss, start, method="Nelder-Mead", options={"fatol": 1e-12}).fun for start in starts]
        energy = float(target.entries @ gram @ target.entries)
        assert chart.infimum <= min(ends) + SEARCHED * energy
        # searches crawl where neurons merge: their weights grow without bound
        assert min(ends) - chart.infimum <= (0.02 if chart.attained is False else SEARCHED) * energy


@pytest.mark.parametrize(("degree", "size"), [(4, 3), (5, 3), (5, 4), (6, 4), (6, 5), (7, 5)])
def test_number_of_places_of_a_generic_metric(degree, size):
    """P has degree m(d−m+1) + (m+1)(d−m): for m = d − 1 the 3d − 2 of its dual, the powers."""
    from shallows.questions.charts.closure import one_place

    rng = np.random.default_rng(0)
    root = rng.integers(-9, 10, (degree + 1, degree + 1))
    gram, target = (
        (root @ root.T + np.eye(degree + 1)).astype(float),
        rng.integers(-9, 10, degree + 1).astype(float),
    )
    seen = []
    original = one_place.real_roots
    one_place.real_roots = lambda p: seen.append(p.degree()) or original(p)
    try:
        _places(ExactLoss.of_doubles(gram, target), degree, size)
    finally:
        one_place.real_roots = original
    assert seen == [size * (degree - size + 1) + (size + 1) * (degree - size)]


@pytest.mark.parametrize("chart", [0, 1])
def test_jets_are_limits_of_networks(chart):
    """Entries against a sum of derivatives of (w·x)^d, and the neurons that are about to merge against them."""
    rng = np.random.default_rng(chart)
    map_ = JetMap(6, 4, chart)
    x = rng.uniform(-1, 1, 5)
    jet = map_.jet(x)
    X = rng.standard_normal((20, 2))
    values = sum(comb(6, k) * c * (X @ jet.w) ** (6 - k) * (X @ jet.v) ** k for k, c in enumerate(jet.c))
    tensor = sh.SymmetricTensor(jet.entries(6), 2, 6)
    np.testing.assert_allclose(tensor(X), values, rtol=1e-10, atol=1e-10 * np.abs(values).max())
    np.testing.assert_allclose(np.real(map_.tensors(x[None])[0]), jet.entries(6), atol=1e-12)
    directions, weights = jet.neurons()
    near = ((X @ directions.T) ** 6) @ weights
    np.testing.assert_allclose(near, values, atol=1e-3 * np.abs(values).max())  # δ² = ε^(1/4), as said there


def test_signs_alternate():
    """Outer weights of neurons about to merge have the signs that a jet says."""
    for c in ([0.0, 0.0, 1.0], [0.0, 0.0, -2.0], [0.0, 0.0, 0.0, 1.0], [0.0] * 4 + [-1.0]):
        jet = Jet(np.array([1.0, 0.3]), np.array([0.0, 1.0]), np.array(c))
        weights = jet.neurons()[1]
        large = weights[np.abs(weights) > 1e-6 * np.abs(weights).max()]
        assert jet.signed == (int(np.sum(large > 0)), int(np.sum(large < 0)))


def test_a_round_target_has_families_of_limits():
    """‖x‖⁴ under Gaussian data, entries rounded: limits of three in one place are a family, in all directions."""
    chart = sh.chart(
        sh.Problem(
            sh.SymmetricTensor.from_polynomial("(x**2+y**2)**2"),
            sh.Gaussian(2),
            width=3,
            activation=sh.Power(4),
        )
    )
    assert [family.limit for family in chart.families].count(True) == 1
    assert not any(point.limit for point in chart.points)
