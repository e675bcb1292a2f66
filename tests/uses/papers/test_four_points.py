"""Finding 10 against arithmetic that shares nothing with it: sampled losses, differences, whole Hessians."""

from __future__ import annotations

from collections import Counter

import mpmath
import numpy as np
import pytest
from flint import arb

import shallows as sh
from shallows.uses.papers.findings import one_angle, turned_spectrum
from shallows.uses.papers.findings.four_points import FOUR, network, turned_at
from shallows.uses.papers.findings.one_angle import critical_angles, stationarity, stationarity_slope


def least_by_angle(k: int, angles: np.ndarray) -> np.ndarray:
    """The least loss over lengths at each angle: three losses make the parabola."""
    problem = sh.relu_problem(k)
    zero, one, two = (
        np.array([problem.loss(sh.Network(network(k, rho, t), activation=sh.ReLU())) for t in angles])
        for rho in (1e-9, 1.0, 2.0)
    )
    a = (two - 2 * one + zero) / 2
    b = one - zero - a
    assert np.all(b < 0)  # B > 0: the best length is positive
    return np.asarray(zero - b * b / (4 * a))


@pytest.mark.parametrize("k", [2, 6, 17])
def test_sampled_losses_have_four_turning_points(k: int) -> None:
    values = least_by_angle(k, np.linspace(-np.pi, np.pi, 360, endpoint=False) + 1e-3)
    slopes = np.sign(np.diff(np.append(values, values[0])))
    assert np.sum(slopes != np.roll(slopes, 1)) == 4


def exact(t: mpmath.mpf, s: mpmath.mpf) -> mpmath.mpf:
    """F by differences of B²/A, which is F·B/A²."""

    def psi(x: mpmath.mpf) -> mpmath.mpf:
        x = max(min(x, mpmath.mpf(1)), mpmath.mpf(-1))
        return mpmath.sqrt(1 - x * x) + (mpmath.pi - mpmath.acos(x)) * x

    def pair(t: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
        own, other = mpmath.cos(t), s * mpmath.sin(t)
        cos_rows = 2 * own * other + (1 - s * s) * mpmath.sin(t) ** 2
        return mpmath.pi * s * s + psi(cos_rows), s * s * psi(own) + psi(other)

    A, B = pair(t)
    step = mpmath.mpf(10) ** -12
    (A1, B1), (A0, B0) = pair(t + step), pair(t - step)
    return (B1**2 / A1 - B0**2 / A0) / (2 * step) * A * A / B


SPECIAL = [
    (np.pi / 2, 1.0),
    (-np.pi / 4, 1.0),
    (0.0, 0.5),
    (np.pi, 0.3),
    (np.arctan(2.0), 0.5),
    (1.0, 0.0),
    (3.0, 1e-9),
]


def test_balls_contain_the_function_and_its_slope() -> None:
    rng = np.random.default_rng(0)
    points = [*SPECIAL, *zip(rng.uniform(-np.pi, np.pi, 60), rng.uniform(0, 1, 60), strict=True)]
    with mpmath.workdps(40):
        for t, s in points:
            for width in (0.0, 1e-3, 0.1):
                box = arb(t, width), arb(s, width)
                u, v = t + width * rng.uniform(-1, 1), min(max(s + width * rng.uniform(-1, 1), 0), 1)
                here = exact(mpmath.mpf(u), mpmath.mpf(v))
                assert abs(here - float(stationarity(*box).mid())) <= float(stationarity(*box).rad()) + 1e-9
                slope = (
                    exact(mpmath.mpf(u) + 1e-6, mpmath.mpf(v)) - exact(mpmath.mpf(u) - 1e-6, mpmath.mpf(v))
                ) / 2e-6
                ball = stationarity_slope(*box)
                assert abs(slope - float(ball.mid())) <= float(ball.rad()) + 1e-4


@pytest.mark.parametrize("k", [3, 5, 6])
def test_the_spectrum_is_that_of_the_whole_hessian(k: int) -> None:
    chart = sh.relu.symmetric_chart(k, [k])
    whole = np.linalg.eigvalsh(sh.relu_problem(k).hessian(chart.symmetric[1].form.network()))
    parts = turned_at(k)
    form, lengths = (
        np.array([[float(x.mid()) for x in row] for row in table])
        for table in (parts.standard, parts.lengths)
    )
    standard = np.linalg.eigvals(np.linalg.solve(lengths, form)).real
    mine = Counter(
        {
            round(float(parts.exterior.mid()), 7): (k - 1) * (k - 2) // 2,
            round(float(parts.two_row.mid()), 7): k * (k - 3) // 2,
        }
    )
    for value in standard:
        mine[round(float(value), 7)] += k - 1
    left = list(whole)
    for value, count in mine.items():
        for _ in range(count):
            place = int(np.argmin(np.abs(np.array(left) - value)))
            assert abs(left.pop(place) - value) < 1e-6
    assert len(left) == 2 and min(left) > 0  # the trivial part


def test_what_is_false_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    assert critical_angles(0.2, 0.25) == FOUR
    assert not turned_spectrum.is_minimum(0.495, 0.505)  # k = 5
    assert turned_spectrum.is_minimum(0.1, 0.12)
    # six zeros, none, and a zero that only touches
    monkeypatch.setattr(one_angle, "stationarity", lambda t, s: (3 * t).sin() + s)
    monkeypatch.setattr(one_angle, "stationarity_slope", lambda t, s: 3 * (3 * t).cos())
    assert critical_angles(0.2, 0.25).count("d") + critical_angles(0.2, 0.25).count("u") == 6
    assert set(critical_angles(1.5, 1.6)) == {"+"}
    assert "?" in critical_angles(0.9, 1.1)


def test_the_loss_far_out_follows_its_expansion() -> None:
    """½E = ½ − 1/π − (4/3π)s + O(s²), at k = 10⁴ … 10⁸ with forty digits."""
    with mpmath.workdps(60):
        for k in (10**4, 10**6, 10**8):
            s = 1 / mpmath.sqrt(k - 1)

            def half_loss(t: mpmath.mpf, s: mpmath.mpf = s, k: int = k) -> mpmath.mpf:
                psi = lambda x: mpmath.sqrt(1 - x * x) + (mpmath.pi - mpmath.acos(x)) * x  # noqa: E731
                h = mpmath.cos(t) - s * mpmath.sin(t)
                A = mpmath.pi * s * s + psi(1 - h * h)
                B = s * s * psi(mpmath.cos(t)) + psi(s * mpmath.sin(t))
                return k / (4 * mpmath.pi * s * s) * (mpmath.pi * s * s + 1 - B * B / A)

            angle = mpmath.findroot(
                lambda t: mpmath.diff(half_loss, t),
                mpmath.pi - 2 * s,
                tol=mpmath.mpf(10) ** -20,
                verify=False,
            )
            expected = mpmath.mpf(1) / 2 - 1 / mpmath.pi - 4 / (3 * mpmath.pi) * s
            assert abs(half_loss(angle) - expected) < 5 * s * s
