"""Limits at width three against linear algebra that shares no code with them: sums of powers of three directions.

Binary forms that are sums of powers of the roots of a cubic K, or limits of such, are those that K annihilates as a
differential operator (Sylvester): the kernel of a band matrix, whichever roots are repeated. So the least loss φ over
networks of width three and their limits is a function of three angles, and over limits of three merged neurons of one.
"""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.questions.charts.annihilated_forms import annihilated, critical_levels, least

import shallows as sh

ANGLES = 800


def random_problem(d, data, seed, **options):
    rng = np.random.default_rng([seed, d])
    if data is None:
        root = rng.standard_normal((d + 1, d + 4))
        data = sh.Metric(2, d, root @ root.T)
    return sh.Problem(sh.SymmetricTensor(rng.standard_normal(d + 1), 2, d), data, 3, **options)


def triples(chart):
    """Limits of three neurons in one place: all three rows of their networks point nearly the same way."""
    return [point for point in chart.points if point.limit and point.rank == 3 and spread(point) < 0.1]


def spread(point):
    angles = np.arctan2(point.network.W[:, 1], point.network.W[:, 0])
    return np.abs(np.sin(angles[:, None] - angles)).max()


def test_forms_of_three_directions_are_annihilated():
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, np.pi, 3)
    W = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    entries = sh.Network(W, rng.standard_normal(3), sh.Power(6)).tensor().entries
    basis = annihilated(angles, 6)
    np.testing.assert_allclose(basis @ (basis.T @ entries), entries, atol=1e-12)


@pytest.mark.parametrize(("d", "data"), [(5, None), pytest.param(6, None, marks=pytest.mark.thorough)])
def test_all_limits_of_three_neurons_are_found(d, data):
    problem = random_problem(d, data, 1)
    chart = sh.chart(problem)
    pairs = [point for point in chart.points if point.limit and point.rank == 2]
    found = sorted(point.loss for point in [*triples(chart), *pairs])
    np.testing.assert_allclose(found, critical_levels(problem, 3, ANGLES), rtol=1e-7)
    assert all(point.certificate is not None for point in triples(chart))
    assert chart.scope == "" and chart.completeness != "sampled"


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))])
@pytest.mark.parametrize("d", [5, pytest.param(6, marks=pytest.mark.thorough)])
def test_the_infimum_is_the_least_over_all_angles(d, seed):
    problem = random_problem(d, None, seed)
    chart = sh.chart(problem)
    rng = np.random.default_rng(seed)
    grid = rng.uniform(0, np.pi, (300, 3))
    values = np.array([least(x, problem) for x in grid])
    starts = grid[np.argsort(values)[:3]]
    options = {"xatol": 1e-10, "fatol": 1e-14, "maxiter": 4000}
    ends = [minimize(least, x, (problem,), "Nelder-Mead", options=options) for x in starts]
    best = min(ends, key=lambda end: end.fun)
    assert chart.infimum == pytest.approx(best.fun, rel=1e-6, abs=1e-9)
    angles = np.sin(best.x[:, None] - best.x)
    assert chart.attained is bool(np.abs(angles[np.triu_indices(3, 1)]).min() > 1e-3)
    assert chart.minimum.kind == "global minimum"


def test_descents_come_to_the_infimum_and_not_below():
    problem = random_problem(5, None, 0)
    chart = sh.chart(problem)
    lowest = sh.ensemble(problem, runs=40, method="lm", rng=0).losses.min()
    assert chart.infimum * (1 - 1e-9) <= lowest <= chart.infimum * (1 + 1e-4)
    assert chart.attained is False


def test_kinds_of_triples_are_those_among_all_angles():
    """A local minimum is one of φ among all angles near (θ, θ, θ); a saddle is not."""
    rng, seen = np.random.default_rng(0), set()
    for seed in range(3):
        problem = random_problem(5, None, seed)
        for point in triples(sh.chart(problem)):
            theta = np.arctan2(point.network.W[1, 1], point.network.W[1, 0])
            near = [least(theta + 2e-4 * rng.standard_normal(3), problem) for _ in range(200)]
            assert bool(min(near) < point.loss * (1 - 1e-9)) is (point.kind == "saddle")
            seen.add(point.kind)
    assert "saddle" in seen


@pytest.mark.thorough
def test_signs_of_fixed_outer_weights_are_those_of_the_neurons():
    """At even degree three merged neurons are + − + or − + −: with two negative weights only the latter are limits."""
    free = sh.chart(random_problem(6, None, 1))
    either = {round(p.loss, 6) for p in triples(free)}
    fixed = [sh.chart(random_problem(6, None, 1, outer=outer)) for outer in ([1.0, 1, -1], [1.0, -1, -1])]
    plus, minus = ({round(p.loss, 6) for p in triples(chart)} for chart in fixed)
    assert plus | minus == either and not plus & minus
    for chart, count in zip(fixed, (2, 1), strict=True):
        for point in triples(chart):
            assert int(np.sum(point.network.a > 0)) == count
            assert chart.problem.loss(point.network) == pytest.approx(point.loss, rel=1e-4)
