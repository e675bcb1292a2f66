"""The Cauchy endgame, and the compiled loop over a block of paths.

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
from numba import njit

from shallows.homotopy.tracker import (
    AFFINE,
    ARRIVED,
    DIVERGED,
    DIVERGENCE,
    ENDGAME_START,
    HANDED_OVER,
    PENCIL,
    PROJECTIVE,
    STEP_TOO_SMALL,
    follow,
    largest,
    polish,
    recentre,
)

CONVERGED, UNCLOSED = 5, 6
VERTICES = 16


@njit(cache=True, nogil=True, error_model="numpy")
def walk(
    system: Any,
    mode: int,
    x: Any,
    radius: float,
    chart: Any,
    settings: Any,
    most: int,
    mean: Any,
    origin: Any,
    room: Any,
    algebra: Any,
    history: Any,
) -> tuple[int, int, float]:
    """Walk around |t| = radius until the path closes: (winding number or 0, steps, gap at closing)."""
    size = x.shape[0]
    origin[:] = x
    mean[:] = 0.0
    steps = 0
    extent = 0.0
    first_step = 0.3
    for loop in range(1, most + 1):
        for k in range(VERTICES):
            for j in range(size):
                mean[j] += x[j]
            here = radius * np.exp(2j * np.pi * k / VERTICES)
            there = radius * np.exp(2j * np.pi * (k + 1) / VERTICES)
            if k + 1 == VERTICES:
                there = radius + 0.0j
            status, _, first_step, used = follow(
                system, mode, x, here, there, chart, True, settings, first_step, room, algebra, history
            )
            steps += used
            if status != ARRIVED or polish(system, mode, x, there, chart, room, algebra, 4) < 0.0:
                return 0, steps, 0.0
            away = 0.0
            for j in range(size):
                away = max(away, abs(x[j] - origin[j]))
            extent = max(extent, away)
        gap = 0.0
        for j in range(size):
            gap = max(gap, abs(x[j] - origin[j]))
        if gap <= 1e-4 * extent or gap <= 1e-11 * largest(x):
            for j in range(size):
                mean[j] /= loop * VERTICES
            return loop, steps, gap
    return 0, steps, 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def finish(
    system: Any,
    mode: int,
    x: Any,
    radius: float,
    chart: Any,
    settings: Any,
    most: int,
    room: Any,
    algebra: Any,
    history: Any,
) -> tuple[int, int, float, float, int]:
    """The end point of a path that stands at t = radius: status, winding, error, last radius, steps."""
    size = x.shape[0]
    mean, last = np.empty(size, np.complex128), np.empty(size, np.complex128)
    best, origin = np.empty(size, np.complex128), np.empty(size, np.complex128)
    points, tangents, _, _ = history
    calm = settings.copy()
    calm[ENDGAME_START] = 0.0
    if mode == PROJECTIVE:
        points[2] = x
        recentre(points, tangents, chart)
        x[:] = points[2]
    before, error, winding = 0, 1.0, 0
    steps = 0
    arrived = radius
    for round_ in range(14):
        loops, used, _ = walk(
            system, mode, x, radius, chart, calm, most, mean, origin, room, algebra, history
        )
        steps += used
        if loops > 0:
            if loops == before:
                gap = 0.0
                for j in range(size):
                    gap = max(gap, abs(mean[j] - last[j]))
                gap /= largest(mean)
                if gap < error:
                    error, winding, arrived = gap, loops, radius
                    best[:] = mean
                if gap < 1e-10 or (error < 1e-7 and gap > 10.0 * error):
                    break
            last[:] = mean
        else:
            x[:] = origin
        before = loops
        status, _, _, used = follow(
            system,
            mode,
            x,
            radius + 0.0j,
            radius / 8.0 + 0.0j,
            chart,
            True,
            calm,
            0.1,
            room,
            algebra,
            history,
        )
        steps += used
        if status != ARRIVED or polish(system, mode, x, radius / 8.0 + 0.0j, chart, room, algebra, 4) < 0.0:
            break
        radius /= 8.0
        if mode != PROJECTIVE and largest(x) > settings[DIVERGENCE]:
            return DIVERGED, 0, 1.0, radius, steps
    if winding > 0 and error < 1e-6:
        x[:] = best
        return CONVERGED, winding, error, arrived, steps
    return UNCLOSED, before, error, radius, steps


@njit(cache=True, nogil=True, error_model="numpy")
def run(
    evaluate: Any,
    complexes: Any,
    reals: Any,
    program: Any,
    mode: int,
    work: int,
    scratch: int,
    ends: Any,
    charts: Any,
    settings: Any,
    windings_most: int,
    start: complex,
    end: complex,
    codes: Any,
    figures: Any,
) -> None:
    """Track every row of `ends` from t = start to t = end in place.

    `codes` gets (status, winding, steps) and `figures` (|t| reached, error of the end point) of each path.
    """
    count, size = ends.shape
    room = (
        np.empty(size + 1, np.complex128),
        np.empty(size * (size + 1), np.complex128),
        np.empty(work, np.complex128),
        np.empty(scratch, np.float64),
    )
    algebra = (
        np.empty((size, size), np.complex128),
        np.empty(size, np.complex128),
        np.empty(size, np.complex128),
        np.empty(size, np.int64),
    )
    history = (
        np.zeros((3, size), np.complex128),
        np.zeros((3, size), np.complex128),
        np.zeros(3, np.float64),
        np.empty(size, np.complex128),
    )
    system = (evaluate, complexes, reals, program)
    chart = charts[0].copy()
    for path in range(count):
        x = ends[path]
        chart[:] = charts[path] if mode == PROJECTIVE else charts[0]
        status, done, _, steps = follow(
            system, mode, x, start, end, chart, False, settings, 0.02, room, algebra, history
        )
        winding, error = 1, 0.0
        radius = abs(start + done * (end - start))
        ending = end == 0.0 and settings[ENDGAME_START] > 0.0
        if status == ARRIVED:
            radius = 0.0
            error = polish(system, mode, x, end, chart, room, algebra, 6)
            if error < 0.0 and ending:
                status = UNCLOSED
        elif ending and (status == HANDED_OVER or (status == STEP_TOO_SMALL and radius < 0.1)):
            status, winding, error, radius, more = finish(
                system, mode, x, radius, chart, settings, windings_most, room, algebra, history
            )
            steps += more
        codes[path, 0], codes[path, 1], codes[path, 2] = status, winding, steps
        figures[path, 0], figures[path, 1] = radius, error
        if mode == PROJECTIVE:
            charts[path] = chart


__all__ = ["AFFINE", "CONVERGED", "PENCIL", "UNCLOSED", "run"]
