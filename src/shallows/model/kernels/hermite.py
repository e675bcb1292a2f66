"""Any pair of activations under N(m, Σ), by Hermite expansion.

With w·x = α + s z, z standard normal, α = w·m, s² = wᵀΣw, and the orthonormal Hermite polynomials h_j,

    c_j(w) = E[σ(α + s z) h_j(z)],      k(w, v) = Σ_j c_j(w) c′_j(v) ρ^j      (Mehler's formula),

ρ the correlation of w·x and v·x. Differentiating under the expectation and integrating by parts gives the
derivatives of σ for free: E[σ^(a)(α + s z) h_j(z)] = √((j+1)⋯(j+a)) c_{j+a} / s^a.

An activation may know its c_j (`hermite_coefficients`; ReLU does); `hermite_coefficients.py` computes those of the
others. What is left out is bounded by Parseval,

    |Σ_{j≥J} c_j c′_j ρ^j| ≤ √(E σ² − Σ_{j<J} c_j²) √(E τ² − Σ_{j<J} c′_j²),

and reported (`truncation_error`); beyond `TOLERANCE` it is an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.polynomial import polynomial

from shallows.model.activations import Activation, PolynomialActivation
from shallows.model.kernels.gaussian import GaussianCumulants
from shallows.model.kernels.hermite_coefficients import MARGIN, TERMS, coefficients
from shallows.model.kernels.price import Order
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem, NotConverged
from shallows.support.tolerances import EPSILON, TINY

#: What truncation may leave out, relative to √(Eσ² Eτ²): kernels keep nine digits, or the series is refused.
TOLERANCE = 1e-9
#: Terms of Mehler's sum below this, relative to the largest, are left out: 2,000 of them stay below rounding (2e-16).
NEGLIGIBLE = 1e-20
#: Powers of ρ held at once, in numbers: 4 MB.
POWERS = 2**19
#: Series kept for the next call, and the most neurons of one that is kept: a loss, its gradient and its Hessian take
#: the same few neurons to several kernels, and the teacher stays.
KEPT, KEPT_NEURONS = 16, 64


class Terms(NamedTuple):
    """Coefficients of σ^(a) for a batch of neurons: the largest by degree, and the weight of the last eighth."""

    values: Array
    largest: Array
    tail: float


class HermiteSeries:
    """The Hermite coefficients of σ(α + s z) for a batch of neurons, with what the truncation leaves out."""

    def __init__(self, activation: Activation, shift: Array, scale: Array) -> None:
        self.shift, self.scale = shift, scale
        known = activation.hermite_coefficients(shift, scale, TERMS + MARGIN)
        if known is None:
            self.coefficients, self.energy, self.quadrature_error = coefficients(activation, shift, scale)
        else:
            self.coefficients, self.energy = known
            self.quadrature_error = np.zeros_like(self.energy)
        self.polynomial = activation.coefficients if isinstance(activation, PolynomialActivation) else None
        self.finite = self.polynomial is not None
        if isinstance(activation, PolynomialActivation):
            self.coefficients[..., activation.degree + 1 :] = 0.0
        self.coefficients.flags.writeable = False
        self.terms = self.coefficients.shape[-1] - MARGIN
        self._derivatives: dict[int, Terms] = {}

    @cached_property
    def remainder(self) -> Array:
        """√(E σ² − Σ_{j<J} c_j²), with rounding floored at machine precision; zero for polynomials."""
        if self.finite:
            return np.zeros_like(self.energy)
        rest = self.energy - np.sum(self.coefficients[..., : self.terms] ** 2, axis=-1)
        return np.asarray(np.sqrt(np.maximum(rest, EPSILON * self.energy)))

    def derivative(self, order: int) -> Terms:
        """The coefficients of σ^(order): √((j+1)⋯(j+a)) c_{j+a} / s^a, j < J; σ^(order)(α) alone for s = 0."""
        if order not in self._derivatives:
            values = self._derivative(order)
            largest = np.max(np.abs(values), axis=tuple(range(values.ndim - 1)), initial=0.0)
            self._derivatives[order] = Terms(values, np.asarray(largest), _tail(values))
        return self._derivatives[order]

    def _derivative(self, order: int) -> Array:
        if order == 0:
            return self.coefficients[..., : self.terms]
        still = self.scale == 0
        if still.any() and self.polynomial is None:
            raise InvalidProblem(
                "A neuron is zero (under the data's covariance); the Hermite expansion has no derivative there. "
                "Move the neuron off zero."
            )
        shifted = self.coefficients[..., order : order + self.terms]
        scale = np.where(still, 1.0, self.scale)[..., None]
        values = np.asarray(_factors(order, self.terms) * shifted / scale**order)
        if self.polynomial is not None and still.any():
            slope = polynomial.polyder(self.polynomial, order)
            values[still] = 0.0
            values[..., 0] = np.where(still, polynomial.polyval(self.shift, slope), values[..., 0])
        return values


@lru_cache(maxsize=64)
def _factors(order: int, terms: int) -> Array:
    """√((j+1)⋯(j+order)) for j < terms."""
    j = np.arange(terms)
    return np.asarray(np.sqrt(np.prod([j + i for i in range(1, order + 1)], axis=0, dtype=float)))


def series_of(activation: Activation, shift: Array, scale: Array) -> HermiteSeries:
    """The series of a batch of neurons; a small batch may be one of the last."""
    if scale.size > KEPT_NEURONS:
        return HermiteSeries(activation, shift, scale)
    return _kept(
        activation, scale.shape, np.ascontiguousarray(shift).tobytes(), np.ascontiguousarray(scale).tobytes()
    )


@lru_cache(maxsize=KEPT)
def _kept(activation: Activation, shape: tuple[int, ...], shift: bytes, scale: bytes) -> HermiteSeries:
    return HermiteSeries(activation, np.frombuffer(shift).reshape(shape), np.frombuffer(scale).reshape(shape))


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
        left = series_of(self.activations[0], np.broadcast_to(centre_w, spread_w.shape), spread_w)
        right = series_of(self.activations[1], np.broadcast_to(centre_v, spread_v.shape), spread_v)
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
                f"after {min(left.terms, right.terms)} terms the error is up to {error:.2g} (relative "
                f"{error / scale:.2g}, allowed {TOLERANCE:g}). The activation is not smooth enough at this "
                "scale of the weights: use smaller weights, a smoother activation, or Samples."
            )
        wanted = list(orders)
        lefts = {a: left.derivative(a) for a in {a for a, _ in wanted}}
        rights = {b: right.derivative(b) for b in {b for _, b in wanted}}
        for a, b in wanted:
            _require_decay(lefts[a].tail * rights[b].tail, (a, b))
        sums = _mehler([(lefts[a], rights[b]) for a, b in wanted], rho)
        return {(a, b): s / (factorial(a) * factorial(b)) for (a, b), s in zip(wanted, sums, strict=True)}


def _tail(coefficients: Array) -> float:
    """‖last eighth‖ / ‖all‖, the largest of the batch."""
    total = np.sqrt(np.sum(coefficients**2, axis=-1))
    tail = np.sqrt(np.sum(coefficients[..., -coefficients.shape[-1] // 8 :] ** 2, axis=-1))
    return float(np.max(tail / np.where(total > 0, total, 1.0)))


def _require_decay(weight: float, order: Order) -> None:
    """The series of E[σ^(a) τ^(b)] must have died out by its last eighth: ‖tail‖‖tail′‖ against ‖c‖‖c′‖."""
    if weight > TOLERANCE:
        raise NotConverged(
            f"The Hermite series of the derivatives of order {order} still has relative weight {weight:.2g} in its "
            f"last terms (allowed {TOLERANCE:g}): use smaller weights or a smoother activation."
        )


def _mehler(pairs: list[tuple[Terms, Terms]], rho: Array) -> list[Array]:
    """Σ_j left_ij right_lj ρ_il^j for every pair of coefficients: blocks of powers, Horner's rule between them."""
    count = max(_terms_that_matter(left, right, rho) for left, right in pairs)
    block = int(np.clip(POWERS // max(rho.size, 1), 1, max(count, 1)))
    powers = np.empty((*rho.shape, block + 1))
    powers[..., 0], powers[..., 1:] = 1.0, rho[..., None]
    np.cumprod(powers, axis=-1, out=powers)
    results = [np.zeros(rho.shape) for _ in pairs]
    for start in reversed(range(0, count, block)):
        stop = min(start + block, count)
        for i, (left, right) in enumerate(pairs):
            step = np.einsum(
                "...ij,...lj,...ilj->...il",
                left.values[..., start:stop],
                right.values[..., start:stop],
                powers[..., : stop - start],
            )
            results[i] = results[i] * powers[..., stop - start] + step
    return results


def _terms_that_matter(left: Terms, right: Terms, rho: Array) -> int:
    """How many terms of Mehler's sum are not negligible; powers of ρ count where there are many pairs."""
    count = min(len(left.largest), len(right.largest))
    size = left.largest[:count] * right.largest[:count]
    if count * rho.size > POWERS:
        size = size * np.max(np.abs(rho)) ** np.arange(count)
    matters = np.flatnonzero(size > NEGLIGIBLE * np.max(size, initial=TINY))
    return int(matters[-1]) + 1 if len(matters) else 0
