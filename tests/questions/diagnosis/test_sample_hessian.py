"""Hessians on samples in balls, against derivatives in forty digits that share no code with them."""

import mpmath
import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.balls.systems import precision
from shallows.questions.diagnosis.sample_hessian import sample_hessian
from shallows.questions.diagnosis.spectrum import spectrum_at

ACTIVATIONS = {
    "square": (sh.Power(2), lambda z: z**2),
    "polynomial": (sh.Polynomial([1.0, -1.0, 0.0, 0.5]), lambda z: 1 - z + z**3 / 2),
    "relu": (sh.ReLU(), lambda z: z if z > 0 else mpmath.mpf(0)),
    "tanh": (sh.Smooth("tanh"), mpmath.tanh),
}


def loss_in_digits(problem, function, theta):
    """E(f − y)² by its definition."""
    n, k = problem.n, problem.width
    samples = problem.data
    total = mpmath.mpf(0)
    for x, y in zip(samples.X.tolist(), samples.y.tolist(), strict=True):
        f = mpmath.mpf(0)
        for i in range(k):
            z = sum(theta[i * n + j] * x[j] for j in range(n))
            z += theta[k * n + i] if problem.bias else 0
            f += function(z) * (theta[len(theta) - k + i] if problem.outer is None else problem.outer[0, i])
        total += (f - y) ** 2
    return total / len(samples.X)


@pytest.mark.parametrize("outer", ["free", [1.0, -2.0]], ids=["free", "fixed"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_entries_hold_the_second_derivatives(name, bias, outer):
    activation, function = ACTIVATIONS[name]
    rng = np.random.default_rng(len(name))
    data = sh.Samples(rng.standard_normal((5, 2)), rng.standard_normal(5))
    problem = sh.Problem(None, data, width=2, activation=activation, bias=bias, outer=outer)
    theta = rng.standard_normal(problem.size)
    with precision(96):
        balls = sample_hessian(problem, problem.unpack(theta))
        with mpmath.workdps(50):
            exact = [mpmath.mpf(float(t)) for t in theta]
            step = mpmath.mpf(10) ** -15

            def at(*moves):
                moved = list(exact)
                for place, by in moves:
                    moved[place] += by * step
                return loss_in_digits(problem, function, moved)

            for i, j in [(0, 0), (0, problem.size - 1), (1, 2), (problem.size - 1, problem.size - 1), (0, 1)]:
                four = at((i, 1), (j, 1)) - at((i, 1), (j, -1)) - at((i, -1), (j, 1)) + at((i, -1), (j, -1))
                assert float(four / (4 * step**2)) == pytest.approx(
                    float(balls[i, j].mid()), rel=1e-12, abs=1e-12
                )
                assert float(balls[i, j].rad()) < 1e-20


def test_what_is_not_known_in_balls_is_not_called_proved():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((6, 2)), rng.standard_normal(6)
    smooth = sh.Problem(None, sh.Samples(X, y), width=1, activation=sh.Smooth("gelu"))
    assert not spectrum_at(smooth, smooth.unpack(np.ones(3))).proved
    weighted = sh.Problem(None, sh.Samples(X, y, weights=np.arange(1.0, 7.0)), width=1)
    assert not spectrum_at(weighted, weighted.unpack(np.ones(3))).proved
    on_the_wall = sh.Problem(None, sh.Samples([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0]), 1, activation=sh.ReLU())
    with pytest.raises(sh.NotConverged, match="wall"):
        sample_hessian(on_the_wall, sh.Network([[1.0, 0.0]], activation=sh.ReLU()))
