"""Maps x ↦ s whose entries are polynomials of the parameters, given by their terms: values and derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.questions.charts.neurons.neuron import Neuron
from shallows.support.checks import Array

#: A monomial of the parameters: (parameter, exponent) pairs.
Factors = tuple[tuple[int, int], ...]
#: Where a parameter stands among the others, for numbers that are none.
ZERO, ONE = -1, -2


@dataclass(frozen=True)
class Term:
    """A summand of one entry: coefficient · ∏ x_p^e."""

    entry: int
    coefficient: Fraction
    factors: Factors


def summed(summands: Iterable[tuple[int, Fraction, Sequence[int]]]) -> list[Term]:
    """The terms of c · ∏ x_p for each (entry, c, places p): those of one monomial together, those with a ZERO left out.

    >>> summed([(0, Fraction(1, 2), [3, ONE, 3]), (0, Fraction(1, 2), [3, 3]), (1, Fraction(1), [ZERO, 4])])
    [Term(entry=0, coefficient=Fraction(1, 1), factors=((3, 2),))]
    """
    found: dict[tuple[int, Factors], Fraction] = {}
    for entry, share, places in summands:
        if ZERO not in places:
            key = entry, tuple(sorted(Counter(p for p in places if p >= 0).items()))
            found[key] = found.get(key, Fraction(0)) + share
    return [Term(entry, coefficient, factors) for (entry, factors), coefficient in found.items()]


def read(x: NDArray[np.inexact], places: Sequence[int]) -> NDArray[np.inexact]:
    """The numbers that stand in these places."""
    return np.array([x[p] if p >= 0 else float(p == ONE) for p in places])


def write(x: NDArray[np.inexact], places: Sequence[int], values: NDArray[np.inexact]) -> None:
    """Put the numbers into these places, but those that are no parameters."""
    for p, value in zip(places, values, strict=True):
        if p >= 0:
            x[p] = value


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

    @cached_property
    def neuron(self) -> Neuron:
        """The same map."""
        terms = []
        for term in self.terms:
            powers = [0] * self.unknowns
            for p, e in term.factors:
                powers[p] = e
            terms.append((term.entry, float(term.coefficient), tuple(powers)))
        return Neuron(self.unknowns, self.entries, tuple(terms), turns=1, lowest=1)

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
                if not factor.any():
                    continue
                lower = exponents - (np.arange(m) == p) - (np.arange(m) == q)
                H[p, q] = H[q, p] = np.sum(weight * factor * np.prod(x ** np.maximum(lower, 0), axis=1))
        return H


class SummedMap(TermMap, ABC):
    """A map whose terms are summands, those of one monomial together."""

    @abstractmethod
    def _summands(self) -> Iterable[tuple[int, Fraction, list[int]]]:
        """c · ∏ x_p, as (entry, c, places p)."""

    @cached_property
    def terms(self) -> list[Term]:
        """All summands of all entries."""
        return summed(self._summands())


class EquationsMap(TermMap, ABC):
    """The map of critical equations that say how many numbers there are."""

    equations: Any

    @property
    def entries(self) -> int:
        """Those of s."""
        return int(self.equations.entries)

    @property
    def unknowns(self) -> int:
        """The parameters."""
        return int(self.equations.unknowns)


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
