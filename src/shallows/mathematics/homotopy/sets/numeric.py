"""Polynomial systems of any shape with complex coefficients: values, Jacobians and random combinations in NumPy.

Each system knows its coefficients before they were rounded, too: factors that vanish together no longer do when their
product is expanded and rounded, and what depends on that is looked at again in double-double.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.coefficients import ZERO, GaussianRational, to_gaussian
from shallows.mathematics.homotopy.paths import Homotopy
from shallows.mathematics.homotopy.sparse import sharpened, straight_line
from shallows.mathematics.homotopy.start_systems import unit
from shallows.mathematics.homotopy.systems import Exponents, PolynomialSystem, Terms
from shallows.support.tolerances import TINY

Row = dict[Exponents, complex]


@dataclass(frozen=True)
class NumericSystem:
    """Any number of equations in `unknowns` unknowns; `source` makes the `exact` ones, where these are not rounded."""

    unknowns: int
    equations: tuple[Row, ...]
    source: Callable[[], tuple[Terms, ...]] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, system: PolynomialSystem) -> NumericSystem:
        """With the largest coefficient of each equation brought to 1 by a power of two, before anything is rounded."""
        exact = []
        for terms in system.equations:
            factor = GaussianRational(Fraction(2) ** -int(max(value.log2_size() for value in terms.values())))
            exact.append({key: value * factor for key, value in terms.items()})
        rows = tuple({key: complex(value) for key, value in terms.items()} for terms in exact)
        return cls(system.n, rows, lambda: tuple(exact))

    @cached_property
    def exact(self) -> tuple[Terms, ...]:
        """The equations with exact coefficients."""
        return self.source() if self.source is not None else tuple(map(exactly, self.equations))

    def rows(self, chosen: slice) -> NumericSystem:
        """Some of the equations."""
        return NumericSystem(self.unknowns, self.equations[chosen], lambda: self.exact[chosen])

    @cached_property
    def _sharp(self) -> Homotopy:
        plain = straight_line(self.equations, self.equations, self.unknowns, projective=False)
        return sharpened(plain, self.exact, self.exact, self.unknowns)

    def sharply(self, point: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        """Value and Jacobian at a point, from exact coefficients and in double-double: they are right to rounding."""
        value, slope = self._sharp.at(np.append(point, 0.0), len(self.equations))
        return value, slope[:, :-1]

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

    def with_equations(self, more: NumericSystem) -> NumericSystem:
        """These equations and more."""
        rows = (*self.equations, *more.equations)
        return NumericSystem(self.unknowns, rows, lambda: (*self.exact, *more.exact))

    def squared(self, count: int, rng: np.random.Generator) -> NumericSystem:
        """`count` equations: these, or as many random combinations of them where there are more.

        At a point where the Jacobian has rank `count` so has that of the combinations, for almost every choice.
        """
        if len(self.equations) == count:
            return self
        factors = [[complex(z) for z in unit(rng, len(self.equations))] for _ in range(count)]
        rows = tuple(_combined(self.equations, own) for own in factors)
        return NumericSystem(
            self.unknowns, rows, lambda: tuple(_combined_exactly(self.exact, own) for own in factors)
        )


def _combined(rows: tuple[Row, ...], factors: list[complex]) -> Row:
    total: Row = {}
    for factor, terms in zip(factors, rows, strict=True):
        for key, value in terms.items():
            total[key] = total.get(key, 0j) + factor * value
    return total


def _combined_exactly(rows: tuple[Terms, ...], factors: list[complex]) -> Terms:
    total: Terms = {}
    for factor, terms in zip(map(to_gaussian, factors), rows, strict=True):
        for key, value in terms.items():
            total[key] = total.get(key, ZERO) + factor * value
    return total


def exactly(row: Row) -> Terms:
    """The binary numbers that the coefficients are."""
    return {key: to_gaussian(value) for key, value in row.items()}


def partial(row: dict[Exponents, Any], j: int) -> dict[Exponents, Any]:
    """∂/∂xⱼ, with coefficients of the same type."""
    return {
        (*key[:j], key[j] - 1, *key[j + 1 :]): value * type(value)(key[j])
        for key, value in row.items()
        if key[j]
    }


def degree(row: Row) -> int:
    """The total degree."""
    return max((sum(key) for key in row), default=0)
