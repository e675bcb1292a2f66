"""Limits of two neurons x(u·x) + y(u·x)^k, k odd, as polynomials of their parameters.

A neuron a(c₁z + c_k z^k) at w = ρu is x u + y u^k with x = aρc₁ and y = aρ^k c_k: any x and y with xy of the sign of
c₁c_k. So networks of two neurons are the pairs of a linear form in ⟨u₁, u₂⟩ and a form of degree k in ⟨u₁^k, u₂^k⟩
whose coordinates have these signs, and limits are where a sign is lost or u₁ and u₂ merge. Blocks, one letter each:

    P    y u^k                                      a neuron at infinity
    N    x u + y u^k                                a neuron
    L    ℓ, any linear form                         a neuron at zero, beside one of any size
    M    x w + x′v + y w^k + y′w^(k−1)v             two merged neurons
    F    x w + y w^k + y′w^(k−1)v                   two that merge at infinity

Coordinates are u_c = 1, v_c = 0 and v_e = 1 for two of them, the `chart` (c, e).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.carrying import Elsewhere
from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.closure.equations import TermEquations
from shallows.questions.charts.closure.parameterization import slots
from shallows.questions.charts.closure.term_map import ONE, ZERO, Term, TermMap, read, summed, write
from shallows.questions.charts.continuation.metrics import Complex, Pair
from shallows.questions.charts.neuron_limits import meeting

Vector = NDArray[np.inexact]
#: The outer weights of each kind of block, in order.
WEIGHTS = {"P": ("y",), "N": ("x", "y"), "L": (), "M": ("x", "x'", "y", "y'"), "F": ("x", "y", "y'")}
#: The strata of limits of two neurons, by their blocks.
STRATA = ("NP", "LP", "PP", "M", "F")


@dataclass(frozen=True)
class Block:
    """A block's u (of an L its linear form), v of merged neurons, and outer weights by name; 0 for those it has not."""

    kind: str
    u: Vector
    v: Vector
    x: complex = 0.0
    x1: complex = 0.0
    y: complex = 0.0
    y1: complex = 0.0


@dataclass(frozen=True)
class LimitMap(TermMap):
    """x ↦ s: the linear form, then the form of degree k."""

    degree: int
    n: int
    kinds: str
    chart: tuple[int, int] = (0, 1)

    @property
    def entries(self) -> int:
        """n + C(n+k−1, k)."""
        return self.n + coordinates.dimension(self.n, self.degree)

    @property
    def unknowns(self) -> int:
        """The dimension of the stratum."""
        sizes = {"L": self.n, "M": 2 * self.n - 3, "F": 2 * self.n - 3}
        return sum(sizes.get(kind, self.n - 1) + len(WEIGHTS[kind]) for kind in self.kinds)

    @cached_property
    def layout(self) -> list[tuple[str, list[int], list[int], dict[str, int]]]:
        """For each block its kind and the places of u, v and the outer weights among the parameters."""
        c, e = self.chart
        found, start = [], 0
        for kind in self.kinds:
            u, v = [ONE if x == c and kind != "L" else ZERO for x in range(self.n)], [ZERO] * self.n
            for x in (x for x in range(self.n) if x != c or kind == "L"):
                u[x], start = start, start + 1
            if kind in "MF":
                v[e] = ONE
                for x in (x for x in range(self.n) if x not in (c, e)):
                    v[x], start = start, start + 1
            weights = {name: start + k for k, name in enumerate(WEIGHTS[kind])}
            start += len(weights)
            found.append((kind, u, v, weights))
        return found

    @cached_property
    def terms(self) -> list[Term]:
        """All summands of all entries."""
        return summed(self._summands())

    def _summands(self) -> Iterator[tuple[int, Fraction, list[int]]]:
        table = coordinates.indices(self.n, self.degree).tolist()
        for kind, u, v, weights in self.layout:
            for x in range(self.n):
                if kind == "L":
                    yield x, Fraction(1), [u[x]]
                for name, row in (("x", u), ("x'", v)):
                    if name in weights:
                        yield x, Fraction(1), [row[x], weights[name]]
            for power, name in ((0, "y"), (1, "y'")):
                if name not in weights:
                    continue
                for entry, index in enumerate(table):
                    for (taken, rest), share in slots(tuple(index), power):
                        own = [v[x] for x in taken] + [u[x] for x in rest]
                        yield self.n + entry, share, [*own, weights[name]]

    def blocks(self, x: Vector) -> list[Block]:
        """The blocks' vectors and weights."""
        found = []
        for kind, u, v, weights in self.layout:
            values = [x[weights[name]] if name in weights else 0.0 for name in ("x", "x'", "y", "y'")]
            found.append(Block(kind, read(x, u), read(x, v), *values))
        return found

    def parameters(self, blocks: list[Block]) -> Complex:
        """The x of blocks, brought to this chart."""
        x = np.zeros(self.unknowns, np.complex128)
        for (_, u, v, weights), given in zip(self.layout, blocks, strict=True):
            moved = _in_chart(given, self.chart, self.degree)
            numbers = {"x": moved.x, "x'": moved.x1, "y": moved.y, "y'": moved.y1}
            for row, values in ((u, moved.u), (v, moved.v)):
                write(x, row, values)
            for name, p in weights.items():
                x[p] = numbers[name]
        return x


def _in_chart(given: Block, chart: tuple[int, int], degree: int) -> Block:
    """The same block with u_c = 1, v_c = 0 and v_e = 1: u = λû and v = νû + μv̂."""
    if given.kind == "L":
        return given
    (c, e), d = chart, degree
    lead = given.u[c]
    u, v, along, across = given.u / lead, given.v, 0.0, 1.0
    if given.kind in "MF":
        along = v[c]
        v = v - along * u
        across = v[e]
        v = v / across
    x, y = lead * given.x + along * given.x1, lead**d * given.y + lead ** (d - 1) * along * given.y1
    return Block(given.kind, u, v, x, across * given.x1, y, lead ** (d - 1) * across * given.y1)


@dataclass(frozen=True)
class LimitEquations(TermEquations):
    """The critical equations of one stratum of limits."""

    degree: int
    n: int
    kinds: str

    @cached_property
    def map(self) -> LimitMap:
        """x ↦ s, u₁ = 1."""
        return LimitMap(self.degree, self.n, self.kinds)

    def orbit(self, x: Complex) -> Complex:
        """All orders of equal blocks."""
        blocks = self.map.blocks(x)
        orders = [
            order
            for order in permutations(range(len(blocks)))
            if all(self.kinds[a] == self.kinds[b] for a, b in enumerate(order))
        ]
        return np.array([self.map.parameters([blocks[k] for k in order]) for order in orders])

    def rewritten(
        self, way: int, start: tuple[Pair, Complex], target: tuple[Pair, Complex]
    ) -> Elsewhere | None:
        """With more digits, and then, of two powers, in parameters that stay finite where these meet (`meeting`)."""
        if way != 1 or self.kinds not in ("NP", "PP"):
            return super().rewritten(way, start, target)
        linear = self.kinds == "NP"
        segment = meeting.MeetingEquations(self.degree, self.n, linear).homotopy(start, target)
        there = partial(meeting.there, n=self.n, linear=linear)
        return Elsewhere(segment, there, partial(meeting.back, n=self.n))
