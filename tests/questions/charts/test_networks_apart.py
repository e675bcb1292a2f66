"""Critical networks that paths of generic neurons do not lead to: parallel weights, and parallel outer weights.

Against the loss of `test_special_networks`, which shares no code with charts: zeros of its gradient from random starts.
"""

import numpy as np
import pytest
from tests.questions.charts.test_special_networks import MORE, Case, Loss, unlisted, wrong_rows

import shallows as sh

OWN = {"z + z² + z³": (0, 1, 1, 1), "1 + z² + z³": (1, 0, 1, 1)}
THOROUGH = pytest.mark.thorough


def drawn(activation, n, outputs, seed, law="gaussian", neurons=3):
    rng = np.random.default_rng(seed)
    teacher = rng.standard_normal((neurons, n)), rng.standard_normal((outputs, neurons)), None
    return Case(activation, n, outputs, 2, False, law, False, 0.0, None, teacher)


@pytest.mark.parametrize(
    ("activation", "n", "outputs", "seed", "law", "loss"),
    [
        ("z²", 2, 2, 1, "gaussian", None),
        (
            "z + z²",
            2,
            2,
            1,
            "gaussian",
            1.73364504,
        ),  # parallel outer weights; and parallel weights at 1.88532345
        ("1 + z²", 2, 2, 1, "gaussian", 0.78252178),  # a constant beside a neuron at 1.07906277
        ("z + z² + z³", 2, 1, 1, "gaussian", 1.16448099),
        pytest.param("1 + z + z²", 2, 2, 1, "gaussian", 2.80288877, marks=THOROUGH),
        pytest.param("z²", 2, 2, 5, "laplace", None, marks=THOROUGH),
        pytest.param("z + z²", 2, 2, 3, "laplace", None, marks=THOROUGH),
        pytest.param("1 + z²", 2, 2, 4, "laplace", None, marks=THOROUGH),
        pytest.param("z + z² + z³", 2, 1, 6, "laplace", None, marks=THOROUGH),
        pytest.param("1 + z² + z³", 2, 1, 2, "gaussian", None, marks=THOROUGH),
        pytest.param("z²", 2, 3, 1, "gaussian", None, marks=THOROUGH),
        pytest.param("z + z²", 2, 3, 2, "gaussian", None, marks=THOROUGH),
        pytest.param("z + z²", 3, 2, 1, "gaussian", None, marks=THOROUGH),
    ],
)
def test_zeros_of_the_gradient_are_listed(request, monkeypatch, activation, n, outputs, seed, law, loss):
    for name, coefficients in OWN.items():
        monkeypatch.setitem(MORE, name, coefficients)
    case = drawn(activation, n, outputs, seed, law, 3 if n == 2 else 5)
    own, chart = Loss(case), sh.chart(case.problem())
    thorough = request.node.get_closest_marker("thorough") is not None
    found = list(wrong_rows(own, chart))
    found += unlisted(own, chart, 150 if thorough else 12, np.random.default_rng(seed + 7))
    assert not found, "\n".join([f"{chart}", *found])
    if loss is not None:
        assert np.abs(chart.losses - loss).min() < 1e-7


def test_two_neurons_compute_what_one_would_need_an_imaginary_weight_for():
    a = np.linalg.solve(np.array([[0.5, 1.0], [0.125, 1.0]]), [1.0, -0.5])  # x − x³/2
    teacher = sh.Network([[0.5, 0.0], [1.0, 0.0]], a, sh.Polynomial([0.0, 1.0, 0.0, 1.0]))
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(2), 2))
    assert chart.minimum.loss < 1e-12 and not chart.minimum.limit and chart.attained
    assert np.linalg.matrix_rank(chart.minimum.network.W, tol=1e-6) == 1


@pytest.mark.parametrize("outputs", [2, pytest.param(3, marks=THOROUGH)])
def test_a_teacher_with_parallel_weights_is_found(outputs):
    rng = np.random.default_rng(0)
    teacher = sh.Network(
        np.outer([1.0, -2.0], [0.6, 0.8]), rng.standard_normal((outputs, 2)), sh.Polynomial([0.0, 1.0, 1.0])
    )
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(2), 2))
    assert chart.minimum.loss < 1e-12 and chart.minimum.kind == "global minimum"
    assert "one w·x" not in chart.scope


def test_widths_and_biases_that_are_left_out_say_so():
    def scope(activation, width, bias, n=2):
        target = sh.Network(np.eye(n), np.ones(n), activation, bias=np.zeros(n) if bias else None)
        from shallows.questions.charts.neurons.on_one_line import leaves_lines_out

        return leaves_lines_out(sh.Problem(target, sh.Gaussian(n), width, bias=bias))

    cubic, two = sh.Polynomial([0.0, 1.0, 1.0, 1.0]), sh.Polynomial([0.0, 1.0, 0.0, 1.0])
    assert not scope(cubic, 2, False) and scope(cubic, 3, False)
    assert scope(cubic, 2, True) and scope(two, 2, True) and not scope(two, 2, False)
    assert not scope(sh.Polynomial([1.0, 1.0, 1.0, 1.0, 1.0, 1.0]), 2, True)
