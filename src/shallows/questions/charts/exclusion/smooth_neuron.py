"""The chart of one smooth neuron (erf, tanh, sigmoid, softplus, GELU, polynomials): complete, by exclusion."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from shallows.mathematics.balls.inertia import Inertia, inertias
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.newton import sharpened
from shallows.mathematics.exclusion.result import Exclusion
from shallows.mathematics.exclusion.search import exclude
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.exclusion.blown_points import blown_points
from shallows.questions.charts.exclusion.crossing import is_crossing
from shallows.questions.charts.exclusion.listed import Limits, Listed, chart_of_listed
from shallows.questions.charts.exclusion.polynomial_form import PolynomialForm
from shallows.questions.charts.exclusion.relu_target import spread
from shallows.questions.charts.exclusion.smooth_form import SmoothForm
from shallows.questions.charts.exclusion.smooth_limits import limits_of, zero_function
from shallows.questions.charts.exclusion.smooth_near_zero import NearZero
from shallows.questions.charts.exclusion.smooth_reach import energy, symmetric
from shallows.questions.charts.exclusion.smooth_setting import Setting, setting_of, unknowns_of
from shallows.questions.charts.exclusion.smooth_system import SmoothSystem
from shallows.questions.charts.exclusion.smooth_words import notes_of, scope_of
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.result import Chart
from shallows.support.errors import NotConverged
from shallows.support.progress import Shown

#: Boxes narrower than this share of the region go from the short mixture on to the long one.
COARSE_RESOLUTION = 1 / 256
#: Where networks beyond the ball may be lower than all that is listed, it is made so much wider, up to this norm; in
#: one or two unknowns, where that takes seconds, and as long as nothing stays open there.
WIDER, FURTHEST = 1.6, 64.0
METHOD = "interval exclusion over neurons, Krawczyk"
HERMITE = "Hermite's expansion around w = 0, intervals"


def smooth_neuron_chart(problem: Problem, certify: bool, progress: Shown = False) -> Chart:
    """Every critical point of one smooth neuron."""
    setting = setting_of(problem)
    target = setting.target
    searches, points, undecided = _all_points(setting, progress)
    limits = Limits()
    if setting.outer is None:
        points = [*zero_function(problem, setting.fine, target), *_inside(setting), *points]
        for blown in (setting.near.blown, setting.far):
            points += blown_points(problem, setting.fine, target, blown)
        limits = _limits(setting, points)
        while limits.far and not undecided and setting.reach < FURTHEST and unknowns_of(target) <= 2:
            wider = replace(setting, reach=WIDER * setting.reach, near=NearZero(setting.reach, True))
            more, listed, open_ = _all_points(wider, progress)
            if open_:
                break
            searches, points = searches + more, points + listed
            setting = replace(setting, reach=wider.reach)
            limits = _limits(setting, points)
    elif not undecided:
        _require_degree(points, target.dimension)
    chart = chart_of_listed(
        problem,
        [*points, *limits.listed],
        scope=scope_of(setting, undecided),
        notes=(*notes_of(setting, searches), *limits.notes),
        attained=limits.attained is True,
        searched=not undecided,
        certify=certify,
    )
    return replace(chart, attained=None if undecided else limits.attained)


def _all_points(setting: Setting, progress: Shown) -> tuple[list[Exclusion], list[Listed], list[str]]:
    """What a search in the teacher's span and outside of it finds, and what it leaves open."""
    target = setting.target
    points: list[Listed] = []
    searches: list[Exclusion] = []
    doubts: list[str] = []
    if target.rank == 0:
        points += [] if setting.outer is None else [_listed(setting, np.zeros((1, 0)), None, False)]
    else:
        searches.append(_searched(setting, False, progress))
        points += _points(setting, searches[0], False, doubts)
    if target.codimension and _may_leave(setting):
        searches.append(_searched(setting, True, progress))
        points += _points(setting, searches[-1], True, doubts)
    return searches, points, [_described(s) for s in searches if not s.complete] + doubts


def _limits(setting: Setting, points: list[Listed]) -> Limits:
    """What limits do beside the points that are listed."""
    forms = (setting.coarse, setting.fine)
    return limits_of(setting.problem, forms, setting.target, setting.reach, points, setting.near, setting.far)


def _may_leave(setting: Setting) -> bool:
    """Whether g = Σ b ∂_C F v can vanish: not if the v are independent and σ increases, for then all ∂_C F > 0."""
    increasing = setting.fine.name in ("erf", "tanh", "sigmoid", "softplus")
    moving = int(np.count_nonzero(setting.target.squares.lo > 0))
    if not setting.target.exact and setting.outer is None:
        return False
    return not (increasing and moving == setting.target.rank)


