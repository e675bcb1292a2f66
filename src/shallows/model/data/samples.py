"""Data given as samples: expectations are means (empirical risk, paper 000, equation 12)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.mathematics.numerical_rank import rank_of
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Activation
from shallows.model.data.base import Distribution
from shallows.model.kernels.base import Kernel
from shallows.model.kernels.empirical import EmpiricalKernel
from shallows.support.checks import Array, counted, finite_array, noun_for, positive_integer
from shallows.support.construction import Construction
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

#: Samples whose features are held at once.
CHUNK = 4096
#: Relative size below which a singular value of the evaluation matrix is zero: the rounding of singular values,
#: max(count, N)·ε, stays below it up to 45,000 samples.
VANISHING = 1e-11


class Samples(Distribution):
    """The empirical distribution of the rows of X, with labels y of shape (count,) or (count, M) if given.

    Expectations are means, ⟨g, h⟩ = (1/N) Σ g(xᵢ) h(xᵢ) (paper 000, equation 12); that is an inner product on
    Sym^d(R^n) unless some polynomial of degree d vanishes on all samples (Prop. 20).

    >>> data = sh.Samples([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], y=[1.0, 4.0, 9.0])
    >>> data.is_nondegenerate(2)                # three samples, dim Sym²(R²) = 3
    True
    >>> loss = sh.Problem(None, data, width=1).loss(sh.Network([[1.0, 2.0]]))
    >>> f"{loss:.6f}"                           # y = (x₁ + 2x₂)²
    '0.000000'
    >>> sh.Samples([[1.0, 0.0], [0.0, 1.0]]).vanishing_polynomial(2).polynomial(digits=4)
    '1.414*x1*x2'

    With `weights`, not negative and normalised to mean 1, means are weighted: an integer weight is so many copies.

    >>> sh.Samples([[1.0], [2.0]], weights=[3, 1]).moments(2), sh.Samples([[1.0], [1.0], [1.0], [2.0]]).moments(2)
    (array([1.75]), array([1.75]))
    """

    def __init__(self, X: ArrayLike, y: ArrayLike | None = None, weights: ArrayLike | None = None) -> None:
        self.X = finite_array("X", X, 2, "one sample a row; X[:, None] for samples of one input")
        if 0 in self.X.shape:
            raise InvalidProblem(f"X has shape {self.X.shape}; expected at least one sample and one input.")
        self.n = int(self.X.shape[1])
        self.y = None if y is None else finite_array("y", y, (1, 2))
        if self.y is not None and (len(self.y) != len(self.X) or 0 in self.y.shape):
            raise InvalidProblem(
                f"y has shape {self.y.shape} for {counted(len(self.X), 'sample')}, the rows of X; expected "
                f"({len(self.X)},) or ({len(self.X)}, M).{' Fix: X.T' if len(self.y) == self.n else ''}"
            )
        self.given = None if weights is None else _checked_weights(weights, len(self.X))
        self.weights = None if self.given is None else self.given / self.given.mean()

    @property
    def count(self) -> int:
        """The number of samples."""
        return len(self.X)

    def in_words(self) -> str:
        """How many there are."""
        return counted(self.count, "sample")

    def sentence(self) -> str:
        """How many there are, and where."""
        samples = f"{self.count:,} {noun_for(self.count, 'sample')}"
        return f"x runs over {samples} in {counted(self.n, 'dimension')}."

    def as_samples(self) -> Samples:
        """Itself."""
        return self

    def lifted(self) -> Samples:
        """The same samples behind a column of ones, with their labels."""
        return Samples(np.column_stack([np.ones(self.count), self.X]), self.y, self.given)

    def weighted(self, values: Array, rows: slice = slice(None)) -> Array:
        """Values with one row a sample, times the weights of these samples."""
        if self.weights is None:
            return values
        return np.asarray(values * self.weights[rows].reshape(-1, *[1] * (values.ndim - 1)))

    @property
    def seen(self) -> Array:
        """The samples of positive weight."""
        return self.X if self.weights is None else self.X[self.weights > 0]

    def kernel(self, left: Activation, right: Activation) -> Kernel:
        """The mean of σ(w·x) τ(v·x), for any activations."""
        return EmpiricalKernel(self.X, left, right, self.weights)

    def features(self, degree: int) -> Iterator[tuple[slice, Array]]:
        """Chunks of the features φ_I(x) = mult(I) x^I, so that T(x) = Σ_I T_I φ_I(x)."""
        coordinates.require_storable(self.n, degree, coordinates.FACTORS)
        scale = coordinates.multiplicities(self.n, degree)
        for start in range(0, self.count, CHUNK):
            rows = slice(start, min(start + CHUNK, self.count))
            yield rows, coordinates.monomials(self.X[rows], degree) * scale

    def moments(self, degree: int) -> Array:
        """The mean of x^I."""
        coordinates.require_storable(self.n, degree)
        total = np.zeros(coordinates.dimension(self.n, degree))
        for start in range(0, self.count, CHUNK):
            rows = slice(start, start + CHUNK)
            total += self.weighted(coordinates.monomials(self.X[rows], degree), rows).sum(axis=0)
        return total / self.count

    def exact_moments(self, degree: int) -> NDArray[Any]:
        """The mean of x^I in rational arithmetic."""
        coordinates.require_storable(self.n, degree)
        return exact_means(self.X, degree, weights=self.given)

    def gram(self, degree: int) -> Array:
        """G = mean of φ φᵀ, gathered in chunks."""
        degree = positive_integer("degree", degree)
        size = coordinates.require_storable(self.n, degree, coordinates.FACTORS)
        total = np.zeros((size, size))
        for rows, block in self.features(degree):
            total += block.T @ self.weighted(block, rows)
        return total / self.count

    def evaluation_matrix(self, degree: int) -> Array:
        """E_X of Prop. 20: row i holds the features of xᵢ, so that E_X t = (T(x₁), …, T(x_N))."""
        return np.concatenate([block for _, block in self.features(degree)])

    def vanishing_polynomial(self, degree: int) -> SymmetricTensor | None:
        """A non-zero T with T(xᵢ) = 0 for all samples, or None when there is none (paper 000, Prop. 20).

        Decided by the smallest singular value of the evaluation matrix, columns scaled to unit length; "zero"
        means below `VANISHING` of the largest. The returned tensor has Frobenius norm one and a positive largest entry.
        """
        matrix = self.evaluation_matrix(positive_integer("degree", degree))
        matrix = matrix if self.weights is None else matrix[self.weights > 0]
        lengths = np.linalg.norm(matrix, axis=0)
        lengths[lengths == 0] = 1.0
        _, values, vectors = np.linalg.svd(matrix / lengths, full_matrices=True)
        size = matrix.shape[1]
        rank = rank_of(values, VANISHING)
        if rank == size:
            return None
        entries = vectors[-1] / lengths
        entries = entries * np.sign(entries[np.argmax(np.abs(entries))])
        norm = np.sqrt(np.sum(coordinates.multiplicities(self.n, degree) * entries**2))
        return SymmetricTensor(entries / norm, self.n, degree)

    def is_nondegenerate(self, degree: int) -> bool:
        """Whether the empirical inner product on Sym^d(R^n) is an inner product (paper 000, Prop. 20)."""
        if len(self.seen) < coordinates.dimension(self.n, degree):
            return False
        return self.vanishing_polynomial(degree) is None

    @property
    def sample_law(self) -> str:
        """The empirical distribution."""
        return f"the {self.count} given samples, drawn with replacement"

    def sample(self, count: int, rng: int | np.random.Generator = 0) -> Array:
        """Rows of X drawn with replacement."""
        return np.asarray(self.X[self.drawn(positive_integer("count", count, 0), generator(rng))])

    def drawn(self, count: int, source: np.random.Generator) -> NDArray[np.intp]:
        """The numbers of so many samples, drawn with replacement, each as often as its weight says."""
        if self.weights is None:
            return np.asarray(source.integers(self.count, size=count), np.intp)
        return np.asarray(source.choice(self.count, size=count, p=self.weights / self.count), np.intp)

    def construction(self) -> Construction:
        """Samples(X, y, weights)."""
        return self.constructed(X=self.X, y=self.y, weights=self.given)

    def __repr__(self) -> str:
        labels = "" if self.y is None else f", y of shape {self.y.shape}"
        return f"Samples({self.count} × {self.n}{labels}{'' if self.weights is None else ', weighted'})"


def _checked_weights(weights: ArrayLike, count: int) -> Array:
    values = finite_array("weights", weights, 1)
    if len(values) != count or values.min() < 0 or not values.any():
        raise InvalidProblem(
            f"weights has shape {values.shape} and its smallest is {values.min(initial=0.0):g}; expected {count}, "
            "one a sample, none of them negative and not all zero."
        )
    return values


def exact_means(
    X: Array, degree: int, labels: Array | None = None, weights: Array | None = None
) -> NDArray[Any]:
    """The mean of x^I, or of y x^I, over the rows of X as fractions: sums of integers, X in units of a power of two."""
    indices = coordinates.indices(X.shape[1], degree)
    unit, total = _unit(X), np.zeros(len(indices), dtype=object)
    label_unit = Fraction(1) if labels is None else _unit(labels)
    weight_unit = Fraction(1) if weights is None else _unit(weights)
    whole = Fraction(len(X)) if weights is None else sum(map(Fraction, weights.tolist()), Fraction(0))
    for start in range(0, len(X), CHUNK):
        rows = slice(start, start + CHUNK)
        x = _integers(X[rows], unit)
        product = np.ones((len(x), len(indices)), dtype=object)
        if labels is not None:
            product = product * _integers(labels[rows], label_unit)[:, None]
        if weights is not None:
            product = product * _integers(weights[rows], weight_unit)[:, None]
        for column in indices.T:
            product = product * x[:, column]
        total = total + product.sum(axis=0)
    return np.asarray(total * (unit**degree * label_unit * weight_unit / whole))


def _unit(values: Array) -> Fraction:
    """A power of two of which all doubles given are multiples."""
    denominators = [x.as_integer_ratio()[1] for x in values.ravel().tolist()]
    return Fraction(1, max(denominators))


def _integers(values: Array, unit: Fraction) -> NDArray[Any]:
    scale = unit.denominator
    ratios = (x.as_integer_ratio() for x in values.ravel().tolist())
    whole = [numerator * (scale // denominator) for numerator, denominator in ratios]
    return np.array(whole, dtype=object).reshape(values.shape)
