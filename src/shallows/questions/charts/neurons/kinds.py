"""What kind of critical point a network is: by its Hessian where all neurons are in use, by idle ones otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.signature import signature
from shallows.model.activations import PolynomialActivation
from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.neurons.singular import NeuronFamily
from shallows.questions.charts.points.kinds import Levels
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.support.checks import Array

#: Kinds that the lowest of all points may have, as far as its Hessian and its slopes can tell.
NO_DESCENT = ("local minimum", "degenerate")


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

    def entries(self, space: PolynomialSpace) -> Array:
        """The function's coordinates, with constants that still neurons give."""
        if not self.constant:
            return self.point.entries
        return np.asarray(self.point.entries + np.where(space.at == 0, self.constant, 0.0))


def kinds_of(
    problem: Problem,
    space: PolynomialSpace,
    placed: list[Placed],
    excess: Array,
    of_their_own: Callable[[Placed], str] | None = None,
    closed: bool = False,
) -> NDArray[np.str_]:
    """The kind of each point or family; where limits are known the lowest, if nothing descends from it, is global."""
    judge = of_their_own or (lambda item: _kind(problem, item))
    levels = Levels(excess, float(space.energy))
    floor = levels.same(0.0)
    kind = np.array(
        [
            "global minimum" if low else item.kind or judge(item)
            for item, low in zip(placed, floor, strict=True)
        ],
        dtype="<U14",
    )
    if len(kind):
        lowest = levels.same(float(excess.min()))
        kind[np.isin(kind, NO_DESCENT) & lowest & closed] = "global minimum"
    return kind


def is_closed(problem: Problem) -> bool:
    """Whether limits of networks are networks, so that none lies below all of them: a fixed, and

    - one neuron, or an even degree and all weights of one sign: weights that grow make the function grow;
    - or quadratic neurons with a linear part, no bias, and Σ aᵢ ≠ 0 (`quadratics.fixed_slope`).

    At odd degree (Nu + v)³ and (−Nu + v′)³ can cancel, and their limit u²c is no network of that width.
    """
    if problem.outer is None:
        return False
    assert isinstance(problem.activation, PolynomialActivation)
    a, degree = problem.outer, len(problem.activation.coefficients) - 1
    if a.size == 1 or (degree % 2 == 0 and bool(np.all(a > 0) or np.all(a < 0))):
        return True
    return degree == 2 and not problem.bias and has_slope(problem) and bool(a.sum())


def has_slope(problem: Problem) -> bool:
    """Whether the activation has a linear part."""
    activation = problem.activation
    return isinstance(activation, PolynomialActivation) and bool(activation.coefficients[1])


def _kind(problem: Problem, item: Placed) -> str:
    if problem.outer is None and item.point.rank < problem.width:
        return "saddle"  # an idle neuron with E[p(w·x + b) r] ≠ 0, which there is, decreases the loss to first order
    whole = item.point.rank == problem.width and item.point.W[:, int(problem.bias) :].any(axis=1).all()
    if whole:
        return _of_signature(item.point.signature, item.dimension)
    return hessian_kind(problem, item.network, item.dimension)


def hessian_kind(problem: Problem, net: Network, dimension: int = 0) -> str:
    """What kind of point a network is, by the eigenvalues there; so many of them are zero along a family."""
    return _of_signature(signature(np.linalg.eigvalsh(problem.hessian(net)), POINT_ERROR), dimension)


def _of_signature(seen: tuple[int, int, int], dimension: int) -> str:
    positive, zero, negative = seen
    if negative:
        return "local maximum" if not positive and not zero else "saddle"
    return "degenerate" if zero > dimension else "local minimum"
