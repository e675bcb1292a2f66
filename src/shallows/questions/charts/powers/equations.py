"""The critical equations of Σ_j w_j^⊗d, outer weights absorbed over C.

Solutions come in orbits of permutations of the neurons and of d-th roots of unity on each: one an orbit is kept. How
many orbits a generic metric has is known for one neuron, for two, and in two variables (`ed_degree`); elsewhere the
trace test tells when monodromy has found all.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from shallows.mathematics.ed_degree import powers_degree
from shallows.mathematics.homotopy.paths import Homotopy
from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.continuation.equations import CommonEquations, random_residual, segment_numbers
from shallows.questions.charts.continuation.metrics import Complex, Metrics, Pair, SpecialMetrics, rounding
from shallows.questions.charts.continuation.special_counts import rank_one_count
from shallows.questions.charts.powers.cancellation import CANCELLING, places
from shallows.support.ready_code import ReadyCode
from shallows.support.seeds import complex_normal

#: The compiled evaluator.
POWERS = ReadyCode("shallows.questions.charts.powers._loop", "powers")


@dataclass(frozen=True)
class PowerEquations(CommonEquations):
    """The equations of sums of r powers of degree d in n variables."""

    degree: int
    n: int
    r: int

    @property
    def entries(self) -> int:
        """N = C(n+d−1, d)."""
        return coordinates.dimension(self.n, self.degree)

    @property
    def ends_well(self) -> bool:
        """Measured: of up to three cubic neurons none is lost; of two quintic ones 18 of 34 creep, for seconds."""
        return self.degree <= 3

    def special_count(self, metrics: Metrics) -> int | None:
        """A theorem for one neuron."""
        return rank_one_count(metrics) if self.r == 1 and isinstance(metrics, SpecialMetrics) else None

    @property
    def unknowns(self) -> int:
        """r n."""
        return self.r * self.n

    @property
    def count(self) -> int | None:
        """The number of orbits for a generic metric, where it is known."""
        return powers_degree(self.degree, self.n, self.r)

    def tensor(self, x: Complex) -> Complex:
        """The entries of Σ_j w_j^⊗d."""
        return np.asarray(self.tensors(x[None, :])[0])

    def tensors(self, points: Complex) -> Complex:
        """The same for many points, one a row: equal exactly for points of one orbit (sums are identifiable)."""
        W = points.reshape(len(points), self.r, self.n)
        return np.asarray(np.prod(W[:, :, coordinates.indices(self.n, self.degree)], axis=-1).sum(axis=1))

    def orbit(self, x: Complex) -> Complex:
        """All permutations and root-of-unity multiples of the neurons."""
        W = x.reshape(self.r, self.n)
        roots = np.exp(2j * np.pi * np.arange(self.degree) / self.degree)
        images = []
        for order in permutations(range(self.r)):
            for turn in product(roots, repeat=self.r):
                images.append((np.array(turn)[:, None] * W[list(order)]).ravel())
        return np.array(images)

    def homotopy(self, start: tuple[Pair, Complex], target: tuple[Pair, Complex]) -> Homotopy:
        """The compiled equations along a segment of (G, g)."""
        (first, _), (last, _) = start, target
        lows = [last.low.ravel(), (first - last).low.ravel()]
        size = self.entries
        head = [self.n, self.r, self.degree, size]
        table = np.concatenate([head, coordinates.exponents(self.n, self.degree).ravel()]).astype(np.int64)
        return Homotopy(
            evaluate=POWERS,
            complexes=np.concatenate([segment_numbers(start, target), *lows]),
            reals=np.zeros(1),
            program=table,
            work=self.unknowns * (self.degree + 1 + 2 * size) + 3 * size + size * size,
            scratch=places(self.n, self.r, self.degree, size),
            unknowns=self.unknowns,
            noise=rounding(size),
            sharp_beyond=CANCELLING,
        )

    def first(self, gram: Complex, rng: np.random.Generator) -> tuple[Complex, Complex]:
        """Random neurons, a random form e with ∇e(w_j) = 0, and g = G s − e."""
        x = complex_normal(rng, self.unknowns)
        W = x.reshape(self.r, self.n)
        lower = np.prod(W[:, coordinates.indices(self.n, self.degree - 1)], axis=-1)
        slopes = coordinates.gradient_matrix(np.eye(self.entries), self.n, self.degree)
        conditions = np.concatenate([np.einsum("m,imx->xi", row, slopes) for row in lower])
        return x, gram @ self.tensor(x) - random_residual(conditions, rng)
