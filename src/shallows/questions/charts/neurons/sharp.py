"""The critical equations of any polynomial map of the unknowns x ↦ s, all outputs in one, with 31 digits.

Under a metric with isotropic functions, such as that of (1, x) or one that rotations leave alone, solutions lie 10³ and
more times as far out as the target, where ⟨s, s⟩ is a small share of its terms, and paths run by there: doubles lose
them. The equations are those of one neuron with a = 1 (`neurons.equations`): ∂s·e = 0, e = (I ⊗ G) s − g.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.homotopy.carrying import Elsewhere
from shallows.questions.charts.continuation.metrics import Complex, Pair
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.neuron import Neuron


@dataclass(frozen=True)
class SharpEquations(NeuronEquations):
    """Equations of neurons with 31 digits where unknowns are large."""

    @property
    def cancels(self) -> bool:
        """They do."""
        return True

    @classmethod
    def of(cls, whole: Neuron) -> SharpEquations:
        """Those of one map."""
        return cls(whole, 1, outer=((1.0,),))


def with_more_digits(
    whole: Neuron, outputs: int, start: tuple[Pair, Complex], target: tuple[Pair, Complex]
) -> Elsewhere:
    """A segment of (G, g) in the same unknowns; `whole` is the map to the entries of all outputs."""
    (first, g1), (last, g0) = start, target
    segment = SharpEquations.of(whole).homotopy((_of_each(first, outputs), g1), (_of_each(last, outputs), g0))
    return Elsewhere(segment, lambda points: points, lambda points: points)


def _of_each(gram: Pair, outputs: int) -> Pair:
    """I ⊗ G."""
    unit = np.eye(outputs, dtype=np.complex128)
    return Pair(np.asarray(np.kron(unit, gram.high)), np.asarray(np.kron(unit, gram.low)))
