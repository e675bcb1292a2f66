"""ReLU under N(0, Σ): k(w, v) = ‖w‖‖v‖ (sin θ + (π−θ) cos θ) / 2π, θ the angle between Σ^{1/2}w and Σ^{1/2}v.

The formulas are those of paper 003 (equations 5 to 8, for ½E there; `errata` says which factors it drops):

    ∂₁k = (‖v‖ sin θ ŵ + (π−θ) v) / 2π,
    d∂₁k = (sin θ d(‖v‖ ŵ) + (π−θ) dv + ‖v‖ d(cos θ) n̂) / 2π,   v̂ = cos θ ŵ + sin θ n̂,  n̂ ⊥ ŵ, ‖n̂‖ = 1.

The last term tends to zero at θ = 0 and θ = π, so parallel neurons give Lemma 1's limits ½I and 0 (in ½E units:
the mixed block ∂₁∂₂k is ½I and 0). Angles are 2·atan2(‖ŵ−v̂‖, ‖ŵ+v̂‖): arccos loses half the digits near 0 and π.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.model.kernels.base import Kernel, transpose
from shallows.support.checks import Array
from shallows.support.errors import NotDifferentiable

TWO_PI = 2 * np.pi
#: Entries of the differences of all unit vectors, beyond which a value is taken from cosines: 64 MB of them.
DIFFERENCES = 8_000_000


@dataclass(frozen=True)
class Angles:
    """Lengths, unit vectors and accurate angles of all pairs (wᵢ, vⱼ)."""

    w_norm: Array
    v_norm: Array
    w_unit: Array
    v_unit: Array
    sine: Array
    cosine: Array
    supplement: Array
    difference: Array

    @classmethod
    def between(cls, W: Array, V: Array) -> Angles:
        """Angles from the differences and sums of unit vectors."""
        w_norm, w_unit = _normalise(W)
        v_norm, v_unit = _normalise(V)
        difference = v_unit[..., None, :, :] - w_unit[..., :, None, :]
        apart = np.sqrt(np.sum(difference**2, axis=-1))
        together = np.sqrt(np.sum((v_unit[..., None, :, :] + w_unit[..., :, None, :]) ** 2, axis=-1))
        return cls(
            w_norm,
            v_norm,
            w_unit,
            v_unit,
            sine=apart * together / 2,
            cosine=(together**2 - apart**2) / 4,
            supplement=2 * np.arctan2(together, apart),
            difference=difference,
        )

    def normal(self) -> Array:
        """n̂ of each pair, shape (…, k, m, n); zero where the vectors are parallel."""
        apart_squared = np.sum(self.difference**2, axis=-1, keepdims=True)
        near = self.difference + (apart_squared / 2) * self.w_unit[..., :, None, :]
        total = self.difference + 2 * self.w_unit[..., :, None, :]
        together_squared = np.sum(total**2, axis=-1, keepdims=True)
        far = total - (together_squared / 2) * self.w_unit[..., :, None, :]
        return _normalise(np.where(self.cosine[..., None] >= 0, near, far))[1]


def _normalise(X: Array) -> tuple[Array, Array]:
    """Lengths and unit vectors along the last axis; the unit vector of zero is zero."""
    scale = np.max(np.abs(X), axis=-1, keepdims=True)
    safe = np.where(scale > 0, scale, 1.0)
    scaled = X / safe
    length = np.sqrt(np.sum(scaled**2, axis=-1, keepdims=True))
    return (length * safe)[..., 0], scaled / np.where(length > 0, length, 1.0)


def _value_from_cosines(W: Array, V: Array) -> Array:
    """The kernel through one matrix product: an error δ in cos θ changes sin θ + (π−θ) cos θ by (π−θ)δ only."""
    (w_norm, w_unit), (v_norm, v_unit) = _normalise(W), _normalise(V)
    cosine = np.clip(w_unit @ transpose(v_unit), -1.0, 1.0)
    angle = np.arccos(cosine)
    shape = np.sin(angle) + (np.pi - angle) * cosine
    return np.asarray(w_norm[..., :, None] * v_norm[..., None, :] * shape / TWO_PI)


class ReLUKernel(Kernel):
    """The arc-cosine kernel under N(0, Σ); Σ^{1/2} is applied to the neurons first."""

    def __init__(self, root: Array | None = None) -> None:
        self.root = root

    def _in(self, X: Array) -> Array:
        return X if self.root is None else X @ self.root

    def value(self, W: Array, V: Array) -> Array:
        """‖w‖‖v‖ (sin θ + (π−θ) cos θ) / 2π; zero when a neuron is zero."""
        W, V = self._in(W), self._in(V)
        if W.size * V.shape[-2] > DIFFERENCES:
            return _value_from_cosines(W, V)
        angles = Angles.between(W, V)
        shape = angles.sine + angles.supplement * angles.cosine
        return np.asarray(angles.w_norm[..., :, None] * angles.v_norm[..., None, :] * shape / TWO_PI)

    def value_jvp(self, W: Array, V: Array, dW: Array, dV: Array | None) -> Array:
        """∂₁k·dw + ∂₂k·dv."""
        W, V, dW = self._in(W), self._in(V), self._in(dW)
        angles = Angles.between(W, V)
        require_nonzero(angles.w_norm)
        radial = np.sum(angles.w_unit * dW, axis=-1)
        result = radial[..., :, None] * angles.v_norm[..., None, :] * angles.sine
        result = result + angles.supplement * (dW @ transpose(V))
        if dV is not None:
            dV = self._in(dV)
            require_nonzero(angles.v_norm)
            radial = np.sum(angles.v_unit * dV, axis=-1)
            result = result + radial[..., None, :] * angles.w_norm[..., :, None] * angles.sine
            result = result + angles.supplement * (W @ transpose(dV))
        return np.asarray(result / TWO_PI)

    def gradient(self, W: Array, V: Array, B: Array) -> Array:
        """Σⱼ B_ij (‖vⱼ‖ sin θ ŵᵢ + (π−θ) vⱼ) / 2π."""
        W, V = self._in(W), self._in(V)
        angles = Angles.between(W, V)
        require_nonzero(angles.w_norm)
        radial = np.sum(B * angles.sine * angles.v_norm[..., None, :], axis=-1)
        result = radial[..., None] * angles.w_unit + (B * angles.supplement) @ V
        return self._in(result) / TWO_PI

    def gradient_jvp(
        self, W: Array, V: Array, B: Array, dW: Array, dV: Array | None, dB: Array | None
    ) -> Array:
        """The derivative of `gradient`, term by term as in the module's formula."""
        W, V, dW = self._in(W), self._in(V), self._in(dW)
        angles = Angles.between(W, V)
        require_nonzero(angles.w_norm)
        v_norm = angles.v_norm[..., None, :]
        d_unit = _unit_jvp(angles.w_unit, angles.w_norm, dW)
        d_cosine = d_unit @ transpose(angles.v_unit)
        result = np.sum(B * angles.sine * v_norm, axis=-1)[..., None] * d_unit
        if dV is not None:
            dV = self._in(dV)
            require_nonzero(angles.v_norm)
            d_norm = np.sum(angles.v_unit * dV, axis=-1)[..., None, :]
            result = result + np.sum(B * angles.sine * d_norm, axis=-1)[..., None] * angles.w_unit
            result = result + (B * angles.supplement) @ dV
            d_cosine = d_cosine + angles.w_unit @ transpose(_unit_jvp(angles.v_unit, angles.v_norm, dV))
        if dB is not None:
            radial = np.sum(dB * angles.sine * v_norm, axis=-1)
            result = result + radial[..., None] * angles.w_unit + (dB * angles.supplement) @ V
        turning = (B * v_norm * d_cosine)[..., None, :] @ angles.normal()
        return self._in(result + turning[..., 0, :]) / TWO_PI


def _unit_jvp(unit: Array, norm: Array, direction: Array) -> Array:
    """The derivative of x/‖x‖ along `direction`."""
    radial = np.sum(unit * direction, axis=-1, keepdims=True)
    return np.asarray((direction - radial * unit) / norm[..., None])


def require_nonzero(norms: Array) -> None:
    """A typed error when a neuron is zero, where the loss has no derivative."""
    zero = np.argwhere(norms == 0)
    if len(zero):
        raise NotDifferentiable(
            f"Neuron {int(zero[0][-1])} is zero (under the data's covariance): a ReLU network is not differentiable "
            "there. The loss itself can be evaluated; move the neuron off zero for derivatives."
        )
