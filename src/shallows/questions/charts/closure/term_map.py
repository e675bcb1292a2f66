"""Maps x ↦ s whose entries are polynomials of the parameters, given by their terms: values and derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from shallows.support.checks import Array

#: A monomial of the parameters: (parameter, exponent) pairs.
Factors = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Term:
    """A summand of one entry: coefficient · ∏ x_p^e."""

    entry: int
    coefficient: Fraction
    factors: Factors


class TermMap(ABC):
    """A polynomial map; no parameter has an exponent above `degree` in any term."""

    degree: int

    @property
    @abstractmethod
    def entries(self) -> int:
        """How many entries s has."""

    @property
    @abstractmethod
    def unknowns(self) -> int:
        """How many parameters there are."""

    @property
    @abstractmethod
    def terms(self) -> list[Term]:
        """All summands of all entries."""

    def tensors(self, points: NDArray[np.inexact]) -> NDArray[np.inexact]:
        """The entries of s, a row a point."""
        exponents, coefficients, entry = _table(self)
        values = np.prod(points[:, None, :] ** exponents[None], axis=2) * coefficients
        return np.asarray(values @ np.eye(self.entries)[entry])

    def slopes(self, x: NDArray[np.inexact]) -> NDArray[np.inexact]:
        """D = ∂s by the parameters, (unknowns, N)."""
        exponents, coefficients, entry = _table(self)
        sums = np.eye(self.entries)[entry]
        rows = []
        for p in range(self.unknowns):
            factor, lower = exponents[:, p], exponents - (np.arange(self.unknowns) == p)
            rows.append((factor * coefficients * np.prod(x ** np.maximum(lower, 0), axis=1)) @ sums)
        return np.array(rows)

    def curvature(self, x: Array, form: Array) -> Array:
        """Σ_I form_I ∂∂s_I, (unknowns, unknowns)."""
        exponents, coefficients, entry = _table(self)
        m = self.unknowns
        H = np.zeros((m, m))
        weight = coefficients * form[entry]
        for p in range(m):
            for q in range(p, m):
                factor = exponents[:, p] * (exponents[:, q] - (p == q))
                lower = exponents - (np.arange(m) == p) - (np.arange(m) == q)
                H[p, q] = H[q, p] = np.sum(weight * factor * np.prod(x ** np.maximum(lower, 0), axis=1))
        return H


@lru_cache(maxsize=64)
def _table(given: TermMap) -> tuple[NDArray[np.intp], Array, NDArray[np.intp]]:
    """Exponents (terms, unknowns), coefficients and entries of all terms."""
    terms = given.terms
    exponents = np.zeros((len(terms), given.unknowns), dtype=np.intp)
    for k, term in enumerate(terms):
        for p, e in term.factors:
            exponents[k, p] = e
    coefficients = np.array([float(term.coefficient) for term in terms])
    return exponents, coefficients, np.array([term.entry for term in terms], dtype=np.intp)
