"""Regions, counts and paths against `sh.chart`, which finds the critical points by other means."""

import numpy as np
import pytest

import shallows as sh
from shallows.discriminants import critical_students, follow, landscape_at, landscape_regions, rank_one


def chart_of(target, data, degree=2):
    return sh.chart(sh.Problem(sh.SymmetricTensor(target, 2, degree), data, width=1), certify=False)


def counts(chart):
    points = [point for point in chart.points if point.rank == 1]
    return len(points), sum(point.index == 0 for point in points)


LAPLACE = sh.Problem(np.eye(2), sh.IID.laplace(2), width=1)
CUBIC = sh.Problem(sh.SymmetricTensor([1.0, 0.3, -0.5, 2.0], 2, 3), sh.IID.laplace(2), width=1)


@pytest.mark.parametrize(
    ("problem", "horizontal", "vertical"),
    [
        (LAPLACE, ("t00", -1, 3), ("t01", -2, 2)),
        (LAPLACE, ("t00", -1, 3), ("t11", -1, 3)),
        (sh.Problem(np.diag([1.0, -1.0]), sh.Gaussian(2), width=1), ("t00", -2, 2), ("t11", -2, 2)),
        (CUBIC, ("t001", -3, 3), ("t011", -3, 3)),
    ],
    ids=["laplace", "diagonal", "gaussian", "cubic"],
)
def test_random_points_of_every_region(problem, horizontal, vertical):
    found = landscape_regions(problem, horizontal, vertical, resolution=61)
    names = rank_one(problem.degree).teacher
    places = [names.index(found.horizontal), names.index(found.vertical)]
    assert len(found.regions) >= 2
    for region in found.regions:
        if region.share < 0.002:
            continue
        for point in found.random_points(region.label, 2, rng=region.label):
            target = np.array(problem.target_tensor().entries)
            target[places] = point
            chart = chart_of(target, problem.data, problem.degree)
            assert counts(chart) == (region.real_count, region.local_minima)


def test_the_number_of_complex_critical_points_is_the_degree_of_the_form():
    for degree in (2, 3):
        chart = chart_of([1.0, 0.2, *[0.3] * (degree - 2), 0.7], sh.IID.laplace(2), degree)
        assert chart.complex_count[1] == rank_one(degree).curve.degree


def test_losses_of_the_critical_students(rng):
    target = np.round(rng.standard_normal(3), 3)
    chart = chart_of(target, sh.IID.laplace(2))
    ours = critical_students(rank_one(2), data=sh.IID.laplace(2), t00=target[0], t01=target[1], t11=target[2])
    theirs = sorted(point.loss for point in chart.points if point.rank == 1)
    assert [s.loss for s in ours] == pytest.approx(theirs, rel=1e-9)


def test_the_chart_changes_across_a_collision_and_across_a_vertex():
    start = sh.Problem(np.array([[1.0, 0.1], [0.1, 1.0]]), sh.IID.laplace(2), width=1)
    end = sh.Problem(np.array([[-3.0, 1.0], [1.0, 0.5]]), sh.IID.laplace(2), width=1)
    found = follow(start, end, samples=5)
    assert {event.kind for event in found.events} >= {"collision", "vertex"}
    for event in found.events:
        sides = []
        for tau in (event.position - 1e-4, event.position + 1e-4):
            target = (1 - tau) * start.target_tensor().entries + tau * end.target_tensor().entries
            sides.append(counts(chart_of(target, sh.IID.laplace(2))))
        assert (sides[0][0], sides[1][0]) == event.real_counts
        assert (sides[0][1], sides[1][1]) == event.local_minima


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("degree", [2, 3])
def test_many_teachers_and_metrics(degree, seed):
    rng = np.random.default_rng(seed)
    size = degree + 1
    factor = rng.standard_normal((size, size))
    data = sh.Metric(2, degree, factor @ factor.T + 0.3 * np.eye(size))
    P = rank_one(degree)
    for _ in range(5):
        target = rng.standard_normal(size)
        values = dict(zip(P.teacher, target.tolist(), strict=True))
        exact = landscape_at(P, data=data, **values)
        assert counts(chart_of(target, data, degree)) == (exact.real_count, exact.local_minima)
