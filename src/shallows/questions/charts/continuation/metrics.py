"""Which metrics a homotopy may pass through: all of them, a single one, or a linear space of special ones.

A special metric (Gaussian, moved Gaussian, Frobenius) has fewer critical points than a generic one, and on the way from
a generic one the others run to infinity. On a way that stays among metrics of its own kind none does, and all kinds of
these here are linear spaces: G = Σ_j u_j A_j with integer matrices A_j.

- *Frobenius*: A the multiplicities of the entries.
- *Gaussian*, and all rotation-invariant data: A the Gram matrix of N(0, I) (paper 000, equation 14).
- *moved Gaussian*: inputs (x₁, z₂, …, z_n), z standard normal and x₁ independent of it with E[x₁^{2j}] = u_j, so that
  E[x^K] = u_{k₁/2} ∏ (k_i−1)!!. In suitable coordinates (`special`) N(μ, Σ) is one of them.
- *affine Gaussian*: polynomials in Gaussian z₂, …, z_n by their degrees, each pair of degrees with its own u
  (`rotation_invariant`); the first input stands for the constant. So it is for polynomial activations.

Rounding would leave such a space, and bring points back from infinity to a distance of about 10⁴ (d = 3): so G is kept
as a sum of two doubles, to 31 digits.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.error_free import two_product, two_sum
from shallows.mathematics.tensors import coordinates
from shallows.model.data.gaussian import Gaussian
from shallows.model.data.metric import Frobenius
from shallows.questions.charts.continuation.rotation_invariant import rotation_invariant_basis
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON

Complex = NDArray[np.complex128]
Kind = Literal["Frobenius", "Gaussian", "moved Gaussian", "affine Gaussian"]
#: Kinds whose norm of v^⊗d is a product of d quadrics q = c_i l²: as many points of rank one, and none at infinity.
MOVED = ("moved Gaussian", "affine Gaussian")
#: Residuals below so many ε an entry of the metric are rounding: G and g are of size about one, s and the neurons of
#: size up to about ten, which makes 10² a term, and ten roundings each.
ROUNDING = 1e3


@dataclass(frozen=True)
class Pair:
    """high + low, to 31 digits."""

    high: Complex
    low: Complex

    @classmethod
    def of(cls, matrix: Complex | Array) -> Pair:
        """A matrix of doubles."""
        high = np.asarray(matrix, np.complex128)
        return cls(high, np.zeros_like(high))

    def __sub__(self, other: Pair) -> Pair:
        high, lost = two_sum(self.high, -other.high)
        return Pair(high, lost + (self.low - other.low))


def rounding(size: int) -> float:
    """Residuals of equations with a metric on N = `size` entries that are below this are rounding."""
    return ROUNDING * EPSILON * size


class Metrics(Protocol):
    """A linear family of symmetric matrices G, complex ones included."""

    @property
    def parameters(self) -> int:
        """How many numbers u a metric takes."""
        ...

    def at(self, u: Complex) -> Pair:
        """The metric with parameters u."""
        ...


class KindOfMetrics(Metrics, Hashable, Protocol):
    """A linear family of special metrics, which has a name."""

    @property
    def kind(self) -> str:
        """What they are, as an adjective."""
        ...


@dataclass(frozen=True)
class AllMetrics:
    """Every symmetric G, given by its upper triangle."""

    size: int

    @property
    def parameters(self) -> int:
        """N(N+1)/2."""
        return self.size * (self.size + 1) // 2

    def at(self, u: Complex) -> Pair:
        """The matrix with this upper triangle."""
        full = np.zeros((self.size, self.size), np.complex128)
        full[np.triu_indices(self.size)] = u
        return Pair.of(full + np.triu(full, 1).T)


@dataclass(frozen=True, eq=False)
class OneMetric:
    """A metric held fixed."""

    gram: Complex

    @property
    def parameters(self) -> int:
        """None."""
        return 0

    def at(self, u: Complex) -> Pair:
        """Itself."""
        return Pair.of(self.gram)


def combined(u: Complex, basis: Array) -> Pair:
    """Σ_j u_j A_j, sums and products paired."""
    high = np.zeros(basis.shape[1:], np.complex128)
    low = np.zeros_like(high)
    for weight, matrix in zip(u, basis, strict=True):
        for part, unit in ((weight.real, 1.0), (weight.imag, 1j)):
            product, lost = two_product(matrix, float(part))
            high, rounded = two_sum(high, unit * product)
            low += unit * lost + rounded
    return Pair(high, low)


@dataclass(frozen=True)
class SpecialMetrics:
    """The linear space of metrics of one kind on Sym^d(R^n)."""

    kind: Kind
    degree: int
    n: int

    @property
    def parameters(self) -> int:
        """d + 1 for moved Gaussians, one a pair of degrees of one parity for affine ones, else one."""
        return len(_basis(self))

    def at(self, u: Complex) -> Pair:
        """Σ_j u_j A_j."""
        return combined(u, _basis(self))


@dataclass(frozen=True, eq=False)
class Turned:
    """The same metrics in other coordinates, PᵀGP, in double precision; themselves where rotations leave them alone."""

    metrics: Metrics
    action: Array

    @property
    def parameters(self) -> int:
        """Those of the metrics."""
        return self.metrics.parameters

    def at(self, u: Complex) -> Pair:
        """PᵀGP."""
        return turned(self.metrics.at(u), self.action)


def turned(gram: Pair, action: Array) -> Pair:
    """PᵀGP; G itself where that is G up to rounding, so that rotation-invariant metrics stay exact."""
    moved = action.T @ gram.high @ action
    if np.abs(moved - gram.high).max() <= ROUNDING * EPSILON * np.abs(gram.high).max():
        return gram
    return Pair.of(moved)


@lru_cache(maxsize=64)
def _basis(metrics: SpecialMetrics) -> Array:
    """The integer matrices A_j, shape (parameters, N, N)."""
    n, degree = metrics.n, metrics.degree
    if metrics.kind == "Frobenius":
        return Frobenius(n).gram(degree)[None]
    if metrics.kind == "Gaussian":
        return Gaussian(n).gram(degree)[None]
    if metrics.kind == "affine Gaussian":
        return rotation_invariant_basis(tuple(range(degree + 1)), n - 1)
    weights = coordinates.multiplicities(n, degree)
    places = coordinates.product_table(n, degree, degree)
    table = coordinates.exponents(n, 2 * degree).tolist()
    normal = [0 if k % 2 else prod(range(1, k, 2)) for k in range(2 * degree + 1)]
    rest = np.array([float(prod(normal[k] for k in row[1:])) for row in table])
    first = np.array([row[0] for row in table])
    spread = [np.where(first == 2 * j, rest, 0.0)[places] for j in range(degree + 1)]
    return np.asarray(np.outer(weights, weights) * np.array(spread))
