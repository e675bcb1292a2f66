"""Compiled rounds against the same in arrays: on random boxes, singular tables, unknown slopes and zeros on borders."""

from __future__ import annotations

import numpy as np
import pytest

from shallows.mathematics.exclusion import newton
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.newton import compiled_round, examine, plain_round
from shallows.mathematics.exclusion.search import exclude
from shallows.mathematics.exclusion.system import Plain, Polynomials
from shallows.support.errors import NotConverged

SYSTEMS = {
    "cubics": ["x^3 + y - 1", "y^2*x - x + 1/3"],
    "three": ["x^2 + y^2 + z^2 - 1", "x*y*z - 1/10", "x + y - z^2"],
    "one": ["x^4 - 3*x^2 + x + 1/7"],
    "singular": ["x^2 + y^2 - 1", "2*x^2 + 2*y^2 - 2"],
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_compiled_rounds_are_those_of_arrays(name: str) -> None:
    system, rng = Polynomials.read(SYSTEMS[name]), np.random.default_rng(0)
    n, m = system.n, 500
    centre = rng.uniform(-2, 2, (m, n))
    centre[:20] = rng.choice([-1.0, 0.0, 1.0], (20, n))
    half = 10.0 ** rng.uniform(-8, 0, (m, 1)) * np.ones(n)
    half[20:40] = 0.0
    box = Intervals(centre - half, centre + half)
    domain = Intervals(centre - 1.02 * half - 1e-12, centre + 1.02 * half + 1e-12)
    over, slopes = system(domain, True)
    at, _ = system(Intervals.exact(centre), False)
    assert slopes is not None
    slopes.lo[40:50], slopes.hi[40:50] = np.nan, np.nan
    slopes.lo[50:60, 0, 0], slopes.hi[50:60, 0, 0] = -np.inf, np.inf
    thin = Intervals(slopes.lo.copy(), slopes.hi.copy())
    thin.lo[60:, :, 0] = thin.hi[60:, :, 0] = slopes[60:].mid[:, :, 0]  # slopes need not be derivatives
    with np.errstate(all="ignore"):
        one, two = (way(box, centre, domain, over, at, slopes, thin) for way in (compiled_round, plain_round))
    assert np.array_equal(one.out, two.out) and one.out.any() and not one.out.all()
    left = ~one.out
    parts = [(one.smaller, two.smaller)]
    if name != "singular":  # an inverse there is nothing but rounding, and either will do
        parts.append((one.image, two.image))
    for a, b in parts:
        same = np.isfinite(b.lo[left]) & np.isfinite(b.hi[left])
        scale = 1.0 + np.abs(b.lo[left][same]) + np.abs(b.hi[left][same])
        assert np.all(np.abs(a.lo[left][same] - b.lo[left][same]) < 1e-9 * scale)
        assert np.all(np.abs(a.hi[left][same] - b.hi[left][same]) < 1e-9 * scale)
    proved = [np.asarray(r.image.within(r.domain).all(axis=1))[left] for r in (one, two)]
    assert np.array_equal(*proved)
    assert np.array_equal(*(np.any(r.smaller.lo > r.smaller.hi, axis=1)[left] for r in (one, two)))


@pytest.mark.parametrize("way", ["compiled", "plain"])
def test_no_box_around_a_zero_is_excluded(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton, "FEW", 1 if way == "compiled" else 10**9)
    system, rng = (
        Polynomials.read(["x^3 - x + y*z", "y^2*x - y + z^2", "z*x*y - z + x^2 - x"]),
        np.random.default_rng(5),
    )
    zero = np.array([1.0, 0.0, 0.0])  # also (0, 0, 0)
    reach = 10.0 ** rng.uniform(-10, 0.5, (3_000, 1)) * rng.uniform(0, 1, (2, 3_000, 3))
    reach[0, :300], reach[1, 300:600] = 0.0, 0.0  # on borders and corners
    for at in (zero, np.zeros(3)):
        outcome = examine(system, Intervals(at - reach[0], at + reach[1]), np.ones(3))
        assert not outcome.out.any() and outcome.proved.any()
        left = ~outcome.proved
        assert np.all((outcome.box.lo[left] <= at) & (at <= outcome.box.hi[left]))


class Bilinear(Plain):
    """Linear in the first unknown, which is not bisected; columns are times `factor`."""

    n, split = 2, (1,)

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor
        self.inner = Polynomials.read(["u*y + u - 1", "u*y^2 - y"])

    def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
        return self.inner(box, derivative)

    def centred(self, centre: np.ndarray) -> tuple[Intervals, Intervals]:
        value, slope = self.inner(Intervals.exact(centre), True)
        assert slope is not None
        return value, slope[:, :, :1] * self.factor


def test_a_system_that_is_linear_in_some_unknowns_needs_fewer_boxes() -> None:
    region = ([-3.0, -0.9], [3.0, 3.0])
    linear, plain = exclude(Bilinear(), region), exclude(Bilinear().inner, region)
    assert linear.complete and np.allclose(linear.zeros, plain.zeros) and len(linear.zeros) > 0
    with pytest.raises(NotConverged, match="enclosure of equation"):
        exclude(Bilinear(0.9), region)


def test_a_table_that_needs_its_rows_changed_is_inverted() -> None:
    from shallows.mathematics.exclusion._compiled.rounds import invert

    rng = np.random.default_rng(3)
    for table in (np.array([[0.0, 2.0], [4.0, 0.0]]), rng.standard_normal((5, 5)), np.eye(3)[[2, 0, 1]]):
        inverse = np.empty_like(table)
        invert(table.copy(), inverse)
        assert np.allclose(inverse @ table, np.eye(len(table)))
    for table, expected in ((np.ones((2, 2)), 0.0), (np.full((2, 2), np.nan), np.eye(2))):
        inverse = np.empty((2, 2))
        invert(table, inverse)
        assert np.array_equal(inverse, np.broadcast_to(expected, (2, 2)))
