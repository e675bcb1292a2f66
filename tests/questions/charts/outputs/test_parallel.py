"""Several outputs with parallel fixed outer weights: the chart of one output, against zeros of the gradient."""

import numpy as np
import pytest
from tests.questions.charts.gradient_zeros import gradient_zeros
from tests.questions.charts.test_special_networks import Case, Loss, unlisted, wrong_rows

import shallows as sh

#: Losses and gradients of networks whose weights are of size one.
SAME = 1e-8
KINDS = [
    (sh.Power(3), [[1.0], [2.0]], {}),
    (sh.Power(2), [[1.0, -1.0, 2.0], [2.0, -2.0, 4.0]], {}),
    (sh.Power(2), [[1.0], [2.0]], {"orthogonality": 0.5, "bias": True}),
    (sh.Polynomial([0.0, 1.0, 1.0]), [[1.0], [-0.5]], {}),
]


def labelled(activation, outer, options):
    rng = np.random.default_rng(7)
    data = sh.Samples(rng.standard_normal((20, 2)), rng.standard_normal((20, 2)))
    return sh.Problem(None, data, len(outer[0]), activation, outer=outer, **options)


@pytest.mark.parametrize(("activation", "outer", "options"), KINDS)
def test_zeros_of_the_gradient_are_on_the_chart(activation, outer, options):
    problem = labelled(activation, outer, options)
    chart = sh.chart(problem)
    for point in chart.points:
        assert np.linalg.norm(problem.gradient(point.network)) < SAME * (1 + chart.losses[-1])
        assert problem.loss(point.network) == pytest.approx(point.loss, abs=SAME)
    for net in gradient_zeros(problem, 10, np.random.default_rng(0)):
        assert np.abs(chart.losses - problem.loss(net)).min() < SAME * 10
    assert "degenerate" not in chart.kinds()


def test_whole_numbers_are_proved():
    teacher = sh.Network([[1.0, 2.0], [1.0, -1.0]], [[1.0, 2.0], [3.0, -1.0]], sh.Power(3))
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(2), 1, outer=[[1.0], [2.0]]))
    assert chart.completeness == "proved" and chart.points[0].certificate is not None
    assert len(chart.minimum.tensors) == 2


def test_rounded_labels_are_not():
    chart = sh.chart(labelled(*KINDS[0]))
    assert chart.completeness == "count-matched" and chart.minimum.certificate is None


def test_weights_that_are_not_parallel_are_another_matter():
    from shallows.questions.charts.outputs.parallel import one_output

    assert one_output(labelled(sh.Power(2), [[1.0, 1.0], [1.0, -1.0]], {})) is None


@pytest.mark.parametrize(("n", "penalty", "bias"), [(2, 0.0, False), (2, 0.5, False), (1, 0.0, True)])
def test_norm_neurons_beside_parallel_weights(n, penalty, bias):
    """Against a quadrature and zeros of its gradient; these problems were refused."""
    rng = np.random.default_rng(n)
    teacher = (
        rng.standard_normal((3, n)),
        rng.standard_normal((2, 3)),
        np.array([1.0, 0, -1]) if bias else None,
    )
    given = Case("z²", n, 2, 1, bias, "laplace", True, penalty, np.array([[1.0], [-2.0]]), teacher)
    chart = sh.chart(given.problem())
    assert {point.signature[0] for point in chart.points if point.rank == 0} == {2}
    assert not [
        *wrong_rows(Loss(given), chart),
        *unlisted(Loss(given), chart, 5, np.random.default_rng(0)),
    ]
