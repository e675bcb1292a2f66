"""Lost paths in other coordinates: a x = 1, whose solution is infinite half way, and y = 1/x, which is not."""

from dataclasses import dataclass

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.homotopy.carrying import Elsewhere, carried

READ = sh.homotopy.PolynomialFamily.read
ONE, MINUS = np.array([1.0 + 0j, 1.0]), np.array([-1.0 + 0j, 1.0])
SETTINGS = sh.homotopy.TrackerSettings(steps=300)


@dataclass(frozen=True)
class Inverted:
    """a x = b with 1/x as its other coordinate, given so many times."""

    ways: int = 1
    inside = READ(["a*x - b"], ["x"], ["a", "b"])
    outside = READ(["a - b*y"], ["y"], ["a", "b"])
    n, parameter_count = 1, 2

    def segment(self, start, target):
        return self.inside.segment(start, target)

    def member(self, parameters):
        return self.inside.member(parameters)

    def elsewhere(self, way, start, target):
        if way >= self.ways:
            return None
        with np.errstate(divide="ignore"):
            return Elsewhere(self.outside.segment(start, target), lambda x: 1 / x, lambda y: 1 / y)


def test_a_path_through_infinity_is_followed_in_other_coordinates():
    paths = carried(Inverted(), np.array([[1.0 + 0j]]), ONE, MINUS, SETTINGS)
    assert paths.status.tolist() == [0] and paths.ends[0, 0] == pytest.approx(-1)
    lost = carried(Inverted(0), np.array([[1.0 + 0j]]), ONE, MINUS, SETTINGS)
    assert lost.status[0] != 0


def test_a_start_without_other_coordinates_stays_lost():
    """x = 0 has no 1/x: nothing is made up for it, and the other path arrives."""
    starts = np.array([[0.0 + 0j], [1.0]])
    with np.errstate(divide="ignore", invalid="ignore"):
        paths = carried(Inverted(), starts, ONE, MINUS, SETTINGS)
    assert paths.status[1] == 0 and paths.ends[1, 0] == pytest.approx(-1)


def test_members_are_solved_by_way_of_other_coordinates():
    """Past infinity at a distance of 10⁴, in ten steps."""
    few, near = sh.homotopy.TrackerSettings(steps=10), 1 + 1e-4j
    found, lost = (
        sh.homotopy.solve_member(
            Inverted(ways),
            [[1 / near]],
            [near, 1],
            [-1, 1],
            detour=False,
            settings=few,
            on_incomplete="return",
        )
        for ways in (1, 0)
    )
    assert found.finite.points.real.round(9).tolist() == [[-1.0]] and not found.failed.count
    assert lost.failed.count == 1


def test_polynomial_families_have_no_other_coordinates():
    family = READ(["x^2 - a*x + b"], ["x"], ["a", "b"])
    paths = carried(
        family, np.array([[1.0], [2.0]], complex), np.array([3, 2 + 0j]), np.array([5, 4 + 0j]), SETTINGS
    )
    assert sorted(paths.ends[:, 0].real.round(9)) == [1.0, 4.0]
