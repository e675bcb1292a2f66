"""All δ at which eigenvalues of K(δ) = T + δ eeᵀ make a critical point under an axial metric, by interval arithmetic.

A matrix S of rank r is critical exactly when (αD + pI + qh eeᵀ)S = 0 in white coordinates, D = S − T, p = q₁₁τ + q₁₂d
and q = q₁₂τ + q₂₂d. So S = Σ_I (μ_i − ρ) u_i u_iᵀ with eigenpairs of K(δ), ρ = p/α and δ = −qh/α: with w_i = (e·u_i)² =
dμ_i/dδ,

    τ = Σ_I μ_i − rρ − tr T,    d = h (Σ_I (μ_i − ρ) w_i − e·Te),    αρ = q₁₁τ + q₁₂d,

and one equation F_I(δ) = q₁₂τ + q₂₂d + αδ/h = 0 is left, as the third gives ρ. With ⟨D, D⟩ ≤ ⟨T, T⟩ at critical points
|δ| is bounded (`AxialMetric.reach`); in between, balls tell in which cells F_I is not zero, or monotone: the μ_i rise
with δ, and the w_i are products of factors each of which rises or falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import UNIT, Ball, raised
from shallows.mathematics.balls.rounding import above, below
from shallows.questions.charts.closed_form.axial_metric import AxialMetric
from shallows.questions.charts.closed_form.axial_pencil import Pencil
from shallows.support.checks import Array

#: Cells are cut here: no round number, for special targets have their roots at those.
CUT = 0.4871
#: Cells narrower than this share of the whole are not cut further: eigenvalues are known to 10⁻¹⁴ or so.
NARROWEST = 2.0**-44
#: The first cells grow by this factor outwards: critical δ are of any size below the bound.
GROWTH = 4.0
#: How many first cells there are on either side, the innermost of this share of the whole.
RINGS = 12
#: How far the middle of an interval is off by its own roundings, relatively.
MIDDLE = 2 * UNIT
#: More open cells than this are given up: there are roots that meet.
MOST_CELLS = 20_000


class Root(NamedTuple):
    """A root of the equation of choice number `choice`, the only one between these bounds."""

    choice: int
    low: float
    high: float


class Spectra(NamedTuple):
    """Active eigenvalues μ and their weights w = (e·u)² = dμ/dδ over cells of δ, a row a cell."""

    shift: Ball
    mu: Ball
    w: Ball


@dataclass(frozen=True, eq=False)
class Equation:
    """F_I for all choices I of one rank that keep as many passive eigenvalues, as functions over cells of δ."""

    metric: AxialMetric
    pencil: Pencil
    masks: NDArray[np.bool_]
    counts: tuple[int, ...]

    @property
    def rank(self) -> int:
        """The rank of all of them."""
        return int(self.masks[0].sum()) + sum(self.counts)

    @cached_property
    def kept(self) -> Ball:
        """The masks as columns of zeros and ones."""
        return Ball.exact(self.masks.T.astype(np.float64))

    @cached_property
    def passive(self) -> Ball:
        """Σ of the passive eigenvalues that are kept."""
        pairs = zip(self.counts, self.pencil.passive, strict=True)
        return of_arb(sum((count * one.ball for count, one in pairs), arb(0)))

    @cached_property
    def rational_passive(self) -> Fraction | None:
        """The same as a fraction, where all of these are fractions."""
        kept = [(p.rational, q) for p, q in zip(self.pencil.passive, self.counts, strict=True) if q]
        parts = [value * q for value, q in kept if value is not None]
        return sum(parts, Fraction(0)) if len(parts) == len(kept) else None

    @cached_property
    def constants(self) -> tuple[Ball, ...]:
        """α, q₁₁, q₁₂, q₂₂, h, tr T and e·Te."""
        m = self.metric
        parts = (m.alpha, m.trace, m.mixed, m.along, m.height, self.pencil.whole, self.pencil.diagonal[0])
        return tuple(of_fraction(part) for part in parts)

    def solved(self, cells: Spectra) -> tuple[Ball, Ball]:
        """F_I and ρ, over cells (rows) and choices (columns)."""
        alpha, trace, mixed, along, height, whole, corner = self.constants
        rank, shift = of_fraction(Fraction(self.rank)), cells.shift.reshape(-1, 1)
        s, first = cells.mu @ self.kept + self.passive, cells.w @ self.kept
        e = (cells.mu * cells.w) @ self.kept
        rho = quotient(trace * (s - whole) + mixed * height * (e - corner), self._divisor(first))
        d = height * (e - rho * first - corner)
        return mixed * (s - rank * rho - whole) + along * d + alpha * shift / height, rho

    def slope(self, cells: Spectra, rho: Ball) -> Ball:
        """dF_I/dδ. With X_ij = w_i w_j/(μ_i − μ_j), i ∈ I and j ∉ I,

        (Σ_I w_i)′ = 2Σ X_ij and (Σ_I μ_i w_i)′ = (Σ_I w_i)² + 2Σ μ_i X_ij.
        """
        alpha, trace, mixed, along, height, _, _ = self.constants
        rank, first = of_fraction(Fraction(self.rank)), cells.w @ self.kept
        bend, lean = self.second(cells, self.masks)
        rise = first * first + lean
        drift = quotient(trace * first + mixed * height * (rise - rho * bend), self._divisor(first))
        turn = height * (rise - drift * first - rho * bend)
        return mixed * (first - rank * drift) + along * turn + alpha / height

    def _divisor(self, first: Ball) -> Ball:
        """α + r q₁₁ + q₁₂ h Σ_I w_i, by which ρ is divided."""
        alpha, trace, mixed, _, height, _, _ = self.constants
        return alpha + trace * of_fraction(Fraction(self.rank)) + mixed * height * first

    def second(self, cells: Spectra, masks: NDArray[np.bool_]) -> tuple[Ball, Ball]:
        """2Σ X_ij and 2Σ μ_i X_ij over i in a set and j outside it, for sets that are given as rows."""
        mu, w, size = cells.mu, cells.w, self.pencil.size
        both = np.array([(i, j) for i in range(size) for j in range(i)], dtype=np.intp).reshape(-1, 2)
        i, j = both.T
        X = quotient(w[:, i] * w[:, j], mu[:, i] - mu[:, j]) * of_fraction(Fraction(2))
        upper = (masks[:, i] & ~masks[:, j]).T.astype(np.float64)
        lower = (masks[:, j] & ~masks[:, i]).T.astype(np.float64)
        lean = _sums(X * mu[:, i], Ball.exact(upper)) - _sums(X * mu[:, j], Ball.exact(lower))
        return _sums(X, Ball.exact(upper - lower)), lean

    def in_doubles(self, shift: float) -> tuple[Array, Array]:
        """F_I and ρ at one δ, one a choice."""
        values, vectors = self.pencil.eigenpairs(shift)
        w = (self.pencil.active[:, 0] @ vectors) ** 2
        value, rho = self.solved(Spectra(*(Ball.exact(np.atleast_2d(x)) for x in (shift, values, w))))
        return np.asarray(value.mid[0]), np.asarray(rho.mid[0])


def _sums(X: Ball, signs: Ball) -> Ball:
    """Σ over pairs; what is not bounded counts only where it is asked for."""
    open_ = ~np.isfinite(X.rad)
    closed = Ball(np.where(open_, 0.0, X.mid), np.where(open_, 0.0, X.rad))
    total = closed @ signs
    asked = open_.astype(np.float64) @ np.abs(signs.mid) > 0
    return Ball(total.mid, np.where(asked, np.inf, total.rad))


@lru_cache(maxsize=1024)
def of_fraction(value: Fraction) -> Ball:
    """A rational as a ball."""
    return Ball.of_fractions([[value]])[0, 0]


def of_arb(value: arb) -> Ball:
    """A ball of Arb in doubles."""
    return between(np.asarray(below(value)), np.asarray(above(value)))


def between(low: Array, high: Array) -> Ball:
    """The ball from low to high."""
    mid = low / 2 + high / 2
    return Ball(mid, raised(np.maximum(high - mid, mid - low) + MIDDLE * np.abs(mid), 3))


def quotient(a: Ball, b: Ball) -> Ball:
    """a/b for b of either sign; unbounded where b may be zero."""
    sign = np.where(b.mid < 0, -1.0, 1.0)
    divisor = Ball(b.mid * sign, b.rad)
    safe = divisor.lower > 0
    divisor = Ball(np.where(safe, divisor.mid, 1.0), np.where(safe, divisor.rad, 0.0))
    found = Ball(a.mid * sign, a.rad) / divisor
    return Ball(np.where(safe, found.mid, 0.0), np.where(safe, found.rad, np.inf))


class _Ends(NamedTuple):
    """At some δ: bounds on the active eigenvalues, and on the factors of their weights that rise and fall with δ."""

    mu: Ball
    rising: Ball
    falling: Ball

    def take(self, rows: NDArray[np.intp]) -> _Ends:
        """At some of them."""
        return _Ends(*(part[rows] for part in self))


def _ends(pencil: Pencil, shifts: Array) -> _Ends:
    """Eigenvalues and factors of weights at these δ."""
    mu = pencil.at(shifts)
    return _Ends(mu, *weight_factors(mu, pencil.poles))


def weight_factors(mu: Ball, zeta: Ball) -> tuple[Ball, Ball]:
    """w_i = Π_{k<i} (μ_i − ζ_k)/(μ_i − μ_k) · Π_{k≥i} (ζ_k − μ_i)/(μ_{k+1} − μ_i), ζ the poles: factors in [0, 1]."""
    size = mu.shape[-1]
    rising = falling = Ball.exact(np.ones(mu.shape))
    for k in range(size - 1):
        up = quotient(mu - zeta[k], mu - mu[:, [k]])
        down = quotient(zeta[k] - mu, mu[:, [k + 1]] - mu)
        above_k = np.arange(size) > k
        rising = rising * _unit(up, above_k)
        falling = falling * _unit(down, ~above_k)
    return rising, falling


def _unit(ratio: Ball, used: NDArray[np.bool_]) -> Ball:
    """What is known to be between 0 and 1; 1 where it is not used."""
    low = np.where(used, np.clip(np.nan_to_num(ratio.lower, nan=0.0), 0.0, 1.0), 1.0)
    high = np.where(used, np.clip(np.nan_to_num(ratio.upper, nan=1.0), 0.0, 1.0), 1.0)
    return between(low, high)


def _over(low: Array, high: Array, left: _Ends, right: _Ends) -> Spectra:
    """Over the cells from one end to the other: μ rises, and w lies between the products of factors' extremes."""
    least = np.clip((left.rising * right.falling).lower, 0.0, 1.0)
    most = np.clip((right.rising * left.falling).upper, 0.0, 1.0)
    return Spectra(between(low, high), between(left.mu.lower, right.mu.upper), between(least, most))


