"""Smooth activations at balls: σ and its first four derivatives, and how large σ is on a strip of the complex plane.

Derivatives are closed forms. On the strip |Im z| ≤ y, y below `strip`, |σ(z)| ≤ c₀ + c₁|Re z|; quadrature turns these
two numbers into its error. For z = x + iv, 0 ≤ v ≤ y:

    |tanh z|² = (sinh² x + sin² v)/(sinh² x + cos² v) ≤ max(1, tan² y),
    |1 + e^(−z)|² = 1 + 2e^(−x) cos v + e^(−2x) ≥ 1 (v ≤ π/2), ≥ sin² v (beyond),
    |Φ(z)| ≤ 1 + y e^(y²/2)/√(2π),     |erf z| ≤ 1 + (2/√π) y e^(y²)     (along the line from x to x + iv),
    |log(1 + e^z)| ≤ log 2 + |x| − log |sin v| + v,                      |arg(1 + e^z)| ≤ v.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, pi
from typing import Any

import numpy as np
from flint import arb
from scipy.special import erf, expit

from shallows.model.activations import Activation, Smooth
from shallows.model.smooth_functions import gelu, gelu_tanh, sigmoid, silu, softplus

#: Derivatives that the Hessian of a Gaussian loss needs (Price's theorem twice).
ORDERS = 5
Derivatives = Callable[[Any], list[Any]]
Growth = Callable[[Any], tuple[Any, Any]]


@dataclass(frozen=True)
class ActivationBalls:
    """σ, σ′, …, σ⁗ at a ball; `growth(y)` has c₀ and c₁ for |Im z| ≤ y < `strip`."""

    name: str
    derivatives: Derivatives
    growth: Growth
    strip: float


def activation_balls(activation: Activation) -> ActivationBalls | None:
    """That of a smooth activation that is known as a formula; None for any other."""
    if not isinstance(activation, Smooth):
        return None
    return next((balls for function, balls in KNOWN if function is activation.function), None)


def unproved(activation: Activation) -> str:
    """Why there are no balls for it."""
    if isinstance(activation, Smooth) and activation.function is gelu_tanh:
        return "gelu_tanh has poles next to the real line, far out: its quadrature has no proved error"
    known = ", ".join(balls.name for _, balls in KNOWN)
    return f"{activation!r} is known by its values in double precision only; proofs are for {known}"


def _tanh(x: Any) -> list[Any]:
    t = x.tanh()
    square = t * t
    first = 1 - square
    return [
        t, first, -2 * t * first, first * (6 * square - 2), t * first * (16 - 24 * square),
    ]  # fmt: skip


def _tanh_growth(y: Any) -> tuple[Any, Any]:
    slope = y.tan()
    return slope.max(arb(1)), arb(0)


def _sigmoid(x: Any) -> list[Any]:
    """s = (1 + tanh(x/2))/2."""
    t = _tanh(x / 2)
    return [(1 + t[0]) / 2, *(t[k] / 2 ** (k + 1) for k in range(1, ORDERS))]


def _sigmoid_growth(y: Any) -> tuple[Any, Any]:
    return (arb(1) if y <= arb.pi() / 2 else 1 / y.sin()), arb(0)


def _softplus(x: Any) -> list[Any]:
    """log(1 + e^x) = |x|/2 + x/2 + log(1 + e^(−|x|)) without overflow: at large x by reflection."""
    value = x + (-x).exp().log1p() if x > 0 else x.exp().log1p()
    return [value, *_sigmoid(x)[: ORDERS - 1]]


def _softplus_growth(y: Any) -> tuple[Any, Any]:
    low = arb(0) if y <= arb.pi() / 2 else -y.sin().log()
    return arb(2).log() + y + low, arb(1)


def _times_x(inner: Derivatives, x: Any) -> list[Any]:
    """Derivatives of xg(x): x g^(k) + k g^(k−1)."""
    g = inner(x)
    return [x * g[0], *(x * g[k] + k * g[k - 1] for k in range(1, ORDERS))]


def _times_z(inner: Growth) -> Growth:
    def growth(y: Any) -> tuple[Any, Any]:
        """|z||g(z)| ≤ (|x| + y) c₀."""
        top, _ = inner(y)
        return y * top, top

    return growth


def _normal_cdf(x: Any) -> list[Any]:
    """Φ, φ, −xφ, (x² − 1)φ, (3x − x³)φ."""
    density = (-x * x / 2).exp() / (2 * arb.pi()).sqrt()
    square = x * x
    value = (-x / arb(2).sqrt()).erfc() / 2
    return [value, density, -x * density, (square - 1) * density, x * (3 - square) * density]


def _normal_growth(y: Any) -> tuple[Any, Any]:
    return 1 + y * (y * y / 2).exp() / (2 * arb.pi()).sqrt(), arb(0)


def _erf(x: Any) -> list[Any]:
    """2Φ(√2 x) − 1."""
    root = arb(2).sqrt()
    phi = _normal_cdf(root * x)
    return [x.erf(), *(2 * phi[k] * root**k for k in range(1, ORDERS))]


def _erf_growth(y: Any) -> tuple[Any, Any]:
    return 1 + 2 * y * (y * y).exp() / arb.pi().sqrt(), arb(0)


def _sine(x: Any) -> list[Any]:
    s, c = x.sin(), x.cos()
    return [s, c, -s, -c, s]


def _cosine(x: Any) -> list[Any]:
    s, c = x.sin(), x.cos()
    return [c, -s, -c, s, c]


def _wave_growth(y: Any) -> tuple[Any, Any]:
    return y.cosh(), arb(0)


_LOGISTIC = ActivationBalls("sigmoid", _sigmoid, _sigmoid_growth, pi)
#: Functions by which an activation is known, with their balls.
KNOWN: list[tuple[Any, ActivationBalls]] = [
    (np.tanh, ActivationBalls("tanh", _tanh, _tanh_growth, pi / 2)),
    (erf, ActivationBalls("erf", _erf, _erf_growth, inf)),
    (sigmoid, _LOGISTIC),
    (expit, _LOGISTIC),
    (softplus, ActivationBalls("softplus", _softplus, _softplus_growth, pi)),
    (gelu, ActivationBalls("gelu", lambda x: _times_x(_normal_cdf, x), _times_z(_normal_growth), inf)),
    (silu, ActivationBalls("silu", lambda x: _times_x(_sigmoid, x), _times_z(_sigmoid_growth), pi)),
    (np.sin, ActivationBalls("sin", _sine, _wave_growth, inf)),
    (np.cos, ActivationBalls("cos", _cosine, _wave_growth, inf)),
]
