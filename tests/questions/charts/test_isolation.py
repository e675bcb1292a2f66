"""Refused widths name the rank of the derivative: held to differences of networks' values, which know no tensors."""

import re

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.isolation import has_parallel

ODD = sh.Polynomial([0.0, 1.0, 0.0, 1.0])


@pytest.fixture
def rng():
    """The same numbers whichever tests ran before."""
    return np.random.default_rng(4)


def rank_by_differences(values, theta):
    """The rank of the derivative of `values` at θ by central differences, by the largest gap of singular values."""
    step = 1e-5
    slopes = np.array(
        [(values(theta + e) - values(theta - e)) / (2 * step) for e in step * np.eye(len(theta))]
    )
    seen = np.linalg.svd(slopes / np.abs(slopes).max(axis=1, keepdims=True), compute_uv=False)
    return int(np.sum(seen > 1e-6))


def said(problem):
    with pytest.raises(sh.InvalidProblem) as refused:
        sh.chart(problem)
    text = str(refused.value)
    weights, rank = re.search(r"by the (\d+) weights has rank (\d+)", text).groups()
    dimension = re.search(r"set of dimension (\d+)", text).group(1)
    width = re.match(r"(?:Sums of |Infinitely many networks of )?(\d+) ", text).group(1)
    assert int(dimension) == int(weights) - int(rank) > 0
    return int(width), int(weights), int(rank), text


def values_on(X, width, n, activation, outer):
    """A network's outputs at points, as a function of its weights: those of w, then of a where it is trained."""

    def values(theta):
        W = theta[: width * n].reshape(width, n)
        a = theta[width * n :] if outer is None else np.asarray(outer)
        z = activation(X @ W.T)
        return np.concatenate([z @ row for row in np.atleast_2d(a)])

    return values


@pytest.mark.parametrize(("degree", "n", "width", "entries"), [(3, 3, 4, 10), (3, 4, 6, 20), (5, 3, 8, 21)])
def test_powers_beyond_identifiable_widths(degree, n, width, entries, rng):
    tensor = sh.SymmetricTensor(rng.standard_normal(entries), n, degree)
    with sh.budget(seconds=1e12):
        used, weights, rank, text = said(sh.Problem(tensor, sh.Gaussian(n), width))
    assert (used, weights) == (width, width * n) and "not identifiable" in text
    values = values_on(
        rng.standard_normal((60, n)), used, n, lambda z: z**degree, rng.choice([-1.0, 1.0], used)
    )
    assert rank_by_differences(values, rng.standard_normal(used * n)) == rank


def test_polynomials_beyond_identifiable_widths(rng):
    teacher = sh.Network(np.eye(3), np.ones(3), ODD)
    used, weights, rank, _ = said(sh.Problem(teacher, sh.Gaussian(3), 6))
    assert weights == used * 4
    values = values_on(rng.standard_normal((60, 3)), used, 3, lambda z: z + z**3, None)
    assert rank_by_differences(values, rng.standard_normal(weights)) == rank


def test_squares_with_parallel_outer_weights(rng):
    outer = np.array([[1.0, 2.0, 1.0], [2.0, 4.0, 0.0]])
    data = sh.Samples(rng.standard_normal((30, 2)), rng.standard_normal((30, 2)))
    problem = sh.Problem(None, data, 3, sh.Power(2), outer=outer)
    used, weights, rank, text = said(problem)
    assert (used, weights, rank) == (3, 6, 5) and "turning squares" in text
    values = values_on(rng.standard_normal((40, 2)), 3, 2, lambda z: z**2, outer)
    theta = rng.standard_normal(6)
    assert rank_by_differences(values, theta) == rank
    W = theta.reshape(3, 2)
    turned = W.copy()  # (w₁, √2 w₂) turned by 0.3
    turned[0] = np.cos(0.3) * W[0] + np.sin(0.3) * np.sqrt(2) * W[1]
    turned[1] = (-np.sin(0.3) * W[0] + np.cos(0.3) * np.sqrt(2) * W[1]) / np.sqrt(2)
    np.testing.assert_allclose(values(turned.ravel()), values(theta), atol=1e-12)
    assert has_parallel([(0.0, 0.0), (1.0, 2.0)]) and not has_parallel([(1.0, 2.0), (2.0, 1.0)])


def test_penalised_weights_of_four_kinds(rng):
    weights = np.array([1.0, 2.0, -1.0, 3.0])
    used, count, rank, _ = said(sh.Problem(np.eye(2), sh.Gaussian(2), 4, outer=weights, orthogonality=1.0))

    def pair(theta):
        W = theta.reshape(4, 2)
        return np.concatenate([(W.T @ (weights[:, None] * W)).ravel(), (W.T @ W).ravel()])

    assert (used, count) == (4, 8)
    assert rank_by_differences(pair, rng.standard_normal(8)) == rank == 6


def test_what_is_said_to_do_instead_can_be_done(rng):
    teacher = sh.Network(rng.standard_normal((4, 3)), [1.0, -1.0, 2.0, 1.0], sh.Power(3))
    problem = sh.Problem(teacher, sh.Gaussian(3), 4)
    trained = problem.unpack(problem.pack(teacher) + 1e-3 * rng.standard_normal(16))
    near = sh.nearest_critical(problem, trained)
    assert np.abs(problem.gradient(near.network)).max() < 1e-6 * (1 + problem.loss(near.network))
