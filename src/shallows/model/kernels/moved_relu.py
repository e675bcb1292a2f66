"""ReLU under N(m, Σ) with any mean: k(w, v) = E[X₊Y₊] for X = w·x, Y = v·x. A bias is a mean of (1, x).

With x = m + Σ^½z, α = w·m, p = Σ^½w, s = ‖p‖ (and β, q, r for v), c = p·q = sr cos θ, Stein's identity
E[z g] = E[∇g] gives

    P = E[1_X 1_Y],   F = E[δ(X) 1_Y] = φ(h) Φ(t)/s,   F′ = E[1_X δ(Y)],   h = α/s,  t = (β/r − h cos θ)/sin θ,
    A = E[1_X Y₊] = βP + cF + r²F′,      D = E[δ(X) Y₊] = φ(h) r sin θ (tΦ(t) + φ(t))/s,
    k = αA + s²D + cP,                   ∂k/∂α = A,  ∂k/∂p = Dp + Pq.

Second derivatives are E[δ(X) Y₊ x xᵀ] and E[1_X 1_Y x xᵀ]; their terms in E[δ(X) δ(Y)] are combined so that none is
singular at parallel neurons:

    E[δδ](p q⊥ᵀ + q p⊥ᵀ) = sin θ/2π e^{−(h² + t²)/2} [sin θ (p̂eᵀ + ep̂ᵀ) + cos θ (p̂p̂ᵀ − eeᵀ)],
    q = r(cos θ p̂ + sin θ e).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shallows.model.kernels.base import Kernel, transpose
from shallows.model.kernels.orthant import orthant, slopes
from shallows.model.kernels.relu import TWO_PI, Angles
from shallows.support.checks import Array
from shallows.support.errors import NotDifferentiable

#: Standard deviations beyond which a sign is certain: φ(40) = e^{−800} is below the smallest double.
CERTAIN = 40.0


@dataclass(frozen=True, eq=False)
class Pairs:
    """P, F, F′, A, D of all pairs of neurons; one whose weights are zero is a constant."""

    alpha: Array
    beta: Array
    p: Array
    q: Array
    angles: Angles

    @classmethod
    def of(cls, alpha: Array, p: Array, beta: Array, q: Array) -> Pairs:
        """From the means (…, k) and (…, m) and the weights (…, k, n) and (…, m, n)."""
        return cls(alpha[..., :, None], beta[..., None, :], p, q, Angles.between(p, q))

    @cached_property
    def s(self) -> Array:
        """‖p‖, a column."""
        return self.angles.w_norm[..., :, None]

    @cached_property
    def r(self) -> Array:
        """‖q‖, a row."""
        return self.angles.v_norm[..., None, :]

    @cached_property
    def _turned(self) -> tuple[Array, Array]:
        """sin θ and cos θ; a constant counts as orthogonal to everything."""
        constant = (self.s == 0) | (self.r == 0)
        return np.where(constant, 1.0, self.angles.sine), np.where(constant, 0.0, self.angles.cosine)

    @cached_property
    def h(self) -> Array:
        """α/s."""
        return _standardised(self.alpha, self.s)

    @cached_property
    def g(self) -> Array:
        """β/r."""
        return _standardised(self.beta, self.r)

    @cached_property
    def slopes(self) -> tuple[Array, Array]:
        """t and t′."""
        return slopes(self.h, self.g, *self._turned)

    @cached_property
    def P(self) -> Array:
        """E[1_X 1_Y]."""
        return orthant(self.h, self.g, *self._turned)

    @cached_property
    def covariance(self) -> Array:
        """c = p·q."""
        return self.p @ transpose(self.q)

    @cached_property
    def F(self) -> Array:
        """E[δ(X) 1_Y]."""
        return _density(self.h, self.s) * _normal_cdf(self.slopes[0])

    @cached_property
    def F_other(self) -> Array:
        """E[1_X δ(Y)]."""
        return _density(self.g, self.r) * _normal_cdf(self.slopes[1])

    @cached_property
    def A(self) -> Array:
        """E[1_X Y₊]."""
        return np.asarray(self.beta * self.P + self.covariance * self.F + self.r**2 * self.F_other)

    @cached_property
    def D(self) -> Array:
        """E[δ(X) Y₊] = φ(h)/s · E[Y₊ | X = 0], where Y has mean β − rh cos θ and deviation r sin θ."""
        sine, cosine = self._turned
        t = self.slopes[0]
        positive = (self.beta - self.r * cosine * self.h) * _normal_cdf(t) + self.r * sine * _gauss(t)
        return np.asarray(_density(self.h, self.s) * positive)

    @cached_property
    def joint(self) -> Array:
        """e^{−(h² + t²)/2} / 2π."""
        return np.exp(-(self.h**2 + self.slopes[0] ** 2) / 2) / TWO_PI

    def value(self) -> Array:
        """E[X₊Y₊]."""
        return np.asarray(self.alpha * self.A + self.s**2 * self.D + self.covariance * self.P)


class MovedReLUKernel(Kernel):
    """E[ReLU(w·x) ReLU(v·x)] under N(mean, root²)."""

    def __init__(self, mean: Array, root: Array | None) -> None:
        self.mean, self.root = mean, root

    def _in(self, X: Array) -> Array:
        return X if self.root is None else X @ self.root

    def _pairs(self, W: Array, V: Array) -> Pairs:
        return Pairs.of(W @ self.mean, self._in(W), V @ self.mean, self._in(V))

    def value(self, W: Array, V: Array) -> Array:
        """αA + s²D + cP."""
        return self._pairs(W, V).value()

    def value_jvp(self, W: Array, V: Array, dW: Array, dV: Array | None) -> Array:
        """∂₁k·dw + ∂₂k·dv."""
        pairs = self._pairs(W, V)
        result = _push(pairs, dW @ self.mean, self._in(dW))
        if dV is not None:
            other = self._pairs(V, W)
            result = result + transpose(_push(other, dV @ self.mean, self._in(dV)))
        return result

    def gradient(self, W: Array, V: Array, B: Array) -> Array:
        """Σⱼ B_ij (A m + Σ^½(D pᵢ + P qⱼ))."""
        pairs = self._pairs(W, V)
        _require_differentiable(pairs)
        turned = np.sum(B * pairs.D, axis=-1)[..., None] * pairs.p + (B * pairs.P) @ pairs.q
        return np.asarray(np.sum(B * pairs.A, axis=-1)[..., None] * self.mean + self._in(turned))

    def gradient_jvp(
        self, W: Array, V: Array, B: Array, dW: Array, dV: Array | None, dB: Array | None
    ) -> Array:
        """The second derivatives of the module's head, with those of B."""
        pairs = self._pairs(W, V)
        _require_differentiable(pairs)
        mean, turned = _first(pairs, B, dW @ self.mean, self._in(dW))
        if dV is not None:
            more = _second(pairs, B, dV @ self.mean, self._in(dV))
            mean, turned = mean + more[0], turned + more[1]
        result = mean[..., None] * self.mean + self._in(turned)
        return np.asarray(result if dB is None else result + self.gradient(W, V, dB))


