"""Multiplicities by local algebra against published ones, and against the paths that end there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import shallows as sh

multiplicity, solve = sh.homotopy.multiplicity, sh.homotopy.solve
#: B. Dayton, Z. Zeng, ISSAC 2005, and A. Leykin, J. Verschelde, A. Zhao, 2006: systems, points, multiplicities.
PUBLISHED = {
    "cmbs1": (["x^3 - y*z", "y^3 - x*z", "z^3 - x*y"], [0, 0, 0], 11),
    "cmbs2": (
        [
            "x^3 - 3*x^2*y + 3*x*y^2 - y^3 - z^2",
            "z^3 - 3*z^2*x + 3*z*x^2 - x^3 - y^2",
            "y^3 - 3*y^2*z + 3*y*z^2 - z^3 - x^2",
        ],
        [0, 0, 0],
        8,
    ),
    "mth191": (["x^3 + y^2 + z^2 - 1", "x^2 + y^3 + z^2 - 1", "x^2 + y^2 + z^3 - 1"], [0, 1, 0], 4),
    "decker2": (["x + y^3", "x^2*y - y^4"], [0, 0], 4),
    "DZ2": (["x^4", "x^2*y + y^4", "z + z^2 - 7*x^3 - 8*x^2"], [0, 0, -1], 16),
    "Ojika1": (["x^2 + y - 3", "x + 0.125*y^2 - 1.5"], [1, 2], 3),
    "KSS5": ([f"x{j}^2 - 2*x{j} + x1 + x2 + x3 + x4 + x5 - 4" for j in range(1, 6)], [1] * 5, 16),
    "Griewank-Osborne": (["29/16*x^3 - 2*x*y", "y - x^2"], [0, 0], 3),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_multiplicities_are_proved(name: str) -> None:
    equations, point, many = PUBLISHED[name]
    found = multiplicity(equations, np.array(point) + 3e-9)
    assert found.proved and found.multiplicity == many == sum(found.hilbert)


@pytest.mark.parametrize("name", ["cmbs2", "mth191", "decker2", "Ojika1"])
def test_paths_say_the_same(name: str) -> None:
    equations, point, many = PUBLISHED[name]
    ends = solve(equations, on_incomplete="return").singular
    here = [one for one in ends if np.abs(one.point - np.array(point)).max() < 1e-3]
    assert len(here) == 1
    found = multiplicity(equations, here[0])
    assert found.agrees and found.paths == many and found.proved


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["cmbs1", "DZ2"])
def test_many_paths_say_the_same(name: str) -> None:
    test_paths_say_the_same(name)


def test_irrational_and_complex_points() -> None:
    root = multiplicity(["(x^2 - 2)^2", "y - x"], [np.sqrt(2), np.sqrt(2)])
    assert (root.multiplicity, root.proved, root.exact.degree) == (2, True, 2)
    imaginary = multiplicity(["(x^2 + 1)^3", "y - x"], [1j, 1j])
    assert (imaginary.multiplicity, imaginary.proved, imaginary.hilbert) == (3, True, (1, 1, 1))
    simple = multiplicity(["x^2 + y^2 - 5", "x*y - 2"], [1, 2])
    assert simple.proved and simple.multiplicity == 1


def test_what_is_undecided_is_called_so() -> None:
    for equations, point in ((["x*y", "x*z", "y*z"], [0, 0, 0]), (["x^2 + y^2 - 5", "x*y - 2"], [1.1, 2.2])):
        found = multiplicity(equations, point)
        assert found.multiplicity is None and not found.proved and "undecided" in repr(found)
    with pytest.raises(sh.InvalidProblem, match="no isolated solutions"):
        multiplicity(["x*y"], [0, 0])


def test_a_wrong_number_of_paths_is_seen() -> None:
    from dataclasses import replace

    double = solve(["x^2", "y - 1"]).singular[0]
    assert multiplicity(["x^2", "y - 1"], double).agrees
    lying = multiplicity(["x^2", "y - 1"], replace(double, multiplicity=3))
    assert lying.agrees is False and "NOT the same" in repr(lying)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 3), (4, 2), (3, 5)])
def test_monomial_ideals(a: int, b: int) -> None:
    """x^a = y^b = 0 has the multiplicity ab, after any invertible change of coordinates."""
    shapes: Sequence[list[str]] = ([f"x^{a}", f"y^{b}"], [f"(x + 2*y)^{a}", f"(3*x - y + x^2)^{b}"])
    for equations in shapes:
        assert multiplicity(equations, [0, 0]).multiplicity == a * b


def test_close_roots_are_not_a_multiple_one() -> None:
    equations = ["x^2 - 1/10000000000", "y - x"]
    assert multiplicity(equations, [0, 0]).multiplicity in (None, 1)
    assert solve(equations).finite.count == 2
