"""The critical equations of Σ aᵢ ⊗ wᵢ^⊗d in coordinates w = F(1, z): `neurons.equations` with the known counts.

A power has a scale that moves between a and w; fixing the first coordinate of w in a random frame fixes it, and leaves
out neurons of a hyperplane that no critical point of a generic problem has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from shallows.mathematics.homotopy.carrying import Elsewhere
from shallows.questions.charts.continuation.metrics import Complex, Metrics, Pair
from shallows.questions.charts.neurons.equations import NeuronEquations, with_more_digits
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.outputs.counts import moved_gaussian_count, one_neuron_count
from shallows.questions.charts.outputs.metrics import MovedMetrics
from shallows.support.checks import Array


@dataclass(frozen=True)
class OutputEquations(NeuronEquations):
    """Neurons (1, z) ↦ (1, z)^⊗d with `outputs` trained outer weights each."""

    @classmethod
    def of_powers(cls, degree: int, n: int, r: int, outputs: int) -> OutputEquations:
        """r neurons in n inputs."""
        return cls(Neuron.of_degrees(range(degree + 1), n - 1), r, outputs)

    @property
    def degree(self) -> int:
        """d."""
        return self.neuron.degree

    @property
    def n(self) -> int:
        """How many coordinates (1, z) has."""
        return self.neuron.n + 1

    def turned(self, points: Complex, frame: Array) -> Complex:
        """Points in the coordinates w = frame · w′, one a row."""
        A, Z = self.split(points)
        V = np.concatenate([np.ones((*Z.shape[:-1], 1)), Z], axis=-1) @ np.linalg.inv(frame).T
        lead = V[..., :1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.join(A * lead**self.degree, V[..., 1:] / lead)

    def rewritten(
        self, way: int, start: tuple[Pair, Complex], target: tuple[Pair, Complex]
    ) -> Elsewhere | None:
        """First the same unknowns with more digits: a path that is lost in doubles is most often far out."""
        return None if way else with_more_digits(self.whole, self.outputs, start, target)

    @property
    def count(self) -> int | None:
        """For one neuron under a generic metric."""
        return one_neuron_count(self.degree, self.neuron.n + 1, self.outputs) if self.r == 1 else None

    @property
    def poles(self) -> int:
        """Two: one neuron runs to infinity where ‖w‖² = 0 and Σ_m b_m(w)² = 0 (`counts`), which is quadratic in the
        target; measured for two and three neurons."""
        return 2

    def special_count(self, metrics: Metrics) -> int | None:
        """For one neuron under a rotation-invariant metric, or that of a Gaussian moved along a line."""
        if self.r > 1:
            return None
        if isinstance(metrics, MovedMetrics):
            return moved_gaussian_count(self.degree, self.n, self.outputs)
        return one_neuron_count(self.degree, self.n, self.outputs, True)


@lru_cache(maxsize=64)
def generic_frame(n: int) -> Array:
    """A fixed random rotation: coordinates w = R(1, z) in which members are solved."""
    return np.asarray(np.linalg.qr(np.random.default_rng([n, 7]).standard_normal((n, n)))[0], np.float64)
