"""Limits of neurons with several outputs against one-dimensional searches that share no code with them.

In two inputs the limits of two neurons in the direction w = (cos θ, sin θ) are linear in their outer weights: all
p ⊗ w^d + q ⊗ w^(d−1)v. So the least loss φ(θ) is a function of one angle, and that of two neurons of two angles.
"""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.questions.charts.annihilated_forms import critical_levels, least

import shallows as sh


def random_problem(d, data, seed, outputs=2, n=2, width=2):
    """A teacher with as many neurons as there are dimensions: any forms."""
    rng = np.random.default_rng([seed, d, outputs, n])
    size = len(sh.Gaussian(n).gram(d))
    if data is None:
        root = rng.standard_normal((size, size + 4))
        data = sh.Metric(n, d, root @ root.T / size)
    teacher = sh.Network(
        rng.standard_normal((size, n)), rng.standard_normal((outputs, size)), activation=sh.Power(d)
    )
    return sh.Problem(teacher, data, width)


SLOW = pytest.mark.thorough
CASES = [
    (2, None, 2, 0),
    (3, sh.Gaussian(2), 2, 0),
    *(pytest.param(2, None, 2, seed, marks=SLOW) for seed in (1, 2, 3)),
    *(pytest.param(3, None, 2, seed, marks=SLOW) for seed in (0, 1, 2)),
    *(pytest.param(2, sh.Gaussian(2), 3, seed, marks=SLOW) for seed in (0, 1, 2)),
    *(pytest.param(4, None, 2, seed, marks=SLOW) for seed in (0, 1, 2)),
    pytest.param(3, None, 3, 0, marks=SLOW),
]


@pytest.mark.parametrize(("d", "data", "outputs", "seed"), CASES)
def test_all_limits_of_two_neurons_are_found(d, data, outputs, seed):
    problem = random_problem(d, data, seed, outputs)
    chart = sh.chart(problem)
    limits = [point for point in chart.points if point.limit]
    levels = critical_levels(problem, 2)
    size = 1e-7 * levels.max()
    assert limits and all(np.abs(levels - point.loss).min() < size for point in limits)
    others = [level for level in levels if np.abs(chart.losses - level).min() > size]
    assert not others  # rank-one points, where q = 0, are on the chart as such
    assert all(point.certificate is not None for point in limits)
    assert chart.completeness != "sampled" and chart.scope == ""


@pytest.mark.parametrize(("d", "data", "outputs", "seed"), CASES)
def test_the_infimum_is_the_least_over_all_angles(d, data, outputs, seed):
    problem = random_problem(d, data, seed, outputs)
    chart = sh.chart(problem)
    grid = np.pi * np.arange(30) / 30
    values = [(least([x, y], problem), x, y) for i, x in enumerate(grid) for y in grid[: i + 1]]
    starts = sorted(values)[:3]
    options = {"xatol": 1e-11, "fatol": 1e-15, "maxiter": 4000}
    ends = [minimize(least, [x, y], (problem,), "Nelder-Mead", options=options) for _, x, y in starts]
    best = min(ends, key=lambda end: end.fun)
    assert chart.infimum == pytest.approx(best.fun, rel=1e-6, abs=1e-9)
    assert chart.attained is bool(abs(np.sin(best.x[0] - best.x[1])) > 1e-3)
    assert chart.minimum.kind == "global minimum" and chart.minimum.limit is not chart.attained


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_descents_come_to_the_infimum_and_not_below(seed):
    problem = random_problem(2, None, seed)
    chart = sh.chart(problem)
    lowest = sh.ensemble(problem, runs=30, method="lm", rng=seed).losses.min()
    assert chart.infimum * (1 - 1e-9) - 1e-12 <= lowest <= chart.infimum * (1 + 1e-3) + 1e-6
    assert problem.loss(chart.minimum.network) == pytest.approx(chart.infimum, rel=1e-4, abs=1e-6)


