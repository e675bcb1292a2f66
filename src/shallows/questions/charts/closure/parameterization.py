"""Limits of sums of powers as polynomials of their parameters: blocks of merged neurons.

When r neurons with growing outer weights of opposite signs come together in some places, the limits of Σ a_j w_j^⊗d are
sums of blocks, one a place, for r ≤ 3 or where at most three meet in one place (d ≥ r − 1: schemes of r points impose
independent conditions on forms of degree d, so limits of spans are spans of limits):

    1 neuron    a w^d
    2 merged    w^(d−1) v                     a tangent vector of the Veronese cone
    3 merged    ±w^(d−2) v² + w^(d−1) u       the osculating planes of curves on it

Over C the sign goes into v; a block −3 is that of the minus sign, which real limits need.
Products are symmetric ones, of total degree d. Scales are fixed by w_c = 1 for one coordinate c, the `chart`, and in
blocks of three by v_c = 0; then all parameters are determined, but for the order of equal blocks and the sign of v.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.closure.term_map import ONE, ZERO, SummedMap, read, write


@dataclass(frozen=True)
class Parameterization(SummedMap):
    """x ↦ s for blocks of merged neurons in n variables, with w_c = 1 in each; `chart` is c, or one for each block."""

    degree: int
    n: int
    blocks: tuple[int, ...]
    chart: int | tuple[int, ...] = 0

    @property
    def charts(self) -> tuple[int, ...]:
        """c of each block."""
        return (self.chart,) * len(self.blocks) if isinstance(self.chart, int) else self.chart

    @property
    def entries(self) -> int:
        """N = C(n+d−1, d)."""
        return coordinates.dimension(self.n, self.degree)

    @cached_property
    def layout(self) -> list[tuple[int, list[list[int]]]]:
        """For each block its size and the places of (w, v, u) among the parameters."""
        places, start = [], 0
        for block, chart in zip(map(abs, self.blocks), self.charts, strict=True):
            vectors = []
            for row in range(block if block > 1 else 1):
                own = [x for x in range(self.n) if x != chart or row == (block - 1 if block > 1 else -1)]
                vector = [ZERO if row else ONE] * self.n
                for k, x in enumerate(own):
                    vector[x] = start + k
                start += len(own)
                vectors.append(vector)
            if block == 1:
                vectors.append([start])
                start += 1
            places.append((block, vectors))
        return places

    @property
    def unknowns(self) -> int:
        """The dimension of the stratum: n for one neuron, 2n − 1 and 3n − 2 for merged ones."""
        return sum({1: self.n, 2: 2 * self.n - 1, 3: 3 * self.n - 2}[abs(block)] for block in self.blocks)

    def _summands(self) -> Iterator[tuple[int, Fraction, list[int]]]:
        """For each entry I of w^(d−k) v₁⋯v_k: the slots of I that v takes, in all orders, over the number of orders."""
        table = coordinates.indices(self.n, self.degree).tolist()
        for (block, places), sign in zip(self.layout, np.sign(self.blocks).tolist(), strict=True):
            w, others = places[0], places[1:]
            products: list[tuple[tuple[list[int], ...], list[int]]] = [((), others[0])]
            if block == 2:
                products = [((others[0],), [])]
            elif block == 3:
                products = [((others[0], others[0]), []), ((others[1],), [])]
            for directions, scale in products:
                for entry, index in enumerate(table):
                    for symbols, share in slots(tuple(index), len(directions)):
                        taken = [row[x] for row, x in zip(directions, symbols[0], strict=True)]
                        own = [w[x] for x in symbols[1]]
                        yield entry, (sign if len(directions) == 2 else 1) * share, [*own, *taken, *scale]

    def vectors(self, x: NDArray[np.inexact]) -> list[list[NDArray[np.inexact]]]:
        """For each block its vectors: [a, w], [w, v] or [w, v, u]; a is a number in an array."""
        found = []
        for block, places in self.layout:
            own = [read(x, row) for row in places]
            found.append(own[::-1] if block == 1 else own)
        return found

    def parameters(self, vectors: list[list[NDArray[np.inexact]]]) -> NDArray[np.inexact]:
        """The x of blocks [a, w], [w, v] and [w, v, u], brought to w_c = 1 (and v_c = 0)."""
        kind = np.result_type(*(part.dtype for block in vectors for part in block))
        x, d = np.zeros(self.unknowns, kind), self.degree
        kinds = zip(self.layout, np.sign(self.blocks), self.charts, vectors, strict=True)
        for (block, places), sign, chart, given in kinds:
            w, *others = given[::-1] if block == 1 else given
            lead = w[chart]
            if block == 1:
                moved = [w / lead, others[0] * lead**d]
            elif block == 2:
                moved = [w / lead, others[0] * lead ** (d - 1)]
            else:  # ±w^(d−2)v² + w^(d−1)u; over the reals the sign of lead^(d−2) is the caller's (`real_form`)
                v, u = others[0] * np.sqrt(lead ** (d - 2) + 0j), others[1] * lead ** (d - 1)
                w, shift = w / lead, v[chart]
                moved = [w, v - shift * w, u + sign * (2 * shift * v - shift**2 * w)]
            for row, values in zip(places, moved, strict=True):
                write(x, row, values if np.iscomplexobj(x) else np.real(values))
        return x


def largest_coordinates(vectors: list[list[NDArray[np.inexact]]]) -> tuple[int, ...]:
    """The largest coordinate of each block's w."""
    return tuple(int(np.argmax(np.abs(block[1] if len(block[0]) == 1 else block[0]))) for block in vectors)


@lru_cache(maxsize=4096)
def slots(
    index: tuple[int, ...], count: int
) -> list[tuple[tuple[tuple[int, ...], tuple[int, ...]], Fraction]]:
    """What `count` of the indices are in order, with the others, and the share of all choices that are such."""
    choices: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
    total = prod(len(index) - k for k in range(count))

    def choose(taken: tuple[int, ...], used: tuple[int, ...]) -> None:
        if len(taken) == count:
            rest = tuple(x for k, x in enumerate(index) if k not in used)
            choices[taken, rest] += 1
            return
        for k, x in enumerate(index):
            if k not in used:
                choose((*taken, x), (*used, k))

    choose((), ())
    return [(key, Fraction(many, total)) for key, many in choices.items()]
