"""Around w = 0 and near infinity: Newton starts at 256 bits, algebraic charts, special teachers and sabotage."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from scipy.integrate import quad

import shallows as sh
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.questions.charts.exclusion import blown_up as module
from shallows.questions.charts.exclusion.blown_series import series_at_infinity, series_at_zero
from shallows.questions.charts.exclusion.blown_system import summed
from shallows.questions.charts.exclusion.blown_up import Blown, blown_up
from shallows.questions.charts.exclusion.gate_moments import gate_moment, gate_supremum
from shallows.questions.charts.exclusion.polynomial_form import PolynomialForm
from shallows.questions.charts.exclusion.smooth_form import named_form
from shallows.questions.charts.exclusion.smooth_target import SmoothTarget

BITS = 256
SHAPE = np.array([[1.0, 0.0], [0.3, 1.0]])


def digits(x: Any) -> Any:
    """The middle of a ball: arithmetic of many digits, no enclosures."""
    return x.mid()


def gelu_kernel(S: Any, T: Any, C: Any) -> Any:
    """As the difference of closed forms: 256 bits bear the cancellation."""
    A, B = 1 + S, 1 + T
    q = (A * B - C * C).sqrt()
    return C / 4 + (q + C * (C / (A * B).sqrt()).asin() - q / A - q / B + 1 / q) / (2 * arb.pi())


def polynomial_kernel(c: list[float]) -> Any:
    """E p(w·x)p(v·x), from moments of two correlated normal variables by Isserlis' recursion."""

    def moment(i: int, j: int, S: Any, T: Any, C: Any) -> Any:
        if i == 0:
            return arb(0) if j % 2 else T ** (j // 2) * int(np.prod(range(1, j, 2)))
        rest = (i - 1) * S * moment(i - 2, j, S, T, C) if i > 1 else arb(0)
        return rest + (j * C * moment(i - 1, j - 1, S, T, C) if j else arb(0))

    def kernel(S: Any, T: Any, C: Any) -> Any:
        return sum(
            (
                arb(x) * arb(y) * moment(i, j, S, T, C)
                for i, x in enumerate(c)
                for j, y in enumerate(c)
                if x and y
            ),
            arb(0),
        )

    return kernel


def log_taken(kernel: Any, V: Any, b: Any, level: Any, turn: Any) -> Any:
    """log c²/K at ‖w‖ = e^level, angle `turn`, in the plane."""
    t = level.exp()
    w = (t * turn.cos(), t * turn.sin())
    S = t * t
    c = arb(0)
    for v, x in zip(V, b, strict=True):
        c += arb(x) * kernel(S, arb(v[0]) ** 2 + arb(v[1]) ** 2, w[0] * arb(v[0]) + w[1] * arb(v[1]))
    return digits((c * c / kernel(S, S, S)).log())


def newton_in_digits(
    kernel: Any, V: Any, b: Any, low: float, high: float, starts: int, seed: int
) -> list[tuple[float, float]]:
    """Where Newton's method in (log t, angle) ends between two norms, derivatives by differences of 2⁻⁶⁰."""
    rng, ends = np.random.default_rng(seed), []
    old, ctx.prec = ctx.prec, BITS
    h = arb(2) ** -60
    try:
        for _ in range(starts):
            place = [
                arb(float(rng.uniform(np.log(low), np.log(high)))),
                arb(float(rng.uniform(-np.pi, np.pi))),
            ]
            for _ in range(30):
                f = {
                    (i, j): log_taken(kernel, V, b, place[0] + i * h, place[1] + j * h)
                    for i in (-1, 0, 1)
                    for j in (-1, 0, 1)
                    if abs(i) + abs(j) < 2 or i == j
                }
                g = ((f[1, 0] - f[-1, 0]) / (2 * h), (f[0, 1] - f[0, -1]) / (2 * h))
                xx = (f[1, 0] - 2 * f[0, 0] + f[-1, 0]) / (h * h)
                yy = (f[0, 1] - 2 * f[0, 0] + f[0, -1]) / (h * h)
                xy = (f[1, 1] + f[-1, -1] - f[1, 0] - f[-1, 0] - f[0, 1] - f[0, -1] + 2 * f[0, 0]) / (
                    2 * h * h
                )
                det = digits(xx * yy - xy * xy)
                if not det:
                    break
                step = [digits((xy * g[1] - yy * g[0]) / det), digits((xy * g[0] - xx * g[1]) / det)]
                size = max(abs(float(x)) for x in step)
                shrink = min(1.0, 0.7 / size) if size else 1.0
                place = [digits(x + y * arb(shrink)) for x, y in zip(place, step, strict=True)]
                if size < 1e-12 or not np.log(low) - 3 < float(place[0]) < np.log(high) + 3:
                    break
            t, turn = float(place[0].exp()), float(place[1])
            if size < 1e-12 and low < t < high:
                ends.append((t * np.cos(turn), t * np.sin(turn)))
    finally:
        ctx.prec = old
    return ends


def unlisted(ends: list[tuple[float, float]], listed: Any) -> list[tuple[float, float]]:
    return [
        e for e in ends if not any(np.linalg.norm(np.array(e) - w) < 1e-5 * np.linalg.norm(w) for w in listed)
    ]


def gelu_chart(V: Any, b: Any) -> sh.Chart:
    V = np.atleast_2d(V)
    return sh.chart(sh.Problem(sh.Network(V, b, sh.Smooth("gelu")), sh.Gaussian(V.shape[1]), width=1))


def check_gelu(size: float, b: list[float], starts: int) -> None:
    chart = gelu_chart(size * SHAPE, b)
    assert chart.completeness == "proved" and chart.scope == "neurons with ‖w‖ ≤ 8"
    listed = [p.network.W[0] for p in chart.points if p.rank and not p.limit]
    ends = newton_in_digits(gelu_kernel, size * SHAPE, b, 1e-3 * min(size, 1.0), 0.25, starts, 0)
    assert not unlisted(ends, listed), unlisted(ends, listed)
    assert ends or size > 0.2 or b[1] < 0


@pytest.mark.parametrize("size", [1e-9])
def test_newton_in_the_hole_finds_what_is_listed(size: float) -> None:
    check_gelu(size, [1.0, 0.5], 12)


@pytest.mark.thorough
@pytest.mark.parametrize("size", [1e-9, 1e-6, 1e-3, 0.1, 1.0])
@pytest.mark.parametrize("b", [[1.0, 0.5], [1.0, -2.0]])
def test_ten_thousand_newton_starts_in_the_hole(size: float, b: list[float]) -> None:
    check_gelu(size, b, 10_000)


@pytest.mark.thorough
@pytest.mark.parametrize("c", [[0.0, 1.0, 0.5], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]])
@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0])
def test_newton_starts_around_zero_and_far_away_for_polynomials(c: list[float], size: float) -> None:
    V, b = size * SHAPE, [1.0, 0.5]
    chart = sh.chart(
        sh.Problem(sh.Network(V, b, sh.Polynomial(c)), sh.Gaussian(2), width=1), method="exclusion"
    )
    open_ = c[2] == 0.0 and size < 1e-6  # odd ones: the ball around 0 is left out of the scope there
    assert chart.completeness == "proved" and chart.scope == ("neurons with 0.03 ≤ ‖w‖" if open_ else "")
    listed = [p.network.W[0] for p in chart.points if p.rank and not p.limit]
    for low, high in ((0.03 if open_ else 1e-3 * size, 0.25), (8.0, 1e3 / size)):
        ends = newton_in_digits(polynomial_kernel(c), V, b, low, high, 2_000, 1)
        assert not unlisted(ends, [*listed, *(-w for w in listed)] if c[2] == 0 else listed)


