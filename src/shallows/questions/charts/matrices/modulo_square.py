"""The rank-r critical equations of matrices modulo the square of the last input: quadrics of which no constant is seen.

In n inputs and the constant 1, which comes last, a quadric is N = ((Q, ℓ/2), (ℓ/2, c)). Modulo c its rank is that of
(Q | ℓ), n × (n + 1): of the smallest space that has ℓ and the columns of Q. Where ℓ is in the range of Q, N itself has
that rank for one c, so N = U A Uᵀ with U = (I; Z; qᵀ), and it is critical when M U = 0, M the matrix of G(s − t) with
M_cc = 0: the equations of `equations` in n + 1 inputs with a metric that vanishes on the last entry.

The other quadrics of the stratum, rank Q = r − 1 and ℓ outside its range, are met as q → ∞. A generic metric has no
critical points there, which is one condition more; for special ones see `quadratics.linear_neurons`.

Rotation-invariant metrics (`isotropic_metrics`) have far fewer critical points than generic ones, 9 instead of 83 of
rank two in three inputs: paths from a generic metric would run to infinity, and creep there for special targets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.ed_degree import modulo_square_degree
from shallows.mathematics.homotopy.paths import Homotopy
from shallows.mathematics.one_neuron_degree import one_neuron_degree
from shallows.questions.charts.continuation.metrics import Complex, Metrics, Pair
from shallows.questions.charts.matrices.equations import LowRankEquations, frame_action
from shallows.questions.charts.matrices.isotropic_metrics import IsotropicMetrics
from shallows.support.checks import Array


@dataclass(frozen=True)
class ModuloSquareEquations(LowRankEquations):
    """The equations of n×n matrices of rank r (n counts the constant) without their last entry."""

    @property
    def entries(self) -> int:
        """n(n+1)/2 − 1."""
        return super().entries - 1

    @property
    def definite(self) -> bool:
        """The last entry is not seen."""
        return False

    @property
    def count(self) -> int:
        """The generic ED degree."""
        return modulo_square_degree(self.n - 1, self.r)

    @property
    def source(self) -> str:
        """Where `count` comes from."""
        return "generic ED degree of quadrics modulo constants, by Bott's residue formula"

    def special_count(self, metrics: Metrics) -> int | None:
        """At rank one under rotation-invariant metrics: one neuron with the powers 1 and 2."""
        known = self.r == 1 and isinstance(metrics, IsotropicMetrics)
        return one_neuron_degree((1, 2), self.n - 1, True) if known else None

    def frame(self, rng: np.random.Generator) -> Array:
        """A random orthogonal frame of the inputs; the constant stays what it is."""
        full = np.eye(self.n)
        full[:-1, :-1] = np.linalg.qr(rng.standard_normal((self.n - 1, self.n - 1)))[0]
        return full

    def action(self, frame: Array) -> Array:
        """The action of such a frame on all entries but the last."""
        return frame_action(frame)[:-1, :-1]

    def tensors(self, points: Complex) -> Complex:
        """The upper triangles of S without the last entry."""
        return super().tensors(points)[:, :-1]

    def homotopy(self, start: tuple[Pair, Complex], target: tuple[Pair, Complex]) -> Homotopy:
        """The compiled equations along a segment of (G, g), filled up with zeros."""
        full = LowRankEquations(self.n, self.r)
        return full.homotopy(_padded(*start), _padded(*target))

    def _core(self, rng: np.random.Generator) -> Complex:
        """With M_cc = 0."""
        core = super()._core(rng)
        core[-1, -1] = 0.0
        return core


def _padded(gram: Pair, g: Complex) -> tuple[Pair, Complex]:
    return Pair(np.pad(gram.high, (0, 1)), np.pad(gram.low, (0, 1))), np.append(g, 0.0)
