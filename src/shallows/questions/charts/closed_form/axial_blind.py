"""Axial metrics that do not see S on the axis: the equation without cancellation, and a bound on its roots, by balls.

Modulo the square of the constant e·Se is free, and so is δ. The equation becomes h/α F_I = Σ_{j∉I} (μ_j − ρ)w_j, active
j. As δ → ±∞ one active eigenvalue goes with it, and the others go to the poles ζ_k: with J = (j₁, b; b, J′), b only in
the first place, and c_k the first entries of the eigenvectors of J′,

    δ = μ − j₁ + b² Σ_l c_l²/(ζ_l − μ),    1/w = 1 + b² Σ_l c_l²/(ζ_l − μ)²,

so that, with ε = 1/δ and R_k = μ_k + b² Σ_{l≠k} c_l²/(ζ_l − μ_k), which stays bounded,

    δ²w_k = 1/(ε² + (1 + ε(j₁ − R_k))²/(b²c_k²) + ε²b² Σ_{l≠k} c_l²/(ζ_l − μ_k)²).

A set I with the eigenvalue that is far away has δ²F_I bounded, and away from zero unless a linear neuron beside squares
is critical: whether it is, special targets have it, is decided exactly (`axial_sums`), and then the derivative along ε
tells that there is no other zero near it. A set without that eigenvalue has F_I/δ near α/h. Along ε, with σ the sum of
the diagonal of J and sums over what goes to poles,

    μ_k′ = −ŵ_k,    ŵ_k′ = 2ŵ_k ((μ_k − σ + Σμ − εΣŵ)/(1 + ε(σ − Σμ − μ_k)) − Σ_{l≠k} ŵ_l/(μ_k − μ_l)),    ŵ = δ²w.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import fmpq_poly
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.exact.linear_algebra import to_flint
from shallows.questions.charts.closed_form.axial_pencil import Pencil, eigenvalues
from shallows.questions.charts.closed_form.axial_roots import (
    Equation,
    Spectra,
    between,
    of_fraction,
    quotient,
    weight_factors,
)
from shallows.questions.charts.closed_form.axial_sums import SetSums, are_zero

#: Bounds that are tried, in units of the largest entry of J: cells of ε are that narrow.
BOUNDS = tuple(4.0**k for k in range(2, 14))


@dataclass(frozen=True, eq=False)
class BlindEquation(Equation):
    """F_I under a metric that does not see S on the axis, by the eigenvalues that are left out.

    With Σ w = 1 and Σ μw = e·Te + δ over all active ones what is kept follows from these: at large |δ|, where the sums
    over I nearly cancel δ, nothing cancels.
    """

    def solved(self, cells: Spectra) -> tuple[Ball, Ball]:
        """F_I and ρ = q₁₁(Σ_I μ_i(1 − w_i) + passive ones − (tr T − e·Te))/(α + q₁₁(r − Σ_I w_i))."""
        alpha, trace, _, _, height, whole, corner = self.constants
        others = cells.w @ Ball.exact(1.0 - np.eye(self.pencil.size))  # 1 − w
        within = (cells.mu * others) @ self.kept + self.passive - (whole - corner)
        rho = quotient(trace * within, self._divided(cells))
        value = (cells.mu * cells.w) @ self.left - rho * (cells.w @ self.left)
        return value * alpha / height, rho

    def slope(self, cells: Spectra, rho: Ball) -> Ball:
        """dF_I/dδ, with the derivatives of the sums over what is left out."""
        alpha, trace, _, _, height, _, _ = self.constants
        first = cells.w @ self.left
        bend, lean = self.second(cells, ~self.masks)
        rise = first * first + lean
        drift = quotient(trace * (rise - first - rho * bend), self._divided(cells))
        return (rise - drift * first - rho * bend) * alpha / height

    @cached_property
    def left(self) -> Ball:
        """What is not kept, as columns of zeros and ones."""
        return Ball.exact((~self.masks).T.astype(np.float64))

    def _divided(self, cells: Spectra) -> Ball:
        alpha, trace, *_ = self.constants
        return alpha + trace * (of_fraction(Fraction(self.rank - 1)) + cells.w @ self.left)


def far_bound(equation: Equation) -> float | None:
    """A bound above which no F_I is zero; None where none of those tried is proved."""
    unit = float(np.abs(equation.pencil.jacobi.mid).max()) or 1.0
    with np.errstate(all="ignore"):
        for bound in BOUNDS:
            if all(np.all(_apart(equation, sign * bound * unit)) for sign in (1.0, -1.0)):
                return bound * unit
    return None


def _apart(equation: Equation, end: float) -> NDArray[np.bool_]:
    """For each choice whether F_I has no zero beyond this δ, on its side."""
    pencil = equation.pencil
    branches = np.arange(pencil.size - 1) + (end < 0)
    far = pencil.size - 1 if end > 0 else 0
    epsilon = between(np.asarray(min(0.0, 1 / end)), np.asarray(max(0.0, 1 / end)))
    mu, hat = _finite(pencil, end, branches, epsilon)
    kept = Ball.exact(equation.masks[:, branches].T.astype(np.float64))
    has = equation.masks[:, far]
    at = _Far(equation, epsilon, mu, hat, kept)
    near, slope = at.near()
    away = (near.lower > 0) | (near.upper < 0)
    if np.any(has & ~away):
        away[has] |= _vanish(equation, ~away[has]) & ((slope.lower > 0) | (slope.upper < 0))[has]
    ratio = at.ratio()
    return np.where(has, away, (ratio.lower > 0) | (ratio.upper < 0))


def _vanish(equation: Equation, open_: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The sets with the eigenvalue that is far away for which δ²F_I goes to zero, exactly: Σ (ζ − ρ)c² = 0 over what is
    left out, c² the weights of the poles. Given are those for which balls leave that open."""
    pencil, metric, kept = equation.pencil, equation.metric, int(equation.masks[0].sum())
    passive = equation.rational_passive
    P, Q = pencil.polynomials
    inner = (fmpq_poly([to_flint(pencil.diagonal[0]), -1]) * Q - P) / to_flint(pencil.squares[0])
    sums = None if passive is None else SetSums.of(Q, (-inner, Q.derivative()), kept - 1)
    if sums is None or passive is None:
        return np.zeros(open_.shape, bool)
    divisor = metric.alpha + metric.trace * (equation.rank - 1)
    rest = sums.mu + sums.number(passive + pencil.diagonal[0] - pencil.whole)
    rho = rest * to_flint(metric.trace / divisor)
    left = sums.number(Fraction(1)) - sums.w
    return are_zero([sums.number(pencil.diagonal[1]) - sums.both - rho * left], open_)


