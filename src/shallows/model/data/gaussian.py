"""x ~ N(m, Σ)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.mathematics.tensors import coordinates
from shallows.model.activations import Activation, PolynomialActivation, ReLU
from shallows.model.data.base import Distribution
from shallows.model.data.rotation_invariance import RotationInvariance, multiple_of, symmetric_root
from shallows.model.kernels.base import Kernel
from shallows.model.kernels.gaussian import GaussianCumulants
from shallows.model.kernels.hermite import HermiteExpectations
from shallows.model.kernels.moved_relu import MovedReLUKernel
from shallows.model.kernels.polynomial import PolynomialExpectations, mixing
from shallows.model.kernels.price import PriceKernel
from shallows.model.kernels.relu import ReLUKernel
from shallows.support.budget import require
from shallows.support.checks import Array, counted, finite_array, positive_integer, symmetric_matrix
from shallows.support.construction import Construction
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

#: Seconds for the eigenvalues of an n × n matrix, over n³, measured; and matrices that are held while it is checked.
EIGENVALUE_SECONDS, MATRICES = 1.5e-10, 5
#: How negative the smallest eigenvalue of a covariance may be, relative to the largest: n·ε for n up to 4,500, what
#: rounding makes of zero.
INDEFINITE = 1e-12


class Gaussian(Distribution):
    """N(mean, covariance) on R^n; standard by default. The covariance may be singular, not indefinite.

    Moments are Isserlis' sums over pairings: E[x_i x_j x_k x_l] = Σ_ij Σ_kl + Σ_ik Σ_jl + Σ_il Σ_jk when centred
    (paper 000, equations 15 and 17).

    >>> sh.Gaussian(2).moment_matrix(2)         # paper 000, Example 22
    array([[3., 0., 0., 1.],
           [0., 1., 1., 0.],
           [0., 1., 1., 0.],
           [1., 0., 0., 3.]])
    """

    def __init__(self, n: int, covariance: ArrayLike | None = None, mean: ArrayLike | None = None) -> None:
        self.n = positive_integer("n", n)
        require(
            f"A Gaussian in {self.n:,} variables",
            seconds=EIGENVALUE_SECONDS * float(self.n) ** 3,
            size=MATRICES * 8.0 * float(self.n) ** 2,
        )
        self.covariance = self._checked_covariance(covariance)
        self.mean = finite_array("mean", np.zeros(self.n) if mean is None else mean, 1)
        if len(self.mean) != self.n:
            raise InvalidProblem(f"mean has {len(self.mean)} entries; expected n = {self.n}.")

    def _checked_covariance(self, given: ArrayLike | None) -> Array:
        if given is None:
            return np.eye(self.n)
        if np.ndim(given) < 2:
            shown = "np.diag(covariance)" if np.ndim(given) else f"covariance * np.eye({self.n})"
            raise InvalidProblem(
                f"covariance has shape {np.shape(given)}; expected a matrix of shape ({self.n}, {self.n}). Fix: {shown}"
            )
        covariance = symmetric_matrix("covariance", given)
        if len(covariance) != self.n:
            raise InvalidProblem(f"covariance has shape {covariance.shape}; expected ({self.n}, {self.n}).")
        lowest, highest = np.linalg.eigvalsh(covariance)[[0, -1]]
        if lowest < -INDEFINITE * max(1.0, highest):
            raise InvalidProblem(
                f"covariance is indefinite: its smallest eigenvalue is {lowest:.6g}; expected a positive "
                "semidefinite matrix."
            )
        return covariance

    def construction(self) -> Construction:
        """Gaussian(n, covariance, mean), what is standard left out."""
        covariance = None if self.white else self.covariance
        return self.constructed(n=self.n, covariance=covariance, mean=None if self.centred else self.mean)

    @property
    def white(self) -> bool:
        """Whether the covariance is the identity."""
        return np.array_equal(self.covariance, np.eye(self.n))

    def in_words(self) -> str:
        """Gaussian data, or correlated ones."""
        return "Gaussian data" if self.white and self.centred else "correlated Gaussian data"

    def sentence(self) -> str:
        """Standard normal, or not."""
        law = "standard normal" if self.white and self.centred else "normal with a given mean and covariance"
        return f"x is {law} in {counted(self.n, 'dimension')}."

    @property
    def centred(self) -> bool:
        """Whether the mean is zero."""
        return not self.mean.any()

    def root(self) -> Array:
        """The symmetric square root Σ^{1/2}."""
        return symmetric_root(self.covariance)

    def same_as(self, other: Gaussian) -> bool:
        """Whether it is the same law, to the last bit."""
        return np.array_equal(self.mean, other.mean) and np.array_equal(self.covariance, other.covariance)

    def gaussian_parts(self) -> list[tuple[float, Gaussian]]:
        """Itself."""
        return [(1.0, self)]

    def rotation_invariance(self, degree: int) -> RotationInvariance | None:
        """Centred Gaussians, in the variable Σ^½w; N(0, cI) needs no change of variable: κ = c^d."""
        if not self.centred:
            return None
        variance = multiple_of(self.covariance, np.eye(self.n))
        if variance is None:
            return RotationInvariance("Gaussian", degree, 1.0, self.covariance)
        return RotationInvariance("Gaussian", degree, variance**degree)

    def coordinate_moments(self, order: int) -> Array | None:
        """Those of N(m, c), for N(m1, cI)."""
        if multiple_of(self.covariance, np.eye(self.n)) is None or np.any(self.mean != self.mean[0]):
            return None
        one = self.mean[:1], self.covariance[:1, :1]
        return np.array([isserlis(*one, k)[0] for k in range(order + 1)])

    def kernel(self, left: Activation, right: Activation) -> Kernel:
        """Polynomials by Isserlis, ReLU by angles (and orthants, for a mean), any other pair by Hermite series."""
        law = GaussianCumulants(self.mean, None if self.white else self.covariance)
        if isinstance(left, PolynomialActivation) and isinstance(right, PolynomialActivation):
            return PriceKernel(law, PolynomialExpectations(law, mixing(left, right)))
        if isinstance(left, ReLU) and isinstance(right, ReLU):
            root = None if self.white else self.root()
            return ReLUKernel(root) if self.centred else MovedReLUKernel(self.mean, root)
        return PriceKernel(law, HermiteExpectations(law, left, right))

    def lifted(self) -> Gaussian:
        """N((1, m), diag(0, Σ))."""
        covariance = np.zeros((self.n + 1, self.n + 1))
        covariance[1:, 1:] = self.covariance
        return Gaussian(self.n + 1, covariance, np.concatenate([[1.0], self.mean]))

    def moments(self, degree: int) -> Array:
        """E[x^K] for all K of this degree."""
        coordinates.require_storable(self.n, degree)
        return isserlis(self.mean, self.covariance, degree)

    def exact_moments(self, degree: int) -> NDArray[Any]:
        """E[x^K] by Isserlis in rational arithmetic."""
        fractions = np.vectorize(Fraction, otypes=[object])
        return isserlis(fractions(self.mean), fractions(self.covariance), degree)

    def sample(self, count: int, rng: int | np.random.Generator = 0) -> Array:
        """m + Σ^{1/2} z with z standard normal."""
        z = generator(rng).standard_normal((positive_integer("count", count, 0), self.n))
        return z if self.white and self.centred else self.mean + z @ self.root()

    def __repr__(self) -> str:
        extra = "" if self.white else ", covariance=…"
        return f"Gaussian({self.n}{extra}{'' if self.centred else ', mean=…'})"


def isserlis(mean: NDArray[Any], covariance: NDArray[Any], degree: int) -> NDArray[Any]:
    """E[x^K] by Isserlis' recursion on the first index i of K, in floating point or, for objects, in their arithmetic.

    E[x_i x^L] = m_i E[x^L] + Σ_{l ∈ L} Σ_{i,l} E[x^{L∖l}].
    """
    n = len(mean)
    previous, current = np.zeros(0, mean.dtype), np.ones(1, mean.dtype)
    for d in range(1, degree + 1):
        table = coordinates.indices(n, d)
        first, rest = table[:, 0], table[:, 1:]
        places, left_out = coordinates.pair_table(n, d)
        following = mean[first] * current[places]
        for slot in range(d - 1):
            following = following + covariance[first, rest[:, slot]] * previous[left_out[slot]]
        previous, current = current, following
    return current
