"""Deep quadratic networks: gradients, the two routes, the equivalent least squares, Figure 4's pattern."""

import numpy as np
import pytest

import shallows as sh
from shallows import coordinates
from shallows.learn import DeepQuadraticRegressor, train_deep
from shallows.learn.deep.full_width import full_width
from shallows.learn.deep.layers import Shape, forward
from shallows.learn.deep.losses import Quadratic, collector, in_function_space, on_samples
from shallows.learn.frame import Frame, features, to_matrix
from shallows.learn.least_squares import dense
from shallows.learn.solve import mean_square
from shallows.learn.statistics import Statistics


def setting(rng, hidden=(4,), outputs=1, count=200, n=3):
    X, Y = rng.standard_normal((count, n)), rng.standard_normal((count, outputs))
    shape = Shape.of(n, hidden, outputs)
    return X, Y, rng.random(count) + 0.5, shape, rng.standard_normal((3, shape.size)) / 3


@pytest.mark.parametrize("hidden", [(), (4,), (3, 2)])
def test_forward_is_layers_of_quadratic_forms(rng, hidden):
    X, _, _, shape, thetas = setting(rng, hidden, 2)
    v = X
    for layer, size in zip(shape.split(thetas[0]), shape.sizes[:-1], strict=True):
        v = np.einsum("ni,hij,nj->nh", v, to_matrix(layer, size), v)
    assert np.allclose(forward(shape, thetas[0], X), v)
    assert shape.degree == 2 ** (len(hidden) + 1)


@pytest.mark.parametrize("hidden", [(4,), (3, 2)])
@pytest.mark.parametrize("outputs", [1, 2])
def test_gradients_against_finite_differences(rng, hidden, outputs):
    X, Y, weights, shape, thetas = setting(rng, hidden, outputs)
    evaluate = on_samples(shape, X, Y, weights, 0.7)
    values, gradients = evaluate(thetas)
    for i in range(3):
        layers = shape.split(thetas[i])
        penalty = sum(np.sum((a @ a.T - np.eye(len(a))) ** 2) for a in layers[:-1])
        assert values[i] == pytest.approx(
            mean_square(Y - forward(shape, thetas[i], X), weights) + 0.7 * penalty
        )
    direction = rng.standard_normal(thetas.shape)
    slope = (evaluate(thetas + 1e-6 * direction)[0] - evaluate(thetas - 1e-6 * direction)[0]) / 2e-6
    assert np.allclose(slope, np.sum(gradients * direction, axis=1), rtol=1e-5)


@pytest.mark.parametrize("outputs", [1, 2])
def test_function_space_and_samples_agree(rng, outputs):
    X, Y, weights, shape, thetas = setting(rng, (4,), outputs)
    frame = Frame.identity(3, False)
    solution = dense(X, Y, weights, frame, 4, 0.0)
    statistics = Statistics.empty(frame, 4, outputs).add(X, Y, weights)
    quadratic = Quadratic(
        statistics.gram / statistics.weight, solution.entries, mean_square(Y - solution.predict(X), weights)
    )
    fast, slow = (
        in_function_space(shape, quadratic, 0.3)(thetas),
        on_samples(shape, X, Y, weights, 0.3)(thetas),
    )
    assert np.allclose(fast[0], slow[0]) and np.allclose(fast[1], slow[1], atol=1e-9)


@pytest.mark.parametrize(("n", "degree"), [(3, 1), (3, 2), (2, 4)])
def test_collector_has_orthonormal_rows(n, degree):
    C = collector(n, degree)
    assert np.allclose((C @ C.T).toarray(), np.eye(coordinates.dimension(n, 2 * degree)))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_every_form_is_a_network_of_full_width(rng, depth):
    entries = rng.standard_normal((2, coordinates.dimension(2, 2**depth)))
    shape, theta = full_width(entries, 2, depth)
    X = rng.standard_normal((10, 2))
    assert np.allclose(forward(shape, theta, X), features(X, 2**depth) @ entries.T)


def test_starts_are_orthonormal_with_zero_output(rng):
    shape = Shape.of(4, (5, 3), 1)
    theta = shape.start(rng)
    first, second, last = shape.split(theta)
    assert np.allclose(first @ first.T, np.eye(5)) and np.allclose(second @ second.T, np.eye(3))
    assert not last.any()


