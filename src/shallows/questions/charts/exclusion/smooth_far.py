"""What a smooth neuron of large norm can take from the loss: bounds on c²/K for ‖w‖ ≥ R, limits included.

With u = w/‖w‖ and ρ = 1/‖w‖² ∈ [0, 1/R²], c (for softplus and GELU c/‖w‖) is a function of ρ and u: erf, tanh and
sigmoid become steps, softplus and GELU become ReLU. K (K/‖w‖²) is smallest at R. Boxes of directions are bisected until
all are below a level, or their number is too large.
"""

from __future__ import annotations

import numpy as np

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
#: Shells of norms: how much larger the next begins, and how many there are.
SHELL, SHELLS = 1.35, 16
#: Rounding in a few operations: bounds are taken so much larger.
ROOM = 1.01


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
            value = _gate(A, B, c, D, rho)
        else:
            value = (arcsine if form.pair is arcsine else arccosine)(A, B, c, D).value
        part = total(value * each(weight, m), pairs)
        part = part + (C * form.linear**2 if form.linear else form.constant**2)
        off = _off(form, rho, target.squares[j])
        result = result + (part + Intervals(-off, off)) * target.outer[j]
    return result


def _gate(A: Intervals, B: Intervals, C: Intervals, D: Intervals, rho: Intervals) -> Intervals:
    """GELU's even part over ‖w‖: D ≥ A − … > 0 since B > ‖v‖² ≥ C²."""
    root = D.sqrt()
    angle = (C / (A * B).sqrt()).meet(Intervals(-1.0, 1.0)).arcsin()
    inner = root + C * angle - root * rho / A - root / B + rho / root
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


def _below(form: SmoothForm, target: SmoothTarget, shell: tuple[float, float], level: float) -> bool:
    with np.errstate(all="ignore"):
        own = form.own(Intervals.exact(np.array([shell[0] ** 2]))).value
        least = (own / shell[0] ** 2 if form.linear else own).lo[0]
        rho = Intervals(1 / (ROOM * shell[1] ** 2), ROOM / shell[0] ** 2)
        side = np.ones((1, target.rank))
        boxes, seen = Intervals(-side, side), 0
        while len(boxes):
            seen += len(boxes)
            if seen > MOST:
                return False
            square = Intervals.exact(np.zeros(len(boxes)))
            for k in range(target.rank):
                square = square + boxes[:, k].square()
            met = (square.lo <= 1.0) & ((target.codimension > 0) | (square.hi >= 1.0))
            boxes = boxes[np.flatnonzero(met)]
            high = (far_pull(form, target, boxes, rho).square() / least).hi
            boxes = _halved(boxes[np.flatnonzero(~(high < level))])
    return True


def _halved(boxes: Intervals) -> Intervals:
    if not len(boxes):
        return boxes
    rows = np.arange(len(boxes))
    axis = np.argmax(boxes.hi - boxes.lo, axis=1)
    low, high = boxes.hi.copy(), boxes.lo.copy()
    low[rows, axis] = high[rows, axis] = boxes.mid[rows, axis]
    return Intervals(np.concatenate([boxes.lo, high]), np.concatenate([low, boxes.hi]))


def limit_at_infinity(form: SmoothForm, target: SmoothTarget, rng: Array) -> tuple[float, Array]:
    """The most that steps (or ReLU) take from the loss, as far as sampled directions show, and the direction."""
    units = rng / np.linalg.norm(rng, axis=1, keepdims=True)
    pull = far_pull(form, target, Intervals.exact(units), Intervals(0.0, 0.0)).mid
    last = 0.5 if form.linear else float(form.constant**2 + sum(form.weights) ** 2)
    best = int(np.argmax(pull**2))
    return float(pull[best] ** 2 / last), units[best]
