"""When two points are one: to a tolerance, chordally, up to symmetries."""

import numpy as np
import pytest

from shallows.mathematics.same_points import (
    PointSet,
    chained,
    classes,
    close_pairs,
    is_among,
    nearest,
    nearest_chordal,
)


def test_the_nearest_known_point(rng):
    known = rng.standard_normal((6, 3))
    order = rng.permutation(6)
    index, gap = nearest(known[order] + 1e-9, known)
    assert index.tolist() == order.tolist() and (gap < 2e-9).all() and (gap > 0).all()
    index, gap = nearest(known, known[:0])
    assert (index == -1).all() and np.isinf(gap).all()


def test_classes_are_those_of_their_first_members():
    points = np.array([[0.0, 0.0], [3.0, 0.0], [0.9, 0.0], [1.8, 0.0], [3.0, 0.5]])
    found = [rows.tolist() for rows in classes(points, 1.0)]
    assert found == [[0, 2], [1, 4], [3]]  # 1.8 is near 0.9, but not near 0, which stands for it
    assert classes(points[:0], 1.0) == []


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_chordal_distances_are_relative_for_large_points_and_absolute_for_small_ones(size):
    point = np.array([[size, 1j * size]])
    distance, _ = nearest_chordal(point * (1 + 1e-6), point)
    assert distance[0] == pytest.approx(1e-6 * min(size, 1.0), rel=1.0, abs=1e-15)
    assert np.isinf(nearest_chordal(point, point[:0])[0]).all()


@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_close_pairs_are_those_of_all_pairs(rng, count):
    """Against a comparison of all: points alone, twice, mirrored, far out; radii of very different sizes."""
    points = rng.standard_normal((count, 3)) + 1j * rng.standard_normal((count, 3))
    points = np.concatenate(
        [points, points.conj(), points[::2] * (1 + 1e-7), 1e9 * points[::3], -points[::4]]
    )
    radius = 10.0 ** rng.uniform(-13, -1, len(points))
    full = np.hstack([points, np.ones((len(points), 1))])
    full /= np.linalg.norm(full, axis=1, keepdims=True)
    gaps = np.linalg.norm(full[:, None] - full[None], axis=2)
    rows, columns = np.nonzero(np.triu(gaps <= radius[:, None] + radius, 1))
    first, second = close_pairs(points, radius)
    assert sorted(zip(first.tolist(), second.tolist(), strict=True)) == list(
        zip(rows.tolist(), columns.tolist(), strict=True)
    )


def test_one_point_an_orbit(rng):
    """±v are one orbit; invariants (the products vᵢvⱼ) tell the same."""
    points = rng.standard_normal((5, 3)) + 1j * rng.standard_normal((5, 3))
    table = np.concatenate([points, -points[::-1], points + 1e-12])
    by_orbit = PointSet(table, orbit=lambda x: np.array([x, -x]))
    by_invariants = PointSet(table, invariants=lambda x: np.einsum("ki,kj->kij", x, x).reshape(len(x), -1))
    assert np.array_equal(by_orbit.points, points) and np.array_equal(by_invariants.points, points)
    assert len(PointSet(table)) == 10
    assert by_orbit.place(-points).tolist() == [0, 1, 2, 3, 4]
    assert len(by_orbit.full()) == 10


def test_chains_are_what_a_walk_reaches(rng):
    """Against a walk from each point, by hand."""
    points = rng.uniform(0, 4, (30, 2))
    groups = chained(points, 0.5)
    assert sorted(i for group in groups for i in group) == list(range(30))
    for group in groups:
        reached = {group[0]}
        for _ in group:
            reached |= {j for j in range(30) for i in reached if np.hypot(*(points[i] - points[j])) <= 0.5}
        assert reached == set(group)
    assert chained(points[:0], 0.5) == [] and chained(points[:1], 0.0) == [[0]]


def test_a_point_among_others(rng):
    known = list(rng.standard_normal((4, 2, 2)))
    assert is_among(known[2] + 1e-9, known, 2e-9) and not is_among(known[2] + 1e-9, known, 0.5e-9)
    assert not is_among(known[0], [], np.inf)
