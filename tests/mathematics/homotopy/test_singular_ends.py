"""Singular ends against exact arithmetic: what `solve` says of multiple, nearly multiple and embedded points is so."""

from collections import Counter

import pytest
from tests.oracle.plane import truth

from shallows.homotopy import Status, solve

#: Decimal exponents of separations: beyond 8 doubles cannot tell a pair from a double root.
GAPS = (3, 5, 7, 9, 11, 14, 20, 40)
SYSTEMS = {
    "the origin": ["x^2", "y^2"],
    "a double root": ["(x - 1)^2"],
    "a triple root and others": ["(x - 1)^3*(x + 2)*(x^2 + 1)"],
    "a double root that is irrational": ["(x^2 - 2)^2"],
    "double roots that are not real": ["(x^2 + 3)^2*(x - 1)"],
    "three points, one double": ["(x - 1)^2*(x - 1 - 1e-9)"],
    "three in a row": ["(x - 1)*(x - 1 - 1e-12)*(x - 1 + 1e-12)"],
    "a triple point and its neighbour": ["x^3*(x - 1e-10)", "y - x"],
    "a line with an embedded point": ["x^2", "x*y"],
    "a line and a point": ["x*(x - 1)", "x*(y - 2)"],
    "a line and a double point": ["x*(x - 1)^2", "x*(y - 2)"],
    "a double line": ["x^2", "x^2*y"],
    "a circle and its own double": ["x^2 + y^2 - 1", "2*x^2 + 2*y^2 - 2"],
    "a circle and points off it": ["(x^2 + y^2 - 1)*(x - 3)", "(x^2 + y^2 - 1)*(y - 1)"],
    "tangent circles": ["x^2 + y^2 - 1", "(x - 2)^2 + y^2 - 1"],
    "circles that nearly touch": ["x^2 + y^2 - 1", "(x - 2)^2 + y^2 - 1 + 1e-13"],
    "circles that just miss": ["x^2 + y^2 - 1", "(x - 2)^2 + y^2 - 1 - 1e-13"],
    "a cusp and its tangent": ["y^2 - x^3", "y"],
    "a cusp and a line through it": ["y^2 - x^3", "y - x"],
    "a node and a line through it": ["y^2 - x^2*(x + 1)", "y - 2*x"],
    "contact of order three": ["y - x^2 - y^2", "y - x^2 - x*y"],
    "a fat point": ["x^2 - y^3", "x*y"],
    "a fat irrational point": ["(x^2 - 2)^2", "(y^2 - 3)^2"],
    "four corners of a tiny square": ["x^2 - 1e-16", "y^2 - 1e-16"],
    "four corners that are not real": ["x^2 + 1e-16", "y^2 - 1e-16"],
    "Griewank and Osborne": ["29/16*x^3 - 2*x*y", "y - x^2"],
}
PAIRS = {
    "two roots": "(x - 1)*(x - 1 - 1e-{gap})",
    "a pair that is not real": "(x - 1)^2 + 1e-{twice}",
    "a pair and a third": "((x - 3)^2 - 1e-{twice})*(x + 5)",
}


def said(result):
    """Isolated solutions by multiplicity and realness, as `truth` counts them."""
    return Counter((s.multiplicity, {"real": True, "complex": False}.get(s.real)) for s in result.isolated)


def agrees(rows, seed=0):
    result, exact = solve(rows, rng=seed, on_incomplete="return"), truth(rows)
    assert said(result) == exact.points
    assert result.status is (Status.POSITIVE_DIMENSIONAL if exact.curve else Status.COMPLETE)


@pytest.mark.parametrize("name", SYSTEMS)
def test_singular_systems(name):
    agrees(SYSTEMS[name])


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("name", PAIRS)
def test_close_pairs(name, gap):
    agrees([PAIRS[name].format(gap=gap, twice=2 * gap)])


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(1, 12))
def test_many_seeds(seed):
    for rows in SYSTEMS.values():
        agrees(rows, seed)
    for text in PAIRS.values():
        for gap in GAPS:
            agrees([text.format(gap=gap, twice=2 * gap)], seed)


def test_what_cannot_be_resolved_is_called_undecided(monkeypatch):
    """Without means, nothing is claimed: neither that the end is real nor that the list is complete."""
    monkeypatch.setattr("shallows.mathematics.homotopy.assembly.MOST_RESOLVED", 0)
    result = solve(["(x - 1)^2*(x + 2)"])
    assert result.status is Status.UNDECIDED and "could not be resolved" in result.message
    assert said(result) == {(1, True): 1, (2, None): 1} and "not resolved" in result.singular[0].note


def test_roots_far_out_are_not_at_infinity():
    assert said(solve(["(x - 1e-9)^2*(x - 1)^2*(x + 1e9)"])) == {(1, True): 1, (2, True): 2}


def test_complex_coefficients_leave_realness_open():
    """x = 1 + 10⁻³⁰i is not real, which doubles cannot see."""
    assert solve(["x - 1 - 1e-30*I"]).real.count == 0