@dataclass(frozen=True, eq=False)
class _Far:
    """Over a cell of ε = 1/δ: what goes to poles, and which sets keep it."""

    equation: Equation
    epsilon: Ball
    mu: Ball
    hat: Ball
    kept: Ball

    def near(self) -> tuple[Ball, Ball]:
        """Σ (μ − ρ)ŵ over what is left out, of sets with the eigenvalue that is far away; and its derivative."""
        epsilon, mu, hat, bend = self.epsilon, self.mu, self.hat, self._bend()
        one, two, square = of_fraction(Fraction(1)), of_fraction(Fraction(2)), epsilon * epsilon
        room, total = self._room(), hat.sum()
        swing = epsilon * (one + epsilon * room) * total  # μ(1 − w) of the one that is far away
        turn = (one + two * epsilon * room + square * total) * total + epsilon * (
            one + epsilon * room
        ) * bend.sum()
        left = self._left()
        rho, divisor = self._rho((mu * (one - square * hat)) @ self.kept + swing, one - square * (hat @ left))
        inner = (square * hat * hat - hat - mu * (two * epsilon * hat + square * bend)) @ self.kept + turn
        trace = of_fraction(self.equation.metric.trace)
        drift = quotient(trace * (inner - rho * ((two * epsilon * hat + square * bend) @ left)), divisor)
        value = (mu * hat) @ left - rho * (hat @ left)
        return value, (mu * bend - hat * hat) @ left - drift * (hat @ left) - rho * (bend @ left)

    def ratio(self) -> Ball:
        """F_I/δ in units of α/h, of sets without it."""
        epsilon, mu, hat = self.epsilon, self.mu, self.hat
        one, square = of_fraction(Fraction(1)), epsilon * epsilon
        rho, _ = self._rho((mu * (one - square * hat)) @ self.kept, square * (hat @ self.kept))
        own = square * ((mu * hat) @ self.kept - rho * (hat @ self.kept))
        return one - epsilon * (rho + own - of_fraction(self.equation.pencil.diagonal[0]))

    def _rho(self, within: Ball, weights: Ball) -> tuple[Ball, Ball]:
        """ρ and what it is divided by, from Σ_I μ(1 − w) and Σ_I w."""
        equation, pencil = self.equation, self.equation.pencil
        alpha, trace = of_fraction(equation.metric.alpha), of_fraction(equation.metric.trace)
        rest = of_fraction(pencil.whole - pencil.diagonal[0])
        divisor = alpha + trace * (of_fraction(Fraction(equation.rank)) - weights)
        return quotient(trace * (within + equation.passive - rest), divisor), divisor

    def _bend(self) -> Ball:
        """The derivatives of ŵ."""
        epsilon, mu, hat, one = self.epsilon, self.mu, self.hat, of_fraction(Fraction(1))
        room = self._room()
        pull = quotient(mu - room - epsilon * hat.sum(), one + epsilon * (room - mu))
        parts = []
        for k in range(len(mu.mid)):
            others = np.flatnonzero(np.arange(len(mu.mid)) != k)
            parts.append((pull[k] - quotient(hat[others], mu[k] - mu[others]).sum()) * hat[k])
        both = Ball(np.array([x.mid for x in parts]), np.array([x.rad for x in parts]))
        return both * of_fraction(Fraction(2))

    def _room(self) -> Ball:
        """σ − Σμ: the eigenvalue that is far away, less δ."""
        return of_fraction(sum(self.equation.pencil.diagonal, Fraction(0))) - self.mu.sum()

    def _left(self) -> Ball:
        return Ball.exact(1.0 - self.kept.mid)


