"""Focal points of curves and surfaces the user gives: spheres, cylinders, planes, the ellipse of Example 27."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows import InvalidProblem
from shallows.questions.geometry.manifolds.focal_points import (
    FocalPoint,
    ray_focal_points,
    segment_focal_points,
)
from shallows.questions.geometry.manifolds.local_geometry import LocalGeometry
from shallows.questions.geometry.manifolds.parametric import ParametricChart


def random_metric(rng, size):
    M = rng.standard_normal((size, size))
    return M @ M.T / size + 0.3 * np.eye(size)


def sphere(u, radius=2.0):
    square = u @ u
    return radius * np.append(2 * u, square - 1) / (square + 1)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_centre_of_a_sphere_is_its_only_focal_point(k, rng):
    here = LocalGeometry(ParametricChart(sphere, rng.standard_normal(k)))
    (centre,) = ray_focal_points(here, -here.point)
    assert centre.multiplicity == k and centre.position == pytest.approx(1.0, rel=1e-9)
    assert ray_focal_points(here, here.point) == []
    assert segment_focal_points(here, np.zeros(len(here.point))) == [FocalPoint(1.0, k)]
    assert sum(f.multiplicity for f in segment_focal_points(here, -here.point)) == k


def test_a_cylinder_has_one_focal_point_and_a_plane_none():
    cylinder = ParametricChart(lambda u: np.array([3 * np.cos(u[0]), 3 * np.sin(u[0]), u[1]]), [0.4, 1.0])
    here = LocalGeometry(cylinder)
    inward = np.array([-np.cos(0.4), -np.sin(0.4), 0.0])
    (axis,) = ray_focal_points(here, inward)
    assert axis.multiplicity == 1 and axis.position == pytest.approx(3.0)
    assert ray_focal_points(here, inward, length=2.9) == []


def test_a_plane_with_rounding_errors_has_no_focal_points(rng):
    """A plane in curved parameters: v·E is rounding error, not zero; no focal point far away is made of it."""
    for _ in range(5):
        A = rng.standard_normal((3, 2))
        plane = LocalGeometry(
            ParametricChart(lambda u, A=A: A @ np.array([u[0] + np.sin(u[1]), np.exp(u[1])]), [0.3, 0.4])
        )
        v = plane.normal_frame[:, 0]
        assert np.any(plane.second_form(v) != 0)
        assert ray_focal_points(plane, v) == ray_focal_points(plane, -v) == []


def ellipse_at(angle):
    return ParametricChart(lambda u: np.array([2 * np.cos(u[0]), np.sin(u[0])]), angle)


@given(st.floats(-3.1, 3.1))
def test_the_focal_locus_of_the_ellipse_is_its_evolute(angle):
    """Example 27: ((a²−b²)/a cos³θ, −(a²−b²)/b sin³θ), on (2x)^{2/3} + y^{2/3} = 3^{2/3}, for a = 2, b = 1."""
    here = LocalGeometry(ellipse_at(angle))
    inward = -np.array([np.cos(angle) / 2, np.sin(angle)])
    (focal,) = ray_focal_points(here, inward)
    point = here.point + focal.position * inward
    assert point == pytest.approx([1.5 * np.cos(angle) ** 3, -3 * np.sin(angle) ** 3], abs=1e-8)
    x, y = np.abs(point)
    assert (2 * x) ** (2 / 3) + y ** (2 / 3) == pytest.approx(3 ** (2 / 3), abs=1e-4)


def critical_angles(teacher, metric):
    """All critical points of the distance to the ellipse, as the real roots of a trigonometric quartic.

    With z = e^{iθ}, d/dθ ‖x(θ) − t‖²_Σ is a Laurent polynomial of degree 2 in z: interpolate it and solve.
    """
    thetas = 2 * np.pi * np.arange(8) / 8
    x = np.array([2 * np.cos(thetas), np.sin(thetas)])
    slope = np.array([-2 * np.sin(thetas), np.cos(thetas)])
    values = np.sum(slope * (metric @ (x - np.reshape(teacher, (2, 1)))), axis=0)
    modes = np.fft.fft(values) / 8
    roots = np.roots([modes[2], modes[1], modes[0], modes[-1], modes[-2]])
    return np.angle(roots[np.abs(np.abs(roots) - 1) < 1e-6])


@pytest.mark.parametrize(
    "teacher,count",
    [((0.2, 0.3), 4), ((0.0, 2.5), 4), ((1.4, 0.01), 4), ((1.0, 1.0), 2), ((0.0, 3.3), 2), ((1.7, 0.0), 2)],
)
def test_the_ellipse_has_four_critical_points_inside_the_evolute_and_two_outside(teacher, count):
    x, y = np.abs(teacher)
    inside = (2 * x) ** (2 / 3) + y ** (2 / 3) < 3 ** (2 / 3)
    angles = critical_angles(teacher, np.eye(2))
    assert len(angles) == count == (4 if inside else 2)
    indices = []
    for angle in angles:
        here = LocalGeometry(ellipse_at(angle))
        by_count = sum(f.multiplicity for f in segment_focal_points(here, teacher, 1e-6))
        assert by_count == here.signature(teacher, 1e-6)[2]  # Theorem 26
        indices.append(by_count)
    assert sum((-1) ** i for i in indices) == 0  # the Euler characteristic of a circle


@given(st.integers(0, 2**32))
def test_the_ellipse_in_any_metric(seed):
    """Count of critical points, indices by focal points and by eigenvalues, and Morse's sum, for random Σ and t."""
    rng = np.random.default_rng(seed)
    metric, teacher = random_metric(rng, 2), rng.uniform(-2, 2, 2)
    angles = critical_angles(teacher, metric)
    assert len(angles) in (2, 4)
    total = 0
    for angle in angles:
        here = LocalGeometry(ellipse_at(angle), metric)
        points = segment_focal_points(here, teacher, 1e-5)
        assert sum(f.multiplicity for f in points) == here.signature(teacher, 1e-5)[2]
        total += (-1) ** sum(f.multiplicity for f in points)
    assert total == 0


@given(st.floats(0.2, 1.3))
def test_crossing_the_evolute_changes_the_number_of_critical_points(angle):
    """Theorem 25 fails exactly on the focal locus: 4 critical points just inside it, 2 just outside."""
    here = LocalGeometry(ellipse_at(angle))
    inward = -np.array([np.cos(angle) / 2, np.sin(angle)])
    (focal,) = ray_focal_points(here, inward)
    point = here.point + focal.position * inward
    assert len(critical_angles(0.99 * point, np.eye(2))) == 4
    assert len(critical_angles(1.01 * point, np.eye(2))) == 2
    beyond = [here.signature(here.point + f * focal.position * inward)[2] for f in (0.999, 1.001)]
    assert beyond == [0, 1]  # along the normal the index of this point jumps by the multiplicity


def test_bad_options_are_refused():
    here = LocalGeometry(ellipse_at(0.0))
    with pytest.raises(InvalidProblem, match="expected a positive number"):
        ray_focal_points(here, [-1.0, 0.0], length=0)
    with pytest.raises(InvalidProblem, match="direction is zero"):
        ray_focal_points(here, [0.0, 0.0])
    with pytest.raises(InvalidProblem, match="not normal"):
        ray_focal_points(here, [0.0, 1.0])
    with pytest.raises(InvalidProblem, match="tolerance"):
        ray_focal_points(here, [-1.0, 0.0], tolerance=-1.0)
