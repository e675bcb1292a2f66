"""msolve against homotopy and closed forms, point by point."""

import numpy as np
import pytest

import shallows as sh


def same(first, second):
    np.testing.assert_allclose(first.losses, second.losses, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(first.points.table.signature, second.points.table.signature)
    assert first.points.table.kind.tolist() == second.points.table.kind.tolist()
    assert all(p.certificate.signature_certified for p in first.points)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("n", "degree"), [(2, 2), (3, 2), (2, 3), (2, 4)])
def test_exact_and_homotopy_agree(generic, n, degree, seed):
    problem = generic(n, 1, seed, degree)
    exact, tracked = (sh.chart(problem, method=method) for method in ("exact", "homotopy"))
    same(exact, tracked)
    assert exact.completeness == "count-matched" and exact.method == "exact"
    assert exact.complex_count == tracked.complex_count
    assert exact.complex_count[1] == ((2 * degree - 1) ** n - (degree - 1) ** n) // degree


@pytest.mark.thorough
def test_exact_and_homotopy_agree_on_larger_problems(generic):
    for n, degree in [(4, 2), (3, 3)]:
        problem = generic(n, 1, 0, degree)
        same(sh.chart(problem, method="exact"), sh.chart(problem, method="homotopy"))


@pytest.mark.parametrize(
    "data",
    [
        sh.Frobenius(3),
        sh.Gaussian(3),
        sh.IID(3, [1, 0, 1, 0, 30]),
        sh.IID(2, [1, 0, 1, 0, 1.5]),
        sh.Sphere(2),
    ],
)
def test_exact_and_closed_forms_agree(data):
    T = np.diag([2.0, 1.5, -1.0][: data.n])
    problem = sh.Problem(T, data, 1)
    exact, closed = (sh.chart(problem, method=method) for method in ("exact", "closed-form"))
    same(exact, closed)
    assert exact.complex_count == closed.complex_count


def test_wide_binary_quadratics(generic):
    problem = generic(2, 3, 1)
    same(sh.chart(problem, method="exact"), sh.chart(problem, method="homotopy"))


@pytest.mark.parametrize("seed", [0, 1])
def test_rank_two_of_3x3(generic, seed):
    problem = generic(3, 3, seed)
    exact = sh.chart(problem, method="exact", rng=seed)
    assert exact.complex_count[2] == 13 and exact.completeness == "count-matched"
    same(exact, sh.chart(problem, method="homotopy"))


@pytest.mark.parametrize("data", [sh.Frobenius(3), sh.Gaussian(3)])
def test_rank_two_closed_forms(data):
    problem = sh.Problem(np.array([[2.0, 0.5, 0.0], [0.5, -1.0, 0.25], [0.0, 0.25, 3.0]]), data, 2)
    exact = sh.chart(problem, method="exact")
    assert exact.complex_count[2] == 3 and exact.completeness == "count-matched"
    same(exact, sh.chart(problem, method="closed-form"))


def small(degree, seed):
    """A metric and a teacher of small whole numbers, in two variables: msolve is quick then."""
    rng = np.random.default_rng([seed, degree])
    A = rng.integers(-2, 3, (degree + 1, degree + 1)).astype(float)
    target = sh.SymmetricTensor(rng.integers(-4, 5, degree + 1).astype(float), 2, degree)
    return target, sh.Metric(2, degree, A @ A.T + np.eye(degree + 1))


@pytest.mark.parametrize("seed", [0, 1])
def test_sums_of_two_quartic_powers_by_apolarity(seed):
    """13 complex points, by an engine that shares nothing with monodromy and the trace test."""
    target, metric = small(4, seed)
    problem = sh.Problem(target, metric, 2)
    exact = sh.chart(problem, method="exact")
    assert exact.complex_count[2] == 13 and exact.completeness == "count-matched"
    same(exact, sh.chart(problem, method="homotopy"))
    assert all(point.certificate.rank_certified for point in exact.points)


@pytest.mark.parametrize("data", [sh.Frobenius(2), sh.IID.laplace(2)], ids=repr)
def test_mirror_images_are_told_apart(data):
    """x³ + y³: mirror images have a coordinate in common, and the multiple root 0 hides that from msolve."""
    problem = sh.Problem(sh.SymmetricTensor([1.0, 0.0, 0.0, 1.0], 2, 3), data, 1)
    exact, tracked = (sh.chart(problem, method=method) for method in ("exact", "homotopy"))
    np.testing.assert_allclose(exact.losses, tracked.losses, rtol=1e-8)
    assert exact.complex_count == tracked.complex_count and exact.completeness == "count-matched"


