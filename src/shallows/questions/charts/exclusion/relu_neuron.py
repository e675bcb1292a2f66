"""The chart of one ReLU neuron against a ReLU network of low rank: complete, by exclusion over directions."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from shallows.mathematics.balls.rounding import above, below
from shallows.mathematics.balls.systems import precision
from shallows.model.activations import ReLU
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.exclusion.listed import Listed, chart_of_listed
from shallows.questions.charts.exclusion.one_neuron import (
    CriticalDirections,
    Direction,
    critical_directions,
    weights_of,
)
from shallows.questions.charts.exclusion.relu_target import BITS, ReLUTarget, spread
from shallows.questions.charts.exclusion.setting import beyond
from shallows.questions.charts.points.point import EXACT, Certificate
from shallows.questions.charts.result import Chart
from shallows.support.errors import InvalidProblem, NotConverged
from shallows.support.progress import Shown

#: The largest rank of a teacher: three angles take a second or so, four would take hours.
LARGEST_RANK = 4
METHOD = "interval exclusion over directions, Krawczyk, ball arithmetic"


def why_not(problem: Problem) -> str:
    """Why the exclusion over directions does not apply; empty where it does."""
    target = problem.target
    if not isinstance(problem.activation, ReLU):
        return f"the students' activation is {problem.activation!r}, not ReLU()"
    if not (isinstance(target, Network) and isinstance(target.activation, ReLU)):
        return "the target is no ReLU network"
    if beyond(problem, target):
        return beyond(problem, target)
    if problem.width != 1 and not (problem.width == 2 and problem.n == 2):
        return f"the width is {problem.width} at n = {problem.n}; one neuron is charted, and two at n = 2"
    if problem.outer is not None and not problem.outer.all():
        return "an outer weight is fixed to zero: its neuron is no part of the function"
    return ""


def relu_neuron_chart(problem: Problem, certify: bool, progress: Shown = False) -> Chart:
    """Every critical point of one ReLU neuron."""
    target, data = problem.target, problem.data.as_gaussian()
    assert isinstance(target, Network) and data is not None
    form = ReLUTarget.of(target.W, np.atleast_2d(target.a)[0], data.covariance)
    if form.rank > LARGEST_RANK:
        raise InvalidProblem(
            f"The teacher's neurons span {form.rank} dimensions (exactly, as they are stored); directions are searched "
            f'in up to {LARGEST_RANK}. Fix: a teacher of lower rank, or method="descent".'
        )
    directions = critical_directions(form, progress)
    points = _points(problem, form, directions)
    doubtful = [d for d in directions.found if not d.pull_sign and not d.pull.is_zero()]
    listed = [_zero_function(problem, form, points), *points]
    return chart_of_listed(
        problem,
        listed,
        scope=_scope(directions, doubtful),
        notes=_notes(problem, form, directions),
        searched=not directions.undecided,
        certify=certify,
    )


def one_neuron_points(problem: Problem, target: ReLUTarget, progress: Shown = False) -> list[Listed]:
    """The zero function and all critical points of one neuron, whose outer weight may be any of the problem's."""
    directions = critical_directions(target, progress)
    if directions.undecided or any(not d.pull_sign and not d.pull.is_zero() for d in directions.found):
        raise NotConverged(
            "The critical points of one neuron are degenerate here: its chart (width=1) says which."
        )
    points = _points(problem, target, directions)
    return [_zero_function(problem, target, points), *points]


def _points(problem: Problem, target: ReLUTarget, directions: CriticalDirections) -> list[Listed]:
    return [_listed(problem, target, d) for d in directions.found if _outer(problem, d) is not None]


def _outer(problem: Problem, direction: Direction) -> float | None:
    """The outer weight of a neuron with amplitude 2c ≠ 0: one of the fixed ones with that sign, or 0.0 for any."""
    if not direction.pull_sign:
        return None
    if problem.outer is None:
        return 0.0
    fitting = [float(a) for a in problem.outer[0] if a * direction.pull_sign > 0]
    return fitting[0] if fitting else None


def _listed(problem: Problem, target: ReLUTarget, direction: Direction) -> Listed:
    """Loss, signature and network at a critical direction."""
    with precision(BITS):
        unit = arb(2) ** target.exponent
        amplitude = 2 * direction.pull * unit
        loss = (target.energy - 2 * direction.pull * direction.pull) * unit * unit
        fixed = _outer(problem, direction)
        outer = fixed or float(np.sqrt(abs(float(amplitude.mid()))) * direction.pull_sign)
        weights, balls = weights_of(target, direction, amplitude / arb(outer))
        radius = spread(balls, weights)
    signature, certified = _signature(target, direction)
    dimension = target.dimension - target.rank - 1 if direction.outside else 0
    words = (
        f"a sphere of dimension {dimension}: neurons at one angle to the teacher's span, all ways around it"
    )
    return Listed(
        Network(weights[None, :], [outer], problem.activation),
        (below(loss), above(loss)),
        1,
        signature,
        Certificate(radius, certified, True, METHOD),
        dimension=dimension,
        description=words if dimension else "",
    )


def _signature(target: ReLUTarget, direction: Direction) -> tuple[tuple[int, int, int], bool]:
    """Of 1 ⊕ −4c∇²c, on the functions sσ(u·x): as many dimensions as Σ has rank."""
    inner = direction.curvature
    falls, rises = (inner.positive, inner.negative)[:: direction.pull_sign]
    positive, zero, negative = 1 + rises, inner.undecided, falls
    others = target.dimension - target.rank
    if direction.outside:
        zero += others - 1
        return (positive, zero, negative), inner.certified
    if not direction.rest:
        zero += others
    elif direction.rest * direction.pull_sign > 0:
        negative += others
    else:
        positive += others
    return (positive, zero, negative), inner.certified and (direction.rest != 0 or not others)


def _zero_function(problem: Problem, target: ReLUTarget, points: list[Listed]) -> Listed:
    """s = 0: a saddle as soon as some direction pulls with the sign of a; else nothing is lower."""
    outer = 0.0 if problem.outer is None else float(problem.outer[0, 0])
    with precision(BITS):
        energy: Any = target.energy * (arb(4) ** target.exponent) if target.rank else arb(0)
    net = Network(np.zeros((1, problem.n)), [outer], problem.activation)
    return Listed(net, (below(energy), above(energy)), 0, (0, 0, 0), EXACT, escapes=bool(points))


def _scope(directions: CriticalDirections, doubtful: list[Direction]) -> str:
    parts = list(directions.undecided)
    if doubtful:
        largest = max(float(d.pull.abs_upper()) for d in doubtful)
        parts.append(f"functions whose amplitude is below {4 * largest:.2g}")
    return "all networks but for " + " and ".join(parts) if parts else ""


def _notes(problem: Problem, target: ReLUTarget, directions: CriticalDirections) -> list[str]:
    notes = [
        f"directions in the teacher's span of dimension {target.rank}, of {target.dimension}: "
        f"{directions.boxes:,} boxes excluded, contracted or proved"
    ]
    if target.dimension < problem.n:
        notes.append(
            "the covariance is singular: networks that differ by its kernel are one function, listed once"
        )
    if problem.outer is None and target.rank:
        notes.append("in parameters the zero function is the family a = 0, c(w) = 0, and w = 0")
    return notes
