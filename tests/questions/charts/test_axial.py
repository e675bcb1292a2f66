"""Quadratic networks under axial metrics: against zeros of the gradient, a scan of the line, msolve and homotopy."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.questions.charts.gradient_zeros import gradient_zeros

import shallows as sh
from shallows.questions.charts.closed_form import axial_chart as module
from shallows.questions.charts.closed_form.axial_chart import AxialSetting, axial_chart
from shallows.questions.charts.closed_form.axial_metric import axial_metric
from shallows.questions.charts.closed_form.axial_roots import Equation, isolated_roots, masks_of

#: Zeros of the gradient are found to 1e-9 of it, and losses are flat there.
SAME = 1e-6


def random_matrix(n, seed):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A + A.T


def biased(target, width, data=None):
    n = target.n if isinstance(target, sh.Network) else len(target) - 1
    return sh.Problem(target, data or sh.Gaussian(n), width, bias=True)


I2, I3 = np.eye(2), np.eye(3)
QUADRATIC = sh.Polynomial([1, 1, 1])
#: What people type first, and what is on the wall.
SPECIAL = {
    "identity, no biases": lambda: biased(sh.Network(I2), 2),
    "identity, one bias": lambda: biased(sh.Network(I2, bias=[1.0, 0]), 2),
    "identity, equal biases": lambda: biased(sh.Network(I2, bias=[1.0, 1.0]), 2),
    "identity in three inputs": lambda: biased(sh.Network(I3), 2),
    "one neuron": lambda: biased(sh.Network(I2[:1]), 2),
    "one neuron with bias": lambda: biased(sh.Network(I2[:1], bias=[0.5]), 2),
    "cancelling": lambda: biased(sh.Network(I2, [1.0, -1.0]), 2),
    "a constant": lambda: biased(np.diag([1.0, 0, 0]), 2),
    "traceless": lambda: biased(np.diag([1.0, -1, 0]), 2),
    "three eigenvalues": lambda: biased(np.diag([0.0, 1, 2]), 2),
    "all alike": lambda: biased(np.eye(3), 2),
    "tiny": lambda: biased(sh.Network(1e-3 * I2, bias=[1e-3, 0]), 2),
    "huge": lambda: biased(sh.Network(1e3 * I2, bias=[1e3, 0]), 2),
    "one input": lambda: biased(sh.Network([[1.0], [2.0]], bias=[0, 1.0]), 1),
    "mean on an axis": lambda: sh.Problem(I3, sh.Gaussian(3, mean=[1.0, 0, 0]), 2),
    "mean on no axis": lambda: sh.Problem(np.diag([1.0, 2, 2]), sh.Gaussian(3, mean=[1.0, 1, 1]), 2),
    "small mean": lambda: sh.Problem(np.diag([1.0, 2, 3]), sh.Gaussian(3, mean=[1e-3, 0, 1e-3]), 2),
    "large mean": lambda: sh.Problem(np.diag([1.0, 2, 3]), sh.Gaussian(3, mean=[30.0, 0, 10]), 2),
    "two clusters": lambda: sh.Problem(
        I3, sh.Mixture([0.5, 0.5], [sh.Gaussian(3, mean=[1.0, 0, 0]), sh.Gaussian(3, mean=[-1.0, 0, 0])]), 2
    ),
    "1 + z + z², identity": lambda: sh.Problem(sh.Network(I2, activation=QUADRATIC), sh.Gaussian(2), 2),
    "1 + z + z², one neuron": lambda: sh.Problem(sh.Network(I2[:1], activation=QUADRATIC), sh.Gaussian(2), 2),
    "ones": lambda: sh.Problem(sh.Network(I2, bias=[1.0, 0]), sh.Gaussian(2), 2, outer="ones", bias=True),
}
AFFINE = sh.Polynomial([0, 1, 1])
#: The constant's square is not seen: z + z², and quadratic neurons with biases and constants of their own.
BLIND = {
    "z + z², identity": lambda: sh.Problem(sh.Network(I2, activation=AFFINE), sh.Gaussian(2), 2),
    "z + z², one neuron": lambda: sh.Problem(sh.Network(I2[:1], activation=AFFINE), sh.Gaussian(2), 1),
    "z + z², three inputs": lambda: sh.Problem(sh.Network(I3, activation=AFFINE), sh.Gaussian(3), 2),
    "z + z², three neurons": lambda: sh.Problem(sh.Network(I3, activation=AFFINE), sh.Gaussian(3), 3),
    "z + z², two alike": lambda: sh.Problem(
        sh.Network(np.diag([1.0, 1, 2]), activation=AFFINE), sh.Gaussian(3), 2
    ),
    "z + z², coloured": lambda: sh.Problem(
        sh.Network(I2, activation=AFFINE), sh.Gaussian(2, covariance=[[2.0, 1], [1, 3]]), 1
    ),
    "z + z², generic": lambda: sh.Problem(random_matrix(4, 5), sh.Gaussian(3), 2, AFFINE),
    "z + z² with a bias": lambda: biased(sh.Network(I2, activation=AFFINE), 2),
    "z + z² with a bias, generic": lambda: sh.Problem(
        random_matrix(4, 6), sh.Gaussian(3), 2, AFFINE, bias=True
    ),
    "2 + z + z² with a bias": lambda: biased(sh.Network(I3, activation=sh.Polynomial([2, 1, 1])), 2),
}
SPECIAL |= BLIND
QUICK = (
    "z + z², three inputs",
    "z + z² with a bias",
    "identity, no biases",
    "one neuron",
    "mean on no axis",
    "1 + z + z², identity",
    "ones",
    "traceless",
)


def unlisted(problem, chart, starts, seed=0):
    """Losses of critical networks, found from random weights, that the chart does not list."""
    rng, scale = np.random.default_rng(seed), problem.loss(problem.unpack(np.zeros(problem.size))) + 1.0
    losses = chart.losses
    plain = problem.bias and problem.activation == sh.Power(2)
    size = float(np.abs(problem.homogeneous().target_tensor().entries).max()) ** 0.5 if plain else 1.0
    for net in gradient_zeros(problem, starts, rng, (0.3 * size, size, 2 * size), far=100.0 * max(size, 1.0)):
        loss = problem.loss(net)
        if np.abs(losses - loss).min() > SAME * scale:
            yield loss


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.thorough) for n in SPECIAL]
)
def test_every_zero_of_the_gradient_is_listed(name):
    problem = SPECIAL[name]()
    chart = sh.chart(problem)
    assert (chart.method, chart.completeness) == ("closed-form", "proved")
    assert not list(unlisted(problem, chart, 12 if name in QUICK else 40))
    for point in chart.critical:
        if not point.limit:
            gradient = problem.gradient(point.network)
            assert np.abs(gradient).max() <= SAME * (1 + problem.loss(problem.unpack(np.zeros(problem.size))))
            assert problem.loss(point.network) == pytest.approx(point.loss, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.thorough) for s in range(1, 10))])
@pytest.mark.parametrize("n", [2, 3])
def test_generic_targets_have_all_zeros_of_the_gradient(n, seed):
    problem = biased(random_matrix(n + 1, seed), 2)
    chart = axial = sh.chart(problem)
    assert axial.completeness == "proved"
    assert not list(unlisted(problem, chart, 25, seed))


@pytest.mark.parametrize("n, rank", [(3, 1), (3, 2), (4, 2), pytest.param(4, 3, marks=pytest.mark.thorough)])
def test_homotopy_finds_as_many_complex_points_as_the_formula_says_and_the_same_real_ones(n, rank):
    problem = sh.Problem(random_matrix(n, n + rank), sh.Gaussian(n, mean=np.arange(1.0, n + 1) / n), rank)
    chart, other = sh.chart(problem), sh.chart(problem, method="homotopy")
    assert other.complex_count[rank] == comb(n, rank) + 2 * (n - 1) * comb(n - 2, rank - 1)
    assert chart.expected_count[rank] == other.complex_count[rank]
    np.testing.assert_allclose(chart.losses, other.losses, rtol=1e-8)
    assert [p.signature for p in chart.points] == [p.signature for p in other.points]
    assert chart.kinds() == other.kinds()


@pytest.mark.parametrize("seed", range(3))
def test_msolve_finds_the_same_points(seed):
    T = np.round(random_matrix(3, seed) * 2)
    chart = sh.chart(biased(T, 2))
    other = sh.chart(biased(T, 2), method="exact")
    np.testing.assert_allclose(np.unique(chart.losses.round(7)), np.unique(other.losses.round(7)), atol=1e-6)


def scanned(problem, rank, bound, cells=4_000):
    """How many sign changes F_I has over a fine grid, summed over all I: eigenpairs of T + δ eeᵀ and nothing else."""
    mean, second = np.r_[1.0, np.zeros(problem.n - 1)], np.eye(problem.n)
    T, changes = problem.target_tensor().to_matrix(), 0
    for mask in masks_of(problem.n, rank):
        values = []
        for delta in np.linspace(-bound, bound, cells):
            mu, U = np.linalg.eigh(T + delta * np.outer(mean, mean))
            rho = (mu[mask].sum() - np.trace(T @ second)) / (rank + 2)
            values.append((mu[mask] - rho) @ (U[0, mask] ** 2) - T[0, 0] - delta)
        changes += int(np.sum(np.diff(np.sign(values)) != 0))
    return changes


@pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.thorough), pytest.param(2, marks=pytest.mark.thorough)]
)
def test_as_many_roots_as_a_scan_over_a_grid_has(seed):
    problem = biased(random_matrix(3, seed), 2).homogeneous()
    setting = AxialSetting.of(problem, axial_metric(problem), False)
    for rank in (1, 2):
        equation = Equation(setting.metric, setting.pencil, masks_of(3, rank), ())
        assert len(isolated_roots(equation, setting.bound)) == scanned(problem, rank, setting.bound)


@given(st.integers(0, 10**6), st.integers(2, 4))
def test_rotations_about_the_axis_change_no_loss(seed, n):
    rng = np.random.default_rng(seed)
    A = random_matrix(n + 1, rng)
    turn = np.eye(n + 1)
    turn[1:, 1:] = np.linalg.qr(rng.normal(size=(n, n)))[0]
    charts = [sh.chart(biased(T, 1), certify=False) for T in (A, turn.T @ A @ turn)]
    assert charts[0].completeness == charts[1].completeness == "proved"
    np.testing.assert_allclose(charts[0].losses, charts[1].losses, rtol=1e-9, atol=1e-9)


def test_all_points_have_certificates_and_families_are_critical_everywhere():
    problem = biased(sh.Network(I3), 2)
    chart = sh.chart(problem)
    assert all(point.certificate.signature_certified for point in chart.points)
    assert {family.dimension for family in chart.families} == {2, 3}
    gram, target = problem.homogeneous().gram(), problem.homogeneous().target_tensor().entries
    for family in chart.families:
        for sample in family.samples:
            slope = sh.SymmetricTensor(2 * gram @ (sample.entries - target), 4, 2).to_matrix()
            half = np.where(np.eye(4, dtype=bool), slope, slope / 2)
            np.testing.assert_allclose(half @ sample.to_matrix(), 0.0, atol=1e-9)
            gap = sample.entries - target
            assert gap @ gram @ gap == pytest.approx(family.loss, rel=1e-9)


def test_without_what_is_at_crossings_the_check_notices(monkeypatch):
    problem = biased(sh.Network(I3), 2)
    monkeypatch.setattr(module, "mixed_choices", lambda *_: [])
    assert list(unlisted(problem, sh.chart(problem), 60))


def test_without_half_the_line_the_check_notices(monkeypatch):
    problem = biased(random_matrix(3, 0), 2)
    whole = module.isolated_roots
    monkeypatch.setattr(module, "isolated_roots", lambda *given: [r for r in whole(*given) if r.low > 0])
    assert list(unlisted(problem, sh.chart(problem), 40))


@pytest.mark.parametrize(("n", "rank", "count"), [(2, 1, 4), (3, 1, 7), (3, 2, 9)])
def test_numbers_of_the_design_where_the_axis_is_not_seen(n, rank, count):
    """z + z² under Gaussian data: 4 and 7 neurons by elimination, 9 of rank two by monodromy."""
    chart = sh.chart(sh.Problem(random_matrix(n + 1, 0), sh.Gaussian(n), rank, AFFINE))
    assert (chart.complex_count[rank], chart.expected_count[rank]) == (count, count)
    assert chart.completeness == "proved"


@pytest.mark.thorough
@pytest.mark.parametrize("n", [2, 3, 4])
def test_random_targets_are_decided_but_for_roots_too_far_out(n):
    """z + z², n = 4, seed 5 has a root at δ = −7,000, where F is 10⁻¹²: homotopy charts that one."""
    levels = []
    for seed in range(20):
        for activation, bias in ((AFFINE, False), (sh.Power(2), True)):
            problem = sh.Problem(random_matrix(n + 1, seed), sh.Gaussian(n), n - 1, activation, bias=bias)
            levels.append(sh.chart(problem, certify=False).completeness)
    assert levels.count("proved") >= 38
    assert set(levels) <= {"proved", "count-matched", "trace-tested"}


def test_only_metrics_that_are_axial_exactly_are_taken():
    assert axial_metric(sh.Problem(I3, sh.IID.uniform(3), 1)) is None
    gram = sh.Gaussian(3, mean=[1.0, 0, 0]).gram(2)
    assert axial_metric(sh.Problem(I3, sh.Metric(3, 2, gram), 1)) is None  # a metric says nothing of its axis
    metric = axial_metric(sh.Problem(I3, sh.Gaussian(3, mean=[1.0, 2, 2]), 1))
    assert (metric.alpha, metric.trace, metric.mixed, metric.along) == (2, 1, 0, -2)
    assert metric.height == Fraction(9, 10)


def test_twelve_inputs():
    chart = sh.chart(biased(random_matrix(13, 0), 1))
    assert chart.completeness == "proved"
    assert chart.expected_count[1] == 3 * 12 + 1
    assert chart.real_count[1] >= 13


def test_a_target_that_is_zero_is_no_matter():
    assert axial_chart(biased(np.zeros((3, 3)), 2).homogeneous(), True) is None
    assert sh.chart(biased(np.zeros((3, 3)), 2)).kinds() == {"global minimum": 1}


def test_a_chart_is_read_back(tmp_path):
    chart = sh.chart(biased(sh.Network(I3), 2))
    other = sh.load_chart(chart.save(tmp_path / "axial-1.5"))
    assert other.kinds() == chart.kinds()
    assert other.completeness == "proved"
    np.testing.assert_allclose(other.losses, chart.losses)
