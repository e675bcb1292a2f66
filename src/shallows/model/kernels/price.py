"""Kernels through cumulants: one chain rule for Gaussian and i.i.d. data, polynomial and smooth activations.

The pair (w·x, v·x) has the cumulant generating function log E exp(s w·x + t v·x) = Σ c_ab s^a t^b / (a! b!),
and k depends on (w, v) only through the c_ab(w, v). Price's theorem, for any order:

    ∂k/∂c_ab = E[σ^(a)(w·x) τ^(b)(v·x)] / (a! b!) =: φ_ab,
    ∂φ_ab/∂c_cd = C(a+c, a) C(b+d, b) φ_{a+c, b+d}.

So a kernel is a law (the c_ab and their derivatives in w and v) and a table of expectations φ_ab. Gaussian
data has five cumulants (mean and covariance), i.i.d. data c_ab = κ_{a+b} Σ_i w_i^a v_i^b.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from math import comb
from typing import Protocol

import numpy as np

from shallows.model.kernels.base import Kernel
from shallows.support.checks import Array

Order = tuple[int, int]


class Cumulants(ABC):
    """The cumulants c_ab(w, v) of (w·x, v·x), as functions of W and V."""

    @abstractmethod
    def orders(self, left: int, right: int) -> list[Order]:
        """The (a, b) ≠ (0, 0) with a ≤ left, b ≤ right whose cumulant is not identically zero."""

    @abstractmethod
    def value(self, order: Order, W: Array, V: Array) -> Array:
        """c_ab(wᵢ, vⱼ), broadcastable to (…, k, m)."""

    @abstractmethod
    def push(self, order: Order, W: Array, V: Array, dW: Array, dV: Array | None) -> Array:
        """The derivative of c_ab along (dW, dV)."""

    @abstractmethod
    def pull(self, order: Order, W: Array, V: Array, C: Array) -> Array:
        """Σⱼ C_ij ∂c_ab/∂wᵢ, shape (…, k, n)."""

    @abstractmethod
    def pull_jvp(self, order: Order, W: Array, V: Array, C: Array, dW: Array, dV: Array | None) -> Array:
        """The derivative of `pull` along (dW, dV), C held fixed."""


class Expectations(Protocol):
    """The table φ_ab = E[σ^(a)(w·x) τ^(b)(v·x)] / (a! b!)."""

    left: int
    right: int

    def truncation_error(self, W: Array, V: Array) -> float:
        """A bound on what a truncated φ_00 leaves out, over all pairs; zero for closed forms."""
        ...

    def table(self, W: Array, V: Array, orders: Iterable[Order]) -> dict[Order, Array]:
        """φ_ab(wᵢ, vⱼ) for the orders asked for; one that is absent from the answer is zero."""
        ...


class PriceKernel(Kernel):
    """A kernel whose derivatives all come from Price's theorem."""

    def __init__(self, law: Cumulants, expectations: Expectations) -> None:
        self.law = law
        self.expectations = expectations
        self.orders = law.orders(expectations.left, expectations.right)
        self.inner_orders = [order for order in self.orders if order[0] > 0]

    def value(self, W: Array, V: Array) -> Array:
        """φ_00."""
        shape = (*np.broadcast_shapes(W.shape[:-2], V.shape[:-2]), W.shape[-2], V.shape[-2])
        return np.broadcast_to(self.expectations.table(W, V, [(0, 0)]).get((0, 0), np.zeros(1)), shape).copy()

    def truncation_error(self, W: Array, V: Array) -> float:
        """What the expectations leave out."""
        return self.expectations.truncation_error(W, V)

    def value_jvp(self, W: Array, V: Array, dW: Array, dV: Array | None) -> Array:
        """Σ φ_ab dc_ab."""
        phi = self.expectations.table(W, V, self.orders)
        parts = [phi[order] * self.law.push(order, W, V, dW, dV) for order in self.orders if order in phi]
        nothing = np.zeros((*np.broadcast_shapes(W.shape, dW.shape)[:-1], V.shape[-2]))
        return np.asarray(sum(parts, start=nothing))

    def gradient(self, W: Array, V: Array, B: Array) -> Array:
        """Σ_ab Σⱼ B_ij φ_ab ∂c_ab/∂wᵢ."""
        phi = self.expectations.table(W, V, self.inner_orders)
        parts = [self.law.pull(order, W, V, B * phi[order]) for order in self.inner_orders if order in phi]
        return np.asarray(sum(parts)) if parts else np.zeros_like(W)

    def gradient_jvp(
        self, W: Array, V: Array, B: Array, dW: Array, dV: Array | None, dB: Array | None
    ) -> Array:
        """The product rule on `gradient`, with dφ_ab = Σ_cd C(a+c,a) C(b+d,b) φ_{a+c,b+d} dc_cd."""
        sums = {(a + c, b + d) for a, b in self.inner_orders for c, d in self.orders}
        phi = self.expectations.table(W, V, sums | set(self.inner_orders))
        pushed = {order: self.law.push(order, W, V, dW, dV) for order in self.orders}
        result: Array | float = 0.0
        for a, b in self.inner_orders:
            weights: Array | float = 0.0
            for c, d in self.orders:
                if (a + c, b + d) in phi:
                    weights = weights + comb(a + c, a) * comb(b + d, b) * phi[a + c, b + d] * pushed[c, d]
            weights = B * weights
            if (a, b) in phi:
                if dB is not None:
                    weights = weights + dB * phi[a, b]
                result = result + self.law.pull_jvp((a, b), W, V, B * phi[a, b], dW, dV)
            if isinstance(weights, np.ndarray):
                result = result + self.law.pull((a, b), W, V, weights)
        return np.asarray(result + np.zeros_like(dW))