def _push(pairs: Pairs, change: Array, turn: Array) -> Array:
    """A dα + (Dp + Pq)·dp."""
    _require_differentiable(pairs)
    along = np.sum(pairs.p * turn, axis=-1)[..., :, None]
    return np.asarray(
        pairs.A * change[..., :, None] + pairs.D * along + pairs.P * (turn @ transpose(pairs.q))
    )


def _first(pairs: Pairs, B: Array, change: Array, turn: Array) -> tuple[Array, Array]:
    """Σⱼ B_ij E[δ(X) Y₊ (1, z)(dα + dp·z)]: z = κp + z⊥ on X = 0, κ = −α/s²."""
    sine = pairs._turned[0]
    e = pairs.angles.normal()
    kappa, along = -pairs.h / _safe(pairs.s), np.sum(pairs.p * turn, axis=-1)[..., :, None]
    across = np.einsum("...kmn,...kn->...km", e, turn)  # e·dp
    change = change[..., :, None]
    inner = pairs.F * pairs.r * sine  # F q⊥ = inner e
    mean = np.sum(B * (pairs.D * (change + kappa * along) + inner * across), axis=-1)
    by_p = B * (
        pairs.D * (kappa * change + kappa**2 * along - along / _safe(pairs.s) ** 2) + kappa * inner * across
    )
    by_e = B * (inner * (change + kappa * along) + pairs.joint * pairs.r * sine / _safe(pairs.s) * across)
    turned = np.sum(by_p, axis=-1)[..., None] * pairs.p + np.sum(B * pairs.D, axis=-1)[..., None] * turn
    return mean, np.asarray(turned + np.einsum("...km,...kmn->...kn", by_e, e))


def _second(pairs: Pairs, B: Array, change: Array, turn: Array) -> tuple[Array, Array]:
    """Σⱼ B_ij E[1_X 1_Y (1, z)(dβ + dq·z)]."""
    sine, cosine = pairs._turned
    e, unit = pairs.angles.normal(), pairs.angles.w_unit
    change = change[..., None, :]
    by_p = pairs.p @ transpose(turn)  # p·dq
    by_q = np.sum(pairs.q * turn, axis=-1)[..., None, :]
    by_e = np.einsum("...kmn,...mn->...km", e, turn)
    by_unit = unit @ transpose(turn)
    kappa, other = -pairs.h / _safe(pairs.s), -pairs.g / _safe(pairs.r)
    mean = np.sum(B * (pairs.P * change + pairs.F * by_p + pairs.F_other * by_q), axis=-1)
    both = pairs.joint * sine
    turned = np.sum(B * pairs.F * (change + kappa * by_p), axis=-1)[..., None] * pairs.p
    turned = turned + (B * pairs.F_other * (change + other * by_q)) @ pairs.q + (B * pairs.P) @ turn
    turned = turned + np.sum(B * both * (sine * by_e + cosine * by_unit), axis=-1)[..., None] * unit
    rest = B * both * (sine * by_unit - cosine * by_e)
    return mean, np.asarray(turned + np.einsum("...km,...kmn->...kn", rest, e))


def _safe(norm: Array) -> Array:
    return np.where(norm > 0, norm, 1.0)


def _standardised(mean: Array, spread: Array) -> Array:
    """mean/spread, ±`CERTAIN` where it is larger."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(spread > 0, mean / spread, np.sign(mean) * CERTAIN)
    return np.clip(ratio, -CERTAIN, CERTAIN)


def _gauss(x: Array) -> Array:
    return np.asarray(np.exp(-(x**2) / 2) / np.sqrt(TWO_PI))


def _density(x: Array, spread: Array) -> Array:
    """φ(x)/spread, zero for a constant."""
    return np.where(spread > 0, _gauss(x) / _safe(spread), 0.0)


def _normal_cdf(x: Array) -> Array:
    from scipy.special import ndtr

    return np.asarray(ndtr(x))


def _require_differentiable(pairs: Pairs) -> None:
    dead = np.argwhere((pairs.s[..., 0] == 0) & (pairs.alpha[..., 0] == 0))
    if len(dead):
        raise NotDifferentiable(
            f"Neuron {int(dead[0][-1])} is zero, weights (under the data's covariance) and mean: a ReLU network is not "
            "differentiable there. The loss itself can be evaluated; move the neuron off zero for derivatives."
        )
