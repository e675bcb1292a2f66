"""The compiled loops over a block of paths: tracking them whole, and looking at their ends.

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from shallows.mathematics.homotopy._compiled.codes import (
    ARRIVED,
    CONVERGED,
    HANDED_OVER,
    INFINITE,
    PROJECTIVE,
    STEP_TOO_SMALL,
    variable,
)
from shallows.mathematics.homotopy._compiled.endgame import finish
from shallows.mathematics.homotopy._compiled.equations import Equations, assemble, copy, length, polish
from shallows.mathematics.homotopy._compiled.predictor import REMEMBERED, History
from shallows.mathematics.homotopy._compiled.tracker import MOVING, Settings, follow

#: The first step tried on a path, as a share of the way.
FIRST_STEP = 0.02
#: Newton steps that sharpen an end: they stop before, when they no longer shrink.
END_STEPS = variable(6)
#: An end is regular beyond doubt when Newton's last step is below this. Else its convergence may have been an accident
#: of rounding, and the endgame is asked, if the path came by its beginning.
BEYOND_DOUBT = 1e-10
#: What is said of the error of an end that is smooth in t and at which Newton does not converge: a rank-deficient
#: point, reached by a step that was accepted within 10⁻¹⁰.
DEFICIENT_ERROR = 1e-9


@njit(nogil=True, error_model="numpy", inline="always")
def whole_path(
    equations: Any, settings: Any, x: Any, start: complex, end: complex, most: int, history: Any, spare: Any
) -> tuple[int, int, float, float, int]:
    """One path from start to end, x changed in place: status, winding, error, |t| reached, steps."""
    status, done, _, steps = follow(equations, settings, x, start, end, MOVING, FIRST_STEP, history)
    winding, error, radius = 1, 0.0, abs(start + done * (end - start))
    saved, at_end = history.saved, x.shape[0]
    ending = end == 0.0 and settings.endgame > 0.0
    backup_status, backup_error = ARRIVED, -1.0
    if status == ARRIVED:
        radius = 0.0
        copy(x, spare)
        error = polish(equations, spare, end, settings.noise, END_STEPS)
        if error >= 0.0:
            copy(spare, x)
        elif ending:
            status, error = CONVERGED, DEFICIENT_ERROR
        if ending and saved[at_end].real > 0.0 and not (0.0 <= error < BEYOND_DOUBT):
            copy(x, spare)
            backup_status, backup_error = status, error
            status = HANDED_OVER
    if ending and saved[at_end].real > 0.0 and status in (HANDED_OVER, STEP_TOO_SMALL):
        for j in range(at_end):
            x[j] = saved[j]
        status, winding, error, radius, more = finish(
            equations, settings, x, saved[at_end].real, most, history
        )
        steps += more
        if backup_error >= 0.0 and status not in (CONVERGED, INFINITE):
            copy(spare, x)
            status, winding, error, radius = backup_status, 1, backup_error, 0.0
    return status, winding, error, radius, steps


@njit(nogil=True, error_model="numpy", inline="always")
def track_block(
    evaluate: Any, complexes: Any, reals: Any, program: Any, sizes: Any, block: Any, how: Any, out: Any
) -> None:
    """Track every row of `ends` from t = start to t = end in place.

    `sizes` is (mode, work, scratch), `block` (ends, charts), `how` (settings, largest winding number, start,
    end). In `out`, `codes` gets (status, winding, steps) and `figures` (|t| reached, error of the end point).
    """
    mode, work, scratch = sizes
    ends, charts = block
    options, most, start, end = how
    codes, figures = out
    count, size = ends.shape
    settings = Settings(
        options[0], options[1], options[2], options[3], options[4], options[5], options[6], options[7]
    )
    equations = Equations(
        evaluate,
        complexes,
        reals,
        program,
        mode,
        np.empty(charts.shape[1], np.complex128),
        np.empty(size + 1, np.complex128),
        np.empty(size * (size + 1), np.complex128),
        np.empty(work, np.complex128),
        np.empty(scratch, np.float64),
        np.empty((size, size), np.complex128),
        np.empty(size, np.complex128),
        np.empty(size, np.complex128),
        np.empty(size, np.int64),
    )
    history = History(
        np.zeros((REMEMBERED, size), np.complex128),
        np.zeros((REMEMBERED, size), np.complex128),
        np.zeros(REMEMBERED, np.float64),
        np.empty(size, np.complex128),
        np.empty(size + 1, np.complex128),
        np.empty(4, np.float64),
        np.empty(6, np.float64),
    )
    chart = equations.chart
    spare = np.empty(size, np.complex128)
    for path in range(count):
        copy(charts[path if mode == PROJECTIVE else 0], chart)
        status, winding, error, radius, steps = whole_path(
            equations, settings, ends[path], start, end, most, history, spare
        )
        codes[path, 0], codes[path, 1], codes[path, 2] = status, winding, steps
        figures[path, 0], figures[path, 1] = radius, error
        if mode == PROJECTIVE:
            copy(chart, charts[path])


@njit(nogil=True, error_model="numpy", inline="always")
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
    chart = np.zeros(size, np.complex128)
    trial, drift, pivots = (
        np.empty(size, np.complex128),
        np.empty(size, np.complex128),
        np.empty(size, np.int64),
    )
    point, buffer = np.empty(size + 1, np.complex128), np.empty(size * (size + 1), np.complex128)
    room, spare = np.empty(work, np.complex128), np.empty(scratch, np.float64)
    for row in range(count):
        x = ends[row]
        if mode == PROJECTIVE:
            norm = np.sqrt(length(x))
            for j in range(size):
                x[j] /= norm
                chart[j] = np.conj(x[j])
        equations = Equations(
            evaluate,
            complexes,
            reals,
            program,
            mode,
            chart,
            point,
            buffer,
            room,
            spare,
            matrices[row],
            values[row],
            drift,
            pivots,
        )
        if newton[row]:
            copy(x, trial)
            steps[row] = polish(equations, trial, 0.0j, noise, END_STEPS)
            if steps[row] >= 0.0:
                copy(trial, x)
        assemble(equations, x, 0.0j)


@njit(nogil=True, error_model="numpy", inline="always")
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
