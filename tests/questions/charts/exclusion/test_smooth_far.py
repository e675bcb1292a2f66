"""Whether the infimum of one softplus or GELU neuron is attained: against sums over a grid, at norms up to 1,000."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, ndtr

import shallows as sh
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.questions.charts.exclusion import smooth_far
from shallows.questions.charts.exclusion.smooth_far import (
    _softplus_slope,
    far_bound,
    least_own,
    limit_at_infinity,
)
from shallows.questions.charts.exclusion.smooth_form import named_form
from shallows.questions.charts.exclusion.smooth_target import SmoothTarget

SIGMA = {"softplus": lambda z: np.logaddexp(0.0, z), "gelu": lambda z: z * ndtr(z)}
NORMS = np.concatenate([np.linspace(0.3, 8, 60), np.geomspace(8, 1000, 120)])


def random_teacher(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(100 * n + seed)
    return rng.standard_normal((n + 1, n)), rng.standard_normal(n + 1)


def losses(name: str, V: Any, b: Any, units: np.ndarray) -> np.ndarray:
    """The least loss at every norm and direction, a eliminated: trapezoidal sums along and across the direction."""
    sigma, V = SIGMA[name], np.asarray(V, dtype=float)
    x = np.linspace(-8, 8, 32001)
    mass = np.exp(-(x**2) / 2)
    mass /= mass.sum()
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    found = np.empty((len(units), len(NORMS)))
    for i, u in enumerate(units):
        y = np.zeros_like(x)
        for v, c in zip(V, b, strict=True):
            along = float(v @ u)
            rest = np.sqrt(max(float(v @ v) - along**2, 0.0))
            y += c * (sigma(along * x[:, None] + rest * nodes) @ weights)
        for j, s in enumerate(NORMS):
            h = sigma(s * x) / s
            found[i, j] = -((mass @ (y * h)) ** 2) / (mass @ (h * h))
    return found + energy(sigma, V, b)


def energy(sigma: Any, V: np.ndarray, b: Any) -> float:
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    axes = np.stack(np.meshgrid(*[nodes] * V.shape[1], indexing="ij"), axis=-1).reshape(-1, V.shape[1])
    mass = weights / weights.sum()
    for _ in range(V.shape[1] - 1):
        mass = np.multiply.outer(mass, weights / weights.sum())
    return float(mass.ravel() @ (sigma(axes @ V.T) @ np.asarray(b, dtype=float)) ** 2)


def directions(n: int) -> np.ndarray:
    if n == 1:
        return np.array([[1.0], [-1.0]])
    angle = np.linspace(0, 2 * np.pi, 73)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def check(name: str, V: Any, b: Any, attained: bool | None) -> sh.Chart:
    V = np.asarray(V, dtype=float)
    chart = sh.chart(sh.Problem(sh.Network(V, b, sh.Smooth(name)), sh.Gaussian(V.shape[1]), width=1))
    assert chart.completeness == "proved" and chart.attained is attained, (chart.attained, chart.notes)
    lowest = losses(name, V, b, directions(V.shape[1])).min()
    told = " ".join(chart.notes)
    if attained is None:
        assert "is attained, by a network with" in told
        assert lowest < chart.critical[0].loss
    else:
        assert lowest >= chart.infimum - 1e-7
        assert chart.minimum.limit == (not attained)
    return chart


@pytest.mark.parametrize(
    ("name", "V", "b", "attained"),
    [
        pytest.param("softplus", *random_teacher(1, 3), True, marks=pytest.mark.thorough),
        ("gelu", *random_teacher(1, 2), True),
        pytest.param("softplus", [[3.0], [0.05]], [1.0, -1.2], False, marks=pytest.mark.thorough),
        pytest.param("softplus", *random_teacher(1, 2), None, marks=pytest.mark.thorough),
    ],
)
def test_one_input(name: str, V: Any, b: Any, attained: bool | None) -> None:
    check(name, V, b, attained)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["softplus", "gelu"])
@pytest.mark.parametrize("seed", range(8))
def test_two_inputs(name: str, seed: int) -> None:
    V, b = random_teacher(2, seed)
    chart = sh.chart(sh.Problem(sh.Network(V, b, sh.Smooth(name)), sh.Gaussian(2), width=1))
    assert chart.attained is not None
    check(name, V, b, chart.attained)


@pytest.mark.parametrize("name", ["softplus", "gelu", "tanh", "sigmoid", "erf"])
def test_the_least_k_of_a_shell_is_no_larger_than_any_in_it(name: str) -> None:
    form = named_form(name, True)
    for shell in ((8.0, 11.0), (20.0, 90.0), (50.0, np.inf)):
        norms = np.linspace(shell[0], min(shell[1], 1e3), 50)
        K = form.own(Intervals.exact(norms**2)).value.hi
        assert np.all((K / norms**2 if form.linear else K) >= least_own(form, shell))


def test_the_slope_of_softplus_is_enclosed() -> None:
    """∂c̃/∂ρ by differences of sums, c̃ = E[y softplus(sz)]/s."""
    V, b = np.array([[1.2, -0.4], [0.3, 0.9]]), np.array([1.0, -0.7])
    form = named_form("softplus", True)
    target = SmoothTarget.of(V, b, np.eye(2), form.odd, form.at_zero)
    frame = np.array([[float(x.mid()) for x in row] for row in target.frame])
    x = np.linspace(-8, 8, 40001)
    mass = np.exp(-(x**2) / 2) / np.exp(-(x**2) / 2).sum()
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    for angle in (0.1, 1.5, 4.0):
        u = np.array([np.cos(angle), np.sin(angle)])
        y = np.zeros_like(x)
        for v, c in zip(V, b, strict=True):
            rest = np.sqrt(v @ v - (v @ u) ** 2)
            for node, weight in zip(nodes, weights / weights.sum(), strict=True):
                y += c * weight * np.logaddexp(0.0, (v @ u) * x + rest * node)
        for s in (6.0, 15.0):
            g = np.logaddexp(0.0, s * x) - s * x * expit(s * x)
            exact = 0.5 * s * (mass @ (y * g))
            found = _softplus_slope(form, target, Intervals.exact((frame @ u)[None]), 1 / s**2)
            assert found.lo[0] <= exact <= found.hi[0]


def test_a_level_that_is_reached_is_not_proved_to_be_above(monkeypatch: Any) -> None:
    V, b = random_teacher(1, 3)
    form = named_form("softplus", True)
    target = SmoothTarget.of(V, b, np.eye(1), form.odd, form.at_zero)
    most = float(limit_at_infinity(form, target).most.lo)
    assert not far_bound(form, target, 8.0, most) and far_bound(form, target, 8.0, 1.5 * most)
    assert 3 * 1.2020569031595942 / np.sqrt(2 * np.pi) < smooth_far.SELF_SLOPE
