"""Theorem 36 in closed form: all points real, negated teachers, beyond the sufficient condition."""

import numpy as np
import pytest

import shallows as sh
from shallows.questions.geometry.manifolds.focal import index_by_eigenvalues


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
    """Choose t so that β + γ t_1 = 0 on the support {1, 2}."""
    mu4, n = 30.0, 2
    gamma = (mu4 - 1) / (mu4 - 3)
    # β = (s − 3γ s)/(mu4 + 3), s = t1 + t2; β + γ t1 = 0
    k = (1 - 3 * gamma) / (mu4 + 3)
    t2 = 1.0
    t1 = -k * t2 / (k + gamma)
    chart = sh.chart(heavy(n, [t1, t2], mu4))
    assert any("smaller support" in note for note in chart.notes) and not chart.families
