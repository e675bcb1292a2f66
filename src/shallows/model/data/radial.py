"""Rotation-invariant data x = ρ u, u uniform on the sphere (paper 000, equations 14 and 15)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.model.activations import Activation, PolynomialActivation
from shallows.model.data.base import Distribution
from shallows.model.data.gaussian import Gaussian
from shallows.model.data.moment_sequence import checked_moments, gauss_law
from shallows.model.data.rotation_invariance import RotationInvariance
from shallows.model.kernels.base import Kernel, no_kernel
from shallows.model.kernels.gaussian import GaussianCumulants
from shallows.model.kernels.polynomial import PolynomialExpectations, mixing
from shallows.model.kernels.price import PriceKernel
from shallows.support.checks import Array, counted, positive_integer
from shallows.support.construction import Construction
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator


class Radial(Distribution):
    """x = ρ u with a random radius ρ ≥ 0 of moments [1, E ρ, E ρ², …] and u uniform on the unit sphere.

    Its moments of order 2d are those of N(0, I) times E ρ^2d / (n(n+2)⋯(n+2d−2)) (paper 000, equation 14), so that its
    landscape at degree d is the Gaussian one up to that factor.

    >>> data = sh.Radial(2, radial_moments=[1.0, 1.5, 3.0, 6.5, 16.0])
    >>> data.gaussian_ratio(4)                  # 16 / (2·4)
    2.0
    >>> data.gram(2)                            # twice that of `Gaussian(2)`
    array([[6., 0., 2.],
           [0., 8., 0.],
           [2., 0., 6.]])
    """

    def __init__(self, n: int, radial_moments: Sequence[float]) -> None:
        self.n = positive_integer("n", n)
        self._radial = checked_moments("radial_moments", radial_moments, nonnegative=True)

    def in_words(self) -> str:
        """Rotation-invariant data."""
        return "rotation-invariant data"

    def sentence(self) -> str:
        """How the law is given."""
        dimensions = counted(self.n, "dimension")
        return f"x has a rotation-invariant law in {dimensions}, given by its radial moments."

    def radial_moment(self, order: int) -> float:
        """E ρ^order."""
        if order >= len(self._radial):
            raise InvalidProblem(
                f"E ρ^{order} is needed, but radial moments were given only up to order {len(self._radial) - 1}. "
                f"Fix: Radial(n, [1, E ρ, ..., E ρ^{order}])."
            )
        return float(self._radial[order])

    def gaussian_ratio(self, order: int) -> float:
        """E ρ^order / E‖g‖^order for even orders, g standard normal: E‖g‖^{2k} = n(n+2)⋯(n+2k−2)."""
        if order == 0:
            return 1.0
        return self.radial_moment(order) / prod(range(self.n, self.n + order, 2))

    def moments(self, degree: int) -> Array:
        """The standard Gaussian's moments times E ρ^degree / E‖g‖^degree; zero for odd degrees."""
        standard = Gaussian(self.n).moments(degree)
        return standard if degree % 2 else standard * self.gaussian_ratio(degree)

    def exact_moments(self, degree: int) -> NDArray[Any]:
        """The same in rational arithmetic, from the radial moment as it was given."""
        standard = Gaussian(self.n).exact_moments(degree)
        if degree % 2 or degree == 0:
            return standard
        ratio = Fraction(self.radial_moment(degree)) / prod(range(self.n, self.n + degree, 2))
        return np.asarray(standard * ratio)

    def rotation_invariance(self, degree: int) -> RotationInvariance:
        """κ = E ρ^{2d} / E‖g‖^{2d}."""
        return RotationInvariance("Gaussian", degree, self.gaussian_ratio(2 * degree))

    def kernel(self, left: Activation, right: Activation) -> Kernel:
        """Polynomials: the Gaussian kernel with every E[(w·x)^i (v·x)^j] times E ρ^{i+j} / E‖g‖^{i+j}."""
        if not (isinstance(left, PolynomialActivation) and isinstance(right, PolynomialActivation)):
            raise no_kernel(left, right, self)
        weights = mixing(left, right)
        for i, j in np.argwhere(weights != 0):
            weights[i, j] *= self.gaussian_ratio(int(i + j)) if (i + j) % 2 == 0 else 0.0
        law = GaussianCumulants(np.zeros(self.n), None)
        return PriceKernel(law, PolynomialExpectations(law, weights))

    @property
    def sample_law(self) -> str:
        """The Gauss-quadrature law of the radius, times a uniform direction."""
        nodes, _ = gauss_law(self._radial, nonnegative=True)
        return (
            f"a uniform direction times the Gauss-quadrature law of ρ with these moments: {len(nodes)} atoms, "
            f"moments exact to order {len(self._radial) - 1}"
        )

    def _radii(self, count: int, source: np.random.Generator) -> Array:
        nodes, weights = gauss_law(self._radial, nonnegative=True)
        return np.asarray(source.choice(np.maximum(nodes, 0.0), size=count, p=weights / weights.sum()))

    def sample(self, count: int, rng: int | np.random.Generator = 0) -> Array:
        """Uniform directions times radii from the Gauss-quadrature law with the given moments."""
        source = generator(rng)
        g = source.standard_normal((positive_integer("count", count, 0), self.n))
        return np.asarray(self._radii(len(g), source)[:, None] * g / np.linalg.norm(g, axis=1, keepdims=True))

    def construction(self) -> Construction:
        """Radial(n, radial_moments)."""
        return self.constructed(n=self.n, radial_moments=self._radial)

    def __repr__(self) -> str:
        return f"Radial({self.n}, radial_moments={[float(f'{m:.6g}') for m in self._radial]})"


class Sphere(Radial):
    """Uniform on the unit sphere: `Radial` with ρ = 1.

    >>> sh.Sphere(3).moments(2) * 3             # E x xᵀ = I/3, its entries 11, 12, 13, 22, 23, 33
    array([1., 0., 0., 1., 0., 1.])
    >>> f"{sh.Sphere(3).moments(4)[0]:.6f}"     # E x₁⁴ = 3/(n(n+2))
    '0.200000'
    """

    def __init__(self, n: int) -> None:
        self.n = positive_integer("n", n)

    def in_words(self) -> str:
        """Data on the sphere."""
        return "data on the sphere"

    def sentence(self) -> str:
        """Which sphere."""
        return f"x is uniform on the unit sphere of ℝ^{self.n}."

    def radial_moment(self, order: int) -> float:
        """1, at any order."""
        return 1.0

    @property
    def sample_law(self) -> str:
        """The law itself."""
        return "the uniform law on the unit sphere"

    def _radii(self, count: int, source: np.random.Generator) -> Array:
        return np.ones(count)

    def construction(self) -> Construction:
        """Sphere(n)."""
        return self.constructed(n=self.n)

    def __repr__(self) -> str:
        return f"Sphere({self.n})"
