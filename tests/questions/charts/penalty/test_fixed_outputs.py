"""Fixed outer weights of several outputs beside norm neurons and under a penalty, against a loss in plain NumPy."""

import re

import numpy as np
import pytest
from tests.questions.charts.penalty.plain_losses import PlainLoss, are_critical, compared

import shallows as sh

APART = np.array([[1.0, 1.0], [1.0, -1.0]])


def problem_of(outer, n=2, seed=0, gamma=0.0, norm=False, bias=False, kind="random"):
    outer = np.array(outer)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, n))
    Y = np.einsum("pi,mij,pj->pm", X, rng.standard_normal((len(outer), n, n)), X)
    Y = Y + rng.standard_normal(Y.shape)
    Y = {"random": Y, "zero": 0 * Y, "repeated": np.repeat(Y[:, :1], len(outer), axis=1)}[kind]
    problem = sh.Problem(
        None,
        sh.Samples(X, Y),
        outer.shape[1],
        outer=outer,
        norm_neuron=norm,
        orthogonality=gamma,
        bias=bias,
    )
    return problem, PlainLoss(X, Y, outer.shape[1], gamma, outer, norm, bias)


@pytest.mark.parametrize("kind", ["random", "zero", "repeated"])
@pytest.mark.parametrize(
    ("gamma", "norm"), [pytest.param(0.0, True, marks=pytest.mark.thorough), (0.7, False), (0.7, True)]
)
def test_against_zeros_of_a_plain_gradient(kind, gamma, norm):
    problem, loss = problem_of(APART, gamma=gamma, norm=norm, kind=kind)
    chart = sh.chart(problem)
    are_critical(loss, chart)
    compared(loss, chart, 40)
    if kind == "random":
        assert chart.completeness == "trace-tested" and chart.attained
        assert all(point.certificate is not None for point in chart.critical)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("outer", "n", "gamma", "norm", "bias"),
    [
        (APART, 3, 0.0, True, False),
        (APART, 3, 0.7, False, False),
        (APART, 2, 0.0, True, True),
        ([[1.0, 1.0, 0.5], [1.0, -1.0, 2.0]], 2, 0.7, False, False),
        ([[1.0, 0.5], [1.0, 2.0], [0.0, 1.0]], 2, 0.4, True, False),
    ],
)
def test_all_critical_networks_are_met(outer, n, gamma, norm, bias, seed):
    problem, loss = problem_of(outer, n, seed, gamma, norm, bias)
    chart = sh.chart(problem)
    are_critical(loss, chart)
    assert len(compared(loss, chart, 400)) >= len(chart.critical) - 2


@pytest.mark.thorough
def test_biases_beside_norm_neurons():
    problem, loss = problem_of(APART, norm=True, bias=True, seed=6, n=1)
    chart = sh.chart(problem)
    are_critical(loss, chart)
    compared(loss, chart, 30)


def test_a_neuron_that_is_left_out_is_noticed(monkeypatch):
    from shallows.questions.charts.penalty import fixed_outputs_chart

    problem, loss = problem_of(APART, gamma=0.7, seed=4)
    chosen = list(fixed_outputs_chart.in_use(problem.outer))
    monkeypatch.setattr(fixed_outputs_chart, "in_use", lambda outer: chosen[1:])
    with pytest.raises(AssertionError, match="missing"):
        compared(loss, sh.chart(problem), 60)


def test_minima_by_descent():
    problem, _ = problem_of(APART, gamma=0.7, seed=3)
    chart = sh.chart(problem)
    runs = sh.ensemble(problem, runs=10, method="lbfgs", tolerance=1e-9)
    losses = np.array(runs.losses)[runs.converged]
    assert len(losses) and losses.min() >= chart.infimum - 1e-9
    for value in losses:
        assert np.abs(chart.losses - value).min() <= 1e-8 * (1 + value)


