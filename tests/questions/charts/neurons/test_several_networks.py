"""Widths at which networks fill all functions, and one function has several: a real one is found among complex ones.

The target is a network of the width, so that 0 is a value of the loss: a fact that needs no chart.
"""

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.same_points import most_real

#: Two of three squares have their own output, the third is in both with a negative sign.
OUTER = np.array([[1.0, 0.0, -1.0], [0.0, 1.0, -2.0]])


def _losses(activation, n, outputs, width, seed, outer=None, bias=False):
    rng = np.random.default_rng(seed)
    shape = (outputs, width) if outputs > 1 else width
    a = rng.standard_normal(shape) if outer is None else outer
    W = rng.standard_normal((width, n))
    net = sh.Network(W, a, activation, bias=rng.standard_normal(width) if bias else None)
    problem = sh.Problem(net, sh.Gaussian(n), width, outer="free" if outer is None else outer, bias=bias)
    chart = sh.chart(problem)
    for point in chart.critical:
        assert np.abs(problem.gradient(point.network)).max() <= 1e-6 * max(1.0, point.loss)
    return min(point.loss for point in chart.critical)


def test_one_of_two_networks_of_a_function_is_real():
    """The other has neurons iu, which no sign makes real: it alone was kept, and the target was on no chart."""
    assert _losses(sh.Power(2), 2, 2, 3, 1, OUTER) <= 1e-12


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("activation", "outputs", "width", "outer", "bias"),
    [
        (sh.Power(2), 2, 3, OUTER, False),
        (sh.Polynomial([0, 1, 1, 0, 0, 1]), 2, 2, None, False),  # a line meets a quartic curve in 4 points
        (
            sh.Polynomial([0, 1, 1, 1, 0, 1]),
            1,
            2,
            None,
            False,
        ),  # a quartic in space has 3 secants through a point
        (sh.Polynomial([0, 1, 1, 1]), 1, 2, np.array([1.0, -2.0]), True),  # 27 networks
    ],
)
def test_a_teacher_of_the_width_is_on_the_chart(activation, outputs, width, outer, bias, seed):
    n = 2 if isinstance(activation, sh.Power) else 1
    assert _losses(activation, n, outputs, width, seed, outer, bias) <= 1e-9


def test_a_real_point_is_kept_whatever_the_order():
    roots = np.exp(2j * np.pi * np.arange(3) / 3)[:, None]
    for order in ([0, 1, 2], [1, 0, 2], [1, 2, 0]):
        assert most_real(roots[order], lambda x: x**3).tolist() == [[1.0]]
