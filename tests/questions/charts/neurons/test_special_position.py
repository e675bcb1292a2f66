"""Neurons in special position, which no path leads to: charted, or named as left out; and data that see too little.

Networks are looked for from starts in that position, by zeros of the gradient, which know no strata.
"""

import numpy as np
import pytest
from scipy.optimize import least_squares

import shallows as sh

#: p = 1 + z + z³ + 0.3z⁵ + 0.1z⁷: neurons w and −w differ by a constant, and two neurons do not fill five powers.
MIRRORED = [1.0, 1.0, 0.0, 1.0, 0.0, 0.3, 0.0, 0.1]
#: p′ has the powers 0, 1 and 3: three neurons with w₁ + w₂ + w₃ = 0 are critical with one more residual.
SUMS = [0.0, -3.0, 1.0, 0.0, 1.0]
#: Losses that agree so well, against the size of the target, are one.
SAME_LOSS = 1e-6
#: Ends of least squares with a smaller gradient are critical.
CRITICAL = 1e-9


def drawn(coefficients, seed, neurons, width, scale=1.0, n=1, **options):
    rng = np.random.default_rng(seed)
    teacher = sh.Network(
        rng.standard_normal((neurons, n)), scale * rng.standard_normal(neurons), sh.Polynomial(coefficients)
    )
    return sh.Problem(teacher, sh.Gaussian(n), width, **options)


def zeros(problem, starts):
    """Losses at zeros of the gradient next to the starts."""
    for start in starts:
        end = least_squares(
            lambda x: problem.value_and_gradient(x)[1],
            start,
            jac=lambda x: problem.hessian(problem.unpack(x)),
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
        )
        if np.abs(end.fun).max() < CRITICAL and np.abs(end.x).max() < 20:
            yield problem.unpack(end.x)


@pytest.mark.parametrize(
    "seed", [2, *(pytest.param(k, marks=pytest.mark.thorough) for k in (3, 4, 5, 6, 7, 8))]
)
def test_trained_mirror_images_are_listed(seed):
    problem = drawn(MIRRORED, seed, 3, 2)
    chart, rng = sh.chart(problem), np.random.default_rng(seed)
    # gradients are differences of numbers of this size
    size = 1 + problem.loss(problem.unpack(np.zeros(problem.size)))
    for point in chart.points:
        if not point.limit:
            most = 1 + np.abs(problem.pack(point.network)).max() ** 7
            assert np.abs(problem.gradient(point.network)).max() < 1e-9 * size * most
    W = rng.standard_normal((12, 1))
    starts = np.concatenate([W, -W, rng.standard_normal((12, 2))], axis=1)
    found = list(zeros(problem, starts))
    for net in found if chart.completeness != "sampled" else ():
        assert np.abs(chart.losses - problem.loss(net)).min() < SAME_LOSS * size
    pairs = [p for p in chart.points if p.network is not None and abs(p.network.W.sum()) < 1e-9]
    assert any(p.rank == 2 for p in pairs)


def test_a_zero_of_the_gradient_at_mirror_images_is_listed():
    problem = drawn(MIRRORED, 2, 3, 2)
    (net,) = zeros(problem, [np.array([0.4695, -0.4695, -1.6389, 2.1413])])
    assert abs(net.W.sum()) < 1e-9
    assert np.abs(sh.chart(problem).losses - problem.loss(net)).min() < 1e-9


def test_a_teacher_of_mirror_images_is_found():
    teacher = sh.Network([[0.4], [-0.4]], [0.5, 2.0], sh.Polynomial(MIRRORED))
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(1), 2))
    assert chart.attained is True
    lowest = [p for p in chart.points if p.kind == "global minimum"]
    assert any(np.allclose(np.sort(p.network.W.ravel()), [-0.4, 0.4]) for p in lowest)


def test_mirror_images_with_a_bias_are_named():
    from shallows.questions.charts.neurons.beside_constant import has_mirrored_beside

    assert has_mirrored_beside(drawn([1.0, 1.0, 0, 0, 0, 1.0], 0, 2, 2, n=2, bias=True))
    assert not has_mirrored_beside(drawn([0.0, 1.0, 0, 0, 0, 1.0], 0, 2, 2, n=2, bias=True))
    assert not has_mirrored_beside(drawn([1.0, 1.0, 0, 1.0], 0, 2, 2, bias=True))


def test_three_neurons_that_add_up_to_zero_are_listed():
    problem = drawn(SUMS, 1, 2, 3, scale=5.0, outer=[1.0, -1.0, 2.0])
    chart = sh.chart(problem)
    (net,) = zeros(problem, [np.array([-0.4829, 1.6384, -1.1555])])
    assert abs(net.W.sum()) < 1e-6  # a local minimum: p′ has the powers 0, 1 and 3
    assert np.abs(chart.losses - problem.loss(net)).min() < 1e-8  # it was below all that were listed


@pytest.mark.parametrize(
    ("coefficients", "n", "outer", "bias", "special"),
    [
        (SUMS, 1, [1.0, 2.0, 3.0], False, False),  # folds, which are charted
        ([0.0, 1, 0, 1], 1, [1.0, 3.0], False, False),
        ([0.0, 1, 0, 1], 2, [1.0, 2.0], False, False),
        ([0.0, 1, 0, 1], 2, [1.0, 2.0, 3.0], False, True),  # three on a line
        ([0.0, 0, 0, 1], 2, [1.0, 2.0, 3.0], False, False),
        ([0.0, 1, 0, 1], 2, None, False, False),
        ([0.0, 1, 1, 1, 1, 1], 1, None, True, False),  # six weights, six coefficients: folds, which are named
        ([0.0, 1, 0, 1], 3, 3, False, True),  # three in a plane
        ([0.0, 1, 1, 1], 3, 3, False, False),
    ],
)
def test_where_neurons_can_be_in_special_position(coefficients, n, outer, bias, special):
    from shallows.questions.charts.neurons.special_position import leaves_special_out

    trained = outer is None or isinstance(outer, int)
    width = (outer or 2) if trained else len(outer)
    problem = drawn(coefficients, 0, 2, width, n=n, outer="free" if trained else np.array(outer), bias=bias)
    assert leaves_special_out(problem) is special


@pytest.mark.parametrize("outputs", [1, 2])
def test_data_on_which_a_polynomial_vanishes_are_refused(outputs):
    y = np.ones(2) if outputs == 1 else np.eye(2)
    problem = sh.Problem(None, sh.Samples([[1.0], [2.0]], y), 1, sh.Polynomial([0.0, 1.0, 1.0, 1.0]))
    with pytest.raises(sh.InvalidProblem, match="polynomials that students make is degenerate"):
        sh.chart(problem)


def test_data_that_almost_lie_on_a_line_are_refused():
    """A network was listed whose outer weight was 5% off: the metric has no digit left in doubles."""
    u = np.array([[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]]) @ np.diag([1.0, 1e-2])
    teacher = sh.Network([[1.0, 2.0]], [1.0], sh.Polynomial([0.0, 1.0, 0.0, 0.0, 1.0]))
    problem = sh.Problem(teacher, sh.Gaussian(2, covariance=u @ u.T), 2)
    with pytest.raises(sh.InvalidProblem, match="polynomials that students make is degenerate"):
        sh.chart(problem)
