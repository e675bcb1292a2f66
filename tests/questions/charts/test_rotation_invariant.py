"""Theorems 34 and 35: counts, losses, indices, kinds, degenerate families and certificates."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.questions.geometry.manifolds.focal_points import index_by_eigenvalues


def random_matrix(n, rng):
    A = rng.standard_normal((n, n))
    return A + A.T


DATA = {
    "frobenius": sh.Frobenius,
    "gaussian": sh.Gaussian,
    "sphere": sh.Sphere,
    "normal": sh.IID.normal,
    "scaled": lambda n: sh.Gaussian(n, 2.0 * np.eye(n)),
    "mixture": lambda n: sh.Mixture([0.5, 0.5], [sh.Gaussian(n), sh.Sphere(n)]),
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(("n", "width"), [(2, 1), (3, 2), (4, 2), (4, 6)])
def test_counts_losses_gradients_and_indices(name, n, width, rng):
    problem = sh.Problem(random_matrix(n, rng), DATA[name](n), width)
    chart = sh.chart(problem)
    top = min(n, width)
    assert chart.real_count == {r: comb(n, r) for r in range(top + 1)} == chart.expected_count
    assert chart.completeness == "proved" and chart.method == "closed-form"
    assert np.all(np.diff(chart.losses) >= 0)
    for point in chart.points:
        assert problem.loss(point.network) == pytest.approx(point.loss, rel=1e-9, abs=1e-12)
        assert np.linalg.norm(problem.gradient(point.network)) < 1e-9 * (1 + chart.losses[-1])
        np.testing.assert_allclose(point.network.tensor().entries, point.tensor.entries, atol=1e-10)
        if point.rank > 0:
            assert point.index == index_by_eigenvalues(problem, point)
            assert sum(point.signature) == point.rank * (2 * n - point.rank + 1) // 2


def test_equation_30_and_the_known_losses():
    """T = diag(3,2,1), Gaussian, rank 1: 2Σs² + 2(Σs)²/3 over the left-out eigenvalues."""
    chart = sh.chart(sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Gaussian(3), 1))
    expected = sorted(
        2 * (s @ s) + 2 * s.sum() ** 2 / 3 for s in map(np.array, combinations([3.0, 2.0, 1.0], 2))
    )
    np.testing.assert_allclose(chart.losses[:3], expected, rtol=1e-13)
    assert chart.minimum.tensor.to_matrix()[0, 0] == pytest.approx(3 + 3 / 3)
    assert [point.index for point in chart.points[:3]] == [0, 1, 2]


def test_coloured_gaussians_by_change_of_variable(rng):
    factor = rng.standard_normal((4, 4))
    data = sh.Gaussian(4, factor @ factor.T + np.eye(4))
    problem = sh.Problem(random_matrix(4, rng), data, 2)
    chart = sh.chart(problem)
    assert chart.real_count == {0: 1, 1: 4, 2: 6}
    for point in chart.points:
        assert problem.loss(point.network) == pytest.approx(point.loss, rel=1e-9)
        assert np.linalg.norm(problem.gradient(point.network)) < 1e-8 * (1 + chart.losses[-1])
        if point.rank:
            assert point.index == index_by_eigenvalues(problem, point)


def test_closed_form_and_homotopy_agree(rng):
    for data in (sh.Frobenius(3), sh.Gaussian(3)):
        problem = sh.Problem(random_matrix(3, rng), data, 2)
        closed, tracked = sh.chart(problem), sh.chart(problem, method="homotopy")
        np.testing.assert_allclose(closed.losses, tracked.losses, rtol=1e-9)
        np.testing.assert_array_equal(closed.points.table.signature, tracked.points.table.signature)
        assert closed.points.table.kind.tolist() == tracked.points.table.kind.tolist()


def test_repeated_eigenvalues_come_out_as_families():
    chart = sh.chart(sh.Problem(np.diag([2.0, 2.0, 1.0]), sh.Frobenius(3), 2))
    assert chart.real_count == {0: 1, 1: 1, 2: 1}
    assert [(f.rank, f.dimension, f.loss) for f in chart.families] == [(2, 1, 4.0), (1, 1, 5.0)]
    problem = chart.problem
    for family in chart.families:
        for sample in family.samples:
            gap = sample - problem.target_tensor()
            assert gap.norm(problem.data) ** 2 == pytest.approx(family.loss)
            np.testing.assert_allclose(gap.to_matrix() @ sample.to_matrix(), 0, atol=1e-12)


def test_an_eigenvalue_that_becomes_zero_is_no_point_of_that_rank():
    """T = diag(−1, 3), Gaussian: I = {−1} has c = 1, so S_I = 0 (errata of Theorem 35)."""
    chart = sh.chart(sh.Problem(np.diag([-1.0, 3.0]), sh.Gaussian(2), 1))
    assert chart.real_count == {0: 1, 1: 1}
    assert not chart.families and any("falls to lower rank" in note for note in chart.notes)


def test_kinds_with_trained_outer_weights():
    chart = sh.chart(sh.Problem(np.diag([3.0, 2.0, -1.0]), sh.Gaussian(3), 2))
    assert chart.kinds()["global minimum"] == 1
    for point in chart.points:
        if point.rank < 2:
            assert point.kind == "saddle" and point.escape is not None
            step = point.tensor + 1e-4 * point.escape
            gap = step - chart.problem.target_tensor()
            assert gap.norm(chart.problem.data) ** 2 < point.loss


def test_a_target_of_lower_rank_is_the_global_minimum():
    chart = sh.chart(sh.Problem(np.diag([3.0, 2.0, 0.0]), sh.Gaussian(3), 2))
    assert chart.minimum.kind == "global minimum" and chart.minimum.loss < 1e-12 and chart.minimum.rank == 2


def test_fixed_signs_list_only_what_they_can_realise():
    T = np.diag([3.0, 2.0, -1.0, -4.0])
    chart = sh.chart(sh.Problem(T, sh.Frobenius(4), 2, outer="ones"))
    assert all(np.linalg.eigvalsh(p.tensor.to_matrix())[0] > -1e-12 for p in chart.points)
    assert chart.real_count == {0: 1, 1: 2, 2: 1}
    assert chart.complex_count == {0: 1, 1: 4, 2: 6}
    assert chart.minimum.loss == pytest.approx(17) and chart.minimum.kind == "global minimum"
    both = sh.chart(sh.Problem(T, sh.Frobenius(4), 2, outer=[2.0, -0.5]))
    assert both.minimum.loss == pytest.approx(5)
    for chart_ in (chart, both):
        for point in chart_.points:
            assert np.linalg.norm(chart_.problem.gradient(point.network)) < 1e-9


def test_a_negative_teacher_and_positive_neurons_stop_at_zero():
    """With outer ones and T < 0 the zero network is the global minimum, of rank below the width."""
    chart = sh.chart(sh.Problem(-np.eye(3) - np.diag([0.0, 1.0, 2.0]), sh.Gaussian(3), 2, outer="ones"))
    assert chart.minimum.rank == 0 and chart.minimum.kind == "global minimum"


@given(st.integers(0, 10_000))
def test_certificates_hold_in_high_precision(seed):
    """The radius covers the distance to the critical point computed with 50 digits."""
    import mpmath

    rng = np.random.default_rng(seed)
    T = random_matrix(3, rng)
    chart = sh.chart(sh.Problem(T, sh.Gaussian(3), 1))
    with mpmath.workdps(50):
        values, vectors = mpmath.eigsy(mpmath.matrix(T.tolist()))
        for point in chart.points:
            assert point.certificate is not None
            if point.rank == 0:
                continue
            distances = []
            for i in range(3):
                c = (sum(values) - values[i]) / 3
                u = vectors[:, i]
                exact = (values[i] + c) * (u * u.T)
                gap = [abs(exact[a, b] - point.tensor.to_matrix()[a, b]) for a in range(3) for b in range(3)]
                distances.append(max(gap))
            assert float(min(distances)) <= point.certificate.radius


@given(st.integers(0, 10_000))
def test_certificates_of_coloured_gaussians_hold_in_high_precision(seed):
    """N(0, Σ) with 50 digits: whiten by Cholesky, Theorem 35, colour again; the radius covers the distance."""
    import mpmath

    rng = np.random.default_rng(seed)
    T, F = random_matrix(3, rng), rng.standard_normal((3, 3))
    covariance = F @ F.T + np.eye(3) / 4
    chart = sh.chart(sh.Problem(T, sh.Gaussian(3, (covariance + covariance.T) / 2), 1))
    with mpmath.workdps(50):
        L = mpmath.cholesky(mpmath.matrix(chart.problem.data.covariance.tolist()))
        values, vectors = mpmath.eigsy(L.T * mpmath.matrix(T.tolist()) * L)
        back = (L.T) ** -1
        for point in chart.points:
            assert point.certificate is not None and point.certificate.signature_certified
            if point.rank == 0:
                continue
            distances = []
            for i in range(3):
                u = back * vectors[:, i]
                exact = (values[i] + (sum(values) - values[i]) / 3) * (u * u.T)
                mine = point.tensor.to_matrix()
                distances.append(max(abs(exact[a, b] - mine[a, b]) for a in range(3) for b in range(3)))
            assert float(min(distances)) <= point.certificate.radius < 1e-8


def test_certificates_are_given_and_a_nearly_repeated_eigenvalue_has_none():
    chart = sh.chart(sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Gaussian(3), 2))
    assert all(p.certificate is not None and p.certificate.signature_certified for p in chart.points)
    near = np.array([[2.0, 1e-15], [1e-15, 2.0 + 4e-10]])
    points = sh.chart(sh.Problem(near, sh.Frobenius(2), 1)).points
    assert len(points) == 3  # two close points, not one
    assert all(
        p.certificate is None for p in sh.chart(sh.Problem(near, sh.Frobenius(2), 1), certify=False).points
    )


def test_points_are_made_lazily(monkeypatch, rng):
    chart = sh.chart(sh.Problem(random_matrix(20, rng), sh.Gaussian(20), 3))
    assert len(chart.points) == 1351
    from shallows.questions.charts.closed_form.rotation_invariant import SpectralMaker

    def refuse(self, i):
        raise AssertionError("a matrix was made")

    monkeypatch.setattr(SpectralMaker, "tensor", refuse)
    assert chart.count("global minimum") == 1 and len(chart.losses) == 1351
    with pytest.raises(AssertionError, match="a matrix was made"):
        chart.points[0].tensor


def test_parameter_space_signature_is_explained_by_the_fiber():
    """At rank = width the Hessian's kernel is the fiber: k for scalings and r(r−1)/2 for O(p,q)."""
    problem = sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Gaussian(3), 2)
    for point in sh.chart(problem).points:
        signature = point.parameter_signature
        assert signature.positive + signature.zero + signature.negative == problem.size
        if point.rank == 2:
            assert signature.fiber == signature.zero == 3 and signature.unexplained == 0
            assert (signature.positive, signature.negative) == (point.signature[0], point.signature[2])


def test_too_many_points_are_refused_with_the_count():
    with pytest.raises(sh.InvalidProblem, match="critical points of rank up to 20"):
        sh.chart(sh.Problem(np.diag(np.arange(1.0, 41.0)), sh.Frobenius(40), 20))
