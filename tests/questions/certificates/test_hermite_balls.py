"""Expectations of pairs of neurons: balls must contain closed forms and mpmath's quadrature at 40 digits."""

from itertools import product
from unittest.mock import patch

import mpmath
import numpy as np
import pytest
from flint import arb, arb_mat

import shallows as sh
from shallows.mathematics.balls.systems import precision
from shallows.questions.certificates import hermite_rule
from shallows.questions.certificates.hermite_balls import Expansion, expansion, expectations
from shallows.questions.certificates.hermite_rule import Rule

from .test_activation_balls import FORMULAS, holds

BITS = 128
NAMES = ("tanh", "erf", "sigmoid", "softplus", "gelu", "silu")


def table(left, right, covariance, how=None):
    """E[σ^(a)(X) τ^(b)(Y)] of neurons (activation, mean, deviation)."""
    exact = [(a, arb(m), arb(s) ** 2) for a, m, s in (left, right)]
    how = how or expansion(exact, BITS)
    return expectations(*(how.series(*neuron) for neuron in exact), arb(covariance))


@pytest.mark.parametrize(
    ("s", "r", "rho"), [(1.0, 0.5, 0.75), (2.0, 1.5, -0.5), (0.25, 3.0, 1.0), (1.0, 1.0, 0.0)]
)
def test_sine_has_closed_forms_of_every_order(s, r, rho):
    """E cos(X ∓ Y + phase) = cos(mean + phase) e^(−variance/2), and derivatives of sin are shifts by π/2."""
    sine, alpha, beta = sh.Smooth(np.sin), 0.375, -0.25
    with precision(BITS), mpmath.workdps(45):
        found = table((sine, alpha, s), (sine, beta, r), s * r * rho)
        minus, plus = s * s + r * r - 2 * s * r * rho, s * s + r * r + 2 * s * r * rho
        for a, b in product(range(5), repeat=2):
            first = mpmath.cos(mpmath.mpf(alpha - beta) + (a - b) * mpmath.pi / 2) * mpmath.exp(
                -mpmath.mpf(minus) / 2
            )
            second = mpmath.cos(mpmath.mpf(alpha + beta) + (a + b) * mpmath.pi / 2) * mpmath.exp(
                -mpmath.mpf(plus) / 2
            )
            assert holds(found[a, b], (first - second) / 2), (a, b)
            assert float(found[a, b].rad()) < 1e-12


@pytest.mark.parametrize(("s", "r", "c"), [(1.0, 1.0, 0.5), (2.0, 0.5, -0.75), (1.5, 1.5, 2.25)])
def test_error_function_has_the_arcsine_kernel(s, r, c):
    """C. Williams, 1997: E erf(X) erf(Y) = (2/π) arcsin(2c/√((1+2s²)(1+2r²))); e₁₁ and e₂₂ are its derivatives in c."""
    with precision(BITS), mpmath.workdps(45):
        found = table((sh.Smooth("erf"), 0.0, s), (sh.Smooth("erf"), 0.0, r), c)
        scale = (1 + 2 * mpmath.mpf(s) ** 2) * (1 + 2 * mpmath.mpf(r) ** 2)

        def kernel(x):
            return 2 / mpmath.pi * mpmath.asin(2 * x / mpmath.sqrt(scale))

        assert holds(found[0, 0], kernel(mpmath.mpf(c)))
        assert holds(found[1, 1], 4 / mpmath.pi / mpmath.sqrt(scale - 4 * mpmath.mpf(c) ** 2))
        assert holds(found[2, 2], 16 * c / mpmath.pi / (scale - 4 * mpmath.mpf(c) ** 2) ** 1.5)


@pytest.mark.parametrize("name", NAMES)
def test_balls_contain_quadrature_at_forty_digits(name):
    """X = Y: E[σ^(a)(X) σ^(b)(X)] is one integral, which mpmath does by itself."""
    with precision(BITS), mpmath.workdps(40):
        neuron = (sh.Smooth(name), 0.25, 1.25)
        found = table(neuron, neuron, 1.25**2)
        f = FORMULAS[name]
        ends = [-60, -8, -2, 0, 2, 8, 60]

        def expected(a, b):
            def integrand(z):
                x = mpmath.mpf(0.25) + mpmath.mpf(1.25) * z
                left = f(x) if a == 0 else mpmath.diff(f, x, a)
                right = f(x) if b == 0 else mpmath.diff(f, x, b)
                return left * right * mpmath.npdf(z)

            return mpmath.quad(integrand, [mpmath.mpf(e) / 4 for e in ends], maxdegree=8)

        for a, b in ((0, 0), (1, 0)):
            gap = abs(expected(a, b) - mpmath.mpf(found[a, b].mid().str(40, radius=False)))
            assert gap <= mpmath.mpf(float(found[a, b].rad())) + mpmath.mpf(10) ** -16, (a, b)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rho", [-0.75, 0.25, 1.0])
