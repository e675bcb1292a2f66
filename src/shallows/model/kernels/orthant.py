"""Orthant probabilities of two normal variables, Φ₂(h, k; ρ) = P(Z₁ < h, Z₂ < k) with correlation ρ = cos θ.

By Owen's function T(h, a) = (1/2π) ∫₀ᵃ exp(−h²(1 + x²)/2) / (1 + x²) dx (D. B. Owen, Annals of Mathematical Statistics
27, 1956), with t = (k − ρh)/sin θ and t′ = (h − ρk)/sin θ:

    Φ₂ = ½(Φ(h) + Φ(k)) − T(h, t/h) − T(k, t′/k) − ½·[h and k of different signs].
"""

from __future__ import annotations

import numpy as np

from shallows.support.checks import Array


def slopes(h: Array, k: Array, sine: Array, cosine: Array) -> tuple[Array, Array]:
    """t = (k − h cos θ)/sin θ and t′ = (h − k cos θ)/sin θ; 0 where both lines coincide, ±∞ where they are parallel.

    Written so that nothing cancels at θ → 0 and θ → π: k − h cos θ = (k ∓ h) ± h (1 ∓ cos θ).
    """
    sign = np.where(cosine >= 0, 1.0, -1.0)
    half = sine / (1 + np.abs(cosine))  # tan(θ/2), or cot(θ/2) beyond the right angle
    return _over(k - sign * h, sine) + sign * h * half, _over(h - sign * k, sine) + sign * k * half


def _over(numerator: Array, sine: Array) -> Array:
    """x / sin θ, with 0/0 = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(numerator == 0, 0.0, numerator / sine)


def orthant(h: Array, k: Array, sine: Array, cosine: Array) -> Array:
    """Φ₂(h, k; cos θ); at h = k = 0 it is (π − θ)/2π."""
    from scipy.special import ndtr

    t, other = slopes(h, k, sine, cosine)
    with np.errstate(divide="ignore", invalid="ignore"):  # tan(θ/2): the ratio t/h of equal h and k
        corner = np.where(cosine >= 0, sine / (1 + cosine), (1 - cosine) / sine)
    both = (h == 0) & (k == 0)
    first, second = (np.where(both, corner, ratio) for ratio in (_ratio(t, h), _ratio(other, k)))
    opposite = (h < 0) != (k < 0)
    return np.asarray(0.5 * (ndtr(h) + ndtr(k) - opposite) - _owen(h, first) - _owen(k, second))


def _ratio(t: Array, h: Array) -> Array:
    """t/h, at h = 0 the limit from above."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(h == 0, np.where(t >= 0, np.inf, -np.inf), t / h)


def _owen(h: Array, a: Array) -> Array:
    """T(h, a)."""
    from scipy.special import owens_t

    return np.asarray(owens_t(h, a))
