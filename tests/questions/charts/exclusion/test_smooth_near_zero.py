"""Around w = 0 and beyond the ball: against fifty digits, sampled directions, tiny teachers and sabotage."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.polynomial import Polynomial, hermite

import shallows as sh
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.questions.charts.exclusion import smooth_near_zero, smooth_reach
from shallows.questions.charts.exclusion.smooth_far import far_pull, limit_at_infinity
from shallows.questions.charts.exclusion.smooth_form import FORMS, SmoothForm, named_form
from shallows.questions.charts.exclusion.smooth_near_zero import SUPREMA, near_zero
from shallows.questions.charts.exclusion.smooth_reach import HOLES
from shallows.questions.charts.exclusion.smooth_target import SmoothTarget


def target_of(form: SmoothForm, V: Any, b: Any) -> SmoothTarget:
    V = np.atleast_2d(np.asarray(V, dtype=float))
    return SmoothTarget.of(V, np.asarray(b, dtype=float), np.eye(V.shape[1]), form.odd, form.at_zero)


def taken(t: Any, u: Any, V: np.ndarray, b: np.ndarray) -> Any:
    """c²/K of erf at w = tu, by Williams' formula in digits."""

    def kernel(S: Any, T: Any, C: Any) -> Any:
        return 2 / mpmath.pi * mpmath.asin(2 * C / mpmath.sqrt((1 + 2 * S) * (1 + 2 * T)))

    S = t * t
    rows = [[mpmath.mpf(float(x)) for x in row] for row in V]
    inner = [t * sum(x * y for x, y in zip(u, row, strict=True)) for row in rows]
    squares = [sum(x * x for x in row) for row in rows]
    c = sum(mpmath.mpf(float(w)) * kernel(S, T, C) for w, T, C in zip(b, squares, inner, strict=True))
    return c**2 / kernel(S, S, S)


@pytest.mark.parametrize("size", [1e-6, 1e-2, 0.1])
def test_the_point_in_the_hole_is_where_fifty_digits_have_it(size: float) -> None:
    V, b = size * np.array([[1.0, 0.0], [0.3, 1.0]]), np.array([1.0, 0.5])
    form = named_form("erf", True)
    target = target_of(form, V, b)
    found = near_zero(form, target, HOLES)
    assert found.proved and found.inner is not None
    frame = np.array([[float(x.mid()) for x in row] for row in target.frame])
    start = found.inner.direction @ frame
    with mpmath.workdps(60):

        def slopes(t: Any, turn: Any) -> list[Any]:
            def level(x: Any, y: Any) -> Any:
                return taken(x * size, (mpmath.cos(y), mpmath.sin(y)), V, b)

            base = level(t, turn)
            return [mpmath.diff(level, (t, turn), n) / base / size**k for n, k in (((1, 0), 4), ((0, 1), 0))]

        guess = (found.inner.low / size, float(np.arctan2(start[1], start[0])))
        root = mpmath.findroot(slopes, guess, tol=1e-30, verify=False)
        assert found.inner.low <= root[0] * size <= found.inner.high
        assert abs(root[1] - guess[1]) <= found.inner.angle + 1e-12
        gain = mpmath.log(
            taken(root[0] * size, (mpmath.cos(root[1]), mpmath.sin(root[1])), V, b)
            / taken((found.inner.low + found.inner.high) / 2, [mpmath.mpf(float(x)) for x in start], V, b)
        )
        assert gain <= found.inner.gain + 1e-14


@pytest.mark.parametrize("name", ["erf", "tanh"])
@pytest.mark.parametrize("size", [1e-9, 1e-4, 1e-2, 0.1])
def test_teachers_as_small_as_that_are_charted(name: str, size: float) -> None:
    one = sh.chart(sh.Problem(sh.Network([[size]], [2.0], sh.Smooth(name)), sh.Gaussian(1), width=1))
    assert one.completeness == "proved" and one.attained and "≤ 8" in one.scope
    assert one.minimum.loss == 0.0 and one.minimum.network.W[0, 0] == size and one.minimum.network.a[0] == 2.0
    problem = sh.Problem(
        sh.Network([[size, 0.0], [0.3 * size, size]], [1.0, 0.5], sh.Smooth(name)), sh.Gaussian(2), width=1
    )
    form = named_form(name, True)
    two = near_zero(form, target_of(form, problem.target.W, [1.0, 0.5]), HOLES)  # type: ignore[union-attr]
    assert two.proved and two.inner is not None and 0.8 * size < two.inner.low < two.inner.high < 0.9 * size


