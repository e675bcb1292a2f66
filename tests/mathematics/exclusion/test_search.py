"""The search against systems whose zeros are known, against homotopy, and against sabotage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.newton import examine
from shallows.mathematics.exclusion.result import Exclusion
from shallows.mathematics.exclusion.search import exclude
from shallows.mathematics.exclusion.system import Polynomials, check_enclosure
from shallows.support.errors import InvalidProblem, NotConverged


def cube(n: int, side: float = 2.0) -> Intervals:
    return Intervals(np.full(n, -side), np.full(n, side))


def test_a_grid_of_zeros_on_the_corners_of_the_bisection() -> None:
    found = exclude(Polynomials.read(["x^3 - x", "y^3 - y"]), cube(2))
    assert found.complete and len(found.box) == 9
    assert np.allclose(found.zeros, [[a, b] for a in (-1, 0, 1) for b in (-1, 0, 1)], atol=1e-12)


@pytest.mark.parametrize(
    "equations",
    [
        ["x^2 + y^2 + z^2 - 1", "x*y*z - 1/10", "x + y - z^2"],
        ["x^5 - 3*x*y + 1/3", "y^4 - x*y^2 - 1/7"],
        ["x^2 - 2*y^2 - 1/2", "x*y + y^3 - 1/5"],
        ["x^4 - 3*x^2 + x + 1/7"],
        ["x^2 + y^2 + 1", "x - y"],
    ],
)
def test_the_same_real_zeros_as_homotopy(equations: list[str]) -> None:
    n = len(equations)
    found = exclude(Polynomials.read(equations), cube(n, 3.0))
    real = sh.homotopy.solve(equations).real
    inside = np.array([s.point.real for s in real if np.all(np.abs(s.point) < 3.0)]).reshape(-1, n)
    assert found.complete and len(found.box) == len(inside)
    for point in inside:
        assert np.min(np.abs(found.box.mid - point).max(axis=1)) < 1e-9


def test_a_double_zero_stays_undecided_and_is_one_cluster() -> None:
    found = exclude(Polynomials.read(["x^2", "y - x"]), cube(2))
    assert not len(found.box) and not found.complete and len(found.clusters) == 1
    assert np.all(found.clusters[0].lo <= 0) and np.all(found.clusters[0].hi >= 0)


def test_a_curve_of_zeros_is_covered_by_what_is_undecided_or_pending() -> None:
    found = exclude(Polynomials.read(["x^2 + y^2 - 1", "x^2 + y^2 - 1"]), cube(2), resolution=1e-2)
    angle = np.linspace(0, 2 * np.pi, 50)
    for point in np.stack([np.cos(angle), np.sin(angle)], axis=1):
        assert np.any(np.all((found.undecided.lo <= point) & (point <= found.undecided.hi), axis=1))


class Tampered:
    """A system one of whose answers is changed."""

    def __init__(self, inner: Polynomials, change: str) -> None:
        self.inner, self.change, self.n, self.split = inner, change, inner.n, inner.split

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
        value, slope = self.inner(box, derivative)
        if self.change == "narrow":
            value = Intervals(*(value.mid + 0.1 * (end - value.mid) for end in (value.lo, value.hi)))
        if self.change == "slope" and slope is not None:
            slope.lo[:, 0, 0] *= 0.5
            slope.hi[:, 0, 0] *= 0.5
        if self.change == "sign" and slope is not None:
            slope = -slope
        return value, slope


@pytest.mark.parametrize("change", ["narrow", "slope", "sign"])
def test_a_tampered_enclosure_is_noticed(change: str) -> None:
    system = Polynomials.read(["x^3 + y - 1", "y^2*x - x + 1/3"])
    check_enclosure(system, cube(2))
    with pytest.raises(NotConverged, match="enclosure of equation"):
        exclude(Tampered(system, change), cube(2))


def test_a_widened_domain_with_two_zeros_is_not_proved() -> None:
    system = Polynomials.read(["x^3 - x", "y"])
    narrow, wide = Intervals([[0.9, -0.1]], [[1.1, 0.1]]), Intervals([[-0.3, -0.1]], [[1.2, 0.1]])
    assert examine(system, narrow, np.ones(2)).proved[0]
    assert not examine(system, wide, np.ones(2)).proved[0]


def test_a_search_stops_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    system = Polynomials.read(["x^5 - 3*x*y + 1/3", "y^4 - x*y^2 - 1/7"])
    whole = exclude(system, cube(2, 3.0))
    part = exclude(system, cube(2, 3.0), most=20)
    assert len(part.pending) and not part.complete and "pending" in repr(part)
    loaded = Exclusion.load(part.save(tmp_path / "half"))
    rest = exclude(system, cube(2, 3.0), resume=loaded)
    assert rest.complete and np.allclose(rest.zeros, whole.zeros, atol=1e-12)
    (tmp_path / "half.npz").write_bytes(b"damaged")
    with pytest.raises(InvalidProblem, match="damaged"):
        Exclusion.load(tmp_path / "half")


def test_an_interrupt_keeps_what_is_finished() -> None:
    system = Polynomials.read(["x^5 - 3*x*y + 1/3", "y^4 - x*y^2 - 1/7"])

    class Interrupted(Tampered):
        calls = 0

        def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
            Interrupted.calls += 1
            if Interrupted.calls == 12:
                raise KeyboardInterrupt
            return self.inner(box, derivative)

    part = exclude(Interrupted(system, ""), cube(2, 3.0))
    assert len(part.pending) and not part.complete
    rest = exclude(system, cube(2, 3.0), resume=part)
    assert rest.complete and np.allclose(rest.zeros, exclude(system, cube(2, 3.0)).zeros, atol=1e-12)


def test_threads_find_the_same() -> None:
    system = Polynomials.read(["x^5 - 3*x*y + 1/3", "y^4 - x*y^2 - 1/7"])
    assert np.allclose(
        exclude(system, cube(2, 3.0), workers=2).zeros, exclude(system, cube(2, 3.0)).zeros, atol=1e-12
    )


@pytest.mark.parametrize(
    ("system", "region", "reason"),
    [
        ("x^2 - 1", ([-2.0], [2.0]), "list of strings"),
        (["x^2 + y"], ([-2.0], [2.0]), "not square"),
        (["x^2 - 1"], ([2.0], [-2.0]), "lower"),
        (["x^2 - 1"], ([-np.inf], [2.0]), "finite"),
        (["x^2 - 1"], ([-2.0, 0.0], [2.0, 1.0]), "1 unknowns"),
        (["x^2 - 1", "x - y"], [(-2.0, 2.0), (-2.0, 2.0)], "one value only"),
    ],
)
def test_the_door_says_what_is_wrong(system: Any, region: Any, reason: str) -> None:
    with pytest.raises(InvalidProblem, match=reason):
        sh.exclusion.exclude(system, region)


def test_zeros_whose_values_are_known_only_roughly_are_proved_in_clusters() -> None:
    class Rough(sh.exclusion.Plain):
        n = 1

        def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
            noise = Intervals(-1e-3, 1e-3)
            slope = box * 2.0
            return box.square() - 2.0 + noise, Intervals(slope.lo[:, :, None], slope.hi[:, :, None])

    found = sh.exclusion.exclude(Rough(), ([-3.0], [3.0]))
    assert found.complete and np.allclose(np.abs(found.zeros.ravel()), np.sqrt(2), atol=1e-3)
    assert np.all(found.box.width < 1e-2)


def test_the_widest_boxes_first_find_the_same_and_decide_more_of_the_region_early():
    equations, region = ["x^3 - 3*x*y^2 - 1/5", "3*x^2*y - y^3 - 1/7"], ([-2.0, -2.0], [2.0, 2.0])
    deep, wide = (exclude(equations, region, widest=first) for first in (False, True))
    assert deep.complete and wide.complete and deep.boxes == wide.boxes
    assert np.array_equal(deep.zeros, wide.zeros)
    begun = exclude(equations, region, widest=True, most=deep.boxes // 2)
    assert not begun.complete and exclude(equations, region, resume=begun, widest=True).zeros.shape == (3, 2)
