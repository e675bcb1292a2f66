"""Several outputs with trained weights under a penalty, against a loss in plain NumPy and a search by least squares."""

from dataclasses import replace

import numpy as np
import pytest
from tests.questions.charts.penalty.plain_losses import PlainLoss, are_critical, compared

import shallows as sh
from shallows.questions.charts.penalty.joined_zeros import common_zeros


def problem_of(kind, n, outputs, width, seed, norm=False, bias=False, gamma=0.7, samples=30):
    """Labels of a teacher: random forms and noise, or special ones without."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, n))
    T = rng.standard_normal((outputs, n, n))
    w = rng.standard_normal(n)
    forms = {
        "random": T + T.transpose(0, 2, 1),
        "diagonal": T * np.eye(n),
        "identity": np.multiply.outer(np.arange(1.0, outputs + 1), np.eye(n)),
        "repeated": np.repeat(T[:1] + T[:1].transpose(0, 2, 1), outputs, axis=0),
        "rank one": np.multiply.outer(rng.standard_normal(outputs), np.outer(w, w)),
        "zero": np.zeros((outputs, n, n)),
        "constant": np.zeros((outputs, n, n)),
    }[kind]
    Y = np.einsum("pi,mij,pj->pm", X, forms, X)
    Y = Y + rng.standard_normal(Y.shape) if kind == "random" else Y
    Y = Y + np.arange(1.0, outputs + 1) if kind == "constant" else Y
    problem = sh.Problem(
        None, sh.Samples(X, Y), width, norm_neuron=norm, bias=bias, orthogonality=gamma, outer="free"
    )
    return problem, PlainLoss(X, Y, width, gamma, norm=norm, bias=bias)


@pytest.mark.parametrize(
    ("kind", "width", "starts"),
    [("random", 2, 16), ("random", 3, 15), ("zero", 2, 8), ("rank one", 2, 8), ("repeated", 2, 8)],
)
def test_two_inputs_against_zeros_of_a_plain_gradient(kind, width, starts):
    problem, loss = problem_of(kind, 2, 2, width, 2)
    chart = sh.chart(problem)
    assert chart.completeness in ("trace-tested", "proved") and chart.attained
    are_critical(loss, chart)
    assert compared(loss, chart, starts) or kind == "zero"
    assert chart.critical[0].kind == "global minimum"


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["random", "diagonal", "identity", "rank one"])
@pytest.mark.parametrize(("outputs", "width"), [(2, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize("seed", [11, 12])
def test_all_points_are_met(kind, outputs, width, seed):
    problem, loss = problem_of(kind, 2, outputs, width, seed)
    chart = sh.chart(problem)
    are_critical(loss, chart)
    met = compared(loss, chart, 400)
    limits = {i for i, point in enumerate(chart.critical) if point.limit}
    assert 0 in met and len(met | limits) >= len(chart.critical) - 2


@pytest.mark.thorough
def test_a_stratum_that_is_left_out_is_noticed(monkeypatch):
    """Sabotage: without two neurons, or without one, the search finds what is missing."""
    from shallows.questions.charts.penalty import joined_chart

    problem, loss = problem_of("random", 2, 2, 2, 2)
    monkeypatch.setattr(joined_chart, "_one_neuron", lambda *_: None)
    with pytest.raises(AssertionError, match="missing"):
        compared(loss, sh.chart(problem), 30)
    monkeypatch.undo()
    monkeypatch.setattr(joined_chart, "_two_neurons", lambda *_: None)
    with pytest.raises(AssertionError, match="missing"):
        compared(loss, sh.chart(problem), 60)


@pytest.mark.parametrize(("n", "norm"), [(3, False), (3, True)])
def test_one_neuron_is_the_plain_chart_and_a_constant(n, norm):
    problem, loss = problem_of("random", n, 2, 1, 3, norm)
    chart = sh.chart(problem)
    assert chart.completeness == "proved"
    are_critical(loss, chart)
    compared(loss, chart, 15)
    samples = problem.data.as_samples()
    plain = sh.chart(sh.Problem(None, samples, 1, norm_neuron=norm))
    levels = [point.loss + 0.7 * (n - point.rank) for point in plain.critical]
    for level in levels:
        assert np.abs(chart.losses - level).min() < 1e-9 * (1 + level)


@pytest.mark.parametrize(
    ("kind", "norm"), [("random", False), ("random", True), ("constant", False), ("zero", False)]
)
def test_one_neuron_with_a_bias(kind, norm):
    problem, loss = problem_of(kind, 2, 2, 1, 4, norm, bias=True)
    chart = sh.chart(problem)
    are_critical(loss, chart)
    compared(loss, chart, 10)
    assert chart.attained is (kind != "constant")
    if kind == "constant":
        assert chart.critical[0].limit and chart.infimum == pytest.approx(0.7)


def test_limits_fall_or_rise_as_their_kinds_say():
    """Loss at the limit itself and at networks nearer and nearer to it: its kind says which is lower."""
    problem, loss = problem_of("random", 2, 2, 2, 0)
    limits = [p for p in sh.chart(problem).critical if p.limit and not p.signature[2]]
    assert limits
    for point in limits:
        net = point.network
        w, v = (net.W[0] + net.W[1]) / 2, (net.W[0] - net.W[1]) / 2
        even, odd = net.a.sum(axis=1) / 2, (net.a[:, 0] - net.a[:, 1]) / 2
        values = []
        for share in (1.0, 30.0, 60.0):
            W = np.array([w + share * v, w - share * v])
            lengths = np.linalg.norm(W, axis=1)
            x = 1 / (1 + (W[0] @ W[1] / lengths.prod()) ** 2) / lengths**2
            A = np.column_stack([even + odd / share, even - odd / share]) / x
            values.append(loss.value(np.concatenate([(np.sqrt(x)[:, None] * W).ravel(), A.ravel()])))
        assert (values[2] < values[1] < values[0]) == (point.kind == "saddle")


@pytest.mark.thorough
def test_descents_end_on_the_chart():
    problem, _ = problem_of("random", 2, 2, 2, 6)
    chart = sh.chart(problem)
    runs = sh.ensemble(problem, runs=30, method="lbfgs", tolerance=1e-9)
    losses = np.array(runs.losses)[runs.converged]
    assert len(losses) and losses.min() >= chart.infimum - 1e-9
    for value in losses:
        assert np.abs(chart.losses - value).min() <= 1e-8 * (1 + value)


def test_common_zeros_of_forms():
    """Four points of two conics, one curve of one quadric, none of a definite one, all of none."""
    rng = np.random.default_rng(5)
    w = rng.standard_normal((4, 3))
    squares = np.array([[x * x, x * y, x * z, y * y, y * z, z * z] for x, y, z in w])
    kernel = np.linalg.svd(squares)[2][4:]
    rows, columns = np.triu_indices(3)
    forms = np.zeros((2, 3, 3))
    forms[:, rows, columns] = forms[:, columns, rows] = kernel * np.where(rows == columns, 1.0, 0.5)
    found = list(common_zeros(forms, np.eye(3), 1))
    assert len(found) == 4 and all(zeros.dimension == 0 for zeros in found)
    assert [zeros.dimension for zeros in common_zeros(forms[:1], np.eye(3), 1)] == [1]
    assert not list(common_zeros(np.eye(3)[None], np.eye(3), 1))
    assert [zeros.dimension for zeros in common_zeros(0 * forms, np.eye(3), 2)] == [2]


def test_one_input_and_linear_networks_do_not_forget_the_penalty():
    problem, loss = problem_of("random", 1, 2, 2, 0)
    chart = sh.chart(problem)
    are_critical(loss, chart)
    X, y = np.ones((3, 2)), np.ones((3, 2))
    with pytest.raises(sh.InvalidProblem, match="WᵀW"):
        sh.chart(sh.Problem(None, sh.Samples(X, y), 1, sh.Power(1), orthogonality=1.0))


def test_what_is_refused_says_why():
    problem, _ = problem_of("random", 3, 2, 3, 0)
    with pytest.raises(sh.InvalidProblem, match="complex"):
        sh.chart(problem)
    problem, _ = problem_of("random", 2, 2, 2, 0, norm=True)
    with pytest.raises(sh.InvalidProblem, match="dimension 2"):
        sh.chart(problem)
    problem, _ = problem_of("random", 2, 2, 1, 0)
    with pytest.raises(sh.InvalidProblem, match="homotopy only"):
        sh.chart(problem, method="exact")


def test_norm_neurons_beside_orthonormal_ones_are_sets():
    """The reason of a refusal: at P = I one vector added to all outer weights and taken from the norms changes nothing,
    and a critical network there has a Hessian with as many zeros as outputs."""
    _, loss = problem_of("diagonal", 2, 2, 2, 1, norm=True)
    ends = [theta for theta in loss.zeros(12, np.random.default_rng(0)) if loss.value(theta) < 1e-9]
    assert ends
    for theta in ends[:3]:
        values = np.linalg.eigvalsh(loss.hessian(theta))
        assert np.sum(np.abs(values) < 1e-7 * values.max()) == 2
        W, _, A, norm = loss.parts(theta)
        moved = replace(loss)
        c = np.array([0.3, -0.7])
        other = np.concatenate([W.ravel(), (A + c[:, None]).ravel(), norm - c])
        assert abs(moved.value(other) - loss.value(theta)) < 1e-9
