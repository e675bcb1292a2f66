"""Quadratic neurons against symmetric targets with a linear part: families, and limits, against formulas and zeros."""

import numpy as np
import pytest
from tests.questions.charts.gradient_zeros import gradient_zeros

import shallows as sh

SLOPE = sh.Polynomial([0.0, 1.0, 1.0])
#: Losses of certified points agree with formulas to this.
SAME = 1e-8


def target(quadratic, linear):
    """x₁² … with these coefficients, and a linear part."""
    T = np.diag([0.0, *quadratic])
    T[0, 1:] = T[1:, 0] = np.array(linear) / 2
    return T


def one_neuron_loss(u, quadratic, linear):
    """The best c₁ u·x + c₂ (u·x)², u of length one, under N(0, I): with Hermite polynomials by hand."""
    Q, n = np.diag(quadratic), len(quadratic)
    energy = linear @ linear + 2 * np.sum(Q**2) + np.trace(Q) ** 2
    square = 2 * u @ Q @ u + np.trace(Q)
    assert len(u) == n
    return energy - (linear @ u) ** 2 - square**2 / 3


def on_the_chart(problem, chart, starts):
    for net in gradient_zeros(problem, starts, np.random.default_rng(0), sizes=(1.0, 3.0), far=100.0):
        loss = problem.loss(net)
        assert np.abs(chart.losses - loss).min() < 1e-6 * (1 + loss)


def test_a_round_target_with_a_slope_has_circles():
    quadratic, linear = np.array([1.0, 2.0, 2.0]), np.array([1.0, 0.0, 0.0])
    problem = sh.Problem(target(quadratic, linear), sh.Gaussian(3), 2, SLOPE)
    chart = sh.chart(problem)
    assert chart.completeness == "proved" and len(chart.families) == 2
    assert all(family.certificate.signature_certified for family in chart.families)
    circle = one_neuron_loss(np.array([0.0, 0.6, 0.8]), quadratic, linear)
    axis = one_neuron_loss(np.array([1.0, 0.0, 0.0]), quadratic, linear)
    assert {round(x.loss, 6) for x in chart.critical if x.rank == 1} == {round(circle, 6), round(axis, 6)}
    for family in chart.families:
        for sample in family.samples:  # all on one level
            gap = sample.to_matrix() - problem.target.to_matrix()
            level = np.sum(gap[0, 1:] ** 2) * 4 + 2 * np.sum(gap[1:, 1:] ** 2) + np.trace(gap[1:, 1:]) ** 2
            assert level == pytest.approx(family.loss, rel=SAME)


@pytest.mark.parametrize(("slope", "limit"), [(1.0, True), (4.0, False)])
def test_one_neuron_is_at_the_least_of_a_formula(slope, limit):
    quadratic, linear = np.array([1.0, 2.0, 2.0]), np.array([slope, 0.0, 0.0])
    chart = sh.chart(sh.Problem(target(quadratic, linear), sh.Gaussian(3), 1, SLOPE))
    angles = np.linspace(0, np.pi, 20_001)
    scanned = [one_neuron_loss(np.array([np.cos(t), np.sin(t), 0.0]), quadratic, linear) for t in angles]
    assert chart.infimum == pytest.approx(min(scanned), rel=1e-7)
    assert chart.minimum.kind == "global minimum" and chart.attained is not limit
    assert chart.completeness == "proved"


def test_a_slope_that_breaks_the_symmetry_leaves_points():
    quadratic, linear = np.array([1.0, 2.0, 2.0]), np.array([1.0, 1.0, 0.0])
    chart = sh.chart(sh.Problem(target(quadratic, linear), sh.Gaussian(3), 1, SLOPE))
    assert not chart.families and chart.completeness == "proved"
    across = one_neuron_loss(np.array([0.0, 0.0, 1.0]), quadratic, linear)  # a square without slope: a limit
    assert any(point.limit and point.loss == pytest.approx(across, rel=SAME) for point in chart.points)


def test_an_even_target_of_one_neuron_is_proved():
    chart = sh.chart(sh.Problem(target([1.0, 2.0, 2.0], np.zeros(3)), sh.Gaussian(3), 1, SLOPE))
    assert (chart.completeness, chart.attained, chart.infimum) == ("proved", False, pytest.approx(16.0))
    assert chart.minimum.dimension == 1 and chart.minimum.kind == "global minimum"


@pytest.mark.parametrize("n", [1, pytest.param(3, marks=pytest.mark.thorough)])
def test_a_linear_target(n):
    linear = np.eye(n)[0]
    chart = sh.chart(sh.Problem(target(np.zeros(n), linear), sh.Gaussian(n), 1, SLOPE))
    assert chart.infimum == pytest.approx(0.0, abs=SAME) and chart.attained is False


ROUND, TILTED, BALL = (
    ([1.0, 2.0, 2.0], [1.0, 0, 0]),
    ([1.0, 2.0, 2.0], [1.0, 1.0, 0]),
    ([2.0] * 3, [1.0, 0, 0]),
)


@pytest.mark.thorough
@pytest.mark.parametrize(("quadratic", "linear"), [ROUND, TILTED, BALL])
@pytest.mark.parametrize(("width", "options"), [(1, {}), (2, {}), (2, {"bias": True})])
def test_zeros_of_the_gradient_are_on_charts_with_families(quadratic, linear, width, options):
    """By homotopy two of these targets are "sampled": paths creep to infinity, or to a curve of complex functions.
    Axial charts know nothing of paths."""
    activation = sh.Polynomial([1.0, 0.0, 1.0]) if options else SLOPE
    problem = sh.Problem(target(quadratic, linear), sh.Gaussian(3), width, activation, **options)
    chart = sh.chart(problem)
    assert chart.completeness != "sampled"
    on_the_chart(problem, chart, 60)


@pytest.mark.parametrize(("tilt", "mixed"), [(1.0, True), (0.2, True), (4.0, False)])
def test_a_family_that_is_critical_here_and_there_is_said(tilt, mixed):
    """Beside ℓ = (1, 0, tilt) the circle of best squares (v·x)² of diag(1, 1, −0.4) has uᵀEu of both signs, or of one.

    E is the slope of the loss at Q with the best linear part, here by quadrature.
    """
    line = np.array([1.0, 0.0, tilt])
    W = np.concatenate([np.repeat(np.eye(3), 2, axis=0) * np.tile([1.0, -1.0], 3)[:, None], [line, -line]])
    a = [0.5, 0.5, 0.5, 0.5, -0.2, -0.2, 0.5, -0.5]
    chart = sh.chart(sh.Problem(sh.Network(W, a, sh.Polynomial([0.0, 1.0, 1.0])), sh.Gaussian(3), 2))
    assert (chart.completeness == "sampled") == mixed
    assert any("part of a family" in note for note in chart.notes) == mixed
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    X = np.array(np.meshgrid(nodes, nodes, nodes)).reshape(3, -1).T
    w = np.prod(np.meshgrid(weights, weights, weights), axis=0).ravel() / weights.sum() ** 3
    target = (X**2) @ np.array([1.0, 1.0, -0.4])
    signs = set()
    for angle in np.linspace(0.0, np.pi, 60):
        v = np.array([np.cos(angle), np.sin(angle), 0.0])
        square = (X @ v) ** 2
        rest = float(w @ (square * target)) / float(w @ square**2) * square - target  # ℓ is matched
        u = line - (line @ v) * v
        signs.add(np.sign(float(w @ (rest * (X @ u) ** 2))))
    assert (len(signs) > 1) == mixed
