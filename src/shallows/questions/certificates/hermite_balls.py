"""Neurons as Hermite series in balls, and the expectations E[σ^(a)(X) τ^(b)(Y)] of two of them.

For X = α + s z, z ~ N(0, 1), let c_j^a = E[σ^(a)(X) h_j(z)]. Where X and Y have correlation ρ, Mehler's formula gives

    E[σ^(a)(X) τ^(b)(Y)] = Σ_j c_j^a d_j^b ρ^j,

and the terms from J on are at most |ρ|^J r_a r′_b with r_a² = E[σ^(a)(X)²] − Σ_{j<J} (c_j^a)² (Cauchy, Parseval).
A polynomial's series ends: c_j^a = s^j/√(j!) E[p^(a+j)(X)].
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, factorial
from typing import Any

from flint import arb, arb_mat

from shallows.mathematics.balls.rounding import above
from shallows.model.activations import Activation, PolynomialActivation
from shallows.questions.certificates.activation_balls import (
    ORDERS,
    ActivationBalls,
    activation_balls,
    unproved,
)
from shallows.questions.certificates.hermite_rule import Rule, rule
from shallows.questions.relu.balls import nonnegative_root
from shallows.support.errors import InvalidProblem, NotConverged

#: Terms of a series, by doubling. Measured: tanh needs 64 at neurons of length 1, 512 at length 3.
TERMS = (64, 128, 256, 512, 1024)
#: Steps 2^−m of the rule, from coarse to fine: 1,857 nodes at the last.
STEPS = range(2, 7)
#: Quadrature errors, relative to σ's size on the real line: far below the width of any box.
QUADRATURE = 2.0**-60
#: What a series may leave out of a kernel, relative to √E σ^(a)²: a box of a proof is not wider for it.
LEFT_OUT = 2.0**-46
#: Heights of the strip that are tried: shares of the widest that has no pole, or for entire functions lengths over s.
SHARES, LENGTHS = (0.9, 0.75, 0.5, 0.25), (0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True, eq=False)
class Series:
    """c_j^a (5, J), bounds on r_a, and the standard deviation s."""

    coefficients: arb_mat
    remainders: list[Any]
    deviation: Any
    sizes: list[Any]

    @property
    def left_out(self) -> float:
        """The largest r_a² relative to E[σ^(a)²]."""
        pairs = zip(self.remainders, self.sizes, strict=True)
        return max((above(r * r / e) if not r.is_zero() else 0.0) for r, e in pairs)


def expectations(left: Series, right: Series, covariance: Any) -> arb_mat:
    """E[σ^(a)(X) τ^(b)(Y)], (5, 5)."""
    scale = left.deviation * right.deviation
    within = arb(0, 1)
    rho = (covariance / scale).intersection(within) if scale > 0 else within
    terms = left.coefficients.ncols()
    powers = [arb(1)]
    for _ in range(terms - 1):
        powers.append(powers[-1] * rho)
    rows = [[c * p for c, p in zip(row, powers, strict=True)] for row in left.coefficients.tolist()]
    table = arb_mat(rows) * right.coefficients.transpose()
    last = (powers[-1] * rho).abs_upper()
    spread = [[arb(0, 1) * (last * a * b) for b in right.remainders] for a in left.remainders]
    return table + arb_mat(spread)


@dataclass(frozen=True, eq=False)
class Expansion:
    """How neurons are expanded: by a rule of some step with so many terms."""

    exponent: int
    terms: int
    bits: int

    @property
    def rule(self) -> Rule:
        """Its nodes and table."""
        return rule(self.exponent, self.terms, self.bits)

    def series(self, activation: Activation, mean: Any, variance: Any) -> Series:
        """The series of a neuron whose X has this mean and variance."""
        deviation = nonnegative_root(variance)
        if isinstance(activation, PolynomialActivation):
            return _polynomial(activation, mean, deviation, self.terms)
        return self._smooth(required(activation), mean, deviation)

    def _smooth(self, balls: ActivationBalls, mean: Any, deviation: Any) -> Series:
        nodes, rule_ = self.rule.nodes, self.rule
        values = [balls.derivatives(mean + deviation * z) for z in nodes]
        table = (rule_.table * arb_mat(values)).transpose().tolist()
        rows, remainders, sizes = [], [], []
        for order in range(ORDERS):
            error, square = _errors(rule_, balls, order, mean, deviation)
            row = [c + arb(0, 1) * error for c in table[order]]
            squares = [w * v[order] * v[order] for w, v in zip(rule_.weights, values, strict=True)]
            energy = sum(squares, arb(0)) + arb(0, 1) * square
            rest = (energy - sum((c * c for c in row), arb(0))).abs_upper()
            rows.append(row)
            remainders.append(rest.sqrt())
            sizes.append(energy)
        return Series(arb_mat(rows), remainders, deviation, sizes)


def required(activation: Activation) -> ActivationBalls:
    """The balls of an activation; a sentence where there are none."""
    balls = activation_balls(activation)
    if balls is None:
        raise InvalidProblem(f"Nothing is proved here: {unproved(activation)}.")
    return balls


def _errors(rule_: Rule, balls: ActivationBalls, order: int, mean: Any, deviation: Any) -> tuple[Any, Any]:
    """Bounds on the quadrature's errors of c_j and of E[σ^(a)²]: the best of some strips."""
    found = []
    for height in heights(balls, deviation):
        level, slope = on_strip(balls, order, mean, deviation, height)
        found.append(
            (
                rule_.coefficient_error(height, level, slope).abs_upper(),
                rule_.square_error(height, level, slope).abs_upper(),
            )
        )
    if not found:
        raise NotConverged("A neuron's box is too wide for its quadrature: nothing is proved.")
    return min((e for e, _ in found), key=above), min((e for _, e in found), key=above)