def spectra_between(pencil: Pencil, low: float, high: float) -> Spectra:
    """Over the one cell from low to high."""
    ends = _ends(pencil, np.array([low, high]))
    rows = np.array([0]), np.array([1])
    return _over(np.array([low]), np.array([high]), ends.take(rows[0]), ends.take(rows[1]))


def isolated_roots(equation: Equation, bound: float) -> list[Root] | None:
    """All roots of all F_I with |δ| ≤ bound, each alone in its cell; None where roots meet, or nearly do."""
    cuts = _first_cuts(bound)
    low, high = cuts[:-1], cuts[1:]
    open_ = np.ones((len(low), len(equation.masks)), bool)
    found: list[Root] = []
    with np.errstate(all="ignore"):
        while len(low):
            if len(low) > MOST_CELLS or np.min(high - low) < NARROWEST * bound:
                return None
            ends, places = np.unique(np.concatenate([low, high]), return_inverse=True)
            known = _ends(equation.pencil, ends)
            left, right = known.take(places[: len(low)]), known.take(places[len(low) :])
            cells = _over(low, high, left, right)
            value, rho = equation.solved(cells)
            at_low = equation.solved(_over(low, low, left, left))[0]
            at_high = equation.solved(_over(high, high, right, right))[0]
            monotone = _sign(equation.slope(cells, rho)) != 0
            change = _sign(at_low) * _sign(at_high)
            empty = (_sign(value) != 0) | (monotone & (change > 0))
            single = monotone & (change < 0) & ~empty
            for row, choice in np.argwhere(open_ & single).tolist():
                found.append(Root(choice, float(low[row]), float(high[row])))
            open_ &= ~(empty | single)
            low, high, open_ = _halves(low, high, open_)
    return found


