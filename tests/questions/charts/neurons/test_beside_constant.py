"""Networks with a constant neuron beside others, against a scan of the loss over the other's weight."""

import numpy as np
import pytest
from numpy.polynomial.polynomial import polyval
from scipy.optimize import minimize_scalar

import shallows as sh
from shallows.model.polynomial_space import PolynomialSpace
from shallows.questions.charts.neurons.chart import add_constants_beside
from shallows.questions.charts.neurons.task import Task
from shallows.questions.charts.neurons.wide import charted_beside


def labelled(seed, rows=40):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rows, 1)), rng.standard_normal(rows)


def reduced(w, x, y, c):
    """The least loss of B + a p(wx) over B and a."""
    features = np.stack([np.ones_like(x), polyval(w * x, c)], axis=1)
    return float(np.mean((features @ np.linalg.lstsq(features, y)[0] - y) ** 2))


def scanned(x, y, c):
    """The lowest valley of it, away from w = 0 where a p(wx) + B tends to a polynomial of degree 2."""
    places = np.tan(np.linspace(0.1, 1.4, 400))
    grid = np.concatenate([-places[::-1], places])
    values = np.array([reduced(w, x, y, c) for w in grid])
    valleys = [
        i
        for i in range(1, len(grid) - 1)
        if values[i] < min(values[i - 1], values[i + 1]) and grid[i - 1] * grid[i + 1] > 0
    ]
    options = {"xatol": 1e-10}
    ends = [
        minimize_scalar(
            reduced, args=(x, y, c), bounds=(grid[i - 1], grid[i + 1]), method="bounded", options=options
        )
        for i in valleys
    ]
    return min(float(end.fun) for end in ends)


@pytest.mark.parametrize(
    ("c", "seed", "kind"),
    [
        ((1.0, 0.0, 1.0, 0.5, 1.0, 1.0), 0, "local minimum"),
        ((1.0, 0.0, 1.0, 0.5, 1.0, 1.0), 2, "local minimum"),
        ((1.0, 0.0, 1.0, 1.0, 1.0), 1, "saddle"),
        ((2.0, 0.0, 1.0, 1.0, 1.0), 2, "saddle"),
    ],
)
def test_the_lowest_neuron_beside_a_constant_is_listed(c, seed, kind):
    X, y = labelled(seed)
    problem = sh.Problem(None, sh.Samples(X, y), 2, sh.Polynomial(list(c)))
    chart = sh.chart(problem)
    listed = [p for p in chart.points if p.rank == 2 and not p.network.W.any(axis=1).all()]
    lowest = min(listed, key=lambda point: point.loss)
    assert lowest.loss == pytest.approx(scanned(X[:, 0], y, c), rel=1e-9)
    assert lowest.kind == kind and lowest.certificate is not None
    for point in listed:
        assert np.abs(problem.gradient(point.network)).max() < 1e-9
        assert problem.loss(point.network) == pytest.approx(point.loss, rel=1e-9)
        values = np.linalg.eigvalsh(problem.hessian(point.network))
        assert (point.kind == "local minimum") == bool(values.min() > 0)


def test_a_teacher_with_a_constant_neuron_is_found():
    c = [1.0, 0.0, 1.0, 0.5, 1.0, 1.0]
    teacher = sh.Network([[0.7], [0.0]], [0.5, 2.0], sh.Polynomial(c))
    chart = sh.chart(sh.Problem(teacher, sh.Samples(labelled(3)[0]), 2))
    assert chart.infimum < 1e-12 and chart.attained is True
    assert any(point.loss < 1e-12 and not point.network.W.all() for point in chart.points)


def test_with_a_bias_the_scope_says_what_is_left_out():
    """1 + z³: modulo constants neurons have a scale to spare, and are not isolated."""
    X, y = np.random.default_rng(0).standard_normal((40, 3)), labelled(0)[1]
    problem = sh.Problem(None, sh.Samples(X, y), 2, sh.Polynomial([1.0, 0.0, 0.0, 1.0]), bias=True)
    assert charted_beside(problem) == 0
    task = Task(problem, PolynomialSpace.of(problem), True, 0, False)
    add_constants_beside(task)
    assert any("constant" in words for words in task.found.left_out)
