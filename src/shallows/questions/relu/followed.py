"""A block-symmetric critical point followed in k: its last block grows, and the loss tends to c·k^p.

Entries times the roots of their multiplicities have limits, and are smooth in ε = 1/√k; the values at the next k are
extrapolated in ε, improved by Newton's method and proved. The limit itself is extrapolated from proved losses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from shallows.mathematics.balls.systems import precision
from shallows.mathematics.newton import refined
from shallows.questions.relu.balls import ReLUBalls
from shallows.questions.relu.block_form import BlockForm
from shallows.questions.relu.block_orbits import images
from shallows.questions.relu.reduced import coordinates
from shallows.questions.relu.symmetric import ReducedBalls
from shallows.questions.relu.symmetric_point import EQUAL, SymmetricPoint, parallel_point, point_near
from shallows.support.arguments import typed
from shallows.support.checks import Array, positive_integer
from shallows.support.errors import InvalidProblem, NotConverged

#: k grows by this factor, where Newton's method follows; by less where it does not, and at least by one.
GROWTH = 1.3
#: Points that the next one is extrapolated from, and losses that the limit is.
ORDER, LAST = 3, 6
#: A point is the one that was followed if it is this near to what was extrapolated, as a share of its length; from one
#: point nothing is extrapolated, and from k = 3 to 4 points move by up to 0.33 (the next ones are 0.75 away, measured).
NEAR, FIRST_NEAR = 0.25, 0.4
#: Newton steps from an extrapolated point, which is good to a per cent; bits of the balls they are taken in; and the
#: length of a step after which the point is as good as doubles are.
STEPS, BITS, SHORT = 40, 64, 1e-14
#: Exponents of the loss are multiples of this (paper 003's minima: −1 and 0; equal rows: 2).
EXPONENTS = 0.5
#: Losses below this vanish, but for rounding of the balls' ends.
VANISHES = 1e-12
#: Limits are printed with at most eight digits.
MANTISSA = 1e-8


@dataclass(frozen=True, eq=False)
class Followed:
    """One critical point at several k, each proved; ½E tends to `coefficient`·k^`power` (extrapolated, not proved).

    `error` is how far two extrapolations are apart. Where `reached` is False the point was not found beyond the last k:
    points can meet and vanish as k grows.

    >>> spurious = sh.relu.symmetric_chart(6, [6]).symmetric[1]       # ½E = 0.0557 at k = 6
    >>> sh.relu.follow(spurious, to=100)
    Followed([6] to k = 100: ½E 0.0556686 → 0.142074, limit 0.182)
    """

    points: tuple[SymmetricPoint, ...]
    reached: bool
    power: float
    coefficient: float
    error: float

    @property
    def k(self) -> tuple[int, ...]:
        """The widths."""
        return tuple(point.form.k for point in self.points)

    @property
    def half_losses(self) -> Array:
        """½E at each k."""
        return np.array([point.half_loss for point in self.points])

    def __repr__(self) -> str:
        first, last = self.points[0], self.points[-1]
        known = abs(self.coefficient) / max(self.error, abs(self.coefficient) * MANTISSA, VANISHES)
        times = "" if self.power == 0 else f"·k^{self.power:g}"
        limit = f"limit {self.coefficient:.{max(1, int(np.log10(max(known, 1.0))))}g}{times}"
        return (
            f"Followed({list(first.form.sizes)} to k = {last.form.k}: ½E {first.half_loss:.6g} → {last.half_loss:.6g}, "
            f"{limit if self.reached else 'not found beyond'})"
        )


@typed
def follow(point: SymmetricPoint, to: int = 100) -> Followed:
    """The point for larger and larger k, up to `to`: the last block grows, the others stay.

    Points with equal rows are proved as narrower networks with all k inputs, whose time grows as k³: to k = 60 in
    seconds. A last block of two neurons has no own coordinates until it grows: its two neurons are taken in the order
    in which the point goes further.

    >>> teacher = sh.relu.symmetric_chart(6, [6]).symmetric[0]
    >>> followed = sh.relu.follow(teacher, to=20)
    >>> followed.reached, bool(followed.half_losses.max() < 1e-12)
    (True, True)
    """
    to = positive_integer("to", to)
    if to <= point.form.k:
        raise InvalidProblem(f"to is {to}; the point is at k = {point.form.k}: expected more.")
    found = [_followed(point, to)]
    if not found[0].reached and point.form.sizes[-1] == 2:
        tables = images(point.form.sizes, point.form.values)[1:]
        found += [_followed(point_near(BlockForm.of(point.form.sizes, table)), to) for table in tables]
    return max(found, key=lambda one: one.k[-1])


def _followed(point: SymmetricPoint, to: int) -> Followed:
    """This point, in this order of its neurons."""
    points, step = [point], max(1, round((GROWTH - 1) * point.form.k))
    while points[-1].form.k < to:
        k = min(points[-1].form.k + step, to)
        found = _at(points, k)
        if found is not None:
            points.append(found)
            step = max(1, round((GROWTH - 1) * k))
        elif step == 1:
            break
        else:
            step = max(1, step // 2)
    return Followed(tuple(points), points[-1].form.k == to, *_limit(points))


def _at(points: list[SymmetricPoint], k: int) -> SymmetricPoint | None:
    """The point at this k; None where Newton's method does not find it."""
    form = _extrapolated([p.form for p in points[-ORDER:]], k)
    try:
        if np.abs(points[-1].form.values - np.round(points[-1].form.values)).max() < EQUAL:
            return point_near(form)
        near = _improved(form, points[-1])
        parallel = points[-1].rows < len(form.sizes)
        found = parallel_point(form.sizes, _direction(near)) if parallel else point_near(near)
    except NotConverged:
        return None
    away = np.linalg.norm(_scaled(found.form) - _scaled(form))
    same = found.rows == points[-1].rows or (found.rows == k and points[-1].rows == points[-1].form.k)
    near_enough = (NEAR if len(points) > 1 else FIRST_NEAR) * np.linalg.norm(_scaled(form))
    return found if same and away < near_enough else None


