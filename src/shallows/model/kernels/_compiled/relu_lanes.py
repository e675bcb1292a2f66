"""The ReLU loss and gradient of many networks side by side: the lanes are the last axis of every array.

Each innermost loop runs over the lanes and becomes vector instructions, however narrow the networks are. No lane sees
another one. The slow twin is `relu.ReLUKernel`, as for `_relu_loop`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shallows.model.kernels._compiled.kinds import (
    CUBE,
    FIXED,
    FLOAT,
    FLOATS,
    INT,
    INTEGERS,
    MATRIX,
    VECTOR,
    VOID,
)
from shallows.model.kernels._compiled.relu_angles import FAST, angles
from shallows.support.checks import Array
from shallows.support.compiling import behind, part, pointer, record, several, unit

LARGEST = 400  # weights of a network: beyond that one network fills the vector units by itself
SMALL, LANES, FEWEST_LANES = 150, 64, 16


class Teacher(NamedTuple):
    """Teacher neurons as sparse rows (see `sparse_rows`) with their outer weights b and `length` b‖v‖.

    `unit` and `weighted` are the rows v̂ and bv as matrices when many entries are nonzero; otherwise they are empty.
    """

    first: np.ndarray
    column: np.ndarray
    value: Array
    norm: Array
    b: Array
    length: Array
    unit: Array
    weighted: Array


class LaneSpace(NamedTuple):
    """Work arrays: (k, lanes) and (lanes,)."""

    norm: Array
    inverse: Array
    radial: Array
    theirs: Array
    g: Array
    cosine: Array
    sine: Array
    rest: Array


TEACHER_ARRAYS = several(INTEGERS, INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX)
TEACHER = record(Teacher, INTEGERS, INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX)
LANE_ARRAYS = several(MATRIX, MATRIX, MATRIX, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR)
LANE_SPACE = record(LaneSpace, MATRIX, MATRIX, MATRIX, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR)


def lanes_for(k: int, n: int) -> int:
    """How many networks fit side by side; 0 when they are so large that one at a time is faster."""
    if k * n > LARGEST:
        return 0
    return LANES if k * n <= SMALL else LANES // 2


def lane_space(k: int, lanes: int) -> tuple[Array, ...]:
    """Fresh work arrays, as `lanes_in` takes them."""
    return (*(np.empty((k, lanes)) for _ in range(4)), *(np.empty(lanes) for _ in range(4)))


@part
def lanes_in(arrays: Any) -> LaneSpace:
    """The work arrays by name. Python hands over plain tuples: numba knows their types at once."""
    norm, inverse, radial, theirs, g, cosine, sine, rest = arrays
    return LaneSpace(norm, inverse, radial, theirs, g, cosine, sine, rest)


@unit(VOID(FLOATS, FLOATS, INT, INT, INT, FLOATS), fastmath=FAST)
def _dot(x: Any, y: Any, n: int, row: int, lanes: int, g: Any) -> None:
    """g = Σₘ xₘyₘ in every lane, four coordinates a pass; coordinates are `row` numbers apart."""
    for l in range(lanes):
        g[l] = x[l] * y[l]
    whole = 1 + (n - 1) // 4 * 4
    for m in range(1, whole, 4):
        x0, x1, x2, x3 = (
            behind(x, m * row),
            behind(x, (m + 1) * row),
            behind(x, (m + 2) * row),
            behind(x, (m + 3) * row),
        )
        y0, y1, y2, y3 = (
            behind(y, m * row),
            behind(y, (m + 1) * row),
            behind(y, (m + 2) * row),
            behind(y, (m + 3) * row),
        )
        for l in range(lanes):
            g[l] += (x0[l] * y0[l] + x1[l] * y1[l]) + (x2[l] * y2[l] + x3[l] * y3[l])
    for m in range(whole, n):
        xm, ym = behind(x, m * row), behind(y, m * row)
        for l in range(lanes):
            g[l] += xm[l] * ym[l]


@unit(FLOAT(CUBE, MATRIX, INT, LANE_SPACE, CUBE, MATRIX), fastmath=FAST)
def _start(W: Array, a: Array, lanes: int, space: LaneSpace, dW: Array, da: Array) -> float:
    """Lengths, and what each neuron contributes with itself (θ = 0); returns the shortest length."""
    k, n, row = W.shape
    g = pointer(space.g)
    shortest = np.inf
    for i in range(k):
        x, dx = behind(pointer(W), i * n * row), behind(pointer(dW), i * n * row)
        norm, inverse = behind(pointer(space.norm), i * row), behind(pointer(space.inverse), i * row)
        radial, theirs = behind(pointer(space.radial), i * row), behind(pointer(space.theirs), i * row)
        outer, slope = behind(pointer(a), i * row), behind(pointer(da), i * row)
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


@unit(VOID(CUBE, MATRIX, FIXED, INT, LANE_SPACE, CUBE, MATRIX), fastmath=FAST)
def _students(W: Array, a: Array, c: Array, lanes: int, space: LaneSpace, dW: Array, da: Array) -> None:
    """All pairs of two neurons, each once."""
    k, n, row = W.shape
    g, cosine, sine, rest = pointer(space.g), pointer(space.cosine), pointer(space.sine), pointer(space.rest)
    for i in range(k):
        x, dx = behind(pointer(W), i * n * row), behind(pointer(dW), i * n * row)
        norm, inverse = behind(pointer(space.norm), i * row), behind(pointer(space.inverse), i * row)
        outer, slope, radial = (
            behind(pointer(a), i * row),
            behind(pointer(da), i * row),
            behind(pointer(space.radial), i * row),
        )
        for j in range(i):
            y, dy = behind(pointer(W), j * n * row), behind(pointer(dW), j * n * row)
            norm_j, inverse_j = behind(pointer(space.norm), j * row), behind(pointer(space.inverse), j * row)
            outer_j, slope_j = behind(pointer(a), j * row), behind(pointer(da), j * row)
            radial_j = behind(pointer(space.radial), j * row)
            _dot(x, y, n, row, lanes, g)
            for l in range(lanes):
                cosine[l] = g[l] * inverse[l] * inverse_j[l]
            angles(cosine, pointer(c), sine, rest, lanes)
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


@unit(VOID(CUBE, TEACHER, FIXED, INT, LANE_SPACE, CUBE), fastmath=FAST)
def _teachers(W: Array, teacher: Teacher, c: Array, lanes: int, space: LaneSpace, dW: Array) -> None:
    """All pairs of a neuron and a teacher neuron."""
    k, n, row = W.shape
    g, cosine, sine, rest = pointer(space.g), pointer(space.cosine), pointer(space.sine), pointer(space.rest)
    first, column, value = pointer(teacher.first), pointer(teacher.column), pointer(teacher.value)
    for i in range(k):
        x, dx = behind(pointer(W), i * n * row), behind(pointer(dW), i * n * row)
        norm, inverse = behind(pointer(space.norm), i * row), behind(pointer(space.inverse), i * row)
        radial, theirs = behind(pointer(space.radial), i * row), behind(pointer(space.theirs), i * row)
        for t in range(len(teacher.b)):
            length, weight = teacher.norm[t], teacher.b[t]
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
            angles(cosine, pointer(c), sine, rest, lanes)
            for l in range(lanes):
                across = weight * length * sine[l]
                radial[l] -= across
                theirs[l] -= across * norm[l] + weight * rest[l] * g[l]
            for q in range(first[t], first[t + 1]):
                dm, v = behind(dx, column[q] * row), weight * value[q]
                for l in range(lanes):
                    dm[l] -= v * rest[l]


@unit(FLOAT(CUBE, MATRIX, TEACHER, FIXED, INT, LANE_SPACE, VECTOR, CUBE, MATRIX), fastmath=FAST)
def relu_lanes(
    W: Array, a: Array, teacher: Teacher, c: Array, lanes: int, space: LaneSpace, loss: Array, dW: Array, da: Array
) -> float:  # fmt: skip
    """Fill loss (less the teacher's energy), ∂L/∂W and ∂L/∂a of the first `lanes` networks; returns the shortest ‖wᵢ‖.

    W, dW are (k, n, lanes), a, da (k, lanes). Formulas as in `_relu_loop.batch_loop`.
    """
    k, n, row = W.shape
    shortest = _start(W, a, lanes, space, dW, da)
    _students(W, a, c, lanes, space, dW, da)
    _teachers(W, teacher, c, lanes, space, dW)
    total = pointer(loss)
    for l in range(lanes):
        total[l] = 0.0
    for i in range(k):
        turn, inverse = behind(pointer(space.radial), i * row), behind(pointer(space.inverse), i * row)
        outer, slope, theirs = (
            behind(pointer(a), i * row),
            behind(pointer(da), i * row),
            behind(pointer(space.theirs), i * row),
        )
        for l in range(lanes):
            total[l] += outer[l] * (slope[l] + 2 * theirs[l])
            slope[l] = 2 * (slope[l] + theirs[l])
            turn[l] *= inverse[l]
        for m in range(n):
            xm, dm = behind(pointer(W), (i * n + m) * row), behind(pointer(dW), (i * n + m) * row)
            for l in range(lanes):
                dm[l] = 2 * outer[l] * (dm[l] + turn[l] * xm[l])
    return float(shortest)
