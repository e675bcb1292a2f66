"""The origin of a ReLU student (paper 003, Lemmas 10 and 11): a strict local maximum for teachers of k ≥ 2 neurons.

With s = Σ‖wᵢ‖ and f(w, v) = ‖w‖‖v‖ψ(cos θ)/2π, ψ(x) = √(1−x²) + (π − arccos x)x, equation 64 reads

    L(W) − L(0) = Σ f(wᵢ, wⱼ) − 2 Σᵢ Σⱼ f(wᵢ, vⱼ) ≤ s²/2 − 2c s,       c = min over unit w of Σⱼ f(w, vⱼ),

negative for 0 < s < 4c. ψ is nonnegative, increasing (ψ′ = π − arccos x) and convex (ψ″ = 1/√(1−x²)), zero only at
x = −1. So with xⱼ = w·vⱼ, Σxⱼ² ≤ 1, mean x ≥ −1/√k and

    Σⱼ ψ(xⱼ) ≥ kψ(mean x) ≥ kψ(−1/√k):       c = kψ(−1/√k)/2π,

attained at w = −(v₁ + … + v_k)/√k alone: √2(1 − π/4)/2π = 0.0483… for k = 2, and 0 for k = 1. At parallel neurons of
that direction the first inequality is an equality too: the radius 4c is the best. For k = 1 the lemmas hold: along −v₁
the loss rises, along v₁ it falls. The paper's proof of Lemma 10 moves along −εv₁ and takes f(−εv₁, v₁) to be
−εf(v₁, v₁); it is zero, and f(−εv₁, vⱼ) is positive for j ≥ 2.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from flint import arb, fmpq

#: Cells of [−1, 1] in the proof of `least_pull`: corners are up to √2/32 outside the disc, and the bound 0.0407.
CELLS = 64


def pull(x: Any) -> Any:
    """ψ(x)/2π, a ball: f(w, v) for unit vectors with w·v = x, −1 ≤ x ≤ 1 rational."""
    angle = arb(x).acos() if abs(x) < 1 else (arb(0) if x > 0 else arb.pi())
    return ((1 - arb(x) * arb(x)).sqrt() if abs(x) < 1 else arb(0)) / (2 * arb.pi()) + (
        arb.pi() - angle
    ) * arb(x) / (2 * arb.pi())


def least_pull(cells: int = CELLS) -> Any:
    """A proved lower bound on Σⱼ f(w, vⱼ) over all unit w and all orthonormal teachers of k ≥ 2 neurons.

    (w·v₁, w·v₂) lies in the unit disc, and ψ increases: on each cell of a grid that meets the disc the lower corner
    bounds ψ(x₁) + ψ(x₂) from below. The other neurons add nothing negative.
    """
    corners = [fmpq(2 * i, cells) - 1 for i in range(cells + 1)]
    values = [pull(x) for x in corners[:-1]]
    nearest = [fmpq(0) if low < 0 < high else min(abs(low), abs(high)) for low, high in pairwise(corners)]
    bounds = [
        (values[i] + values[j]).lower()
        for i in range(cells)
        for j in range(i + 1)
        if nearest[i] ** 2 + nearest[j] ** 2 <= 1
    ]
    return min(bounds)


def exact_pull(k: int = 2) -> Any:
    """kψ(−1/√k)/2π, a ball: the least Σⱼ f(w, vⱼ) over unit w for k teacher neurons, at w = −(v₁ + … + v_k)/√k."""
    x = 1 / arb(k).sqrt()
    angle = arb.pi() if k == 1 else arb.pi() / 2 + x.asin()
    height = arb(0) if k == 1 else (1 - x * x).sqrt()
    return k * (height - (arb.pi() - angle) * x) / (2 * arb.pi())