@pytest.mark.parametrize("size", [1e-9, 1e-3])
def test_tiny_teachers_of_one_neuron_are_found(size: float) -> None:
    chart = gelu_chart([[size, 0.0, 0.0]], [2.0])
    assert chart.completeness == "proved" and chart.attained is True and chart.scope == "neurons with ‖w‖ ≤ 8"
    assert (
        chart.minimum.loss == 0.0
        and chart.minimum.network.W[0, 0] == size
        and chart.minimum.network.a[0] == 2.0
    )
    assert chart.minimum.signature == (4, 0, 0)


@pytest.mark.parametrize(
    ("V", "b", "attained"),
    [
        ([[1.0, 0.5], [-1.0, -0.5]], [1.0, -1.0], False),  # y is linear: the limit a → ∞, w → 0, has loss 0
        ([[1.0, 0.5], [-1.0, -0.5]], [1.0, 1.0], None),  # y is even: E[yx] = 0
        pytest.param(np.eye(2), [1.0, 1.0], None, marks=pytest.mark.thorough),
    ],
)
def test_special_teachers(V: Any, b: Any, attained: bool | None) -> None:
    chart = gelu_chart(V, b)
    assert chart.completeness == "proved" and chart.scope == "neurons with ‖w‖ ≤ 8"
    if attained is False:
        assert chart.attained is False and chart.infimum == pytest.approx(0.0, abs=1e-12)
        assert "w → 0" in " ".join(chart.notes)


