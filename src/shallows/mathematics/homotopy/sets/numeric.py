"""Polynomial systems of any shape with complex coefficients: values, Jacobians and random combinations in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.coefficients import Gaussian
from shallows.mathematics.homotopy.start_systems import unit
from shallows.mathematics.homotopy.systems import Exponents, PolynomialSystem
from shallows.support.tolerances import TINY

Row = dict[Exponents, complex]


@dataclass(frozen=True)
class NumericSystem:
    """Any number of equations in `unknowns` unknowns."""

    unknowns: int
    equations: tuple[Row, ...]

    @classmethod
    def of(cls, system: PolynomialSystem) -> NumericSystem:
        """With the largest coefficient of each equation brought to 1 by a power of two, before anything is rounded."""
        rows = []
        for terms in system.equations:
            factor = Gaussian(Fraction(2) ** -int(max(value.log2_size() for value in terms.values())))
            rows.append({key: complex(value * factor) for key, value in terms.items()})
        return cls(system.n, tuple(rows))

    @cached_property
    def _tables(self) -> tuple[NDArray[np.int64], NDArray[np.complex128], NDArray[np.int64]]:
        """Exponents, coefficients and equation of every term."""
        terms = [(key, value, i) for i, row in enumerate(self.equations) for key, value in row.items()]
        exponents = np.array([key for key, _, _ in terms], np.int64).reshape(len(terms), self.unknowns)
        values = np.array([value for _, value, _ in terms], np.complex128)
        return exponents, values, np.array([i for _, _, i in terms], np.int64)

    def value(self, point: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """The value at a point."""
        exponents, coefficients, places = self._tables
        return self._summed(coefficients * np.prod(point**exponents, axis=1), places)

    def share(self, point: NDArray[np.complex128]) -> NDArray[np.float64]:
        """|value| over Σ |c_α| max(1, ‖x‖)^|α|, an equation: what cancellation or small factors leave of it."""
        exponents, coefficients, places = self._tables
        terms = coefficients * np.prod(point**exponents, axis=1)
        sizes = np.zeros(len(self.equations))
        far = max(1.0, float(np.abs(point).max(initial=0.0)))
        np.add.at(sizes, places, np.abs(coefficients) * far ** exponents.sum(axis=1))
        return np.abs(self._summed(terms, places)) / np.maximum(sizes, TINY)

    def jacobian(self, point: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """∂fᵢ/∂xⱼ at a point."""
        exponents, coefficients, places = self._tables
        result = np.zeros((len(self.equations), self.unknowns), np.complex128)
        for j in range(self.unknowns):
            lowered = exponents.copy()
            lowered[:, j] = np.maximum(lowered[:, j] - 1, 0)
            terms = coefficients * exponents[:, j] * np.prod(point**lowered, axis=1)
            result[:, j] = self._summed(terms, places)
        return result

    def _summed(self, terms: NDArray[np.complex128], places: NDArray[np.int64]) -> NDArray[np.complex128]:
        total = np.zeros(len(self.equations), np.complex128)
        np.add.at(total, places, terms)
        return total

    def with_equations(self, rows: Sequence[Row]) -> NumericSystem:
        """These equations and more."""
        return NumericSystem(self.unknowns, (*self.equations, *rows))

    def squared(self, count: int, rng: np.random.Generator) -> list[Row]:
        """`count` equations: these, or as many random combinations of them where there are more.

        At a point where the Jacobian has rank `count` so has that of the combinations, for almost every choice.
        """
        if len(self.equations) == count:
            return list(self.equations)
        rows: list[Row] = []
        for _ in range(count):
            row: Row = {}
            for factor, terms in zip(unit(rng, len(self.equations)), self.equations, strict=True):
                for key, value in terms.items():
                    row[key] = row.get(key, 0j) + complex(factor) * value
            rows.append(row)
        return rows


def partial(row: Row, j: int) -> Row:
    """∂/∂xⱼ."""
    return {(*key[:j], key[j] - 1, *key[j + 1 :]): value * key[j] for key, value in row.items() if key[j]}


def degree(row: Row) -> int:
    """The total degree."""
    return max((sum(key) for key in row), default=0)
