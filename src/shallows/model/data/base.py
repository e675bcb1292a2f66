"""What a problem needs of its data: an inner product on Sym^d(R^n), and, for distributions, moments and samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.support.checks import Array, positive_integer
from shallows.support.construction import Constructed
from shallows.support.errors import InvalidProblem

LARGEST_GRAM = 6_000


class InnerProduct(Constructed, ABC):
    """An inner product on Sym^d(R^n), as its Gram matrix on the entries T_{i1≤…≤id}."""

    n: int

    @abstractmethod
    def gram(self, degree: int) -> Array:
        """G with ⟨S, T⟩ = sᵀ G t, shape (N, N), N = C(n+d−1, d)."""


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
            coordinates.require_storable(self.n, degree, LARGEST_GRAM)
        places = coordinates.product_table(self.n, left, right)
        scale = np.outer(coordinates.multiplicities(self.n, left), coordinates.multiplicities(self.n, right))
        return np.asarray(scale * self.moments(left + right)[places])

    def gram(self, degree: int) -> Array:
        """G_IJ = mult(I) mult(J) E[x^(I+J)]."""
        degree = positive_integer("degree", degree)
        return self.cross_gram(degree, degree)

    def moment_matrix(self, degree: int) -> Array:
        """mat(M_{D,2d}), the n^d × n^d matrix of moments of paper 000, equation 13 and Example 22."""
        degree = positive_integer("degree", degree)
        coordinates.require_storable(self.n, 2 * degree)
        size = self.n**degree
        if size > LARGEST_GRAM:
            raise InvalidProblem(f"The moment matrix would be {size:,} × {size:,}; use gram(degree) instead.")
        grid = np.indices((self.n,) * (2 * degree)).reshape(2 * degree, -1).T
        places = coordinates.position(np.sort(grid, axis=1).astype(np.intp), self.n)
        return np.asarray(self.moments(2 * degree)[places].reshape(size, size))


def as_inner_product(value: Any) -> InnerProduct:
    """The value if it is one of the data classes; a typed error otherwise."""
    if isinstance(value, InnerProduct):
        return value
    raise InvalidProblem(
        f"data is {value!r}; expected Gaussian, IID, Radial, Sphere, Mixture, Samples, Frobenius or Metric."
    )
