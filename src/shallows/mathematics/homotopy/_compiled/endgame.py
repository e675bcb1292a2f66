"""The Cauchy endgame.

Near t = 0 a path is a Puiseux series x(t) = Σ cₖ t^(k/w), w its winding number. Walking around the circle
|t| = r closes after w loops, and by Cauchy's formula the mean over the closed walk is x(0) = c₀ whatever
the rank of the Jacobian there. The walk is repeated on a circle eight times smaller until two means agree.
(A. Morgan, A. Sommese, C. Wampler, "A power series method for computing singular solutions to nonlinear
analytic systems", Numer. Math. 63, 1992; Sommese and Wampler, "The Numerical Solution of Systems of
Polynomials", 2005, ch. 10.)

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.mathematics.homotopy._compiled.codes import (
    ARRIVED,
    CONVERGED,
    DIVERGED,
    INFINITE,
    PROJECTIVE,
    UNCLOSED,
)
from shallows.mathematics.homotopy._compiled.equations import assemble, copy, distance, largest, polish
from shallows.mathematics.homotopy._compiled.kinds import (
    BOOL,
    COMPLEX,
    COMPLEXES,
    EQUATIONS,
    FLOAT,
    HISTORY,
    INT,
    SETTINGS,
    VOID,
)
from shallows.mathematics.homotopy._compiled.linear import factor
from shallows.mathematics.homotopy._compiled.predictor import recentre
from shallows.mathematics.homotopy._compiled.records import Settings
from shallows.mathematics.homotopy._compiled.tracker import NEXT_STEP, follow
from shallows.support.compiling import behind, part, several, unit
from shallows.support.tolerances import HUGE, TINY

#: Corners of the polygon that stands for a circle: the mean over n points of a loop leaves out the terms of the series
#: up to t^(n/w), so 16 points give c₀ to a relative (r/R)^(16/w), R the distance of the next branch point.
VERTICES = 16
#: From one circle to the next: the mean's error falls by 8^(16/w).
SMALLER = 8.0
#: Below this |t| rounding, seen through a Jacobian that is singular at t = 0, is larger than what a circle shows.
SMALLEST = 1e-11
#: First steps tried: a share of a polygon's side, and of the way to the next circle.
FIRST_ON_SIDE, FIRST_INWARD = 0.3, 0.1
#: Most steps on a side, as a share of those of a path: a side takes three to ten, and one that takes a hundred is
#: ill-conditioned. Without it some paths of a Stewart platform to infinity walked a million steps.
ON_SIDE = 0.02
#: Newton steps that sharpen a corner.
CORNER_STEPS = 4
#: A walk is closed when its ends differ by less than this share of its extent, or this share of the point's size.
CLOSED, CLOSED_BY_ROUNDING = 1e-4, 1e-11
#: Errors of an end at or near the origin are relative to this share of the point's size at the first circle.
SMALL_END = 1e-4
#: Means of two circles that agree to this are an end point.
AGREED = 1e-10
#: One that agreed to this is taken when the next circle is ten times worse: rounding has taken over ...
AGREED_ROUGHLY, WORSE = 1e-7, 10.0
#: ... and this is the least that is taken at the end.
AGREED_AT_ALL = 1e-6
#: The mean of a walk with w > 1 is a singular end when its pivots' ratio is below this, or below its error ...
DEFICIENT, DEFICIENT_BY_ERROR = 1e-6, 100.0
#: ... and an end at all when its residual is rounding: below so many times the noise of the equations.
SOLVED = 1e4
#: One equation has one pivot: it is compared with the derivative this share of the way off instead.
ASIDE = 0.1
#: Least exponent v of a path to infinity, x₀ ~ t^v: multiples of 1/w; 0.03 lets the 24 windings that are tried pass.
OUTWARD = 0.03
#: x₀ at t = 0, by extrapolation, is zero when it is below this share of x₀ here.
VANISHING = 0.3
#: Nearness |x₀|/‖x‖ to infinity of a path that is there; of one that could not be followed on and was nearly there;
#: and, projective and affine, of one whose x₀ extrapolates to zero.
THERE, NEARLY_THERE, ON_THE_WAY, ON_THE_WAY_AFFINE = 1e-9, 1e-6, 1e-3, 1e-2
#: No circle is walked while a path is this near to infinity, still goes outwards, and is further than this from t = 0:
#: it would not close.
DESCENDING, DESCENDING_ABOVE = 0.05, 1e-8


@unit(several(BOOL, FLOAT, INT)(EQUATIONS, SETTINGS, COMPLEXES, COMPLEX, COMPLEX, FLOAT, HISTORY), rare=True)
def corner(
    equations: Any, settings: Any, x: Any, here: complex, there: complex, step: float, history: Any
) -> tuple[bool, float, int]:
    """From t = here to t = there, sharpened by Newton: whether it got there, the last step length, steps."""
    status, _, step, steps = follow(equations, settings, x, here, there, True, step, history)
    arrived = status == ARRIVED and polish(equations, x, there, settings.noise, CORNER_STEPS) >= 0.0
    return arrived, step, steps


@unit(several(INT, INT)(EQUATIONS, SETTINGS, COMPLEXES, FLOAT, INT, COMPLEXES, COMPLEXES, HISTORY), rare=True)
def walk(
    equations: Any, settings: Any, x: Any, radius: float, most: int, mean: Any, origin: Any, history: Any
) -> tuple[int, int]:
    """Walk around |t| = radius until the path closes: winding number (0 when it does not), steps."""
    size = equations.size
    copy(x, origin, size)
    for j in range(size):
        mean[j] = 0.0j
    steps = 0
    extent = 0.0
    step = FIRST_ON_SIDE
    for loop in range(1, most + 1):
        for k in range(VERTICES):
            for j in range(size):
                mean[j] += x[j]
            here = radius * np.exp(2j * np.pi * k / VERTICES)
            there = radius * np.exp(2j * np.pi * (k + 1) / VERTICES)
            if k + 1 == VERTICES:
                there = radius + 0.0j
            arrived, step, used = corner(equations, settings, x, here, there, step, history)
            steps += used
            if not arrived:
                return 0, steps
            extent = max(extent, distance(x, origin, size))
        gap = distance(x, origin, size)
        if gap <= CLOSED * extent or gap <= CLOSED_BY_ROUNDING * largest(x, size):
            for j in range(size):
                mean[j] /= loop * VERTICES
            return loop, steps
    return 0, steps


@unit(several(FLOAT, FLOAT)(EQUATIONS, COMPLEXES), rare=True)
def rank_measure(equations: Any, x: Any) -> tuple[float, float]:
    """Smallest over largest pivot of the Jacobian at t = 0, a cheap measure of its rank; and the residual."""
    matrix, size = equations.matrix, equations.size
    assemble(equations, x, 0.0j)
    residual = largest(equations.value, size)
    if not factor(matrix, equations.pivots, size):
        return 0.0, residual
    low, high = HUGE, 0.0
    for i in range(size):
        pivot = 1.0 / abs(matrix[i * size + i])  # `factor` leaves the inverses of the pivots
        low, high = min(low, pivot), max(high, pivot)
    if size == 1:
        here = x[0]
        x[0] = here + ASIDE * max(abs(here), 1.0)
        assemble(equations, x, 0.0j)
        high = max(high, abs(matrix[0]))
        x[0] = here
    return low / high, residual


@unit(BOOL(EQUATIONS, COMPLEXES, INT, FLOAT, FLOAT), rare=True)
def solves(equations: Any, mean: Any, loops: int, gap: float, noise: float) -> bool:
    """Whether the mean of a closed walk, known to `gap`, is an end point.

    A walk around several roots closes too, and its mean does not depend on the radius: it is an end point only if it
    solves the system, and a singular one if w > 1.
    """
    ratio, residual = rank_measure(equations, mean)
    if noise > 0.0 and residual > SOLVED * noise:
        return False
    return loops == 1 or ratio < max(DEFICIENT, DEFICIENT_BY_ERROR * gap)


@unit(COMPLEX(COMPLEXES, INT, INT), rare=True)
def inverse_size(x: Any, size: int, mode: int) -> Any:
    """What vanishes at infinity: the homogenising coordinate, or 1/‖x‖ of an affine point."""
    if mode == PROJECTIVE:
        return x[size - 1]
    return 1.0 / max(largest(x, size), TINY) + 0.0j


@unit(several(FLOAT, FLOAT)(COMPLEX, COMPLEX, COMPLEX), rare=True)
def extrapolated(older: complex, newer: complex, here: complex) -> tuple[float, float]:
    """From x₀ (1/‖x‖ when affine) on three circles, zero where there was none: its exponent, and |x₀| at t = 0.

    The limit is Aitken's; both are 0 when they are not known.
    """
    outward, limit = 0.0, 0.0
    if newer != 0.0:
        outward = np.log(abs(newer / here)) / np.log(SMALLER)
    if older != 0.0:
        bend = older - 2.0 * newer + here
        limit = abs((older * here - newer * newer) / bend) if bend != 0.0 else 0.0
    return outward, limit


@unit(VOID(EQUATIONS, COMPLEXES, HISTORY), rare=True)
def centred(equations: Any, x: Any, history: Any) -> None:
    """Put the patch of a projective path at x."""
    if equations.mode == PROJECTIVE:
        size = equations.size
        copy(x, history.newest, size)
        recentre(history, equations.chart, size)
        copy(history.newest, x, size)


@part
def without_endgame(settings: Any, steps: float) -> Any:
    """The settings for a stretch of so many steps at most: no endgame within the endgame."""
    return Settings(
        settings.prediction,
        settings.contraction,
        settings.longest,
        settings.shortest,
        steps,
        0.0,
        settings.divergence,
        settings.noise,
        settings.floor,
        NEXT_STEP,
        settings.rounded,
    )


@unit(
    several(INT, INT, FLOAT, FLOAT, INT)(EQUATIONS, SETTINGS, COMPLEXES, FLOAT, INT, HISTORY, COMPLEXES),
    rare=True,
)
def finish(
    equations: Any, settings: Any, x: Any, radius: float, most: int, history: Any, room: Any
) -> tuple[int, int, float, float, int]:
    """The end point of a path that stands at t = radius: status, winding, error, last radius, steps.

    `room` is for four points.
    """
    size, mode = equations.size, equations.mode
    mean, last, best, origin = room, behind(room, size), behind(room, 2 * size), behind(room, 3 * size)
    calm = without_endgame(settings, settings.steps)
    brisk = without_endgame(settings, settings.steps * ON_SIDE)
    centred(equations, x, history)
    before, error, winding, steps = 0, 1.0, 0, 0
    floor = SMALL_END * largest(x, size)
    arrived = radius
    older, newer, here = 0.0 + 0.0j, 0.0 + 0.0j, 0.0 + 0.0j
    while radius > SMALLEST:
        older, newer, here = newer, here, inverse_size(x, size, mode)
        away = abs(here) / largest(x, size) if mode == PROJECTIVE else abs(here)
        outward, limit = extrapolated(older, newer, here)
        vanishing = older != 0.0 and limit < VANISHING * abs(here)
        if vanishing and away < THERE and outward > OUTWARD:
            return INFINITE, 0, away, radius, steps
        going = newer == 0.0 or outward > OUTWARD
        if not (away < DESCENDING and radius > DESCENDING_ABOVE and going):
            loops, used = walk(equations, brisk, x, radius, most, mean, origin, history)
            steps += used
            if loops == 0:
                copy(origin, x, size)
            elif loops == before:
                gap = distance(mean, last, size) / max(largest(mean, size), floor)
                is_end = solves(equations, mean, loops, gap, settings.rounded)
                if gap < error and is_end:
                    error, winding, arrived = gap, loops, radius
                    copy(mean, best, size)
                if (gap < AGREED and is_end) or (error < AGREED_ROUGHLY and gap > WORSE * error):
                    break
            copy(mean, last, size)
            before = loops
        inside = radius / SMALLER + 0.0j
        inward, _, used = corner(equations, calm, x, radius + 0.0j, inside, FIRST_INWARD, history)
        steps += used
        if not inward or radius / SMALLER < SMALLEST:
            near = ON_THE_WAY if mode == PROJECTIVE else ON_THE_WAY_AFFINE
            if going and (away < NEARLY_THERE or (vanishing and away < near)):
                return INFINITE, 0, away, radius, steps
            if not inward:
                break
        radius /= SMALLER
        if mode != PROJECTIVE and largest(x, size) > settings.divergence:
            return DIVERGED, 0, 1.0, radius, steps
    if winding > 0 and error < AGREED_AT_ALL:
        copy(best, x, size)
        return CONVERGED, winding, error, arrived, steps
    return UNCLOSED, before, error, radius, steps
