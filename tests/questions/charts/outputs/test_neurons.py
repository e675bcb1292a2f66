"""Several outputs by their neurons, against zeros of the gradient from random weights and against one output."""

import numpy as np
import pytest
from tests.questions.charts.gradient_zeros import gradient_zeros

import shallows as sh
from shallows.questions.charts.neurons.constants import constant_network, constant_neurons
from shallows.questions.charts.neurons.neuron import Neuron, whole_network
from shallows.questions.charts.outputs.neuron_system import OutputSpaces

X = np.random.default_rng(0).standard_normal((12, 2))
Y = np.random.default_rng(1).standard_normal((12, 2))
A = np.array([[1.0, 2.0, 0.5], [3.0, -1.0, 1.0]])


def teacher(activation, bias):
    return sh.Network(
        [[1.0, 2.0], [1.0, -1.0], [0.0, 1.0]],
        a=A,
        activation=activation,
        bias=[0.3, -0.2, 0.1] if bias else None,
    )


def everything_holds(problem, chart, starts):
    for point in (listed for listed in chart.critical if not listed.limit):
        assert np.abs(problem.gradient(point.network)).max() < 1e-7 * (1 + point.loss)
        assert problem.loss(point.network) == pytest.approx(point.loss, rel=1e-8, abs=1e-9)
        eigenvalues = np.linalg.eigvalsh(problem.hessian(point.network))
        assert point.kind == "saddle" or eigenvalues[0] >= -1e-8 * np.abs(eigenvalues).max()
    met = 0
    for network in gradient_zeros(problem, starts, np.random.default_rng(2), (0.3, 1.0, 2.0)):
        loss = problem.loss(network)
        assert np.abs(chart.losses - loss).min() <= 1e-6 * (1 + loss)
        met += 1
    assert met


@pytest.mark.parametrize(
    ("coefficients", "bias"),
    [
        ([0.0, 1.0, 1.0], False),
        pytest.param([1.0, 0.0, 1.0], False, marks=pytest.mark.thorough),
        pytest.param([1.0, 1.0, 1.0], True, marks=pytest.mark.thorough),
        pytest.param([0.0, 1.0, 0.0, 1.0], False, marks=pytest.mark.thorough),
        pytest.param([1.0, 1.0, 0.0, 1.0], False, marks=pytest.mark.thorough),
    ],
)
@pytest.mark.parametrize("outer", ["free", [[1.0], [-2.0]]])
def test_one_neuron(coefficients, bias, outer):
    activation = sh.Polynomial(coefficients)
    for target, data in ((teacher(activation, bias), sh.Gaussian(2)), (None, sh.Samples(X, Y))):
        problem = sh.Problem(target, data, 1, activation, outer=outer, bias=bias)
        chart = sh.chart(problem)
        parallel = ("trace-tested", "count-matched", "proved")  # of one output, labels may be rounded
        assert chart.completeness in (parallel if outer != "free" else ("trace-tested",))
        assert chart.attained if outer != "free" else chart.scope
        everything_holds(problem, chart, 15)


@pytest.mark.parametrize(
    "outer", [[[1.0, 0.5], [-2.0, 1.0]], [[1.0, 1.0], [1.0, -1.0]], [[0.0, 1.0], [2.0, 0.0]]]
)
def test_fixed_weights_of_two_squares(outer):
    problem = sh.Problem(None, sh.Samples(X, Y), 2, outer=outer)
    chart = sh.chart(problem)
    assert chart.completeness == "trace-tested"
    everything_holds(problem, chart, 25)


def test_parallel_weights_of_cubes():
    """Neurons of parallel weights can coincide; where all are, networks have one output, squares of any width too."""
    problem = sh.Problem(None, sh.Samples(X, Y), 2, sh.Power(3), outer=[[1.0, 2.0], [-2.0, -4.0]])
    everything_holds(problem, sh.chart(problem), 25)
    squares = sh.Problem(None, sh.Samples(X, Y), 2, outer=[[1.0, 2.0], [-2.0, -4.0]])
    everything_holds(squares, sh.chart(squares), 25)


def test_a_second_output_without_weights_is_one_output():
    """outer = (1, 0): the second output adds its energy to the loss, and nothing else."""
    for activation in (sh.Power(2), sh.Power(3), sh.Polynomial([0.0, 1.0, 1.0])):
        both = sh.chart(sh.Problem(None, sh.Samples(X, Y), 1, activation, outer=[[1.0], [0.0]]))
        one = sh.chart(sh.Problem(None, sh.Samples(X, Y[:, 0]), 1, activation, outer=[1.0]))
        np.testing.assert_allclose(both.losses, one.losses + np.mean(Y[:, 1] ** 2), rtol=1e-9)


