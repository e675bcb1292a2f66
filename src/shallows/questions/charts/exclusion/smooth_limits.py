"""What lies on the edge of one smooth neuron with a trained: the zero function, and limits a → ∞ or ‖w‖ → ∞."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.exclusion.blown_points import NEAR, polynomial_limits, rises
from shallows.questions.charts.exclusion.blown_up import Blown
from shallows.questions.charts.exclusion.listed import Limits, Listed
from shallows.questions.charts.exclusion.polynomial_form import PolynomialForm
from shallows.questions.charts.exclusion.smooth_far import (
    far_bound,
    limit_at_infinity,
    only_at_infinity,
    rises_inward,
)
from shallows.questions.charts.exclusion.smooth_form import SmoothForm
from shallows.questions.charts.exclusion.smooth_near_zero import NearZero
from shallows.questions.charts.exclusion.smooth_reach import energy, limit_at_zero
from shallows.questions.charts.exclusion.smooth_system import SmoothSystem
from shallows.questions.charts.exclusion.smooth_target import SmoothTarget
from shallows.questions.charts.points.point import EXACT, Certificate

#: Neurons that are tried for signs of c.
TRIED = 4096
#: Halvings of a segment: more than doubles have between two neurons.
HALVINGS = 200
#: Norms of networks that may be lower than their limits: by so much more each, so many, up to 80 times the ball.
STEP, STEPS = 1.1, 46


def zero_function(problem: Problem, form: SmoothForm | PolynomialForm, target: SmoothTarget) -> list[Listed]:
    """a = 0 and c(w) = 0: one function and a set of parameters, if c vanishes anywhere."""
    if not target.exact:
        zero = Network(np.zeros((1, problem.n)), [0.0], problem.activation)
        return [Listed(zero, (0.0, 0.0), 0, (0, 0, 0), EXACT)]
    place = np.zeros(problem.n) if form.at_zero else _where_c_vanishes(form, target)
    if place is None:
        return []
    level = energy(form, target)
    dimension = max(target.dimension - 1, 0)
    return [
        Listed(
            Network(place[None, :], [0.0], problem.activation),
            (max(float(level.lo[0]), 0.0), float(level.hi[0])),
            0,
            (0, dimension, 0),
            EXACT,
            escapes=True,
            dimension=dimension,
            description="the zero function: a = 0 and E[yσ(w·x)] = 0, an unbounded set of neurons"
            if dimension
            else "",
        )
    ]


def _where_c_vanishes(form: SmoothForm | PolynomialForm, target: SmoothTarget) -> np.ndarray | None:
    """A neuron on the segment between two where c has proved signs; None where all that are tried have one sign."""
    outside = target.codimension > 0
    system = SmoothSystem(form, target, 1.0, outside=outside)
    rng = np.random.default_rng(0)
    tried = rng.standard_normal((TRIED, system.n)) * rng.uniform(0.0, 8.0, (TRIED, 1))
    c = system.state(Intervals.exact(tried)).c
    low, high = np.flatnonzero(c.hi < 0), np.flatnonzero(c.lo > 0)
    if not len(low) or not len(high):
        return None
    a, b = tried[low[0]], tried[high[0]]
    for _ in range(HALVINGS):
        middle = 0.5 * (a + b)
        below = system.state(Intervals.exact(middle[None])).c.mid[0] < 0
        a, b = (middle, b) if below else (a, middle)
    return np.array([float(x.mid()) for x in target.weight_vector(list(map(float, a)))])


def limits_of(
    problem: Problem,
    forms: tuple[SmoothForm | PolynomialForm, SmoothForm | PolynomialForm],
    target: SmoothTarget,
    reach: float,
    points: list[Listed],
    near: NearZero,
    far: Blown | None,
) -> Limits:
    """Compare what limits take from the loss with the lowest point that is listed.

    Steps are no infimum: with ‖w‖ = s, c differs from its limit by O(1/s²) (y is smooth) while K is below its by a
    multiple of 1/s, so that steep networks are lower. ReLU may be one.
    """
    short, form = forms
    best = min((p.loss[1] for p in points), default=np.inf)
    if not target.exact or best <= 0:
        return Limits()
    if isinstance(form, PolynomialForm) or isinstance(short, PolynomialForm):
        assert isinstance(form, PolynomialForm)
        return polynomial_limits(problem, form, target, best, near, far)
    level = energy(form, target)
    taken = float((level - best).lo[0])
    line = limit_at_zero(form, target) if form.at_zero else Intervals.exact(np.zeros(1))
    small = form.at_zero and not _left_behind(near) and not line.hi[0] < taken
    large = not (far_bound(short, target, reach, taken) or rises_inward(short, target, reach, taken))
    if form.at_zero and not near.proved:
        words = f"whether the infimum is attained is not decided: neurons with ‖w‖ < {near.radius:g} are not searched"
        return Limits(None, (), (words,))
    if not (small or large):
        return Limits()
    if (
        small
        and line.lo[0] > taken
        and not (large and not far_bound(short, target, reach, float(line.lo[0])))
    ):
        return _linear(problem, form, target, line, level)
    if not large:
        return Limits(
            None, (), ("whether the infimum is attained is not decided: linear functions may be as low",)
        )
    return _far(problem, form, target, reach, level, max(taken, float(line.hi[0]) if small else taken))


def _left_behind(near: NearZero) -> bool:
    """Whether some network is lower than all limits w → 0: J rises from the largest of them."""
    return near.inner is not None or (near.blown is not None and rises(near.blown.edge))


def _linear(
    problem: Problem, form: SmoothForm, target: SmoothTarget, taken: Intervals, level: Intervals
) -> Limits:
    """a → ∞, w → 0: the best linear function."""
    at = SmoothSystem(form, target, 1.0).state(Intervals.exact(np.zeros((1, target.rank))))
    g = np.array([part.mid[0] for part in at.g]) / float(at.own.first.mid[0]) ** 0.5
    slope = float(at.own.first.mid[0]) ** 0.5
    weights = np.array([float(x.mid()) for x in target.weight_vector(list(map(float, g / slope / NEAR)))])
    loss = level - taken
    bounds = (max(float(loss.lo[0]), 0.0), float(loss.hi[0]))
    net = Network(weights[None, :], [NEAR], problem.activation)
    proof = Certificate(0.0, False, True, "closed form")
    listed = Listed(net, bounds, 1, (0, target.dimension + 1, 0), proof, limit=True)
    words = f"the infimum {bounds[1]:.6g} is that of linear functions, a → ∞ and w → 0: no network has it"
    return Limits(False, (listed,), (words,))


def _far(
    problem: Problem, form: SmoothForm, target: SmoothTarget, reach: float, level: Intervals, taken: float
) -> Limits:
    """‖w‖ → ∞: what is proved of ReLU functions and of steep networks, which may be lower than all that is listed."""
    far = limit_at_infinity(form, target)
    loss = level - far.most
    bounds = (max(float(loss.lo[0]), 0.0), float(loss.hi[0]))
    between = f"between {bounds[0]:.8g} and {bounds[1]:.8g}"
    lower = "are lower than all that is listed" if far.most.lo > taken else "may be lower than what is listed"
    if not form.linear:
        words = f"networks with ‖w‖ > {reach:g} {lower}: steps, their limits as ‖w‖ → ∞, have least loss {between}"
        return Limits(None, (), (words,), far=True)
    if not far.most.lo > taken:
        words = (
            f"networks with ‖w‖ > {reach:g} {lower}: ReLU functions, their limits, have least loss {between}"
        )
        return Limits(None, (), (words,), far=True)
    unit, outside = far.unit, target.codimension > 0
    if outside:
        unit = np.append(unit, np.sqrt(max(1.0 - float(unit @ unit), 0.0)))
    system = SmoothSystem(form, target, None, outside=outside)
    tried = reach * STEP ** np.arange(STEPS)
    state = system.state(Intervals.exact(tried[:, None] * unit))
    gained = (state.c.square() / state.own.value).lo
    if gained.max() > far.most.hi:
        words = (
            f"the infimum is attained, by a network with ‖w‖ > {reach:g} that is not listed: at ‖w‖ = "
            f"{tried[np.argmax(gained)]:.3g} the loss is below {float((level - gained.max()).hi[0]):.8g}; ReLU "
            f"functions, the limits as ‖w‖ → ∞, have at least {bounds[0]:.8g}"
        )
        return Limits(None, (), (words,), far=True)
    place = [float(x) * NEAR for x in unit]
    a = float(system.state(Intervals.exact(np.array(place)[None])).a.mid[0])
    weights = np.array([float(x.mid()) for x in target.weight_vector(place)])
    net = Network(weights[None, :], [a], problem.activation)
    proof = Certificate(0.0, False, True, "bisection over directions, intervals")
    listed = Listed(net, bounds, 1, (0, target.dimension + 1, 0), proof, limit=True)
    if only_at_infinity(form, target, reach, far.most):
        words = f"the infimum, {between}, is that of ReLU functions, ‖w‖ → ∞: no network has it"
        return Limits(False, (listed,), (words,))
    words = (
        f"the least loss of ReLU functions, limits as ‖w‖ → ∞, is {between}, lower than all networks with "
        f"‖w‖ ≤ {reach:g}; whether one beyond is as low is not decided"
    )
    return Limits(None, (listed,), (words,), far=True)
