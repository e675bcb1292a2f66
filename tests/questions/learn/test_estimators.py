"""The estimators as a user meets them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import shallows as sh
from shallows.learn import (
    DeepQuadraticRegressor,
    PolynomialNetRegressor,
    QuadraticNetClassifier,
    QuadraticNetRegressor,
    UndeterminedWarning,
    WidthWarning,
    receptive_field,
    simulate_spikes,
)
from shallows.questions.learn.fitting.quadratic_fit import neurons_of


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((400, 4))
    y = 2 * X[:, 0] ** 2 - 3 * X[:, 1] * X[:, 2] + X[:, 3] + 0.5 + 0.1 * rng.standard_normal(400)
    return X, y


def lstsq_predictions(X, y, degree=2):
    block = PolynomialFeatures(degree).fit_transform(X)
    return block @ np.linalg.lstsq(block, y, rcond=1e-12)[0]


@pytest.mark.parametrize("norm_neuron", [False, True])
def test_full_width_is_least_squares_and_its_neurons_are_the_function(problem, norm_neuron):
    X, y = problem
    model = QuadraticNetRegressor(alpha=0.0, norm_neuron=norm_neuron).fit(X, y)
    assert np.allclose(model.predict(X), lstsq_predictions(X, y), atol=1e-9)
    assert model.width_ == len(model.eigenvalues_) == 5 - norm_neuron
    assert model.certificate_.proved and model.optimality_gap_ < 1e-18
    Z = np.c_[X, np.ones(len(X))]
    assert np.allclose(model.network_(Z), model.predict(X), atol=1e-8)
    assert np.allclose(np.linalg.norm(model.filters_, axis=1), 1)
    assert np.all(np.diff(np.abs(model.eigenvalues_)) <= 1e-12)


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("norm_neuron", [False, True])
def test_smaller_widths_have_an_honest_gap(problem, width, norm_neuron):
    X, y = problem
    full = QuadraticNetRegressor(alpha=0.0).fit(X, y)
    model = QuadraticNetRegressor(width, alpha=0.0, norm_neuron=norm_neuron).fit(X, y)
    loss = np.mean((y - model.predict(X)) ** 2)
    assert model.certificate_.loss == pytest.approx(loss, rel=1e-9)
    assert full.certificate_.loss <= model.certificate_.lower_bound + 1e-12 <= loss + 2e-12
    assert model.optimality_gap_ == pytest.approx(loss - model.certificate_.lower_bound, abs=1e-9)
    matrix = model.matrix_ - model.norm_ * np.eye(5)
    assert np.linalg.matrix_rank(matrix, tol=1e-8) <= width
    assert np.allclose(model.network_(np.c_[X, np.ones(len(X))]), model.predict(X), atol=1e-7)


def test_descent_at_full_width_reaches_the_optimum(problem):
    X, y = problem
    for settings in ({"norm_neuron": True}, {"orthogonality": 1.0}):
        model = QuadraticNetRegressor(solver="descent", runs=2, **settings).fit(X, y)
        assert model.optimality_gap_ < 1e-5
    width_two = QuadraticNetRegressor(2, solver="descent", runs=3).fit(X, y)
    best = QuadraticNetRegressor(2, alpha=0.0).fit(X, y)
    assert width_two.certificate_.loss >= best.certificate_.loss * (1 - 1e-6)


def test_streaming_equals_fitting_at_once(problem):
    X, y = problem
    whole = QuadraticNetRegressor(alpha=0.0).fit(X, y)
    parts = QuadraticNetRegressor(alpha=0.0)
    for rows in np.array_split(np.arange(len(X)), 7):
        parts.partial_fit(X[rows], y[rows])
    assert np.allclose(parts.predict(X), whole.predict(X), atol=1e-8)
    assert parts.certificate_.loss == pytest.approx(whole.certificate_.loss, rel=1e-9)
    assert parts.certificate_.proved and parts.optimality_gap_ < 1e-18
    continued = QuadraticNetRegressor(alpha=0.0).fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    assert np.allclose(continued.predict(X), whole.predict(X), atol=1e-8)
    narrow = QuadraticNetRegressor(2, alpha=0.0).partial_fit(X, y)
    assert np.allclose(narrow.predict(X), QuadraticNetRegressor(2, alpha=0.0).fit(X, y).predict(X), atol=1e-5)
    one_by_one = QuadraticNetClassifier(alpha=0.0).partial_fit(X[:200], y[:200] > 0, classes=[False, True])
    one_by_one.partial_fit(X[200:], y[200:] > 0)
    wide = np.random.default_rng(0).standard_normal((600, 31))
    with pytest.raises(sh.InvalidProblem, match="kept no statistics"):
        QuadraticNetRegressor(alpha=0.0, certify=False).fit(wide, wide[:, 0]).partial_fit(wide, wide[:, 0])
    assert np.array_equal(one_by_one.predict(X), QuadraticNetClassifier(alpha=0.0).fit(X, y > 0).predict(X))


def test_weights_and_several_outputs(problem, rng):
    X, y = problem
    weights = rng.integers(0, 3, size=len(X))
    repeated = QuadraticNetRegressor().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    weighted = QuadraticNetRegressor().fit(X, y, sample_weight=weights)
    assert np.allclose(repeated.predict(X), weighted.predict(X), atol=1e-9)
    Y = np.c_[y, X[:, 0] * X[:, 1]]
    both = QuadraticNetRegressor(width=3, alpha=0.0).fit(X, Y)
    assert both.predict(X).shape == Y.shape and both.filters_.shape == (2, 3, 4)
    assert np.allclose(both.predict(X)[:, 1], Y[:, 1], atol=1e-6)
    assert np.allclose(both.network_(np.c_[X, np.ones(len(X))]), both.predict(X), atol=1e-6)


def test_pipelines_grid_search_and_cloning(problem):
    X, y = problem
    search = GridSearchCV(
        make_pipeline(StandardScaler(), QuadraticNetRegressor(certify=False)),
        {"quadraticnetregressor__width": [1, 3, None], "quadraticnetregressor__alpha": [0.0, 1.0]},
        cv=3,
    ).fit(X, y)
    assert search.best_params_["quadraticnetregressor__width"] in (3, None)
    assert search.best_score_ > 0.99
    assert clone(QuadraticNetRegressor(3, alpha=2.0)).get_params()["alpha"] == 2.0


def test_digits_against_polynomial_features():
    """scikit-learn's digits, 4 against 7, as in paper 002, section 4.3: ten components, unit norm, a leading one."""
    images, labels = load_digits(return_X_y=True)
    kept = (labels == 4) | (labels == 7)
    images, y = images[kept], np.where(labels[kept] == 4, 1.0, -1.0)
    _, _, components = np.linalg.svd(images - images.mean(axis=0), full_matrices=False)
    X = (images - images.mean(axis=0)) @ components[:10].T
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    with pytest.warns(UndeterminedWarning, match="65 of 66"):  # unit norm: Σx² and 1 are the same function
        model = QuadraticNetRegressor(alpha=0.0).fit(X, y)
    error = np.mean((y - model.predict(X)) ** 2)
    assert error == pytest.approx(np.mean((y - lstsq_predictions(X, y)) ** 2), rel=1e-9)
    assert model.undetermined_.dimension == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndeterminedWarning)
        classifier = QuadraticNetClassifier(alpha=0.0).fit(X, labels[kept])
        deep = DeepQuadraticRegressor(2).fit(X, y)
    assert set(classifier.predict(X)) == {4, 7} and classifier.score(X, labels[kept]) > 0.99
    # 363 images, 1001 features of degree 4: an exact fit, which no network beats
    assert deep.certificate_.proved and deep.certificate_.loss < 1e-20


