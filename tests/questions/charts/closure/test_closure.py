"""Limits of merged neurons against brute force that shares no code with them: one-dimensional searches over directions.

For a fixed direction w the limits w^(d−1)v are linear in v, so for n = 2 the least loss φ(θ), w = (cos θ, sin θ),
is a function of one angle. Its critical points are those of the loss on all w^(d−1)v: the limits, and the rank-one
points, where v is parallel to w.
"""

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.closure.parameterization import Parameterization

ANGLES = 2000


def tangents(angles, d):
    """The matrices v ↦ entries of w^(d−1)v, (angles, d+1, 2); entry k has k indices 1."""
    c, s = np.cos(angles)[:, None], np.sin(angles)[:, None]
    k = np.arange(d + 1)
    first = (d - k) / d * c ** np.maximum(d - 1 - k, 0) * s**k
    second = k / d * c ** (d - k) * s ** np.maximum(k - 1, 0)
    return np.stack([first, second], axis=2)


def least(angles, d, gram, t):
    """φ(θ), by projection."""
    root = np.linalg.cholesky(gram).T
    Q = np.linalg.qr(root @ tangents(angles, d))[0]
    return t @ gram @ t - np.sum((np.swapaxes(Q, 1, 2) @ (root @ t)) ** 2, axis=1)


def critical_levels(problem):
    """All critical values of φ, sorted: brackets on a grid, then bisection by golden sections."""
    d, gram, t = problem.degree, problem.gram(), problem.target_tensor().entries
    grid = np.pi * np.arange(ANGLES) / ANGLES
    f = least(grid, d, gram, t)
    found = []
    for sign in (1, -1):
        inside = (sign * f < sign * np.roll(f, 1)) & (sign * f <= sign * np.roll(f, -1))
        a, b = grid[inside] - np.pi / ANGLES, grid[inside] + np.pi / ANGLES
        for _ in range(60):
            x, y = a + 0.382 * (b - a), a + 0.618 * (b - a)
            lower = sign * least(x, d, gram, t) < sign * least(y, d, gram, t)
            a, b = np.where(lower, a, x), np.where(lower, y, b)
        found += list(least((a + b) / 2, d, gram, t))
    return np.sort(np.array(found) + problem.floor)


def random_problem(d, data, seed, width=2, **options):
    rng = np.random.default_rng([seed, d])
    if data is None:
        root = rng.standard_normal((d + 1, d + 4))
        data = sh.Metric(2, d, root @ root.T)
    return sh.Problem(sh.SymmetricTensor(rng.standard_normal(d + 1), 2, d), data, width, **options)


CASES = [(d, data) for d in (3, 4) for data in (sh.Gaussian(2), sh.Frobenius(2), sh.IID.uniform(2), None)]


@pytest.mark.parametrize(("d", "data"), [*CASES, (5, None)])
def test_all_limits_are_found(d, data):
    problem = random_problem(d, data, 1)
    chart = sh.chart(problem)
    table = chart.critical.table
    wanted = critical_levels(problem)
    found = table.loss[table.limit | (table.rank == 1)]
    np.testing.assert_allclose(np.sort(found), wanted, rtol=1e-7, atol=1e-9 * wanted[-1])
    assert chart.completeness != "sampled"
    assert all(point.certificate is not None for point in chart.points if point.limit)


@pytest.mark.parametrize("seed", range(6))
def test_descents_come_to_the_infimum_and_not_below(seed):
    """The six quartics of the issue: two of them have no global minimum."""
    target = sh.SymmetricTensor(np.random.default_rng(seed).standard_normal(5), 2, 4)
    problem = sh.Problem(target, sh.Gaussian(2), 2)
    chart = sh.chart(problem)
    lowest = sh.ensemble(problem, runs=40, method="lm", rng=seed).losses.min()
    assert chart.infimum * (1 - 1e-9) <= lowest <= chart.infimum * (1 + 1e-4)
    assert chart.attained is (seed < 4)
    assert chart.minimum.kind == "global minimum"
    assert chart.minimum.limit is not chart.attained


def nearby(problem, point, rng, size):
    """Losses of random real networks and limits near a limit: neurons w ± tv with w and v moved a little."""
    d, gram, t = problem.degree, problem.gram(), problem.target_tensor().entries
    W = point.network.W[: 2 if problem.width == 2 else None]
    w, u = W.mean(axis=0), W[0] / np.abs(W[0]).max()
    w = w if np.abs(w).max() > 1e-3 * np.abs(W).max() else W[0]  # odd degrees: neurons of opposite directions
    theta = np.arctan2(w[1], w[0])
    v = np.linalg.lstsq(tangents(np.array([theta]), d)[0], point.tensor.entries, rcond=None)[0]
    assert u.shape == (2,)
    found = []
    for _ in range(400):
        angle = theta + size * rng.standard_normal()
        moved = v + size * np.abs(v).max() * rng.standard_normal(2)
        x = np.array([np.cos(angle), np.sin(angle)])
        h = size * abs(rng.standard_normal())
        powers = [
            np.array([y[0] ** (d - k) * y[1] ** k for k in range(d + 1)])
            for y in (x + h * moved, x - h * moved)
        ]
        gap = (powers[0] - powers[1]) / (2 * d * h) - t
        found.append(gap @ gram @ gap + problem.floor)
    return np.array(found)