def _sign(ball: Ball) -> NDArray[np.int_]:
    """1, −1, or 0 where it is not decided."""
    return np.where(ball.lower > 0, 1, np.where(ball.upper < 0, -1, 0))


def _first_cuts(bound: float) -> Array:
    """Cells that grow outwards, over more than [−bound, bound], and without a cut at zero."""
    rings = (1 + CUT / GROWTH) * bound * GROWTH ** -np.arange(RINGS, dtype=np.float64)
    return np.concatenate([-rings * (1 + CUT / GROWTH), rings[::-1]])


def _halves(low: Array, high: Array, open_: NDArray[np.bool_]) -> tuple[Array, Array, NDArray[np.bool_]]:
    """The cells with something open, cut in two."""
    rows = open_.any(axis=1)
    low, high, open_ = low[rows], high[rows], open_[rows]
    middle = low + CUT * (high - low)
    return np.concatenate([low, middle]), np.concatenate([middle, high]), np.concatenate([open_, open_])


def masks_of(size: int, kept: int) -> NDArray[np.bool_]:
    """All sets of so many of the active eigenvalues, a row each."""
    sets = list(combinations(range(size), kept))
    masks = np.zeros((len(sets), size), bool)
    for row, chosen in zip(masks, sets, strict=True):
        row[list(chosen)] = True
    return masks
