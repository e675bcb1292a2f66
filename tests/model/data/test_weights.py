"""Weighted samples: an integer weight is so many copies, in everything that is computed from samples."""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh


@pytest.fixture
def pair():
    """Weighted samples, and the same ones as copies."""
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((9, 2)), rng.standard_normal((9, 2))
    weights = np.array([1, 3, 0, 2, 1, 1, 4, 0, 2])
    return sh.Samples(X, y, weights), sh.Samples(np.repeat(X, weights, axis=0), np.repeat(y, weights, axis=0))


def one_output(data: sh.Samples) -> sh.Samples:
    return sh.Samples(data.X, data.y[:, 0], data.given)


def test_weights_have_mean_one_whatever_their_unit(pair):
    weighted = pair[0]
    assert weighted.weights.mean() == pytest.approx(1.0)
    scaled = sh.Samples(weighted.X, weights=1e-200 * weighted.given)
    np.testing.assert_allclose(scaled.gram(2), weighted.gram(2), rtol=1e-14)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_moments_and_metrics(pair, degree):
    weighted, copies = pair
    np.testing.assert_allclose(weighted.moments(degree), copies.moments(degree), rtol=1e-13)
    np.testing.assert_allclose(weighted.gram(degree), copies.gram(degree), rtol=1e-13)
    assert weighted.exact_moments(degree).tolist() == copies.exact_moments(degree).tolist()
    assert weighted.is_nondegenerate(degree) == copies.is_nondegenerate(degree)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"activation": sh.Power(3)},
        {"activation": sh.ReLU()},
        {"activation": sh.Polynomial([0.5, 1.0, 1.0])},
        {"activation": sh.Smooth("tanh")},
        {"norm_neuron": True},
        {"bias": True},
    ],
    ids=["z²", "z³", "ReLU", "polynomial", "tanh", "norm", "bias"],
)
def test_losses_and_derivatives(pair, options):
    weighted, copies = (sh.Problem(None, data, 3, **options) for data in pair)
    theta = np.random.default_rng(1).standard_normal(weighted.size)
    net = weighted.unpack(theta)
    assert weighted.loss(net) == pytest.approx(copies.loss(net), rel=1e-12)
    np.testing.assert_allclose(weighted.gradient(net), copies.gradient(net), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(weighted.hessian(net), copies.hessian(net), rtol=1e-9, atol=1e-11)
    assert sh.check_derivatives(weighted, net).passed


def test_kernels(pair):
    W = np.random.default_rng(2).standard_normal((3, 2))
    values = [data.kernel(sh.ReLU(), sh.Power(2)).value(W, W) for data in pair]
    np.testing.assert_allclose(*values, rtol=1e-13)


def test_charts(pair):
    charts = [sh.chart(sh.Problem(None, one_output(data), 1)) for data in pair]
    np.testing.assert_allclose(charts[0].losses, charts[1].losses, rtol=1e-12)
    assert charts[0].completeness == "proved"
    exact = sh.chart(sh.Problem(None, one_output(pair[0]), 1), method="exact")
    np.testing.assert_allclose(exact.losses, charts[0].losses, rtol=1e-9)


@pytest.mark.parametrize("activation", [sh.Power(2), sh.Smooth("tanh")])
def test_levenberg_marquardt_descends_the_weighted_loss(pair, activation):
    problem = sh.Problem(None, one_output(pair[0]), 1, activation)
    runs = sh.ensemble(problem, runs=5, method="lm", rng=0)
    assert runs.converged.any()
    best = problem.unpack(runs.thetas[runs.converged][0])
    assert np.abs(problem.gradient(best)).max() < 1e-6


def test_draws_follow_the_weights():
    data = sh.Samples([[0.0], [1.0], [2.0]], weights=[1, 0, 3])
    drawn = data.sample(4000, rng=0)[:, 0]
    assert not np.any(drawn == 1.0) and np.mean(drawn == 2.0) == pytest.approx(0.75, abs=0.03)


def test_only_samples_of_positive_weight_span():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert sh.Samples(X).is_nondegenerate(2) and not sh.Samples(X, weights=[1, 1, 0]).is_nondegenerate(2)
    with pytest.raises(sh.InvalidProblem, match="degenerate"):
        sh.chart(sh.Problem(None, sh.Samples(X, [1.0, 2.0, 3.0], [1, 1, 0]), 1))


def test_weighted_problems_are_stored(pair, tmp_path):
    chart = sh.chart(sh.Problem(None, one_output(pair[0]), 1))
    again = sh.load_chart(chart.save(tmp_path / "weighted"))
    np.testing.assert_array_equal(again.problem.data.weights, pair[0].weights)


def test_problem_files_have_weights_and_several_labels(tmp_path):
    (tmp_path / "data.csv").write_text("a,w,b,y,z\n1,2,0,1,0\n0,1,1,4,1\n1,1,1,9,2\n2,0,1,3,3\n")
    for label, shape, inputs in (('"y"', (4,), 3), ('["y", "z"]', (4, 2), 2)):
        table = f'{{ law = "samples", file = "data.csv", label = {label}, weight = "w" }}'
        (tmp_path / "p.toml").write_text(f"width = 1\ndata = {table}\n")
        data = sh.load_problem(tmp_path / "p.toml").data
        assert (data.y.shape, data.X.shape[1], data.given.tolist()) == (shape, inputs, [2, 1, 1, 0])


@pytest.mark.parametrize("weights", [[1.0, 2.0], [1.0, -1.0, 1.0], [0.0, 0.0, 0.0], [1.0, np.nan, 1.0]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(sh.InvalidProblem, match="weights"):
        sh.Samples(np.eye(3), weights=weights)
