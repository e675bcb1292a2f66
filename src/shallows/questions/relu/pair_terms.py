"""One pair of neurons in ball arithmetic: the kernel and its derivatives through s = ‖w‖², t = ‖v‖² and g = w·v.

With ρ = √(st − g²) and θ = atan2(ρ, g), 2πk = ρ + (π−θ)g, and (paper 003, equations 5 to 11, in these variables)

    2π ∂k/∂g = π − θ,    2π ∂k/∂s = ρ/2s,    2π ∂k/∂t = ρ/2t,
    2π k_gg = 1/ρ,   2π k_gs = −g/2sρ,   2π k_ss = t/4sρ − ρ/2s²,   2π k_st = 1/4ρ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import arb


@dataclass(frozen=True)
class Pair:
    """k, its gradient and its Hessian in (s, t, g); `parallel` when ρ = 0 exactly and g > 0."""

    value: Any
    slope: tuple[Any, Any, Any]
    curvature: tuple[tuple[Any, Any, Any], ...]
    parallel: bool


def pair(s: Any, t: Any, g: Any) -> Pair:
    """The kernel of one pair.

    At ρ = 0 the derivatives in (s, t, g) do not exist while those in w do: k = g/2 to second order when only w moves
    (Lemma 1: h₁ = 0), which is what a `parallel` pair returns.
    """
    two_pi = 2 * arb.pi()
    square = s * t - g * g
    if square.is_zero() and g > 0:
        zero, half = arb(0), arb(1) / 2
        return Pair(g / 2, (zero, zero, half), ((zero,) * 3,) * 3, True)
    rho = square.sqrt()
    rest = arb.pi() - arb.atan2(rho, g)
    gs, gt = -g / (2 * s * rho), -g / (2 * t * rho)
    ss = t / (4 * s * rho) - rho / (2 * s * s)
    tt = s / (4 * t * rho) - rho / (2 * t * t)
    st, gg = 1 / (4 * rho), 1 / rho
    rows = ((ss, st, gs), (st, tt, gt), (gs, gt, gg))
    curvature = tuple(tuple(entry / two_pi for entry in row) for row in rows)
    slope = (rho / (2 * s) / two_pi, rho / (2 * t) / two_pi, rest / two_pi)
    return Pair((rho + rest * g) / two_pi, slope, curvature, False)
