"""What a smooth neuron of large norm can take from the loss: bounds on c²/K for ‖w‖ ≥ R, limits included.

With u = w/‖w‖ and ρ = 1/‖w‖² ∈ [0, 1/R²], c (for softplus and GELU c/‖w‖) is a function of ρ and u: erf, tanh and
sigmoid become steps, softplus and GELU become ReLU. K (K/‖w‖²) is smallest at R. Boxes of directions are bisected until
all are below a level, or their number is too large.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exclusion.intervals import PI, Intervals
from shallows.questions.charts.exclusion.pair_functions import (
    arccosine,
    arcsine,
    each,
    gaussian_gate,
    spread_out,
    total,
)
from shallows.questions.charts.exclusion.smooth_form import SmoothForm
from shallows.questions.charts.exclusion.smooth_target import SmoothTarget
from shallows.support.checks import Array

#: Boxes of directions that are looked at in a shell before a level is given up.
MOST = 6_000
#: The same for the largest limit itself.
MOST_FOR_LIMIT = 20_000
#: Shells of norms: how much larger the next begins, and how many there are.
SHELL, SHELLS = 1.35, 16
#: The same where limits are compared with their surroundings.
NARROW, NARROWS = 1.1, 40
#: Pieces of ρ that a slope is enclosed over.
PIECES = 8
#: Rounding in a few operations: bounds are taken so much larger.
ROOM = 1.01
#: Rounding in a product or two, and of vectors that are normalised.
ROUNDED, TINY_STEP = 1 + 1e-14, 1e-15
#: To how much of itself the limit is enclosed, unless boxes run out.
AGREED = 1e-8


def far_pull(form: SmoothForm, target: SmoothTarget, u: Intervals, rho: Intervals) -> Intervals:
    """c (or c/‖w‖) at directions in boxes (m, rank), for ρ in one interval."""
    result = Intervals.exact(np.zeros(len(u)))
    weight, la, mu = form._pairs()
    m, pairs = len(u), len(la)
    A = each(Intervals.exact(la) * rho + 1.0, m)
    for j in range(len(target.exact)):
        C = Intervals.exact(np.zeros(m))
        for k in range(target.rank):
            C = C + u[:, k] * target.vectors[j, k]
        B = each(target.squares[j] + Intervals.exact(mu), m)
        c = spread_out(C, pairs)
        D = (A * B - c.square()).meet(Intervals(0.0, np.inf))
        if form.pair is gaussian_gate:
            value = _gate(A, B, c, D, rho, target.squares[j])
        else:
            value = (arcsine if form.pair is arcsine else arccosine)(A, B, c, D).value
        part = total(value * each(weight, m), pairs)
        part = part + (C * form.linear**2 if form.linear else form.constant**2)
        off = _off(form, rho, target.squares[j])
        result = result + (part + Intervals(-off, off)) * target.outer[j]
    return result


def _gate(A: Intervals, B: Intervals, C: Intervals, D: Intervals, rho: Intervals, T: Intervals) -> Intervals:
    """GELU's even part over ‖w‖: D ≥ A − … > 0 since B > ‖v‖² ≥ C². As small as T where T is."""
    root = D.sqrt()
    angle = (C / (A * B).sqrt()).meet(Intervals(-1.0, 1.0)).arcsin()
    inner = root * (T / B) + C * angle + (C.square() - A * T) * rho / (A * root)
    return inner * (0.5 / PI)


def _off(form: SmoothForm, rho: Intervals, T: Intervals) -> float:
    """What the mixture leaves out: of c, or of c/‖w‖."""
    if not any(form.errors):
        return 0.0
    t = float(T.sqrt().hi)
    if not form.linear:
        return float(form._error(0, 0, 0.0, t))
    r = float(rho.sqrt().hi)  # (b + g s)(e + h t)/s and the like, s ≥ 1/r
    size, rest = form.bounds[0] * r + form.growth[0], form.errors[0] * r + form.growth[1]
    other, left = form.bounds[0] + form.growth[0] * t, form.errors[0] + form.growth[1] * t
    return float(ROOM * (size * left + rest * (other + left)))


def far_bound(form: SmoothForm, target: SmoothTarget, reach: float, level: float) -> bool:
    """Whether c²/K is proved to be below `level` for all ‖w‖ ≥ reach: in shells, the last of which is unbounded."""
    ends = reach * SHELL ** np.arange(SHELLS)
    return all(
        _below(form, target, (float(a), float(b)), level)
        for a, b in zip(ends, [*ends[1:], np.inf], strict=True)
    )