def test_polynomial_network_is_theorem_g1(problem, rng):
    X, y = problem
    model = PolynomialNetRegressor(3).fit(X, y)
    assert np.allclose(model.predict(X), lstsq_predictions(X, y, 3), atol=1e-8)
    assert model.network_.width == 35 and model.certificate_.proved
    assert np.allclose(model.network_(np.c_[X, np.ones(len(X))]), model.predict(X), atol=1e-6)
    cube = (X @ [1.0, -1.0, 0.5, 0.0] + 0.3) ** 3
    narrow = PolynomialNetRegressor(3, width=1, runs=5).fit(X, cube)
    assert narrow.network_.width == 1 and narrow.optimality_gap_ < 1e-8
    assert np.allclose(narrow.predict(X), cube, atol=1e-3)


def test_receptive_field_from_spikes():
    """Issue: excitatory and suppressive filters within 5° at 20,000 stimuli (16 inputs, rectified Poisson rate)."""
    grid = np.arange(16)
    excite = np.exp(-((grid - 5) ** 2) / 4) * np.cos(grid)
    suppress = np.exp(-((grid - 10) ** 2) / 6) * np.sin(grid)
    excite, suppress = excite / np.linalg.norm(excite), suppress / np.linalg.norm(suppress)
    suppress -= (suppress @ excite) * excite
    X, spikes = simulate_spikes(excite[None], suppress[None], 20_000, rng=1)
    field = receptive_field(QuadraticNetRegressor().fit(X, spikes))
    for found, true in ((field.excitatory[0], excite), (field.suppressive[0], suppress)):
        cosine = abs(found @ true) / np.linalg.norm(true)
        assert np.degrees(np.arccos(min(cosine, 1.0))) < 5
    assert abs(field.eigenvalues[2]) < 0.3 * abs(field.eigenvalues[1])


