"""Networks of any polynomial neurons with several outputs: the exact loss, and the network as one map for proofs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shallows.mathematics.exact.rational_arrays import block_diagonal
from shallows.model.exact_loss import ExactLoss
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.model.single_outputs import single_outputs
from shallows.questions.charts.continuation.equations import Complex
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.neuron import Neuron, Outer, whole_network
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: Outputs whose targets are combinations of others to this share are; singular values of numbers given in doubles.
DEPENDENT = 1e-12


@dataclass(frozen=True, eq=False)
class OutputSpaces:
    """The space of each output; they share G. As a `Quadratic`, outputs one after the other."""

    spaces: tuple[PolynomialSpace, ...]

    @classmethod
    def of(cls, problem: Problem) -> OutputSpaces:
        """Those of a problem."""
        return cls(tuple(PolynomialSpace.of(one) for one in single_outputs(problem)))

    @property
    def first(self) -> PolynomialSpace:
        """That of output 0."""
        return self.spaces[0]

    @cached_property
    def exact(self) -> ExactLoss:
        """I ⊗ G and all b_m."""
        gram = block_diagonal(*[self.first.exact.gram] * len(self.spaces))
        return ExactLoss(gram, np.concatenate([space.exact.right for space in self.spaces]))

    @cached_property
    def gram(self) -> Array:
        """I ⊗ G."""
        return np.asarray(np.kron(np.eye(len(self.spaces)), self.first.gram), np.float64)

    @cached_property
    def rights(self) -> Array:
        """b_m, one a row."""
        return np.array([space.right for space in self.spaces])

    @cached_property
    def independent(self) -> Array:
        """An orthonormal basis (columns) of the outputs that have a target of their own."""
        return independent(self.rights)

    @property
    def right(self) -> Array:
        """All of them."""
        return np.asarray(self.rights.ravel())

    @cached_property
    def target(self) -> Array:
        """The best polynomials."""
        return np.concatenate([space.target for space in self.spaces])

    @property
    def energy(self) -> float:
        """Σ E y_m²."""
        return float(sum(space.energy for space in self.spaces))

    @property
    def floor(self) -> float:
        """The loss of the best polynomials."""
        return float(sum(space.floor for space in self.spaces))

    def excess(self, entries: Array) -> Array:
        """The loss above the floor, one a row of all outputs."""
        parts = np.split(entries, len(self.spaces), axis=1)
        return np.asarray(
            sum(space.excess(part) for space, part in zip(self.spaces, parts, strict=True)), np.float64
        )

    def less(self, entries: Array) -> OutputSpaces:
        """The targets less polynomials with these entries, all outputs one after the other."""
        parts = np.split(entries, len(self.spaces))
        return OutputSpaces(tuple(space.less(s) for space, s in zip(self.spaces, parts, strict=True)))

    def constants(self, values: Sequence[float]) -> Array:
        """The entries of constants, one an output."""
        return np.concatenate([space.constant(c) for space, c in zip(self.spaces, values, strict=True)])


def independent(rights: Array) -> Array:
    """An orthonormal basis (columns) of the outputs whose b, one a row, are no combinations of others."""
    U, values, _ = np.linalg.svd(rights, full_matrices=False)
    return np.asarray(U[:, values > DEPENDENT * max(float(values.max(initial=0.0)), TINY)])


def network_system(
    neuron: Neuron, r: int, outputs: int, outer: Outer | None, exact: ExactLoss
) -> NeuronSystem:
    """Half the gradient of all outputs' loss: r neurons with their outer weights as one map with weight 1."""
    return NeuronSystem(NeuronEquations(whole_network(neuron, r, outputs, outer), 1, outer=((1.0,),)), exact)


def made_real(equations: NeuronEquations, points: Complex) -> Complex:
    """Each neuron turned by the root of unity that makes it most nearly real; functions stay what they are."""
    A, W = (np.array(part) for part in equations.split(points))
    turns = equations.turns
    for k in range(len(points)):
        for i in range(equations.r):
            off = [np.abs((W[k, i] * zeta).imag).max() for zeta in turns]
            zeta = turns[int(np.argmin(off))]
            W[k, i] *= zeta
            if equations.outer is None:
                A[k, i] *= zeta**-equations.neuron.lowest
    return equations.join(A, W)