def test_three_points_that_met():
    """x³ + y³, Gaussian: with w = cos θ + sin θ the loss is a function of 18w − 3w³, whose slope vanishes at w = √2,
    where dw/dθ does too: all three points have met at (1, 1), which is no family, and no chart is sure of it."""
    problem = sh.Problem(sh.SymmetricTensor([1.0, 0.0, 0.0, 1.0], 2, 3), sh.Gaussian(2), 1)
    for method in ("exact", "homotopy"):
        chart = sh.chart(problem, method=method)
        assert not chart.families and chart.completeness != "proved"
        np.testing.assert_allclose(chart.losses, [10.8, 30.0], rtol=1e-6)
        # a complete list of a closed set of functions has its global minimum at the lowest loss, degenerate or not
        kind = "degenerate" if chart.completeness == "sampled" else "global minimum"
        assert chart.minimum.kind == kind and any("met" in note for note in chart.notes)
        w = np.diff(chart.minimum.network.W[0])
        assert abs(w).max() < 1e-3
    assert sh.chart(problem, method="exact").completeness == "sampled"


@pytest.mark.parametrize("frobenius", [True, False])
def test_binary_cubics_of_rank_two_are_the_target_or_nothing(frobenius):
    """x³ + y³ has two real cubes; x³ − 3xy² = Re (x+iy)³ has a conjugate pair instead (paper 000, Example 2)."""
    metric = sh.Frobenius(2) if frobenius else small(3, 0)[1]
    for entries, real in [([1.0, 0.0, 0.0, 1.0], 1), ([1.0, 0.0, -1.0, 0.0], 0)]:
        chart = sh.chart(sh.Problem(sh.SymmetricTensor(entries, 2, 3), metric, 2), method="exact")
        assert (
            chart.complex_count[2] == 1
            and chart.real_count[2] == real
            and chart.completeness == "count-matched"
        )
        assert any("conjugate pairs" in note for note in chart.notes) == (not real)
        if real:
            assert chart.minimum.rank == 2 and chart.minimum.loss < 1e-12


@pytest.mark.thorough
def test_sums_of_quintic_powers_by_apolarity():
    target, metric = small(5, 0)
    problem = sh.Problem(target, metric, 3)
    exact = sh.chart(problem, method="exact")
    assert exact.complex_count == {0: 1, 1: 13, 2: 34, 3: 1}
    charts = exact, sh.chart(problem, method="homotopy")  # limits of three neurons go by homotopy only
    first, second = ([p.loss for p in chart.critical if not p.limit] for chart in charts)
    np.testing.assert_allclose(first, second, rtol=1e-8, atol=1e-10)


def test_moments_in_a_frame_give_the_entries(rng):
    from shallows.questions.charts.exact.binary import moment_change

    frame, z, a = np.array([[2.0, -1.0], [1.0, 1.0]]), rng.standard_normal(3), rng.standard_normal(3)
    neurons = np.stack([np.ones(3), z], axis=1) @ frame.T
    tensor = sh.SymmetricTensor.from_powers(neurons, a, 5)
    moments = np.vander(z, 6, increasing=True).T @ a
    np.testing.assert_allclose(np.array(moment_change(frame, 5)) @ moments, tensor.entries, rtol=1e-10)


def test_what_msolve_cannot_reach_is_refused_with_the_reason(generic):
    with pytest.raises(sh.InvalidProblem, match="parallel neurons"):
        sh.chart(generic(3, 2, 0, 3), method="exact")
    with pytest.raises(sh.InvalidProblem, match="not isolated"):
        sh.chart(sh.Problem(np.eye(2), sh.Frobenius(2), 1), method="exact")


@pytest.mark.parametrize(
    ("coefficients", "target", "bias"),
    [
        ((1.0, 1.0, 1.0), [[-4.0]], False),
        ((0.0, 1.0, 1.0), [[4.0, -1.0], [-1.0, 4.0]], False),
        ((0.0, 1.0, 0.0, 1.0), None, True),
    ],
)
def test_neurons_at_zero_with_a_slope_are_listed(coefficients, target, bias):
    """Even targets have such critical neurons: msolve found them, and they were taken for constants and dropped."""
    activation, n = sh.Polynomial(list(coefficients)), 1 if target is None else len(target)
    given = sh.Network([[1.0]], [1.0], sh.Power(2)) if target is None else np.array(target)
    problem = sh.Problem(given, sh.Gaussian(n), 1, activation, outer=[2.0], bias=bias)
    exact, other = sh.chart(problem, method="exact"), sh.chart(problem)
    np.testing.assert_allclose(exact.losses, other.losses, rtol=1e-9)
    assert exact.kinds() == other.kinds() and any(np.abs(p.network.W).max() < 1e-12 for p in exact.critical)
