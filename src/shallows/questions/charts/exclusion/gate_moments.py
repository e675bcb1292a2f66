"""Moments of GELU's derivatives, κ_k(S) = E σ⁽ᵏ⁾(sz) with S = s².

σ = z/2 + e with e″ = (2 − z²)φ = φ − φ″, whose Fourier transform (1 + ω²)e^{−ω²/2} is positive: every even derivative
of e from the second on is largest at 0. With 1/√(2π) in front of all but κ₁,

    κ₀ = S(1 + S)^(−½),     κ₁ = ½,     κ₂ = (1 + S)^(−½) + (1 + S)^(−3/2),     κ_{k+2} = 2∂κ_k/∂S,     κ₃ = κ₅ = … = 0.
"""

from __future__ import annotations

from functools import cache
from math import pi, prod

from shallows.mathematics.exclusion.intervals import PI, Intervals
from shallows.mathematics.exclusion.rounding import ROOM


def gate_moment(S: Intervals, k: int) -> Intervals:
    """κ_k(S)."""
    if k % 2:
        return S * 0.0 + (0.5 if k == 1 else 0.0)
    A, scale = S + 1.0, 1.0 / (PI * 2.0).sqrt()
    root = 1.0 / A.sqrt()
    if k == 0:
        return S * root * scale
    i = k // 2 - 1
    power = root
    for _ in range(i):
        power = power / A
    signed = float((-1) ** i)
    return (power * (signed * _odd(i)) + power / A * (signed * _odd(i + 1))) * scale


def _odd(i: int) -> float:
    """1·3·5 … (2i − 1)."""
    return float(prod(range(1, 2 * i, 2)))


@cache
def gate_supremum(k: int) -> float:
    """sup|σ⁽ᵏ⁾| for even k ≥ 2: |κ_k(0)|, rounded up."""
    return float(ROOM * (_odd(k // 2 - 1) + _odd(k // 2)) / (2 * pi) ** 0.5)