def _direction(form: BlockForm) -> Array:
    """The values of a row of unit length, where all rows are parallel."""
    row = form.values[0, :-1]
    return np.asarray(row / np.sqrt(np.sum(np.array(form.sizes) * row**2)))


def _counts(sizes: tuple[int, ...]) -> Array:
    """How many coordinates of a row have each value."""
    counts = np.tile(np.array([*sizes, 0], dtype=np.float64), (len(sizes), 1))
    for a, size in enumerate(sizes):
        counts[a, a], counts[a, -1] = 1.0, size - 1
    return counts


def _scaled(form: BlockForm) -> Array:
    return np.asarray(form.values * np.sqrt(_counts(form.sizes)))


def _extrapolated(forms: list[BlockForm], k: int) -> BlockForm:
    """Lagrange's polynomial in 1/√k through the last forms."""
    sizes = (*forms[-1].sizes[:-1], forms[-1].sizes[-1] + k - forms[-1].k)
    weights = _weights([form.k for form in forms], k**-0.5)
    values = sum(w * _scaled(form) for w, form in zip(weights, forms, strict=True))
    roots = np.sqrt(_counts(sizes))
    return BlockForm.of(sizes, np.where(roots > 0, values / np.maximum(roots, 1.0), 0.0))


def _weights(widths: list[int], epsilon: float) -> list[float]:
    """Lagrange's weights at ε for knots 1/√k."""
    knots = [k**-0.5 for k in widths]
    return [
        float(np.prod([(epsilon - y) / (x - y) for j, y in enumerate(knots) if j != i]))
        for i, x in enumerate(knots)
    ]


def _improved(form: BlockForm, before: SymmetricPoint) -> BlockForm:
    """Newton's method: in the fixed space, or for a network in which equal rows are one."""
    equal = before.rows < before.form.k
    if not equal:
        places = coordinates(form.sizes)
        x = np.array([form.values[a, c] * np.sqrt(count) for a, c, count in places])
        x = _newton(ReducedBalls(form.sizes), x)
        values = form.values.copy()
        for value, (a, c, count) in zip(x, places, strict=True):
            values[a, c] = value / np.sqrt(count)
        return BlockForm.of(form.sizes, values)
    values = form.values.copy()
    for a, size in enumerate(form.sizes):
        if size > 1:  # equal rows have one value on their block; its many coordinates say which
            values[a, a] = values[a, -1]
    starts = np.cumsum([0, *form.sizes])[:-1]
    parallel = before.rows < len(form.sizes)
    chosen, outer = (starts[:1], [form.k]) if parallel else (starts, form.sizes)
    if parallel:
        values[0, :-1] = values[-1, :-1]
    rows = BlockForm.of(form.sizes, values).network().W[chosen]
    balls = ReLUBalls(rows.shape, np.array(outer, dtype=np.float64), np.eye(form.k), np.ones(form.k))
    found = _newton(balls, rows.ravel()).reshape(rows.shape)
    values[:, :-1] = found[:, starts]
    values[:, -1] = [v if size > 1 else 0.0 for v, size in zip(np.diag(values), form.sizes, strict=True)]
    return BlockForm.of(form.sizes, values)


def _newton(system: Any, x: Array) -> Array:
    """Plain Newton steps at balls' midpoints."""
    with precision(BITS):
        for better, moved in refined(system, [arb(entry) for entry in x.tolist()], STEPS):
            found = np.array([float(entry) for entry in better])
            if moved < SHORT * np.linalg.norm(found):
                return found
    raise NotConverged("Newton's method did not settle.")


def _limit(points: list[SymmetricPoint]) -> tuple[float, float, float]:
    """The exponent (of the two next to the slope the one that tells more), the coefficient, and how far two differ."""
    last = points[-LAST:]
    k, losses = [p.form.k for p in last], np.array([p.half_loss for p in last])
    if np.all(losses < VANISHES):
        return 0.0, 0.0, 0.0
    slope = np.log(losses[-1] / losses[-2]) / np.log(k[-1] / k[-2]) if len(k) > 1 else 0.0
    found = []
    for power in {EXPONENTS * np.floor(slope / EXPONENTS), EXPONENTS * np.ceil(slope / EXPONENTS)}:
        scaled = losses / np.array(k, dtype=np.float64) ** power
        values = [float(np.dot(_weights(k[skip:], 0.0), scaled[skip:])) for skip in (0, 1)]
        found.append((float(power), values[0], abs(values[0] - values[1])))
    return min(found, key=lambda limit: limit[2] / max(abs(limit[1]), VANISHES))
