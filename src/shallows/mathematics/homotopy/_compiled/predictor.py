"""The predictor: Hermite extrapolation through the last points of a path and their tangents.

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from shallows.mathematics.homotopy._compiled.equations import assemble, length
from shallows.mathematics.homotopy._compiled.linear import factor, solve

#: Points of a path that are remembered: with their tangents they give a prediction of order 6.
REMEMBERED = 3


class History(NamedTuple):
    """What is known of a path: its newest points (the last row), tangents and nodes, the point being tried, the point
    that is `saved` for the endgame with its |t| behind it (negative when there is none), and marks of how it has grown
    (see `infinity`)."""

    points: Any
    tangents: Any
    nodes: Any
    trial: Any
    saved: Any
    marks: Any
    decades: Any


@njit(nogil=True, error_model="numpy")
def begin(equations: Any, x: Any, start: complex, direction: complex, history: Any) -> bool:
    """The first point and tangent of a segment; False when the Jacobian is singular there."""
    assemble(equations, x, start)
    if not factor(equations.matrix, equations.pivots):
        return False
    solve(equations.matrix, equations.pivots, equations.drift)
    for j in range(x.shape[0]):
        history.points[2, j] = x[j]
        history.tangents[2, j] = -direction * equations.drift[j]
    history.nodes[2] = 0.0
    return True


@njit(nogil=True, error_model="numpy")
def predict(history: Any, known: int, at: float) -> None:
    """Hermite extrapolation through the newest `known` ≤ 3 points and tangents, evaluated at `at`: the new `trial`."""
    points, tangents, nodes, out = history.points, history.tangents, history.nodes, history.trial
    size = out.shape[0]
    for k in range(size):
        out[k] = 0.0
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
            out[k] += by_point * points[i, k] + by_tangent * tangents[i, k]


@njit(nogil=True, error_model="numpy")
def remember(equations: Any, history: Any, direction: complex, at: float) -> None:
    """The trial point becomes the newest one; its tangent comes with the factorisation of the last Newton step."""
    points, tangents, nodes = history.points, history.tangents, history.nodes
    solve(equations.matrix, equations.pivots, equations.drift)
    size = history.trial.shape[0]
    for i in range(REMEMBERED - 1):
        nodes[i] = nodes[i + 1]
        for j in range(size):
            points[i, j] = points[i + 1, j]
            tangents[i, j] = tangents[i + 1, j]
    nodes[2] = at
    for j in range(size):
        points[2, j] = history.trial[j]
        tangents[2, j] = -direction * equations.drift[j]


@njit(nogil=True, error_model="numpy")
def recentre(history: Any, patch: Any) -> None:
    """Put the patch at the newest point (unit length there) and carry the history over to it."""
    points, tangents = history.points, history.tangents
    size = patch.shape[0]
    norm = np.sqrt(length(points[2]))
    for j in range(size):
        patch[j] = np.conj(points[2, j]) / norm
    for i in range(REMEMBERED):
        along, drift = 0.0 + 0.0j, 0.0 + 0.0j
        for j in range(size):
            along += patch[j] * points[i, j]
            drift += patch[j] * tangents[i, j]
        if along == 0.0:
            continue
        for j in range(size):
            points[i, j] = points[i, j] / along
            tangents[i, j] = (tangents[i, j] - points[i, j] * drift) / along