def figure_4(kind, seed):
    """The data of paper 002, Figure 4, after its released code: 1000 samples, 9 inputs."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1000, 9))
    if kind == "planted":
        X /= 3
        X[:, 0] = 1
        return X, features(X, 4) @ rng.standard_normal(495)
    y = rng.standard_normal(1000)
    return X, y - y.mean()


def test_independent_labels_reach_the_optimum_from_15_hidden_units():
    """Published (stored results of Figure 4): none of 50 runs within 0.005 at h1 = 10, all of them at h1 = 15."""
    X, y = figure_4("independent", 0)
    few, enough = (train_deep(X, y, (h,), 2, iterations=400) for h in (10, 15))
    assert few.share_within(0.005) == 0.0
    assert enough.share_within(0.005) == 1.0
    assert enough.optimal_nmse == pytest.approx(0.51, abs=0.03)
    assert enough.stationarity.max() < 0.5 * few.stationarity.min()


def test_planted_labels_reach_the_optimum_from_10_hidden_units():
    """Published: all of 50 runs within 0.005 at h1 = 10, none at h1 = 5."""
    X, y = figure_4("planted", 0)
    few, enough = (train_deep(X, y, (h,), 2, iterations=800) for h in (5, 10))
    assert few.share_within(0.005) == 0.0
    assert enough.share_within(0.005) == 1.0 and enough.optimal_nmse < 1e-20


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "hidden", "share"), [("planted", 10, 1.0), ("independent", 15, 1.0)])
def test_figure_4_on_five_data_sets(kind, hidden, share):
    runs = [train_deep(*figure_4(kind, seed), (hidden,), 10, iterations=3000) for seed in range(5)]
    assert np.mean([r.share_within(0.005) for r in runs]) == share


def test_adam_and_penalty_train_too(rng):
    X = rng.standard_normal((300, 3))
    y = (X[:, 0] * X[:, 1] - X[:, 2] ** 2) ** 2
    plain = train_deep(X, y, (4,), 2, penalty=1.0, iterations=1500)
    assert plain.nmse.min() < 1e-6
    slow = train_deep(X, y, (4,), 1, method="adam", iterations=1000)
    assert slow.nmse.max() < 0.9
    assert "NMSE" in repr(plain)


def test_three_layers_and_the_estimator(rng):
    X = rng.standard_normal((300, 2))
    y = ((X[:, 0] ** 2 - X[:, 1] ** 2) ** 2 + X[:, 0] ** 4) ** 2
    model = DeepQuadraticRegressor((3, 2), affine=False, runs=2, iterations=500).fit(X, y)
    assert model.runs_.optimal_nmse < 1e-20 and model.score(X, y) > 0.99
    exact = DeepQuadraticRegressor(3, affine=False).fit(X, y)
    assert exact.certificate_.loss < 1e-12 * np.mean(y**2)
    shape, theta = exact.layers_of()
    assert np.allclose(forward(shape, theta, X), exact.predict(X)[:, None], rtol=1e-6, atol=1e-6)


def test_same_seed_same_runs(rng):
    X, y = rng.standard_normal((100, 3)), rng.standard_normal(100)
    first, second = (train_deep(X, y, (3,), 2, iterations=50, rng=5) for _ in range(2))
    assert np.array_equal(first.thetas, second.thetas) and first.seed == "5"


def test_bad_input_is_refused(rng):
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    for settings, what in (
        ({"method": "sgd"}, "method"),
        ({"hidden": 3}, "hidden"),
        ({"hidden": (0,)}, "hidden size"),
        ({"penalty": -1.0}, "penalty"),
        ({"sample_weight": np.zeros(20)}, "sample_weight"),
    ):
        with pytest.raises(sh.InvalidProblem, match=what):
            train_deep(X, y, **settings)
    with pytest.raises(sh.InvalidProblem, match="rows"):
        train_deep(X, y[:5])
    with pytest.raises(sh.InvalidProblem, match="degree 32"):
        DeepQuadraticRegressor(5).fit(X, y)
    unknown = train_deep(rng.standard_normal((30, 12)), rng.standard_normal(30), (3, 2), 1, iterations=5)
    with pytest.raises(sh.InvalidProblem, match="not known"):
        unknown.share_within(0.1)
