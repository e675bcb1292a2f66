"""Networks αI + β11ᵀ: one equation against dense losses and differences, its zeros against the general search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.questions.relu import one_angle
from shallows.questions.relu.one_angle import critical_directions, equation

#: Angles at which rows are parallel or opposite to each other or to a teacher neuron, at k = 2, 3 and 6.
SPECIAL = [0.0, np.pi, -np.pi / 2, np.pi / 2, -np.pi / 4, 3 * np.pi / 4, *np.arctan(np.sqrt([1.0, 2.0, 5.0]))]


def parts(k: int, angle: float) -> tuple[float, float]:
    """A and B of E = k(r²A − 2rB) + constant, from three losses of dense networks."""
    problem, q = sh.relu_problem(k), np.sqrt(k - 1.0)
    W = np.cos(angle) * np.eye(k) + np.sin(angle) / q * (1 - np.eye(k))
    at = [problem.loss(sh.Network(r * W, activation=sh.ReLU())) for r in (0.0, 1.0, 2.0)]
    return (at[2] - 2 * at[1] + at[0]) / (2 * k), (at[2] - 4 * at[1] + 3 * at[0]) / (4 * k)


@pytest.mark.parametrize("k", [2, 3, 6, 20])
def test_the_equation_is_the_slope_of_the_dense_loss(k: int) -> None:
    step = 1e-5
    for angle in np.random.default_rng(k).uniform(-3.0, 3.0, 12):
        (A, B), below, above = parts(k, angle), parts(k, angle - step), parts(k, angle + step)
        slope_A, slope_B = (above[0] - below[0]) / (2 * step), (above[1] - below[1]) / (2 * step)
        here = equation(k, Intervals.exact(np.array([angle])))
        assert here.length.mid[0] == pytest.approx(B / A, abs=1e-12)
        expected = (2 * slope_B * A - B * slope_A) * 4 * np.pi**2
        assert here.value.mid[0] == pytest.approx(expected, abs=1e-6 * k * k)


@pytest.mark.parametrize("k", [2, 3, 6, 100])
def test_enclosures_hold_values_and_chords(k: int) -> None:
    rng = np.random.default_rng(k)
    centre = np.concatenate([np.repeat(SPECIAL, 20), rng.uniform(-3.0, 3.0, 200)])
    half = 10.0 ** rng.uniform(-9, -0.3, len(centre))
    lo, hi = centre - half * rng.uniform(0, 1, len(half)), centre + half
    with np.errstate(all="ignore"):
        over = equation(k, Intervals(lo, hi))
        for _ in range(20):
            x, y = (lo + (hi - lo) * rng.uniform(0, 1, len(lo)) for _ in range(2))
            at, there = equation(k, Intervals.exact(x)), equation(k, Intervals.exact(y))
            assert np.all((at.value.hi >= over.value.lo) & (at.value.lo <= over.value.hi))
            chord, step = there.value - at.value, Intervals.exact(y) - x
            room = over.slope * step
            assert np.all((chord.hi >= room.lo) & (chord.lo <= room.hi))
    assert np.all(np.isfinite(over.slope.lo) & np.isfinite(over.slope.hi))


@pytest.mark.parametrize("k", [2, 3, 6, 50])
def test_the_list_is_that_of_the_general_search(k: int) -> None:
    quick, searched = sh.relu.symmetric_chart(k, [k]), sh.relu.symmetric_chart(k, [k], search=True)
    assert quick.completeness == searched.completeness == "proved" and quick.scope == searched.scope
    assert quick.kinds() == searched.kinds() and len(quick.symmetric) == len(searched.symmetric)
    for a in quick.symmetric:
        assert min(np.abs(a.form.values - b.form.values).max() for b in searched.symmetric) < 1e-12


@pytest.mark.thorough
def test_four_directions_for_every_k_up_to_a_thousand() -> None:
    for k in range(2, 1001):
        found = critical_directions(k)
        assert len(found.lo) == 4 and not found.undecided


def test_what_is_not_simple_is_undecided_and_left_to_the_general_search(monkeypatch: Any) -> None:
    honest = one_angle.equation

    def flat(k: int, angle: Intervals) -> Any:
        """The square of f: its zeros are double, and no interval around one is decided."""
        at = honest(k, angle)
        return one_angle.Equation(at.value.square(), at.value * at.slope * 2.0, at.length)

    monkeypatch.setattr(one_angle, "equation", flat)
    found = critical_directions(6)
    assert not len(found.lo) and found.undecided >= 4
    chart = sh.relu.symmetric_chart(6, [6])
    assert len(chart.points) == 4 and "boxes of directions" in chart.notes[0]


def test_a_shifted_equation_is_noticed(monkeypatch: Any) -> None:
    honest = one_angle.equation
    monkeypatch.setattr(one_angle, "equation", lambda k, angle: honest(k, angle + 0.1))
    with pytest.raises(sh.NotConverged):
        sh.relu.symmetric_chart(6, [6])
