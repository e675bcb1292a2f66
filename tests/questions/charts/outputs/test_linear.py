"""Linear networks: the closed form against singular value decompositions and brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import shallows as sh


def problem_of(T, width, data=None, **options) -> sh.Problem:
    T = np.atleast_2d(T)
    return sh.Problem(
        sh.Network(np.eye(T.shape[1]), T, sh.Power(1)), data or sh.Gaussian(T.shape[1]), width, **options
    )


def expected_losses(T, C, width):
    """Σ of the squares that are left out, by an SVD of TC^½ with a Cholesky root."""
    values = np.linalg.svd(T @ np.linalg.cholesky(C), compute_uv=False)
    values = values[values > 1e-12 * values[0]]
    ranks = range(min(width, len(values)) + 1)
    return np.sort(
        [
            np.sum(np.delete(values, kept) ** 2)
            for r in ranks
            for kept in map(list, combinations(range(len(values)), r))
        ]
    )


@pytest.mark.parametrize(
    ("M", "n", "width"), [(2, 3, 1), (2, 3, 2), (3, 2, 4), (3, 3, 2), (4, 4, 3), (1, 3, 1), (2, 1, 1)]
)
def test_losses_are_those_of_singular_values(M, n, width):
    rng = np.random.default_rng([M, n, width])
    T, X = rng.standard_normal((M, n)), rng.standard_normal((20, n))
    problem = problem_of(T, width, sh.Samples(X))
    chart = sh.chart(problem)
    np.testing.assert_allclose(chart.losses, expected_losses(T, X.T @ X / 20, width), atol=1e-10)
    assert chart.completeness == "proved" and chart.method == "closed-form"
    assert chart.count("local minimum") == 0 and chart.count("global minimum") == 1
    for point in chart.points:
        assert np.abs(problem.gradient(point.network)).max() < 1e-10
        assert point.certificate is not None and point.certificate.radius < 1e-9
    runs = sh.ensemble(problem, runs=30, method="lm", rng=0)
    assert not len(runs.match(chart).unmatched)


def test_signatures_are_those_of_the_hessian_in_parameters():
    """At full width the Hessian in (A, W) has the stratum's signature, and r² zeros of AW = (AM)(M⁻¹W)."""
    rng = np.random.default_rng(3)
    problem = problem_of(rng.standard_normal((3, 3)), 2)
    for point in sh.chart(problem).points:
        if point.rank == 2:
            values = np.linalg.eigvalsh(problem.hessian(point.network))
            assert point.signature == (int(np.sum(values > 1e-9)), 0, int(np.sum(values < -1e-9)))


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_repeated_singular_values_are_families(width):
    chart = sh.chart(problem_of(np.diag([2.0, 2.0, 1.0]), width))
    assert chart.completeness == "proved"
    dimensions = {(f.rank, round(f.loss, 9)): f.dimension for f in chart.families}
    expected = {(1, 5.0): 1} | ({(2, 4.0): 1} if width > 1 else {})
    assert dimensions == expected
    assert chart.minimum.loss == pytest.approx([5.0, 1.0, 0.0, 0.0][min(width, 4) - 1 if width < 5 else 3])


def test_the_identity_is_one_family_a_rank(tmp_path):
    chart = sh.chart(problem_of(np.eye(3), 2))
    assert [(f.rank, f.dimension, f.signature) for f in chart.families] == [
        (2, 2, (6, 2, 0)),
        (1, 2, (3, 2, 0)),
    ]
    again = sh.load_chart(chart.save(tmp_path / "identity"))
    assert [f.description for f in again.families] == [f.description for f in chart.families]


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_do_not_matter(unit):
    T = np.array([[1.0, 2.0, 0.5], [0.0, 1.0, -1.0]])
    first, second = sh.chart(problem_of(T, 2)), sh.chart(problem_of(unit * T, 2))
    np.testing.assert_allclose(second.losses, unit**2 * first.losses, rtol=1e-9, atol=1e-12 * unit**2)
    assert second.kinds() == first.kinds()


def test_proportional_outputs_have_one_singular_value():
    chart = sh.chart(problem_of(np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]]), 3))
    assert {r: chart.real_count[r] for r in chart.real_count} == {0: 1, 1: 1}
    assert chart.completeness == "proved" and chart.minimum.kind == "global minimum"


def test_fixed_outer_weights_are_convex():
    T, A = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]]), np.array([[1.0, 1.0], [1.0, -1.0], [0.0, 0.0]])
    problem = problem_of(T, 2, outer=A)
    chart = sh.chart(problem)
    assert chart.minimum.loss == pytest.approx(9.0) and len(chart.critical) == 1
    assert np.abs(problem.gradient(chart.minimum.network)).max() < 1e-12


def test_inputs_that_are_not_seen_are_refused():
    with pytest.raises(sh.InvalidProblem, match="degenerate"):
        sh.chart(problem_of(np.eye(2), 1, sh.Samples([[1.0, 1.0], [2.0, 2.0]])))


def test_with_a_bias():
    """y = 3x + 1 by one linear neuron with bias: (1, x) has the second moments of a moved Gaussian."""
    teacher = sh.Network([[3.0]], activation=sh.Power(1), bias=[1.0 / 3])
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(1), 1, bias=True))
    assert chart.minimum.kind == "global minimum" and chart.minimum.loss < 1e-20
