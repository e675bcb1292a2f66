"""The loss of the best neuron in every direction: E y² − p(u)²/q(u), two forms and a number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.model.activations import PolynomialActivation, Power
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: Dimensions of directions that a picture can show, and degrees that a browser evaluates at every pixel.
DIMENSIONS, DEGREES = (2, 3), (2, 3, 4)


@dataclass(frozen=True, eq=False)
class DirectionLoss:
    """min over s of the loss of s·u^⊗d, as a function of the direction u: zero − p(u)²/q(u).

    p(u) = ⟨t, u^⊗d⟩ has degree d and q(u) = ‖u^⊗d‖² degree 2d, in the inner product of the data; `zero` is the loss of
    the zero network. `sign`: 0 when s may have either sign, else the only one that it may have.

    >>> import shallows as sh
    >>> loss = DirectionLoss.of(sh.Problem(np.diag([2.0, 1.0]), sh.Frobenius(2), width=1))
    >>> loss.values(np.eye(2))                   # Eckart and Young: what is left are the other eigenvalue's squares
    array([1., 4.])
    """

    n: int
    degree: int
    p: Array
    q: Array
    zero: float
    sign: int
    lifted: bool

    @classmethod
    def of(cls, problem: Problem) -> DirectionLoss | None:
        """That of a problem with one neuron and two or three effective dimensions; None where there is none.

        A bias, and a polynomial activation, add the dimension of the constant, which comes first (`lifted`).
        """
        if not _is_plain(problem):
            return None
        if isinstance(problem.activation, Power):
            return cls._of_power(problem)
        if (
            not isinstance(problem.activation, PolynomialActivation)
            or problem.bias
            or problem.outer is not None
        ):
            return None
        n, d = problem.n + 1, problem.activation.degree
        if n not in DIMENSIONS or d not in DEGREES:
            return None
        space = PolynomialSpace.of(problem)
        c = problem.activation.coefficients[space.at]
        seen = np.isin(_degrees(n, d), space.degrees)
        gram, right = np.zeros((len(seen), len(seen))), np.zeros(len(seen))
        gram[np.ix_(seen, seen)] = space.gram * np.multiply.outer(c, c)
        right[seen] = space.right * c
        return cls(n, d, right, _square(gram, n, d), float(space.energy), 0, True)

    @classmethod
    def _of_power(cls, problem: Problem) -> DirectionLoss | None:
        twin = problem.homogeneous() if problem.bias else problem
        if twin.affine or twin.n not in DIMENSIONS or twin.degree not in DEGREES:
            return None
        gram, target, d = twin.gram(), twin.target_tensor().entries, twin.degree
        fixed = 0 if twin.outer is None or d % 2 else int(np.sign(twin.outer[0, 0]))
        energy = twin.floor + float(target @ gram @ target)
        return cls(twin.n, d, gram @ target, _square(gram, twin.n, d), energy, fixed, problem.bias)

    @cached_property
    def _slopes(self) -> tuple[Array, Array]:
        return (
            coordinates.gradient_matrix(self.p, self.n, self.degree),
            coordinates.gradient_matrix(self.q, self.n, 2 * self.degree),
        )

    def forms(self, u: Array) -> tuple[Array, Array]:
        """p, where its sign is allowed, and q at vectors u (…, n)."""
        p = coordinates.monomials(u, self.degree) @ self.p
        q = coordinates.monomials(u, 2 * self.degree) @ self.q
        return np.where(self.sign * p < 0, 0.0, p) if self.sign else p, np.maximum(q, TINY)

    def values(self, u: Array) -> Array:
        """The loss of the best neuron in the directions u."""
        p, q = self.forms(u)
        return np.asarray(self.zero - p**2 / q)

    def gradients(self, u: Array) -> Array:
        """Its gradient on the sphere, at unit vectors u: the part of ∇(−p²/q) that is tangent."""
        dp = coordinates.monomials(u, self.degree - 1) @ self._slopes[0]
        dq = coordinates.monomials(u, 2 * self.degree - 1) @ self._slopes[1]
        p = np.einsum("...i,...i", dp, u) / self.degree  # Euler: u·∇p = d p
        q = np.maximum(np.einsum("...i,...i", dq, u) / (2 * self.degree), TINY)
        if self.sign:
            p = np.where(self.sign * p < 0, 0.0, p)
        share = p / q
        slope = (share**2)[..., None] * dq - (2 * share)[..., None] * dp
        return np.asarray(slope - np.einsum("...i,...i", slope, u)[..., None] * u)

    def descent(self, w: Array, a: Array) -> tuple[Array, Array, Array]:
        """The loss zero − 2a p(w) + a² q(w) of neurons a·w^⊗d, w (m, n), and its gradients by w and a."""
        dp = coordinates.monomials(w, self.degree - 1) @ self._slopes[0]
        dq = coordinates.monomials(w, 2 * self.degree - 1) @ self._slopes[1]
        p, q = np.einsum("mi,mi->m", dp, w) / self.degree, np.einsum("mi,mi->m", dq, w) / (2 * self.degree)
        by_w = (a**2)[:, None] * dq - (2 * a)[:, None] * dp
        return self.zero - 2 * a * p + a**2 * q, by_w, 2 * (a * q - p)

    def __repr__(self) -> str:
        return f"DirectionLoss(n={self.n}, degree={self.degree}, zero={self.zero:.6g})"


def _is_plain(problem: Problem) -> bool:
    plain = problem.width == 1 and problem.outputs == 1
    return plain and not problem.norm_neuron and not problem.orthogonality


def _degrees(n: int, degree: int) -> Array:
    """How many of the d indices of each coordinate in n inputs are not the first input, the constant."""
    return np.asarray(degree - coordinates.exponents(n, degree)[:, 0])


def _square(gram: Array, n: int, degree: int) -> Array:
    """The coefficients of u ↦ m(u)ᵀ G m(u), m the monomials of degree d, on those of degree 2d."""
    q = np.zeros(coordinates.dimension(n, 2 * degree))
    np.add.at(q, coordinates.product_table(n, degree, degree).ravel(), gram.ravel())
    return q
