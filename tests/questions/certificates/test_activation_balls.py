"""Derivatives of activations and their growth on strips, against mpmath at 40 digits."""

import mpmath
import numpy as np
import pytest
from flint import arb

import shallows as sh
from shallows.mathematics.balls.systems import precision
from shallows.questions.certificates.activation_balls import KNOWN, activation_balls, unproved

FORMULAS = {
    "tanh": mpmath.tanh,
    "erf": mpmath.erf,
    "sigmoid": lambda z: 1 / (1 + mpmath.exp(-z)),
    "softplus": lambda z: mpmath.log(1 + mpmath.exp(z)),
    "gelu": lambda z: z * (1 + mpmath.erf(z / mpmath.sqrt(2))) / 2,
    "silu": lambda z: z / (1 + mpmath.exp(-z)),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
}
BALLS = [balls for _, balls in KNOWN]


def holds(ball, value):
    """Whether a ball contains a number of mpmath, up to the digits in which both are written."""
    middle, radius = (mpmath.mpf(part.str(45, radius=False)) for part in (ball.mid(), ball.rad()))
    return abs(middle - value) <= radius * (1 + mpmath.mpf(10) ** -8) + mpmath.mpf(10) ** -36 * (
        1 + abs(value)
    )


@pytest.mark.parametrize("balls", BALLS, ids=lambda balls: balls.name)
def test_derivatives_contain_those_of_mpmath(balls):
    with precision(160), mpmath.workdps(60):
        for x in (-30.0, -3.25, -0.5, 0.0, 0.75, 2.5, 30.0):
            for order, ball in enumerate(balls.derivatives(arb(x))):
                value = mpmath.diff(FORMULAS[balls.name], mpmath.mpf(x), order, h=mpmath.mpf(10) ** -12)
                gap = abs(mpmath.mpf(ball.mid().str(40, radius=False)) - value)
                assert gap <= mpmath.mpf(10) ** -10 * (1 + abs(value)), (x, order)
            assert holds(balls.derivatives(arb(x))[0], FORMULAS[balls.name](mpmath.mpf(x)))


@pytest.mark.parametrize("balls", BALLS, ids=lambda balls: balls.name)
def test_growth_bounds_the_function_on_the_strip(balls, rng):
    top = min(0.97 * balls.strip, 3.0)
    for _ in range(200):
        y = rng.uniform(0, top)
        v = y if rng.integers(2) else rng.uniform(-y, y)
        x = rng.normal(0, 5) if rng.integers(2) else rng.uniform(-1, 1)
        c0, c1 = (float(c.upper()) for c in balls.growth(arb(y)))
        value = abs(FORMULAS[balls.name](mpmath.mpc(x, v)))
        assert value <= (c0 + c1 * abs(x)) * (1 + 1e-12)


def test_what_is_known_by_values_only_has_no_balls():
    assert activation_balls(sh.Smooth(np.tanh)) is activation_balls(sh.Smooth("tanh"))
    assert activation_balls(sh.Smooth(lambda z: np.tanh(z))) is None
    assert activation_balls(sh.Smooth("gelu_tanh")) is None and "poles" in unproved(sh.Smooth("gelu_tanh"))
    assert activation_balls(sh.ReLU()) is None
