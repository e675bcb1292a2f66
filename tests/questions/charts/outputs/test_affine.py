"""Affine neurons c₀ + c₁z, which are linear networks on (1, x), against a loss by quadrature and descents."""

import numpy as np
import pytest
from tests.questions.charts.test_special_networks import MORE, Case, Loss, below, unlisted, wrong_rows

import shallows as sh

#: Activations of this test alone.
AFFINE = {"1 + z": (1, 1), "3 - z/2": (3, -0.5)}


@pytest.fixture(autouse=True)
def activations(monkeypatch):
    for name, coefficients in AFFINE.items():
        monkeypatch.setitem(MORE, name, coefficients)


def teachers(n, M):
    """Random; no constant at all; a constant alone; equal singular values on (1, x) (a constant and xᵢ as outputs)."""
    rng = np.random.default_rng([n, M])
    unit, zero = np.eye(n), np.zeros((1, n))
    first = np.eye(M, n + 1)
    rest = first[:, 1:]
    return {
        "random": (rng.standard_normal((4, n)), rng.standard_normal((M, 4)), None),
        "no constant": (np.vstack([unit, -unit]), np.hstack([np.eye(M, n), -np.eye(M, n)]), None),
        "constant": (zero, np.ones((M, 1)), None),
        "equal": (np.vstack([zero, unit]), np.hstack([first[:, :1] - rest.sum(1)[:, None], rest]), None),
    }  # fmt: skip


def complaints(case, starts=12):
    chart = sh.chart(case.problem())
    loss, rng = Loss(case), np.random.default_rng(5)
    assert chart.completeness in ("proved", "count-matched") and not chart.scope
    return chart, [
        *wrong_rows(loss, chart),
        *unlisted(loss, chart, starts, rng),
        *below(loss, chart, rng),
    ]


@pytest.mark.parametrize("special", ["random", "no constant", "constant", "equal"])
@pytest.mark.parametrize(
    ("n", "M", "width"),
    [
        (1, 2, 1),
        (2, 1, 2),
        *(pytest.param(*x, marks=pytest.mark.thorough) for x in [(2, 2, 1), (2, 3, 2), (1, 2, 3)]),
    ],
)
def test_affine_neurons_are_charted_at_every_width(n, M, width, special):
    case = Case("1 + z", n, M, width, False, "gaussian", False, 0.0, None, teachers(n, M)[special])
    chart, found = complaints(case)
    assert not found, "\n".join([f"{chart}", *found])


@pytest.mark.parametrize("outer", [[[1.0, 2.0]], [[1.0, 2.0], [1.0, -1.0]], [[1.0, 1.0], [2.0, 2.0]]])
@pytest.mark.parametrize("bias", [False, True])
def test_fixed_outer_weights_of_affine_neurons_are_one_convex_problem(outer, bias):
    M = len(outer)
    W, a, _ = teachers(2, M)["random"]
    teacher = W, a, np.arange(4.0) if bias else None
    case = Case("3 - z/2", 2, M, 2, bias, "uniform", False, 0.0, np.array(outer), teacher)
    chart, found = complaints(case)
    assert not found and chart.kinds() == {"global minimum": 1}


def test_a_linear_teacher_is_a_limit_of_one_affine_neuron_and_two_have_it():
    """a(1 + w·x) → v·x as a → 0, aw → v; a(1 + w·x) − a(1 + u·x) is any v·x."""
    X = np.array([[1.0, 2.0], [-1.0, 0.5], [0.3, -2.5], [-0.3, 0.0]])  # the mean is zero, exactly
    data = sh.Samples(X, X @ [2.0, -1.0])
    one, two = (sh.chart(sh.Problem(None, data, r, sh.Polynomial([1.0, 1.0]))) for r in (1, 2))
    assert (one.attained, one.minimum.limit, round(one.infimum, 12)) == (False, True, 0.0)
    assert two.attained and two.problem.loss(two.minimum.network) < 1e-20


def test_a_family_some_of_whose_functions_have_no_constant_is_attained():
    """Outputs x and 1 under N(0, 1): u(u·y) for every u, of which u = (1, 0) alone has no constant."""
    teacher = sh.Network([[0.0], [1.0]], [[-1.0, 1.0], [1.0, 0.0]], sh.Polynomial([1.0, 1.0]))
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(1), 1))
    assert chart.minimum.dimension == 1 and chart.attained and not chart.minimum.limit
    net = chart.minimum.network
    assert np.isclose(chart.problem.loss(net), chart.minimum.loss)
    assert np.linalg.norm(chart.problem.gradient(net)) < 1e-12


@pytest.mark.parametrize("coefficients", [[1.0, 2.0, 1.0], [0.0, 0.0, 3.0], [1.0, 3.0]])
def test_several_outputs_of_a_shifted_power_with_bias_are_those_of_the_power(coefficients):
    rng = np.random.default_rng(8)
    teacher = sh.Network(
        rng.standard_normal((2, 1)), rng.standard_normal((2, 2)), sh.Polynomial(coefficients), bias=[1.0, 0.5]
    )
    degree = len(coefficients) - 1
    charts = [
        sh.chart(sh.Problem(teacher, sh.Gaussian(1), 1, activation, bias=True))
        for activation in (None, sh.Power(degree))
    ]
    assert charts[0].complex_count == charts[1].complex_count
    np.testing.assert_allclose(charts[0].losses, charts[1].losses, rtol=1e-9, atol=1e-12)
    problem = charts[0].problem
    assert all(np.linalg.norm(problem.gradient(point.network)) < 1e-8 for point in charts[0].points)
