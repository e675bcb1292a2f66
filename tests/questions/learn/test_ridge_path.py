"""Penalties chosen by the data, against fits that are really made without a sample."""

import numpy as np
import pytest

import shallows as sh

pytest.importorskip("sklearn")
from scipy.sparse import csr_matrix

from shallows.learn import QuadraticNetClassifier, QuadraticNetRegressor
from shallows.questions.learn.fitting.frame import Frame, features
from shallows.questions.learn.fitting.least_squares import dense
from shallows.questions.learn.fitting.ridge_path import RidgePath
from shallows.questions.learn.fitting.statistics import Statistics


def data(rng, count=60, columns=3):
    X = rng.standard_normal((count, columns)) * 10.0 ** np.arange(columns) + 3
    return X, X[:, :1] ** 2 + rng.standard_normal((count, 2)), rng.integers(1, 4, count).astype(float)


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("count", [60, 8])
def test_leaving_one_out_is_really_leaving_one_out(rng, count, affine):
    """A sample of weight 1 is gone then; one of weight w counts like w samples, of which one is gone."""
    X, Y, weights = data(rng, count)
    weights[:2] = 1.0, 3.0
    frame = Frame.standardising(X, weights, affine)
    path = RidgePath.of(X, Y, weights, frame)
    for alpha in (0.01, 1.0):
        found = path.left_out(X, Y, weights, frame, 2, alpha)
        for i in (0, 1, count // 2):
            left = weights - (np.arange(count) == i)
            kept = left > 0
            share = alpha * weights.sum() / left.sum()
            other = dense(X[kept], Y[kept], left[kept], frame, 2, share)
            np.testing.assert_allclose(found[i], other.predict(X[i : i + 1])[0], atol=1e-9)


@pytest.mark.parametrize("affine", [True, False])
def test_generalised_cross_validation_is_its_formula(rng, affine):
    X, Y, weights = data(rng)
    frame = Frame.standardising(X, weights, affine)
    total, alpha = weights.sum(), 0.3
    block = np.sqrt(weights)[:, None] * features(frame.apply(X), 2)
    penalty = alpha * total * np.eye(block.shape[1])
    if affine:
        penalty[-1, -1] = 0.0
    hat = block @ np.linalg.solve(block.T @ block + penalty, block.T)
    residual = (np.eye(len(X)) - hat) @ (np.sqrt(weights)[:, None] * Y)
    expected = np.sum(residual**2) / total / (1 - np.trace(hat) / total) ** 2
    statistics = Statistics.empty(frame, 2, 2).add(X, Y, weights)
    for path in (RidgePath.of(X, Y, weights, frame), RidgePath.of_statistics(statistics)):
        assert path.generalised(alpha) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("criterion", ["auto", "loo"])
def test_the_choice_is_the_best_of_many(rng, criterion):
    X, Y, weights = data(rng)
    frame = Frame.standardising(X, weights, True)
    path = RidgePath.of(X, Y, weights, frame)
    model = QuadraticNetRegressor(alpha=criterion).fit(X, Y, sample_weight=weights)

    def judged(alpha):
        if criterion == "auto":
            return path.generalised(alpha)
        return weights @ np.sum((Y - path.left_out(X, Y, weights, frame, 2, alpha)) ** 2, axis=1)

    assert judged(model.alpha_) <= min(judged(a) for a in np.logspace(-8, 3, 200)) * (1 + 1e-6)


def test_units_and_repetition_do_not_matter(rng):
    X, Y, _ = data(rng)
    units = np.array([1e-6, 1.0, 1e6])
    model = QuadraticNetRegressor().fit(X, Y)
    other = QuadraticNetRegressor().fit(X * units + 5 * units, Y)
    np.testing.assert_allclose(other.predict(X * units + 5 * units), model.predict(X), rtol=1e-6, atol=1e-6)
    assert other.alpha_ == pytest.approx(model.alpha_, rel=1e-4)
    fixed = QuadraticNetRegressor(alpha=0.1).fit(X, Y)
    twice = QuadraticNetRegressor(alpha=0.1).fit(np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0))
    np.testing.assert_allclose(twice.predict(X), fixed.predict(X), atol=1e-9)


def test_without_noise_no_penalty_is_taken(rng):
    X = rng.standard_normal((80, 3))
    model = QuadraticNetRegressor().fit(X, X[:, 0] * X[:, 1] - X[:, 2])
    assert model.alpha_ == 0.0
    with pytest.raises(sh.InvalidProblem, match="alpha is 'best'"):
        QuadraticNetRegressor(alpha="best").fit(X, X[:, 0])


def test_width_is_chosen_by_the_data(rng):
    X = rng.standard_normal((300, 6))
    y = (X[:, 0] + X[:, 1]) ** 2 - 2 * (X[:, 2] - X[:, 3]) ** 2 + 0.1 * rng.standard_normal(300)
    model = QuadraticNetRegressor(width="auto").fit(X, y)
    assert model.width_ in (2, 3)  # two directions, and one for the constant if it pays
    assert model.score(X, y) > 0.99
    with pytest.raises(sh.InvalidProblem, match="width is 'small'"):
        QuadraticNetRegressor(width="small").fit(X, y)


@pytest.mark.parametrize("width", [None, 2])
def test_probabilities_are_calibrated(width):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 4))
    chance = 1 / (1 + np.exp(-2 * (X[:, 0] * X[:, 1] + X[:, 2] ** 2 - 1)))
    y = rng.random(3000) < chance
    model = QuadraticNetClassifier(width).fit(X[:1500], y[:1500])
    found = model.predict_proba(X[1500:])[:, 1]
    np.testing.assert_array_equal(model.predict(X[1500:]), found > 0.5)
    for low in (0.0, 0.25, 0.5, 0.75):  # of those given about 30 %, about 30 % are
        inside = (found >= low) & (found < low + 0.25)
        if inside.sum() > 60:
            error = 3 * np.sqrt(0.25 / inside.sum())
            assert abs(np.mean(y[1500:][inside]) - np.mean(found[inside])) < 0.08 + error


def test_sparse_inputs_are_the_same_inputs(rng):
    X = rng.standard_normal((60, 4)) * (rng.random((60, 4)) < 0.4)
    y = X[:, 0] ** 2 + rng.standard_normal(60)
    model = QuadraticNetRegressor().fit(X, y)
    np.testing.assert_array_equal(
        QuadraticNetRegressor().fit(csr_matrix(X), y).predict(csr_matrix(X)), model.predict(X)
    )


def test_classes_that_come_in_turn_are_left_out_in_parts():
    """Five classes one after the other, and five folds: none may be left out whole."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 5
    X = np.column_stack([np.cos(2 * np.pi * y / 5), np.sin(2 * np.pi * y / 5)]) + 0.1 * rng.standard_normal(
        (400, 2)
    )
    model = QuadraticNetClassifier(width=2).fit(X, y)
    sure = model.predict_proba(X).max(axis=1).mean()
    assert model.score(X, y) > 0.95 and sure > 0.8
    shuffled = rng.permutation(400)
    other = QuadraticNetClassifier(width=2).fit(X[shuffled], y[shuffled])
    assert other.predict_proba(X).max(axis=1).mean() == pytest.approx(sure, abs=0.1)
