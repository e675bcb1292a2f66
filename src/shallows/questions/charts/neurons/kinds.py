"""What kind of critical point a network is: by its Hessian where all neurons are in use, by idle ones otherwise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.model.activations import PolynomialActivation, polynomial_of
from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.neurons.singular import NeuronFamily
from shallows.questions.charts.points.kinds import hessian_kind, kind_at
from shallows.questions.charts.points.rows import FoundRow


@dataclass(frozen=True)
class Placed:
    """A point of a stratum as a network of the problem; `family` where it is one of many, `kind` if known."""

    point: NeuronPoint
    network: Network
    family: NeuronFamily | None = None
    constant: float = 0.0
    kind: str = ""

    @property
    def dimension(self) -> int:
        """0 for a point."""
        return 0 if self.family is None else self.family.dimension

    def row(self, space: PolynomialSpace) -> FoundRow:
        """Its row of a chart, constants that still neurons give added."""
        point, family = self.point, self.family
        entries = point.entries + space.constant(self.constant) if self.constant else point.entries
        about = None if family is None else (family.description, tuple(map(space.tensor, family.samples)))
        seen = point.signature, self.kind, point.certificate, self.dimension, about, point.limit
        return FoundRow(entries, self.network, point.rank, *seen)


def is_closed(problem: Problem) -> bool:
    """Whether limits of networks are networks, so that none lies below all of them: a fixed, and

    - one neuron, or an even degree and all weights of one sign: weights that grow make the function grow;
    - or quadratic neurons with a linear part, no bias, and Σ aᵢ ≠ 0 (`quadratics.fixed_slope`).

    At odd degree (Nu + v)³ and (−Nu + v′)³ can cancel, and their limit u²c is no network of that width.
    """
    if problem.outer is None:
        return False
    a, degree = problem.outer, len(polynomial_of(problem.activation).coefficients) - 1
    if a.size == 1 or (degree % 2 == 0 and bool(np.all(a > 0) or np.all(a < 0))):
        return True
    return degree == 2 and not problem.bias and has_slope(problem) and bool(a.sum())


def has_slope(problem: Problem) -> bool:
    """Whether the activation has a linear part."""
    activation = problem.activation
    return isinstance(activation, PolynomialActivation) and bool(activation.coefficients[1])


def kind_of(problem: Problem, row: FoundRow) -> str:
    """By the signature on the stratum where all neurons are in use, and none is constant; else by the Hessian."""
    if problem.outer is None and row.rank < problem.width:
        return "saddle"  # an idle neuron with E[p(w·x + b) r] ≠ 0, which there is, decreases the loss to first order
    if row.rank == problem.width and row.network.W.any(axis=1).all():
        return kind_at(row.signature, row.dimension)
    return hessian_kind(problem.hessian(row.network), row.dimension)
