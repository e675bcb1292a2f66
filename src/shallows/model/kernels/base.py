"""The neuron kernel k(w, v) = E[σ(w·x) τ(v·x)] and what training needs of it.

Arrays are batched: W is (…, k, n), V is (…, m, n), coefficient matrices B are (…, k, m); leading axes
broadcast, so that one call serves many networks or many directions. With L(W, V) = Σ_ij B_ij k(wᵢ, vⱼ), the
gradient in W is `gradient(W, V, B)` and its derivative along (dW, dV, dB) is `gradient_jvp`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem

COMBINATIONS = """\
  Power, Polynomial   Gaussian (any mean and covariance), IID, Radial, Sphere, Mixture, Samples
  Power (one degree)  Frobenius, Metric
  ReLU                Gaussian (any mean and covariance), IID.normal, Samples, and mixtures of these
  Smooth              Gaussian, IID.normal, Samples, and mixtures of these
  two different ones  Gaussian, Samples, and wherever both are polynomials"""


class Kernel(ABC):
    """k(w, v) = E[σ(w·x) τ(v·x)] for one pair of activations and one kind of data."""

    @abstractmethod
    def value(self, W: Array, V: Array) -> Array:
        """k(wᵢ, vⱼ), shape (…, k, m)."""

    @abstractmethod
    def value_jvp(self, W: Array, V: Array, dW: Array, dV: Array | None) -> Array:
        """The derivative of `value` along (dW, dV); dV None means V is held fixed."""

    @abstractmethod
    def gradient(self, W: Array, V: Array, B: Array) -> Array:
        """Σⱼ B_ij ∂₁k(wᵢ, vⱼ), shape (…, k, n)."""

    @abstractmethod
    def gradient_jvp(
        self, W: Array, V: Array, B: Array, dW: Array, dV: Array | None, dB: Array | None
    ) -> Array:
        """The derivative of `gradient` along (dW, dV, dB); None means held fixed."""

    def truncation_error(self, W: Array, V: Array) -> float:
        """A bound on |computed − true| of `value` beyond rounding: zero for closed forms."""
        return 0.0


def no_kernel(left: object, right: object, data: object, why: str = "") -> InvalidProblem:
    """The error for a pair of activations that these data have no kernel for."""
    pair = repr(left) if left == right else f"{left!r} with {right!r}"
    reason = f" ({why})" if why else ""
    return InvalidProblem(
        f"There is no kernel for {pair} under {data!r}{reason}. The combinations are:\n{COMBINATIONS}"
    )


def transpose(X: Array) -> Array:
    """The transpose of the last two axes."""
    return X.swapaxes(-1, -2)
