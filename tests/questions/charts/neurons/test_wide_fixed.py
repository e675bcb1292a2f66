"""Fixed outer weights in one input, more neurons than a function determines, against zeros of a gradient by hand."""

import numpy as np
import pytest
from scipy.optimize import least_squares

import shallows as sh
from shallows.questions.charts.neurons import chart as neurons_chart
from shallows.questions.charts.neurons.wide_fixed import charted_groups, is_wide_fixed, leaves_groups_out
from shallows.questions.charts.neurons.wide_points import WidePoints

X, Y = np.random.default_rng(0).standard_normal((2, 40))
#: Losses that agree so well are one; ends with a smaller gradient, and weights that are not far out, are critical.
SAME, CRITICAL, FAR = 1e-6, 1e-10, 30.0


def problem_of(coefficients, outer, bias=False):
    activation = sh.Polynomial([float(c) for c in coefficients])
    return sh.Problem(None, sh.Samples(X[:, None], Y), len(outer), activation, outer=outer, bias=bias)


def zeros(coefficients, outer, starts, bias=False):
    """Losses at zeros of the gradient in (w, b)."""
    p, a, r = np.polynomial.Polynomial(coefficients), np.array(outer), len(outer)

    def parts(theta):
        z = np.outer(X, theta[:r]) + (theta[r:] if bias else 0.0)
        return z, p(z) @ a - Y

    def gradient(theta):
        z, rest = parts(theta)
        own = rest[:, None] * p.deriv()(z) * a / len(X)
        return np.concatenate([own.T @ X, *[own.sum(axis=0)] * bias])

    rng, found = np.random.default_rng(len(outer)), []
    for _ in range(starts):
        start = rng.standard_normal(r * (1 + bias)) * rng.choice([0.3, 1.0, 2.0])
        end = least_squares(gradient, start, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=200)
        if np.abs(end.fun).max() < CRITICAL and np.abs(end.x).max() < FAR:
            found.append(np.mean(parts(end.x)[1] ** 2))
    return np.array(found)


CASES = [
    ((0, 1, 0, 1), [1.0, 1.0, 1.0], False),
    ((0, 0, 1, 1), [1.0, 1.0, 1.0], False),
    ((0, 0, 1, 0, 1), [1.0, 1.0, 1.0], False),
    pytest.param((0, 1, 0, 1), [1.0, -1.0, 2.0, 1.0], False, marks=pytest.mark.thorough),
    pytest.param((0, 1, 1, 0, 1), [1.0, 2.0, -1.0, 1.0], False, marks=pytest.mark.thorough),
    pytest.param((0, 1, 0, 1, 0, 1), [1.0, 1.0, 1.0, 1.0], False, marks=pytest.mark.thorough),
    pytest.param((1, 0, 1, 1), [1.0, 1.0, -1.0, 2.0], False, marks=pytest.mark.thorough),
    pytest.param((0, 1, 0, 1), [1.0, 2.0, 3.0], True, marks=pytest.mark.thorough),
]


@pytest.mark.parametrize(("coefficients", "outer", "bias"), CASES, ids=str)
def test_zeros_of_the_gradient_are_listed(coefficients, outer, bias):
    problem = problem_of(coefficients, outer, bias)
    assert is_wide_fixed(problem) and leaves_groups_out(problem) is bias
    chart = sh.chart(problem)
    for point in chart.points:
        assert np.abs(problem.gradient(point.network)).max() < 1e-8
        assert problem.loss(point.network) == pytest.approx(point.loss, abs=1e-9)
    ends = zeros(coefficients, outer, 20, bias)
    assert len(ends) > 4 and ends.min() > chart.infimum - SAME
    gaps = np.abs(ends[:, None] - chart.losses).min(axis=1)
    assert gaps.max() < SAME or "different neurons" in chart.scope


def test_groups_that_are_left_out_are_missed(monkeypatch):
    """The check above notices when only neurons that are all alike are charted."""
    coefficients, outer = (0, 0, 1, 1), [1.0, 1.0, 1.0]
    problem = problem_of(coefficients, outer)
    assert charted_groups(problem) == 2
    ends = zeros(coefficients, outer, 20)
    monkeypatch.setattr(neurons_chart, "charted_groups", lambda problem: 1)
    monkeypatch.setattr(neurons_chart, "wide_points", lambda problem, space, known: WidePoints())
    assert np.abs(ends[:, None] - sh.chart(problem).losses).min(axis=1).max() > SAME
