"""Axial metrics that do not see S on the axis: the equation without cancellation, and a bound on its roots, by balls.

Modulo the square of the constant e·Se is free, and so is δ. The equation becomes h/α F_I = Σ_{j∉I} (μ_j − ρ)w_j, active
j. As δ → ±∞ one active eigenvalue goes with it, and the others go to the poles ζ_k: with J = (j₁, b; b, J′), b only in
the first place, and c_k the first entries of the eigenvectors of J′,

    δ = μ − j₁ + b² Σ_l c_l²/(ζ_l − μ),    1/w = 1 + b² Σ_l c_l²/(ζ_l − μ)²,

so that, with ε = 1/δ and R_k = μ_k + b² Σ_{l≠k} c_l²/(ζ_l − μ_k), which stays bounded,

    δ²w_k = 1/(ε² + (1 + ε(j₁ − R_k))²/(b²c_k²) + ε²b² Σ_{l≠k} c_l²/(ζ_l − μ_k)²).

A set I with the eigenvalue that is far away has δ²F_I bounded, and away from zero unless a linear neuron beside squares
is critical; one without it has F_I/δ near α/h.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import Ball
from shallows.questions.charts.closed_form.axial_pencil import Pencil, eigenvalues
from shallows.questions.charts.closed_form.axial_roots import (
    Equation,
    Spectra,
    between,
    of_fraction,
    quotient,
    weight_factors,
)

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
    pencil, metric = equation.pencil, equation.metric
    branches = np.arange(pencil.size - 1) + (end < 0)
    far = pencil.size - 1 if end > 0 else 0
    eps = between(np.asarray(min(0.0, 1 / end)), np.asarray(max(0.0, 1 / end)))
    mu, hat = _finite(pencil, end, branches, eps)
    kept = Ball.exact(equation.masks[:, branches].T.astype(np.float64))
    left = Ball.exact(1.0 - equation.masks[:, branches].T.astype(np.float64))
    has = equation.masks[:, far]
    one, square = of_fraction(Fraction(1)), eps * eps
    total = of_fraction(sum(pencil.diagonal, Fraction(0)))
    swing = eps * (one + eps * (total - mu.sum())) * hat.sum()  # μ(1 − w) of the one that is far away
    within = (mu * (one - square * hat)) @ kept + _chosen(has, swing, of_fraction(Fraction(0)))
    weights = _chosen(has, one - square * (hat @ left), square * (hat @ kept))
    alpha, trace = of_fraction(metric.alpha), of_fraction(metric.trace)
    rest = of_fraction(pencil.whole - pencil.diagonal[0])
    divisor = alpha + trace * (of_fraction(Fraction(equation.rank)) - weights)
    rho = quotient(trace * (within + equation.passive - rest), divisor)
    near = ((mu * hat) @ left) - rho * (hat @ left)
    own = square * ((mu * hat) @ kept - rho * (hat @ kept))
    ratio = one - eps * (rho + own - of_fraction(pencil.diagonal[0]))
    return np.where(has, (near.lower > 0) | (near.upper < 0), (ratio.lower > 0) | (ratio.upper < 0))


def _finite(pencil: Pencil, end: float, branches: NDArray[np.intp], eps: Ball) -> tuple[Ball, Ball]:
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
        lean = one + eps * (corner - mu[k] - shares.sum())
        spread = eps * eps * (one + quotient(shares, gap).sum())
        hats.append(quotient(one, spread + quotient(lean * lean, c[k])))
    return mu, Ball(np.array([x.mid for x in hats]), np.array([x.rad for x in hats]))


def _chosen(which: NDArray[np.bool_], one: Ball, other: Ball) -> Ball:
    """One ball or the other, by place."""
    return Ball(np.where(which, one.mid, other.mid), np.where(which, one.rad, other.rad))
