"""E[σ(w·x) σ′(v·x)] for pieces with a closed form, over boxes: functions of S = ‖w‖², T = ‖v‖² and C = w·v.

Adding independent noise λg to w·x makes A = S + λ² of S, so that with B = T + μ² and D = AB − C²

    ψ_λ(z) = E sign(z + λg):            (2/π) arcsin(C/√(AB)),
    χ_λ(z) = ½ E|z + λg|:               (√D + C arcsin(C/√(AB)))/2π,
    z Φ(z) − z/2 = (1 − λ∂_λ) χ_λ at 1: (C arcsin(C/√(AB)) + ST√D/(AB) + C²/(AB√D))/2π

(C. Williams, NIPS 1996; Y. Cho and L. Saul, NIPS 2009). D = λ²μ² + λ²T + μ²S + (ST − C²) has no cancellation where the
last is known as a sum of squares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shallows.mathematics.exclusion.intervals import PI, Intervals


@dataclass(frozen=True, eq=False)
class Cross:
    """F(S, C) at fixed T, and its derivatives."""

    value: Intervals
    s: Intervals
    c: Intervals
    ss: Intervals
    sc: Intervals
    cc: Intervals

    def parts(self) -> tuple[Intervals, ...]:
        """All six, in the order of the fields."""
        return self.value, self.s, self.c, self.ss, self.sc, self.cc


@dataclass(frozen=True, eq=False)
class Own:
    """K(S) = F(S, S) at T = S, and its first two derivatives by S."""

    value: Intervals
    first: Intervals
    second: Intervals

    def parts(self) -> tuple[Intervals, ...]:
        """All three."""
        return self.value, self.first, self.second


#: From A, B, C, D (of GELU: S, T, C, ST − C²) to F, from A, B, S, D and λ², μ² to K, and to their derivatives.
CrossForm = Callable[[Intervals, Intervals, Intervals, Intervals], Cross]
OwnForm = Callable[[Intervals, Intervals, Intervals, Intervals, Intervals, Intervals], Own]


def _angle(A: Intervals, B: Intervals, C: Intervals) -> Intervals:
    return (C / (A * B).sqrt()).meet(Intervals(-1.0, 1.0)).arcsin()


def arcsine(A: Intervals, B: Intervals, C: Intervals, D: Intervals) -> Cross:
    """(2/π) arcsin(C/√(AB))."""
    k = 2.0 / PI
    r = 1.0 / D.sqrt() * k
    cube = r / D
    ratio = C / A
    return Cross(
        _angle(A, B, C) * k,
        ratio * r * -0.5,
        r,
        ratio * (r / A * 0.5 + B * cube * 0.25),
        B * cube * -0.5,
        C * cube,
    )


def own_arcsine(A: Intervals, B: Intervals, S: Intervals, D: Intervals, la: Intervals, mu: Intervals) -> Own:
    """(2/π) arcsin(S/√(AB)) with D = λ²μ² + (λ² + μ²)S."""
    r = 1.0 / D.sqrt() / PI
    p, q = la / A, mu / B
    second = r * ((la + mu) / D * 0.5 * (p + q) + p / A + q / B)
    return Own(_angle(A, B, S) * (2.0 / PI), r * (p + q), -second)


def arccosine(A: Intervals, B: Intervals, C: Intervals, D: Intervals) -> Cross:
    """(√D + C arcsin(C/√(AB)))/2π."""
    k = 0.5 / PI
    root = D.sqrt()
    r = k / root
    angle = _angle(A, B, C) * k
    height = root * k / A
    return Cross(
        root * k + C * angle,
        height * 0.5,
        angle,
        B * r / A * 0.25 - height / A * 0.5,
        C * r / A * -0.5,
        r,
    )


def own_arccosine(
    A: Intervals, B: Intervals, S: Intervals, D: Intervals, la: Intervals, mu: Intervals
) -> Own:
    """(√D + S arcsin(S/√(AB)))/2π with D = λ²μ² + (λ² + μ²)S."""
    k = 0.5 / PI
    root = D.sqrt()
    angle = _angle(A, B, S)
    one, two = 1.0 / A, 1.0 / B
    second = (
        (la + mu) / root * 0.25 * (one + two)
        - root * 0.5 * (one.square() + two.square())
        + (la * one + mu * two) / root * 0.5
    )
    return Own((root + S * angle) * k, (root * 0.5 * (one + two) + angle) * k, second * k)


def gaussian_gate(S: Intervals, T: Intervals, C: Intervals, X: Intervals) -> Cross:
    """The even part of GELU, written as (C arcsin(C/√(AB)) + ST√D/(AB) + C²/(AB√D))/2π: as small as T where T is."""
    k = 0.5 / PI
    A, B, D = S + 1.0, T + 1.0, S + T + X + 1.0
    q, a, b = D.sqrt(), 1.0 / A, 1.0 / B
    r, ab, square = 1.0 / q, a * b, C.square()
    r3 = r / D
    r5, full = r3 / D, (S * a) * (T * b)
    angle = _angle(A, B, C)
    value = C * angle + full * q + square * (ab * r)
    s = T * b * (a.square() * q) + X * (a * r) * 0.5 - square * (a.square() * b * r + a * r3 * 0.5)
    c = angle + C * r * (1.0 - full + ab * 2.0) + C * square * (ab * r3)
    ss = (
        T * (a.square() * r * 0.5 + a * r * 0.5 - b * a.square() * a * q * 2.0)
        - X * (a.square() * r * 0.5 + a * B * r3 * 0.25)
        + square * (a.square() * a * b * r * 2.0 + a.square() * r3 + a * B * r5 * 0.75)
    )
    sc = C * (
        X * (a * r3 * 0.5)
        - T * b * (a.square() * r)
        - a * r
        - a.square() * b * r * 2.0
        - square * (a.square() * b * r3 + a * r5 * 1.5)
        - a * r3
    )
    cc = (
        r * (2.0 - full + ab * 2.0)
        + square * r3 * (1.0 - full + ab * 5.0)
        + square.square() * (ab * r5) * 3.0
    )
    return Cross(*(part * k for part in (value, s, c, ss, sc, cc)))


def own_gaussian_gate(
    A: Intervals, B: Intervals, S: Intervals, D: Intervals, la: Intervals, mu: Intervals
) -> Own:
    """The same at w = v and λ = μ = 1: (S arcsin(S/A) + 2S²/(A√D))/2π with D = 1 + 2S."""
    k = 0.5 / PI
    r, a = 1.0 / D.sqrt(), 1.0 / A
    angle, r3, square = _angle(A, A, S), r / D, S.square()
    value = S * angle + square * (a * r) * 2.0
    first = angle + S * (a * r) * 5.0 - square * (a * r3 + a.square() * r) * 2.0
    second = (
        a * r * 6.0
        - S * (a * r3 + a.square() * r) * 9.0
        + square * (a.square() * r3 * 2.0 + a * r3 / D * 3.0 + a.square() * a * r * 2.0) * 2.0
    )
    return Own(*(part * k for part in (value, first, second)))


def total(parts: Intervals, rows: int) -> Intervals:
    """The sums over the first of two axes (rows, m) that were laid out one after the other."""
    lo, hi = parts.lo.reshape(rows, -1), parts.hi.reshape(rows, -1)
    result = Intervals(lo[0], hi[0])
    for i in range(1, rows):
        result = result + Intervals(lo[i], hi[i])
    return result


def spread_out(values: Intervals, times: int) -> Intervals:
    """m intervals, `times` over."""
    return Intervals(np.tile(values.lo, times), np.tile(values.hi, times))


def each(values: Intervals, count: int) -> Intervals:
    """Every interval `count` times in a row."""
    return Intervals(np.repeat(values.lo, count), np.repeat(values.hi, count))
