"""Symmetric tensors: the second view of a polynomial network, s = Σ aᵢ wᵢ^⊗d in Sym^d(R^n)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.text import Exponents, checked_terms, default_names, read_form, write_form
from shallows.support.checks import (
    ASYMMETRY,
    Array,
    counted,
    finite_array,
    points,
    positive_integer,
    symmetric_matrix,
)
from shallows.support.construction import Constructed, Construction
from shallows.support.errors import InvalidProblem

if TYPE_CHECKING:
    from shallows.model.data.base import InnerProduct


@dataclass(frozen=True, eq=False)
class SymmetricTensor(Constructed):
    """A symmetric tensor T of degree d in n variables, as its entries T_{i1≤…≤id} in lexicographic order.

    It is also the homogeneous polynomial T(x) = Σ_I mult(I) T_I x^I.

    >>> T = SymmetricTensor([1.0, 2.0, 3.0], n=2, degree=2)   # x² + 4xy + 3y²
    >>> float(T([1.0, 1.0]))
    8.0
    """

    entries: Array
    n: int
    degree: int

    def __post_init__(self) -> None:
        n = positive_integer("n", self.n)
        degree = positive_integer("degree", self.degree)
        entries = finite_array("entries", self.entries, 1)
        size = coordinates.dimension(n, degree)
        if len(entries) != size:
            raise InvalidProblem(
                f"A symmetric tensor of degree {degree} in {counted(n, 'variable')} has {size} entries "
                f"T_(i1<=...<=id) in lexicographic order; {len(entries)} were given."
            )
        for name, value in (("n", n), ("degree", degree), ("entries", entries)):
            object.__setattr__(self, name, value)

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> SymmetricTensor:
        """The tensor of degree 2 of a symmetric matrix."""
        M = symmetric_matrix("matrix", matrix)
        return cls(coordinates.matrix_entries(M), len(M), 2)

    @classmethod
    def from_array(cls, array: ArrayLike) -> SymmetricTensor:
        """The entries of a full n×…×n array, which must be symmetric to rounding."""
        full = np.asarray(array, dtype=np.float64)
        if full.ndim == 0 or len(set(full.shape)) != 1:
            raise InvalidProblem(f"array has shape {full.shape}; expected n×…×n, all axes alike.")
        n, degree = full.shape[0], full.ndim
        tensor = cls(full[tuple(coordinates.indices(n, degree).T)], n, degree)
        asymmetry = float(np.max(np.abs(tensor.to_array() - full)))
        if asymmetry > ASYMMETRY * max(1.0, float(np.max(np.abs(full)))):
            raise InvalidProblem(
                f"array is not symmetric: entries differ by up to {asymmetry:.3g} under permutations of the "
                "indices. Average it over permutations first."
            )
        return tensor

    @classmethod
    def from_powers(cls, W: ArrayLike, a: ArrayLike, degree: int) -> SymmetricTensor:
        """τ(a, W) = Σᵢ aᵢ wᵢ^⊗d (paper 000, equation 5); rows of W are the wᵢ."""
        weights, outer = finite_array("W", W, 2), finite_array("a", a, 1)
        if len(outer) != len(weights):
            raise InvalidProblem(
                f"a has {len(outer)} entries for {len(weights)} rows of W; expected one a row."
            )
        return cls(outer @ coordinates.monomials(weights, degree), weights.shape[1], degree)

    @classmethod
    def from_polynomial(
        cls, polynomial: str | Mapping[Exponents, float], variables: Sequence[str] | None = None
    ) -> SymmetricTensor:
        """The tensor of a homogeneous polynomial: text, or a mapping {exponents: coefficient}.

        An entry is the coefficient over its multiplicity. In text the variables are those that occur, in natural
        order, unless `variables` lists them.

        >>> SymmetricTensor.from_polynomial("x1^2*x2").entries.round(3).tolist()
        [0.0, 0.333, 0.0, 0.0]
        """
        if isinstance(polynomial, str):
            terms, n, degree = read_form(polynomial, variables)
        elif isinstance(polynomial, Mapping):
            terms, n, degree = checked_terms(polynomial)  # type: ignore[assignment]
        else:
            raise InvalidProblem(
                f"polynomial is {polynomial!r}; expected text such as 'x1^2*x2 - x2^3' or a mapping such as "
                "{(2, 1): 1.0, (0, 3): -1.0}."
            )
        table = coordinates.exponents(n, degree)
        values = np.array([float(terms.get(tuple(int(e) for e in row), 0)) for row in table])
        return cls(values / coordinates.multiplicities(n, degree), n, degree)

    def polynomial(self, variables: Sequence[str] | None = None, digits: int | None = None) -> str:
        """The polynomial T(x) as text, in the variables x1, …, xn unless others are named.

        >>> SymmetricTensor([1.0, 2.0, 3.0], n=2, degree=2).polynomial()
        'x1^2 + 4*x1*x2 + 3*x2^2'
        """
        names = default_names(self.n) if variables is None else tuple(variables)
        if len(names) != self.n:
            were = "was" if len(names) == 1 else "were"
            raise InvalidProblem(f"{counted(len(names), 'variable')} {were} named; this tensor has {self.n}.")
        return write_form(self.coefficients, coordinates.exponents(self.n, self.degree), names, digits)

    def to_array(self) -> Array:
        """The full n×…×n array (n^d numbers)."""
        coordinates.require_storable(self.n, self.degree)
        grid = np.indices((self.n,) * self.degree).reshape(self.degree, -1).T
        places = coordinates.position(np.sort(grid, axis=1).astype(np.intp), self.n)
        return self.entries[places].reshape((self.n,) * self.degree)

    def to_matrix(self) -> Array:
        """The symmetric matrix of a tensor of degree 2."""
        if self.degree != 2:
            raise InvalidProblem(f"to_matrix needs degree 2; this tensor has degree {self.degree}.")
        return coordinates.symmetric_matrices(self.entries)

    @property
    def coefficients(self) -> Array:
        """The polynomial's coefficients mult(I) T_I, in the same order."""
        return self.entries * coordinates.multiplicities(self.n, self.degree)

    def __call__(self, X: ArrayLike) -> Array:
        """T(x) = ⟨T, x^⊗d⟩_F at points of shape (…, n)."""
        return np.asarray(coordinates.monomials(points("X", X, self.n), self.degree) @ self.coefficients)

    def contract(self, *vectors: ArrayLike) -> SymmetricTensor | float:
        """T(v1, …, vk, ·, …, ·): a tensor of degree d−k, a number when k = d. Costs k·N·n, no n^d array.

        >>> T = SymmetricTensor.from_matrix([[2.0, 1.0], [1.0, 3.0]])
        >>> T.contract([1.0, 0.0]).entries.tolist(), T.contract([1.0, 0.0], [0.0, 1.0])
        ([2.0, 1.0], 1.0)
        """
        if len(vectors) > self.degree:
            raise InvalidProblem(
                f"{len(vectors)} vectors were given to a tensor of degree {self.degree}: at most {self.degree}."
            )
        entries = np.asarray(self.entries)
        for k, value in enumerate(vectors):
            vector = finite_array("a vector to contract with", value, 1)
            if len(vector) != self.n:
                raise InvalidProblem(
                    f"A vector of length {len(vector)} cannot be contracted with a tensor in {self.n} variables."
                )
            entries = entries[coordinates.product_table(self.n, self.degree - k - 1, 1)] @ vector
        if len(vectors) == self.degree:
            return float(entries[0])
        return SymmetricTensor(entries, self.n, self.degree - len(vectors))

    def gradient(self, X: ArrayLike) -> Array:
        """∇T(x) = d·T(x, …, x, ·) at points of shape (…, n)."""
        matrix = coordinates.gradient_matrix(self.coefficients, self.n, self.degree)
        return np.asarray(coordinates.monomials(points("X", X, self.n), self.degree - 1) @ matrix)

    def hessian(self, x: ArrayLike) -> Array:
        """∇²T(x) = d(d−1)·T(x, …, x, ·, ·) at one point, shape (n, n); zero for degree 1."""
        point = points("x", x, self.n)
        if point.ndim != 1:
            raise InvalidProblem(
                f"x has shape {point.shape}; the Hessian is taken at one point of length {self.n}."
            )
        if self.degree == 1:
            return np.zeros((self.n, self.n))
        matrix = self.contract(*[point] * (self.degree - 2))
        assert isinstance(matrix, SymmetricTensor)
        return self.degree * (self.degree - 1) * matrix.to_matrix()

    def inner(self, other: SymmetricTensor, data: InnerProduct) -> float:
        """⟨T, S⟩ = tᵀ G s under the metric that `data` induces (paper 000, equation 13)."""
        self._require_like(other)
        return float(self.entries @ data.gram(self.degree) @ other.entries)

    def norm(self, data: InnerProduct) -> float:
        """√(tᵀ G t)."""
        return float(np.sqrt(max(0.0, self.inner(self, data))))

    def _require_like(self, other: SymmetricTensor) -> None:
        if (self.n, self.degree) != (other.n, other.degree):
            raise InvalidProblem(
                f"Tensors of degree {self.degree} in {self.n} variables and of degree {other.degree} in "
                f"{other.n} variables do not live in one space."
            )

    def __add__(self, other: SymmetricTensor) -> SymmetricTensor:
        self._require_like(other)
        return SymmetricTensor(self.entries + other.entries, self.n, self.degree)

    def __sub__(self, other: SymmetricTensor) -> SymmetricTensor:
        self._require_like(other)
        return SymmetricTensor(self.entries - other.entries, self.n, self.degree)

    def __mul__(self, scalar: float) -> SymmetricTensor:
        return SymmetricTensor(self.entries * float(scalar), self.n, self.degree)

    __rmul__ = __mul__

    def construction(self) -> Construction:
        """SymmetricTensor(entries, n, degree)."""
        return self.constructed(entries=self.entries, n=self.n, degree=self.degree)

    def __repr__(self) -> str:
        entries = counted(len(self.entries), "entry")
        return f"SymmetricTensor(degree={self.degree}, n={self.n}, {entries})"
