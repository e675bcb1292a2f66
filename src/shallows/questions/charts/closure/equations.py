"""The critical equations on a stratum of limits: F = ∂s · (G s − g) in the parameters of its blocks.

How many solutions a generic metric has is known for two and for three merged neurons (`ed_degree`), and for cubics in
three variables; elsewhere the trace test tells when monodromy has found all: strata of limits are cones, too.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.ed_degree import osculating_degree, pair_beside_neuron_degree, tangential_degree
from shallows.mathematics.homotopy.carrying import Elsewhere
from shallows.mathematics.homotopy.paths import Homotopy
from shallows.questions.charts.closure.pair_beside import PairBeside
from shallows.questions.charts.closure.parameterization import Parameterization, largest_coordinates
from shallows.questions.charts.closure.term_map import TermMap
from shallows.questions.charts.continuation.equations import CommonEquations, random_residual
from shallows.questions.charts.continuation.metrics import Complex, Pair, rounding
from shallows.questions.charts.neurons.equations import with_more_digits
from shallows.support.checks import Array
from shallows.support.ready_code import ReadyCode
from shallows.support.seeds import complex_normal

#: The compiled evaluator.
MERGED = ReadyCode("shallows.questions.charts.closure._loop", "merged")


class TermEquations(CommonEquations):
    """The equations of students that are polynomials of their parameters, for `outputs` outputs with one metric."""

    @property
    @abstractmethod
    def map(self) -> TermMap:
        """x ↦ s, all outputs one after the other."""

    @property
    def count(self) -> int | None:
        """Not known beforehand."""
        return None

    @property
    def r(self) -> int:
        """Two neurons."""
        return 2

    def orbit(self, x: Complex) -> Complex:
        """No other parameters have the same function."""
        return x[None]

    @property
    def outputs(self) -> int:
        """M."""
        return 1

    @property
    def entries(self) -> int:
        """N, for each output."""
        return self.map.entries

    @property
    def metric_size(self) -> int:
        """N."""
        return self.entries // self.outputs

    @property
    def unknowns(self) -> int:
        """The dimension of the stratum."""
        return self.map.unknowns

    def tensors(self, points: Complex) -> Complex:
        """The entries of s, a row a point."""
        return np.asarray(self.map.tensors(points), np.complex128)

    def homotopy(self, start: tuple[Pair, Complex], target: tuple[Pair, Complex]) -> Homotopy:
        """The compiled equations along a segment of (G, g)."""
        size, m = self.entries, self.unknowns
        (first, g1), (last, g0) = start, target
        whole = [np.kron(np.eye(self.outputs), gram) for gram in (last.high, (first - last).high)]
        return Homotopy(
            evaluate=MERGED,
            complexes=np.concatenate([whole[0].ravel(), whole[1].ravel(), g0, g1 - g0]),
            reals=np.array([float(term.coefficient) for term in self.map.terms]),
            program=self._program,
            work=m * (self.map.degree + 1 + 2 * size) + 3 * size + size * size,
            scratch=1,
            unknowns=m,
            noise=rounding(size),
        )

    def rewritten(
        self, way: int, start: tuple[Pair, Complex], target: tuple[Pair, Complex]
    ) -> Elsewhere | None:
        """First the same unknowns with more digits: a path that is lost in doubles is most often far out."""
        return None if way else with_more_digits(self.map.neuron, self.outputs, start, target)

    @cached_property
    def _program(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        terms = self.map.terms
        head = [self.unknowns, self.entries, self.map.degree, len(terms), *(term.entry for term in terms)]
        begin = len(head) + len(terms) + 1
        begin += begin % 2
        starts = np.cumsum([begin // 2, *(len(term.factors) for term in terms)])
        factors = [number for term in terms for factor in term.factors for number in factor]
        gap = begin - len(head) - len(starts)
        return np.array([*head, *starts, *[0] * gap, *factors], dtype=np.int64)

    def first(self, gram: Complex, rng: np.random.Generator) -> tuple[Complex, Complex]:
        """Random parameters, a random form e with ∂s · e = 0, and g = G s − e."""
        x = complex_normal(rng, self.unknowns)
        conditions = np.asarray(self.map.slopes(x), np.complex128)
        return x, np.kron(np.eye(self.outputs), gram) @ self.tensors(x[None])[0] - random_residual(
            conditions, rng
        )


@dataclass(frozen=True)
class MergedEquations(TermEquations):
    """The equations of sums of blocks of merged neurons, at least one of them of two neurons or more."""

    degree: int
    n: int
    blocks: tuple[int, ...]

    @cached_property
    def map(self) -> Parameterization | PairBeside:
        """x ↦ s, with w₁ = 1."""
        if self.blocks == (2, 1):
            return PairBeside(self.degree, self.n)
        return Parameterization(self.degree, self.n, self.blocks)

    def scaled_map(self, vectors: list[list[NDArray[np.inexact]]]) -> Parameterization | PairBeside:
        """The map with w_c = 1 for coordinates c that are large for these blocks."""
        if self.blocks == (2, 1):
            (w, _), (_, u) = vectors
            shares = np.minimum(np.abs(w) / np.abs(w).max(), np.abs(u) / np.abs(u).max())
            return PairBeside(self.degree, self.n, int(np.argmax(shares)))
        return Parameterization(self.degree, self.n, self.blocks, largest_coordinates(vectors))

    @property
    def count(self) -> int | None:
        """The number of solutions for a generic metric, where it is known."""
        known = {(2,): tangential_degree, (3,): osculating_degree, (2, 1): pair_beside_neuron_degree}
        return known[self.blocks](self.degree, self.n) if self.blocks in known else None

    @property
    def r(self) -> int:
        """How many neurons merge to such limits."""
        return sum(self.blocks)

    def orbit(self, x: Complex) -> Complex:
        """All orders of equal blocks, and both signs of v in blocks of three, of y and ε of a pair beside a neuron."""
        if isinstance(self.map, PairBeside):
            signs_of_y = np.where(np.arange(self.unknowns) < 2 * self.n - 1, 1.0, -1.0)
            return np.array([x, signs_of_y * x])
        vectors = self.map.vectors(x)
        images = []
        for order in permutations(range(len(self.blocks))):
            if any(self.blocks[a] != self.blocks[b] for a, b in enumerate(order)):
                continue
            for signs in product((1.0, -1.0), repeat=self.blocks.count(3)):
                left = list(signs)
                moved = [
                    [own[0], left.pop() * own[1], own[2]] if len(own) == 3 else own
                    for own in (vectors[k] for k in order)
                ]
                images.append(self.map.parameters(moved))
        return np.array(images, np.complex128)

    def turned(self, points: Complex, frame: Array) -> Complex:
        """Points in the coordinates w = frame · w′, one a row."""
        back = np.linalg.inv(frame)
        moved = [
            [[back @ part if len(part) > 1 else part for part in block] for block in self.map.vectors(x)]
            for x in points
        ]
        return np.array([self.map.parameters(one) for one in moved], np.complex128).reshape(points.shape)
