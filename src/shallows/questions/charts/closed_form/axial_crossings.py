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
from typing import NamedTuple

import numpy as np
from flint import arb, fmpq_mat, fmpq_poly
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.balls.rounding import above, below
from shallows.mathematics.balls.systems import BITS, precision
from shallows.mathematics.exact.linear_algebra import from_flint, to_flint
from shallows.questions.charts.closed_form.axial_metric import AxialMetric
from shallows.questions.charts.closed_form.axial_pencil import Passive, Pencil
from shallows.questions.charts.closed_form.axial_roots import (
    Equation,
    Spectra,
    masks_of,
    of_arb,
    of_fraction,
    quotient,
    spectra_between,
)
from shallows.questions.charts.closed_form.axial_sums import SetSums, are_zero, weight


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
    if Q.gcd(passive.polynomial).degree() > 0:
        return None  # all of its roots, as it is irreducible
    with precision(BITS):
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


class _Parts(NamedTuple):
    """Of each choice: own = λ − ρ, rest and other, of which x is rest/(rest + other), and ρ.

    With rest = d/h + e·Te − Σ (μ − ρ)w and other = own w_i − rest, x is between 0 and 1 where both have the sign
    of own. Where own = 0 the eigenvalue that is met is not kept after all, and S has lower rank.
    """

    own: Ball
    rest: Ball
    other: Ball
    rho: Ball


def _inside(equation: Equation, crossing: Crossing) -> list[tuple[int, float, float]] | None:
    """The choices with 0 < x < 1, with x and ρ; None where it is not decided which these are."""
    if equation.pencil.size - 1 == equation.masks[0].sum() and equation.metric.is_blind():
        return []  # x = 1: with Σ w = 1 and Σ μw = e·Te + δ the two equations are one, and d = h(δ − ρ)
    if _is_target(equation, crossing):
        return []
    exact = _exact_parts(equation, crossing)
    parts = _parts(equation, crossing)
    if exact is not None and exact[0].nrows() == 1:
        parts = _Parts(*(Ball.of_fractions([[from_flint(part[0, 0])]])[0] for part in exact))
    own, rest, other = (np.sign(part.mid) * (np.abs(part.mid) > part.rad) for part in parts[:3])
    outside = (own * rest < 0) | (own * other < 0)
    inside = (own * rest > 0) & (own * other > 0)
    for part, sign in zip(exact or (), (own, rest, other), strict=False):
        outside |= are_zero([part], sign == 0)
    if not np.all(inside | outside):
        return None
    share = parts.rest.mid / np.where(inside, (parts.rest + parts.other).mid, 1.0)
    return [(int(i), float(share[i]), float(parts.rho.mid[i])) for i in np.flatnonzero(inside)]


def _parts(equation: Equation, crossing: Crossing) -> _Parts:
    """By balls: ρ and d from their two linear equations, and h(Σ (μ − ρ)w + (λ − ρ) x w_i − e·Te) = d."""
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
        rest = (
            d / height
            + corner
            - ((cell.mu[0] * cell.w[0]) @ equation.kept - rho * (cell.w[0] @ equation.kept))
        )
        own = of_arb(equation.pencil.passive[crossing.place].ball) - rho
        return _Parts(own, rest, own * cell.w[0, crossing.branch] - rest, rho)


def _exact_parts(equation: Equation, crossing: Crossing) -> tuple[fmpq_mat, ...] | None:
    """The same as matrices with an eigenvalue for each choice (`axial_sums`); None where δ or what is kept is not
    rational, or there are too many choices."""
    pencil, metric = equation.pencil, equation.metric
    level, passive = pencil.passive[crossing.place].rational, equation.rational_passive
    if level is None or passive is None:
        return None
    P, Q = (from_flint(polynomial(to_flint(level))) for polynomial in pencil.polynomials)
    sums = SetSums.at(pencil, -P / Q, int(equation.masks[0].sum()), [level])
    first = metric.alpha + metric.trace * equation.rank
    determinant = first * metric.along - metric.mixed**2 * equation.rank
    if sums is None or not determinant:
        return None
    s = sums.mu + sums.number(passive - pencil.whole)
    last = sums.number(metric.alpha * P / Q / metric.height) - s * to_flint(metric.mixed)
    drift, pull = metric.trace * metric.along / determinant, metric.mixed / determinant
    rho = s * to_flint(drift) + last * to_flint(pull)
    d = last * to_flint(first / determinant) + s * to_flint(pull * equation.rank * metric.trace)
    rest = d * to_flint(1 / metric.height) + sums.number(pencil.diagonal[0]) - sums.both + rho * sums.w
    own = sums.number(level) - rho
    return own, rest, own * to_flint(weight(pencil, -P / Q, level)) - rest, rho