def test_bad_input_is_refused_by_name(problem):
    X, y = problem
    with pytest.raises(ValueError, match="NaN"):
        QuadraticNetRegressor().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="1 sample"):
        QuadraticNetRegressor().fit(X[:1], y[:1])
    frame = pd.DataFrame(X, columns=list("abcd")).assign(city="here")
    with pytest.raises(sh.InvalidProblem, match=r"city.*OneHotEncoder"):
        QuadraticNetRegressor().fit(frame, y)
    with pytest.warns(WidthWarning, match="D = 5"):
        QuadraticNetRegressor(9).fit(X, y)
    with pytest.warns(UndeterminedWarning, match="minimum norm"):
        QuadraticNetRegressor(alpha=0.0).fit(X[:6], y[:6])
    for settings, what in (
        ({"solver": "magic"}, "solver"),
        ({"alpha": -1.0}, "alpha"),
        ({"width": 0}, "width"),
        ({"method": "x"}, "method"),
        ({"orthogonality": 1.0}, "orthogonality"),
        ({"solver": "descent", "alpha": 1.0}, "alpha"),
    ):
        with pytest.raises(sh.InvalidProblem, match=what):
            QuadraticNetRegressor(**settings).fit(X, y)
    with pytest.raises(ValueError, match=r"non-zero number|weight zero"):
        QuadraticNetRegressor().fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(sh.InvalidProblem, match="2 classes"):
        QuadraticNetClassifier().fit(X, np.ones(len(X)))
    with pytest.raises(sh.InvalidProblem, match="classes"):
        QuadraticNetClassifier().partial_fit(X, y > 0)


def test_certificate_and_runs_have_readable_texts(problem):
    model = QuadraticNetRegressor().fit(*problem)
    assert "proved" in repr(model.certificate_) and "gap" in repr(model.certificate_)


def test_eigenvalues_of_equal_size_come_positive_first(rng):
    """±λ are equal in size to rounding only: their order must not depend on it."""
    vectors, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    for noise in (0.0, 1e-14, -1e-14):
        matrix = (vectors * [0.5 + noise, -0.5, 2.0, -1.0]) @ vectors.T
        neurons = neurons_of(matrix[None], 4, False)
        assert np.allclose(neurons.eigenvalues[0], [2.0, -1.0, 0.5, -0.5])
        assert np.allclose((neurons.vectors[0].T * neurons.eigenvalues[0]) @ neurons.vectors[0], matrix)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e5])
def test_a_norm_neuron_far_from_the_origin_does_no_harm(problem, offset):
    """With weight zero it is the network without one, whose loss it must reach, however large ‖z‖² is."""
    X, y = problem
    plain, more = (QuadraticNetRegressor(3, norm_neuron=n).fit(X + offset, y) for n in (False, True))
    assert more.certificate_.proved
    assert more.certificate_.loss <= plain.certificate_.loss * (1 + 1e-4)
