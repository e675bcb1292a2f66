"""Symmetric, repeated, zero and coinciding targets under Gaussian data: every critical quadric is on a proved chart."""

from fractions import Fraction
from itertools import combinations

import flint
import numpy as np
import pytest
from tests.questions.charts.quadratics.critical_quadrics import Quadrics

import shallows as sh
from shallows.questions.charts.closed_form import axial_blind, axial_crossings
from shallows.questions.charts.closed_form.axial_sums import SetSums, are_zero

#: Losses from random starts are known to the square of their slopes, and flat places to less.
SAME = 1e-6
#: Listed points are known to ten digits of the target, and their slopes are linear in them.
SLOPE = 1e-9
#: name: (activation, bias, what is known of the constant)
KINDS = {
    "z+z²": (sh.Polynomial([0.0, 1.0, 1.0]), False, "none"),
    "z+z² with bias": (sh.Polynomial([0.0, 1.0, 1.0]), True, "free"),
    "z² with bias": (sh.Power(2), True, "seen"),
}


def quadric(diagonal, linear, constant=0.0, scale=1.0):
    T = np.diag([constant, *map(float, diagonal)])
    for place, value in linear.items():
        T[0, place] = T[place, 0] = value
    return scale * T


#: name: (target, width)
TARGETS = {
    "two alike, a slope along the third": (quadric([1, 1, 3], {3: 1.0}), 2),
    "two alike, a slope along one of them": (quadric([1, 1, 3], {1: 1.0}), 2),
    "two alike, a slope along the first": (quadric([1, 2, 2], {1: 0.5}), 2),
    "all alike": (quadric([1, 1, 1], {1: 1.0}), 2),
    "all alike, a constant": (quadric([1, 1, 1], {3: 1.0}, 1.0), 2),
    "two alike, in two inputs": (quadric([1, 1], {2: 1.0}), 1),
    "a zero block": (quadric([0, 0, 1], {3: 1.0}), 2),
    "a zero block with a slope": (quadric([0, 1, 1], {1: 1.0}), 2),
    "a slope alone": (quadric([0, 0], {2: 1.0}), 1),
    "a slope alone, in three inputs": (quadric([0, 0, 0], {3: 1.0}), 2),
    "a zero beside a slope": (quadric([0, 1], {1: 1.0}), 1),
    "a coincidence with the axis": (quadric([0, 1, 1], {1: 1.0}, 1.0), 2),
    "three different": (quadric([1, 2, 3], {3: 1.0}), 2),
    "opposite signs": (quadric([-1, 1, 1], {3: 1.0}, 1.0), 2),
    "traceless": (quadric([1, -1], {1: 1.0, 2: 1.0}), 1),
    "tenths": (quadric([0.1, 0.1, 0.3], {3: 0.1}), 2),
    "tiny": (quadric([1, 1, 3], {3: 1.0}, scale=1e-6), 2),
    "huge": (quadric([1, 1, 3], {3: 1.0}, scale=1e6), 2),
}
#: A zero at infinity is threefold.
OPEN = {("z+z² with bias", "traceless")}
QUICK = {
    ("z+z²", "two alike, a slope along the third"),
    ("z+z²", "two alike, in two inputs"),
    ("z+z²", "a slope alone"),
    ("z+z²", "a zero beside a slope"),
    ("z+z²", "traceless"),
    ("z+z² with bias", "two alike, in two inputs"),
    ("z² with bias", "a zero beside a slope"),
    ("z² with bias", "opposite signs"),
}


def case(kind, name):
    marks = [] if (kind, name) in QUICK else pytest.mark.thorough
    return pytest.param(kind, name, marks=marks, id=f"{kind}, {name}")


def unlisted(chart, quadrics, starts, seed=0):
    """Losses of critical quadrics, or networks where constants are one-sided, that the chart does not list."""
    rng, width = np.random.default_rng(seed), chart.problem.width
    if quadrics.constant == "free":
        found = list(quadrics.networks(width, 2 * starts, rng))
    else:
        found = [loss for rank in range(1, width + 1) for loss in quadrics.critical(rank, starts, rng)]
    return [x for x in found if np.abs(chart.losses - x).min() > SAME * quadrics.unit**2]


@pytest.mark.parametrize(("kind", "name"), [case(kind, name) for kind in KINDS for name in TARGETS])
def test_every_critical_quadric_is_on_a_proved_chart(kind, name):
    (activation, bias, constant), (T, width) = KINDS[kind], TARGETS[name]
    width += kind == "z+z² with bias" and width == 1  # one neuron has a chart of another kind
    problem = sh.Problem(T, sh.Gaussian(len(T) - 1), width, activation, bias=bias)
    chart = sh.chart(problem, certify=(kind, name) not in QUICK)
    quadrics = Quadrics(T, constant)
    assert (chart.completeness == "proved") is ((kind, name) not in OPEN)
    assert not unlisted(chart, quadrics, 8 if (kind, name) in QUICK else 40)
    for point in chart.critical:
        whole = Quadrics(T, "seen" if bias else "none")
        assert whole.loss(point.tensor.to_matrix()) == pytest.approx(point.loss, abs=SAME * whole.unit**2)
        if not (point.limit and bias):  # their constants are at the edge of what networks have
            for sample in getattr(point, "samples", [point.tensor]):
                assert quadrics.residual(sample.to_matrix()) < SLOPE


@pytest.mark.parametrize(
    ("module", "name"), [(axial_blind, "traceless"), (axial_crossings, "a zero beside a slope")]
)
def test_what_is_left_open_is_not_called_proved(monkeypatch, module, name):
    """Zeros at infinity, and shares of a crossing, that are not decided: homotopy charts those ranks."""
    T, width = TARGETS[name]
    problem = sh.Problem(T, sh.Gaussian(len(T) - 1), width, KINDS["z+z²"][0])
    assert sh.chart(problem, certify=False).completeness == "proved"
    monkeypatch.setattr(module, "are_zero", lambda _, open_: np.zeros(len(open_), bool))
    assert sh.chart(problem, certify=False).method == "homotopy"


@pytest.mark.parametrize("size", range(6))
def test_sums_over_sets_are_zero_for_as_many_sets_as_there_are(size):
    """Against all sums of the roots of (x² − 2)(x² − 3)(x − 1), and of their squares, in doubles."""
    roots = [-(3**0.5), -(2**0.5), 1.0, 2**0.5, 3**0.5]
    polynomial = flint.fmpq_poly([-2, 0, 1]) * flint.fmpq_poly([-3, 0, 1]) * flint.fmpq_poly([-1, 1])
    sums = SetSums.of(polynomial, (flint.fmpq_poly([0, 1]), flint.fmpq_poly([1])), size)
    for made, values in ((sums.mu, roots), (sums.both, [x * x for x in roots])):
        over = np.array([sum(chosen) for chosen in combinations(values, size)])
        for level in range(-5, 13):
            zero = np.isclose(over, level)
            found = are_zero([made - sums.number(Fraction(level))], zero)
            np.testing.assert_array_equal(found, zero)
            more = zero.copy()
            more[np.flatnonzero(~zero)[:1]] = True  # balls that leave one more open: none of them is decided
            assert np.array_equal(more, zero) or not np.any(
                are_zero([made - sums.number(Fraction(level))], more)
            )