def _finite(pencil: Pencil, end: float, branches: NDArray[np.intp], epsilon: Ball) -> tuple[Ball, Ball]:
    """μ_k and δ²w_k of the eigenvalues that go to poles, beyond this δ."""
    ends, zeta = pencil.at(np.array([end]))[0][branches], pencil.poles
    mu = between(np.minimum(ends.lower, zeta.lower), np.maximum(ends.upper, zeta.upper))
    inner = eigenvalues(pencil.jacobi[2:, 2:][None])[0]
    rising, falling = weight_factors(zeta.reshape(1, -1), inner)
    c = (rising * falling)[0] * of_fraction(pencil.squares[0])  # b²c²
    one, corner = of_fraction(Fraction(1)), of_fraction(pencil.diagonal[0])
    hats = []
    for k in range(len(branches)):
        others = np.flatnonzero(np.arange(len(branches)) != k)
        gap = zeta[others] - mu[k]
        shares = quotient(c[others], gap)
        lean = one + epsilon * (corner - mu[k] - shares.sum())
        spread = epsilon * epsilon * (one + quotient(shares, gap).sum())
        hats.append(quotient(one, spread + quotient(lean * lean, c[k])))
    return mu, Ball(np.array([x.mid for x in hats]), np.array([x.rad for x in hats]))
