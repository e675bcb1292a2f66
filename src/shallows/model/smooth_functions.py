"""Smooth activations by name, each with its first two derivatives, written so that no argument overflows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import erf, expit, ndtr

from shallows.support.checks import Array

Function = Callable[[Array], Array]
#: √(2/π) and the cubic's coefficient in the approximation of GELU by tanh (D. Hendrycks, K. Gimpel, "Gaussian error
#: linear units", 2016).
GELU_SLOPE, GELU_CUBIC = np.sqrt(2 / np.pi), 0.044715


def tanh_first(z: Array) -> Array:
    """1 − tanh²."""
    return np.asarray(1 - np.tanh(z) ** 2)


def tanh_second(z: Array) -> Array:
    """−2 tanh (1 − tanh²)."""
    t = np.tanh(z)
    return np.asarray(-2 * t * (1 - t**2))


def erf_first(z: Array) -> Array:
    """2/√π e^{−z²}."""
    return np.asarray(2 / np.sqrt(np.pi) * np.exp(-(z**2)))


def erf_second(z: Array) -> Array:
    """−2z erf′."""
    return np.asarray(-2 * z * erf_first(z))


def sigmoid(z: Array) -> Array:
    """s = 1/(1 + e^{−z})."""
    return np.asarray(expit(z))


def sigmoid_first(z: Array) -> Array:
    """s(1 − s), as a product of two numbers that do not cancel."""
    return np.asarray(expit(z) * expit(-z))


def sigmoid_second(z: Array) -> Array:
    """s(1 − s)(1 − 2s) = −s(1 − s) tanh(z/2)."""
    return np.asarray(-sigmoid_first(z) * np.tanh(z / 2))


def softplus(z: Array) -> Array:
    """log(1 + e^z)."""
    return np.asarray(np.logaddexp(0.0, z))


def normal_density(z: Array) -> Array:
    """φ(z) = e^{−z²/2}/√(2π)."""
    return np.asarray(np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))


def gelu(z: Array) -> Array:
    """z Φ(z)."""
    return np.asarray(z * ndtr(z))


def gelu_first(z: Array) -> Array:
    """Φ + zφ."""
    return np.asarray(ndtr(z) + z * normal_density(z))


def gelu_second(z: Array) -> Array:
    """(2 − z²) φ."""
    return np.asarray((2 - z**2) * normal_density(z))


def gelu_tanh(z: Array) -> Array:
    """z (1 + tanh u)/2, u = √(2/π)(z + 0.044715 z³): what PyTorch calls approximate="tanh"."""
    return np.asarray(z * (1 + np.tanh(_inner(z))) / 2)


def gelu_tanh_first(z: Array) -> Array:
    """(1 + tanh u)/2 + z u′ (1 − tanh² u)/2."""
    u = _inner(z)
    return np.asarray((1 + np.tanh(u) + z * _inner_first(z) * tanh_first(u)) / 2)


def gelu_tanh_second(z: Array) -> Array:
    """u′ (1 − tanh² u) + z (u″ (1 − tanh² u) + u′² tanh″ u)/2."""
    u, slope = _inner(z), _inner_first(z)
    bend = 6 * GELU_SLOPE * GELU_CUBIC * z
    return np.asarray(slope * tanh_first(u) + z * (bend * tanh_first(u) + slope**2 * tanh_second(u)) / 2)


def _inner(z: Array) -> Array:
    return np.asarray(GELU_SLOPE * (z + GELU_CUBIC * z**3))


def _inner_first(z: Array) -> Array:
    return np.asarray(GELU_SLOPE * (1 + 3 * GELU_CUBIC * z**2))


def silu(z: Array) -> Array:
    """z/(1 + e^{−z})."""
    return np.asarray(z * expit(z))


def silu_first(z: Array) -> Array:
    """s + z s′."""
    return np.asarray(expit(z) + z * sigmoid_first(z))


def silu_second(z: Array) -> Array:
    """2s′ + z s″."""
    return np.asarray(2 * sigmoid_first(z) + z * sigmoid_second(z))


#: σ, σ′ and σ″ by name.
NAMED: dict[str, tuple[Function, Function, Function]] = {
    "tanh": (np.tanh, tanh_first, tanh_second),
    "erf": (erf, erf_first, erf_second),
    "sigmoid": (sigmoid, sigmoid_first, sigmoid_second),
    "softplus": (softplus, sigmoid, sigmoid_first),
    "gelu": (gelu, gelu_first, gelu_second),
    "gelu_tanh": (gelu_tanh, gelu_tanh_first, gelu_tanh_second),
    "silu": (silu, silu_first, silu_second),
}
