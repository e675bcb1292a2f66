"""Quadratic networks in special position, as functions: sums of forms on planes and spaces, by what they determine.

A group is R^M ⊗ Sym²(U), all outputs having forms of their own on one k-dimensional U, or p ⊗ Sym²(U), one form for
all. U has k rows that are the identity, p one entry that is one. R^M ⊗ Sym² of a line is a neuron.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.coordinates import matrix_entries, symmetric_matrices
from shallows.questions.charts.closure.term_map import ONE, ZERO, SummedMap, read, write
from shallows.questions.charts.continuation.metrics import Complex
from shallows.questions.charts.neurons.apart import ApartEquations

Vector = NDArray[np.inexact]


@dataclass(frozen=True)
class Group:
    """A group on a space of dimension `size`, with coordinates: the `rows` of U that are the identity, and the `lead`
    of p, None where every output has a form of its own."""

    rows: tuple[int, ...]
    lead: int | None = None

    @property
    def size(self) -> int:
        """k."""
        return len(self.rows)


@dataclass(frozen=True)
class Forms:
    """A group's U (n, k) and its forms (M, k, k), symmetric."""

    U: Vector
    S: Vector

    @property
    def shared(self) -> tuple[Vector, Vector]:
        """p and q, where the forms are p ⊗ q; p has length one."""
        left, values, right = np.linalg.svd(self.S.reshape(len(self.S), -1), full_matrices=False)
        return left[:, 0], (values[0] * right[0]).reshape(self.S.shape[1:])


@dataclass(frozen=True)
class SpecialMap(SummedMap):
    """x ↦ s, one output after the other.

    >>> SpecialMap(2, 2, (Group((0, 1), 0),)).tensors(np.array([[10.0, 1.0, 2.0, 3.0]]))  # (1, 10) ⊗ (x² + 4xy + 3y²)
    array([[ 1.,  2.,  3., 10., 20., 30.]])
    """

    n: int
    outputs: int
    groups: tuple[Group, ...]

    @property
    def degree(self) -> int:  # type: ignore[override]
        """The highest power of a parameter."""
        return 2

    @property
    def size(self) -> int:
        """The entries of one output."""
        return coordinates.dimension(self.n, 2)

    @property
    def entries(self) -> int:
        """M N."""
        return self.outputs * self.size

    @cached_property
    def layout(self) -> tuple[list[tuple[list[int], list[list[int]], list[list[int]]]], int]:
        """The places of p, of the columns of U and of the forms of every group, and how many parameters there are.

        A form has one row of places for each output of its own, or one.
        """
        start, parts = 0, []
        for group in self.groups:
            p = [ONE if m == group.lead else ZERO for m in range(self.outputs)]
            for m in range(self.outputs) if group.lead is not None else ():
                if m != group.lead:
                    p[m], start = start, start + 1
            U = [[ONE if x == row else ZERO for x in range(self.n)] for row in group.rows]
            for column in U:
                for x in (x for x in range(self.n) if x not in group.rows):
                    column[x], start = start, start + 1
            pairs, forms = group.size * (group.size + 1) // 2, []
            for _ in range(1 if group.lead is not None else self.outputs):
                forms.append(list(range(start, start + pairs)))
                start += pairs
            parts.append((p, U, forms))
        return parts, start

    @property
    def unknowns(self) -> int:
        """M − 1 for p, k(n − k) for U, k(k + 1)/2 for every form."""
        return self.layout[1]

    def _summands(self) -> Iterator[tuple[int, Fraction, list[int]]]:
        for p, U, forms in self.layout[0]:
            for place, (x, y) in enumerate(combinations_with_replacement(range(self.n), 2)):
                for k, (a, b) in enumerate(combinations_with_replacement(range(len(U)), 2)):
                    ways = [(U[a][x], U[b][y])] if a == b else [(U[a][x], U[b][y]), (U[b][x], U[a][y])]
                    for way in ways:
                        for m in range(self.outputs):
                            own = [forms[m][k]] if len(forms) > 1 else [forms[0][k], p[m]]
                            yield m * self.size + place, Fraction(1), [*way, *own]

    def split(self, x: Vector) -> list[Forms]:
        """The groups of x."""
        found = []
        for p, U, forms in self.layout[0]:
            own = symmetric_matrices(np.array([x[row] for row in forms]))
            S = own if len(forms) > 1 else read(x, p)[:, None, None] * own
            found.append(Forms(np.array([read(x, column) for column in U]).T, S))
        return found

    def join(self, given: list[Forms]) -> Complex:
        """The x of these groups, brought to U with rows that are the identity, and p with an entry that is one."""
        x = np.zeros(self.unknowns, np.complex128)
        for group, one, (p, places, forms) in zip(self.groups, given, self.layout[0], strict=True):
            B = one.U[list(group.rows)]
            U, S = one.U @ np.linalg.inv(B), B @ one.S @ B.T
            for column, values in zip(places, U.T, strict=True):
                write(x, column, values)
            if group.lead is not None:
                first = int(np.argmax(np.abs(S[group.lead])))
                write(x, p, S.reshape(len(S), -1)[:, first] / S[group.lead].ravel()[first])
                S = S[group.lead][None]
            for row, form in zip(forms, S, strict=True):
                write(x, row, matrix_entries(form))
        return x


def best_map(n: int, outputs: int, groups: tuple[Group, ...], given: list[Forms]) -> SpecialMap:
    """That of the largest minors of U, and the largest outputs, for these groups."""
    chosen = []
    for group, one in zip(groups, given, strict=True):
        rows = max(
            combinations(range(n), group.size), key=lambda rows: float(abs(np.linalg.det(one.U[list(rows)])))
        )
        lead = None if group.lead is None else int(np.argmax(np.abs(one.S).max(axis=(1, 2))))
        chosen.append(Group(rows, lead))
    return SpecialMap(n, outputs, tuple(chosen))


@dataclass(frozen=True)
class SpecialEquations(ApartEquations):
    """The critical equations of such functions with `shown` outputs."""

    groups: tuple[Group, ...] = ()

    @cached_property
    def map(self) -> SpecialMap:
        """x ↦ s."""
        return SpecialMap(self.n, self.shown, self.groups)

    @property
    def poles(self) -> int:
        """Two, as of networks (`OutputEquations`)."""
        return 2

    @property
    def r(self) -> int:
        """How many neurons take part."""
        return 3
