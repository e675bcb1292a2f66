"""Angles for the compiled ReLU loops: from cosines to sin θ/2π and (π−θ)/2π, without a branch or a library call."""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.model.kernels._compiled.kinds import FLOATS, INT, VOID
from shallows.support.compiling import part, unit

FAST = {"reassoc", "contract", "nsz", "arcp"}  # not "nnan": a NaN must stay a NaN
INVERSE_TWO_PI = 1 / (2 * np.pi)


@part
def angle_over_sine(t: float, c: Any) -> float:
    """Q(t) of degree 21, even and odd powers apart: two short chains of multiply-adds in place of a long one."""
    s = t * t
    even = c[20] * s + c[18]
    odd = c[21] * s + c[19]
    even, odd = even * s + c[16], odd * s + c[17]
    even, odd = even * s + c[14], odd * s + c[15]
    even, odd = even * s + c[12], odd * s + c[13]
    even, odd = even * s + c[10], odd * s + c[11]
    even, odd = even * s + c[8], odd * s + c[9]
    even, odd = even * s + c[6], odd * s + c[7]
    even, odd = even * s + c[4], odd * s + c[5]
    even, odd = even * s + c[2], odd * s + c[3]
    even, odd = even * s + c[0], odd * s + c[1]
    value: float = even + t * odd
    return value


@unit(VOID(FLOATS, FLOATS, FLOATS, FLOATS, INT), fastmath=FAST)
def angles(cosine: Any, c: Any, sine: Any, rest: Any, count: int) -> None:
    """sin θ / 2π and (π−θ) / 2π of so many cosines: θ = sin θ · Q(2|cos θ| − 1) for θ ≤ π/2."""
    for j in range(count):
        size = min(abs(cosine[j]), 1.0)
        height = np.sqrt((1 - size) * (1 + size)) * INVERSE_TWO_PI
        angle = height * angle_over_sine(2 * size - 1, c)
        rest[j] = angle if cosine[j] < 0 else 0.5 - angle
        sine[j] = height