@pytest.mark.parametrize("d", [3, 4])
def test_kinds_of_limits_are_those_among_real_networks(d):
    """A local minimum is one among all networks near it; a saddle is not."""
    seen = set()
    for seed in range(5):
        problem = random_problem(d, sh.Gaussian(2), seed)
        for point in sh.chart(problem).points:
            if not point.limit or point.kind == "degenerate":
                continue
            around = nearby(problem, point, np.random.default_rng(seed), 1e-3)
            lower = around < point.loss * (1 - 1e-12)
            assert bool(lower.any()) is (point.kind == "saddle")
            seen.add(point.kind)
    assert "saddle" in seen and len(seen) > 1


def test_a_target_that_is_a_limit_is_not_attained():
    for d in (3, 4):
        entries = np.zeros(d + 1)
        entries[1] = 1 / d  # x^(d−1) y
        chart = sh.chart(sh.Problem(sh.SymmetricTensor(entries, 2, d), sh.Gaussian(2), 2))
        assert chart.infimum < 1e-12 and chart.attained is False and chart.minimum.limit
        assert chart.completeness != "sampled"  # paths that run to the limit are accounted for
        assert chart.problem.loss(chart.minimum.network) < 1e-6
        assert chart.minimum.parameter_signature is None


def test_networks_that_are_the_target_attain_it():
    for entries in ([1.0, 0, 0, 0, 0], [1.0, 0, 0, 0, 1.0], [0.0] * 5):
        chart = sh.chart(sh.Problem(sh.SymmetricTensor(entries, 2, 4), sh.Gaussian(2), 2))
        assert chart.attained is True and not chart.minimum.limit and chart.infimum < 1e-12


def test_fixed_outer_weights_merge_when_they_have_both_signs():
    """At even degree neurons of one sign bound each other; at odd degree signs move into the neurons."""
    limits = {}
    for d in (3, 4):
        for outer in ([1.0, 2.0], [1.0, -1.0]):
            chart = sh.chart(random_problem(d, sh.Gaussian(2), 0, outer=outer))
            limits[d, outer[1]] = int(chart.critical.table.limit.sum())
    assert limits[4, 2.0] == 0 and all(limits[key] > 0 for key in ((3, 2.0), (3, -1.0), (4, -1.0)))


def test_the_parameterization_is_that_of_the_blocks():
    """Against differences of powers of neurons that are about to merge."""
    rng = np.random.default_rng(0)
    for d, n, blocks in ((3, 2, (2,)), (4, 3, (2, 1)), (5, 2, (2, 2)), (4, 3, (3,))):
        for chart in (0, 1):
            map_ = Parameterization(d, n, blocks, chart)
            x = rng.standard_normal(map_.unknowns)
            total, t = 0.0, 1e-4
            power = lambda w, d=d, n=n: sh.Network(w[None], [1.0], sh.Power(d)).tensor().entries  # noqa: E731
            for first, second, *third in map_.vectors(x):
                if len(first) == 1:
                    total = total + first[0] * power(second)
                elif not third:
                    total = total + (power(first + t * second) - power(first - t * second)) / (2 * d * t)
                else:
                    bent = power(first + t * second) - 2 * power(first) + power(first - t * second)
                    total = total + bent / (d * (d - 1) * t * t)
                    total = total + (power(first + t * third[0]) - power(first - t * third[0])) / (2 * d * t)
            np.testing.assert_allclose(map_.tensors(x[None])[0], total, atol=1e-5 * np.abs(total).max())
            assert np.linalg.matrix_rank(map_.slopes(x)) == map_.unknowns


def test_a_chart_with_limits_is_saved_and_loaded(tmp_path):
    chart = sh.chart(random_problem(4, sh.Gaussian(2), 0))
    assert chart.critical.table.limit.any()
    again = sh.load_chart(chart.save(tmp_path / "limits"))
    assert again.attained is chart.attained and again.infimum == chart.infimum
    assert again.critical.table.limit.tolist() == chart.critical.table.limit.tolist()
    assert "a limit" in repr(again)
    assert chart.to_dataframe()["limit"].sum() == chart.critical.table.limit.sum()


@pytest.mark.thorough
def test_four_neurons_in_two_inputs_have_all_their_limits():
    """Pairs in two places, three beside one, four in one place: no scope is left. A lost path is no proof."""
    problem = random_problem(7, None, 0, width=4)
    chart = sh.chart(problem)
    assert chart.scope == "" and sum("limits" in note for note in chart.notes) >= 7
    assert ("global minimum" in chart.kinds()) == (chart.completeness != "sampled")
    lowest = sh.ensemble(problem, runs=40, method="lm", rng=0).losses.min()
    assert chart.infimum <= lowest * (1 + 1e-9) + 1e-12


@pytest.mark.thorough
def test_the_number_of_limits_is_that_of_bott():
    """Monodromy and the trace test, which know no number, find as many as the flags do."""
    from shallows.questions.charts.closure.equations import MergedEquations
    from shallows.questions.charts.continuation.generic_members import generic_member

    class Uncounted(MergedEquations):
        count = None

    for d, n in ((3, 2), (4, 2), (5, 2), (3, 3)):
        member = generic_member(Uncounted(d, n, (2,)))
        assert member.completeness == "trace-tested"
        assert len(member.points) == MergedEquations(d, n, (2,)).count
