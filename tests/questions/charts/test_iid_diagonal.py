"""Theorem 36 in closed form: all points real, negated teachers, beyond the sufficient condition."""

from fractions import Fraction

import numpy as np
import pytest

import shallows as sh
from shallows.questions.geometry.manifolds.focal_points import index_by_eigenvalues


def heavy(n, t=None, mu4=None):
    t = np.linspace(1.0, 2.0, n) if t is None else np.asarray(t)
    return sh.Problem(np.diag(t), sh.IID(n, [1, 0, 1, 0, 10 * n if mu4 is None else mu4]), 1)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_all_points_are_real(n, sign):
    chart = sh.chart(heavy(n, sign * np.linspace(1.0, 2.0, n)), certify=False)
    assert chart.real_count[1] == (3**n - 1) // 2 == chart.complex_count[1] == chart.expected_count[1]
    assert chart.completeness == "proved"


@pytest.mark.thorough
@pytest.mark.parametrize("n", [7, 8])
def test_all_points_are_real_large(n):
    assert sh.chart(heavy(n), certify=False).real_count[1] == (3**n - 1) // 2


@pytest.mark.parametrize("t", [[2.0, 1.5, 1.0], [-2.0, -1.5, -1.0], [2.0, -0.3, 1.0], [1.0, 1.0, 2.0]])
@pytest.mark.parametrize("mu4", [30.0, 4.0, 1.5, 1.0001])
def test_points_are_critical_and_agree_with_homotopy(t, mu4):
    problem = heavy(3, t, mu4)
    closed = sh.chart(problem)
    for point in closed.points:
        assert np.linalg.norm(problem.gradient(point.network)) < 1e-9 * (1 + closed.losses[-1])
        assert problem.loss(point.network) == pytest.approx(point.loss, rel=1e-9)
        if point.rank:
            assert point.index == index_by_eigenvalues(problem, point)
    tracked = sh.chart(problem, method="homotopy")
    assert tracked.real_count == closed.real_count
    np.testing.assert_allclose(tracked.losses, closed.losses, rtol=1e-8)
    np.testing.assert_array_equal(tracked.points.table.signature, closed.points.table.signature)


def test_heavy_tails_against_gaussian_data():
    """The same student and teacher: 3 critical points of rank one against 13."""
    T = np.diag([2.0, 1.5, 1.0])
    assert sh.chart(sh.Problem(T, sh.Gaussian(3), 1)).real_count[1] == 3
    assert sh.chart(heavy(3, [2.0, 1.5, 1.0])).real_count[1] == 13


def test_certificates_prove_the_signatures():
    chart = sh.chart(heavy(3))
    assert all(point.certificate.signature_certified for point in chart.points)


def test_gaussian_kurtosis_is_the_gaussian_closed_form():
    chart = sh.chart(heavy(3, mu4=3.0))
    assert chart.real_count[1] == 3 and "Theorem 35" in chart.expected_source[1]


def test_a_vanishing_coordinate_is_reported_as_degenerate():
    """μ4 = 30: γ = 29/27, and β + γ t₁ = 0 on the support {1, 2} exactly when t₁/t₂ = 20/299, by hand."""
    chart = sh.chart(heavy(2, [20.0, 299.0], 30.0))
    assert any("smaller support" in note for note in chart.notes) and not chart.families


@pytest.mark.parametrize("above", [1e-3, 1e-7, -1e-7, 1e-12, 2.0**-51, -(2.0**-51)])
def test_near_gaussian_moments_certificates_hold_in_exact_arithmetic(above):
    """Where β and γ t_i cancel: the gradient vanishes within the certificate, at rationals, and kinds are right."""
    mu4 = 3.0 + above
    target = (2.0, 1.5)
    chart = sh.chart(sh.Problem(np.diag(target), sh.IID(2, [1, 0, 1, 0, mu4]), width=1))
    assert chart.completeness == "proved" and chart.minimum.kind == "global minimum"
    assert chart.minimum.loss == pytest.approx(6.0, rel=2 * abs(above) + 1e-9)  # Theorem 35's, at μ4 = 3
    for point in chart.points:
        if not point.rank:
            continue
        # ε v_i² of the exact point: on one coordinate i, ε v_i² = (μ4 t_i + t_j)/μ4, by hand
        i = int(np.argmax(np.abs(point.network.W[0])))
        exact = (Fraction(mu4) * Fraction(target[i]) + Fraction(target[1 - i])) / Fraction(mu4)
        if np.count_nonzero(point.network.W[0]) == 1:
            seen = Fraction(float(point.tensor.to_matrix()[i, i]))
            assert abs(seen - exact) <= Fraction(point.certificate.radius)
