"""The functions of a problem with a polynomial activation: polynomials in x, the data's inner product, the target.

Coordinates of a polynomial are its coefficients on x^I / mult(I), degree by degree and lexicographic in each: the
entries of its part of degree i as a symmetric tensor. As a tensor of degree d in n + 1 inputs, the constant first, it
has the same entries, in the same order, divided by C(d, i). Students without bias have no parts but of the degrees
where the activation has a coefficient: those are the `visible` coordinates, and the target is taken modulo the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exact.rational_arrays import exact_product, fractions, one_solution
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import PolynomialActivation
from shallows.model.data.samples import exact_means
from shallows.model.data.with_constant import with_constant
from shallows.model.exact_loss import ExactLoss, InDoubles
from shallows.model.lifting import lifted_target
from shallows.model.network import Network
from shallows.model.objective.best_forms import is_polynomial, through_kernel
from shallows.model.objective.build import labels_of
from shallows.model.polynomial_target import degree_table, exact_gram, polynomial_degree, polynomial_entries
from shallows.model.problem import Problem
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem

#: Up to so many coordinates the target is solved for exactly: rational elimination at 60 takes a second.
EXACTLY = 60


@dataclass(frozen=True, eq=False)
class PolynomialSpace(InDoubles):
    """G and b = E[y x^I] on the coordinates of these `degrees`, exactly, and E y²."""

    n: int
    degree: int
    degrees: tuple[int, ...]
    exact: ExactLoss
    energy: Fraction

    @classmethod
    def of(cls, problem: Problem) -> PolynomialSpace:
        """That of a problem with one output and a polynomial activation, with or without bias."""
        activation = problem.activation
        if not isinstance(activation, PolynomialActivation) or problem.outputs != 1:
            raise InvalidProblem(
                f"{problem!r} has no space of polynomials: one output and a Power or Polynomial activation have."
            )
        d = activation.degree
        seen = range(d + 1) if problem.bias else np.flatnonzero(activation.coefficients).tolist()
        target = problem.target
        known = target is not None and is_polynomial(target)
        top = d if target is None or not known else max(d, polynomial_degree(target))
        gram = exact_gram(problem.data, top)
        at = degree_table(problem.n, top)
        rows = np.flatnonzero(np.isin(at, list(seen)) & (at <= d))
        if target is None or not known:
            right, energy = _labelled(problem, d) if target is None else _through_kernel(problem, d)
            right = right[rows]
        else:
            t = polynomial_entries(target, problem.n, top)
            right = exact_product(gram[rows], t)
            energy = Fraction(exact_product(gram, t) @ t)
        exact = ExactLoss(gram[np.ix_(rows, rows)], right)
        return cls(problem.n, d, tuple(int(j) for j in seen), exact, energy)

    @cached_property
    def _best(self) -> NDArray[Any] | None:
        """G⁻¹b exactly, or one of many where G is singular; None where there are too many coordinates for that, or b
        is rounded and there is none."""
        return one_solution(self.exact.gram, self.exact.right) if len(self.right) <= EXACTLY else None

    @cached_property
    def target(self) -> Array:
        """The best of all polynomials that are seen, rounded."""
        if self._best is not None:
            return np.asarray(self._best.astype(np.float64))
        return np.asarray(np.linalg.lstsq(self.gram, self.right)[0])

    def excess(self, entries: Array) -> Array:
        """The loss above the floor, one a row; exactly where G may be almost singular, and entries are large."""
        return self.exact.excess(entries) if len(self.right) <= EXACTLY else super().excess(entries)

    @cached_property
    def floor(self) -> float:
        """Its loss."""
        if self._best is not None:
            return float(self.energy - Fraction(self.exact.right @ self._best))
        return max(float(self.energy) - float(self.right @ self.target), 0.0)

    @cached_property
    def at(self) -> NDArray[np.intp]:
        """The degree of each coordinate."""
        table = degree_table(self.n, self.degree)
        return table[np.isin(table, self.degrees)]

    def constant(self, value: float) -> Array:
        """The entries of a constant."""
        return np.where(self.at == 0, value, 0.0)

    def less(self, entries: Array) -> PolynomialSpace:
        """The target less a polynomial with these entries."""
        if not entries.any():
            return self
        s, gram, right = fractions(entries), self.exact.gram, self.exact.right
        energy = self.energy - 2 * (right @ s) + s @ gram @ s
        return PolynomialSpace(self.n, self.degree, self.degrees, ExactLoss(gram, right - gram @ s), energy)

    def tensor(self, entries: Array) -> SymmetricTensor:
        """A polynomial as a tensor of degree d in n + 1 inputs, the constant first."""
        table = degree_table(self.n, self.degree)
        full = np.zeros(len(table))
        full[np.isin(table, self.degrees)] = entries
        return SymmetricTensor(full / _binomials(self.degree)[table], self.n + 1, self.degree)


def _binomials(degree: int) -> Array:
    return np.array([float(comb(degree, i)) for i in range(degree + 1)])


def _through_kernel(problem: Problem, degree: int) -> tuple[NDArray[Any], Fraction]:
    """E[y x^I] mult(I) and E y² of a teacher that is no polynomial, rounded."""
    target = lifted_target(problem.target, problem.n)
    assert isinstance(target, Network)
    right, energy = through_kernel(target, with_constant(problem.data), degree)
    return np.asarray(_shares(problem.n, degree) * fractions(right)), Fraction(energy)


def _shares(n: int, degree: int) -> NDArray[Any]:
    return np.array([Fraction(1, comb(degree, i)) for i in degree_table(n, degree)], dtype=object)


def _labelled(problem: Problem, degree: int) -> tuple[NDArray[Any], Fraction]:
    """E[y x^I] mult(I) and E y² of labelled samples."""
    samples = with_constant(problem.data).as_samples()
    assert samples is not None
    labels = labels_of(None, samples)[:, 0]
    weights = coordinates.multiplicities(problem.n + 1, degree).astype(int).astype(object)
    right = _shares(problem.n, degree) * weights * exact_means(samples.X, degree, labels, samples.given)
    given = [1.0] * len(labels) if samples.given is None else samples.given.tolist()
    squares = [Fraction(w) * Fraction(float(y)) ** 2 for w, y in zip(given, labels, strict=True)]
    energy = sum(squares, Fraction(0)) / sum(map(Fraction, given), Fraction(0))
    return np.asarray(right), energy
