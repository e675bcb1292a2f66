"""Forms with rational entries, read from text, mappings, tensors or matrices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from shallows.mathematics.exact.linear_algebra import simple_rational
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.mathematics.tensors.text import checked_terms, read_form
from shallows.support.checks import describe
from shallows.support.errors import InvalidProblem


@dataclass(frozen=True)
class ExactForm:
    """Entries T_{i1≤…≤id} as rationals; `floating` when some of them came from floats that are no simple rational."""

    entries: list[Fraction]
    n: int
    degree: int
    floating: bool

    @property
    def is_zero(self) -> bool:
        """Whether all entries vanish."""
        return not any(self.entries)

    def restrict(self, variables: list[int]) -> ExactForm:
        """The form on these variables, the others set to zero."""
        chosen = np.asarray(variables)[coordinates.indices(len(variables), self.degree)]
        places = coordinates.position(chosen.astype(np.intp), self.n)
        return ExactForm([self.entries[k] for k in places], len(variables), self.degree, self.floating)


def read_exact(value: Any) -> ExactForm:
    """The form that a SymmetricTensor, a symmetric matrix, a text or a mapping {exponents: number} stands for."""
    if isinstance(value, str):
        terms, n, degree = read_form(value)
        return _from_terms(terms, n, degree)
    if isinstance(value, Mapping):
        return _from_terms(*checked_terms(value))
    if isinstance(value, SymmetricTensor):
        return _from_tensor(value)
    if np.ndim(value) == 2:
        return _from_tensor(SymmetricTensor.from_matrix(value))
    raise InvalidProblem(
        f"{describe(value)} is not a form: expected a SymmetricTensor, a symmetric matrix, text such as "
        "'x1^2*x2', or a mapping {exponents: coefficient}."
    )


def _from_terms(terms: Mapping[tuple[int, ...], Fraction | float], n: int, degree: int) -> ExactForm:
    table = coordinates.exponents(n, degree)
    multiplicities = coordinates.multiplicities(n, degree)
    values = [terms.get(tuple(map(int, row)), Fraction(0)) for row in table]
    exact = [simple_rational(value) for value in values]
    entries = [value / int(m) for value, m in zip(exact, multiplicities, strict=True)]
    return ExactForm(entries, n, degree, _is_floating(values, exact))


def _from_tensor(tensor: SymmetricTensor) -> ExactForm:
    multiplicities = coordinates.multiplicities(tensor.n, tensor.degree)
    values = [float(value) for value in tensor.coefficients]
    exact = [simple_rational(value) for value in values]
    entries = [value / int(m) for value, m in zip(exact, multiplicities, strict=True)]
    return ExactForm(entries, tensor.n, tensor.degree, _is_floating(values, exact))


def _is_floating(values: list[Any], exact: list[Fraction]) -> bool:
    """Whether some float was taken at its exact binary value with a long denominator: it carries rounding."""
    return any(isinstance(v, float) and e.denominator > 4096 for v, e in zip(values, exact, strict=True))
