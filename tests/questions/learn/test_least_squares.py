"""Least squares on polynomial features: three methods against each other and against plain lstsq."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.questions.learn.fitting.conjugate import conjugate
from shallows.questions.learn.fitting.frame import Frame, features, from_matrix, homogenise, to_matrix
from shallows.questions.learn.fitting.least_squares import dense, fewer_samples, from_statistics
from shallows.questions.learn.fitting.solve import choose_method, solve
from shallows.questions.learn.fitting.statistics import Statistics


def data(rng, count=300, columns=4, outputs=2):
    X = rng.standard_normal((count, columns)) * np.linspace(0.1, 10, columns) + np.arange(columns)
    return X, rng.standard_normal((count, outputs)), rng.random(count) + 0.1


def reference(X, Y, weights, degree, affine):
    """Weighted lstsq on monomials, columns scaled to unit length."""
    block = features(homogenise(X, affine), degree)
    scale = np.linalg.norm(block, axis=0)
    root = np.sqrt(weights)[:, None]
    return block @ (np.linalg.lstsq(block / scale * root, Y * root, rcond=1e-14)[0] / scale[:, None])


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("degree", [2, 3])
def test_dense_and_statistics_match_lstsq(rng, affine, degree):
    X, Y, weights = data(rng)
    expected = reference(X, Y, weights, degree, affine)
    frame = Frame.whitening(X, weights, affine)
    for solution in (
        dense(X, Y, weights, frame, degree, 0.0),
        from_statistics(Statistics.empty(frame, degree, 2).add(X, Y, weights), 0.0),
    ):
        assert np.allclose(solution.predict(X), expected, atol=1e-8)
        assert np.allclose(features(homogenise(X, affine), degree) @ solution.original.T, expected, atol=1e-6)


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_conjugate_gradients_match_dense(rng, affine, alpha):
    X, Y, weights = data(rng)
    frame = Frame.whitening(X, weights, affine)
    found = conjugate(X, Y, weights, frame, alpha)
    assert found.converged
    assert np.allclose(found.predict(X), dense(X, Y, weights, frame, 2, alpha).predict(X), atol=1e-9)


def test_ridge_is_scikit_learns_on_scaled_features(rng):
    from sklearn.linear_model import Ridge

    X, Y, weights = data(rng)
    mean = weights @ X / weights.sum()
    spread = np.sqrt(weights @ (X - mean) ** 2 / weights.sum() * X.shape[1])
    block = features(homogenise((X - mean) / spread, True), 2)[
        :, :-1
    ]  # orthonormal features without the constant
    peer = Ridge(alpha=2.0 * weights.sum()).fit(block, Y, sample_weight=weights)
    ours, _ = solve(X, Y, weights, True, 2, 2.0)
    assert np.allclose(ours.predict(X), peer.predict(block), atol=1e-8)


@pytest.mark.parametrize("affine", [True, False])
def test_fewer_samples_than_features_gives_the_pseudo_inverse(rng, affine):
    X, Y, weights = data(rng, count=9)
    found = fewer_samples(X, Y, weights, affine, 2)
    block = features(homogenise(X, affine), 2)
    if affine:  # the constant is not part of the norm
        mean, level = weights @ block / weights.sum(), weights @ Y / weights.sum()
        expected = np.linalg.pinv((block - mean)[:, :-1] * np.sqrt(weights)[:, None]) @ (
            (Y - level) * np.sqrt(weights)[:, None]
        )
        assert np.allclose(found.entries.T[:-1], expected, atol=1e-9)
        assert found.undetermined.dimension == 15 - 9
    else:
        assert np.allclose(found.entries.T, np.linalg.pinv(block) @ Y, atol=1e-9)
        assert found.undetermined.dimension == 10 - 9
    assert np.allclose(found.predict(X), Y, atol=1e-8)
    limit = conjugate(X, Y, weights, Frame.identity(4, affine), 0.0, limit=5000)
    assert np.allclose(limit.original, found.original, atol=1e-6)


def test_undetermined_monomials_are_named_and_minimum_norm_is_chosen(rng):
    X = rng.standard_normal((200, 3))
    X[:, 2] = X[:, 0] ** 2  # then x1² and x3 are the same function
    Y = rng.standard_normal((200, 1))
    weights = np.ones(200)
    found = dense(X, Y, weights, Frame.whitening(X, weights, True), 2, 0.0)
    assert found.undetermined.dimension == 1
    names = found.undetermined.names(["a", "b", "c", "1"], 2)
    assert set(names) == {"a·a", "c"}
    block = features(homogenise(X, True), 2)
    centred = (block - block.mean(axis=0))[:, :-1]
    expected = np.linalg.pinv(centred, rcond=1e-10) @ (Y - Y.mean())
    assert np.allclose(found.original[0, :-1], expected[:, 0], atol=1e-9)


@given(st.integers(0, 10_000), st.integers(1, 3), st.booleans())
def test_substitution_is_substitution(seed, degree, affine):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 3))
    frame = Frame.whitening(X, np.ones(20), affine)
    expected = features(homogenise(X, affine), degree) @ frame.substitution(degree).T
    assert np.allclose(features(frame.apply(X), degree), expected, atol=1e-9)


@given(st.integers(0, 10_000))
def test_predictions_do_not_depend_on_units(seed):
    rng = np.random.default_rng(seed)
    X, Y, weights = data(rng, count=60, columns=3, outputs=1)
    change = rng.standard_normal((3, 3)) + 3 * np.eye(3)
    plain, _ = solve(X, Y, weights, True, 2, 0.0, certify=False)
    other, _ = solve(X @ change + 5, Y, weights, True, 2, 0.0, certify=False)
    assert np.allclose(plain.predict(X), other.predict(X @ change + 5), atol=1e-7)


def test_matrix_coordinates_are_orthonormal(rng):
    A, B = (m + m.T for m in rng.standard_normal((2, 4, 4)))
    assert np.allclose(to_matrix(from_matrix(A), 4), A)
    assert np.isclose(from_matrix(A) @ from_matrix(B), np.sum(A * B))


def test_statistics_add_up(rng):
    X, Y, weights = data(rng)
    empty = Statistics.empty(Frame.whitening(X[:50], weights[:50], True), 2, 2)
    whole = empty.add(X, Y, weights)
    parts = empty.add(X[:100], Y[:100], weights[:100]) + empty.add(X[100:], Y[100:], weights[100:])
    assert np.allclose(whole.gram, parts.gram) and np.allclose(whole.moment, parts.moment)
    assert whole.count == parts.count == 300
    with pytest.raises(sh.InvalidProblem, match="frames"):
        whole + Statistics.empty(Frame.identity(4, True), 2, 2)
    with pytest.raises(sh.InvalidProblem, match="features"):
        Statistics.empty(Frame.identity(200, True), 2, 1)


def test_methods_are_chosen_by_size():
    assert choose_method("auto", 1000, 11, 2) == "dense"
    assert choose_method("auto", 200_000, 61, 2) == "conjugate"
    assert choose_method("auto", 200_000, 21, 3) == "statistics"
    assert choose_method("auto", 30, 31, 4) == "dense"
    with pytest.raises(sh.InvalidProblem, match="quadratic features"):
        choose_method("conjugate", 10, 3, 3)
    with pytest.raises(sh.InvalidProblem, match="method"):
        choose_method("magic", 10, 3, 2)