def test_pairs_agree_with_products_of_gauss_rules(name, rho):
    """Two-dimensional Gauss quadrature in doubles, which knows nothing of Mehler's formula."""
    activation, (alpha, s), (beta, r) = sh.Smooth(name), (0.5, 0.75), (-0.25, 0.5)
    z, w = np.polynomial.hermite_e.hermegauss(180)
    w = w / np.sqrt(2 * np.pi)
    X, Y = np.broadcast_arrays(
        alpha + s * z[:, None], beta + r * (rho * z[:, None] + np.sqrt(1 - rho**2) * z[None])
    )
    with precision(BITS):
        found = table((activation, alpha, s), (activation, beta, r), s * r * rho)
        for a, b in product(range(3), repeat=2):
            value = w @ (activation.derivative(X, a) * activation.derivative(Y, b)) @ w
            assert abs(value - float(found[a, b].mid())) < 1e-9, (a, b)


def test_polynomials_end(rng):
    """E[p^(a) q^(b)] by the moments of a two-dimensional Gauss rule of enough nodes."""
    p, q = sh.Polynomial(rng.normal(size=5)), sh.Power(3)
    z, w = np.polynomial.hermite_e.hermegauss(12)
    w = w / np.sqrt(2 * np.pi)
    X, Y = np.broadcast_arrays(0.5 + 1.5 * z[:, None], -0.25 + 0.5 * (0.6 * z[:, None] + 0.8 * z[None]))
    with precision(BITS):
        found = table((p, 0.5, 1.5), (q, -0.25, 0.5), 1.5 * 0.5 * 0.6)
    for a, b in product(range(5), repeat=2):
        value = w @ (p.derivative(X, a) * q.derivative(Y, b)) @ w
        assert abs(value - float(found[a, b].mid())) <= 1e-12 * (1 + abs(value))


def test_a_box_contains_the_expectations_of_its_points(rng):
    activation = sh.Smooth("tanh")
    with precision(BITS):
        how = expansion([(activation, arb(0.5), arb(1.0))], BITS)
        wide = how.series(activation, arb(0.5, 1e-4), arb(1.0, 1e-4))
        box = expectations(wide, wide, arb(0.25, 1e-4))
        for shift in rng.uniform(-1e-4, 1e-4, (6, 5)).tolist():
            first = how.series(activation, arb(0.5 + shift[0]), arb(1.0 + shift[1]))
            second = how.series(activation, arb(0.5 + shift[2]), arb(1.0 + shift[3]))
            point = expectations(first, second, arb(0.25 + shift[4]))
            assert all(
                a.overlaps(b) and a.rad() > b.rad()
                for a, b in zip(box.entries(), point.entries(), strict=True)
            )


def test_sabotage_is_seen():
    """One entry of the rule off by 1e-9, or a remainder left out: then balls miss the closed form."""
    sine = sh.Smooth(np.sin)
    with precision(BITS), mpmath.workdps(40):
        pair, value = ((sine, 0.0, 1.0), (sine, 0.0, 1.0), 0.5), mpmath.exp(-1) * mpmath.sinh(mpmath.mpf(0.5))
        assert holds(table(*pair)[0, 0], value)
        how = expansion([(sine, arb(0), arb(1))], BITS)
        rule = how.rule
        entries = rule.table.entries()
        entries[rule.table.ncols() + len(rule.nodes) // 2 + 8] += arb(1e-9)
        spoiled = Rule(
            rule.step, rule.terms, rule.nodes, arb_mat(rule.terms, len(rule.nodes), entries), rule.weights
        )
        with patch.object(Expansion, "rule", spoiled):
            assert not holds(table(*pair, how)[0, 0], value)
        rough = table(*pair, Expansion(how.exponent, 4, BITS))[
            0, 0
        ]  # four terms: the rest is in the remainder
        assert holds(rough, value) and float(rough.rad()) > 1e-4
        assert not holds(arb(rough.mid()), value)


def test_a_coarse_rule_says_so():
    """Steps of 1/4 for tanh at length 3: the error that is claimed is large, and true."""
    tanh = sh.Smooth("tanh")
    with precision(BITS):
        fine = table((tanh, 0.0, 3.0), (tanh, 0.0, 3.0), 4.5)
        coarse = table((tanh, 0.0, 3.0), (tanh, 0.0, 3.0), 4.5, Expansion(2, 64, BITS))
    assert all(a.overlaps(b) for a, b in zip(fine.entries(), coarse.entries(), strict=True))
    assert coarse[0, 0].rad() > fine[0, 0].rad()


def test_the_table_of_hermite_functions_is_orthonormal():
    """Σ_k w_k h_i h_j = δ_ij: the rule integrates products of low degree exactly but for its bound."""
    with precision(BITS):
        rule = hermite_rule.rule(3, 64, BITS)
        low = [[rule.table[i, k] for k in range(len(rule.nodes))] for i in range(6)]
        for i, j in product(range(6), repeat=2):
            total = sum((a * b / w for a, b, w in zip(low[i], low[j], rule.weights, strict=True)), arb(0))
            assert abs(total - int(i == j)) < arb(1e-18)
