"""The metric under which powers on n + 1 inputs are the neurons of a polynomial activation on n inputs.

a p(w·x), p(z) = Σ c_j z^j, has the parts a c_j w^⊗j: those of degree j of the power a (1, w)^⊗d, times c_j. So with the
inner product sᵀ C G C t, C = diag(c_j), powers in n + 1 inputs are the networks, while no c_j is zero.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.model.activations import Activation, Power
from shallows.model.data.base import Distribution, InnerProduct
from shallows.model.data.metric import ONE_DEGREE
from shallows.model.kernels.base import Kernel, no_kernel
from shallows.model.kernels.metric import MetricKernel
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem


class EquivalentMetric(InnerProduct):
    """C G C on Sym^d(R^(n+1)), as fractions, with its own b; `law` is that of the n inputs."""

    def __init__(self, law: Distribution, degree: int, gram: NDArray[Any], right: NDArray[Any]) -> None:
        self.law, self.degree, self.n = law, degree, law.n + 1
        self._exact, self._right = gram, right
        self._gram = np.asarray(gram.astype(np.float64))

    def gram(self, degree: int) -> Array:
        """C G C, for the one degree it is about."""
        self._require(degree)
        return self._gram

    def exact_gram(self, degree: int) -> NDArray[Any]:
        """The same as fractions."""
        self._require(degree)
        return self._exact

    def exact_right(self) -> NDArray[Any]:
        """b of the polynomial problem, times C."""
        return self._right

    def with_right_times(self, factor: Fraction) -> EquivalentMetric:
        """The same metric with the target times a factor."""
        return EquivalentMetric(self.law, self.degree, self._exact, self._right * factor)

    def _require(self, degree: int) -> None:
        if degree != self.degree:
            raise InvalidProblem(f"{self!r} is on tensors of degree {self.degree}, not {degree}.")

    def kernel(self, left: Activation, right: Activation) -> Kernel:
        """τ(w)ᵀ C G C τ(v), for powers of this degree."""
        if not isinstance(left, Power) or left != right or left.degree != self.degree:
            raise no_kernel(left, right, self, ONE_DEGREE)
        return MetricKernel(self._gram, self.n, self.degree, self.degree)

    def affine_invariance(self, degree: int) -> Array | None:
        """That of the n inputs, where rotations leave their law alone at every degree."""
        parts = [self.law.rotation_invariance(j) for j in range(1, degree + 1)]
        if any(part is None or part.family != "Gaussian" for part in parts):
            return None
        covariance = parts[0].covariance if parts[0] is not None else None
        return np.eye(self.law.n) if covariance is None else covariance

    def __repr__(self) -> str:
        return f"EquivalentMetric(n={self.n}, degree={self.degree}, of {self.law!r})"