def only_at_infinity(form: SmoothForm, target: SmoothTarget, reach: float, most: Intervals) -> bool:
    """Whether c²/K is proved to be below its largest limit for all finite ‖w‖ ≥ reach; of GELU, whose form is exact.

    Where c̃ = c/‖w‖ falls with ρ, |c̃| ≤ |c̃(0)| − αρ, and c²/K is below its limit in that direction if
    (1 − αρ/|c̃(0)|)² < 2K/‖w‖². In the last shell K/‖w‖² ≥ ½ − xρ^{3/2} with x = (1/2π)·2√(2 + ρ), so that
    α > 2x|c̃(0)|√ρ is enough.
    """
    if form.pair is not gaussian_gate:
        return False
    ends = reach * NARROW ** np.arange(NARROWS)
    shells = [*pairwise(ends), (ends[-1], np.inf)]
    return all(_below(form, target, (float(a), float(b)), float(most.lo), float(most.hi)) for a, b in shells)


def _falls(
    form: SmoothForm, target: SmoothTarget, u: Intervals, rho: Intervals, least: float, most: float
) -> NDArray[np.bool_]:
    """Which boxes of directions hold nothing above their limits (see `only_at_infinity`); K ≥ `least`·‖w‖²."""
    ends = np.linspace(0.0, float(rho.hi), PIECES + 1)
    ends[-1] = rho.hi
    slope = _slope_in_rho(target, u, Intervals(ends[0], ends[1]))
    for low, high in pairwise(ends[1:]):
        slope = slope.hull(_slope_in_rho(target, u, Intervals(low, high)))
    pull = far_pull(form, target, u, rho)
    if rho.lo > 0:
        steep = ROOM * np.sqrt(most / 2) * max(1 - np.sqrt(2 * least), 0.0) / float(rho.lo)
    else:
        steep = ROOM * np.sqrt(most / 2) * 2 / np.pi * np.sqrt((2 + rho.hi) * rho.hi)
    down = (pull.lo > 0) & (-slope.hi > steep)
    return np.asarray(down | ((pull.hi < 0) & (slope.lo > steep)))


def _slope_in_rho(target: SmoothTarget, u: Intervals, rho: Intervals) -> Intervals:
    """∂c̃/∂ρ of GELU."""
    slope = Intervals.exact(np.zeros(len(u)))
    A = rho + 1.0
    for j in range(len(target.exact)):
        C = Intervals.exact(np.zeros(len(u)))
        for k in range(target.rank):
            C = C + u[:, k] * target.vectors[j, k]
        B = target.squares[j] + 1.0
        D = (A * B - C.square()).meet(Intervals(0.0, np.inf))
        q = D.sqrt()
        T, rest = target.squares[j], C.square() - A * target.squares[j]
        later = -(T + rest * (1.0 / A + B / D * 0.5)) * rho / A
        part = ((T - C.square() / A) * 0.5 + rest / A + later) / q
        slope = slope + part * target.outer[j] * (0.5 / PI)
    return slope


def _below(
    form: SmoothForm,
    target: SmoothTarget,
    shell: tuple[float, float],
    level: float,
    limit: float | None = None,
) -> bool:
    """In one shell; with a `limit`, boxes where c²/K falls from there count, too."""
    with np.errstate(all="ignore"):
        own = form.own(Intervals.exact(np.array([shell[0] ** 2]))).value
        least = (own / shell[0] ** 2 if form.linear else own).lo[0]
        rho = Intervals(
            1 / (ROUNDED * shell[1] ** 2) if np.isfinite(shell[1]) else 0.0, ROUNDED / shell[0] ** 2
        )
        side = np.ones((1, target.rank))
        boxes, seen = Intervals(-side, side), 0
        while len(boxes):
            seen += len(boxes)
            if seen > MOST:
                return False
            boxes = boxes[np.flatnonzero(_met(boxes, target))]
            high = (far_pull(form, target, boxes, rho).square() / least).hi
            left = ~(high < level)
            if limit is not None:
                left &= ~_falls(form, target, boxes, rho, float(least), limit)
            boxes = _halved(boxes[np.flatnonzero(left)])
    return True


def _halved(boxes: Intervals) -> Intervals:
    if not len(boxes):
        return boxes
    rows = np.arange(len(boxes))
    axis = np.argmax(boxes.hi - boxes.lo, axis=1)
    low, high = boxes.hi.copy(), boxes.lo.copy()
    low[rows, axis] = high[rows, axis] = boxes.mid[rows, axis]
    return Intervals(np.concatenate([boxes.lo, high]), np.concatenate([low, boxes.hi]))


@dataclass(frozen=True, eq=False)
class AtInfinity:
    """The most that steps (or ReLU) take from the loss, enclosed, and a direction that takes the lower end."""

    most: Intervals
    unit: Array


