"""The predictor: Hermite extrapolation through the last points of a path and their tangents.

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.mathematics.homotopy._compiled.equations import copy, length, newton_step
from shallows.mathematics.homotopy._compiled.kinds import (
    BOOL,
    COMPLEX,
    COMPLEXES,
    EQUATIONS,
    FLOAT,
    HISTORY,
    INT,
    VOID,
)
from shallows.mathematics.homotopy._compiled.linear import solve
from shallows.mathematics.homotopy._compiled.records import REMEMBERED
from shallows.support.compiling import unit


@unit(BOOL(EQUATIONS, COMPLEXES, COMPLEX, COMPLEX, HISTORY))
def begin(equations: Any, x: Any, start: complex, direction: complex, history: Any) -> bool:
    """The first point and tangent of a segment; False when the Jacobian is singular there."""
    size = equations.size
    solved, _ = newton_step(equations, x, start)
    if solved:
        copy(x, history.newest, size)
        add_tangent(equations, history, direction, 0.0)
    return bool(solved)


@unit(VOID(EQUATIONS, HISTORY, COMPLEX, FLOAT))
def add_tangent(equations: Any, history: Any, direction: complex, at: float) -> None:
    """The node and the tangent of the newest point: it comes with the factorisation of the last Newton step."""
    size = equations.size
    solve(equations.matrix, equations.pivots, equations.drift, size)
    for j in range(size):
        history.tangents[(REMEMBERED - 1) * size + j] = -direction * equations.drift[j]
    history.nodes[REMEMBERED - 1] = at


@unit(VOID(HISTORY, INT, INT, FLOAT))
def predict(history: Any, size: int, known: int, at: float) -> None:
    """Hermite extrapolation through the newest `known` ≤ 3 points and tangents, evaluated at `at`: the new `trial`."""
    points, tangents, nodes, out = history.points, history.tangents, history.nodes, history.trial
    for k in range(size):
        out[k] = 0.0j
    for i in range(REMEMBERED - known, REMEMBERED):
        basis, slope = 1.0, 0.0
        for j in range(REMEMBERED - known, REMEMBERED):
            if j != i:
                basis *= (at - nodes[j]) / (nodes[i] - nodes[j])
                slope += 1.0 / (nodes[i] - nodes[j])
        square = basis * basis
        by_point = (1.0 - 2.0 * slope * (at - nodes[i])) * square
        by_tangent = (at - nodes[i]) * square
        for k in range(size):
            out[k] += by_point * points[i * size + k] + by_tangent * tangents[i * size + k]


@unit(VOID(EQUATIONS, HISTORY, COMPLEX, FLOAT))
def remember(equations: Any, history: Any, direction: complex, at: float) -> None:
    """The trial point becomes the newest one."""
    points, tangents, nodes, size = history.points, history.tangents, history.nodes, equations.size
    for i in range(REMEMBERED - 1):
        nodes[i] = nodes[i + 1]
    for k in range((REMEMBERED - 1) * size):
        points[k] = points[k + size]
        tangents[k] = tangents[k + size]
    copy(history.trial, history.newest, size)
    add_tangent(equations, history, direction, at)


@unit(VOID(HISTORY, COMPLEXES, INT))
def recentre(history: Any, patch: Any, size: int) -> None:
    """Put the patch at the newest point (unit length there) and carry the history over to it."""
    points, tangents = history.points, history.tangents
    here = history.newest
    norm = np.sqrt(length(here, size))
    for j in range(size):
        patch[j] = np.conj(here[j]) / norm
    for i in range(REMEMBERED):
        along, drift = 0.0 + 0.0j, 0.0 + 0.0j
        for j in range(i * size, (i + 1) * size):
            along += patch[j - i * size] * points[j]
            drift += patch[j - i * size] * tangents[j]
        if along == 0.0:
            continue
        for j in range(i * size, (i + 1) * size):
            points[j] = points[j] / along
            tangents[j] = (tangents[j] - points[j] * drift) / along
