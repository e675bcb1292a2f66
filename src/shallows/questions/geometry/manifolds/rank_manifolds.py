"""Charts of the manifolds on which students live: rank-r symmetric matrices and sums of powers.

A chart is a smooth immersion u ↦ x(u) from R^k into R^N (paper 000, section 3.2). It gives its value, its
Jacobian, and its second derivatives contracted with a covector, all by exact formulas. Tensors are their entries
T_{i1≤…≤id}, so N = dim Sym^d(R^n).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.numerical_rank import rank_of
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.support.checks import Array, finite_array, positive_integer, symmetric_matrix
from shallows.support.errors import InvalidProblem

#: Eigenvalues below this share of the largest count as zero: critical points are found to √ε or better.
RANK_TOLERANCE = 1e-8


class ManifoldChart(ABC):
    """A local parameterisation u ↦ x(u) of a manifold X ⊂ R^N, with the parameters of a base point."""

    @property
    @abstractmethod
    def base(self) -> Array:
        """The parameters of the base point, shape (k,)."""

    @property
    @abstractmethod
    def ambient(self) -> int:
        """N, the dimension of the space around the manifold."""

    @abstractmethod
    def value(self, u: Array) -> Array:
        """x(u), shape (N,)."""

    @abstractmethod
    def jacobian(self, u: Array) -> Array:
        """∂x/∂uᵢ as columns, shape (N, k)."""

    @abstractmethod
    def second(self, u: Array, covector: Array) -> Array:
        """Σ_a c_a ∂²x_a/∂uᵢ∂uⱼ, shape (k, k)."""

    @property
    def dimension(self) -> int:
        """k, the dimension of the manifold."""
        return len(self.base)

    def typical_speed(self, u: Array) -> float:
        """How large ∂x/∂u should be; where some direction is far slower, the chart is not an immersion."""
        return float(np.max(np.abs(self.jacobian(u)), initial=0.0))


class MatricesOfRank(ManifoldChart):
    """S(r, n), the symmetric matrices of rank r, near one of them (paper 000, section 4).

    With S = Q A Qᵀ (Q of r orthonormal eigenvectors, P a basis of the complement) the chart is

        x(B, Z) = U (A + sB) Uᵀ,   U = Q + P Z D,   B symmetric r×r, Z of shape (n−r)×r,

    so k = r(r+1)/2 + (n−r) r. Its parameters are the entries B_{i≤j}, then Z row by row. The scales s = max|λ|
    and D = diag(s/|λᵢ|) make the Jacobian s times a well-conditioned one, whatever the eigenvalues λ of A are.
    `rank` defaults to the number of eigenvalues above `tolerance` times the largest; the base point is S with the
    others set to zero.

    >>> chart = MatricesOfRank([[2.0, 0.0], [0.0, 0.0]])
    >>> chart.rank, chart.dimension, chart.ambient
    (1, 2, 3)
    """

    def __init__(self, matrix: ArrayLike, rank: int | None = None, tolerance: float = RANK_TOLERANCE) -> None:
        S = symmetric_matrix("matrix", matrix)
        self.n = len(S)
        values, vectors = np.linalg.eigh(S)
        order = np.argsort(-np.abs(values), kind="stable")
        values, vectors = values[order], vectors[:, order]
        sizes = np.abs(values)
        numerical = rank_of(sizes, tolerance)
        self.rank = numerical if rank is None else positive_integer("rank", rank, 0)
        if self.rank > numerical:
            raise InvalidProblem(
                f"rank is {self.rank}, but only {numerical} of the matrix's {self.n} eigenvalues exceed "
                f"{tolerance:.3g} of the largest. Use rank={numerical} or leave it out."
            )
        self._A = np.diag(values[: self.rank])
        self._scale = sizes[0]
        self._D = self._scale / sizes[: self.rank]
        self._Q, self._P = vectors[:, : self.rank], vectors[:, self.rank :]

    @property
    def base(self) -> Array:
        """B = 0, Z = 0."""
        return np.zeros(self.rank * (self.rank + 1) // 2 + (self.n - self.rank) * self.rank)

    @property
    def ambient(self) -> int:
        """n(n+1)/2."""
        return coordinates.dimension(self.n, 2)

    def value(self, u: Array) -> Array:
        """The entries of U (A + sB) Uᵀ."""
        A, U = self._split(u)
        return coordinates.matrix_entries(U @ A @ U.T)

    def jacobian(self, u: Array) -> Array:
        """Columns s U dB Uᵀ, then dU (A+sB) Uᵀ + U (A+sB) dUᵀ with dU = P dZ D."""
        A, U = self._split(u)
        inner = np.einsum("ai,ijm,bj->abm", U, self._basis, U)
        half = np.einsum("aj,bk->abjk", self._P, U @ A * self._D).reshape(self.n, self.n, -1)
        rows, columns = coordinates.indices(self.n, 2).T
        return np.asarray(np.concatenate([inner, half + half.transpose(1, 0, 2)], axis=2)[rows, columns])

    def second(self, u: Array, covector: Array) -> Array:
        """With C the covector's symmetric matrix, ⟨C, d²x⟩ = 4s tr(dUᵀ C U dB) + 2 tr(dUᵀ C dU (A+sB))."""
        A, U = self._split(u)
        C = coordinates.slope_matrices(covector, self.n)
        inner = self._basis.shape[2]
        result = np.zeros((len(u), len(u)))
        mixed = 2 * np.einsum("jk,kim,i->jim", self._P.T @ C @ U, self._basis, self._D).reshape(-1, inner)
        result[inner:, :inner], result[:inner, inner:] = mixed, mixed.T
        result[inner:, inner:] = 2 * np.kron(self._P.T @ C @ self._P, self._D[:, None] * A * self._D)
        return result

    @cached_property
    def _basis(self) -> Array:
        """∂(sB)/∂B_{i≤j}, shape (r, r, r(r+1)/2)."""
        rows, columns = np.triu_indices(self.rank)
        basis = np.zeros((self.rank, self.rank, len(rows)))
        basis[rows, columns, np.arange(len(rows))] = self._scale
        basis[columns, rows, np.arange(len(rows))] = self._scale
        return basis

    def _split(self, u: Array) -> tuple[Array, Array]:
        """A + sB and U = Q + P Z D."""
        inner = self._basis.shape[2]
        Z = u[inner:].reshape(self.n - self.rank, self.rank)
        return self._A + self._basis @ u[:inner], self._Q + self._P @ (Z * self._D)

    def __repr__(self) -> str:
        return f"MatricesOfRank(rank={self.rank}, n={self.n})"


