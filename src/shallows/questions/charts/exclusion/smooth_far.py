"""What a smooth neuron of large norm can take from the loss: bounds on c²/K for ‖w‖ ≥ R, limits included.

With u = w/‖w‖ and ρ = 1/‖w‖² ∈ [0, 1/R²], c (for softplus and GELU c/‖w‖) is a function of ρ and u: erf, tanh and
sigmoid become steps, softplus and GELU become ReLU. K grows with ‖w‖, and so does K/‖w‖² of GELU, since zΦ(sz) grows
with s; softplus(sz)/s falls, so that K/‖w‖² is smallest at infinity, ½. Boxes of directions are bisected until all are
below a level, or too narrow; then shells of norms are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exclusion.intervals import PI, Intervals
from shallows.mathematics.exclusion.rounding import ROOM
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
#: Shells of norms: how much larger the next begins, how many there are, and how often one is halved.
SHELL, SHELLS, HALVINGS = 1.35, 16, 4
#: The narrowest boxes of directions.
NARROWEST = 1e-6
#: The same where limits are compared with their surroundings.
NARROW, NARROWS = 1.1, 40
#: sup|ψ″| for softplus and a teacher's neuron of norm v is at most the sum of these times 1, v, v²: m″φ + 2m′φ′ + mφ″
#: with |m| ≤ log 2 + v|z| + 0.8v, |m′| ≤ v, |m″| ≤ v²/4, and sup φ, 2|φ′|, |φ″|, |zφ″| at most 0.4, 0.49, 0.4, 0.33.
SLOPES = (0.28, 1.14, 0.1)
#: A bound on φ(0)∫softplus(x)g(x)dx = 3ζ(3)φ(0) = 1.4387.
SELF_SLOPE = 1.44
#: Pieces of ρ that a slope is enclosed over.
PIECES = 8
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
        C = target.product(u, j)
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
    shells = zip(ends, [*ends[1:], np.inf], strict=True)
    return all(_all_below(form, target, (float(a), float(b)), level, HALVINGS) for a, b in shells)


def _all_below(
    form: SmoothForm, target: SmoothTarget, shell: tuple[float, float], level: float, halvings: int
) -> bool:
    """In one shell, or in the parts of it."""
    if _below(form, target, shell, level):
        return True
    if not halvings or not np.isfinite(shell[1]):
        return False
    middle = float(np.sqrt(shell[0] * shell[1]))
    parts = ((shell[0], middle), (middle, shell[1]))
    return all(_all_below(form, target, part, level, halvings - 1) for part in parts)


def rises_inward(form: SmoothForm, target: SmoothTarget, reach: float, level: float) -> bool:
    """Whether, for all ‖w‖ ≥ reach, c²/K is below `level` or grows along the ray to the ball, which then has the most.

    ∂_ρ log c²/K = 2c̃_ρ/c̃ − k̃_ρ/k̃ with k̃ = K/‖w‖². Of GELU k̃ falls with ρ; of softplus k̃_ρ = E[softplus(sz)g(sz)] is at
    most 3ζ(3)φ(0)√ρ, and k̃ ≥ ½ (`_softplus_slope` has g).
    """
    if not form.linear:
        return False
    rho = Intervals(0.0, ROUNDED / reach**2)
    least = 0.5 if form.pair is arccosine else least_own(form, (reach, np.inf))
    bound = ROOM * SELF_SLOPE * float(rho.hi) ** 0.5 if form.pair is arccosine else 0.0
    side = np.ones((1, target.rank))
    boxes, seen = Intervals(-side, side), 0
    with np.errstate(all="ignore"):
        while len(boxes):
            seen += len(boxes)
            boxes = boxes[np.flatnonzero(_met(boxes, target))]
            pull = far_pull(form, target, boxes, rho)
            slope = _slope_over(form, target, boxes, float(rho.hi)) / pull
            left = ~(((pull.square() / least).hi < level) | (slope.lo > bound))
            if seen > MOST or np.any((boxes.hi - boxes.lo).max(axis=1)[left] < NARROWEST):
                return False
            boxes = _halved(boxes[np.flatnonzero(left)])
    return True


def _slope_over(form: SmoothForm, target: SmoothTarget, u: Intervals, rho: float) -> Intervals:
    """∂c̃/∂ρ for all ρ up to `rho`."""
    if form.pair is arccosine:
        return _softplus_slope(form, target, u, rho)
    ends = np.linspace(0.0, rho, PIECES + 1)
    ends[-1] = rho
    slope = _slope_in_rho(target, u, Intervals(ends[0], ends[1]))
    for low, high in pairwise(ends[1:]):
        slope = slope.hull(_slope_in_rho(target, u, Intervals(low, high)))
    return slope


def least_own(form: SmoothForm, shell: tuple[float, float]) -> float:
    """The smallest K (K/‖w‖² of softplus and GELU) in a shell."""
    norm = shell[1] if form.pair is arccosine else shell[0]
    if not np.isfinite(norm):
        return 0.5
    own = form.own(Intervals.exact(np.array([norm**2]))).value
    return float((own / norm**2 if form.linear else own).lo[0])


def only_at_infinity(form: SmoothForm, target: SmoothTarget, reach: float, most: Intervals) -> bool:
    """Whether c²/K is proved to be below its largest limit for all finite ‖w‖ ≥ reach; of softplus and GELU.

    Where c̃ = c/‖w‖ falls with ρ, |c̃| ≤ |c̃(0)| − αρ, and c²/K is below its limit in that direction if
    (1 − αρ/|c̃(0)|)² < 2K/‖w‖². In the last shell K/‖w‖² ≥ ½ − xρ^{3/2} with x = (1/2π)·2√(2 + ρ), so that
    α > 2x|c̃(0)|√ρ is enough; of softplus α > 0 is, since K/‖w‖² > ½.
    """
    if not form.linear:
        return False
    ends = reach * NARROW ** np.arange(NARROWS)
    shells = [*pairwise(ends), (ends[-1], np.inf)]
    return all(_below(form, target, (float(a), float(b)), float(most.lo), float(most.hi)) for a, b in shells)


def _falls(
    form: SmoothForm, target: SmoothTarget, u: Intervals, rho: Intervals, least: float, most: float
) -> NDArray[np.bool_]:
    """Which boxes of directions hold nothing above their limits (see `only_at_infinity`); K ≥ `least`·‖w‖²."""
    slope, pull = _slope_over(form, target, u, float(rho.hi)), far_pull(form, target, u, rho)
    if form.pair is arccosine:
        steep = 0.0
    elif rho.lo > 0:
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
        C = target.product(u, j)
        B = target.squares[j] + 1.0
        D = (A * B - C.square()).meet(Intervals(0.0, np.inf))
        q = D.sqrt()
        T, rest = target.squares[j], C.square() - A * target.squares[j]
        later = -(T + rest * (1.0 / A + B / D * 0.5)) * rho / A
        part = ((T - C.square() / A) * 0.5 + rest / A + later) / q
        slope = slope + part * target.outer[j] * (0.5 / PI)
    return slope


def _softplus_slope(form: SmoothForm, target: SmoothTarget, u: Intervals, rho: float) -> Intervals:
    """∂c̃/∂ρ of softplus for ρ up to `rho`: ½∫ψ(x/s)g(x)dx, g = softplus(x) − x logistic(x), ψ(z) = E[y | u·x = z]φ(z).

    ∫g = π²/3 and ∫x²g = 7π⁴/45, so that it is (π²/6)ψ(0) to (7π⁴/180)ρ sup|ψ″|; E[y | u·x = z] is a sum of softplus
    smoothed by √(T − C²) (`SLOPES`).
    """
    total, sup = Intervals.exact(np.zeros(len(u))), 0.0
    for j in range(len(target.exact)):
        C = target.product(u, j)
        left = (target.squares[j] - C.square()).meet(Intervals(0.0, np.inf))
        mean = Intervals.exact(np.zeros(len(u)))
        for weight, square in zip(form.weights, form.squares, strict=True):
            mean = mean + (left + float(square)).sqrt() * float(weight)
        mean = mean / (PI * 2.0).sqrt()
        v = float(target.squares[j].sqrt().hi)
        off = form.errors[0] + form.growth[1] * v
        total = total + (mean + Intervals(-off, off)) * target.outer[j]
        sup += float(target.outer[j].magnitude) * (SLOPES[0] + SLOPES[1] * v + SLOPES[2] * v * v)
    wide = ROOM * 7 * np.pi**4 / 180 * rho * sup
    return total * (PI.square() / 6.0) / (PI * 2.0).sqrt() + Intervals(-wide, wide)


def _below(
    form: SmoothForm,
    target: SmoothTarget,
    shell: tuple[float, float],
    level: float,
    limit: float | None = None,
) -> bool:
    """In one shell; with a `limit`, boxes where c²/K falls from there count, too."""
    with np.errstate(all="ignore"):
        least = least_own(form, shell)
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
            if np.any((boxes.hi - boxes.lo).max(axis=1)[left] < NARROWEST):
                return False
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
        C = target.product(u, j)
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