def _searched(setting: Setting, outside: bool, progress: Shown) -> Exclusion:
    """With the short mixture first, and what that leaves with the long one."""
    system = setting.system(False, outside)
    side = np.full(system.n, setting.reach)
    floor = -side.copy()
    if outside:
        floor[-1] = 0.0
    region = Intervals(floor, side)
    if setting.coarse is setting.fine or isinstance(setting.fine, PolynomialForm):
        return exclude(system, region, progress=progress)
    first = exclude(system, region, resolution=COARSE_RESOLUTION, progress=progress)
    left = Intervals(
        np.concatenate([first.pending.lo, first.undecided.lo]),
        np.concatenate([first.pending.hi, first.undecided.hi]),
    )
    rest = replace(first, pending=left, undecided=first.undecided[:0])
    return exclude(setting.system(True, outside), region, resume=rest, progress=progress)


def _points(setting: Setting, search: Exclusion, outside: bool, doubts: list[str]) -> list[Listed]:
    """Zeros as points: each function once."""
    found: list[Listed] = []
    system, target = setting.system(True, outside), setting.target
    for i in range(len(search.box)):
        with np.errstate(all="ignore"):
            box = sharpened(system, search.box[i : i + 1])
            z = system.state(box)
        if outside and not box.lo[0, -1] > 0:
            if box.hi[0, -1] >= 0:
                doubts.append("a neuron that may lie in the teacher's span, or not")
            continue
        if system._square(box).hi[0] < setting.hole**2 or system._square(box).lo[0] > setting.reach**2:
            continue
        if setting.outer is None and bool(z.a.has_zero[0]):
            form, known = setting.fine, not outside
            if (
                known
                and isinstance(form, PolynomialForm)
                and is_crossing(form, target, box[0], search.domain[i])
            ):
                continue  # a = 0: the zero function
            doubts.append("a neuron whose outer weight may vanish")
            continue
        if setting.outer is None and setting.fine.odd and z.a.hi[0] < 0:
            continue  # −a and −w: the same function
        if _even(setting.fine) and _negative(box.mid[0], outside):
            continue
        found.append(_listed(setting, box, search.domain[i], outside))
        if outside and setting.target.codimension == 1 and not _even(setting.fine):
            mirrored = Intervals(box.lo.copy(), box.hi.copy())
            mirrored.lo[0, -1], mirrored.hi[0, -1] = -box.hi[0, -1], -box.lo[0, -1]
            found.append(_listed(setting, mirrored, search.domain[i], outside))
    return found


def _inside(setting: Setting) -> list[Listed]:
    """The critical point in the hole, if there is one: a minimum, since J is concave around it (`smooth_near_zero`)."""
    inner, target = setting.near.inner, setting.target
    if inner is None:
        alone = not setting.near.proved and len(target.exact) == 1 and target.longest < setting.hole
        return [_teacher(setting)] if alone else []
    t = 0.5 * (inner.low + inner.high)
    place = [float(x) * t for x in inner.direction]
    box = Intervals.exact(np.array(place)[None])
    with np.errstate(all="ignore"):
        z = SmoothSystem(setting.fine, target, None).state(box)
        more = Intervals(1.0, 1.0 + 2.0 * min(inner.gain, 1.0))  # e^x ≤ 1 + 2x
        loss = energy(setting.fine, target) - z.c.square() / z.own.value * more
    bounds = (max(float(loss.lo[0]), 0.0), max(float(loss.hi[0]), 0.0))
    share = (inner.high - inner.low) / inner.low + inner.angle
    outer, radius = float(z.a.mid[0]), share * np.hypot(t, 2.0 * float(z.a.magnitude[0]))
    if (
        len(target.exact) == 1 and target.longest < setting.hole
    ):  # the teacher is in the hole, and nothing else
        place, outer = [float(x) for x in target.vectors[0].mid], float(target.exact[0])
        bounds, radius = (0.0, 0.0), float(target.vectors[0].width.max())
    weights = np.array([float(x.mid()) for x in target.weight_vector(place)])
    proof = Certificate(float(np.nextafter(radius, np.inf)), True, True, HERMITE)
    signature = (target.dimension + 1, 0, 0)
    return [
        Listed(Network(weights[None, :], [outer], setting.problem.activation), bounds, 1, signature, proof)
    ]


def _teacher(setting: Setting) -> Listed:
    """The teacher, one neuron, in a hole that is not proved: its loss is 0, its signature not known."""
    target = setting.target
    place = [float(x) for x in target.vectors[0].mid]
    weights = np.array([float(x.mid()) for x in target.weight_vector(place)])
    net = Network(weights[None, :], [float(target.exact[0])], setting.problem.activation)
    proof = Certificate(float(target.vectors[0].width.max()), False, True, "the teacher")
    return Listed(net, (0.0, 0.0), 1, (0, target.dimension + 1, 0), proof)


