"""Deep quadratic networks: gradients, the two routes, the equivalent least squares, Figure 4's pattern."""

import numpy as np
import pytest

import shallows as sh
from shallows.learn import DeepQuadraticRegressor, train_deep
from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.deep.factors import Factors, through_forms
from shallows.questions.learn.deep.full_width import full_width
from shallows.questions.learn.deep.layers import Shape, forward
from shallows.questions.learn.deep.losses import Quadratic, collector, in_function_space, on_samples
from shallows.questions.learn.fitting.frame import Frame, features, to_matrix
from shallows.questions.learn.fitting.least_squares import dense
from shallows.questions.learn.fitting.solve import mean_square
from shallows.questions.learn.fitting.statistics import Statistics


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


@pytest.mark.parametrize("hidden", [(4,), (3, 2)])
def test_factors_are_the_paper_s_parameters(rng, hidden):
    """A_i = QΛ_iQᵀ written out, equation F.1 with the last layer's penalty, and its gradient by finite differences."""
    X, Y, weights, shape, _ = setting(rng, hidden, 2)
    factors = Factors(shape)
    begin = np.array([factors.start(rng) for _ in range(2)])
    assert np.allclose(
        factors.forms(begin)[:, : shape.parts[0][0] * shape.parts[0][1]] ** 2
        @ np.ones(shape.parts[0][0] * shape.parts[0][1]),
        shape.sizes[1],
    )  # orthonormal A_i
    thetas = begin + 0.2 * rng.standard_normal(begin.shape)
    forms = shape.split(factors.forms(thetas))
    penalty = 0.0
    for number, (Q, weight) in enumerate(factors.split(thetas[:1])):
        A = [Q[0] @ np.diag(row) @ Q[0].T for row in weight[0]]
        assert np.allclose(to_matrix(forms[number][0], Q.shape[1]), A)
        last = number == shape.depth - 1
        tilde = Q[0] if last else np.array([a.ravel() for a in A]).T
        penalty += np.sum((tilde.T @ tilde - np.eye(tilde.shape[1])) ** 2)
    assert Q.shape[1:] == (hidden[-1], hidden[-1]) and factors.neurons[0] == 3 * hidden[0]
    evaluate = through_forms(factors, on_samples(shape, X, Y, weights, 0.7), 0.7)
    values, gradients = evaluate(thetas)
    loss = mean_square(Y - forward(shape, factors.forms(thetas)[0], X), weights)
    assert values[0] == pytest.approx(loss + 0.7 * penalty)
    direction = rng.standard_normal(thetas.shape)
    slope = (evaluate(thetas + 1e-6 * direction)[0] - evaluate(thetas - 1e-6 * direction)[0]) / 2e-6
    assert np.allclose(slope, np.sum(gradients * direction, axis=1), rtol=1e-5)


def test_factors_reach_the_same_optimum(rng):
    X, y = planted(rng)
    runs = train_deep(X, y, (4,), 2, penalty=1.0, factors=True, iterations=1500)
    assert runs.nmse.max() < 1e-12


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
    few, enough = (train_deep(X, y, (h,), 2, iterations=800) for h in (10, 15))
    assert few.share_within(0.005) == 0.0
    assert enough.share_within(0.005) == 1.0
    assert enough.optimal_nmse == pytest.approx(0.51, abs=0.03)
    assert enough.stationarity.max() < 0.05 * few.stationarity.min()  # Lemma F.1: zero at the optimum only
    assert np.all(enough.nmse - enough.optimal_nmse < 1e-5)


def test_planted_labels_reach_the_optimum_from_10_hidden_units():
    """Published: all of 50 runs within 0.005 at h1 = 10, none at h1 = 5."""
    X, y = figure_4("planted", 0)
    few, enough = (train_deep(X, y, (h,), 2, iterations=1000) for h in (5, 10))
    assert few.share_within(0.005) == 0.0
    assert enough.share_within(0.005) == 1.0 and enough.optimal_nmse < 1e-20


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "hidden", "share"), [("planted", 10, 1.0), ("independent", 15, 1.0)])
def test_figure_4_on_five_data_sets(kind, hidden, share):
    runs = [train_deep(*figure_4(kind, seed), (hidden,), 10, iterations=3000) for seed in range(5)]
    assert np.mean([r.share_within(0.005) for r in runs]) == share


