"""Limits of neurons with several outputs that merge, as polynomials of their parameters.

r neurons aᵢ ⊗ wᵢ^⊗d are R^M ⊗ ⟨ξ⟩ for the r points ξ = {w₁, …, w_r}, whatever their outer weights. ⟨ξ⟩ has r dimensions
for r ≤ d + 1 points, merged ones too (schemes of length r impose independent conditions on forms of degree ≥ r − 1), so
limits are R^M ⊗ ⟨ξ⟩ again. With up to three points in one place these are sums of blocks

    1 neuron    p ⊗ w^d
    2 merged    p ⊗ w^d + q ⊗ w^(d−1)v
    3 merged    p ⊗ w^d + q ⊗ w^(d−1)v + s ⊗ (w^(d−2)v² + w^(d−1)u)        along a curve, u = 0 in two inputs
    FAT         w^(d−1)x₁, …, w^(d−1)x_M                                   from two sides, in three inputs

with any outer weights p, q, s, and any x_m. At degree 2 there are such limits as well, unless all outer weights of a
block are parallel. Coordinates are w_c = 1, v_c = 0 and v_e = 1, u_c = u_e = 0 for two of them, the `chart` (c, e);
then all parameters are determined, but for the order of equal blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.closure.parameterization import slots
from shallows.questions.charts.closure.term_map import ONE, ZERO, SummedMap, read, write

Vector = NDArray[np.inexact]


#: The block of three neurons that merge from two sides: of three inputs, ⟨ξ⟩ is w^(d−1) times any linear form.
FAT = -3


@dataclass(frozen=True)
class Place:
    """A block's w, v (of two and more), u (of three) and outer weights, one vector of M for each of w^d, w^(d−1)v, …;
    of a FAT one for each coordinate of x, and v, u are zero."""

    w: Vector
    v: Vector
    u: Vector
    outer: Vector

    @property
    def is_fat(self) -> bool:
        """Whether it is FAT."""
        return len(self.outer) > 1 and not np.any(self.v)

    def turned(self, frame: Vector) -> Place:
        """The block in other coordinates: w = frame · ŵ."""
        outer = frame @ self.outer if self.is_fat else self.outer
        return Place(frame @ self.w, frame @ self.v, frame @ self.u, outer)


@dataclass(frozen=True)
class OutputBlocks(SummedMap):
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
        """n − 1 + M for a neuron, 2n − 3 + 2M for two merged ones, 3n − 5 + 3M for three, n − 1 + nM for FAT."""
        sides = [
            self.n - 1 + (self.n - 2) * max(block - 1, 0) + self.outputs * abs(block) for block in self.blocks
        ]
        return sum(sides)

    @cached_property
    def layout(self) -> list[tuple[int, list[int], list[int], list[int], list[list[int]]]]:
        """For each block its size and the places of w, v, u and the outer weights among the parameters."""
        c, e = self.chart
        found, start = [], 0
        for block in self.blocks:
            w, v, u = [ONE if x == c else ZERO for x in range(self.n)], [ZERO] * self.n, [ZERO] * self.n
            for x in (x for x in range(self.n) if x != c):
                w[x], start = start, start + 1
            for vector in (v, u)[: max(block - 1, 0)]:
                for x in (x for x in range(self.n) if x not in (c, e)):
                    vector[x], start = start, start + 1
            v[e] = ONE if block > 1 else ZERO
            outer = []
            for _ in range(abs(block)):
                outer.append(list(range(start, start + self.outputs)))
                start += self.outputs
            found.append((block, w, v, u, outer))
        return found

    def _summands(self) -> Iterator[tuple[int, Fraction, list[int]]]:
        table = coordinates.indices(self.n, self.degree).tolist()
        for block, w, v, u, outer in self.layout:
            for power, weights in enumerate(outer):
                axis = [ONE if x == power else ZERO for x in range(self.n)]
                products = [(v,) * power, *([(u,)] if power == 2 else [])] if block > 0 else [(axis,)]
                for directions in products:
                    for entry, index in enumerate(table):
                        for (taken, rest), share in slots(tuple(index), len(directions)):
                            own = [row[x] for row, x in zip(directions, taken, strict=True)]
                            for m, weight in enumerate(weights):
                                yield m * len(table) + entry, share, [*own, *(w[x] for x in rest), weight]

    def places(self, x: Vector) -> list[Place]:
        """The blocks' vectors."""
        return [
            Place(read(x, w), read(x, v), read(x, u), np.array([x[row] for row in outer]))
            for _, w, v, u, outer in self.layout
        ]

    def parameters(self, places: list[Place]) -> Vector:
        """The x of blocks, brought to this chart."""
        x = np.zeros(
            self.unknowns, np.result_type(*(place.outer.dtype for place in places), places[0].w.dtype)
        )
        for (_, w, v, u, outer), given in zip(self.layout, places, strict=True):
            moved = _in_chart(given, self.chart, self.degree)
            rows = [(w, moved.w), (v, moved.v), (u, moved.u), *zip(outer, moved.outer, strict=True)]
            for row, values in rows:
                write(x, row, values)
        return x


def _in_chart(given: Place, chart: tuple[int, int], degree: int) -> Place:
    """The same block with w_c = 1, v_c = 0 and v_e = 1, u_c = u_e = 0: w = λŵ and v = νŵ + μv̂."""
    c, e = chart
    lead = given.w[c]
    w = given.w / lead
    if given.is_fat or len(given.outer) == 1:
        power = degree - 1 if given.is_fat else degree
        return Place(np.asarray(w), 0 * given.v, 0 * given.u, given.outer * lead**power)
    along = given.v[c]
    v = given.v - along * w
    across = v[e]
    v = v / across
    return on_axes(given, (w, v), (lead, along, across), (given.u[c], (given.u - given.u[c] * w)[e]), degree)


def on_axes(
    given: Place,
    axes: tuple[Vector, Vector],
    scales: tuple[Any, Any, Any],
    shares: tuple[Any, Any],
    degree: int,
) -> Place:
    """The same block with other axes ŵ, v̂: w = λŵ, v = νŵ + μv̂, and u = αŵ + βv̂ + a rest, by (λ, ν, μ) and (α, β)."""
    (w, v), (lead, along, across), (alpha, beta) = axes, scales, shares
    outer = np.zeros_like(given.outer)
    for power, weights in enumerate(given.outer):
        for k in range(power + 1):  # (νŵ + μv̂)^power
            factor = comb(power, k) * along ** (power - k) * across**k * lead ** (degree - power)
            outer[k] = outer[k] + factor * weights
    u = 0 * given.u
    if len(given.outer) > 2:
        for k, share in enumerate((alpha, beta)):
            outer[k] = outer[k] + share * lead ** (degree - 1) * given.outer[2]
        u = (given.u - alpha * w - beta * v) * lead / across**2
    return Place(np.asarray(w), np.asarray(v), np.asarray(u), outer)