def test_equal_outputs_are_one():
    """The same labels twice: trained outer weights are equal, and the loss is twice that of one output."""
    activation = sh.Polynomial([0.0, 1.0, 1.0])
    both = sh.chart(sh.Problem(None, sh.Samples(X, Y[:, [0, 0]]), 1, activation))
    one = sh.chart(sh.Problem(None, sh.Samples(X, Y[:, 0]), 1, activation))
    real = np.array([point.loss for point in one.critical if not point.limit])
    np.testing.assert_allclose(both.losses, 2 * real, rtol=1e-9)


def test_the_network_as_one_map():
    neuron = Neuron.affine([0.0, 1.0, 1.0], 2)
    rng = np.random.default_rng(0)
    a, W = rng.standard_normal((2, 3)), rng.standard_normal((2, 3))
    x = np.concatenate([np.concatenate([a[i], W[i]]) for i in range(2)])
    made = whole_network(neuron, 2, 3, None).values(x).reshape(3, -1)
    np.testing.assert_allclose(made, a.T @ neuron.values(W))
    spaces = OutputSpaces.of(sh.Problem(None, sh.Samples(X, Y), 1, sh.Polynomial([0.0, 1.0, 1.0])))
    moved = spaces.less(np.arange(10.0))
    np.testing.assert_allclose(moved.target, spaces.target - np.arange(10.0), atol=1e-9)
    s = np.arange(10.0)
    assert moved.energy == pytest.approx(spaces.energy - 2 * spaces.right @ s + s @ spaces.gram @ s)
    assert moved.floor == pytest.approx(spaces.floor)


def test_constants_are_those_of_each_output():
    problem = sh.Problem(None, sh.Samples(X, Y), 2, sh.Polynomial([2.0, 0.0, 1.0]))
    net, kind = constant_network(problem, np.array([3.0, -5.0]), constant_neurons(problem))
    np.testing.assert_allclose(net(X), np.tile([3.0, -5.0], (len(X), 1)))
    spaces = OutputSpaces.of(problem)
    constants = spaces.constants([2.0, -3.0]).reshape(2, -1)
    assert constants[:, spaces.first.at == 0].ravel().tolist() == [2.0, -3.0]
    assert not constants[:, spaces.first.at > 0].any()
    assert kind == "" and net.a[:, 1].tolist() == [0.0, 0.0]  # the other neuron is idle


def test_what_is_refused_says_why():
    with pytest.raises(sh.InvalidProblem, match="homotopy only"):
        sh.chart(sh.Problem(None, sh.Samples(X, Y), 1, sh.Polynomial([0.0, 1.0, 1.0])), method="exact")
    words = r"neurons with Polynomial\(\[0.0, 1.0, 1.0\]\) in 2 inputs with 2 outputs"
    for first, width, outer in ((3, 4, "free"), (6, 6, np.random.default_rng(3).standard_normal((2, 6)))):
        with pytest.raises(sh.InvalidProblem, match=f"Infinitely many networks of {first} {words}"):
            sh.chart(sh.Problem(None, sh.Samples(X, Y), width, sh.Polynomial([0.0, 1.0, 1.0]), outer))


def test_neurons_that_see_no_target_are_not_in_use():
    """Two equal outputs and outer weights (−1, 1): that neuron is zero; it was listed once more, as one of rank two."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = X[:, 0] ** 3 + X[:, 1] ** 2
    chart = sh.chart(sh.Problem(None, sh.Samples(X, np.c_[y, y]), 2, outer=[[2.0, -1.0], [2.0, 1.0]]))
    alone = sh.chart(sh.Problem(None, sh.Samples(X, y), 1, outer=[2.0]))
    assert chart.completeness == "trace-tested" and chart.count(rank=2) == 0
    np.testing.assert_allclose(chart.losses, 2 * alone.losses, rtol=1e-9)
    nothing = sh.chart(sh.Problem(None, sh.Samples(X, np.zeros((30, 2))), 2, outer=[[2.0, -1.0], [2.0, 1.0]]))
    assert nothing.completeness == "proved" and nothing.losses.tolist() == [0.0]
