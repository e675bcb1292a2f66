"""From what was found in (t, u), around w = 0 and beyond the ball, to points of a chart and to limits."""

from __future__ import annotations

import numpy as np
from flint import arb

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.exclusion.blown_up import Blown, BlownZero, Edge
from shallows.questions.charts.exclusion.listed import Limits, Listed
from shallows.questions.charts.exclusion.polynomial_form import PolynomialForm
from shallows.questions.charts.exclusion.relu_target import spread
from shallows.questions.charts.exclusion.smooth_form import SmoothForm
from shallows.questions.charts.exclusion.smooth_near_zero import NearZero
from shallows.questions.charts.exclusion.smooth_reach import energy
from shallows.questions.charts.exclusion.smooth_system import SmoothSystem
from shallows.questions.charts.exclusion.smooth_target import SmoothTarget
from shallows.questions.charts.points.point import Certificate
from shallows.support.checks import Array

METHOD = "interval exclusion over norms and directions, Krawczyk"
#: Networks near a limit: how large their weights are (or how small).
NEAR = 1e3


def rises(edge: Edge | None) -> bool:
    """Whether J is proved to rise from the largest of the limits, which is then no supremum."""
    return edge is not None and edge.rises is True


def blown_points(
    problem: Problem, form: SmoothForm | PolynomialForm, target: SmoothTarget, blown: Blown | None
) -> list[Listed]:
    """The points of a search in (t, u)."""
    zeros = blown.zeros if blown is not None else []
    return [_listed(problem, form, target, zero) for zero in zeros]


def _listed(
    problem: Problem, form: SmoothForm | PolynomialForm, target: SmoothTarget, zero: BlownZero
) -> Listed:
    loss = energy(form, target) - zero.taken
    bounds = (max(float(loss.lo[0]), 0.0), max(float(loss.hi[0]), 0.0))
    positive, undecided, negative = (
        1 + zero.curvature.negative,
        zero.curvature.undecided,
        zero.curvature.positive,
    )
    dimension, others = 0, target.codimension - 1
    if zero.outside:
        dimension = others
        undecided += others
    elif others > 0:
        positive += others * (zero.across < 0)
        negative += others * (zero.across > 0)
        undecided += others * (zero.across == 0)
    place = [arb(float(x.lo)).union(arb(float(x.hi))) for x in zero.place]
    outer = float(zero.outer.mid[0])
    if _is_teacher(target, zero):
        v = [target.vectors[0, i] for i in range(target.rank)]
        place = [arb(float(x.lo)).union(arb(float(x.hi))) for x in v]
        outer, bounds = float(target.exact[0]), (0.0, 0.0)
    balls = target.weight_vector(place)
    weights = np.array([float(x.mid()) for x in balls])
    radius = float(np.hypot(spread(balls, weights), zero.outer.width[0]))
    return Listed(
        Network(weights[None, :], [outer], problem.activation),
        bounds,
        1,
        (positive, undecided, negative),
        Certificate(radius, undecided == dimension, True, METHOD),
        dimension=dimension,
        description=f"a sphere of dimension {dimension} around the teacher's span" if dimension else "",
    )


def _is_teacher(target: SmoothTarget, zero: BlownZero) -> bool:
    """Whether the only zero in its box is the teacher, a single neuron."""
    if len(target.exact) != 1 or zero.outside:
        return False
    v = [target.vectors[0, i] for i in range(target.rank)]
    v += [Intervals.exact(0.0)] * (target.codimension > 0)
    return zero.holds(v)


def polynomial_limits(
    problem: Problem,
    form: PolynomialForm,
    target: SmoothTarget,
    best: float,
    near: NearZero,
    far: Blown | None,
) -> Limits:
    """Limits w → 0 and ‖w‖ → ∞ of a polynomial, beside the lowest point: one from which J rises is no infimum."""
    edges = [(far.edge if far is not None else None, "‖w‖ → ∞, a → 0", True)]
    if form.at_zero:
        edges.append((near.blown.edge if near.blown is not None else None, "w → 0, a → ∞", False))
    level = energy(form, target)
    taken = level - best
    open_: list[tuple[Edge, str, bool]] = []
    for edge, words, inverted in edges:
        if edge is None:
            return Limits(
                None,
                (),
                (f"whether the infimum is attained is not decided: limits {words} are not enclosed",),
            )
        if not (rises(edge) or edge.most.hi < taken.lo[0]):
            open_.append((edge, words, inverted))
    if not open_:
        return Limits()
    edge, words, inverted = max(open_, key=lambda item: float(item[0].most.lo))
    others = [other for other, *_ in open_ if other is not edge]
    if not edge.most.lo > taken.hi[0] or any(other.most.hi >= edge.most.lo for other in others):
        return Limits(
            None,
            (),
            (
                f"whether the infimum is attained is not decided: limits {words} may be as low as the lowest point",
            ),
        )
    loss = level - edge.most
    bounds = (max(float(loss.lo[0]), 0.0), max(float(loss.hi[0]), 0.0))
    net = _near_limit(problem, form, target, edge.unit, inverted)
    proof = Certificate(0.0, False, True, "interval exclusion over directions")
    listed = Listed(net, bounds, 1, (0, target.dimension + 1, 0), proof, limit=True)
    return Limits(False, (listed,), (f"the infimum {bounds[1]:.6g} is a limit, {words}: no network has it",))


def _near_limit(
    problem: Problem, form: PolynomialForm, target: SmoothTarget, unit: Array, inverted: bool
) -> Network:
    """A network near the limit in this direction, with its best outer weight."""
    place = unit * (NEAR if inverted else 1 / NEAR)
    outside = len(unit) > target.rank
    z = SmoothSystem(form, target, None, outside=outside).state(Intervals.exact(place[None]))
    weights = np.array([float(x.mid()) for x in target.weight_vector(list(map(float, place)))])
    return Network(weights[None, :], [float(z.a.mid[0])], problem.activation)
