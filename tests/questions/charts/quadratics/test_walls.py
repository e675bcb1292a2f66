"""Limits of squares of one sign, one of which vanishes, against least squares with an affine function."""

import numpy as np
import pytest
from scipy.optimize import least_squares

import shallows as sh


def problem(seed, constant, width=2, n=2):
    rng = np.random.default_rng([seed, n])
    X = rng.standard_normal((30, n))
    y = np.einsum("ij,jk,ik->i", X, rng.standard_normal((n, n)), X) + X @ rng.standard_normal(n)
    y += rng.standard_normal(30)
    return sh.Problem(None, sh.Samples(X, y), width, sh.Polynomial([constant, 0.0, 1.0]), bias=True)


def squares_and_affine(given, sign, starts, seed):
    """Losses of the minima of (y − ±(w·x)² − affine)², by SciPy: no matrix, no chart."""
    X, y = given.data.X, given.data.y.ravel()
    rng = np.random.default_rng(seed)

    def gaps(x):
        return (sign * (X @ x[:2]) ** 2 + X @ x[2:4] + x[4] - y) / np.sqrt(len(y))

    ends = [least_squares(gaps, 2 * rng.standard_normal(5), xtol=1e-14, ftol=1e-14) for _ in range(starts)]
    return [(2 * end.cost, end.x) for end in ends if np.linalg.norm(end.grad) < 1e-8]


@pytest.mark.parametrize("seed", range(4))
def test_minima_on_walls_are_those_of_squares_beside_an_affine_function(seed):
    given = problem(seed, 1.0)
    chart = sh.chart(given)
    listed = np.array([point.loss for point in chart.critical if point.limit])
    for sign in (1.0, -1.0):
        for loss, x in squares_and_affine(given, sign, 12, seed):
            if np.linalg.norm(x[:2]) > 1e-3:  # else there is no square
                assert np.abs(listed - loss).min() < 1e-7 * (1 + loss)
    assert chart.completeness == "proved"


def test_a_constant_of_the_other_sign_has_no_walls():
    walls = "limits of squares of one sign"
    assert any(note.startswith(walls) for note in sh.chart(problem(1, 1.0)).notes)
    assert not any(note.startswith(walls) for note in sh.chart(problem(1, -1.0)).notes)


def test_descent_ends_at_limits_where_no_minimum_is_attained():
    """Seed 1 of the thorough descents: a quarter of the runs went to a loss that was not on the chart."""
    rng = np.random.default_rng([1, 2])
    X = rng.standard_normal((30, 2))
    y = np.einsum("ij,mjk,ik->im", X, rng.standard_normal((1, 2, 2)), X)
    y += X @ rng.standard_normal((2, 1)) + rng.standard_normal((30, 1))
    given = sh.Problem(None, sh.Samples(X, y[:, 0]), 2, sh.Polynomial([1.0, 0.0, 1.0]), bias=True)
    chart = sh.chart(given)
    minima = np.array([p.loss for p in chart.critical if p.kind.endswith("minimum")])
    assert all(p.limit for p in chart.critical if p.kind.endswith("minimum")) and not chart.attained
    ends = sh.ensemble(given, runs=20, rng=1, method="lm")
    assert (np.abs(minima[None] - ends.losses[:, None]).min(axis=1) < 1e-2 * ends.losses).all()
    assert chart.critical[1].kind == "local minimum"
