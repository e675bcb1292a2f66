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
    margin = best_margin(X, t, weights, affine, alpha, search=False)
    f = block @ found.x
    np.testing.assert_allclose(margin.targets, t * np.maximum(1, t * f), atol=1e-5)


def test_left_out_outputs_are_those_of_fits_without_the_sample():
    X, t = two_classes(5)
    weights, alpha = np.ones(len(t)), 0.03
    frame = Frame.standardising(X, weights, True)
    margin = best_margin(X, t, weights, True, alpha, search=False)
    block = features(frame.apply(X), 2)[:, :-1]
    wrong = 0
    for i in range(0, len(t), 4):
        rest = np.arange(len(t)) != i

        def loss(c, rest=rest):
            f = block[rest] @ c[:-1] + c[-1]
            return np.sum(np.maximum(0, 1 - t[rest] * f) ** 2) / len(t) + alpha * np.sum(c[:-1] ** 2)

        c = minimize(loss, np.zeros(block.shape[1] + 1), method="BFGS", options={"gtol": 1e-9}).x
        wrong += abs(block[i] @ c[:-1] + c[-1] - margin.left_out[i]) > 0.05
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
    assert three.predict_proba(X).shape == (60, 3)


def test_data_that_a_form_separates_exactly():
    X, _ = two_classes(2, 80)
    y = X[:, 0] * X[:, 1] > 0
    assert QuadraticNetClassifier().fit(X, y).score(X, y) > 0.97


def test_breast_cancer_is_classified_as_well_as_by_a_support_vector_machine():
    X, y = load_breast_cancer(return_X_y=True)
    assert cross_val_score(QuadraticNetClassifier(certify=False), X, y, cv=5).mean() > 0.97
