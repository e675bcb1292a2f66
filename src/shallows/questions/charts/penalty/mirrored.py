"""Paths on which trained outer weights grow without bound while neurons shrink, in coordinates in which they end.

With β = 1/a and v = √a w a group has s = Σ vvᵀ and P = β Σ vvᵀ: the same equations, the roles of s and P exchanged.
Where a → ∞ and s has a limit, P → 0, and the end is a regular point with β = 0: no network, as at the target itself
where its rank is that of the stratum and its trace is zero. In (a, w) such a path creeps, and is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from shallows.mathematics.homotopy.solutions import Solution, Solutions, SolutionSet
from shallows.questions.charts.continuation.equations import Complex
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.penalty.students import Group, PenalisedEquations, neuron_of, places_of

#: β at an end where it vanishes, known to rounding and the condition there, 10⁹ as seen; others are of size one.
SHRUNK = 1e-6


@dataclass(frozen=True, repr=False)
class MirroredEquations(NeuronEquations):
    """The critical equations of a stratum with trained weights in (β, v)."""

    inputs: int = 0
    groups: tuple[Group, ...] = ()

    @classmethod
    def of(cls, own: PenalisedEquations) -> MirroredEquations:
        """Those of the same stratum."""
        neuron = neuron_of(own.inputs, own.groups, mirrored=True, constants=own.constants)
        return cls(neuron, 1, outer=own.outer, inputs=own.inputs, groups=own.groups)

    @property
    def cancels(self) -> bool:
        """As in (a, w)."""
        return True

    def exchanged(self, points: Complex) -> Complex:
        """(β, v) from (a, w), and back."""
        result = np.array(points, np.complex128)
        for place in places_of(self.inputs, self.groups):
            root = np.sqrt(points[:, place.trained])
            result[:, list(place.unknowns)] *= root[:, None]
            result[:, place.trained] = 1.0 / points[:, place.trained]
        return result

    def has_shrunk(self, x: Complex) -> bool:
        """Whether a β is zero."""
        return any(abs(x[p.trained]) <= SHRUNK for p in places_of(self.inputs, self.groups) if p.first == 0)


def found_mirrored(
    equations: PenalisedEquations,
    starts: Complex,
    solutions: Solutions,
    follow: Callable[[MirroredEquations, Complex], Solutions],
) -> Solutions:
    """The same ends, those of lost paths found by following them in (β, v)."""
    lost = list(solutions.failed)
    if not lost or any(group.weight is not None for group in equations.groups):
        return solutions
    own = MirroredEquations.of(equations)
    again = follow(own, own.exchanged(starts[[end.path for end in lost]]))
    finite, infinite, found = list[Solution](), list[Solution](), set[int]()
    for end in again.finite:
        path = lost[end.path].path
        found.add(path)
        if own.has_shrunk(end.point):
            infinite.append(replace(end, path=path))
        else:
            finite.append(replace(end, path=path, point=own.exchanged(end.point[None])[0]))
    n = solutions.finite.n
    return replace(
        solutions,
        finite=SolutionSet((*solutions.finite, *finite), n),
        at_infinity=SolutionSet((*solutions.at_infinity, *infinite), n),
        failed=SolutionSet(tuple(end for end in lost if end.path not in found), n),
    )
