"""Networks αI + β11ᵀ against k orthonormal ReLU teachers: one function of an angle, for all k at once.

A row is ρ(cos t·eᵢ + s sin t·Σⱼ≠ᵢ eⱼ), s = 1/√(k−1), of length ρ. With ψ(x) = √(1−x²) + (π − arccos x)x and h = cos t −
s sin t, two rows enclose θ with 1 − cos θ = h², a row and its teacher |t|, a row and another one arccos(s sin t), so

    L = (k/2πs²)(πs² + 1 + ρ²A − 2ρB),   A = πs² + ψ(1 − h²),   B = s²ψ(cos t) + ψ(s sin t).

B > 0, so the length is ρ = B/A and critical are the zeros of F = 2B′A − BA′ (derivatives by t). h″ = −h and ψ′(x) = π −
arccos x give F and F′ in closed form, regular at s = 0 as well, which is k = ∞. For every s in an interval and every t
of an arc, either F ≠ 0, or F′ ≠ 0 and F has at most one zero there: `critical_angles` covers the circle with such arcs.
Two quotients of F′ are 0/0 at corners of the rectangle, and bounded there: cos²t/√(1−s²sin²t) lies between cos²t and
|cos t|, h′²/√(2−h²) between 0 and |h′|, because 2 − h² = 1 − s² + h′².
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from flint import arb

from shallows.mathematics.balls.systems import precision

#: Bits of the balls, here and in `turned_spectrum`: rounding (1e-16) is nothing beside the intervals' width.
BITS = 53
#: Where the circle is cut: F is positive there for every k (proved with the rest).
CUT = -math.pi / 4
#: By how much the arcs overlap after one turn: more than 2π as a double lacks (2.5e-16).
OVERLAP = 1e-9
#: Arcs at first, and how often each is halved.
ARCS, HALVINGS = 32, 6
#: A radius is rounded up by this, and so a ball of doubles contains both ends.
OUTWARD = 1 + 1e-12


class Balanced(NamedTuple):
    """A and B with their derivatives by t, and what the second ones need."""

    sine: Any
    cosine: Any
    h: Any
    slope: Any
    rest: Any
    other: Any
    A: Any
    A1: Any
    B: Any
    B1: Any


def between(low: float, high: float) -> Any:
    """The ball of all numbers from `low` to `high`."""
    middle = low + (high - low) / 2
    return arb(middle, max(high - middle, middle - low) * OUTWARD)


def square(x: Any) -> Any:
    """x², not negative."""
    size = abs(x)
    low = size.lower() if size.lower() > 0 else arb(0)
    return (low * low).union(size.upper() * size.upper())


def psi(x: Any) -> Any:
    """ψ at all numbers of x that are cosines: it increases."""
    low, high = _ends(x)
    return _psi(low).union(_psi(high))


def psi_slope(x: Any) -> Any:
    """ψ′ = π − arccos at all numbers of x that are cosines: it increases."""
    low, high = _ends(x)
    return _opposite(low).union(_opposite(high))


def balanced(t: Any, s: Any) -> Balanced:
    """A, B and their first derivatives at balls."""
    sine, cosine = t.sin(), t.cos()
    other = s * sine
    h, slope = cosine - other, -sine - s * cosine
    rest = psi_slope(1 - square(h))
    A, A1 = arb.pi() * square(s) + psi(1 - square(h)), -2 * h * slope * rest
    B = square(s) * psi(cosine) + psi(other)
    B1 = s * (cosine * psi_slope(other) - other * psi_slope(cosine))
    return Balanced(sine, cosine, h, slope, rest, other, A, A1, B, B1)


def stationarity(t: Any, s: Any) -> Any:
    """F = 2B′A − BA′."""
    p = balanced(t, s)
    return 2 * p.B1 * p.A - p.B * p.A1


def stationarity_slope(t: Any, s: Any) -> Any:
    """F′ = 2B″A + B′A′ − BA″."""
    p = balanced(t, s)
    quotient = _meet(square(p.cosine) / _root(1 - square(p.other)), square(p.cosine), abs(p.cosine))
    B2 = s * (-p.sine * psi_slope(p.other) + s * (quotient - p.cosine * psi_slope(p.cosine) + abs(p.sine)))
    quotient = _meet(square(p.slope) / _root(2 - square(p.h)), arb(0), abs(p.slope))
    A2 = -2 * p.rest * (square(p.slope) - square(p.h)) + 4 * abs(p.h) * quotient
    return 2 * B2 * p.A + p.B1 * p.A1 - p.B * A2


def critical_angles(low: float, high: float) -> str:
    """What F does once round the circle, for every s in [low, high]: `+` and `-` are its signs, `u` and `d` arcs where
    it goes up or down, `?` one that is undecided. A `d` between `+` and `-` is exactly one zero, a minimum of the loss
    among these networks; a `u` between `-` and `+` a saddle."""
    with precision(BITS):
        s = between(low, high)
        width = (2 * math.pi + OVERLAP) / ARCS
        marks = "".join(_arc(CUT + i * width, CUT + (i + 1) * width, s, HALVINGS) for i in range(ARCS))
    return "".join(mark for i, mark in enumerate(marks) if i == 0 or mark != marks[i - 1])


def _arc(low: float, high: float, s: Any, left: int) -> str:
    t = between(low, high)
    value = stationarity(t, s)
    if value > 0 or value < 0:
        return "+" if value > 0 else "-"
    slope = stationarity_slope(t, s)
    if slope > 0 or slope < 0:
        return "u" if slope > 0 else "d"
    if not left:
        return "?"
    middle = (low + high) / 2
    return _arc(low, middle, s, left - 1) + _arc(middle, high, s, left - 1)


def _ends(x: Any) -> tuple[Any, Any]:
    """The ends of x within [−1, 1]."""
    low, high = x.lower(), x.upper()
    return (low if low > -1 else arb(-1)), (high if high < 1 else arb(1))


def _opposite(x: Any) -> Any:
    if x == 1:
        return arb.pi()
    return arb(0) if x == -1 else arb.pi() - x.acos()


def _psi(x: Any) -> Any:
    if x == 1:
        return arb.pi()
    return arb(0) if x == -1 else _root(1 - x * x) + _opposite(x) * x


def _root(x: Any) -> Any:
    return x.nonnegative_part().sqrt()


def _meet(x: Any, low: Any, high: Any) -> Any:
    """x, of which it is known that it lies between `low` and `high`."""
    bounds = low.lower(), high.upper()
    if not x.is_finite():
        return bounds[0].union(bounds[1])
    ends = max(x.lower(), bounds[0]), min(x.upper(), bounds[1])
    return ends[0].union(ends[1])