class SumsOfPowers(ManifoldChart):
    """Σᵢ εᵢ (vᵢ + cᵢuᵢ)^⊗d near Σᵢ εᵢ vᵢ^⊗d; one neuron gives the rank-one tensors of degree d.

    Here vᵢ = |aᵢ|^(1/d) wᵢ, εᵢ = sign(aᵢ), and u is the neurons' shift row by row (k = n × neurons), with scales
    cᵢ = (max‖v‖/‖vᵢ‖)^(d−1) that make the columns of the Jacobian about equally long. With one neuron this is a
    chart of the cone over the Veronese variety at every non-zero tensor. With more it is a chart where dτ_r (paper
    000, equation 6) is injective on the neurons; `LocalGeometry` refuses the other points. For degree 2 and rank
    ≥ 2 it never is: use `MatricesOfRank`.
    """

    def __init__(self, W: ArrayLike, a: ArrayLike, degree: int) -> None:
        weights, outer = finite_array("W", W, 2), finite_array("a", a, 1)
        if len(outer) != len(weights):
            raise InvalidProblem(
                f"a has {len(outer)} entries for {len(weights)} rows of W; expected one a row."
            )
        self.degree = positive_integer("degree", degree)
        neurons = np.abs(outer)[:, None] ** (1 / self.degree) * weights
        active = np.any(neurons != 0, axis=1)
        self.neurons, self.signs = neurons[active], np.sign(outer[active])
        lengths = np.linalg.norm(self.neurons, axis=1, keepdims=True)
        self._scales = (np.max(lengths, initial=0.0) / lengths) ** (self.degree - 1)
        self.n = int(weights.shape[1])

    @classmethod
    def rank_one(cls, tensor: SymmetricTensor, tolerance: float = RANK_TOLERANCE) -> SumsOfPowers:
        """The chart at a tensor λ v^⊗d, which must have rank one to `tolerance` in the Frobenius norm."""
        direction = _leading_direction(tensor)
        strength = float(tensor(direction))
        chart = cls(direction[None, :], np.array([strength]), tensor.degree)
        weights = coordinates.multiplicities(tensor.n, tensor.degree)
        error = np.sqrt(np.sum(weights * (tensor.entries - chart.value(chart.base)) ** 2))
        size = np.sqrt(np.sum(weights * tensor.entries**2))
        if error > tolerance * size:
            raise InvalidProblem(
                f"The tensor of degree {tensor.degree} is {error / size:.3g} of its norm away from rank one "
                f"(tolerance {tolerance:.3g}). Give a point of higher rank as a Network: its neurons are the chart."
            )
        return chart

    @property
    def rank(self) -> int:
        """The number of non-zero neurons."""
        return len(self.neurons)

    @property
    def base(self) -> Array:
        """No shift."""
        return np.zeros(self.neurons.size)

    @property
    def ambient(self) -> int:
        """dim Sym^d(R^n)."""
        return coordinates.dimension(self.n, self.degree)

    def value(self, u: Array) -> Array:
        """The entries of Σᵢ εᵢ (vᵢ + cᵢuᵢ)^⊗d."""
        return np.asarray(self.signs @ coordinates.monomials(self._shifted(u), self.degree))

    def jacobian(self, u: Array) -> Array:
        """Columns cᵢ εᵢ d · sym(v^⊗(d−1) ⊗ e_j)."""
        slopes = coordinates.monomials_jvp(self._shifted(u)[:, None, :], np.eye(self.n), self.degree)
        slopes = (self._scales * self.signs[:, None])[:, :, None] * slopes
        return np.asarray(slopes.reshape(self.neurons.size, self.ambient).T)

    def second(self, u: Array, covector: Array) -> Array:
        """Block-diagonal: cᵢ² εᵢ times the Hessian of the polynomial Σ_I c_I w^I at each neuron."""
        result = np.zeros((self.neurons.size, self.neurons.size))
        if self.degree == 1:
            return result
        first = coordinates.gradient_matrix(covector, self.n, self.degree)
        twice = coordinates.gradient_matrix(first.T, self.n, self.degree - 1)
        factors = self._scales[:, 0] ** 2 * self.signs
        for i, (factor, v) in enumerate(zip(factors, self._shifted(u), strict=True)):
            block = slice(i * self.n, (i + 1) * self.n)
            result[block, block] = factor * (coordinates.monomials(v, self.degree - 2) @ twice)
        return result

    def _shifted(self, u: Array) -> Array:
        return np.asarray(self.neurons + self._scales * u.reshape(self.neurons.shape))

    def __repr__(self) -> str:
        return f"SumsOfPowers(rank={self.rank}, n={self.n}, degree={self.degree})"


def _leading_direction(tensor: SymmetricTensor) -> Array:
    """The unit vector v of λ v^⊗d: the leading left singular vector of the n × n^(d−1) flattening."""
    if tensor.degree == 1:
        size = float(np.linalg.norm(tensor.entries))
        return tensor.entries / size if size > 0 else np.asarray(tensor.entries)
    places = coordinates.product_table(tensor.n, 1, tensor.degree - 1)
    weights = np.sqrt(coordinates.multiplicities(tensor.n, tensor.degree - 1))
    return np.asarray(np.linalg.svd(tensor.entries[places] * weights)[0][:, 0])
