"""Matrices of rank k by projected gradients: against Eckart and Young, the fit of factors, and brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize

from shallows.questions.learn.fitting import low_rank
from shallows.questions.learn.fitting.frame import from_matrix, to_matrix
from shallows.questions.learn.fitting.projected_rank import projected_rank, step_length


def problem(seed, size=6):
    rng = np.random.default_rng(seed)
    features = size * (size + 1) // 2
    rows = rng.standard_normal((3 * features, features))
    return rows.T @ rows / len(rows), rng.standard_normal(features), rng


@pytest.mark.parametrize("width", [1, 3, 5])
def test_in_the_metric_of_the_identity_it_is_the_truncated_spectrum(width):
    _, optimum, _ = problem(0)
    gram = np.eye(len(optimum))
    found = projected_rank(gram, optimum, width, optimum, step_length(gram))
    values = np.sort(np.abs(np.linalg.eigvalsh(to_matrix(optimum, 6))))
    assert found.excess == pytest.approx(np.sum(values[: 6 - width] ** 2))
    assert np.linalg.matrix_rank(found.matrix) == width


@pytest.mark.parametrize("seed", range(4))
def test_ends_are_as_low_as_those_of_factors_and_critical(seed, monkeypatch):
    gram, optimum, _ = problem(seed)
    width = 1 + seed % 3
    factors = low_rank.best_low_rank(gram, optimum, width, None, 4, np.random.default_rng(0))
    monkeypatch.setattr(low_rank, "LARGEST_FACTOR", 0)
    projected = low_rank.best_low_rank(gram, optimum, width, None, 4, np.random.default_rng(0))
    assert projected.excess <= factors.excess * (1 + 1e-4)
    difference = from_matrix(projected.matrix) - optimum
    assert projected.excess == pytest.approx(difference @ gram @ difference)

    values, vectors = np.linalg.eigh(projected.matrix)
    kept = np.argsort(-np.abs(values))[:width]

    def loss(W):
        W = W.reshape(width, 6)
        rest = from_matrix((W.T * np.sign(values[kept])) @ W) - optimum
        return rest @ gram @ rest

    start = (vectors[:, kept] * np.sqrt(np.abs(values[kept]))).T.ravel()
    assert minimize(loss, start, method="BFGS").fun >= projected.excess * (1 - 1e-4)


def test_a_matrix_of_that_rank_is_found_exactly():
    gram, _, rng = problem(7)
    W = rng.standard_normal((2, 6))
    optimum = from_matrix((W.T * [1.0, -1.0]) @ W)
    found = projected_rank(gram, optimum, 2, from_matrix(np.eye(6)), step_length(gram))
    assert found.excess < 1e-8 * float(optimum @ gram @ optimum)
