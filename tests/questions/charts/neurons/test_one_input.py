"""One input at every width, against zeros of the gradient and descents of a loss written out here."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import least_squares

import shallows as sh
from shallows.questions.charts.neurons.wide_line import can_be_network

#: Zeros of the gradient by Levenberg-Marquardt, relatively to the loss of the zero function.
AT_REST = 1e-9
#: Two losses are one: zeros are known to half the digits of the gradient.
SAME = 1e-6
#: A network that stands for a limit is this near to it.
NEAR = 1e-2
#: Weights beyond this are on their way to a limit, where the gradient is as small as you like.
FAR = 30.0
#: Curvatures below this share of the largest are zero: networks are known to ten digits.
FLAT = 1e-7

PLAIN = {
    "z³": (0, 0, 0, 1),
    "z⁴": (0, 0, 0, 0, 1),
    "z + z³": (0, 1, 0, 1),
    "z² + z³": (0, 0, 1, 1),
    "1 + z³": (1, 0, 0, 1),
    "z − z³": (0, 1, 0, -1),
    "z + z² + z³": (0, 1, 1, 1),
    "1 − z + z³": (1, -1, 0, 1),
    "1 + z² + z³": (1, 0, 1, 1),
    "z² + z⁴": (0, 0, 1, 0, 1),
    "1 + z⁴": (1, 0, 0, 0, 1),
    "z + z⁴": (0, 1, 0, 0, 1),
    "z³ + z⁴": (0, 0, 0, 1, 1),
    "1 + z² + z⁴": (1, 0, 1, 0, 1),
    "1 − z² + z⁴": (1, 0, -1, 0, 1),
    "1 + z + z⁴": (1, 1, 0, 0, 1),
    "1 + z³ + z⁴": (1, 0, 0, 1, 1),
    "z + z² + z⁴": (0, 1, 1, 0, 1),
    "z + z³ + z⁴": (0, 1, 0, 1, 1),
    "z² + z³ + z⁴": (0, 0, 1, 1, 1),
    "z + z² + z³ + z⁴": (0, 1, 1, 1, 1),
    "1 + z² + z³ + z⁴": (1, 0, 1, 1, 1),
    "1 + z + z³ + z⁴": (1, 1, 0, 1, 1),
    "1 + z + z² + z⁴": (1, 1, 1, 0, 1),
}
BIASED = {
    "z³": (0, 0, 0, 1),
    "z + z³": (0, 1, 0, 1),
    "z − z³": (0, 1, 0, -1),
    "z² + z³": (0, 0, 1, 1),
    "1 + z³": (1, 0, 0, 1),
    "z + z² + z³": (0, 1, 1, 1),
    "1 − z + z³": (1, -1, 0, 1),
    "1 + z + z² + z³": (1, 1, 1, 1),
    "2 + z² + z³": (2, 0, 1, 1),
}
TARGETS = ("noise", "zero", "one neuron", "constant", "linear", "square", "even", "odd")
LAWS = ("samples", "gaussian", "laplace")


class Line:
    """E (Σ aᵢ p(wᵢx + bᵢ) − y)² by nodes and weights, its gradient by hand and its Hessian by complex steps."""

    def __init__(self, x, weights, y, coefficients, width, bias):
        self.x, self.weights, self.y, self.r, self.bias = x, weights, y, width, bias
        self.p = np.polynomial.Polynomial(coefficients)
        self.slope = self.p.deriv()
        self.size = width * (2 + bias)

    def parts(self, theta):
        """Of θ = (W, b, a), as `Problem` has it."""
        r = self.r
        return theta[:r], theta[r : 2 * r] if self.bias else np.zeros(r), theta[-r:]

    def rest(self, theta):
        w, b, a = self.parts(theta)
        return self.p(np.outer(self.x, w) + b) @ a - self.y

    def value(self, theta):
        return float(self.weights @ self.rest(theta) ** 2)

    def residuals(self, theta):
        return np.sqrt(self.weights) * self.rest(theta)

    def gradient(self, theta):
        w, b, a = self.parts(theta)
        z = np.outer(self.x, w) + b
        rest = 2 * self.weights * (self.p(z) @ a - self.y)
        slopes = rest[:, None] * self.slope(z) * a
        own = [slopes.T @ self.x] + [slopes.sum(axis=0)] * self.bias
        return np.concatenate([*own, rest @ self.p(z)])

    def hessian(self, theta):
        steps = 1e-30j * np.eye(len(theta))
        return np.array([self.gradient(theta + step).imag / 1e-30 for step in steps])


def nodes(law, rng):
    if law == "samples":
        return rng.standard_normal(40), np.full(40, 1 / 40)
    if law == "gaussian":
        x, w = np.polynomial.hermite_e.hermegauss(9)
        return x, w / w.sum()
    x, w = np.polynomial.laguerre.laggauss(9)
    return np.concatenate([x, -x]) / np.sqrt(2), np.concatenate([w, w]) / 2 / w.sum()


def setting(coefficients, width, law, kind, bias, seed):
    """The problem and its loss."""
    rng = np.random.default_rng(seed)
    x, weights = nodes(law, rng)
    degree = len(coefficients) - 1
    c = rng.standard_normal(degree + 1)
    c = {
        "zero": np.zeros(degree + 1),
        "constant": np.eye(degree + 1)[0],
        "linear": np.eye(degree + 1)[1],
        "square": np.eye(degree + 1)[2],
        "even": c * (np.arange(degree + 1) % 2 == 0),
        "odd": c * (np.arange(degree + 1) % 2 == 1),
    }.get(kind, c)
    if kind == "one neuron":
        c = np.asarray(
            np.polynomial.Polynomial(coefficients)(np.polynomial.Polynomial([0.5 * bias, 1.5])).coef
        )
    y = np.polynomial.polynomial.polyval(x, c)
    if law == "samples" and kind == "noise":
        y = y + rng.standard_normal(len(x))
    powers = sum(map(bool, coefficients))
    p = sh.Power(degree) if powers == 1 else sh.Polynomial([float(v) for v in coefficients])
    loss = Line(x, weights, y, coefficients, width, bias)
    if law == "samples":
        problem = sh.Problem(None, sh.Samples(x[:, None], y), width, p, bias=bias)
    else:
        # Σ cⱼ xʲ as a network: one neuron with w = 1 and the polynomial itself, or, a constant, with w = 0
        own = np.trim_zeros(c, "b")
        teacher = sh.Network([[1.0]], [1.0], sh.Polynomial(own.tolist())) if len(own) > 1 else None
        if teacher is None:
            teacher = sh.Network([[0.0]], [float(c[0])], sh.Polynomial([1.0, 1.0]))
        problem = sh.Problem(
            teacher, sh.Gaussian(1) if law == "gaussian" else sh.IID.laplace(1), width, p, bias=bias
        )
    return problem, loss


def theta_of(network, bias):
    own = [network.W.ravel()] + ([network.bias] if bias else [])
    return np.concatenate([*own, np.ravel(network.a)])


def starts(loss, rng, count):
    """Random networks of several sizes, and such in special position: equal neurons, mirrored ones, idle ones."""
    r = loss.r
    for k in range(count):
        theta = rng.standard_normal(loss.size) * rng.choice([0.3, 1.0, 2.0], loss.size)
        if r > 1 and k % 5 == 1:
            theta[1] = theta[0]
        if r > 1 and k % 5 == 2:
            theta[1] = -theta[0]
        if k % 5 == 3:
            theta[-r:][1:] = 0.0
        if k % 5 == 4:
            theta[0] = 0.0
        yield theta


def complaints(coefficients, width, law, kind, bias, seed=0, count=40):
    """What the chart of a problem says that its loss does not, in words."""
    problem, loss = setting(coefficients, width, law, kind, bias, seed)
    chart = sh.chart(problem)
    energy = loss.value(np.zeros(loss.size)) + float(loss.weights @ loss.y**2) + 1e-9
    found = []
    for point in chart.critical:
        theta = theta_of(point.network, bias)
        off = abs(loss.value(theta) - point.loss)
        if point.limit:
            if off > NEAR * energy:
                found.append(f"limit {point.loss} has a network of loss {loss.value(theta)}")
            continue
        if (
            np.abs(loss.gradient(theta)).max() > SAME * energy * (1 + np.abs(theta).max())
            or off > SAME * energy
        ):
            found.append(f"{point}: gradient {np.abs(loss.gradient(theta)).max()}, off {off}")
        curvature = np.linalg.eigvalsh(loss.hessian(theta))
        bends = curvature.min() < -FLAT * (energy + np.abs(curvature).max())
        if bends and point.kind in ("local minimum", "global minimum") and point.loss > SAME * energy:
            found.append(f"{point} bends down: {curvature}")
    if chart.attained is not None and chart.attained != any(
        p.kind == "global minimum" and not p.limit for p in chart.critical
    ):
        found.append("attained does not say what the list says")
    rng = np.random.default_rng(seed + 1)
    for start in starts(loss, rng, count):
        with np.errstate(all="ignore"), suppress(ValueError):  # what runs off is no zero
            x = least_squares(loss.gradient, start, loss.hessian, method="lm", max_nfev=120, gtol=1e-15).x
            rests = np.abs(loss.gradient(x)).max() <= AT_REST * energy and np.abs(x).max() < FAR
            if rests and not is_listed(chart, loss.value(x), energy):
                found.append(f"missing: {loss.value(x)} at {x}")
            low = loss.value(least_squares(loss.residuals, start, method="trf", max_nfev=40).x)
            if chart.scope == "" and low < chart.infimum - SAME * energy:
                found.append(f"descent to {low} below {chart.infimum}")
    return chart, found


def is_listed(chart, loss, energy):
    """Whether a loss is a listed one, or the list does not claim to be whole."""
    sampled = chart.completeness == "sampled"
    return sampled or (len(chart.critical) and np.abs(chart.losses - loss).min() <= SAME * energy)


QUICK = [
    ("z + z³", 2, "samples", "noise", False),
    ("1 − z + z³", 2, "gaussian", "odd", False),
    ("1 − z² + z⁴", 2, "gaussian", "even", False),
    ("1 + z + z⁴", 1, "samples", "constant", False),
    ("z + z³", 2, "samples", "noise", True),
    ("z² + z³", 3, "gaussian", "square", True),
    ("1 + z³", 1, "gaussian", "odd", True),
    ("1 + z³", 2, "gaussian", "linear", True),
]


@pytest.mark.parametrize(("name", "width", "law", "kind", "bias"), QUICK, ids=str)
def test_what_a_chart_says_is_so(name, width, law, kind, bias):
    found = complaints((BIASED if bias else PLAIN)[name], width, law, kind, bias, count=5)[1]
    assert not found


@pytest.mark.thorough
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_what_charts_of_all_activations_say_is_so(width, kind, law, bias):
    wrong = {
        name: found
        for name, c in (BIASED if bias else PLAIN).items()
        if (found := complaints(c, width, law, kind, bias, seed=1, count=20)[1])
    }
    assert not wrong


def test_networks_of_four_powers_with_a_slope_are_listed():
    """Their targets and they are a component apart: paths from generic networks did not lead to them."""
    problem, loss = setting(PLAIN["1 + z + z³ + z⁴"], 2, "samples", "odd", False, 0)
    theta = np.array([-0.44276455, 0.1186384, -3.78094126, 3.90839263])
    theta = least_squares(loss.gradient, theta, loss.hessian, method="lm", gtol=1e-15).x
    assert np.abs(loss.gradient(theta)).max() < AT_REST
    assert np.abs(sh.chart(problem).losses - loss.value(theta)).min() < SAME


def test_an_even_network_of_two_neurons_ends_at_limits():
    """t = 1 − x² + x⁴ of neurons (1, u, u²), u ≥ 0: always one power is missing, and no network is lowest."""
    teacher = sh.Network([[1.0]], [1.0], sh.Polynomial([1.0, 0.0, -1.0, 0.0, 1.0]))
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(1), 2, sh.Polynomial([1.0, 0.0, 1.0, 0.0, 1.0])))
    assert chart.attained is False and chart.scope == "" and chart.infimum > 0.01
    assert chart.minimum.limit and chart.minimum.kind == "global minimum"


def test_signs_decide_which_targets_are_networks():
    """x − x³ is none of two neurons z + z³ + z⁴, which its limits are; x + x³ is one."""
    p = sh.Polynomial([0.0, 1.0, 0.0, 1.0, 1.0])
    for turn, attained in ((-1.0, False), (1.0, True)):
        teacher = sh.Network([[1.0]], [1.0], sh.Polynomial([0.0, 1.0, 0.0, turn]))
        chart = sh.chart(sh.Problem(teacher, sh.Gaussian(1), 2, p))
        assert chart.attained is attained and chart.infimum < SAME
    assert not can_be_network([1, 3, 4], [Fraction(1), Fraction(-1), Fraction(0)], 2)


@pytest.mark.parametrize("width", [3, 5])
def test_where_signs_allow_more_slopes_the_scope_says_so(width):
    """1 + z + z³ + z⁵ + z⁶: three neurons may have a slope; such widths were refused."""
    coefficients = (1, 1, 0, 1, 0, 1, 1)
    problem, loss = setting(coefficients, width, "samples", "noise", False, 0)
    chart = sh.chart(problem)
    assert "slope" in chart.scope and chart.attained
    assert chart.infimum == pytest.approx(min(loss.value(theta_of(p.network, False)) for p in chart.critical))
    best = np.polynomial.polynomial.polyvander(loss.x, 6)[:, [0, 1, 3, 5, 6]]
    rest = best @ np.linalg.lstsq(best, loss.y)[0] - loss.y
    assert chart.infimum == pytest.approx(np.mean(rest**2))
    assert {p.kind for p in chart.critical} == {"global minimum", "saddle"}


@pytest.mark.parametrize("degree", [3, 4])
@pytest.mark.parametrize("outer", ["free", [1.0, 2.0], [1.0, -1.0]], ids=str)
def test_powers_have_zero_and_the_target(degree, outer):
    """All functions are c xᵈ: c is the best one, unless fixed outer weights of an even degree have another sign."""
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal(30), rng.standard_normal(30)
    for labels in (y, -y):
        chart = sh.chart(sh.Problem(None, sh.Samples(x[:, None], labels), 2, sh.Power(degree), outer=outer))
        c = (labels @ x**degree) / (x**degree @ x**degree)
        reached = degree % 2 or outer != [1.0, 2.0] or c > 0
        lowest = np.mean((labels - (c if reached else 0.0) * x**degree) ** 2)
        assert (
            chart.infimum == pytest.approx(lowest)
            and chart.attained
            and len(chart.critical) == 1 + bool(reached)
        )
