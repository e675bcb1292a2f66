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

from shallows.mathematics.homotopy._compiled.linear import factor
from shallows.mathematics.homotopy._compiled.tracker import (
    ARRIVED,
    DIVERGED,
    DIVERGENCE,
    ENDGAME_START,
    HANDED_OVER,
    INFINITE,
    NOISE,
    PROJECTIVE,
    STEP_TOO_SMALL,
    assemble,
    copy,
    follow,
    largest,
    polish,
    recentre,
)

CONVERGED, UNCLOSED = 5, 6
VERTICES = 16
SMALLEST = 1e-11


@njit(nogil=True, error_model="numpy")
def walk(
    evaluate: Any,
    constants: Any,
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
) -> tuple[int, int]:
    """Walk around |t| = radius until the path closes: winding number (0 when it does not), steps."""
    size = x.shape[0]
    copy(x, origin)
    for j in range(size):
        mean[j] = 0.0
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
                evaluate,
                constants,
                mode,
                x,
                here,
                there,
                chart,
                True,
                settings,
                first_step,
                room,
                algebra,
                history,
            )
            steps += used
            if (
                status != ARRIVED
                or polish(evaluate, constants, mode, x, there, chart, settings[NOISE], room, algebra, 4) < 0.0
            ):
                return 0, steps
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
            return loop, steps
    return 0, steps


@njit(nogil=True, error_model="numpy")
def rank_measure(
    evaluate: Any, constants: Any, mode: int, x: Any, chart: Any, room: Any, algebra: Any
) -> tuple[float, float]:
    """Smallest over largest pivot of the Jacobian at t = 0, a cheap measure of its rank; and the residual.

    One equation has one pivot: it is compared with the derivative a tenth of the way (or 0.1) off instead.
    """
    matrix, value, drift, pivots = algebra
    size = x.shape[0]
    assemble(evaluate, constants, mode, x, 0.0j, chart, room, matrix, value, drift)
    residual = largest(value)
    if not factor(matrix, pivots):
        return 0.0, residual
    low, high = 1e300, 0.0
    for i in range(size):
        pivot = 1.0 / abs(matrix[i, i])  # `factor` leaves the inverses of the pivots
        low, high = min(low, pivot), max(high, pivot)
    if size == 1:
        here = x[0]
        x[0] = here + 0.1 * max(abs(here), 1.0)
        assemble(evaluate, constants, mode, x, 0.0j, chart, room, matrix, value, drift)
        high = max(high, abs(matrix[0, 0]))
        x[0] = here
    return low / high, residual


@njit(nogil=True, error_model="numpy")
def inverse_size(x: Any, mode: int) -> complex:
    """What vanishes at infinity: the homogenising coordinate, or 1/‖x‖ of an affine point."""
    if mode == PROJECTIVE:
        return x[x.shape[0] - 1]
    return 1.0 / max(largest(x), 1e-300) + 0.0j