@pytest.mark.parametrize(
    ("outer", "n", "gamma"),
    [([[1.0, 2.0, 0.0], [1.0, 2.0, 1.0]], 2, 0.0), ([[1.0, 1.0, 0.5], [1.0, -1.0, 2.0]], 2, 0.0)],
)
def test_a_refusal_gives_the_rank_of_what_is_seen(outer, n, gamma):
    """The rank and the dimension in its words, by differences of what a plain loss sees, up to ‖x‖²."""
    problem, loss = problem_of(outer, n, gamma=gamma, norm=True)
    with pytest.raises(sh.InvalidProblem) as refused:
        sh.chart(problem)
    rank, dimension = (
        int(re.search(words + r" (\d+)", str(refused.value))[1]) for words in ("rank", "dimension")
    )
    count = int(re.match(r"(\d+) squares", str(refused.value))[1])
    loss = PlainLoss(loss.X, loss.Y, count, 0.0, np.array(outer)[:, :count])
    M, size = len(outer), n * count

    def seen(theta):
        matrices = loss.seen(theta)[: M * (n + 1) ** 2].reshape(M, n + 1, n + 1)[:, 1:, 1:]
        traces = np.trace(matrices, axis1=1, axis2=2)
        return (matrices - traces[:, None, None] * np.eye(n) / n).ravel()

    x, h = np.random.default_rng(1).standard_normal(size), 1e-6
    table = np.array([(seen(x + h * e) - seen(x - h * e)) / (2 * h) for e in np.eye(size)])
    assert np.linalg.matrix_rank(table, tol=1e-6) == rank < size and dimension == size - rank


def test_what_is_refused_says_why():
    with pytest.raises(sh.InvalidProblem, match="changes no output, WᵀW alone"):
        sh.chart(problem_of([[1.0, -1.0, 0.0], [1.0, -1.0, 1.0]], gamma=0.5)[0])
    with pytest.raises(sh.InvalidProblem, match="sphere"):
        sh.chart(problem_of([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]], gamma=0.5)[0])
    with pytest.raises(sh.InvalidProblem, match="homotopy only"):
        sh.chart(problem_of(APART, norm=True)[0], method="exact")
    with pytest.raises(sh.InvalidProblem, match=r"on \(1, x\) and on x"):
        sh.chart(problem_of(APART, gamma=0.5, bias=True)[0])


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_one_output_with_biases_and_weights_of_one_sign(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 2))
    y = rng.standard_normal(30) + 3 * X[:, 0] ** 2
    outer = np.array([[1.0, 2.0]])
    problem = sh.Problem(None, sh.Samples(X, y), 2, outer=outer[0], orthogonality=0.7, bias=True)
    chart = sh.chart(problem)
    loss = PlainLoss(X, y[:, None], 2, 0.7, outer, bias=True)
    assert chart.completeness == "trace-tested" and chart.complex_count[2] == 85
    are_critical(loss, chart)
    compared(loss, chart, 200)


@pytest.mark.thorough
def test_one_output_with_biases_against_a_matrix():
    form = np.array([[-0.5, 0.5, 0.2], [0.5, 2.0, 0.3], [0.2, 0.3, 1.0]])
    problem = sh.Problem(form, sh.Gaussian(2), 2, outer=[1.0, 2.0], orthogonality=0.5, bias=True)
    for point in sh.chart(problem).critical:
        assert np.abs(problem.gradient(point.network)).max() < 1e-9
        assert abs(problem.loss(point.network) - point.loss) < 1e-9


def test_one_output_with_biases_is_refused_where_there_are_limits_or_sets():
    X, y = np.random.default_rng(0).standard_normal((9, 1)), np.ones(9)
    for outer, words in (([1.0, -1.0], "biases that grow alike"), ([1.0, 2.0], "set of dimension 0")):
        with pytest.raises(sh.InvalidProblem, match=words):
            sh.chart(sh.Problem(None, sh.Samples(X, y), 2, outer=outer, orthogonality=0.5, bias=True))
