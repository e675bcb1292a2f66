"""Compiled rounds against the same in arrays: on random boxes, singular tables, unknown slopes and zeros on borders."""

from __future__ import annotations

import numpy as np
import pytest

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.newton import compiled_round, plain_round
from shallows.mathematics.exclusion.system import Polynomials

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
    with np.errstate(all="ignore"):
        one, two = (way(box, centre, domain, over, at, slopes) for way in (compiled_round, plain_round))
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
