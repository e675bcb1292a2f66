"""Any pair of activations under N(m, Σ), by Hermite expansion.

With w·x = α + s z, z standard normal, α = w·m, s² = wᵀΣw, and the orthonormal Hermite polynomials h_j,

    c_j(w) = E[σ(α + s z) h_j(z)],      k(w, v) = Σ_j c_j(w) c′_j(v) ρ^j      (Mehler's formula),

ρ the correlation of w·x and v·x. Differentiating under the expectation and integrating by parts gives the
derivatives of σ for free: E[σ^(a)(α + s z) h_j(z)] = √((j+1)⋯(j+a)) c_{j+a} / s^a.

An activation may know its c_j (`hermite_coefficients`; ReLU does). Others are computed by the trapezoidal rule on
Hermite functions, which converges geometrically for analytic σ (Trefethen and Weideman 2014) and needs no more nodes
for high j. What is left out is bounded by Parseval,

    |Σ_{j≥J} c_j c′_j ρ^j| ≤ √(E σ² − Σ_{j<J} c_j²) √(E τ² − Σ_{j<J} c′_j²),

and reported (`truncation_error`); beyond `TOLERANCE` it is an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import factorial

import numpy as np

from shallows.model.activations import Activation, PolynomialActivation
from shallows.model.kernels.gaussian import GaussianCumulants
from shallows.model.kernels.price import Order
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem, NotConverged
from shallows.support.tolerances import EPSILON, TINY

#: Terms of a series. Measured for TOLERANCE: tanh needs 56, 384 and 930 at neurons of length 1, 3 and 5, the logistic
#: function 992 at length 12; longer neurons are refused.
TERMS = 1000
#: What truncation may leave out, relative to √(Eσ² Eτ²): kernels keep nine digits, or the series is refused.
TOLERANCE = 1e-9
#: The trapezoidal rule's nodes: √φ is 3e-19 at the ends, and the step resolves frequencies up to 2π/0.02 = 314, ten
#: times the highest, √1004, of the Hermite functions of these degrees.
STEP, REACH = 0.02, 13.0
#: Terms beyond TERMS that derivatives of order up to four take.
MARGIN = 4
#: Terms of Mehler's sum below this, relative to the largest, are left out: 1,000 of them stay below rounding (2e-16).
NEGLIGIBLE = 1e-19


@lru_cache(maxsize=1)
def _quadrature() -> tuple[Array, Array, Array]:
    """Nodes z, and the even and the odd rows of the matrix of columns weight·√φ(z)·ψ_j(z), ψ_j = h_j √φ."""
    z = np.arange(-REACH, REACH + STEP / 2, STEP)
    root = np.exp(-(z**2) / 4) / (2 * np.pi) ** 0.25
    functions = np.empty((TERMS + MARGIN, len(z)))
    functions[0], functions[1] = root, z * root
    for j in range(1, TERMS + MARGIN - 1):
        functions[j + 1] = (z * functions[j] - np.sqrt(j) * functions[j - 1]) / np.sqrt(j + 1)
    matrix = (STEP * root * functions).T
    return z, np.ascontiguousarray(matrix[::2]), np.ascontiguousarray(matrix[1::2])


def _by_quadrature(activation: Activation, shift: Array, scale: Array) -> tuple[Array, Array, Array]:
    """Coefficients, E σ², and the change when every second node is left out."""
    z, even, odd = _quadrature()
    values = activation(shift[..., None] + scale[..., None] * z)
    if not np.all(np.isfinite(values)):
        raise InvalidProblem(f"{activation!r} is not finite on the range of w·x; a kernel needs E σ² < ∞.")
    first, second = np.ascontiguousarray(values[..., ::2]), np.ascontiguousarray(values[..., 1::2])
    half, rest = first @ even, second @ odd
    energy = first**2 @ even[:, 0] + second**2 @ odd[:, 0]
    return half + rest, energy, np.max(np.abs(half - rest), axis=-1)


class HermiteSeries:
    """The Hermite coefficients of σ(α + s z) for a batch of neurons, with what the truncation leaves out."""

    def __init__(self, activation: Activation, shift: Array, scale: Array) -> None:
        self.scale = scale
        known = activation.hermite_coefficients(shift, scale, TERMS + MARGIN)
        if known is None:
            self.coefficients, self.energy, self.quadrature_error = _by_quadrature(activation, shift, scale)
        else:
            self.coefficients, self.energy = known
            self.quadrature_error = np.zeros_like(self.energy)
        self.finite = isinstance(activation, PolynomialActivation)
        if isinstance(activation, PolynomialActivation):
            self.coefficients[..., activation.degree + 1 :] = 0.0

    @property
    def remainder(self) -> Array:
        """√(E σ² − Σ_{j<J} c_j²), with rounding floored at machine precision; zero for polynomials."""
        if self.finite:
            return np.zeros_like(self.energy)
        rest = self.energy - np.sum(self.coefficients[..., :TERMS] ** 2, axis=-1)
        return np.asarray(np.sqrt(np.maximum(rest, EPSILON * self.energy)))

    def derivative(self, order: int) -> Array:
        """The coefficients of σ^(order): √((j+1)⋯(j+a)) c_{j+a} / s^a, j < J."""
        if order == 0:
            return self.coefficients[..., :TERMS]
        if np.any(self.scale == 0):
            raise InvalidProblem(
                "A neuron is zero (under the data's covariance); the Hermite expansion has no derivative there. "
                "Move the neuron off zero."
            )
        j = np.arange(TERMS)
        factor = np.sqrt(np.prod([j + i for i in range(1, order + 1)], axis=0, dtype=float))
        shifted = self.coefficients[..., order : order + TERMS]
        return np.asarray(factor * shifted / self.scale[..., None] ** order)


class HermiteExpectations:
    """φ_ab for any two activations under Gaussian data."""

    left = right = MARGIN

    def __init__(self, law: GaussianCumulants, left: Activation, right: Activation) -> None:
        self.law = law
        self.activations = (left, right)

    def series(self, W: Array, V: Array) -> tuple[HermiteSeries, HermiteSeries, Array]:
        """Both expansions and the correlations ρ_ij."""
        zeros = np.zeros(1)
        centre_w = self.law.value((1, 0), W, V)[..., :, 0] if not self.law.centred else zeros
        centre_v = self.law.value((0, 1), W, V)[..., 0, :] if not self.law.centred else zeros
        spread_w = np.sqrt(self.law.value((2, 0), W, V)[..., :, 0])
        spread_v = np.sqrt(self.law.value((0, 2), W, V)[..., 0, :])
        scale = spread_w[..., :, None] * spread_v[..., None, :]
        rho = np.clip(self.law.value((1, 1), W, V) / np.where(scale > 0, scale, 1.0), -1.0, 1.0)
        left = HermiteSeries(self.activations[0], np.broadcast_to(centre_w, spread_w.shape), spread_w)
        right = HermiteSeries(self.activations[1], np.broadcast_to(centre_v, spread_v.shape), spread_v)
        return left, right, rho

    def truncation_error(self, W: Array, V: Array) -> float:
        """A bound on what the truncated series of k leaves out, over all pairs, plus the quadrature's error."""
        left, right, _ = self.series(W, V)
        return self._error(left, right)

    def _error(self, left: HermiteSeries, right: HermiteSeries) -> float:
        tail = np.max(left.remainder) * np.max(right.remainder)
        scale_left, scale_right = np.sqrt(np.max(left.energy)), np.sqrt(np.max(right.energy))
        quadrature = np.max(left.quadrature_error) * scale_right + np.max(right.quadrature_error) * scale_left
        return float(tail + quadrature)

    def table(self, W: Array, V: Array, orders: Iterable[Order]) -> dict[Order, Array]:
        """φ_ab = Σ_j E[σ^(a) h_j] E[τ^(b) h_j] ρ^j / (a! b!)."""
        left, right, rho = self.series(W, V)
        scale = float(np.sqrt(np.max(left.energy) * np.max(right.energy)))
        error = self._error(left, right)
        if error > TOLERANCE * max(scale, TINY):
            raise NotConverged(
                f"The Hermite series of {self.activations[0]!r} and {self.activations[1]!r} does not converge: "
                f"after {TERMS} terms the error is up to {error:.2g} (relative {error / scale:.2g}, allowed "
                f"{TOLERANCE:g}). The activation is not smooth enough at this scale of the weights: use smaller "
                "weights, a smoother activation, or Samples."
            )
        wanted = list(orders)
        lefts = {a: left.derivative(a) for a in {a for a, _ in wanted}}
        rights = {b: right.derivative(b) for b in {b for _, b in wanted}}
        for a, b in wanted:
            _require_decay(lefts[a], rights[b], (a, b))
        return {(a, b): _mehler(lefts[a], rights[b], rho) / (factorial(a) * factorial(b)) for a, b in wanted}


