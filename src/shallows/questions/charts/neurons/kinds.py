"""What kind of critical point a network is: by its Hessian where all neurons are in use, by idle ones otherwise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.signature import signature
from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.neurons.singular import NeuronFamily
from shallows.questions.charts.points.kinds import Levels
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.support.checks import Array


@dataclass(frozen=True)
class Placed:
    """A point of a stratum as a network of the problem; `family` where it is one of many."""

    point: NeuronPoint
    network: Network
    family: NeuronFamily | None = None
    constant: float = 0.0

    @property
    def dimension(self) -> int:
        """0 for a point."""
        return 0 if self.family is None else self.family.dimension

    def entries(self, space: PolynomialSpace) -> Array:
        """The function's coordinates, with constants that still neurons give."""
        if not self.constant:
            return self.point.entries
        return np.asarray(self.point.entries + np.where(space.at == 0, self.constant, 0.0))


def kinds_of(
    problem: Problem, space: PolynomialSpace, placed: list[Placed], excess: Array
) -> NDArray[np.str_]:
    """The kind of each point or family; the lowest local minimum is global, since every function has a lowest level."""
    levels = Levels(excess, float(space.energy))
    floor = levels.same(0.0)
    kind = np.array(
        [_kind(problem, item, bool(at_floor)) for item, at_floor in zip(placed, floor, strict=True)],
        dtype="<U14",
    )
    if len(kind):
        lowest = levels.same(float(excess.min()))
        kind[(kind == "local minimum") & lowest & is_closed(problem)] = "global minimum"
    return kind


def is_closed(problem: Problem) -> bool:
    """Whether limits cannot lie below all networks: a fixed and one sign, so that weights cannot run away."""
    return problem.outer is not None and bool(np.all(problem.outer > 0) or np.all(problem.outer < 0))


def _kind(problem: Problem, item: Placed, at_floor: bool) -> str:
    if at_floor:
        return "global minimum"
    if problem.outer is None and item.point.rank < problem.width:
        return "saddle"  # an idle neuron with E[p(w·x + b) r] ≠ 0, which there is, decreases the loss to first order
    whole = item.point.rank == problem.width and item.point.W.any(axis=1).all()
    if whole:
        positive, zero, negative = item.point.signature
    else:
        eigenvalues = np.linalg.eigvalsh(problem.hessian(item.network))
        positive, zero, negative = signature(eigenvalues, POINT_ERROR)
    if negative:
        return "local maximum" if not positive and not zero else "saddle"
    return "degenerate" if zero > item.dimension else "local minimum"