def test_random_teachers_have_no_hole_in_the_scope() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(1, 4))
        V, b = rng.standard_normal((n + 1, n)), rng.standard_normal(n + 1)
        for name in ("erf", "tanh"):
            form = named_form(name, True)
            assert near_zero(form, target_of(form, V, b), HOLES).proved


def test_a_wrong_moment_is_noticed(monkeypatch: Any) -> None:
    """With E σ‴ a tenth too large the teacher itself is no longer where the point must be."""
    form = named_form("erf", True)
    honest = smooth_near_zero.moments
    calls = []

    def bent(given: SmoothForm, S: Intervals) -> tuple[Intervals, Intervals]:
        calls.append(1)
        first, third = honest(given, S)
        return first, third * 1.1 if len(calls) % 2 else third  # the teacher's only

    target = target_of(form, [[0.1]], [1.0])
    right = near_zero(form, target, HOLES).inner
    monkeypatch.setattr(smooth_near_zero, "moments", bent)
    wrong = near_zero(form, target, HOLES).inner
    assert right is not None and right.low <= 0.1 <= right.high
    assert wrong is None or not wrong.low <= 0.1 <= wrong.high


def test_suprema_are_those_of_the_derivatives() -> None:
    p = Polynomial([0.0, 1.0])  # derivatives of tanh as polynomials of tanh
    z = np.linspace(-6, 6, 20001)
    for k, bound in enumerate(SUPREMA["tanh"]):
        places = [r.real for r in p.deriv().roots() if abs(r.imag) < 1e-9 and abs(r.real) <= 1] + [-1.0, 1.0]
        assert max(abs(p(np.array(places)))) <= bound
        p = p.deriv() * Polynomial([1.0, 0.0, -1.0])
        if k:
            values = hermite.hermval(z, np.eye(k)[-1]) * np.exp(-(z**2)) * 2 / np.sqrt(np.pi)
            assert np.abs(values).max() <= SUPREMA["erf"][k]


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(("n", "rank"), [(1, 1), (2, 2), (3, 2)])
def test_the_limit_at_infinity_is_enclosed(name: str, n: int, rank: int) -> None:
    rng = np.random.default_rng(10 * n + rank)
    V, b = np.zeros((rank + 1, n)), rng.standard_normal(rank + 1)
    V[:, :rank] = rng.standard_normal((rank + 1, rank))
    form = named_form(name, True)
    target = target_of(form, V, b)
    found = limit_at_infinity(form, target)
    units = rng.standard_normal((4000, n))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    x = rng.standard_normal((200_000, n))
    last = 0.5 if name in ("softplus", "gelu", "sigmoid") else 1.0
    frame = np.array([[float(v.mid()) for v in row] for row in target.frame])
    pull = far_pull(form, target, Intervals.exact(units @ frame[:rank].T), Intervals(0.0, 0.0)).mid
    most = np.max(pull**2) / last
    assert most <= found.most.hi * (1 + 1e-12) and found.most.lo >= most * (1 - 1e-2)
    assert found.most.hi - found.most.lo < 1e-6 * found.most.hi
    w = (np.append(found.unit, [np.sqrt(max(1 - found.unit @ found.unit, 0.0))])[: len(frame)]) @ frame
    z, y = x @ w, np.asarray(sh.Network(V, b, sh.Smooth(name))(x)).ravel()
    student = np.maximum(z, 0) if form.linear else (z > 0).astype(float) if form.constant else np.sign(z)
    drawn = np.mean(y * student) ** 2 / last  # Monte Carlo: the formula at ρ = 0 is that of steps and ReLU
    assert abs(np.sqrt(drawn) - np.sqrt(found.most.lo)) < 6 * np.std(y * student) / np.sqrt(len(x) * last)


def test_a_teacher_in_a_hole_that_is_not_proved_is_listed(monkeypatch: Any) -> None:
    monkeypatch.setattr(smooth_reach, "BLOWN", ())
    chart = sh.chart(sh.Problem(sh.Network([[1e-3]], [2.0], sh.Smooth("gelu")), sh.Gaussian(1), width=1))
    assert "0.03 ≤ ‖w‖" in chart.scope and chart.attained is True
    assert chart.minimum.loss == 0.0 and chart.minimum.network.W[0, 0] == 1e-3