@njit(nogil=True, error_model="numpy")
def finish(
    evaluate: Any,
    constants: Any,
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
    points, tangents, _, _, _ = history
    calm = np.empty(settings.shape[0])
    copy(settings, calm)
    calm[ENDGAME_START] = 0.0
    if mode == PROJECTIVE:
        copy(x, points[2])
        recentre(points, tangents, chart)
        copy(points[2], x)
    before, error, winding = 0, 1.0, 0
    steps = 0
    floor = 1e-4 * largest(x)  # errors of an end at or near the origin are relative to this
    arrived = radius
    # x₀ (1/‖x‖ when affine) on three radii, each 1/8 of the one before
    older, newer, here = 0.0 + 0.0j, 0.0 + 0.0j, 0.0 + 0.0j
    while radius > SMALLEST:
        older, newer, here = newer, here, inverse_size(x, mode)
        away = abs(here) / largest(x) if mode == PROJECTIVE else abs(here)
        outward, limit = 0.0, 0.0
        if newer != 0.0:
            outward = np.log(abs(newer / here)) / np.log(8.0)
        if older != 0.0:
            bend = older - 2.0 * newer + here
            limit = abs((older * here - newer * newer) / bend) if bend != 0.0 else 0.0  # Aitken: x₀ at t = 0
            if away < 1e-9 and outward > 0.03 and limit < 0.3 * abs(here):
                return INFINITE, 0, away, radius, steps
        descending = away < 0.05 and radius > 1e-8 and (newer == 0.0 or outward > 0.03)
        if not descending:
            loops, used = walk(
                evaluate,
                constants,
                mode,
                x,
                radius,
                chart,
                calm,
                most,
                mean,
                origin,
                room,
                algebra,
                history,
            )
            steps += used
            if loops > 0:
                if loops == before:
                    gap = 0.0
                    for j in range(size):
                        gap = max(gap, abs(mean[j] - last[j]))
                    gap /= max(largest(mean), floor)
                    # a walk around several roots closes too, and its mean does not depend on the radius:
                    # it is an end point only if it solves the system, and a singular one if w > 1
                    ratio, residual = rank_measure(evaluate, constants, mode, mean, chart, room, algebra)
                    deficient = loops == 1 or ratio < max(1e-6, 100.0 * gap)
                    if settings[NOISE] > 0.0 and residual > 1e4 * settings[NOISE]:
                        deficient = False
                    if gap < error and deficient:
                        error, winding, arrived = gap, loops, radius
                        copy(mean, best)
                    if (gap < 1e-10 and deficient) or (error < 1e-7 and gap > 10.0 * error):
                        break
                copy(mean, last)
            else:
                copy(origin, x)
            before = loops
        inside = radius / 8.0 + 0.0j
        status, _, _, used = follow(
            evaluate,
            constants,
            mode,
            x,
            radius + 0.0j,
            inside,
            chart,
            True,
            calm,
            0.1,
            room,
            algebra,
            history,
        )
        steps += used
        lost = (
            status != ARRIVED
            or polish(evaluate, constants, mode, x, inside, chart, settings[NOISE], room, algebra, 4) < 0.0
        )
        if lost or radius / 8.0 < SMALLEST:
            going = newer == 0.0 or outward > 0.03
            near = 1e-3 if mode == PROJECTIVE else 1e-2
            if going and (away < 1e-6 or (older != 0.0 and away < near and limit < 0.3 * abs(here))):
                return INFINITE, 0, away, radius, steps
            if lost:
                break
        radius /= 8.0
        if mode != PROJECTIVE and largest(x) > settings[DIVERGENCE]:
            return DIVERGED, 0, 1.0, radius, steps
    if winding > 0 and error < 1e-6:
        copy(best, x)
        return CONVERGED, winding, error, arrived, steps
    return UNCLOSED, before, error, radius, steps


@njit(nogil=True, error_model="numpy")
def track_block(
    evaluate: Any, complexes: Any, reals: Any, program: Any, sizes: Any, block: Any, how: Any, out: Any
) -> None:
    """Track every row of `ends` from t = start to t = end in place.

    `sizes` is (mode, work, scratch), `block` (ends, charts), `how` (settings, largest winding number, start,
    end). In `out`, `codes` gets (status, winding, steps) and `figures` (|t| reached, error of the end point).
    """
    mode, work, scratch = sizes
    ends, charts = block
    settings, windings_most, start, end = how
    codes, figures = out
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
        np.empty(size + 1, np.complex128),
    )
    constants = (complexes, reals, program)
    chart = np.empty(charts.shape[1], np.complex128)
    trial = np.empty(size, np.complex128)
    for path in range(count):
        x = ends[path]
        copy(charts[path if mode == PROJECTIVE else 0], chart)
        status, done, _, steps = follow(
            evaluate, constants, mode, x, start, end, chart, False, settings, 0.02, room, algebra, history
        )
        winding, error = 1, 0.0
        radius = abs(start + done * (end - start))
        ending = end == 0.0 and settings[ENDGAME_START] > 0.0
        saved = history[4]
        backup_status, backup_error = ARRIVED, -1.0
        if status == ARRIVED:
            radius = 0.0
            copy(x, trial)
            error = polish(evaluate, constants, mode, trial, end, chart, settings[NOISE], room, algebra, 6)
            if error >= 0.0:
                copy(trial, x)
            elif ending:  # smooth in t, yet Newton does not converge at the end: a rank-deficient point
                status, error = CONVERGED, 1e-9
            if ending and saved[size].real > 0.0 and not (0.0 <= error < 1e-10):
                # Newton's convergence on the last step may have been an accident of rounding
                copy(x, trial)
                backup_status, backup_error = status, error
                status = HANDED_OVER
        if ending and saved[size].real > 0.0 and status in (HANDED_OVER, STEP_TOO_SMALL):
            for j in range(size):
                x[j] = saved[j]
            status, winding, error, radius, more = finish(
                evaluate,
                constants,
                mode,
                x,
                saved[size].real,
                chart,
                settings,
                windings_most,
                room,
                algebra,
                history,
            )
            steps += more
            if backup_error >= 0.0 and status not in (CONVERGED, INFINITE):
                copy(trial, x)
                status, winding, error, radius = backup_status, 1, backup_error, 0.0
        codes[path, 0], codes[path, 1], codes[path, 2] = status, winding, steps
        figures[path, 0], figures[path, 1] = radius, error
        if mode == PROJECTIVE:
            copy(chart, charts[path])


@njit(nogil=True, error_model="numpy")
def inspect_block(
    evaluate: Any, complexes: Any, reals: Any, program: Any, sizes: Any, block: Any, out: Any
) -> None:
    """Jacobian and value at t = 0 of every row of `ends`, after a few Newton steps where `newton` says so.

    `steps` gets the last relative Newton step, −1 where Newton did not converge (that row is left alone).
    `sizes` is (mode, work, scratch, noise), `block` (ends, newton), `out` (matrices, values, steps).
    """
    mode, work, scratch, noise = sizes
    ends, newton = block
    matrices, values, steps = out
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
    constants = (complexes, reals, program)
    chart = np.zeros(size, np.complex128)
    trial, drift = np.empty(size, np.complex128), np.empty(size, np.complex128)
    for row in range(count):
        x = ends[row]
        if mode == PROJECTIVE:
            norm = 0.0
            for j in range(size):
                norm += x[j].real ** 2 + x[j].imag ** 2
            norm = np.sqrt(norm)
            for j in range(size):
                x[j] /= norm
                chart[j] = np.conj(x[j])
        if newton[row]:
            copy(x, trial)
            steps[row] = polish(evaluate, constants, mode, trial, 0.0j, chart, noise, room, algebra, 6)
            if steps[row] >= 0.0:
                copy(trial, x)
        assemble(evaluate, constants, mode, x, 0.0j, chart, room, matrices[row], values[row], drift)


@njit(nogil=True, error_model="numpy")
def evaluate_point(
    evaluate: Any, complexes: Any, reals: Any, program: Any, room: Any, point: Any, out: Any
) -> None:
    """One call of an evaluator."""
    work, scratch = room
    value, jacobian = out
    evaluate(
        point.ctypes,
        complexes.ctypes,
        reals.ctypes,
        program.ctypes,
        work.ctypes,
        scratch.ctypes,
        value.ctypes,
        jacobian.ctypes,
    )
