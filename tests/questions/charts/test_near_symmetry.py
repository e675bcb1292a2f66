"""Symmetries that hold nearly: no families are claimed; close points are told apart, or said to be missing."""

from fractions import Fraction

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.shared_symmetry import SharedSymmetry

MOVED = sh.Gaussian(3, mean=(0.0, 0.0, -1.0))


def gradient_on_axis(t, a):
    """∂/∂a of E(a x₁² − Σ tᵢ xᵢ²)², x₁ and x₂ standard normal, x₃ of mean −1: by hand, in fractions."""
    # E x₁⁴ = 3, E x₁² x₂² = 1, E x₁² x₃² = 2; on the axis all other derivatives vanish by reflections
    return 2 * (3 * a - 3 * t[0] - t[1] - 2 * t[2])


@pytest.mark.parametrize("gap", [1e-9, 1e-10, 1e-12])
@pytest.mark.parametrize("third", [3.0, -1.0])
def test_a_circle_that_is_broken_slightly_has_two_points(gap, third):
    target = np.diag([1.0, 1.0 + gap, third])
    chart = sh.chart(sh.Problem(target, MOVED, width=1))
    assert chart.completeness == "proved"
    assert not chart.families
    assert chart.complex_count[1] == 7
    t = [Fraction(x) for x in np.diag(target)]
    for axis, other in ((0, 1), (1, 0)):
        a = (3 * t[axis] + t[other] + 2 * t[2]) / 3
        assert gradient_on_axis([t[axis], t[other], t[2]], a) == 0
        expected = float(a) * np.eye(3)[axis][:, None] * np.eye(3)[axis]
        close = [p for p in chart.points if np.allclose(p.tensor.to_matrix(), expected, rtol=0, atol=1e-10)]
        assert len(close) == 1, axis
        assert close[0].certificate is not None


def test_an_exact_circle_stays_a_family():
    chart = sh.chart(sh.Problem(np.diag([1.0, 1.0, 3.0]), MOVED, width=1))
    assert [f.dimension for f in chart.families] == [1]
    assert chart.families[0].certificate is not None


@pytest.mark.parametrize(
    ("target", "data", "width"),
    [
        (np.diag([1.0, 1.0 + 1e-10, 1.0 + 3e-10]), sh.Metric(3, 2, sh.Gaussian(3).gram(2)), 1),
        (np.diag([2.0, 2.0, 2.0 + 1e-10]), sh.Metric(3, 2, sh.Gaussian(3).gram(2)), 1),
        (np.diag([1.0, 1.0 + 1e-9, 3.0]), MOVED, 2),
    ],
    ids=["a sphere", "a sphere with a circle", "width two"],
)
def test_what_is_not_told_apart_is_said(target, data, width):
    chart = sh.chart(sh.Problem(target, data, width=width), method="homotopy")
    assert chart.completeness == "sampled"
    assert any("nearly" in note for note in chart.notes)
    for family in chart.families:
        assert family.certificate is not None


def test_a_closed_form_tells_them_apart():
    chart = sh.chart(sh.Problem(np.diag([1.0, 1.0 + 1e-9, 3.0]), MOVED, width=2))
    assert chart.completeness == "proved" and not chart.families


def test_which_symmetries_are_shared():
    shared = SharedSymmetry.of(sh.Problem(np.diag([1.0, 1.0 + 1e-11, 3.0]), MOVED, width=1))
    assert shared.own.dimension == 0
    assert shared.nearly is not None
    assert shared.nearly.dimension == 1
    exact = SharedSymmetry.of(sh.Problem(np.diag([1.0, 1.0, 3.0]), MOVED, width=1))
    assert (exact.own.dimension, exact.nearly) == (1, None)


def test_a_minimum_slightly_above_another_is_local():
    """Losses 8.8666666667 and 8.8666666844, both proved: by hand, the smaller of two diagonal entries is dropped."""
    chart = sh.chart(
        sh.Problem(np.diag([1.0, 1.0 + 1e-9, 3.0]), sh.IID(3, [1.0, 0.0, 2.0, 0.0, 11.0]), width=2)
    )
    low, high = (p for p in chart.points if not p.index and p.kind != "saddle")
    assert (low.kind, high.kind) == ("global minimum", "local minimum")
    assert low.tensor.to_matrix()[0, 0] == pytest.approx(0.0, abs=1e-12)
    assert 1e-8 < high.loss - low.loss < 3e-8