def test_kinds_are_those_among_all_angles():
    """A limit is a local minimum of the least loss over angles near (θ, θ), or a saddle."""
    rng, seen = np.random.default_rng(0), set()
    for d, seed in ((2, 0), (2, 1), (3, 0), (3, 1)):
        problem = random_problem(d, None, seed)
        for point in sh.chart(problem).points:
            if not point.limit or point.kind == "degenerate":
                continue
            theta = np.arctan2(*point.network.W.sum(axis=0)[::-1])
            near = [least(theta + 2e-4 * rng.standard_normal(2), problem) for _ in range(60)]
            assert bool(min(near) < point.loss * (1 - 1e-9)) is (point.kind == "saddle")
            seen.add(point.kind)
    assert len(seen) > 1


def test_targets_that_are_limits_or_networks():
    """x² ⊗ e₁ + xy ⊗ e₂ is a limit of two neurons; with parallel outer weights it is a network of two."""
    entries = {"limit": ([1.0, 0, 0], [0, 0.5, 0]), "networks": ([1.0, 0, 0], [0, 0, 1.0])}
    data = random_problem(2, None, 0).data
    squares = np.array([[1.0, 0], [0, 1], [1, 1]])
    # x², y², (x + y)²: xy = ((x + y)² − x² − y²)/2
    a = {"limit": [[1.0, 0, 0], [-0.5, -0.5, 0.5]], "networks": [[1.0, 0, 0], [0, 1.0, 0]]}
    for name, rows in entries.items():
        teacher = sh.Network(squares, a[name], activation=sh.Power(2))
        np.testing.assert_allclose([teacher.output(m).tensor().entries for m in range(2)], rows, atol=1e-12)
        chart = sh.chart(sh.Problem(teacher, data, 2))
        assert chart.infimum < 1e-12
        assert chart.attained is (name == "networks") and chart.minimum.limit is (name == "limit")


def test_with_bias_limits_are_those_on_one_more_input():
    rng = np.random.default_rng(3)
    teacher = sh.Network(
        rng.standard_normal((6, 1)), rng.standard_normal((2, 6)), sh.Power(3), bias=rng.standard_normal(6)
    )
    problem = sh.Problem(teacher, sh.Samples(rng.standard_normal((40, 1))), 2, bias=True)
    chart = sh.chart(problem)
    assert chart.scope == "" and chart.attained is not None and chart.critical.table.limit.any()
    lowest = sh.ensemble(problem, runs=30, method="lm", rng=0).losses.min()
    assert chart.infimum * (1 - 1e-9) - 1e-12 <= lowest


def flag_loss(angles, problem):
    """In three inputs, degree 2: the least loss over p and q of p ⊗ w² + q ⊗ wv, with ‖x‖² beside it where there is a
    norm neuron, by projection of every output."""
    a, b, c = angles
    w = np.array([np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)])
    first = np.array([-np.sin(a), np.cos(a), 0])
    v = np.cos(c) * first + np.sin(c) * np.cross(w, first)
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    columns = [[w[i] * w[j], (w[i] * v[j] + w[j] * v[i]) / 2, float(i == j)] for i, j in pairs]
    basis = np.array(columns)[:, : 3 if problem.norm_neuron else 2]
    root = np.linalg.cholesky(problem.data.gram(2)).T
    target = np.array([problem.target.output(m).tensor().entries for m in range(2)])
    Q = np.linalg.qr(root @ basis)[0]
    given = root @ target.T
    return float(np.sum(given**2) - np.sum((Q.T @ given) ** 2))