def _require_decay(left: Array, right: Array, order: Order) -> None:
    """The series of E[σ^(a) τ^(b)] must have died out by its last eighth: ‖tail‖‖tail′‖ against ‖c‖‖c′‖."""
    weight = 1.0
    for coefficients in (left, right):
        total = np.sqrt(np.sum(coefficients**2, axis=-1))
        tail = np.sqrt(np.sum(coefficients[..., -TERMS // 8 :] ** 2, axis=-1))
        weight *= float(np.max(tail / np.where(total > 0, total, 1.0)))
    if weight > TOLERANCE:
        raise NotConverged(
            f"The Hermite series of the derivatives of order {order} still has relative weight {weight:.2g} in its "
            f"last terms (allowed {TOLERANCE:g}): use smaller weights or a smoother activation."
        )


def _mehler(left: Array, right: Array, rho: Array) -> Array:
    """Σ_j left_ij right_lj ρ_il^j by Horner's rule, from the last term that matters down."""
    leads = [tuple(range(c.ndim - 1)) for c in (left, right)]
    size = np.max(np.abs(left), axis=leads[0]) * np.max(np.abs(right), axis=leads[1])
    size = size * np.max(np.abs(rho)) ** np.arange(len(size))
    matters = np.flatnonzero(size > NEGLIGIBLE * np.max(size, initial=TINY))
    result = np.zeros(rho.shape)
    for j in range(int(matters[-1]) if len(matters) else 0, -1, -1):
        result = result * rho + left[..., :, None, j] * right[..., None, :, j]
    return result
