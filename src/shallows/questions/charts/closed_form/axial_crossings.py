"""Where an active eigenvalue of K(δ) meets a passive one: critical points with a vector between the two.

At δ* with μ_i(δ*) = λ, passive with eigenvectors E, every subspace V of E ⊕ u_i is invariant, and only x = |P_V u_i|²
is seen: the two equations of `axial_roots` are linear in ρ and d, and then d gives x. For 0 < x < 1 the spaces V of
dimension q are those spanned by √x u_i + √(1−x) v₁, v₂, …, v_q with orthonormal v in E: a set of dimension
q(dim E + 1 − q) − 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from flint import arb, fmpq_poly
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.balls.rounding import above, below
from shallows.mathematics.balls.systems import BITS, precision
from shallows.questions.charts.closed_form.axial_metric import AxialMetric
from shallows.questions.charts.closed_form.axial_pencil import Passive, Pencil, roots_of
from shallows.questions.charts.closed_form.axial_roots import (
    Equation,
    Spectra,
    masks_of,
    of_arb,
    of_fraction,
    quotient,
    spectra_between,
)


@dataclass(frozen=True, eq=False)
class Crossing:
    """The active eigenvalue number `branch` meets passive number `place` at this δ."""

    place: int
    branch: int
    shift: Ball
    cell: Spectra


@dataclass(frozen=True, eq=False)
class Mixed:
    """A choice at a crossing: other active eigenvalues, `counts` of passive ones, and x of the one that is met."""

    crossing: Crossing
    kept: NDArray[np.bool_]
    counts: tuple[int, ...]
    share: float
    rho: float


def crossings(pencil: Pencil) -> list[Crossing] | None:
    """All of them; None where two are at one δ, or it is not decided whether there is one."""
    found = []
    for place, passive in enumerate(pencil.passive):
        shift = _shift(pencil, passive)
        if shift is None:
            continue
        low, high = below(shift), above(shift)
        cell = spectra_between(pencil, low, high)
        near = np.flatnonzero((cell.mu.lower[0] <= passive.value) & (passive.value <= cell.mu.upper[0]))
        if len(near) != 1:
            return None
        found.append(Crossing(place, int(near[0]), of_arb(shift), cell))
    order = sorted(found, key=lambda one: float(one.shift.mid))
    apart = all(float(b.shift.lower) > float(a.shift.upper) for a, b in pairwise(order))
    return found if apart else None


def _shift(pencil: Pencil, passive: Passive) -> arb | None:
    """δ* = −P(λ)/Q(λ), P = det(J − λ) and Q the same without the first row; None where Q(λ) = 0."""
    P, Q = pencil.polynomials
    common = Q.gcd(passive.polynomial)
    with precision(BITS):
        if common.degree() > 0 and any(root.real.overlaps(passive.ball) for root, _ in roots_of(common)):
            return None
        return -_at(P, passive.ball) / _at(Q, passive.ball)


def _at(polynomial: fmpq_poly, place: arb) -> arb:
    """Horner's rule in balls."""
    value = arb(0)
    for c in reversed(list(polynomial)):
        value = value * place + arb(c)
    return value


def mixed_choices(
    metric: AxialMetric, pencil: Pencil, found: list[Crossing], rank: int
) -> list[Mixed] | None:
    """All choices of a rank at crossings with 0 < x < 1; None where some x is not told from 0 or 1.

    x = 0 and x = 1 are sets of eigenvectors, and found as such.
    """
    chosen = []
    for crossing in found:
        ranges = [range(p.size + 1) for p in pencil.passive]
        ranges[crossing.place] = range(1, pencil.passive[crossing.place].size + 1)
        for counts in product(*ranges):
            kept = rank - sum(counts)
            if not 0 <= kept < pencil.size:
                continue
            masks = masks_of(pencil.size, kept)
            equation = Equation(metric, pencil, masks[~masks[:, crossing.branch]], counts)
            shares = _inside(equation, crossing)
            if shares is None:
                return None
            chosen += [Mixed(crossing, equation.masks[i], counts, share, rho) for i, share, rho in shares]
    return chosen


def _is_target(equation: Equation, crossing: Crossing) -> bool:
    """Whether the choice is the target, of lower rank: two zeros cross, and no other eigenvalue is left out."""
    pencil = equation.pencil
    if pencil.passive[crossing.place].rational != 0 or pencil.polynomials[0](0) != 0:
        return False
    left = [
        p
        for i, (p, q) in enumerate(zip(pencil.passive, equation.counts, strict=True))
        if q < p.size and i != crossing.place
    ]
    return bool(equation.masks.sum() == pencil.size - 1) and not left


def _inside(equation: Equation, crossing: Crossing) -> list[tuple[int, float, float]] | None:
    """The choices with 0 < x < 1, with x and ρ; None where it is not decided which these are."""
    if _is_target(equation, crossing):
        return []
    if equation.pencil.rational is not None:
        return _exactly_inside(equation, crossing, equation.pencil.rational)
    shares, rho = _shares(equation, crossing)
    inside = (shares.lower > 0) & (shares.upper < 1)
    if not np.all(inside | (shares.upper < 0) | (shares.lower > 1)):
        return None
    return [(int(i), float(shares.mid[i]), float(rho.mid[i])) for i in np.flatnonzero(inside)]


def _exactly_inside(
    equation: Equation, crossing: Crossing, values: list[Fraction]
) -> list[tuple[int, float, float]] | None:
    """The same where the axis is an eigenvector and eigenvalues are fractions, which people give.

    Where λ = ρ the eigenvalue that is met is not kept after all, and S has lower rank.
    """
    pencil, metric, rank = equation.pencil, equation.metric, equation.rank
    own, h, first = values[crossing.place], metric.height, metric.alpha + metric.trace * rank
    s = sum((q * value for q, value in zip(equation.counts, values, strict=True)), Fraction(0)) - pencil.whole
    last = -metric.alpha * (own - pencil.diagonal[0]) / h - metric.mixed * s
    determinant = first * metric.along - metric.mixed**2 * rank
    if not determinant:
        return None
    rho = (metric.trace * s * metric.along + metric.mixed * last) / determinant
    d = (first * last + metric.mixed * rank * metric.trace * s) / determinant
    if own == rho:
        return []
    share = (d / h + pencil.diagonal[0]) / (own - rho)
    return [(0, float(share), float(rho))] if 0 < share < 1 else []


def _shares(equation: Equation, crossing: Crossing) -> tuple[Ball, Ball]:
    """x and ρ of each choice: ρ and d from their two linear equations, and h(Σ (μ − ρ)w + (λ − ρ) x w_i − e·Te) = d."""
    alpha, trace, mixed, along, height, whole, corner = equation.constants
    rank, cell = of_fraction(Fraction(equation.rank)), crossing.cell
    with np.errstate(all="ignore"):
        s = cell.mu[0] @ equation.kept + equation.passive - whole
        pull = alpha * crossing.shift / height
        # (α + r q₁₁)ρ − q₁₂d = q₁₁s and −r q₁₂ρ + q₂₂d = −pull − q₁₂s
        first, last = alpha + trace * rank, -pull - mixed * s
        determinant = first * along - mixed * mixed * rank
        rho = quotient(trace * s * along + mixed * last, determinant)
        d = quotient(first * last + mixed * rank * trace * s, determinant)
        others = (cell.mu[0] * cell.w[0]) @ equation.kept - rho * (cell.w[0] @ equation.kept)
        own = of_arb(equation.pencil.passive[crossing.place].ball) - rho
        return quotient(d / height + corner - others, own * cell.w[0, crossing.branch]), rho
