"""Certificates of double roots: known places and perturbations, published systems, and what is no double root."""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh
from shallows.certify import double_root
from shallows.homotopy import multiplicity, solve

TOUCHING = ["x^2 + y^2 - 4", "x*y - 2"]
#: A system, and all its double roots. The third has 40 solutions: too many for the algebra of all of them.
DOUBLE = {
    "touching curves": (TOUCHING, [[2**0.5, 2**0.5], [-(2**0.5), -(2**0.5)]]),
    "one unknown": (["(x^2 - 3)^2*(x - 5)"], [[3**0.5], [-(3**0.5)]]),
    "many solutions": ([*TOUCHING, "z^10 - 2"], [[2**0.5, 2**0.5, 2**0.1]]),
    "not real": (["x^2 - 2*I", "(y - x)^2 + (x^2 - 2*I)*y"], [[1 + 1j, 1 + 1j], [-1 - 1j, -1 - 1j]]),
    "badly scaled": (["x^2 - 2000000*x + 1000000000000", "1000*y - x"], [[1e6, 1e3]]),
    "Rump and Graillat's first": (["x^2*(x - 1) + y - y", "y + x - 2"], [[0.0, 2.0]]),
}


@pytest.mark.parametrize("name", DOUBLE)
def test_double_roots_are_proved_where_they_are(name):
    rows, places = DOUBLE[name]
    for place in places:
        size = max(1.0, float(np.abs(place).max()))
        found = double_root(rows, np.array(place) * (1 + 1e-7))
        assert found.own and found.perturbation < 1e-25 * size**2 and found.radius < 1e-25 * size
        assert np.abs(found.point - place).max() < 1e-12 * size
        assert found.real == (not np.iscomplex(place).any())


def test_ends_of_paths_can_be_given():
    found = solve(TOUCHING)
    assert [double_root(TOUCHING, end).own for end in found.singular] == [True, True]
    assert all(multiplicity(TOUCHING, end).multiplicity == 2 for end in found.singular)


@pytest.mark.parametrize("gap", ["1/1000000", "1/1000", "1/1000000000000"])
def test_close_roots_are_told_from_a_double_one(gap):
    """x² = δ²: the constant that makes the roots meet is δ², and it is proved not to be zero."""
    found = double_root([f"x^2 - ({gap})^2", "y - x - 1"], [0.0, 1.0])
    assert not found.own and found.perturbation == pytest.approx(eval(gap) ** 2, rel=1e-9)
    assert "two close roots" in repr(found)


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        (["x^2 - 1", "y - x"], [1.0, 1.0]),  # simple
        (["x^3", "y - x"], [0.0, 0.0]),  # triple
        (["x^2 + y - 3", "x + 0.125*y^2 - 1.5"], [1.0, 2.0]),  # Ojika's, triple
        (["x^2", "y^2"], [0.0, 0.0]),  # a kernel of dimension two
        (["x^2 + y^2 - 1", "x - 3"], [1.0, 0.3]),  # no root
        (["x^2*y", "y*(y - 1)"], [3.0, 0.0]),  # a point of a line
    ],
)
def test_what_is_no_double_root_is_refused(rows, place):
    with pytest.raises(sh.NotConverged, match="no double root"):
        double_root(rows, place)


def test_misshapen_points_are_refused():
    with pytest.raises(sh.InvalidProblem, match="expected 2 finite"):
        double_root(TOUCHING, [1.0])
