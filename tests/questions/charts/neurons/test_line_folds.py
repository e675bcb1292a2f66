"""Quartic neurons with a bias in one input at every width, against zeros of the gradient of a loss written out here."""

import numpy as np
import pytest
from scipy.optimize import least_squares
from tests.questions.charts.neurons.line_zeros import Quartics

import shallows as sh
from shallows.questions.charts.neurons import chart as neurons_chart
from shallows.questions.charts.neurons.fold_shapes import fold_shapes, has_finite_shapes
from shallows.questions.charts.neurons.line_folds import WITHOUT_FOLDS
from shallows.questions.charts.neurons.neuron import Neuron

PLAIN, TILTED, EVEN = [0.0, 1.0, 1.0, 1.0, 1.0], [0.3, 0.8, 1.0, 0.0, 1.0], [1.0, 0.0, -3.0, 0.0, 1.0]
#: Losses that agree so well, against the size of the target, are one.
SAME = 1e-6


def problem_of(coefficients, width, seed, teacher=3):
    rng = np.random.default_rng(seed)
    W, a, b = rng.standard_normal((3, teacher))
    net = sh.Network(W[:, None], a, sh.Polynomial(coefficients), bias=b)
    return sh.Problem(net, sh.Gaussian(1), width, bias=True), Quartics(coefficients, width, W, a, b)


def missing(chart, zeros, size):
    return [loss for loss in zeros if np.abs(chart.losses - loss).min() > SAME * size]


@pytest.mark.parametrize(
    ("coefficients", "seed", "count", "starts"),
    [
        (EVEN, 0, {0: 1, 1: 28, 2: 37}, 900),
        pytest.param(EVEN, 1, {0: 1, 1: 28, 2: 37}, 1500, marks=pytest.mark.thorough),
        pytest.param(PLAIN, 0, {0: 1, 1: 55, 2: 318}, 1500, marks=pytest.mark.thorough),
        pytest.param(TILTED, 1, {0: 1, 1: 55, 2: 318}, 1500, marks=pytest.mark.thorough),
    ],
    ids=str,
)
def test_zeros_of_the_gradient_are_listed(coefficients, seed, count, starts, monkeypatch):
    """Two neurons: 55 of one, 297 folds and 21 beside a constant (28, 27 and 10 where p is even); and without folds, or
    without those beside a constant, some are missing."""
    problem, loss = problem_of(coefficients, 2, seed)
    chart = sh.chart(problem)
    assert chart.completeness != "sampled" and chart.complex_count == count
    zeros = loss.zeros(starts, np.random.default_rng(seed))
    assert len(zeros) > 3 and not missing(chart, zeros, loss.size)
    for point in chart.critical:
        theta = loss.theta(point.network)
        assert loss.at(theta)[0] == pytest.approx(point.loss, abs=SAME * loss.size)
        assert np.abs(loss.at(theta)[1]).max() < SAME * loss.size * (1 + np.abs(theta).max())
        if point.rank == 2 and point.loss > SAME * loss.size:
            values = np.linalg.eigvalsh(loss.scaled(loss.at(theta)[2]))
            assert (values[0] < 0) == (point.kind == "saddle")
    if coefficients is EVEN:
        monkeypatch.setattr(neurons_chart, "has_folds", lambda problem: False)
        monkeypatch.setattr(neurons_chart, "charted_beside", lambda problem: 0)
        assert missing(sh.chart(problem), zeros, loss.size)


def test_three_neurons_have_the_folds_of_two_as_saddles():
    problem, _ = problem_of(EVEN, 3, 0)
    chart = sh.chart(problem)
    assert chart.attained and chart.minimum.kind == "global minimum" and chart.infimum < 1e-20
    rest = [point for point in chart.critical if point.loss > 1e-9]
    assert {point.kind for point in rest} == {"saddle"}
    assert chart.complex_count == {0: 1, 1: 28, 2: 37}


