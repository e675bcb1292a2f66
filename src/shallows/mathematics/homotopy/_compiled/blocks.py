"""The compiled loops over a block of paths: tracking them whole, and looking at their ends.

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.mathematics.homotopy._compiled.codes import (
    ARRIVED,
    CONVERGED,
    HANDED_OVER,
    INFINITE,
    PROJECTIVE,
    STEP_TOO_SMALL,
)
from shallows.mathematics.homotopy._compiled.endgame import finish
from shallows.mathematics.homotopy._compiled.equations import assemble, copy, length, polish
from shallows.mathematics.homotopy._compiled.evaluators import evaluate_at
from shallows.mathematics.homotopy._compiled.kinds import (
    COMPLEX,
    COMPLEXES,
    EQUATIONS,
    FLOAT,
    FLOATS,
    HISTORY,
    INT,
    INTEGERS,
    SETTINGS,
    VOID,
    equations_at,
    history_at,
)
from shallows.mathematics.homotopy._compiled.records import Settings
from shallows.mathematics.homotopy._compiled.tracker import follow
from shallows.support.compiling import behind, callback, constants, entry, pointer, several, unit

#: The first step tried on a path, as a share of the way.
FIRST_STEP = 0.02
#: Newton steps that sharpen an end: they stop before, when they no longer shrink.
END_STEPS = 6
#: An end is regular beyond doubt when Newton's last step is below this. Else its convergence may have been an accident
#: of rounding, and the endgame is asked, if the path came by its beginning.
BEYOND_DOUBT = 1e-10
#: What is said of the error of an end that is smooth in t and at which Newton does not converge: a rank-deficient
#: point, reached by a step that was accepted within 10⁻¹⁰.
DEFICIENT_ERROR = 1e-9


@unit(
    several(INT, INT, FLOAT, FLOAT, INT)(
        EQUATIONS, SETTINGS, COMPLEXES, COMPLEX, COMPLEX, INT, HISTORY, COMPLEXES
    ),
    rare=True,
)
def whole_path(
    equations: Any, settings: Any, x: Any, start: complex, end: complex, most: int, history: Any, spare: Any
) -> tuple[int, int, float, float, int]:
    """One path from start to end, x changed in place: status, winding, error, |t| reached, steps."""
    status, done, _, steps = follow(equations, settings, x, start, end, False, FIRST_STEP, history)
    winding, error, radius = 1, 0.0, abs(start + done * (end - start))
    saved, size = history.saved, equations.size
    ending = end == 0.0 and settings.endgame > 0.0
    backup_status, backup_error = ARRIVED, -1.0
    if status == ARRIVED:
        radius = 0.0
        copy(x, spare, size)
        error = polish(equations, spare, end, settings.noise, END_STEPS)
        if error >= 0.0:
            copy(spare, x, size)
        elif ending:
            status, error = CONVERGED, DEFICIENT_ERROR
        if ending and saved[size].real > 0.0 and not (0.0 <= error < BEYOND_DOUBT):
            copy(x, spare, size)
            backup_status, backup_error = status, error
            status = HANDED_OVER
    if ending and saved[size].real > 0.0 and status in (HANDED_OVER, STEP_TOO_SMALL):
        copy(saved, x, size)
        status, winding, error, radius, more = finish(
            equations, settings, x, saved[size].real, most, history, behind(spare, size)
        )
        steps += more
        if backup_error >= 0.0 and status not in (CONVERGED, INFINITE):
            copy(spare, x, size)
            status, winding, error, radius = backup_status, 1, backup_error, 0.0
    return status, winding, error, radius, steps


@callback(
    VOID(INT, INT, COMPLEXES, INT, COMPLEXES, INT, COMPLEXES, FLOATS, INT, COMPLEXES, INTEGERS, FLOATS),
    rare=True,
)
def track_block(
    equations_place: int, history_place: int, spare: Any, count: int, ends: Any, width: int, charts: Any, options: Any,
    most: int, times: Any, codes: Any, figures: Any,
) -> None:  # fmt: skip
    """Track `count` rows of `ends` from t = times[0] to t = times[1] in place, with winding numbers up to `most`.

    `charts` has a row of `width` numbers for each path of a PROJECTIVE homotopy, else one. `codes` gets (status,
    winding, steps) and `figures` (|t| reached, error of the end point).
    """
    equations, history = equations_at(equations_place), history_at(history_place)
    mode, size = equations.mode, equations.size
    settings = Settings(
        options[0], options[1], options[2], options[3], options[4], options[5], options[6], options[7], options[8],
        options[9], options[10],
    )  # fmt: skip
    for path in range(count):
        own = behind(charts, path * width if mode == PROJECTIVE else 0)
        copy(own, equations.chart, width)
        x = behind(ends, path * size)
        status, winding, error, radius, steps = whole_path(
            equations, settings, x, times[0], times[1], most, history, spare
        )
        codes[3 * path], codes[3 * path + 1], codes[3 * path + 2] = status, winding, steps
        figures[2 * path], figures[2 * path + 1] = radius, error
        if mode == PROJECTIVE:
            copy(equations.chart, own, width)


@entry(
    VOID(
        INT,
        INT,
        COMPLEX[::1],
        constants(INT),
        constants(FLOAT, 2),
        FLOAT[::1],
        COMPLEX[:, ::1],
        constants(FLOAT),
        INT[:, ::1],
    ),
    rare=True,
)
def track_weighted(
    equations_place: int, history_place: int, spare: Any, owners: Any, weights: Any, reals: Any, ends: Any,
    options: Any, codes: Any,
) -> None:  # fmt: skip
    """Track every row of `ends` from t = 1 to t = 0 in place, without an endgame, on affine homotopies that differ by
    their `reals`: those of a row are weights[owner of the row]. `codes` gets (status, steps)."""
    equations, history = equations_at(equations_place), history_at(history_place)
    size, last = equations.size, -1
    settings = Settings(
        options[0], options[1], options[2], options[3], options[4], 0.0, options[6], options[7], options[8],
        options[9], options[10],
    )  # fmt: skip
    for path in range(len(ends)):
        if owners[path] != last:
            last = owners[path]
            for k in range(len(reals)):
                reals[k] = weights[last, k]
        x = behind(pointer(ends), path * size)
        status, _, _, _, steps = whole_path(equations, settings, x, 1 + 0j, 0j, 1, history, pointer(spare))
        codes[path, 0], codes[path, 1] = status, steps


@callback(VOID(INT, COMPLEXES, FLOAT, INT, COMPLEXES, INTEGERS, COMPLEXES, COMPLEXES, FLOATS), rare=True)
def inspect_block(
    equations_place: int, spare: Any, noise: float, count: int, ends: Any, newton: Any, matrices: Any, values: Any,
    steps: Any,
) -> None:  # fmt: skip
    """Jacobian and value at t = 0 of `count` rows of `ends`, after a few Newton steps where `newton` is not 0.

    `steps` gets the last relative Newton step, −1 where Newton did not converge (that row is left alone).
    """
    equations = equations_at(equations_place)
    mode, size = equations.mode, equations.size
    for row in range(count):
        x = behind(ends, row * size)
        if mode == PROJECTIVE:
            norm = np.sqrt(length(x, size))
            for j in range(size):
                x[j] /= norm
                equations.chart[j] = np.conj(x[j])
        if newton[row] != 0:
            copy(x, spare, size)
            steps[row] = polish(equations, spare, 0.0j, noise, END_STEPS)
            if steps[row] >= 0.0:
                copy(spare, x, size)
        assemble(equations, x, 0.0j)
        copy(equations.matrix, behind(matrices, row * size * size), size * size)
        copy(equations.value, behind(values, row * size), size)


@callback(
    VOID(INT, COMPLEXES, FLOATS, INTEGERS, COMPLEXES, FLOATS, INT, INT, INT, COMPLEXES, COMPLEXES, COMPLEXES)
)
def evaluate_points(
    evaluate: int, complexes: Any, reals: Any, program: Any, work: Any, scratch: Any, count: int, width: int,
    equations: int, points: Any, values: Any, jacobians: Any,
) -> None:  # fmt: skip
    """An evaluator at `count` rows of `points`, of `width` numbers each."""
    for row in range(count):
        evaluate_at(
            evaluate,
            behind(points, row * width),
            complexes,
            reals,
            program,
            work,
            scratch,
            behind(values, row * equations),
            behind(jacobians, row * equations * width),
        )