@pytest.mark.parametrize("c", [[0.0, 1.0, 0.5]])
def test_polynomials_are_those_of_the_algebraic_chart(c: list[float]) -> None:
    check_polynomial(c, 2, 0)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "c", [[0.0, 1.0, 0.5], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0], [0.3, 1.0, -0.5, 0.2]]
)
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_more_polynomials_are_those_of_the_algebraic_chart(c: list[float], n: int, seed: int) -> None:
    check_polynomial(c, n, seed)


def check_polynomial(c: list[float], n: int, seed: int) -> None:
    """Every network, near and far, and whether the infimum is attained: by homotopy and by exclusion."""
    rng = np.random.default_rng(seed)
    teacher = sh.Network(rng.standard_normal((n + 1, n)), rng.standard_normal(n + 1), sh.Polynomial(c))
    problem = sh.Problem(teacher, sh.Gaussian(n), width=1)
    here, there = sh.chart(problem, method="exclusion"), sh.chart(problem, method="homotopy")
    assert here.completeness == "proved" and here.scope == ""
    losses = [np.sort([p.loss for p in x.critical if p.rank and not p.limit]) for x in (here, there)]
    assert len(losses[0]) == len(losses[1]) and np.allclose(*losses, rtol=1e-6)
    assert here.attained == there.attained
    signatures = [sorted(p.signature for p in x.points if p.rank and not p.limit) for x in (here, there)]
    assert signatures[0] == signatures[1]


def test_a_polynomial_whose_leading_part_is_a_sphere() -> None:
    """z + z²/2 and orthonormal neurons: all limits at infinity are equal, and the algebraic chart loses paths."""
    teacher = sh.Network(np.eye(2), [1.0, 1.0], sh.Polynomial([0.0, 1.0, 0.5]))
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(2), width=1), method="exclusion")
    assert chart.completeness == "proved" and chart.scope == "" and chart.attained is True
    assert chart.minimum.loss == pytest.approx(2 / 3)


def test_a_curve_that_crosses_itself_is_the_zero_function() -> None:
    """y = p(x₁) − p(x₂), p = z + z²/2: c = (w₁ − w₂)(1 + (w₁ + w₂)/2) is zero to second order at (−1, −1)."""
    teacher = sh.Network(np.eye(2), [1.0, -1.0], sh.Polynomial([0.0, 1.0, 0.5]))
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(2), width=1), method="exclusion")
    assert chart.completeness == "proved" and chart.scope == "" and chart.attained is False
    assert chart.infimum == pytest.approx(1.0) and chart.minimum.limit and "w → 0" in " ".join(chart.notes)


