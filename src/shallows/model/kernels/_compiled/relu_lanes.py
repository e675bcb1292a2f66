"""The ReLU loss and gradient of many networks side by side: the lanes are the last axis of every array.

Each innermost loop runs over the lanes and becomes vector instructions, however narrow the networks are. No lane sees
another one. The slow twin is `relu.ReLUKernel`, as for `relu_loop`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shallows.model.kernels._compiled.kinds import FLOAT, FLOATS, INT, VOID
from shallows.model.kernels._compiled.relu_angles import FAST, angles
from shallows.model.kernels._compiled.relu_model import MODEL
from shallows.support.checks import Array
from shallows.support.compiling import behind, unit
from shallows.support.in_memory import Room, at, in_memory

LARGEST = 400  # weights of a network: beyond that one network fills the vector units by itself
SMALL, LANES, FEWEST_LANES = 150, 64, 16


class LaneSpace(NamedTuple):
    """Work arrays: (k, row) and (row,), `row` the number of lanes there is room for."""

    row: int
    norm: Array
    inverse: Array
    radial: Array
    theirs: Array
    g: Array
    cosine: Array
    sine: Array
    rest: Array


LANE_SPACE = in_memory(LaneSpace, INT, *(FLOATS,) * 8)
lanes_at = at(LANE_SPACE)


def lanes_for(k: int, n: int) -> int:
    """How many networks fit side by side; 0 when they are so large that one at a time is faster."""
    if k * n > LARGEST:
        return 0
    return LANES if k * n <= SMALL else LANES // 2


def lane_space(k: int, lanes: int) -> Room:
    """Fresh work arrays."""
    return Room(LANE_SPACE, lanes, *(k * lanes,) * 4, *(lanes,) * 4)


@unit(VOID(FLOATS, FLOATS, INT, INT, INT, FLOATS), fastmath=FAST)
def _dot(x: Any, y: Any, n: int, row: int, lanes: int, g: Any) -> None:
    """g = Σₘ xₘyₘ in every lane, four coordinates a pass; coordinates are `row` numbers apart."""
    for l in range(lanes):
        g[l] = x[l] * y[l]
    whole = 1 + (n - 1) // 4 * 4
    for m in range(1, whole, 4):
        x0, y0 = behind(x, m * row), behind(y, m * row)
        x1, y1 = behind(x0, row), behind(y0, row)
        x2, y2 = behind(x1, row), behind(y1, row)
        x3, y3 = behind(x2, row), behind(y2, row)
        for l in range(lanes):
            g[l] += (x0[l] * y0[l] + x1[l] * y1[l]) + (x2[l] * y2[l] + x3[l] * y3[l])
    for m in range(whole, n):
        xm, ym = behind(x, m * row), behind(y, m * row)
        for l in range(lanes):
            g[l] += xm[l] * ym[l]


@unit(FLOAT(MODEL, LANE_SPACE, INT, FLOATS, FLOATS, FLOATS, FLOATS), fastmath=FAST)
def _start(model: Any, space: Any, lanes: int, W: Any, a: Any, dW: Any, da: Any) -> float:
    """Lengths, and what each neuron contributes with itself (θ = 0); returns the shortest length."""
    n, row, g = model.n, space.row, space.g
    shortest = np.inf
    for i in range(model.k):
        x, dx, outer, slope = (
            behind(W, i * n * row),
            behind(dW, i * n * row),
            behind(a, i * row),
            behind(da, i * row),
        )
        norm, inverse = behind(space.norm, i * row), behind(space.inverse, i * row)
        radial, theirs = behind(space.radial, i * row), behind(space.theirs, i * row)
        _dot(x, x, n, row, lanes, g)
        for l in range(lanes):
            norm[l] = np.sqrt(g[l])
            inverse[l] = 1.0 / norm[l] if norm[l] > 0 else 0.0
            shortest = min(shortest, norm[l])
            radial[l], theirs[l] = 0.0, 0.0
            slope[l] = 0.5 * outer[l] * g[l]
        for m in range(n):
            xm, dm = behind(x, m * row), behind(dx, m * row)
            for l in range(lanes):
                dm[l] = 0.5 * outer[l] * xm[l]
    return shortest


@unit(VOID(MODEL, LANE_SPACE, INT, FLOATS, FLOATS, FLOATS, FLOATS), fastmath=FAST)
def _students(model: Any, space: Any, lanes: int, W: Any, a: Any, dW: Any, da: Any) -> None:
    """All pairs of two neurons, each once."""
    n, row, c = model.n, space.row, model.c
    g, cosine, sine, rest = space.g, space.cosine, space.sine, space.rest
    for i in range(model.k):
        x, dx, outer, slope = (
            behind(W, i * n * row),
            behind(dW, i * n * row),
            behind(a, i * row),
            behind(da, i * row),
        )
        norm, inverse, radial = (
            behind(space.norm, i * row),
            behind(space.inverse, i * row),
            behind(space.radial, i * row),
        )
        for j in range(i):
            y, dy = behind(W, j * n * row), behind(dW, j * n * row)
            outer_j, slope_j, radial_j = (
                behind(a, j * row),
                behind(da, j * row),
                behind(space.radial, j * row),
            )
            norm_j, inverse_j = behind(space.norm, j * row), behind(space.inverse, j * row)
            _dot(x, y, n, row, lanes, g)
            for l in range(lanes):
                cosine[l] = g[l] * inverse[l] * inverse_j[l]
            angles(cosine, c, sine, rest, lanes)
            for l in range(lanes):
                value = norm[l] * norm_j[l] * sine[l] + rest[l] * g[l]
                slope[l] += outer_j[l] * value
                slope_j[l] += outer[l] * value
                radial[l] += outer_j[l] * norm_j[l] * sine[l]
                radial_j[l] += outer[l] * norm[l] * sine[l]
                cosine[l], sine[l] = outer_j[l] * rest[l], outer[l] * rest[l]
            for m in range(n):
                xm, ym, dxm, dym = (
                    behind(x, m * row),
                    behind(y, m * row),
                    behind(dx, m * row),
                    behind(dy, m * row),
                )
                for l in range(lanes):
                    dxm[l] += cosine[l] * ym[l]
                    dym[l] += sine[l] * xm[l]


@unit(VOID(MODEL, LANE_SPACE, INT, FLOATS, FLOATS), fastmath=FAST)
def _teachers(model: Any, space: Any, lanes: int, W: Any, dW: Any) -> None:
    """All pairs of a neuron and a teacher neuron."""
    n, row, c = model.n, space.row, model.c
    g, cosine, sine, rest = space.g, space.cosine, space.sine, space.rest
    first, column, value = model.first, model.column, model.value
    for i in range(model.k):
        x, dx = behind(W, i * n * row), behind(dW, i * n * row)
        norm, inverse = behind(space.norm, i * row), behind(space.inverse, i * row)
        radial, theirs = behind(space.radial, i * row), behind(space.theirs, i * row)
        for t in range(model.m):
            length, weight = model.norm[t], model.b[t]
            if length == 0:
                continue
            for l in range(lanes):
                g[l] = 0.0
            for q in range(first[t], first[t + 1]):
                xm, v = behind(x, column[q] * row), value[q]
                for l in range(lanes):
                    g[l] += v * xm[l]
            for l in range(lanes):
                cosine[l] = g[l] * inverse[l] * (1 / length)
            angles(cosine, c, sine, rest, lanes)
            for l in range(lanes):
                across = weight * length * sine[l]
                radial[l] -= across
                theirs[l] -= across * norm[l] + weight * rest[l] * g[l]
            for q in range(first[t], first[t + 1]):
                dm, v = behind(dx, column[q] * row), weight * value[q]
                for l in range(lanes):
                    dm[l] -= v * rest[l]


@unit(FLOAT(MODEL, LANE_SPACE, INT, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS), fastmath=FAST)
def relu_lanes(model: Any, space: Any, lanes: int, W: Any, a: Any, loss: Any, dW: Any, da: Any) -> float:
    """Fill loss (less the teacher's energy), ∂L/∂W and ∂L/∂a of the first `lanes` networks; returns the shortest ‖wᵢ‖.

    W, dW are (k, n, row), a, da (k, row). Formulas as in `relu_loop.one_pass`.
    """
    n, row = model.n, space.row
    shortest = _start(model, space, lanes, W, a, dW, da)
    _students(model, space, lanes, W, a, dW, da)
    _teachers(model, space, lanes, W, dW)
    for l in range(lanes):
        loss[l] = 0.0
    for i in range(model.k):
        turn, inverse, theirs = (
            behind(space.radial, i * row),
            behind(space.inverse, i * row),
            behind(space.theirs, i * row),
        )
        outer, slope = behind(a, i * row), behind(da, i * row)
        for l in range(lanes):
            loss[l] += outer[l] * (slope[l] + 2 * theirs[l])
            slope[l] = 2 * (slope[l] + theirs[l])
            turn[l] *= inverse[l]
        for m in range(n):
            xm, dm = behind(W, (i * n + m) * row), behind(dW, (i * n + m) * row)
            for l in range(lanes):
                dm[l] = 2 * outer[l] * (dm[l] + turn[l] * xm[l])
    return float(shortest)
