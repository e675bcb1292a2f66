"""Fits with a margin: against a general optimiser, and against refits without a sample."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

import shallows as sh
from shallows.learn import QuadraticNetClassifier
from shallows.questions.learn.fitting.frame import Frame, features
from shallows.questions.learn.fitting.margins import best_margin


def two_classes(seed, count=40, columns=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((count, columns))
    return X, np.where(np.sum(X**2, axis=1) + 0.5 * rng.standard_normal(count) > columns, 1.0, -1.0)


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_outputs_minimise_the_squared_hinge_loss(seed, affine):
    """BFGS on the coefficients of the features, the definition of the loss and nothing else."""
    X, t = two_classes(seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, len(t))
    alpha = 0.03
    block = features(Frame.standardising(X, weights, affine).apply(X), 2)
    free = np.ones(block.shape[1])
    free[-1] = 0.0 if affine else 1.0  # the constant is not penalised

    def loss(c):
        return weights @ np.maximum(0, 1 - t * (block @ c)) ** 2 / weights.sum() + alpha * np.sum(free * c**2)

    found = minimize(loss, np.zeros(block.shape[1]), method="BFGS", options={"gtol": 1e-10})
    margin = best_margin(X, t[:, None], weights, affine, alpha)
    f = block @ found.x
    np.testing.assert_allclose(margin.targets[:, 0], t * np.maximum(1, t * f), atol=1e-5)


def test_left_out_outputs_are_those_of_fits_without_the_sample():
    X, t = two_classes(5)
    weights, alpha = np.ones(len(t)), 0.03
    frame = Frame.standardising(X, weights, True)
    margin = best_margin(X, t[:, None], weights, True, alpha)
    block = features(frame.apply(X), 2)[:, :-1]
    wrong = 0
    for i in range(0, len(t), 4):
        rest = np.arange(len(t)) != i

        def loss(c, rest=rest):
            f = block[rest] @ c[:-1] + c[-1]
            return np.sum(np.maximum(0, 1 - t[rest] * f) ** 2) / len(t) + alpha * np.sum(c[:-1] ** 2)

        c = minimize(loss, np.zeros(block.shape[1] + 1), method="BFGS", options={"gtol": 1e-9}).x
        wrong += abs(block[i] @ c[:-1] + c[-1] - margin.left_out[i, 0]) > 0.05
    assert wrong <= 1  # a sample may change sides


def test_a_margin_is_asked_for_only_where_it_can_be_had():
    X, t = two_classes(1, 60)
    model = QuadraticNetClassifier().fit(X, t)
    plain = QuadraticNetClassifier(loss="squared").fit(X, t)
    assert model.certificate_.proved and model.alpha_ != plain.alpha_
    assert QuadraticNetClassifier(loss="squared_hinge", alpha=0.1).fit(X, t).alpha_ == 0.1
    for wrong in ({"width": 1}, {"alpha": 0.0}, {"solver": "descent", "runs": 1}):
        with pytest.raises(sh.InvalidProblem, match="squared_hinge"):
            QuadraticNetClassifier(loss="squared_hinge", **wrong).fit(X, t)
    with pytest.raises(sh.InvalidProblem, match="loss is 'hinge'"):
        QuadraticNetClassifier(loss="hinge").fit(X, t)
    three = QuadraticNetClassifier().fit(X, np.arange(60) % 3)
    assert three.predict_proba(X).shape == (60, 3) and three.certificate_.proved


def test_every_output_of_several_classes_is_the_fit_of_two():
    X, _ = two_classes(3, 60)
    T = np.where((np.arange(60) % 3)[:, None] == np.arange(3), 1.0, -1.0)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    together = best_margin(X, T, weights, True, 0.02)
    for m in range(3):
        alone = best_margin(X, T[:, m : m + 1], weights, True, 0.02)
        np.testing.assert_allclose(together.targets[:, m], alone.targets[:, 0], atol=1e-10)


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_count_like_repetitions(classes):
    """The penalty too, though it is chosen by leaving samples out: one of two equal ones, not both."""
    X, _ = two_classes(4, 60)
    y = np.argmax(X @ np.random.default_rng(1).standard_normal((2, classes)) + X**2 @ np.ones((2, 1)), axis=1)
    weights = np.random.default_rng(2).integers(1, 4, 60)
    weighted = QuadraticNetClassifier().fit(X, y, sample_weight=weights)
    repeated = QuadraticNetClassifier().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.alpha_ == pytest.approx(repeated.alpha_)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-8)


def test_the_penalty_is_the_best_of_its_neighbours_for_samples_left_out():
    X, t = two_classes(6, 80)
    found = best_margin(X, t[:, None], np.ones(80), True)
    for factor in (10**0.5, 10**-0.5):
        other = best_margin(X, t[:, None], np.ones(80), True, found.alpha * factor)
        assert found.error.sum() <= other.error.sum()


def test_data_that_a_form_separates_exactly():
    X, _ = two_classes(2, 80)
    y = X[:, 0] * X[:, 1] > 0
    assert QuadraticNetClassifier().fit(X, y).score(X, y) > 0.97


def test_breast_cancer_is_classified_as_well_as_by_a_support_vector_machine():
    X, y = load_breast_cancer(return_X_y=True)
    assert cross_val_score(QuadraticNetClassifier(certify=False), X, y, cv=5).mean() > 0.97


def test_the_loss_is_least_where_plain_newton_goes_in_circles():
    """f = Kβ + b with β = w t max(0, 1 − tf)/(αW), Σβ = 0: what minimises it, whatever the way there.

    Repeated rows and small penalties: without looking at the loss on the way, Newton's method swaps samples for ever.
    """
    for seed in range(60):
        rng = np.random.default_rng(seed)
        count, columns = int(rng.integers(10, 120)), int(rng.integers(1, 6))
        X = rng.standard_normal((count, columns))
        X = np.round(X) if seed % 2 else X
        t = np.where(X[:, 0] ** 2 + 0.3 * rng.standard_normal(count) > 1, 1.0, -1.0)
        t[:2] = 1.0, -1.0
        weights, alpha = rng.uniform(0.2, 3.0, count), 10.0 ** rng.uniform(-6, 0)
        Z = Frame.standardising(X, weights, True).apply(X)
        margin = best_margin(X, t[:, None], weights, True, alpha)
        tf = t * margin.targets[:, 0]  # beyond the margin; within it the targets are t and do not say f
        inside = margin.within[:, 0]
        assert np.all(tf[~inside] >= 1 - 1e-6)
        kernel, total = (Z @ Z.T) ** 2, weights.sum()
        ridge = kernel[np.ix_(inside, inside)] + np.diag(alpha * total / weights[inside])
        size = int(inside.sum())
        bordered = np.block([[ridge, np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
        solved = np.linalg.solve(bordered, np.append(t[inside], 0.0))
        f = kernel[:, inside] @ solved[:-1] + solved[-1]
        scale = 1e-6 * (1 + np.abs(f).max())
        assert np.all((t * f)[inside] <= 1 + scale) and np.all((t * f)[~inside] >= 1 - scale)
        np.testing.assert_allclose(tf[~inside], (t * f)[~inside], atol=scale)
