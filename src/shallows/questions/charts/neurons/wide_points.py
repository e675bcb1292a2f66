"""What a width has beside networks that are charted one by one: the target, special networks, limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from shallows.mathematics.exact.rational_arrays import exact_product, exact_solution
from shallows.mathematics.same_points import is_among
from shallows.model.activations import polynomial_of
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.double_roots import has_double_roots
from shallows.questions.charts.neurons.idle import network
from shallows.questions.charts.neurons.kinds import Placed
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.neurons.stratum import own_neuron
from shallows.questions.charts.neurons.wide import NEARLY, best_outer, nearest_network, spread
from shallows.questions.charts.neurons.wide_fixed import is_wide_fixed
from shallows.questions.charts.neurons.wide_line import (
    can_be_network,
    is_affine_beyond_two,
    is_beyond_limits,
    is_cubic,
    is_mirrored,
    is_wide_line,
    special_networks,
)
from shallows.questions.charts.neurons.wide_plane import is_wide_plane
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.support.checks import Array

NO_FIT = (
    "the target itself was not found to be a network of this width: among the limits of networks it may be, or out of "
    "reach of real ones"
)
NETWORKS = "the target itself is a function of infinitely many networks, one of which is listed"
UNDECIDED = (
    "the target itself is a limit of networks; that one of them has it was not found, and not excluded"
)
NO_NETWORK = "the target itself is a limit of networks, and no network of this width, which is proved"
OUT_OF_REACH = "the target itself is no limit of networks of this width, which is proved"


@dataclass
class WidePoints:
    """Points beside those known already; `closed` says that all limits which can be lowest are among them, `undecided`
    that the target may be a network or not."""

    placed: list[Placed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    closed: bool = False
    undecided: bool = False


def has_wide_points(problem: Problem) -> bool:
    """Whether a problem has such a width."""
    wide = is_wide_plane(problem) or is_wide_line(problem) or is_wide_fixed(problem)
    return wide or has_double_roots(problem)


def wide_points(problem: Problem, space: PolynomialSpace, known: list[Placed]) -> WidePoints:
    """Those of a problem, its other points being known."""
    neuron, result = own_neuron(problem), WidePoints()
    entries = [item.point.entries for item in known]
    near = POINT_ERROR * float(np.abs(space.target).max())
    if is_wide_line(problem):
        for W, a, s in special_networks(problem, space, neuron):
            if not is_among(s, entries, near):
                result.placed.append(Placed(_point(W, a, s), network(problem, W, a), kind="saddle"))
                entries.append(s)
        _close(problem, space, result)
    if not is_among(space.target, entries, near):
        _add_target(problem, space, neuron, result)
    return result


def _point(W: Array, a: Array, entries: Array, limit: bool = False) -> NeuronPoint:
    """A network, or a limit, that is all there is in its span."""
    return NeuronPoint(W, a, entries, (len(W), 0, 0), None, limit)


def _add_target(problem: Problem, space: PolynomialSpace, neuron: Neuron, result: WidePoints) -> None:
    """The target as a network, or as a limit."""
    fit = nearest_network(problem, space, neuron)
    whole = (len(space.target), 0, 0)
    if fit.is_target:
        result.notes.append(NETWORKS)
        point = NeuronPoint(fit.W, fit.a, space.target, whole)
        result.placed.append(Placed(point, network(problem, fit.W, fit.a)))
    elif not result.closed:
        result.notes.append(NO_FIT)
    elif OUT_OF_REACH not in result.notes:
        result.undecided = not _is_excluded(problem, space)
        result.notes.append(UNDECIDED if result.undecided else NO_NETWORK)
        point = NeuronPoint(fit.W, fit.a, space.target, whole, None, True)
        result.placed.append(Placed(point, network(problem, fit.W, fit.a)))


def _is_excluded(problem: Problem, space: PolynomialSpace) -> bool:
    """Whether the target is proved to be no network."""
    if problem.bias:
        return is_cubic(problem) and is_affine_beyond_two(problem, space)
    return not can_be_network(space.degrees, moments(problem, space), problem.width)


def moments(problem: Problem, space: PolynomialSpace) -> list[Fraction]:
    """tⱼ/cⱼ, exactly."""
    c = polynomial_of(problem.activation).coefficients[list(space.degrees)].tolist()
    return [t / Fraction(float(x)) for t, x in zip(space.exact.target, c, strict=True)]


def _close(problem: Problem, space: PolynomialSpace, result: WidePoints) -> None:
    """Limits in one input that can be lowest: of cubics with a bias, and of J neurons, the target; of J − 1 neurons
    without bias the target, or those at the boundary."""
    lacking = 0 if is_cubic(problem) else len(space.degrees) - problem.width
    result.closed = lacking <= (0 if problem.bias else 1)
    if problem.bias or lacking != 1 or not is_mirrored(space.degrees):
        return
    result.placed += [
        item for k in range(len(space.degrees)) if (item := _boundary(problem, space, k)) is not None
    ]
    if is_beyond_limits(space.degrees, moments(problem, space)):
        result.notes.append(OUT_OF_REACH)


def _boundary(problem: Problem, space: PolynomialSpace, missing: int) -> Placed | None:
    """The best function without one of the powers: neurons at 0 have those below, neurons at infinity those above.

    p is even or odd. q is the power `missing` alone; as roots of it leave 0 and ∞ its neighbours get coefficients of
    the other sign, and s one at the missing power that has the sign of its own neighbours: the loss grows if q has it.
    None where a neighbour is zero, and a neuron idle, or where s is the target.
    """
    c: Any = np.array(
        [Fraction(float(polynomial_of(problem.activation).coefficients[j])) for j in space.degrees],
        dtype=object,
    )
    rows = np.arange(len(c)) != missing
    s = np.zeros(len(c), dtype=object) + Fraction(0)
    s[rows] = exact_solution(space.exact.gram[np.ix_(rows, rows)], space.exact.right[rows])
    slope = (exact_product(space.exact.gram, s) - space.exact.right)[missing] * c[missing]
    inward = [slope * s[k] / c[k] for k in (missing - 1, missing + 1) if 0 <= k < len(c)]
    if not all(inward):
        return None
    entries = s.astype(np.float64)
    below = NEARLY * np.arange(1.0, missing + 1)
    W = np.concatenate([below, 1 / (NEARLY * np.arange(1.0, len(c) - missing))])[:, None] / spread(
        problem, space
    )
    a = best_outer(space, own_neuron(problem).values(W), entries)
    proof = Certificate(float(np.spacing(np.abs(entries).max())), True, True, "a rational number, rounded")
    point = NeuronPoint(W, a, entries, (len(W), 0, 0), proof, True)
    kind = "local minimum" if min(inward) > 0 else "saddle"
    return Placed(point, network(problem, W, a), kind=kind)
