"""Escapes by an idle neuron: the extreme values of ℓ′(u^⊗d), on the circle by roots, else by descents."""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.chart_of_points import chart_of_points
from shallows.questions.charts.points.first_order import _circle, slope_range
from shallows.questions.charts.points.stratum import Counts, RealPoint


def _problem(n: int, degree: int = 4) -> sh.Problem:
    target = sh.SymmetricTensor(np.ones(coordinates.dimension(n, degree)), n, degree)
    return sh.Problem(target, sh.Frobenius(n), width=2, outer=[1.0, 1.0])


def _zero(n: int) -> RealPoint:
    return RealPoint(np.zeros((0, n)), np.zeros(0), (0, 0, 0))


def test_a_narrow_escape_is_a_saddle() -> None:
    """Found by the oracle: slope −3.6e-7 between 256 directions that all go up."""
    entries = [
        -17.210012833355865,
        -7.073624928918389,
        -2.739634511850276,
        -1.4651345685254074,
        0.26104899432297796,
    ]
    problem = sh.Problem(sh.SymmetricTensor(entries, 2, 4), sh.Frobenius(2), width=2, outer=[1.0, 1.0])
    chart = sh.chart(problem)
    point = next(p for p in chart.critical if p.rank == 1 and abs(p.loss - 549.0174) < 1e-3)
    assert point.kind == "saddle"
    assert point.escape is not None
    slope = 2 * (point.tensor.entries - problem.target_tensor().entries) @ problem.gram()
    assert point.escape.entries @ slope < 0
    assert chart.minimum.loss < point.loss


@pytest.mark.parametrize("width", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 2, 2.0])
def test_forms_on_the_circle_are_minimised_to_rounding(width: float, angle: float) -> None:
    """f = (l² − width² m²) l² + …: negative only in a cone of that width."""
    c, s = np.cos(angle), np.sin(angle)
    line = np.poly1d([s, -c])  # in y/x, zero at (s, c)… any rotation will do
    other = np.poly1d([c, s])
    form = (line**2 - width**2 * other**2) * (line**2 + other**2)
    slope = np.zeros(5)
    slope[: len(form.coeffs)] = form.coeffs[::-1]
    low, high = slope_range(_problem(2), _zero(2), slope, (True, False), 1e-14)
    assert low == pytest.approx(-(width**2), rel=1e-4, abs=1e-15)
    assert high == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("depth", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("seed", range(4))
def test_narrow_cones_are_found_in_three_inputs(depth: float, seed: int) -> None:
    """f = sin²∠(u, q) − depth on the sphere: negative only close to q; what is negative already proves a saddle."""
    rng = np.random.default_rng(seed)
    q = rng.standard_normal(3)
    q /= np.linalg.norm(q)
    u = rng.standard_normal((200, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    slope = np.linalg.lstsq(coordinates.monomials(u, 4), 1 - (u @ q) ** 2 - depth, rcond=None)[0]
    low, _ = slope_range(_problem(3), _zero(3), slope, (True, False), 1e-13)
    assert -depth * (1 + 1e-6) <= low < -depth / 100


def test_a_splitting_neuron_is_judged_by_the_second_derivative() -> None:
    """f = x²y²·c vanishes at the own neuron e₁ to second order: c decides."""
    own = RealPoint(np.array([[1.0, 0.0]]), np.array([1.0]), (2, 0, 0))
    for c in (1.0, -1e-7):
        slope = np.array([0.0, 0.0, c, 0.0, 1.0])
        low, _ = slope_range(_problem(2), own, slope, (True, False), 1e-12)
        assert low == pytest.approx(c / 6, rel=1e-6)
    low, _ = slope_range(_problem(2), own, np.array([0.0, 0.0, 0.0, 0.0, 1.0]), (True, False), 1e-12)
    assert abs(low) <= 1e-12  # flat along the split: left open


def test_a_vanishing_form_has_no_slopes() -> None:
    for n in (2, 3):
        assert slope_range(
            _problem(n), _zero(n), np.zeros(coordinates.dimension(n, 4)), (True, False), 0.0
        ) == (
            0.0,
            0.0,
        )


def test_kinds_that_rest_on_descents_say_so() -> None:
    """t = x⁴ + 2y⁴ + 3z⁴ + x²y² + y²z² + x²z², one positive neuron at an axis, a negative one idle: t(u) − t(e)⟨u, e⟩⁴
    is positive off e, so no negative addition helps: local minima, by descents over the sphere in three inputs."""
    target = sh.SymmetricTensor.from_polynomial("x1^4 + 2*x2^4 + 3*x3^4 + x1^2*x2^2 + x2^2*x3^2 + x1^2*x3^2")
    axes = [RealPoint(np.sqrt(np.sqrt(i + 1)) * np.eye(3)[[i]], np.ones(1), (3, 0, 0)) for i in range(3)]
    counts = {1: Counts(None, None, "")}
    for outer, resting in (([1.0, -1.0], 2), ([1.0, 1.0], 0), ([1.0], 0)):
        problem = sh.Problem(target, sh.Frobenius(3), len(outer), outer=outer)
        chart = chart_of_points(problem, axes, counts, completeness="count-matched", method="by hand")
        assert [p.kind for p in chart.critical][1:] == [
            "local minimum" if outer != [1.0, 1.0] else "saddle"
        ] * 2
        notes = [note for note in chart.notes if "numerical minimisation" in note]
        assert [note.split()[0] for note in notes] == ([str(resting)] if resting else [])


def test_a_direction_that_is_vertical_but_for_rounding_overflows_nothing():
    """y³ and 1e-200 of xy² beside it: x ∂f/∂y − y ∂f/∂x has a root y/x of size 1e200."""
    form = np.array([0.0, 0.0, 1e-200, 1.0])
    u = _circle(form, 3)
    np.testing.assert_allclose(np.linalg.norm(u, axis=1), 1.0)
    assert np.abs(u @ [0.0, 1.0]).max() == 1.0
