"""Mixtures Σ γᵢ Dᵢ (paper 000, equation 18)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.model.activations import Activation
from shallows.model.data.base import Distribution
from shallows.model.data.rotation_invariance import RotationInvariance, mixed
from shallows.model.data.with_constant import with_constant
from shallows.model.kernels.base import Kernel
from shallows.model.kernels.mixture import MixtureKernel
from shallows.support.arguments import typed
from shallows.support.checks import Array, finite_array, positive_integer
from shallows.support.construction import Construction
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

if TYPE_CHECKING:
    from shallows.model.data.gaussian import Gaussian

#: How far weights may sum from one: below the √ε = 1.5e-8 that NumPy's `choice` allows when a part is drawn.
SUM_TO_ONE = 1e-9


class Mixture(Distribution):
    """x drawn from parts[i] with probability weights[i]; parts may be mixtures themselves.

    Moments, and with them Gram matrices and kernels, are averages: M = Σ γᵢ Mᵢ (paper 000, equation 18).

    >>> clusters = [sh.Gaussian(2, mean=[2.0, 0.0]), sh.Gaussian(2, mean=[-2.0, 0.0])]
    >>> sh.Mixture([0.5, 0.5], clusters).moments(2)     # E x₁², E x₁x₂, E x₂²
    array([5., 0., 1.])
    """

    @typed
    def __init__(self, weights: ArrayLike, parts: Sequence[Distribution]) -> None:
        self.weights = finite_array("weights", weights, 1)
        self.parts = tuple(parts)
        if len(self.parts) != len(self.weights) or not self.parts:
            raise InvalidProblem(
                f"{len(self.weights)} weights for {len(self.parts)} parts; expected one weight a part."
            )
        for i, part in enumerate(self.parts):
            if not isinstance(part, Distribution):
                raise InvalidProblem(
                    f"part {i} is {part!r}; a mixture is made of distributions (Frobenius and Metric are none)."
                )
        if np.any(self.weights < 0) or abs(self.weights.sum() - 1.0) > SUM_TO_ONE:
            raise InvalidProblem(
                f"weights are {self.weights.tolist()}, with sum {self.weights.sum():.6g}; expected non-negative "
                "numbers with sum 1."
            )
        if len({part.n for part in self.parts}) != 1:
            raise InvalidProblem(
                f"the parts have dimensions {[part.n for part in self.parts]}; expected one dimension."
            )
        self.n = self.parts[0].n

    def in_words(self) -> str:
        """A mixture of laws."""
        return "a mixture of laws"

    def sentence(self) -> str:
        """Its parts."""
        parts = (f"{weight:.3g} × {part!r}" for weight, part in zip(self.weights, self.parts, strict=True))
        return f"x is a mixture: {', '.join(parts)}."

    def moments(self, degree: int) -> Array:
        """Σ γᵢ E_{Dᵢ}[x^I]."""
        return np.asarray(
            sum(w * part.moments(degree) for w, part in zip(self.weights, self.parts, strict=True))
        )

    def exact_moments(self, degree: int) -> NDArray[Any] | None:
        """Σ γᵢ E_{Dᵢ}[x^I] in rational arithmetic, when all parts know theirs."""
        known = [moments for part in self.parts if (moments := part.exact_moments(degree)) is not None]
        if len(known) < len(self.parts):
            return None
        weights = [Fraction(weight) for weight in self.weights.tolist()]
        return np.asarray(sum(weight * moments for weight, moments in zip(weights, known, strict=True)))

    def lifted(self) -> Mixture:
        """The mixture of the parts, each with the constant."""
        return Mixture(self.weights, [with_constant(part) for part in self.parts])

    def gaussian_parts(self) -> list[tuple[float, Gaussian]] | None:
        """Those of all parts, when all have them."""
        found: list[tuple[float, Gaussian]] = []
        for weight, part in zip(self.weights.tolist(), self.parts, strict=True):
            inner = part.gaussian_parts()
            if inner is None:
                return None
            found += [(weight * share, gaussian) for share, gaussian in inner]
        return found

    def rotation_invariance(self, degree: int) -> RotationInvariance | None:
        """κ = Σ γᵢ cᵢ^d κᵢ, when the parts are rotation-invariant in one variable."""
        return mixed(self.weights, [part.rotation_invariance(degree) for part in self.parts])

    def coordinate_moments(self, order: int) -> Array | None:
        """Those of the only part; a mixture of independent coordinates is not independent."""
        return self.parts[0].coordinate_moments(order) if len(self.parts) == 1 else None

    def kernel(self, left: Activation, right: Activation) -> Kernel:
        """Σ γᵢ kᵢ; the Gaussian one when it is one Gaussian."""
        gaussian = self.as_gaussian()
        if gaussian is not None:
            return gaussian.kernel(left, right)
        return MixtureKernel(self.weights, [part.kernel(left, right) for part in self.parts])

    @property
    def sample_law(self) -> str:
        """What each part draws from."""
        return "a mixture of: " + "; ".join(part.sample_law for part in self.parts)

    def sample(self, count: int, rng: int | np.random.Generator = 0) -> Array:
        """Each draw picks a part, then draws from it."""
        source = generator(rng)
        choice = source.choice(len(self.parts), size=positive_integer("count", count, 0), p=self.weights)
        result = np.empty((len(choice), self.n))
        for i, part in enumerate(self.parts):
            result[choice == i] = part.sample(int(np.sum(choice == i)), source)
        return result

    def construction(self) -> Construction:
        """Mixture(weights, parts)."""
        return self.constructed(weights=self.weights, parts=self.parts)

    def __repr__(self) -> str:
        return f"Mixture({self.weights.tolist()}, {list(self.parts)!r})"
