"""The neuron map ψ: w ↦ the coefficients of a neuron's function, a vector of polynomials in w."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb, gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates

#: Fixed outer weights, a row of M numbers for each neuron.
Outer = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Neuron:
    """ψ(w) ∈ C^N, N = `size`: entry e sums coefficient · w^exponents over its terms (e, coefficient, exponents).

    `turns` is how many roots of unity ζ there are for which ψ(ζw) = ζ^`lowest` ψ(w): symmetries of the student, the
    second factor going to the outer weight.
    """

    n: int
    size: int
    terms: tuple[tuple[int, float, tuple[int, ...]], ...]
    turns: int
    lowest: int

    @classmethod
    def of_degrees(cls, degrees: Sequence[int], n: int) -> Neuron:
        """All monomials of these degrees in n inputs, degree by degree: Σ c_j (w·x)^j, the c_j in the metric.

        >>> Neuron.of_degrees([0, 2], 2).values(np.array([2.0, 3.0]))
        array([1., 4., 6., 9.])
        """
        rows = [tuple(row) for j in degrees for row in _exponents(n, j)]
        terms = tuple((i, 1.0, row) for i, row in enumerate(rows))
        return cls(n, len(rows), terms, *_turns(degrees))

    @classmethod
    def affine(cls, coefficients: Sequence[float], n: int) -> Neuron:
        """p(b + w·x), (b, w) ↦ its coefficients p⁽ⁱ⁾(b)/i! · w^I on x^I / mult(I), |I| = i = 0, …, d.

        >>> Neuron.affine([0.0, 1.0, 1.0], 1).values(np.array([2.0, 3.0]))      # 2 + 3x + (2 + 3x)²
        array([ 6., 15.,  9.])
        """
        degree, terms, entry = len(coefficients) - 1, [], 0
        for i in range(degree + 1):
            for row in _exponents(n, i):
                terms += [
                    (entry, float(comb(j, i) * coefficients[j]), (j - i, *row))
                    for j in range(i, degree + 1)
                    if coefficients[j]
                ]
                entry += 1
        support = [j for j, c in enumerate(coefficients) if c]
        return cls(n + 1, entry, tuple(terms), *_turns(support))

    def without_constant(self) -> Neuron:
        """The same less the first entry: functions modulo constants.

        >>> Neuron.affine([5.0, 0.0, 1.0], 1).without_constant().values(np.array([2.0, 3.0]))      # 12x + 9x²
        array([12.,  9.])
        """
        terms = tuple((entry - 1, c, row) for entry, c, row in self.terms if entry)
        return replace(self, size=self.size - 1, terms=terms)

    @classmethod
    def of_products(cls, n: int, size: int, products: Iterable[tuple[int, float, Sequence[int]]]) -> Neuron:
        """Sums of products c · w_i w_j ⋯, given as (entry, c, (i, j, …)), those of one monomial together.

        >>> Neuron.of_products(2, 1, [(0, 1, (0, 1)), (0, 2, (1, 0)), (0, 1, ())]).values(np.array([2.0, 5.0]))
        array([31.])
        """
        sums: dict[tuple[int, tuple[int, ...]], float] = {}
        for entry, c, unknowns in products:
            row = [0] * n
            for x in unknowns:
                row[x] += 1
            sums[entry, tuple(row)] = sums.get((entry, tuple(row)), 0) + c
        table = tuple((entry, float(c), row) for (entry, row), c in sorted(sums.items()) if c)
        return cls(n, size, table, turns=1, lowest=1)

    @property
    def degree(self) -> int:
        """The highest degree in w."""
        return max(sum(row) for _, _, row in self.terms)

    def values(self, W: NDArray[Any]) -> NDArray[Any]:
        """ψ at each row, (…, n) → (…, N)."""
        return self._sum(W, ())

    def slopes(self, W: NDArray[Any]) -> NDArray[Any]:
        """∂ψ at each row, (…, n) → (…, n, N)."""
        return np.stack([self._sum(W, (x,)) for x in range(self.n)], axis=-2)

    def bends(self, W: NDArray[Any]) -> NDArray[Any]:
        """∂²ψ at each row, (…, n) → (…, n, n, N)."""
        rows = [[self._sum(W, (x, y)) for y in range(self.n)] for x in range(self.n)]
        return np.stack([np.stack(row, axis=-2) for row in rows], axis=-3)

    def _sum(self, W: NDArray[Any], along: tuple[int, ...]) -> NDArray[Any]:
        """∂ψ in the variables `along`, one after the other."""
        result = np.zeros((*W.shape[:-1], self.size), np.result_type(W, np.float64))
        for entry, coefficient, row in self.terms:
            left, factor = list(row), coefficient
            for x in along:
                factor *= left[x]
                left[x] -= 1
            if factor:
                result[..., entry] += factor * np.prod(W ** np.array(left), axis=-1)
        return result


def _turns(degrees: Sequence[int]) -> tuple[int, int]:
    """ζ^j is the same for all degrees j when ζ^g = 1, g the greatest common divisor of their differences."""
    return max(gcd(*(j - degrees[0] for j in degrees)), 1), degrees[0]


@lru_cache(maxsize=128)
def _exponents(n: int, degree: int) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(c) for c in row) for row in coordinates.exponents(n, degree))


def whole_network(neuron: Neuron, r: int, outputs: int, outer: Outer | None) -> Neuron:
    """(a₁, w₁, a₂, w₂, …) ↦ Σ aᵢ ⊗ ψ(wᵢ), or (w₁, w₂, …) where a is fixed.

    >>> whole_network(Neuron.of_degrees([1], 1), 1, 2, None).values(np.array([3.0, 5.0, 2.0]))
    array([ 6., 10.])
    """
    lead = outputs if outer is None else 0
    own = lead + neuron.n
    terms = []
    for i in range(r):
        for m in range(outputs):
            weight = 1.0 if outer is None else outer[i][m]
            for entry, coefficient, row in neuron.terms:
                powers = [0] * (r * own)
                powers[i * own + lead : (i + 1) * own] = row
                if outer is None:
                    powers[i * own + m] += 1
                if weight:
                    terms.append((m * neuron.size + entry, coefficient * weight, tuple(powers)))
    return Neuron(r * own, outputs * neuron.size, tuple(terms), turns=1, lowest=1)
