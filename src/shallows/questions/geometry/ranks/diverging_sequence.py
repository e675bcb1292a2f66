"""Example 19: x₁^{d−1}x₂ as a limit of networks of width 2 whose parameters diverge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.data.base import InnerProduct, as_inner_product
from shallows.model.network import Network
from shallows.support.checks import Array, describe, positive_integer
from shallows.support.errors import InvalidProblem


@dataclass(frozen=True)
class DivergingSequence:
    """f_τ = (τ/d)[(x₁ + x₂/τ)^d − x₁^d] → x₁^{d−1}x₂ as τ → ∞ (Example 19; the paper prints τ/(d−1)).

    The limit has real rank d, so for d ≥ 3 no network of width 2 reaches it: losses tend to 0 and never get there,
    while the outer weights ±τ/d diverge.

    >>> sequence = diverging_sequence(3)
    >>> sequence.network(10.0).a.round(4).tolist()
    [3.3333, -3.3333]
    """

    degree: int
    n: int

    @property
    def target(self) -> SymmetricTensor:
        """x₁^{d−1} x₂: the entry T_{1…12} is 1/d."""
        entries = np.zeros(coordinates.dimension(self.n, self.degree))
        entries[1] = 1.0 / self.degree
        return SymmetricTensor(entries, self.n, self.degree)

    def network(self, tau: float) -> Network:
        """The network of width 2 at τ > 0."""
        (t,) = _checked([tau])
        W = np.zeros((2, self.n))
        W[:, 0], W[0, 1] = 1.0, 1 / t
        return Network(W, [t / self.degree, -t / self.degree], Power(self.degree))

    def residual(self, tau: float) -> SymmetricTensor:
        """f_τ − x₁^{d−1}x₂, without cancellation: entry τ^{1−k}/d where 2 occurs k ≥ 2 times and 1 otherwise."""
        (t,) = _checked([tau])
        counts = coordinates.exponents(self.n, self.degree)
        k = counts[:, 1]
        inside = (k >= 2) & (counts[:, 0] + k == self.degree)
        entries = np.where(inside, t ** (1.0 - k) / self.degree, 0.0)
        return SymmetricTensor(entries, self.n, self.degree)

    def losses(self, data: InnerProduct, taus: ArrayLike) -> Array:
        """‖f_τ − x₁^{d−1}x₂‖² under the data's metric; (d−1)/(2d τ²) + O(τ⁻³) for Frobenius."""
        metric = as_inner_product(data)
        if metric.n != self.n:
            raise InvalidProblem(f"The data has {metric.n} inputs; this sequence has {self.n}.")
        gram = metric.gram(self.degree)
        residuals = [self.residual(t).entries for t in _checked(taus)]
        return np.array([float(e @ gram @ e) for e in residuals])

    def __repr__(self) -> str:
        return f"DivergingSequence(width 2 -> x1^{self.degree - 1}*x2, n={self.n})"


def diverging_sequence(degree: int, n: int = 2) -> DivergingSequence:
    """The sequence of paper 000, Example 19, for d ≥ 3 and n ≥ 2: networks of width 2 that tend to x₁^{d−1}x₂.

    f_τ = (τ/d)[(x₁ + x₂/τ)^d − x₁^d] as τ → ∞: the loss tends to zero, the parameters to infinity.

    >>> sequence = sh.diverging_sequence(3)
    >>> [f"{loss:.1e}" for loss in sequence.losses(sh.Frobenius(2), [10, 100, 1000])]     # (d−1)/(2d τ²)
    ['3.3e-03', '3.3e-05', '3.3e-07']
    >>> sh.real_rank(sequence.target)           # no network of width 2 is there
    3
    """
    return DivergingSequence(positive_integer("degree", degree, 3), positive_integer("n", n, 2))


def _checked(taus: ArrayLike) -> list[float]:
    values = np.atleast_1d(np.asarray(taus, dtype=np.float64))
    if values.ndim != 1 or not np.all(np.isfinite(values)) or np.any(values <= 0):
        raise InvalidProblem(f"tau is {describe(taus)}; expected finite positive numbers.")
    return [float(t) for t in values]