@pytest.mark.parametrize(("coefficients", "shapes"), [(PLAIN, 7), (TILTED, 7), (EVEN, 1)], ids=str)
def test_shapes_are_residuals_that_keep_two_neurons(coefficients, shapes):
    """Moments e with E[r p(z)] = E[r p′(z)] = E[r x p′(z)] = 0 for both, by expansion in powers of x."""
    found = fold_shapes(Neuron.affine(coefficients, 1))
    assert len(found) == shapes
    p = np.polynomial.Polynomial(coefficients)
    for shape in found:
        assert abs(shape.e[0] - 1) < 1e-12 and abs(shape.e[1]) < 1e-12
        for b, w in shape.W:
            z = np.polynomial.Polynomial([b, w])
            for q in (p(z), p.deriv()(z), np.polynomial.Polynomial([0, 1]) * p.deriv()(z)):
                c = np.pad(q.coef, (0, 5 - len(q.coef)))
                assert abs(c @ shape.e) < 1e-9 * np.abs(c).max()
    for one in found:
        for other in found:
            assert one is other or not one.is_image(other)


@pytest.mark.parametrize(
    "coefficients",
    [
        [0.0, 0.0, 1.0, 0.0, 1.0],  # p has a double root
        [0.0, 1.0, 0.0, 0.0, 1.0],  # p″ has one
        [0.0, 0.0, 0.0, 1.0, 1.0],
        [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],  # degree five
    ],
    ids=str,
)
def test_what_is_left_out_is_named(coefficients):
    problem, _ = problem_of(coefficients, 3, 2)
    assert not has_finite_shapes(problem)
    chart = sh.chart(problem)
    assert WITHOUT_FOLDS in chart.scope and chart.attained and chart.minimum.kind == "global minimum"


@pytest.mark.parametrize("coefficients", [EVEN, [0.0, 1.0, 0.0, 0.0, 1.0, 1.0]], ids=str)
def test_enough_neurons_have_every_target(coefficients):
    """d + 1 neurons span all polynomials."""
    degree = len(coefficients) - 1
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((40, 1)), rng.standard_normal(40)
    problem = sh.Problem(None, sh.Samples(X, y), degree + 1, sh.Polynomial(coefficients), bias=True)
    best = np.polynomial.polynomial.polyfit(X[:, 0], y, degree)
    rest = np.mean((np.polynomial.polynomial.polyval(X[:, 0], best) - y) ** 2)
    chart = sh.chart(problem)
    assert chart.attained and chart.infimum == pytest.approx(rest)


def test_a_constant_beside_a_neuron_with_a_bias_in_two_inputs():
    """z² + z³ has constants where p′ = 0: at p = 4/27. What least squares finds with one neuron at rest is listed."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 2))
    z = 0.4 + X @ [0.6, -0.5]
    y = 1.2 * (z**2 + z**3) + 2.0 + rng.standard_normal(60)
    activation = sh.Polynomial([0.0, 0.0, 1.0, 1.0])
    from shallows.model.polynomial_space import PolynomialSpace
    from shallows.questions.charts.neurons.beside_constant_strata import add_beside_constant
    from shallows.questions.charts.neurons.task import Task

    problem = sh.Problem(None, sh.Samples(X, y), 2, activation, bias=True)
    space = PolynomialSpace.of(problem)
    task = Task(problem, space, True, 0, False)
    add_beside_constant(task)
    listed = np.array([problem.loss(item.network) for item in task.found.placed])
    for item in task.found.placed:
        assert np.abs(problem.gradient(item.network)).max() < 1e-8
        assert item.network.W[-1].any() == 0 and item.network.bias[-1] == pytest.approx(-2 / 3)

    def slope(theta):
        """Of E (aσ(b + w·x) + c − y)², by hand."""
        a, b, w, c = theta[0], theta[1], theta[2:4], theta[4]
        z = b + X @ w
        r = (a * (z**2 + z**3) + c - y) / len(y)
        own = r * a * (2 * z + 3 * z**2)
        return np.array([r @ (z**2 + z**3), own.sum(), *(own @ X), r.sum()])

    seen = 0
    for b, *w in rng.standard_normal((120, 3)):
        z = b + X @ w
        start = np.linalg.lstsq(np.stack([z**2 + z**3, np.ones_like(z)], axis=1), y)[0]
        x = least_squares(
            slope, [start[0], b, *w, start[1]], xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=300
        ).x
        if (
            np.abs(slope(x)).max() > 1e-10
            or np.abs(x).max() > 100
            or min(abs(x[0]), np.abs(x[2:4]).max()) < 1e-3
        ):
            continue
        z = x[1] + X @ x[2:4]
        value = np.mean((x[0] * (z**2 + z**3) + x[4] - y) ** 2)
        assert np.abs(listed - value).min() < SAME
        seen += 1
    assert seen > 3
