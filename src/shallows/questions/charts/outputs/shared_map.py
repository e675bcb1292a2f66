"""Networks whose neurons share one direction of the outputs: p ⊗ q, q a polynomial of two linear forms, degree ≤ 2.

Coordinates are p_l = 1 for one output, U = (u₁ u₂) with two rows the identity, and the coefficients of q on
u₁^(j−k)u₂^k, degree by degree: all are determined then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations, combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.carrying import Elsewhere
from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.closure.term_map import ONE, ZERO, SummedMap, read, write
from shallows.questions.charts.continuation.equations import ELSEWHERE
from shallows.questions.charts.continuation.metrics import Complex, Pair
from shallows.questions.charts.neurons.apart import ApartEquations
from shallows.questions.charts.neurons.equations import with_more_digits

Vector = NDArray[np.inexact]


@dataclass(frozen=True)
class Shared:
    """p (M), U (n, 2), and the coefficients of q: of each degree j, j + 1 of them."""

    p: Vector
    U: Vector
    q: tuple[Vector, ...]


@dataclass(frozen=True)
class SharedMap(SummedMap):
    """x ↦ s, one output after the other; entries are multiplied by the `factors`, if there are any.

    >>> SharedMap(2, (2,), 2).tensors(np.array([[10.0, 1.0, 2.0, 3.0]]))      # (1, 10) ⊗ (x² + 2xy + 3y²)
    array([[ 1.,  1.,  3., 10., 10., 30.]])
    """

    n: int
    degrees: tuple[int, ...]
    outputs: int
    rows: tuple[int, int] = (0, 1)
    lead: int = 0
    factors: tuple[float, ...] = ()

    @property
    def degree(self) -> int:  # type: ignore[override]
        """The highest power of a parameter."""
        return 2

    @property
    def size(self) -> int:
        """The entries of one output."""
        return sum(coordinates.dimension(self.n, j) for j in self.degrees)

    @property
    def entries(self) -> int:
        """M N."""
        return self.outputs * self.size

    @property
    def unknowns(self) -> int:
        """M − 1, 2(n − 2), and j + 1 for each degree."""
        return self.outputs - 1 + 2 * (self.n - 2) + sum(j + 1 for j in self.degrees)

    @cached_property
    def layout(self) -> tuple[list[int], list[list[int]], list[list[int]]]:
        """The places of p, of u₁ and u₂, and of q among the parameters."""
        p = [ONE if m == self.lead else ZERO for m in range(self.outputs)]
        start = 0
        for m in (m for m in range(self.outputs) if m != self.lead):
            p[m], start = start, start + 1
        U = [[ONE if x == self.rows[k] else ZERO for x in range(self.n)] for k in range(2)]
        for column in U:
            for x in (x for x in range(self.n) if x not in self.rows):
                column[x], start = start, start + 1
        q = []
        for j in self.degrees:
            q.append(list(range(start, start + j + 1)))
            start += j + 1
        return p, U, q

    def _summands(self) -> Iterator[tuple[int, Fraction, list[int]]]:
        p, U, q = self.layout
        place = 0
        for j, own in zip(self.degrees, q, strict=True):
            for index in combinations_with_replacement(range(self.n), j):
                factor = Fraction(self.factors[place]) if self.factors else Fraction(1)
                for k, coefficient in enumerate(own):
                    for chosen, share in _products(U, index, k):
                        for m, lead in enumerate(p):
                            yield m * self.size + place, share * factor, [*chosen, coefficient, lead]
                place += 1

    def split(self, x: Vector) -> Shared:
        """The parts of x."""
        p, U, q = self.layout
        return Shared(read(x, p), np.array([read(x, row) for row in U]).T, tuple(x[row] for row in q))

    def join(self, given: Shared) -> Complex:
        """The x of p ⊗ q, brought to p_l = 1 and U with two rows the identity."""
        B = given.U[list(self.rows)]
        U = given.U @ np.linalg.inv(B)
        p, scale = given.p / given.p[self.lead], given.p[self.lead]
        x = np.zeros(self.unknowns, np.complex128)
        places = self.layout
        q = [scale * _turned(row, B) for row in given.q]
        for row, values in [
            (places[0], p),
            *zip(places[1], U.T, strict=True),
            *zip(places[2], q, strict=True),
        ]:
            write(x, row, values)
        return x


def _products(U: list[list[int]], index: Sequence[int], k: int) -> list[tuple[tuple[int, ...], Fraction]]:
    """The entry of u₁^(j−k)u₂^k at an index: which parameters are multiplied, with their shares."""
    if len(index) < 2:
        return [(tuple(U[k][x] for x in index), Fraction(1))]
    x, y = index
    if k != 1:
        return [((U[k // 2][x], U[k // 2][y]), Fraction(1))]
    return [((U[0][x], U[1][y]), Fraction(1, 2)), ((U[0][y], U[1][x]), Fraction(1, 2))]


def quadratic(q: Vector) -> Vector:
    """The symmetric 2×2 matrix of q₀u₁² + q₁u₁u₂ + q₂u₂²."""
    return np.array([[q[0], q[1] / 2], [q[1] / 2, q[2]]])


def _turned(q: Vector, B: Vector) -> Vector:
    """Coefficients on the columns of U B⁻¹ in place of U."""
    if len(q) == 1:
        return q
    if len(q) == 2:
        return np.asarray(B @ q)
    s = B @ quadratic(q) @ B.T
    return np.array([s[0, 0], 2 * s[0, 1], s[1, 1]])


@dataclass(frozen=True)
class SharedEquations(ApartEquations):
    """The critical equations of p ⊗ q with `shown` outputs."""

    @cached_property
    def map(self) -> SharedMap:
        """x ↦ s."""
        return SharedMap(self.n, self.degrees, self.shown)

    def rewritten(
        self, way: int, start: tuple[Pair, Complex], target: tuple[Pair, Complex]
    ) -> Elsewhere | None:
        """With more digits, and with other entries of p and U held fixed, the next ones each time."""
        if way >= ELSEWHERE:
            return None
        pairs = list(combinations(range(self.n), 2))
        rows, lead = pairs[way % len(pairs)], (way // len(pairs) + way) % self.shown
        other = replace(self.map, rows=rows, lead=lead)
        there, back = partial(_rewritten, self.map, other), partial(_rewritten, other, self.map)
        segment = with_more_digits(other.neuron, self.shown, start, target).segment
        return Elsewhere(segment, there, back, same=not way)

    @property
    def count(self) -> int | None:
        """In two inputs q is anything: p ⊗ q are the pairs of singular vectors of the target, one an output."""
        return self.shown if self.n == 2 else None


def _rewritten(known: SharedMap, wanted: SharedMap, points: Complex) -> Complex:
    """The parameters of the same functions, one a row; not finite where these entries cannot be held fixed."""
    rows = [_joined(wanted, known.split(x)) for x in points]
    return np.array(rows, np.complex128).reshape(len(points), wanted.unknowns)


def _joined(wanted: SharedMap, given: Shared) -> Complex:
    with np.errstate(divide="ignore", invalid="ignore"):
        try:
            return wanted.join(given)
        except np.linalg.LinAlgError:
            return np.full(wanted.unknowns, np.nan + 0j)