def _even(form: SmoothForm | PolynomialForm) -> bool:
    return symmetric(form) and not form.odd


def _negative(point: Any, outside: bool) -> bool:
    """Of w and −w, one function where σ is even, the one that is left out."""
    if outside:
        return False
    nonzero = [x for x in point if x]
    return bool(nonzero) and nonzero[0] < 0


def _listed(setting: Setting, box: Any, domain: Any, outside: bool) -> Listed:
    """Loss, signature and network of a proved zero."""
    target, problem, form = setting.target, setting.problem, setting.fine
    box = box if isinstance(box, Intervals) else Intervals.exact(box)
    system = SmoothSystem(form, target, setting.outer, outside=outside)
    with np.errstate(all="ignore"):
        z = system.state(box)
        loss = _loss(setting, system, box, domain)
        trained = setting.outer is None
        hessian = system.hessian(box, z.a, trained)
        inner = inertias(hessian.ball())[0] if hessian.lo.shape[1] else Inertia(0, 0, 0)
        across = (z.a * z.P)[0]
    positive, zero, negative = inner.positive, inner.undecided, inner.negative
    others, dimension = target.codimension, 0
    if outside:
        dimension = others - 1
        zero += dimension
    elif across.lo > 0:
        positive += others
    elif across.hi < 0:
        negative += others
    else:
        zero += others
    balls = target.weight_vector(
        [arb(float(x)).union(arb(float(y))) for x, y in zip(box.lo[0], box.hi[0], strict=True)]
    )
    weights = np.array([float(x.mid()) for x in balls]) if balls else np.zeros(problem.n)
    outer = float(z.a.mid[0])
    radius = float(np.hypot(spread(balls, weights) if balls else 0.0, z.a.width[0] if trained else 0.0))
    certified = zero == dimension
    return Listed(
        Network(weights[None, :], [outer], problem.activation),
        loss,
        1,
        (positive, zero, negative),
        Certificate(radius, certified, True, METHOD),
        dimension=dimension,
        description=f"a sphere of dimension {dimension} around the teacher's span" if dimension else "",
    )


def _loss(setting: Setting, system: SmoothSystem, box: Intervals, domain: Any) -> tuple[float, float]:
    """At the middle, and what the loss changes by in the box; exactly 0 where the student is the teacher."""
    target = setting.target
    if domain is not None and not system.outside and _is_teacher(setting, domain):
        return 0.0, 0.0
    middle = Intervals.exact(box.mid)
    z = system.state(middle)
    level = energy(setting.fine, target)
    if setting.outer is None:
        value = level - z.c.square() / z.own.value
    else:
        value = level + z.own.value * setting.outer**2 - z.c * (2.0 * setting.outer)
    if system.n:
        over = system.state(box)
        slopes = [over.p[k] * over.P - over.g[k] for k in range(target.rank)]
        slopes += [box[:, target.rank] * over.P] if system.outside else []
        for k, slope in enumerate(slopes):
            value = value + slope * over.a * 2.0 * (box[:, k] - middle.lo[:, k])
    return max(float(value.lo[0]), 0.0), float(value.hi[0])


def _is_teacher(setting: Setting, domain: Intervals) -> bool:
    """Whether the only zero of the domain is the teacher itself, a single neuron."""
    target = setting.target
    if len(target.exact) != 1:
        return False
    v, signs = target.vectors[0], [1]
    if setting.fine.odd:
        signs.append(-1)
    for sign in signs:
        here = v if sign > 0 else -v
        fits = setting.outer is None or Fraction(setting.outer) == sign * target.exact[0]
        if fits and bool(np.all(here.within(domain))):
            return True
    return False


def _require_degree(points: list[Listed], dimension: int) -> None:
    """The gradient points outward on the ball: Σ (−1)^index = 1 (Poincaré and Hopf), where all is nondegenerate."""
    if any(p.dimension or not p.certificate.signature_certified for p in points):
        return
    total = sum((-1) ** p.signature[2] for p in points)
    if total != 1:
        raise NotConverged(
            f"The {len(points)} critical points have indices that add up to {total} instead of 1, the Euler "
            f"characteristic of the ball of dimension {dimension}: one is missing or false. Please report this."
        )


def _described(search: Exclusion) -> str:
    left = len(search.undecided) + len(search.pending)
    return f"{left} boxes of neurons ({search.share(search.undecided) + search.share(search.pending):.2g} of the ball)"
