"""The law of (1, x): what x is for a network without bias, (1, x) is for one with bias.

A neuron σ(w·x + b) on x is the neuron σ((b, w)·(1, x)) on (1, x), so every formula for neurons without bias serves
those with bias, in one input more. The constant stands first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.model.activations import Activation, PolynomialActivation
from shallows.model.data.base import Distribution, InnerProduct
from shallows.model.data.gaussian import Gaussian
from shallows.model.kernels.base import Kernel
from shallows.model.kernels.polynomial import PolynomialExpectations, mixing
from shallows.model.kernels.price import Cumulants, PriceKernel
from shallows.model.kernels.shifted import ShiftedCumulants
from shallows.support.checks import Array
from shallows.support.construction import Construction
from shallows.support.errors import InvalidProblem


def with_constant(data: InnerProduct, activation: Activation | None = None) -> Distribution:
    """The law of (1, x), by its own name where it has one.

    For a polynomial `activation` a law whose moments up to twice its degree are a Gaussian's is this Gaussian.

    >>> with_constant(sh.Gaussian(2)).mean
    array([1., 0., 0.])
    >>> with_constant(sh.IID(2, [1, 0, 1, 0, 3]), sh.Power(2))
    Gaussian(3, covariance=…, mean=…)
    """
    twin = _gaussian_twin(data, activation.degree) if isinstance(activation, PolynomialActivation) else None
    named = (data if twin is None else twin).lifted()
    if named is not None:
        return named
    if not isinstance(data, Distribution):
        raise InvalidProblem(
            f"{data!r} is an inner product of forms of one degree, and a bias makes polynomials of all degrees up to "
            f"it. Fix: a distribution, or a Metric in {data.n + 1} inputs, the constant 1 first, and no bias."
        )
    return WithConstant(data)


def _gaussian_twin(data: InnerProduct, degree: int) -> Gaussian | None:
    """The Gaussian with the same moments up to order 2·degree, compared as fractions; None when there is none."""
    metric = data.rotation_invariance(1) if isinstance(data, Distribution) else None
    if metric is None or metric.family != "Gaussian" or not isinstance(data, Distribution):
        return None
    twin = Gaussian(
        data.n, metric.scale * (np.eye(data.n) if metric.covariance is None else metric.covariance)
    )
    for order in range(2 * degree, 0, -1):  # high ones differ first
        own = data.exact_moments(order)
        if own is None or not np.array_equal(own, twin.exact_moments(order)):
            return None
    return twin


class WithConstant(Distribution):
    """(1, x) for x of the given law, where that has no name of its own.

    Sorted indices that hold j zeros are indices of degree d − j in x, those with more zeros first, so the moments of
    degree d are those of x of all degrees up to d, one after the other.

    >>> with_constant(sh.IID.uniform(2)).moments(2)        # 1, E x₁, E x₂, E x₁², E x₁x₂, E x₂²
    array([1., 0., 0., 1., 0., 1.])
    """

    def __init__(self, law: Distribution) -> None:
        self.law = law
        self.n = law.n + 1

    def moments(self, degree: int) -> Array:
        """E x^I of all degrees up to this one."""
        return np.concatenate([self.law.moments(j) for j in range(degree + 1)])

    def exact_moments(self, degree: int) -> NDArray[Any] | None:
        """The same as fractions, when x knows its own."""
        parts = [self.law.exact_moments(j) for j in range(degree + 1)]
        known = [part for part in parts if part is not None]
        return np.concatenate(known) if len(known) == len(parts) else None

    def kernel(self, left: Activation, right: Activation) -> Kernel:
        """Polynomials: through the cumulants of x where it has them, moved by the bias; else through moments."""
        if isinstance(left, PolynomialActivation) and isinstance(right, PolynomialActivation):
            inner = self.law.cumulants(left.degree + right.degree)
            if inner is not None:
                law: Cumulants = ShiftedCumulants(inner)
                return PriceKernel(law, PolynomialExpectations(law, mixing(left, right)))
        return super().kernel(left, right)

    @property
    def sample_law(self) -> str:
        """That of x, with a constant."""
        return f"1, and {self.law.sample_law}"

    def sample(self, count: int, rng: int | np.random.Generator = 0) -> Array:
        """Draws of x behind a column of ones."""
        drawn = self.law.sample(count, rng)
        return np.column_stack([np.ones(len(drawn)), drawn])

    def construction(self) -> Construction:
        """WithConstant(law)."""
        return self.constructed(law=self.law)

    def __repr__(self) -> str:
        return f"(1, {self.law!r})"