def flag_levels(problem, starts, seed):
    """Critical values of that function of three angles: Newton's method with differences from random starts."""
    rng, found, h, e = np.random.default_rng(seed), [], 1e-4, np.eye(3)

    def gradient(x):
        return np.array([flag_loss(x + h * d, problem) - flag_loss(x - h * d, problem) for d in e]) / (2 * h)

    scale = abs(flag_loss(np.zeros(3), problem))
    for _ in range(starts):
        x = rng.uniform(0, np.pi, 3)
        for _ in range(40):
            H = np.array([gradient(x + h * d) - gradient(x - h * d) for d in e]) / (2 * h)
            step = np.linalg.lstsq(H, -gradient(x), rcond=1e-12)[0]
            x = x + step * min(1.0, 0.3 / max(np.linalg.norm(step), 1e-300))
            if np.linalg.norm(step) < 1e-7:
                break
        if np.abs(gradient(x)).max() < 1e-6 * scale and abs(np.cos(x[1])) > 1e-2:
            found.append(flag_loss(x, problem))
    return np.array(found)


@pytest.mark.parametrize("seed", [2, *(pytest.param(seed, marks=SLOW) for seed in (0, 1, 3, 4, 5))])
def test_limits_of_two_outputs_in_three_inputs_under_gaussian_data(seed):
    """45 complex ones, all regular: an end that is badly conditioned is proved to be one (seed 2), none is left out."""
    problem = random_problem(2, sh.Gaussian(3), seed, n=3)
    chart = sh.chart(problem)
    assert chart.completeness == "trace-tested" and chart.scope == ""
    assert any("limits of 2 merged neurons: 45 complex" in note for note in chart.notes)
    levels = flag_levels(problem, 8 if seed == 2 else 60, seed)
    assert len(levels) > 3
    gaps = np.abs(levels[:, None] - chart.losses).min(axis=1)
    assert gaps.max() < 1e-6 * chart.losses.max()
    lowest = sh.ensemble(problem, runs=20, method="lm", rng=seed).losses.min()
    assert chart.infimum * (1 - 1e-9) <= lowest <= chart.infimum * (1 + 1e-3)


@pytest.mark.parametrize("invariant", [True, pytest.param(False, marks=SLOW)])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=SLOW) for seed in (1, 2, 3))])
def test_limits_beside_a_norm_neuron(seed, invariant):
    rng = np.random.default_rng([seed, 9])
    data = sh.Gaussian(3) if invariant else sh.Samples(rng.standard_normal((60, 3)))
    teacher = sh.Network(rng.standard_normal((7, 3)), rng.standard_normal((2, 7)), activation=sh.Power(2))
    problem = sh.Problem(teacher, data, 2, norm_neuron=True)
    chart = sh.chart(problem)
    assert "limit" not in chart.scope and chart.completeness == "trace-tested"
    assert any(f"limits of 2 merged neurons: {45 if invariant else 211} complex" in x for x in chart.notes)
    limits = [point for point in chart.points if point.limit]
    assert limits and all(point.certificate is not None for point in limits)
    for point in limits:
        assert problem.loss(point.network) == pytest.approx(point.loss, rel=1e-3, abs=1e-6)
    levels = flag_levels(problem, 60 if seed else 8, seed)
    assert len(levels) > 3
    assert np.abs(levels[:, None] - chart.losses).min(axis=1).max() < 1e-6 * chart.losses.max()


@pytest.mark.thorough
def test_three_inputs_and_three_neurons():
    problem = random_problem(2, None, 0, n=3)
    chart = sh.chart(problem)
    assert chart.critical.table.limit.any() and chart.scope == ""
    lowest = sh.ensemble(problem, runs=60, method="lm", rng=0).losses.min()
    assert chart.infimum * (1 - 1e-9) <= lowest <= chart.infimum * (1 + 1e-3)
    three = random_problem(5, None, 0, width=3)
    chart = sh.chart(three)
    lowest = sh.ensemble(three, runs=60, method="lm", rng=0).losses.min()
    assert chart.infimum * (1 - 1e-9) <= lowest
    if chart.completeness != "sampled":
        assert lowest <= chart.infimum * (1 + 1e-3)
