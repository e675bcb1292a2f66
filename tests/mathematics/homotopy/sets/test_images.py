"""Images of components: known degrees, dimensions that drop, membership, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh
from shallows.homotopy import PolynomialSystem, decompose
from shallows.mathematics.homotopy.sets.images import image_component
from shallows.mathematics.homotopy.sets.numeric import NumericSystem


def numeric(rows: list[str], names: list[str]) -> NumericSystem:
    return NumericSystem.of(PolynomialSystem.read(rows, names, square=False))


XY, XYZ = ["x", "y"], ["x", "y", "z"]
#: F, τ, a point: (dimension of the image, its degree, dimension upstairs), by hand.
KNOWN = [
    (["y - x^2"], XY, ["x", "y"], [2.0, 4.0], (1, 2, 1)),
    (["y - x^2"], XY, ["x", "y", "x*y"], [2.0, 4.0], (1, 3, 1)),  # the twisted cubic
    (["x^2 + y^2 - 1"], XY, ["x^2", "x*y", "y^2"], [0.6, 0.8], (1, 2, 1)),  # two points to one
    (["x^2 + y^2 - 1"], XY, ["x"], [0.6, 0.8], (1, 1, 1)),  # onto the line
    (["x^2 + y^2 - 1"], XY, ["x^3", "y^3"], [0.6, 0.8], (1, 6, 1)),
    (
        ["x^2 + y^2 + z^2 - 1"],
        XYZ,
        ["x^2", "y^2", "z^2", "x*y", "x*z", "y*z"],
        [2 / 3, 2 / 3, 1 / 3],
        (2, 4, 2),
    ),
    (["x^2 + y^2 - 1"], XYZ, ["x", "y"], [0.6, 0.8, 5.0], (1, 2, 2)),  # a cylinder from above
    (["x^2 + y^2 - 1"], XYZ, ["z^2", "z^3"], [0.6, 0.8, 5.0], (1, 3, 2)),  # and from aside: the cusp
    (["x*y - 1", "x*z - 2"], XYZ, ["x", "y", "z"], [1.0, 1.0, 2.0], (1, 2, 1)),
    (["(y - x^2)*(x - 2)"], XY, ["x", "y"], [3.0, 9.0], (1, 2, 1)),  # the other component is not seen
    (["x^2 - 4"], ["x"], ["x^3"], [2.0], (0, 1, 0)),
]


@pytest.mark.parametrize(("rows", "names", "tau", "point", "expected"), KNOWN)
def test_known_degrees(rows, names, tau, point, expected):
    found = image_component(numeric(rows, names), numeric(tau, names), np.array(point, complex))
    assert (found.dimension, found.degree, found.upstairs) == expected and found.confirmed
    place = numeric(tau, names).value(np.array(point, complex))
    assert found.contains(place) and found.contains(place + 0.1) == (len(tau) == found.dimension)
    assert all(found.contains(image) for image in found.images[:3])


@pytest.mark.parametrize("seed", range(6))
def test_every_seed_gives_the_same_degree(seed):
    rows, tau = numeric(["x^2 + y^2 + z^2 - 1"], XYZ), numeric(["x^3", "y^3", "z^3", "x*y*z", "x^2*y"], XYZ)
    found = image_component(rows, tau, np.array([2 / 3, 2 / 3, 1 / 3], complex), seed)
    assert (found.dimension, found.degree, found.confirmed) == (2, 18, True)


def test_degrees_are_those_of_a_decomposition():
    """The graph of τ over Z, decomposed with new coordinates for τ: the other way, which tracks all that there is."""
    graph = decompose(
        ["x^2 + y^2 - 1", "u - x^2 + y", "v - x*y"], variables=["x", "y", "u", "v"], rng=1
    )  # the projection of its curve to (u, v) has the degree of the eliminant
    assert graph.complete and graph.dimension == 1
    found = image_component(
        numeric(["x^2 + y^2 - 1"], XY), numeric(["x^2 - y", "x*y"], XY), np.array([0.6, 0.8], complex)
    )
    u, v = (
        0.3,
        -0.2,
    )  # a line a·u + b·v = c meets the image where a(x² − y) + b·xy = c on the circle: four points
    count = sh.homotopy.solve(["x^2 + y^2 - 1", f"{u}*(x^2 - y) + {v}*x*y - 0.7"]).finite.count
    assert found.degree == count == 4


def test_multiple_and_degenerate_ones_are_refused():
    for rows, place in (
        (["(y - x)^2"], [1.0, 1.0]),
        (["x^2", "y"], [0.0, 0.0]),
    ):  # a double line, a double point
        with pytest.raises(sh.NotConverged, match="multiple"):
            image_component(numeric(rows, XY), numeric(["x + 1", "y"], XY), np.array(place, complex))
    for rows, place in ((["y - x^2"], [1.0, 3.0]), (["x*y - 1", "x*y - 2"], [1.0, 1.5])):
        with pytest.raises(sh.InvalidProblem, match="regular point"):
            image_component(numeric(rows, XY), numeric(XY, XY), np.array(place, complex))
    with pytest.raises(sh.InvalidProblem, match="limit"):
        rows, tau = numeric(["x^2 + y^2 - 1"], XY), numeric(["x^3", "y^3"], XY)
        image_component(rows, tau, np.array([0.6, 0.8], complex), limit=3)
