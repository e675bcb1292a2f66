"""Limits in float64 balls: what Arb computes at points of the boxes lies in them."""

import numpy as np
import pytest
from flint import acb

import shallows as sh
from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.balls.systems import precision
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.closure.balls import TermSystem
from shallows.questions.charts.closure.parameterization import Parameterization


@pytest.mark.parametrize(
    ("degree", "n", "blocks"), [(3, 2, (2,)), (3, 3, (2,)), (4, 2, (2, 1)), (5, 2, (2,))]
)
@pytest.mark.parametrize("radius", [0.0, 1e-6])
def test_boxes_hold_what_arb_computes(degree, n, blocks, radius):
    rng = np.random.default_rng([degree, n])
    size = len(sh.Gaussian(n).gram(degree))
    problem = sh.Problem(sh.SymmetricTensor(rng.standard_normal(size), n, degree), sh.Gaussian(n), width=2)
    system = TermSystem(Parameterization(degree, n, blocks, 0), ExactLoss.of(problem))
    m = system.map.unknowns
    x = rng.standard_normal((4, m)) + 1j * rng.standard_normal((4, m))
    value, jacobian = system.ball_batch()(Ball(x, np.full(x.shape, radius)))
    np.testing.assert_array_equal(
        system.ball_batch().values(Ball(x, np.full(x.shape, radius))).mid, value.mid
    )
    for k in range(len(x)):
        inside = x[k] + 0.9 * radius * np.exp(2j * np.pi * rng.uniform(size=m))
        with precision(200):
            given = [acb(z.real, z.imag) for z in inside]
            there, slope = system.ball_evaluator(200)(given)
        a = np.array([complex(z) for z in there.entries()])
        b = np.array([complex(z) for z in slope.entries()]).reshape(m, m)
        assert np.all(np.abs(a - value.mid[k]) <= value.rad[k] + 1e-15 * np.abs(a))
        assert np.all(np.abs(b - jacobian.mid[k]) <= jacobian.rad[k] + 1e-15 * np.abs(b))
        if not radius:
            assert value.rad[k].max() < 1e-9 * max(1.0, np.abs(a).max())
