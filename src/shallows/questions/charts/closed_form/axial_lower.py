"""Whether a kept eigenvalue μ_i − ρ is zero at a root of F_I, so that S has lower rank: exactly, for rational δ."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import fmpq_mat
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.exact.linear_algebra import to_flint
from shallows.questions.charts.closed_form.axial_pencil import near_fraction
from shallows.questions.charts.closed_form.axial_roots import (
    Equation,
    Root,
    Spectra,
    of_fraction,
    spectra_between,
)
from shallows.questions.charts.closed_form.axial_sums import SetSums, are_zero, weight


def has_lower_rank(equation: Equation, root: Root, near: float) -> bool | None:
    """None where the root, which is next to `near`, is no simple fraction, or it is not decided what is zero there."""
    shift, passive = near_fraction(near), equation.rational_passive
    if passive is None or not root.low < shift < root.high:
        return None
    middle = float(shift)
    cell = spectra_between(equation.pencil, np.nextafter(middle, -np.inf), np.nextafter(middle, np.inf))
    with np.errstate(all="ignore"):
        value, rho = (part[0] for part in equation.solved(cell))
    exact = _at(equation, shift, passive, [])
    if exact is None or not are_zero(exact[:1], _touches(value))[root.choice]:
        return None  # δ is not proved to be the root
    for place, count in zip(equation.pencil.passive, equation.counts, strict=True):
        if not count or place.rational is None:
            continue
        own = of_fraction(place.rational) - rho
        if _touches(own)[root.choice]:
            level = exact[2].number(place.rational) - exact[1]
            zero = are_zero([exact[0], level], _touches(value) & _touches(own))
            return True if zero[root.choice] else None
    for i in np.flatnonzero(equation.masks[root.choice]).tolist():
        own = cell.mu[0, i] - rho
        if _touches(own)[root.choice]:
            return _active(equation, root, shift, passive, i, cell, _touches(value) & _touches(own))
    return False


def _active(
    equation: Equation,
    root: Root,
    shift: Fraction,
    passive: Fraction,
    branch: int,
    cell: Spectra,
    open_: NDArray[np.bool_],
) -> bool | None:
    """Whether active eigenvalue number `branch`, which is kept, is ρ; decided where it is a simple fraction."""
    pencil, mu = equation.pencil, cell.mu[0]
    level = near_fraction(float(mu.mid[branch]))
    inside = _touches(mu - of_fraction(level))
    P, Q = pencil.polynomials
    if (P + to_flint(shift) * Q)(to_flint(level)) != 0 or np.flatnonzero(inside).tolist() != [branch]:
        return None
    exact = _at(equation, shift, passive, [level])
    if exact is None:
        return None
    with_it = equation.masks[:, branch]
    zero = are_zero([exact[0], exact[2].number(level) - exact[1]], open_[with_it])
    return True if zero[np.flatnonzero(with_it) == root.choice][0] else None


def _at(
    equation: Equation, shift: Fraction, passive: Fraction, taken: Sequence[Fraction]
) -> tuple[fmpq_mat, fmpq_mat, SetSums] | None:
    """F_I and ρ as matrices, over the I that keep the active eigenvalues `taken`, and the sums they are made of."""
    m, pencil, kept = equation.metric, equation.pencil, int(equation.masks[0].sum())
    sums = SetSums.at(pencil, shift, kept - len(taken), taken)
    if sums is None:
        return None
    weights = [weight(pencil, shift, value) for value in taken]
    both = sum((value * w for value, w in zip(taken, weights, strict=True)), -pencil.diagonal[0])
    s = sums.mu + sums.number(passive + sum(taken) - pencil.whole)
    first = sums.w + sums.number(sum(weights, Fraction(0)))
    e = sums.both + sums.number(both)
    trace, pull = to_flint(m.trace), to_flint(m.mixed * m.height)
    divisor = sums.number(m.alpha + m.trace * equation.rank) + first * pull
    if divisor.rank() < divisor.nrows():
        return None
    rho = (s * trace + e * pull) * divisor.inv()
    last = (e - rho * first) * to_flint(m.along * m.height) + sums.number(m.alpha * shift / m.height)
    return (s - rho * to_flint(Fraction(equation.rank))) * to_flint(m.mixed) + last, rho, sums


def _touches(ball: Ball) -> NDArray[np.bool_]:
    """Where a ball contains zero."""
    return np.asarray((ball.lower <= 0) & (ball.upper >= 0))
