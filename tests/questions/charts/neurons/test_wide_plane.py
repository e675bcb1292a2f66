"""Three and four cubic neurons in two inputs against zeros of the gradient of a loss written out here."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

import shallows as sh

#: Zeros of the gradient by Levenberg-Marquardt, relatively to the loss of the zero function.
AT_REST = 1e-9
#: Two losses are one: zeros are known to half the digits of the gradient.
SAME = 1e-6


class Plain:
    """mean (Σ aᵢ p(wᵢ·x) − y)² on samples, its gradient and Hessian by hand."""

    def __init__(self, X, y, coefficients, width):
        self.X, self.y, self.r = X, y, width
        self.p = np.polynomial.Polynomial(coefficients)
        self.slope = self.p.deriv()

    def parts(self, theta):
        return theta[: 2 * self.r].reshape(self.r, 2), theta[2 * self.r :]

    def value(self, theta):
        W, a = self.parts(theta)
        return float(np.mean((self.p(self.X @ W.T) @ a - self.y) ** 2))

    def gradient(self, theta):
        W, a = self.parts(theta)
        z = self.X @ W.T
        rest = 2 * (self.p(z) @ a - self.y) / len(self.y)
        slopes = (rest[:, None] * self.slope(z) * a).T @ self.X
        return np.concatenate([slopes.ravel(), rest @ self.p(z)])

    def hessian(self, theta):
        """Derivatives of the gradient, a polynomial, by complex steps."""
        steps = 1e-30j * np.eye(len(theta))
        return np.array([self.gradient(theta + step).imag / 1e-30 for step in steps])


def starts(width, rng, count):
    """Random networks, and such in special position: parallel neurons, equal ones, idle ones."""
    for k in range(count):
        W, a = rng.standard_normal((width, 2)), rng.standard_normal(width)
        if k % 4 == 1:
            W = np.outer(rng.standard_normal(width), W[0])
        if k % 4 == 2:
            W[1] = W[0]
        if k % 4 == 3:
            a[1:] = 0.0
        yield np.concatenate([W.ravel(), a]) * rng.choice([0.5, 1.0, 2.0])


def teacher(kind, p, rng):
    """Targets that people type first, and one that is none of them."""
    if kind == "identity":
        return sh.Network(np.eye(2), np.ones(2), p)
    if kind == "one":
        return sh.Network(np.array([[1.0, 0.0]]), np.ones(1), p)
    return sh.Network(rng.standard_normal((4, 2)), rng.standard_normal(4), p)


KINDS = ["random", "identity", "one"]
ACTIVATIONS = [[0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 0, -0.3]]
QUICK = [(ACTIVATIONS[0], "random", 3), (ACTIVATIONS[1], "random", 3), (ACTIVATIONS[1], "identity", 3)]
ALL = [(c, kind, width) for c in ACTIVATIONS for kind in KINDS for width in (3, 4)]


@pytest.mark.parametrize(
    ("coefficients", "kind", "width"),
    [*QUICK, *(pytest.param(*case, marks=pytest.mark.thorough) for case in ALL if case not in QUICK)],
    ids=str,
)
def test_zeros_of_the_gradient_are_listed(coefficients, kind, width):
    rng = np.random.default_rng(len(kind) + width)
    p = sh.Polynomial([float(c) for c in coefficients])
    X = rng.standard_normal((40, 2))
    net = teacher(kind, p, rng)
    problem = sh.Problem(net, sh.Samples(X), width)
    chart = sh.chart(problem)
    plain = Plain(X, net(X), coefficients, width)
    energy = plain.value(np.zeros(3 * width))
    for point in chart.critical:
        if not point.limit:
            theta = np.concatenate([point.network.W.ravel(), np.ravel(point.network.a)])
            assert np.abs(plain.gradient(theta)).max() <= 1e-7 * energy
            assert abs(plain.value(theta) - point.loss) <= SAME * energy
            assert point.kind == ("global minimum" if point.loss <= SAME * energy else "saddle")
    losses = chart.losses
    missing = []
    for start in starts(width, rng, 24):
        x = least_squares(plain.gradient, start, plain.hessian, method="lm", max_nfev=80, gtol=1e-15).x
        settled = np.abs(plain.gradient(x)).max() <= AT_REST * energy and np.abs(x).max() < 30
        if settled and np.abs(losses - plain.value(x)).min() > SAME * energy:
            missing.append((plain.value(x), x))
    assert not missing


def test_a_target_out_of_reach_is_said_to_be():
    """No network found: a note says so, and nothing is called global."""
    rng = np.random.default_rng(0)
    p = sh.Polynomial([0.0, 0.0, 1.0, 1.0])
    net = sh.Network(rng.standard_normal((4, 2)), rng.standard_normal(4), sh.Polynomial([0.0, 0.0, 1.0]))
    chart = sh.chart(sh.Problem(net, sh.Gaussian(2), 3, p))
    found = chart.attained is True
    assert found == any(point.kind == "global minimum" for point in chart.critical)
    assert found != any("was not found to be a network" in note for note in chart.notes)
