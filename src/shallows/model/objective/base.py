"""What a problem minimises, as a function of its neurons U (…, k, n) and outer weights A (…, M, k)."""

from __future__ import annotations

from abc import ABC, abstractmethod

from shallows.support.checks import Array


class Objective(ABC):
    """L(U, A) = E‖A σ(Ux) − y‖² with gradient and Hessian-vector products; leading axes are batches."""

    @abstractmethod
    def value(self, U: Array, A: Array) -> Array:
        """L, shape (…)."""

    @abstractmethod
    def value_and_gradient(self, U: Array, A: Array) -> tuple[Array, Array, Array]:
        """L, ∂L/∂U and ∂L/∂A."""

    def truncation_error(self, U: Array, A: Array) -> float:
        """A bound on |computed − true| of L beyond rounding: zero for closed forms."""
        return 0.0

    @abstractmethod
    def hvp(self, U: Array, A: Array, dU: Array, dA: Array) -> tuple[Array, Array]:
        """The derivative of (∂L/∂U, ∂L/∂A) along (dU, dA), whose extra leading axes are directions."""