def found(form: Any, V: Any, b: Any, bound: float, *, far: bool = False) -> Blown:
    V = np.atleast_2d(np.asarray(V, dtype=float))
    target = SmoothTarget.of(V, np.asarray(b, dtype=float), np.eye(V.shape[1]), form.odd, form.at_zero)
    series = series_at_infinity(form, target) if far else series_at_zero(form, target, bound, 1.0)
    assert series is not None
    return blown_up(series, target, bound, form.odd)


def test_a_wrong_moment_is_noticed(monkeypatch: Any) -> None:
    """With K a tenth larger in its second term the teacher is no longer where the point must be."""
    form = named_form("gelu", True)
    honest = found(form, [[0.1]], [1.0], 0.25)
    assert [float(z.place[0].mid) for z in honest.zeros] == pytest.approx([0.1], rel=1e-7)
    made = module.BlownUp.__init__

    def bent(self: Any, series: Any, *rest: Any, **more: Any) -> None:
        own = [(e, p, c * 1.1 if p == 2 else c) for e, p, c in series.own]
        made(self, dataclasses.replace(series, own=own), *rest, **more)

    monkeypatch.setattr(module.BlownUp, "__init__", bent)
    wrong = found(form, [[0.1]], [1.0], 0.25)
    assert not any(z.place[0].lo <= 0.1 <= z.place[0].hi for z in wrong.zeros)


def test_a_search_that_does_not_end_proves_nothing(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "MOST", 1)
    assert not found(named_form("gelu", True), SHAPE, [1.0, 0.5], 0.25).proved


def test_points_far_away_are_found() -> None:
    """z + z²/2 has a saddle at norm 17, beyond the ball."""
    far = found(PolynomialForm.of(np.array([0.0, 1.0, 0.5])), SHAPE, [1.0, 0.5], 8.0, far=True)
    assert far.proved and len(far.zeros) == 1
    problem = sh.Problem(
        sh.Network(SHAPE, [1.0, 0.5], sh.Polynomial([0.0, 1.0, 0.5])), sh.Gaussian(2), width=1
    )
    zero = far.zeros[0]
    weights = [float(x.mid()) for x in zero.system.target.weight_vector([float(x.mid) for x in zero.place])]
    net = sh.Network([weights], zero.outer.mid, problem.activation)
    assert np.abs(problem.gradient(net)).max() < 1e-8 and np.linalg.norm(weights) > 8


@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 6, 8])
def test_moments_of_gelu_are_integrals(k: int) -> None:
    phi = np.polynomial.hermite_e.hermeval

    def derivative(z: float) -> float:
        if k < 2:
            from scipy.special import ndtr

            return float(z * ndtr(z) if k == 0 else ndtr(z) + z * np.exp(-z * z / 2) / np.sqrt(2 * np.pi))
        unit = np.zeros(k + 1)
        unit[k - 2], unit[k] = 1.0, -1.0  # φ − φ″, and (−1)ʲ He_j φ is the j-th derivative of φ
        return float((-1) ** k * phi(z, unit) * np.exp(-z * z / 2) / np.sqrt(2 * np.pi))

    for S in (0.04, 1.0, 5.0):
        s = np.sqrt(S)
        exact = quad(
            lambda x, s=s: derivative(s * x) * np.exp(-x * x / 2) / np.sqrt(2 * np.pi), -12, 12, epsabs=1e-12
        )[0]
        value = gate_moment(Intervals.exact(np.array([S])), k)
        assert value.lo[0] - 1e-9 <= exact <= value.hi[0] + 1e-9
    if k >= 2 and k % 2 == 0:
        assert max(abs(derivative(z)) for z in np.linspace(-5, 5, 2001)) <= gate_supremum(k)


def test_sums_hold_the_exact_ones() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 30)) * 10.0 ** rng.integers(-8, 8, (40, 30))
    total = summed(Intervals.exact(x), 0)
    for j in range(30):
        exact = sum((Fraction(v) for v in x[:, j]), Fraction(0))
        assert Fraction(float(total.lo[j])) <= exact <= Fraction(float(total.hi[j]))