def limit_at_infinity(form: SmoothForm, target: SmoothTarget) -> AtInfinity:
    """The largest c²/K at ρ = 0 over all directions, by bisection: bounds by the mean value theorem on the sphere."""
    n = target.rank
    last = 0.5 if form.linear or form.constant else 1.0
    boxes, best, unit, bound = Intervals(-np.ones((1, n)), np.ones((1, n))), 0.0, np.eye(1, n)[0], 0.0
    seen = 0
    with np.errstate(all="ignore"):
        while True:
            boxes = boxes[np.flatnonzero(_met(boxes, target))]
            centre = boxes.mid
            edge = _norms(boxes).hi >= 1.0
            length = np.linalg.norm(centre, axis=1)
            centre = np.where(
                (edge & (length > 0))[:, None], centre / np.where(length > 0, length, 1.0)[:, None], centre
            )
            at = far_pull(form, target, Intervals.exact(centre), Intervals(0.0, 0.0))
            taken = at.mignitude**2 / last / ROUNDED
            lowest = np.where((length > 0) & (edge | (target.codimension > 0)), taken, 0.0)
            top = int(np.argmax(lowest))
            if lowest[top] > best:
                best, unit = float(lowest[top]), centre[top]
            high = ROUNDED * (at + _change(form, target, boxes, centre, edge)).magnitude ** 2 / last
            seen += len(boxes)
            high = np.where(np.isnan(high), np.inf, high)
            left = np.flatnonzero(~(high <= best * (1 + AGREED)))
            bound = float(max(best * (1 + AGREED), high[left].max(initial=0.0)))
            if not len(left) or seen > MOST_FOR_LIMIT:
                return AtInfinity(Intervals(best, bound), unit)
            boxes = _halved(boxes[left])


def _met(boxes: Intervals, target: SmoothTarget) -> NDArray[np.bool_]:
    """Boxes that meet the sphere, or the ball where neurons may leave the span."""
    square = _norms(boxes)
    return np.asarray((square.lo <= 1.0) & ((target.codimension > 0) | (square.hi >= 1.0)))


def _norms(boxes: Intervals) -> Intervals:
    square = Intervals.exact(np.zeros(len(boxes)))
    for k in range(boxes.lo.shape[1]):
        square = square + boxes[:, k].square()
    return square


def _change(
    form: SmoothForm, target: SmoothTarget, boxes: Intervals, centre: Array, edge: NDArray[np.bool_]
) -> Intervals:
    """c(u) − c(u₀) over the part of the boxes that counts: where u₀ is a unit vector, u₀·(u − u₀) = −½‖u − u₀‖² on the
    sphere, and is not positive in the ball."""
    slopes = _slopes(form, target, boxes.hull(Intervals.exact(centre)))
    step = boxes - centre
    along, plain, tangent = (Intervals.exact(np.zeros(len(boxes))) for _ in range(3))
    far = np.zeros(len(boxes))
    for k in range(target.rank):
        along = along + slopes[k] * centre[:, k]
        plain = plain + slopes[k] * step[:, k]
        far = far + step[:, k].magnitude ** 2
    for k in range(target.rank):
        tangent = tangent + (slopes[k] - along * centre[:, k]) * step[:, k]
    reach = ROUNDED * (np.sqrt(far) if target.codimension else 0.5 * far) + TINY_STEP
    turned = tangent + along * Intervals(-reach, np.full_like(reach, TINY_STEP))
    return Intervals(np.where(edge, turned.lo, plain.lo), np.where(edge, turned.hi, plain.hi))


def _slopes(form: SmoothForm, target: SmoothTarget, u: Intervals) -> list[Intervals]:
    """∂c/∂u at ρ = 0, of the mixture."""
    weight, la, mu = form._pairs()
    m, pairs = len(u), len(la)
    found = [Intervals.exact(np.zeros(m)) for _ in range(target.rank)]
    A = Intervals.exact(np.ones(m * pairs))
    for j in range(len(target.exact)):
        C = Intervals.exact(np.zeros(m))
        for k in range(target.rank):
            C = C + u[:, k] * target.vectors[j, k]
        most = float(ROUNDED * target.squares[j].sqrt().hi)  # on segments between vectors of the unit ball
        C = C.meet(Intervals(-most, most))
        B, c = each(target.squares[j] + Intervals.exact(mu), m), spread_out(C, pairs)
        D = B - c.square()
        if form.pair is gaussian_gate:
            root = D.sqrt()
            part = ((c / B.sqrt()).meet(Intervals(-1.0, 1.0)).arcsin() + c / (root * B)) * (0.5 / PI)
        else:
            part = (arcsine if form.pair is arcsine else arccosine)(A, B, c, D).c
        slope = (total(part * each(weight, m), pairs) + form.linear**2) * target.outer[j]
        for k in range(target.rank):
            found[k] = found[k] + slope * target.vectors[j, k]
    return found
