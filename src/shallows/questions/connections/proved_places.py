"""Critical points proved in the space of neurons: boxes that hold one, by Krawczyk across whatever moves it.

Fibers (degree 2) and families are divided out as in `charts.orbits`: a slice across them holds one root.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.closure.batch import TermBatch
from shallows.questions.charts.orbits import Orbits
from shallows.questions.charts.points.proved_signature import real_balls
from shallows.questions.charts.points.stratum import RealPoint
from shallows.questions.charts.powers.balls import PowerMap
from shallows.questions.charts.powers.equations import PowerEquations
from shallows.questions.connections.neuron_loss import Neurons

#: Coordinates of a path's end below this share of the largest are taken for zero first: a proof starts from a better
#: guess, and says itself whether it was right.
ROUNDING = 1e-11


@dataclass(frozen=True, eq=False)
class ProvedPlace:
    """Neurons in balls (r, n), one choice of which is a critical point, with the tensor and the loss there."""

    vectors: Ball
    signs: tuple[float, ...]
    tensor: Ball
    loss: Ball


@dataclass(eq=False)
class BallLoss:
    """The loss above the floor of neurons in balls, from the exact G and t."""

    problem: Problem
    exact: ExactLoss = field(init=False)
    gram: Ball = field(init=False)
    target: Ball = field(init=False)
    orbits: Orbits = field(init=False)
    _batches: dict[tuple[float, ...], TermBatch] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.exact = ExactLoss.of(self.problem)
        self.gram = Ball.of_fractions(self.exact.gram.tolist())
        self.target = Ball.of_fractions([self.exact.target.tolist()])
        self.orbits = Orbits(self.problem)

    def batch(self, signs: tuple[float, ...]) -> TermBatch:
        """The equations of neurons of these signs at many boxes."""
        if signs not in self._batches:
            equations = PowerEquations(self.problem.degree, self.problem.n, len(signs))
            self._batches[signs] = TermBatch(PowerMap(equations, signs), self.exact)
        return self._batches[signs]

    def tensors(self, vectors: Ball, signs: tuple[float, ...]) -> Ball:
        """Σ ε_j w_j^⊗d of vectors (m, r, n); zeros without neurons."""
        if not signs:
            return Ball.exact(
                np.zeros((len(vectors.mid), coordinates.dimension(self.problem.n, self.problem.degree)))
            )
        flat = (len(vectors.mid), -1)
        return self.batch(signs).tensors(Ball(vectors.mid.reshape(flat), vectors.rad.reshape(flat)))

    def of_tensors(self, tensors: Ball) -> Ball:
        """(s − t)ᵀG(s − t) of tensors (m, N)."""
        gap = tensors - self.target
        return ((gap @ self.gram) * gap).sum(axis=1)

    def values(self, vectors: Ball, signs: tuple[float, ...]) -> Ball:
        """The loss of vectors (m, r, n)."""
        return self.of_tensors(self.tensors(vectors, signs))

    def slopes(self, place: ProvedPlace) -> Ball:
        """∇ℓ = 2(Gs − b) on entries, (N,)."""
        right = Ball.of_fractions([self.exact.right.tolist()])
        half = (place.tensor[None] @ self.gram - right)[0]
        return half + half

    def hessian(self, place: ProvedPlace) -> Ball:
        """Half the Hessian by the neurons over the place's box, (rn, rn)."""
        flat = (1, -1)
        box = Ball(place.vectors.mid.reshape(flat), place.vectors.rad.reshape(flat))
        return self.batch(place.signs)(box)[1][0]

    def proved(self, neurons: Neurons, dimension: int) -> ProvedPlace | None:
        """The critical point next to these neurons, on a family of this dimension; None where there is no proof."""
        signs = tuple(float(sign) for sign in neurons.signs)
        if not signs:
            return self._at(Ball.exact(np.zeros((0, self.problem.n))), signs)
        size = float(np.abs(neurons.vectors).max())
        small = np.abs(neurons.vectors) <= ROUNDING * size
        for vectors in (np.where(small, 0.0, neurons.vectors), neurons.vectors):
            root = self.orbits.root(RealPoint(vectors, neurons.signs, (0, 0, 0)), dimension)
            if root is not None:
                return self._at(_vectors(root, neurons), signs)
        return None

    def _at(self, vectors: Ball, signs: tuple[float, ...]) -> ProvedPlace:
        tensor = self.tensors(vectors[None], signs)
        return ProvedPlace(vectors, signs, tensor[0], self.of_tensors(tensor)[0])


def _vectors(root: CertifiedRoot, neurons: Neurons) -> Ball:
    flat = real_balls([root])
    return Ball(flat.mid.reshape(neurons.vectors.shape), flat.rad.reshape(neurons.vectors.shape))
