"""Sums of blocks as polynomials of their parameters: x ↦ the coordinates of the function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import factorial

import numpy as np
from numpy.typing import NDArray

from shallows.questions.charts.closure.term_map import ONE, Term, TermMap, read, summed, write
from shallows.questions.charts.neuron_limits.blocks import Block, Part
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.support.checks import Array


@dataclass(frozen=True)
class BlockMap(TermMap):
    """`degrees` are those of the space; with a bias vectors are (b, w). v_c = 1 for the scaled ones, c in `chart`."""

    n: int
    degrees: tuple[int, ...]
    bias: bool
    blocks: tuple[Block, ...]
    chart: tuple[int, ...]

    @property
    def degree(self) -> int:  # type: ignore[override]
        """The highest power of a parameter."""
        return max(self.degrees)

    @property
    def size(self) -> int:
        """Entries of a vector."""
        return self.n + self.bias

    @cached_property
    def entries(self) -> int:
        """N."""
        return self._neuron((0.0,) * self.degree + (1.0,)).size

    @cached_property
    def layout(self) -> list[tuple[Block, list[list[int]], list[int]]]:
        """For each block the places of its vectors and of its weights among the parameters, ONE for no parameter."""
        start, number, found = 0, 0, []
        for block in self.blocks:
            vectors = []
            for scaled in block.scaled:
                row = [ONE if scaled and x == self.chart[number] else start + x for x in range(self.size)]
                row = [p - (scaled and x > self.chart[number]) if p >= 0 else p for x, p in enumerate(row)]
                number, start = number + scaled, start + self.size - scaled
                vectors.append(row)
            weights = list(range(start, start + block.weights))
            start += block.weights
            found.append((block, vectors, weights))
        return found

    @cached_property
    def unknowns(self) -> int:
        """How many parameters there are."""
        return 1 + max(p for _, vectors, weights in self.layout for row in [*vectors, weights] for p in row)

    @cached_property
    def linear(self) -> NDArray[np.bool_]:
        """The parameters that s is linear in: weights, and vectors in which no part is bent."""
        found = np.zeros(self.unknowns, bool)
        for block, vectors, weights in self.layout:
            bent = {k for part in block.parts for k in part.bent}
            places = weights + [p for k, row in enumerate(vectors) if k not in bent for p in row]
            found[[p for p in places if p >= 0]] = True
        return found

    @cached_property
    def terms(self) -> list[Term]:
        """All summands of all entries."""
        return summed(self._summands())

    def _summands(self) -> Iterator[tuple[int, Fraction, list[int]]]:
        for block, vectors, weights in self.layout:
            for part in block.parts:
                weight = [] if part.weight is None else [weights[part.weight]]
                for entry, c, places in self._part(part, vectors):
                    yield entry, c, places + weight

    def _part(self, part: Part, vectors: list[list[int]]) -> Iterator[tuple[int, Fraction, list[int]]]:
        """The part without its weight: of each monomial of q(x_at) as many factors taken at x_along as it says."""
        at, order = vectors[part.at], part.order
        along = at if part.along is None else vectors[part.along]
        for entry, c, row in self._neuron(part.q).terms:
            factors = [x for x, e in enumerate(row) for _ in range(e)]
            for chosen in combinations(range(len(factors)), order):
                places = [(along if i in chosen else at)[x] for i, x in enumerate(factors)]
                yield entry, factorial(order) * Fraction(c), places

    def _neuron(self, q: tuple[float, ...]) -> Neuron:
        """w ↦ the coordinates of q(w·x), or q(b + w·x)."""
        return neuron_of(q, self.n, self.degrees, self.bias)

    def parted(self, x: Array) -> list[tuple[Block, list[Array], list[float]]]:
        """Each block's vectors and weights."""
        return [
            (
                block,
                [np.real(read(x, row)) for row in vectors],
                np.real(read(x, weights)).tolist() if weights else [],
            )
            for block, vectors, weights in self.layout
        ]

    def alone(self, number: int) -> tuple[BlockMap, slice]:
        """The map of one of the blocks, and where its parameters are among all."""
        before, own = self.blocks[:number], self.blocks[number]
        first = sum(sum(block.scaled) for block in before)
        chart = self.chart[first : first + sum(own.scaled)]
        _, vectors, weights = self.layout[number]
        places = [p for row in [*vectors, weights] for p in row if p >= 0]
        alone = BlockMap(self.n, self.degrees, self.bias, (own,), chart)
        return alone, slice(min(places), max(places) + 1)

    def start(self, vectors: list[Array]) -> Array:
        """Parameters with these vectors, those of all blocks in order, scaled ones divided by their entry v_c."""
        x, left, charts = np.zeros(self.unknowns), list(vectors), list(self.chart)
        for block, rows, _ in self.layout:
            for row, scaled in zip(rows, block.scaled, strict=True):
                v = left.pop(0)
                write(x, row, v / v[charts.pop(0)] if scaled else v)
        return x


def neuron_of(q: tuple[float, ...], n: int, degrees: tuple[int, ...], bias: bool) -> Neuron:
    """The neuron map of a polynomial q of no higher degree, in the coordinates of a space of these degrees.

    >>> neuron_of((0.0, 0.0, 2.0), 1, (2, 3), False).values(np.array([3.0]))
    array([18.,  0.])
    """
    full = [*q, *[0.0] * (max(degrees) + 1 - len(q))]
    if bias:
        return Neuron.affine(full, n)
    plain = Neuron.of_degrees(degrees, n)
    terms = tuple((entry, full[sum(row)], row) for entry, _, row in plain.terms if full[sum(row)])
    return Neuron(plain.n, plain.size, terms, 1, 1)
