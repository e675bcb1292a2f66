"""Other coordinates of neurons: the same functions, limits at finite places, and paths that end there."""

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.other_coordinates import rewritten

NEURONS = {
    "z³ − z": Neuron.affine([0.0, -1.0, 0.0, 1.0], 1),
    "z⁴ − z² + z/5, two inputs": Neuron.affine([0.0, 0.2, -1.0, 0.0, 1.0], 2),
    "z³ − z + 2/√27": Neuron.affine([2 * 3**-1.5, -1.0, 0.0, 1.0], 2),
    "no bias": Neuron.of_degrees([1, 3], 2),
}


@pytest.mark.parametrize("name", NEURONS)
def test_functions_are_the_same_and_points_come_back(name):
    neuron = NEURONS[name]
    equations = NeuronEquations(neuron, 2)
    rng = np.random.default_rng(0)
    points = rng.standard_normal((4, equations.unknowns)) + 1j * rng.standard_normal((4, equations.unknowns))
    A, W = equations.split(points)
    ways = 0
    while (other := rewritten(neuron, ways)) is not None:
        y = other.there(A[..., 0], W)
        functions = other.neuron.values(y).sum(axis=1)
        if other.action is not None:
            functions = functions @ other.action.T
        a, w = other.back(y)
        assert np.allclose(functions, equations.tensors(points), rtol=1e-10)
        assert np.allclose(a, A[..., 0]) and np.allclose(w, W)
        ways += 1
    assert ways == {"z³ − z + 2/√27": 5, "z³ − z": 3}.get(name, 4)


def test_limits_have_finite_places_there():
    square = rewritten(NEURONS["z³ − z + 2/√27"], 0)  # a double zero at 1/√3: A, τ = 0, s
    function = square.neuron.values(np.array([2.0, 0.0, 3.0, -1.0])) @ square.action.T
    x, point = np.array([0.3, -0.7]), np.random.default_rng(11).standard_normal(2)
    seen = function @ [1, *x, x[0] ** 2, 2 * x[0] * x[1], x[1] ** 2, *np.zeros(4)]
    value = 2 * np.sqrt(3) * (1 + np.array([3.0, -1.0]) @ (x - point)) ** 2  # p″/2 = 3z₀ = √3
    assert np.isclose(seen, value) and np.allclose(function[6:], 0)


@pytest.mark.parametrize(
    ("coefficients", "taught"),
    [([0.0, 1.0, 0.0, 1.0], [1.0, 1.0]), ([0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0])],
)
def test_paths_to_limits_are_not_lost(coefficients, taught):
    teacher = sh.Network([[1.0]], [1.0], sh.Polynomial(taught), bias=[0.5])
    problem = sh.Problem(teacher, sh.IID.laplace(1), 1, sh.Polynomial(coefficients), bias=True)
    chart = sh.chart(problem)
    assert chart.completeness == "trace-tested" and chart.attained is False and abs(chart.infimum) < 1e-12
    assert any("run to infinity" in note for note in chart.notes)
