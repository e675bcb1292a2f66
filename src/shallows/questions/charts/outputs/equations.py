"""The critical equations of Σ aᵢ ⊗ wᵢ^⊗d in coordinates w = F(1, z): `neurons.equations` with the known counts.

A power has a scale that moves between a and w; fixing the first coordinate of w in a random frame fixes it, and leaves
out neurons of a hyperplane that no critical point of a generic problem has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from shallows.model.data.gaussian import Gaussian
from shallows.model.data.metric import Frobenius
from shallows.questions.charts.continuation.metrics import Complex, Metrics, Pair
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.outputs.counts import one_neuron_count
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
        """For one neuron under a rotation-invariant metric."""
        return one_neuron_count(self.degree, self.neuron.n + 1, self.outputs, True) if self.r == 1 else None


@dataclass(frozen=True)
class InvariantMetrics:
    """u₀ Frobenius + u₁ Gaussian, the rotation-invariant metrics of data."""

    degree: int
    n: int
    kind: str = "rotation-invariant"

    @property
    def parameters(self) -> int:
        """Two."""
        return 2

    def at(self, u: Complex) -> Pair:
        """The metric with these parameters."""
        first, second = _basis(self.degree, self.n)
        return Pair.of(u[0] * first + u[1] * second)

    def weights_of(self, gram: Array) -> Array:
        """The u of a metric of this kind."""
        table = np.array([matrix.ravel() for matrix in _basis(self.degree, self.n)]).T
        return np.asarray(np.linalg.lstsq(table, gram.ravel(), rcond=None)[0], np.float64)


@lru_cache(maxsize=64)
def _basis(degree: int, n: int) -> tuple[Array, Array]:
    """Integer matrices, the same in every frame that is a rotation."""
    return Frobenius(n).gram(degree), Gaussian(n).gram(degree)


@lru_cache(maxsize=64)
def generic_frame(n: int) -> Array:
    """A fixed random rotation: coordinates w = R(1, z) in which members are solved."""
    return np.asarray(np.linalg.qr(np.random.default_rng([n, 7]).standard_normal((n, n)))[0], np.float64)
