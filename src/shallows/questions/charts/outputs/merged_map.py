"""Limits of neurons with several outputs that merge, as polynomials of their parameters.

r neurons aᵢ ⊗ wᵢ^⊗d are R^M ⊗ ⟨ξ⟩ for the r points ξ = {w₁, …, w_r}, whatever their outer weights. ⟨ξ⟩ has r dimensions
for r ≤ d + 1 points, merged ones too (schemes of length r impose independent conditions on forms of degree ≥ r − 1), so
limits are R^M ⊗ ⟨ξ⟩ again. With up to two points in one place, or up to three in two inputs, these are sums of blocks

    1 neuron    p ⊗ w^d
    2 merged    p ⊗ w^d + q ⊗ w^(d−1)v
    3 merged    p ⊗ w^d + q ⊗ w^(d−1)v + s ⊗ w^(d−2)v²        in two inputs

with any outer weights p, q, s. At degree 2 there are such limits as well, unless q and p are parallel. Coordinates are
w_c = 1, v_c = 0 and v_e = 1 for two of them, the `chart` (c, e); then all parameters are determined, but for the order
of equal blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.closure.parameterization import slots
from shallows.questions.charts.closure.term_map import ONE, ZERO, Term, TermMap, read, summed, write

Vector = NDArray[np.inexact]


@dataclass(frozen=True)
class Place:
    """A block's w, v (of two and more) and outer weights, one vector of M for each of w^d, w^(d−1)v, ….."""

    w: Vector
    v: Vector
    outer: Vector


@dataclass(frozen=True)
class OutputBlocks(TermMap):
    """x ↦ s for blocks of merged neurons in n variables, (M, N) entries one output after the other."""

    degree: int
    n: int
    outputs: int
    blocks: tuple[int, ...]
    chart: tuple[int, int] = (0, 1)

    @property
    def entries(self) -> int:
        """M C(n+d−1, d)."""
        return self.outputs * coordinates.dimension(self.n, self.degree)

    @property
    def unknowns(self) -> int:
        """n − 1 + M for a neuron, 2n − 3 + 2M for two merged ones, 1 + 3M for three in two inputs."""
        sides = [self.n - 1 + (self.n - 2) * (block > 1) + self.outputs * block for block in self.blocks]
        return sum(sides)

    @cached_property
    def layout(self) -> list[tuple[int, list[int], list[int], list[list[int]]]]:
        """For each block its size and the places of w, v and the outer weights among the parameters."""
        c, e = self.chart
        found, start = [], 0
        for block in self.blocks:
            w, v = [ONE if x == c else ZERO for x in range(self.n)], [ZERO] * self.n
            for x in (x for x in range(self.n) if x != c):
                w[x], start = start, start + 1
            if block > 1:
                v[e] = ONE
                for x in (x for x in range(self.n) if x not in (c, e)):
                    v[x], start = start, start + 1
            outer = []
            for _ in range(block):
                outer.append(list(range(start, start + self.outputs)))
                start += self.outputs
            found.append((block, w, v, outer))
        return found

    @cached_property
    def terms(self) -> list[Term]:
        """All summands of all entries."""
        table = coordinates.indices(self.n, self.degree).tolist()
        return summed(
            (m * len(table) + entry, share, [*(v[x] for x in taken), *(w[x] for x in rest), weight])
            for _, w, v, outer in self.layout
            for power, weights in enumerate(outer)
            for entry, index in enumerate(table)
            for (taken, rest), share in slots(tuple(index), power)
            for m, weight in enumerate(weights)
        )

    def places(self, x: Vector) -> list[Place]:
        """The blocks' vectors."""
        return [
            Place(read(x, w), read(x, v), np.array([x[row] for row in outer]))
            for _, w, v, outer in self.layout
        ]

    def parameters(self, places: list[Place]) -> Vector:
        """The x of blocks, brought to this chart."""
        x = np.zeros(
            self.unknowns, np.result_type(*(place.outer.dtype for place in places), places[0].w.dtype)
        )
        for (block, w, v, outer), given in zip(self.layout, places, strict=True):
            moved = _in_chart(given, self.chart, self.degree, block)
            rows = [(w, moved.w), (v, moved.v), *zip(outer, moved.outer, strict=True)]
            for row, values in rows:
                write(x, row, values)
        return x


def _in_chart(given: Place, chart: tuple[int, int], degree: int, block: int) -> Place:
    """The same block with w_c = 1, v_c = 0 and v_e = 1: w = λŵ and v = νŵ + μv̂."""
    c, e = chart
    lead = given.w[c]
    w, v, along, across = given.w / lead, given.v, 0.0, 1.0
    if block > 1:
        along = v[c]
        v = v - along * w
        across = v[e]
        v = v / across
    outer = np.zeros_like(given.outer)
    for power, weights in enumerate(given.outer):
        for k in range(power + 1):  # (νŵ + μv̂)^power
            factor = comb(power, k) * along ** (power - k) * across**k * lead ** (degree - power)
            outer[k] = outer[k] + factor * weights
    return Place(np.asarray(w), np.asarray(v), outer)
