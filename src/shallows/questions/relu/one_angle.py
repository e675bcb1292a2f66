"""Networks αI + β11ᵀ: one angle, searched by signs of a function and of its slope over intervals.

A row has length r and the direction (cos φ on its own coordinate, sin φ/q on the k − 1 others), q² = m = k − 1. With
2πκ(θ) = sin θ + (π − θ) cos θ and ψ the angle of two rows, the loss of a row is r²A − 2rB and a constant,

    2πA = π + 2πmκ(ψ),     2πB = 2πκ(θ₁) + 2πmκ(θ₂),     cos θ₁ = cos φ,  cos θ₂ = sin φ/q,  cos ψ = 1 − δ²,

δ = cos φ − sin φ/q. A and B are positive, so that r = B/A, and φ is critical where f = 2B′A − BA′ vanishes. Without 2π,
A′ = −2m(π−ψ)δδ′, B′ = q(π−θ₂) cos φ − (π−θ₁) sin φ, and, since δ″ = −δ and δ² + δ′² = k/m,

    A″ = 2m(2|δ|δ′²/√(2−δ²) − (π−ψ)(δ′² − δ²)),
    B″ = |sin φ| − (π−θ₁) cos φ + cos² φ/sin θ₂ − q(π−θ₂) sin φ,

whose two fractions are between 0 and sin ψ, and 0 and |cos φ|. An interval in which f has no zero is out; where f′ has
none, f has exactly one zero if its signs at the ends differ, and none if they agree; other intervals are cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.exclusion.intervals import HALF_PI, PI, Intervals
from shallows.support.checks import Array

#: Pieces of the circle to begin with: one round decides all, for k up to 1,000, in NumPy's loops (`intervals.MANY`).
PIECES = 168
#: Where the circle is cut first: no critical direction is there, nor at a rational share of the circle from there.
FIRST = -3.0
#: More than a circle: the last piece reaches over the first cut, whatever 2π is rounded to.
CIRCLE = 2 * np.pi + 1e-12
#: Rounds of cutting after which what is left is undecided (a zero that is not simple), and where pieces are cut.
ROUNDS, CUT = 40, 0.47
#: Newton steps from the middle of an interval, each of which doubles the digits, and the step after which they are all
#: there.
STEPS, STILL = 8, 1e-9
#: A direction is known to about 1e-15: so far from the end of an interval it is inside.
EDGE = 1e-12
#: Cosines above this are known better from the sine.
STEEP = 0.7
#: 1/√2, enclosed: sin ψ/2 = |δ|/√2.
HALF = Intervals.exact(0.5).sqrt()


@dataclass(frozen=True, eq=False)
class Directions:
    """Exactly one critical direction has φ in each [lo, hi]; what is undecided may have more, nothing else has."""

    k: int
    lo: Array
    hi: Array
    boxes: int
    undecided: int

    def values(self) -> Array:
        """A row's entry on its own coordinate and on the others, in doubles, for each of them."""
        angle = 0.5 * (self.lo + self.hi)
        for _ in range(STEPS):
            at = equation(self.k, Intervals.exact(angle))
            step = at.value.mid / at.slope.mid
            angle = np.clip(angle - step, self.lo, self.hi)
            if np.abs(step).max(initial=0.0) < STILL:
                break
        length = at.length.mid
        return np.stack([length * np.cos(angle), length * np.sin(angle) / np.sqrt(self.k - 1.0)], axis=1)

    def holds(self, i: int, values: Array) -> bool:
        """Whether the direction of these values (own, others) is in the interval i, and not at its ends."""
        angle = float(np.arctan2(values[1] * np.sqrt(self.k - 1.0), values[0]))
        angle += 2 * np.pi if angle < FIRST else 0.0
        return bool(self.lo[i] + EDGE < angle < self.hi[i] - EDGE)


@dataclass(frozen=True, eq=False)
class Equation:
    """f and f′, both times (2π)², and the length r of a row where f = 0."""

    value: Intervals
    slope: Intervals
    length: Intervals


def _chosen(mask: np.ndarray, a: Intervals, b: Intervals) -> Intervals:
    return Intervals(np.where(mask, a.lo, b.lo), np.where(mask, a.hi, b.hi))


def _rest(cosine: Intervals, sine: Intervals) -> Intervals:
    """π − θ for θ in [0, π], from the cosine or, where that is steep, the sine (not negative)."""
    flat = HALF_PI + cosine.arcsin()
    bent = sine.arcsin()
    ahead = PI - bent
    rest = _chosen(cosine.hi < -STEEP, bent, flat)
    return _chosen(cosine.lo > STEEP, ahead, rest)


def equation(k: int, angle: Intervals) -> Equation:
    """f, f′ and r over intervals of φ."""
    m = float(k - 1)
    q = Intervals.exact(np.full(len(angle), m)).sqrt()
    c, s = angle.cos(), angle.sin()
    lean = s / q
    sine_two = (c.square() + s.square() * (m - 1.0) / m).sqrt()
    one, two = _rest(c, s.abs()), _rest(lean, sine_two)
    delta, turn = c - lean, -(s + c / q)
    gap, turned = delta.square(), turn.square()
    room = (-gap + 2.0).sqrt()
    sine = delta.abs() * room
    apart = PI - (delta.abs() * HALF).meet(Intervals(0.0, 1.0)).arcsin() * 2.0
    A = PI + (sine + apart * (-gap + 1.0)) * m
    B = s.abs() + one * c + (sine_two + two * lean) * m
    slope_A = apart * delta * turn * (-2.0 * m)
    slope_B = q * two * c - one * s
    bend = (delta.abs() * turned / room).meet(Intervals(0.0, sine.hi)) * 2.0
    bow = (c.square() / sine_two).meet(Intervals(0.0, c.abs().hi))
    curve_A = (bend - apart * (turned - gap)) * (2.0 * m)
    curve_B = s.abs() - one * c + bow - q * two * s
    return Equation(
        slope_B * A * 2.0 - B * slope_A, curve_B * A * 2.0 + slope_B * slope_A - B * curve_A, B / A
    )


def critical_directions(k: int) -> Directions:
    """All critical directions of αI + β11ᵀ, k ≥ 2: intervals of φ that have exactly one."""
    cuts = FIRST + CIRCLE * np.arange(PIECES + 1) / PIECES
    lo, hi = cuts[:-1], cuts[1:]
    found: list[tuple[Array, Array]] = []
    boxes = 0
    with np.errstate(all="ignore"):
        for _ in range(ROUNDS):
            boxes += len(lo)
            at = equation(k, Intervals(np.concatenate([lo, lo, hi]), np.concatenate([hi, lo, hi])))
            sign = np.where(at.value.lo > 0, 1, np.where(at.value.hi < 0, -1, 0)).reshape(3, -1)
            steady = ~at.slope.has_zero[: len(lo)] & (sign[1:] != 0).all(axis=0)
            one = steady & (sign[1] != sign[2])
            found.append((lo[one], hi[one]))
            rest = (sign[0] == 0) & ~steady
            lo, hi = lo[rest], hi[rest]
            if not len(lo):
                break
            middle = lo + CUT * (hi - lo)
            lo, hi = np.concatenate([lo, middle]), np.concatenate([middle, hi])
    below, above = (np.concatenate(part) for part in zip(*found, strict=True))
    return Directions(k, below, above, boxes, len(lo))
