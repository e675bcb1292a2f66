"""What a problem needs of its data: an inner product on Sym^d(R^n), and, for distributions, moments and samples.

A law answers for itself. What is special about it (it is Gaussian under another name, it is rotation-invariant, its
moments are rational, …) is asked here and answered in the law's own file; "None" is always a right answer, at the price
of slower methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Activation, PolynomialActivation
from shallows.model.data.gaussian_line import GaussianLine, line_through
from shallows.model.data.rotation_invariance import RotationInvariance
from shallows.model.kernels.base import Kernel, no_kernel
from shallows.model.kernels.metric import MetricKernel
from shallows.model.kernels.mixture import MixtureKernel
from shallows.model.kernels.price import Cumulants
from shallows.support.budget import require
from shallows.support.checks import Array, describe, is_tensor, positive_integer
from shallows.support.construction import Constructed
from shallows.support.errors import InvalidProblem

if TYPE_CHECKING:
    from shallows.model.data.gaussian import Gaussian
    from shallows.model.data.samples import Samples


class InnerProduct(Constructed, ABC):
    """An inner product on Sym^d(R^n), as its Gram matrix on the entries T_{i1≤…≤id}."""

    n: int

    @abstractmethod
    def gram(self, degree: int) -> Array:
        """G with ⟨S, T⟩ = sᵀ G t, shape (N, N), N = C(n+d−1, d)."""

    def in_words(self) -> str:
        """A few words for headings: "Gaussian data"; the name of the class for those that say nothing of themselves."""
        return type(self).__name__

    def sentence(self) -> str:
        """What x is, or the norm, for readers; the printed form for those that say nothing of themselves."""
        return f"{self!r}"

    def telling_moments(self) -> dict[int, float]:
        """E x_i^k for the k that tell the law of one coordinate from others; none where coordinates have no law."""
        return {}

    def cross_gram(self, left: int, right: int) -> Array:
        """G with ⟨S, T⟩ = sᵀ G t for S of degree `left` and T of degree `right`: distributions have it for all."""
        if left != right:
            raise InvalidProblem(
                f"{self!r} is an inner product of tensors of one degree, so the activation must be Power({right}) "
                f"like the target; degrees {left} and {right} were asked for."
            )
        return self.gram(left)

    def kernel(self, left: Activation, right: Activation) -> Kernel:
        """E[σ(w·x) τ(v·x)] of σ = left and τ = right, or an `InvalidProblem` that lists what exists."""
        raise no_kernel(left, right, self)

    def exact_gram(self, degree: int) -> NDArray[Any]:
        """G as fractions where the moments are known exactly; the doubles of `gram` otherwise.

        A theorem about Gaussian metrics is no theorem about their rounded Gram matrices: proofs use this one.
        """
        return self.gram(degree)

    def rotation_invariance(self, degree: int) -> RotationInvariance | None:
        """In which variable rotations leave the metric at this degree alone; None when they are not known to."""
        gaussian = self.as_gaussian()
        return None if gaussian is None else gaussian.rotation_invariance(degree)

    def affine_invariance(self, degree: int) -> Array | None:
        """The covariance of the inputs but the first, which stands for the constant 1, where after whitening rotations
        of them leave the metric alone; None when they are not known to."""
        return None

    def exact_right(self) -> NDArray[Any] | None:
        """b = E[y x^⊗d] as fractions, where an inner product comes with its own target; None for most."""
        return None

    def with_right_times(self, factor: Fraction) -> InnerProduct | None:
        """The inner product with b times a factor: itself where it has no b of its own, None where b is fixed."""
        return self if self.exact_right() is None else None

    def exact_known(self) -> NDArray[Any] | None:
        """A t with Gt = `exact_right()`, where G vanishes somewhere and t cannot be solved for; None for most."""
        return None

    def gaussian_parts(self) -> list[tuple[float, Gaussian]] | None:
        """The law as a mixture of Gaussians, (weight, part) each; None when it is not known to be one."""
        return None

    def as_gaussian(self) -> Gaussian | None:
        """The same law as a `Gaussian`, under whatever name it came; None when it is not known to be one."""
        parts = self.gaussian_parts()
        if parts is None:
            return None
        first = parts[0][1]
        return first if all(first.same_as(part) for _, part in parts) else None

    def gaussian_line(self) -> GaussianLine | None:
        """The law as a Gaussian moved along a line through the origin; None when it is not known to be one."""
        parts = self.gaussian_parts()
        return None if parts is None else line_through(parts)

    def coordinate_moments(self, order: int) -> Array | None:
        """[1, E x_i, …, E x_i^order] for independent coordinates of one law; None when they are not known to be."""
        return None

    def as_samples(self) -> Samples | None:
        """The data as `Samples`, when expectations are means over samples."""
        return None

    def lifted(self) -> Distribution | None:
        """The law of (1, x) where it has a name, as for Gaussians and samples; `with_constant` has it for all."""
        return None

    def vanishing_polynomial(self, degree: int) -> SymmetricTensor | None:
        """A form of this degree that is known to have norm zero; None when none is known."""
        return None


class Distribution(InnerProduct):
    """A probability distribution on R^n: ⟨S, T⟩ = E[S(x) T(x)] (paper 000, equations 11 and 13)."""

    @abstractmethod
    def moments(self, degree: int) -> Array:
        """E[x^I] for all I of this degree in lexicographic order: the entries of the moment tensor E[x^⊗degree]."""

    @abstractmethod
    def sample(self, count: int, rng: int | np.random.Generator = 0) -> Array:
        """`count` independent draws, shape (count, n), from an explicit seed or generator."""

    @property
    def sample_law(self) -> str:
        """What `sample` draws from, in words."""
        return f"the distribution itself, {self!r}"

    def cross_gram(self, left: int, right: int) -> Array:
        """G_IJ = mult(I) mult(J) E[x^(I+J)] for I of degree `left`, J of degree `right`."""
        if left < 0 or right < 0:
            raise InvalidProblem(f"degrees are ({left}, {right}); expected non-negative integers.")
        for degree in (left, right):
            coordinates.require_storable(self.n, degree, coordinates.FACTORS)
        places = coordinates.product_table(self.n, left, right)
        scale = np.outer(coordinates.multiplicities(self.n, left), coordinates.multiplicities(self.n, right))
        return np.asarray(scale * self.moments(left + right)[places])

    def gram(self, degree: int) -> Array:
        """G_IJ = mult(I) mult(J) E[x^(I+J)]."""
        degree = positive_integer("degree", degree)
        return self.cross_gram(degree, degree)

    def exact_moments(self, degree: int) -> NDArray[Any] | None:
        """`moments` as fractions, exactly; None when they are known as doubles only."""
        return None

    def exact_gram(self, degree: int) -> NDArray[Any]:
        """G_IJ = mult(I) mult(J) E[x^(I+J)] as fractions where `exact_moments` has them."""
        moments = self.exact_moments(2 * degree)
        if moments is None:
            return self.gram(degree)
        weights = coordinates.multiplicities(self.n, degree).astype(int).astype(object)
        places = coordinates.product_table(self.n, degree, degree)
        return np.asarray(np.outer(weights, weights) * moments[places])

    def kernel(self, left: Activation, right: Activation) -> Kernel:
        """Polynomials through moment tensors: Σ c_i c′_j τ(w)ᵀ G_ij τ(v), G_ij = `cross_gram(i, j)`."""
        if not (isinstance(left, PolynomialActivation) and isinstance(right, PolynomialActivation)):
            raise no_kernel(left, right, self)
        terms = [
            (c * b, MetricKernel(self.cross_gram(i, j), self.n, i, j))
            for i, c in enumerate(left.coefficients)
            for j, b in enumerate(right.coefficients)
            if c != 0 and b != 0
        ]
        if len(terms) == 1 and terms[0][0] == 1:
            return terms[0][1]
        return MixtureKernel([weight for weight, _ in terms], [part for _, part in terms])

    def cumulants(self, order: int) -> Cumulants | None:
        """The cumulants of (w·x, v·x) up to this order, where they are cheaper than moment tensors."""
        return None

    def moment_matrix(self, degree: int) -> Array:
        """mat(M_{D,2d}), the n^d × n^d matrix of moments of paper 000, equation 13 and Example 22."""
        degree = positive_integer("degree", degree)
        coordinates.require_storable(self.n, 2 * degree)
        size = self.n**degree
        require(f"The moment matrix, {size:,} × {size:,},", size=16.0 * size**2, fix="Use gram(degree).")
        grid = np.indices((self.n,) * (2 * degree)).reshape(2 * degree, -1).T
        places = coordinates.position(np.sort(grid, axis=1).astype(np.intp), self.n)
        return np.asarray(self.moments(2 * degree)[places].reshape(size, size))


def as_inner_product(value: Any) -> InnerProduct:
    """The value if it is one of the data classes; a typed error otherwise."""
    if isinstance(value, InnerProduct):
        return value
    fix = ""
    if isinstance(value, type) and issubclass(value, InnerProduct):
        fix = f" Fix: {value.__name__}(n, ...)"
    elif isinstance(value, int):
        fix = f" Fix: Gaussian({value})"
    elif is_tensor(value) or np.ndim(value) == 2:
        fix = " Fix: Samples(X), or Samples(X, y) with labels"
    raise InvalidProblem(
        f"data is {describe(value)}; expected Gaussian, IID, Radial, Sphere, Mixture, Samples, Frobenius or Metric."
        f"{fix}"
    )