def planted(rng, count=300):
    X = rng.standard_normal((count, 3))
    return X, (X[:, 0] * X[:, 1] - X[:, 2] ** 2) ** 2


def test_the_penalty_trains_to_an_exact_fit_with_orthonormal_forms(rng):
    """Equation F.1: at a fit of zero loss the penalty can vanish too, and then Q̃ᵀQ̃ = I."""
    X, y = planted(rng)
    runs = train_deep(X, y, (4,), 2, penalty=1.0, iterations=1500)
    assert runs.nmse.max() < 1e-12
    unit = np.sqrt(np.mean(np.sum(X**2, axis=1)) / 2)
    for theta in runs.thetas:
        first = runs.shape.split(theta)[0] * unit**2
        assert np.allclose(first @ first.T, np.eye(4), atol=1e-6)
    assert "NMSE" in repr(runs)


def test_adam_takes_the_steps_of_the_textbook(rng):
    """Kingma and Ba's algorithm written out, on the gradients of the samples; and it trains."""
    X, y = planted(rng)
    runs = train_deep(X, y, (4,), 1, method="adam", iterations=30, rng=3)
    unit = np.sqrt(np.mean(np.sum(X**2, axis=1)) / 2)
    shape = runs.shape
    evaluate = on_samples(shape, X / unit, y[:, None], np.ones(len(X)), 0.0)
    theta = shape.start(np.random.default_rng(3).spawn(1)[0])
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    for t in range(1, 31):
        g = evaluate(theta[None])[1][0]
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        size = 1e-3 * 0.5 * (1 + np.cos(np.pi * (t - 1) / 30))
        theta = theta - size * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    theta[: shape.parts[0][0] * shape.parts[0][1]] /= unit**2
    assert np.allclose(runs.thetas[0], theta, rtol=1e-6, atol=1e-9)
    assert train_deep(X, y, (4,), 2, method="adam", iterations=3000).nmse.max() < 0.01


def test_three_layers_and_the_estimator(rng):
    X = rng.standard_normal((300, 2))
    y = ((X[:, 0] ** 2 - X[:, 1] ** 2) ** 2 + X[:, 0] ** 4) ** 2
    model = DeepQuadraticRegressor((3, 2), affine=False, runs=3, iterations=800).fit(X, y)
    assert model.runs_.optimal_nmse < 1e-20 and model.score(X, y) > 1 - 1e-9
    assert model.certificate_.proved and model.optimality_gap_ < 1e-9 * np.mean(y**2)
    exact = DeepQuadraticRegressor(3, affine=False).fit(X, y)
    assert exact.certificate_.proved and exact.certificate_.loss < 1e-20 * np.mean(y**2)
    shape, theta = exact.layers_of()
    assert np.allclose(forward(shape, theta, X), exact.predict(X)[:, None], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("n", "hidden"), [(3, 9), (2, 4)])
def test_symmetric_forms_span_half_of_theorem_f1(rng, n, hidden):
    """Theorem F.1 asks for rank(Q̃) = d² with h₁ = d²; symmetric A_i span d(d+1)/2 dimensions only, and that is enough.

    Every quartic is still reached: vec A lies in the symmetric matrices, and so does x xᵀ.
    """
    A = [m + m.T for m in rng.standard_normal((hidden, n, n))]
    stacked = np.array([a.ravel() for a in A])
    assert np.linalg.matrix_rank(stacked) == n * (n + 1) // 2 < n**2
    entries = rng.standard_normal((1, coordinates.dimension(n, 4)))
    shape, theta = full_width(entries, n, 2)
    assert shape.sizes[1] == n * (n + 1) // 2
    X = rng.standard_normal((20, n))
    assert np.allclose(forward(shape, theta, X), features(X, 4) @ entries.T)


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
    with pytest.raises(sh.InvalidProblem, match="one output"):
        train_deep(X, np.c_[y, y], factors=True)
    with pytest.raises(sh.InvalidProblem, match="degree 2\\^5"):
        DeepQuadraticRegressor(5).fit(X, y)
    unknown = train_deep(rng.standard_normal((30, 12)), rng.standard_normal(30), (3, 2), 1, iterations=5)
    with pytest.raises(sh.InvalidProblem, match="not known"):
        unknown.share_within(0.1)
