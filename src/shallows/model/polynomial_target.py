"""Targets as polynomials in x, exactly, and the inner products of polynomials of all degrees up to one.

Coordinates of a polynomial are the entries of its parts as symmetric tensors, degree by degree, lexicographic in each.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exact.rational_arrays import exact_product, fractions
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import PolynomialActivation, polynomial_of
from shallows.model.data.base import InnerProduct
from shallows.model.data.with_constant import with_constant
from shallows.model.network import Network
from shallows.support.errors import InvalidProblem


def best_form(
    target: Network | SymmetricTensor, data: InnerProduct, degree: int
) -> tuple[NDArray[Any], Fraction]:
    """b = E[y x^I] mult(I) for the forms of a degree, and E y², y any polynomial: the best form against it is G⁻¹b.

    >>> best_form(sh.Network([[1.0, 0.0]], activation=sh.Power(4)), sh.Gaussian(2), 2)    # E[x₁⁴ (x₁², 2x₁x₂, x₂²)]
    (array([Fraction(15, 1), Fraction(0, 1), Fraction(3, 1)], dtype=object), Fraction(105, 1))
    """
    top = max(degree, polynomial_degree(target))
    entries = polynomial_entries(target, data.n, top)
    image = exact_product(exact_gram(data, top), entries)
    return image[degree_table(data.n, top) == degree], Fraction(image @ entries)


def degree_table(n: int, degree: int) -> NDArray[np.intp]:
    """The degree of each coordinate of polynomials of degree ≤ d in n inputs."""
    sizes = [coordinates.dimension(n, j) for j in range(degree + 1)]
    return np.repeat(np.arange(degree + 1), sizes)


def exact_gram(data: InnerProduct, degree: int) -> NDArray[Any]:
    """E[x^I x^J] mult(I) mult(J) for all I and J of degrees up to this one, as fractions."""
    gram = fractions(with_constant(data).exact_gram(degree))
    shares = np.array([Fraction(1, comb(degree, i)) for i in degree_table(data.n, degree)], dtype=object)
    return np.asarray(gram * np.multiply.outer(shares, shares))


def polynomial_degree(target: Network | SymmetricTensor) -> int:
    """That of a target as a polynomial; refused where it is none."""
    if isinstance(target, SymmetricTensor):
        return target.degree
    if not isinstance(target.activation, PolynomialActivation):
        raise InvalidProblem(
            f'The target has the activation {target.activation!r}: it is no polynomial. Fix: method="descent".'
        )
    return max(target.activation.degree, 2 if np.any(target.norm) else 0)


def polynomial_entries(target: Network | SymmetricTensor, n: int, degree: int) -> NDArray[Any]:
    """The coordinates of a target of degree at most this one, as fractions."""
    at = degree_table(n, degree)
    entries = np.full(len(at), Fraction(0), dtype=object)
    if isinstance(target, SymmetricTensor):
        own = fractions(target.entries)
        if target.n == n:
            entries[at == target.degree] = own
            return entries
        inner = degree_table(n, target.degree)
        factors = np.array([comb(target.degree, i) for i in inner], dtype=object)
        entries[: len(own)] = own * factors
        return entries
    c, bias = polynomial_of(target.activation).coefficients, target.bias
    W, a = fractions(target.W), fractions(np.ravel(target.a))
    b = fractions(np.zeros(target.width) if bias is None else bias)
    for i in range(min(len(c), degree + 1)):
        weights = sum(Fraction(float(c[j])) * comb(j, i) * b ** (j - i) for j in range(i, len(c)))
        powers = np.prod(W[:, coordinates.indices(n, i)], axis=-1) if i else np.full((len(a), 1), Fraction(1))
        entries[at == i] = (a * weights) @ powers
    if np.any(target.norm):
        pairs = coordinates.indices(n, 2)
        square = Fraction(float(np.ravel(target.norm)[0]))
        entries[at == 2] = entries[at == 2] + [square if i == j else 0 for i, j in pairs.tolist()]
    return entries