def heights(balls: ActivationBalls, deviation: Any) -> list[float]:
    """Strips in z to try: s times each is below the activation's own."""
    s = above(deviation)
    if balls.strip == float("inf"):
        return [length / max(s, 1.0) for length in LENGTHS]
    return [share * balls.strip / max(s, 1.0) for share in SHARES]


def on_strip(balls: ActivationBalls, order: int, mean: Any, deviation: Any, height: float) -> tuple[Any, Any]:
    """|σ^(a)(α + s(x + iv))| ≤ level + slope|x| for |v| ≤ height: Cauchy's estimate a!/δ^a on discs of radius δ."""
    reach = (deviation * arb(height)).upper()
    entire = balls.strip == float("inf")
    delta = arb(0) if order == 0 else arb(1) if entire else ((arb(balls.strip) - reach) / 2).lower()
    c0, c1 = balls.growth((reach + delta).upper())
    factor = arb(factorial(order)) / delta**order if order else arb(1)
    level = factor * (c0 + c1 * (mean.abs_upper() + delta))
    return level.abs_upper(), (factor * c1 * deviation).abs_upper()


def _polynomial(p: PolynomialActivation, mean: Any, deviation: Any, terms: int) -> Series:
    """c_j^a = s^j/√(j!) E[p^(a+j)(α + sz)]."""
    c = [arb(float(x)) for x in p.coefficients]
    variance = deviation * deviation
    raw = [_moment(i, mean, variance) for i in range(len(c))]
    means = []  # E[p^(m)(X)]
    for m in range(len(c) + ORDERS):
        falling = [c[i] * (factorial(i) // factorial(i - m)) * raw[i - m] for i in range(m, len(c))]
        means.append(sum(falling, arb(0)))
    rows = []
    for order in range(ORDERS):
        row = []
        for j in range(terms):
            inside = order + j < len(means) and j < len(c)
            row.append(
                means[order + j] * _power(deviation, j) / arb(factorial(j)).sqrt() if inside else arb(0)
            )
        rows.append(row)
    zero = [arb(0)] * ORDERS
    return Series(arb_mat(rows), zero, deviation, zero)


def _moment(order: int, mean: Any, variance: Any) -> Any:
    """E X^i = Σ_l C(i, 2l) (2l−1)!! s^(2l) α^(i−2l)."""
    total = arb(0)
    for half in range(order // 2 + 1):
        odd = factorial(2 * half) // (2**half * factorial(half))
        total = total + comb(order, 2 * half) * odd * _power(variance, half) * _power(mean, order - 2 * half)
    return total


def _power(x: Any, count: int) -> Any:
    """x^count by products: Arb's own power has no value where the ball holds 0."""
    value = arb(1)
    for _ in range(count):
        value = value * x
    return value


def expansion(neurons: list[tuple[Activation, Any, Any]], bits: int) -> Expansion:
    """Step and number of terms that suffice for neurons (activation, mean, variance) of exact balls.

    Where none suffices the last ones are taken: the proof itself says whether they do.
    """
    smooth = [(required(a), m, v) for a, m, v in neurons if not isinstance(a, PolynomialActivation)]
    degrees = [a.degree + 1 for a, _, _ in neurons if isinstance(a, PolynomialActivation)]
    if not smooth:
        return Expansion(STEPS[0], max(degrees, default=1) + ORDERS, bits)
    best = Expansion(STEPS[-1], TERMS[-1], bits)
    for terms in TERMS:
        if terms < max(degrees, default=0) + ORDERS:
            continue
        exponent = next((m for m in STEPS if _fine_enough(m, terms, smooth)), STEPS[-1])
        best = Expansion(exponent, terms, bits)
        found = [best.series(a, m, v) for a, m, v in neurons]
        if all(series.left_out <= LEFT_OUT for series in found):
            break
    return best


def _fine_enough(exponent: int, terms: int, neurons: list[tuple[ActivationBalls, Any, Any]]) -> bool:
    """Whether the rule of step 2^−m errs by no more than QUADRATURE; a table is not needed to say so."""
    bare = Rule(2.0**-exponent, terms, (arb(14.5),), arb_mat(0, 0), ())
    for balls, mean, variance in neurons:
        deviation = nonnegative_root(variance)
        for order in (0, ORDERS - 1):
            error, square = _errors(bare, balls, order, mean, deviation)
            if max(above(error), above(square)) > QUADRATURE:
                return False
    return True
