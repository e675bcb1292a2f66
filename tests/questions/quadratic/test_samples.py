"""Sample spans, bad interpolators and the jump at d(d+1)/2 (paper 001, Theorems 2.6 to 2.9, Corollary 2.7)."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.quadratic import (
    bad_interpolator,
    convex_optimum,
    generalisation_jump,
    prime_points,
    sample_threshold,
    spans_symmetric,
)


def naive_rank(X):
    """The rank of the matrices xxᵀ, flattened."""
    return np.linalg.matrix_rank(np.array([np.outer(x, x).ravel() for x in np.asarray(X, dtype=float)]))


@given(st.integers(1, 6), st.integers(1, 25), st.integers(0, 10_000))
def test_gaussian_samples_span_from_the_threshold_on(d, count, seed):
    X = np.random.default_rng(seed).standard_normal((count, d))
    span = spans_symmetric(X)
    assert span.rank == naive_rank(X) == min(count, sample_threshold(d))
    assert bool(span) == (count >= sample_threshold(d)) and span.missing == sample_threshold(d) - span.rank
    for M in span.directions:
        assert np.max(np.abs(np.einsum("ni,ij,nj->n", X, M, X))) < 1e-9
    gram = np.einsum("aij,bij->ab", span.directions, span.directions)
    assert np.allclose(gram, np.eye(span.missing), atol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 7])
def test_prime_points_span_and_every_smaller_set_does_not(d):
    """The Vandermonde construction in the proof of Theorem 2.8, in exact arithmetic (entries beyond float64)."""
    points = prime_points(d)
    assert len(points) == sample_threshold(d) and spans_symmetric(points) and spans_symmetric(points).exact
    if d > 1:
        short = spans_symmetric(points[:-1])
        assert (short.full, short.missing) == (False, 1)


def test_exact_and_numerical_ranks_agree_and_fractions_are_exact():
    source = np.random.default_rng(0)
    for count in (4, 9, 12):
        X = source.integers(-3, 4, (count, 4))
        exact, numerical = spans_symmetric(X), spans_symmetric(X.astype(float))
        assert exact.exact and not numerical.exact and exact.rank == numerical.rank == naive_rank(X)
    thirds = [[Fraction(1, 3), Fraction(2, 3)], [Fraction(1), Fraction(2)], [Fraction(1, 7), Fraction(2, 7)]]
    assert spans_symmetric(thirds).rank == 1


@given(st.integers(0, 1000))
def test_the_span_does_not_depend_on_scales_or_coordinates(seed):
    source = np.random.default_rng(seed)
    X = source.standard_normal((8, 4))
    turned = (10.0 ** source.uniform(-6, 6, (8, 1)) * X) @ np.linalg.qr(source.standard_normal((4, 4)))[0]
    stretched = X * 10.0 ** source.uniform(-5, 5, 4)
    assert spans_symmetric(turned).rank == spans_symmetric(stretched).rank == 8


def test_the_margin_measures_how_close_the_samples_are_to_failing():
    X = np.random.default_rng(1).standard_normal((6, 3))
    Y = X.copy()
    Y[5] = Y[4] + 1e-7 * Y[5]
    good, weak = spans_symmetric(X), spans_symmetric(Y)
    assert good and weak and 1e-9 < weak.margin < 1e-6 < good.margin
    Y[5] = 2 * Y[4]
    assert spans_symmetric(Y).missing == 1 and spans_symmetric(Y).dropped < 1e-14


def test_what_is_missing_is_said():
    source = np.random.default_rng(2)
    X = source.standard_normal((40, 4))
    X[:, 1] = 1.0
    assert spans_symmetric(X)  # one constant column is a bias
    X[:, 3] = 2.0
    span = spans_symmetric(X)
    assert span.constant_columns == (1, 3) and "Columns 1, 3 are constant" in span.explain()
    X[:, 3] = 0.0
    assert "columns that are zero: 3" in spans_symmetric(X).explain()
    few = spans_symmetric(source.standard_normal((7, 4)))
    assert "7 of the 10" in few.explain() and "3 more are missing" in few.explain()
    problem = sh.Problem(None, sh.Samples(X, source.standard_normal(40)), 4)
    with pytest.raises(sh.InvalidProblem, match="at least 4 more are missing"):
        convex_optimum(problem)
    assert not convex_optimum(problem, minimum_norm=True).unique
    with pytest.raises(sh.InvalidProblem, match="NaN"):
        spans_symmetric([[1.0, np.nan]])


@given(st.integers(2, 5), st.integers(0, 3), st.integers(0, 1000))
def test_theorem_2_9b_a_bad_interpolator_below_the_threshold(d, fewer, seed):
    source = np.random.default_rng(seed)
    count = max(1, sample_threshold(d) - 1 - fewer)
    teacher = sh.Network(source.standard_normal((d + 2, d)), source.uniform(0.3, 3.0, d + 2))
    X = source.standard_normal((count, d))
    bad = bad_interpolator(teacher, X)
    assert np.array_equal(bad.network.a, teacher.a)  # Corollary 2.7: positive outer weights
    scale = float(np.max(np.abs(teacher(X))))
    assert np.max(np.abs(bad.network(X) - teacher(X))) < 1e-10 * scale
    population = sh.Problem(teacher, sh.Gaussian(d), d + 2).loss(bad.network)
    assert bad.population_loss == pytest.approx(population, rel=1e-6)
    hat = np.sqrt(teacher.a)[:, None] * teacher.W
    assert population >= 2 * np.linalg.svd(hat, compute_uv=False)[-1] ** 4 * (1 - 1e-6)


def test_interpolators_are_refused_where_there_are_none():
    source = np.random.default_rng(0)
    teacher = sh.Network(source.standard_normal((4, 3)))
    with pytest.raises(sh.InvalidProblem, match="every interpolator equals the teacher"):
        bad_interpolator(teacher, source.standard_normal((6, 3)))
    flat = sh.Network(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    with pytest.raises(sh.InvalidProblem, match="needs rank d = 3"):
        bad_interpolator(flat, source.standard_normal((4, 3)))
    with pytest.raises(sh.InvalidProblem, match="positive"):
        bad_interpolator(sh.Network(np.eye(3), [1.0, -1.0, 1.0]), source.standard_normal((4, 3)))
    with pytest.raises(sh.InvalidProblem, match="must agree"):
        bad_interpolator(teacher, source.standard_normal((4, 2)))


@pytest.mark.parametrize("d", [5, 8])
def test_the_generalisation_error_jumps_to_zero_at_the_threshold(d):
    jump = generalisation_jump(d, runs=3)
    assert jump.jumps_at == jump.threshold == d * (d + 1) // 2
    below = jump.counts < jump.threshold
    assert np.all(jump.trained[below] > 1e-4) and np.all(jump.trained[~below] < 1e-12)
    assert np.all(jump.constructed[below] >= jump.bound * (1 - 1e-9)) and not np.any(jump.constructed[~below])
    assert np.max(jump.risks) < 1e-13
