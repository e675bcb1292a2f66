"""The ReLU loss and gradient of many networks side by side: the lanes are the last axis of every array.

Each innermost loop runs over the lanes and becomes vector instructions, however narrow the networks are. No lane sees
another one. The slow twin is `relu.ReLUKernel`, as for `_relu_loop`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shallows.model.kernels._compiled.relu_angles import FAST, angles
from shallows.support.checks import Array

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


@njit(cache=True)
def lanes_for(k: int, n: int) -> int:
    """How many networks fit side by side; 0 when they are so large that one at a time is faster."""
    if k * n > LARGEST:
        return 0
    return LANES if k * n <= SMALL else LANES // 2


@njit(cache=True)
def lane_space(k: int, lanes: int) -> LaneSpace:
    """Fresh work arrays."""
    return LaneSpace(
        np.empty((k, lanes)), np.empty((k, lanes)), np.empty((k, lanes)), np.empty((k, lanes)),
        np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes),
    )  # fmt: skip


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def _dot(x: Array, y: Array, lanes: int, g: Array) -> None:
    """g = Σₘ xₘyₘ in every lane, four coordinates a pass."""
    n = len(x)
    for l in range(lanes):
        g[l] = x[0, l] * y[0, l]
    whole = 1 + (n - 1) // 4 * 4
    for m in range(1, whole, 4):
        for l in range(lanes):
            g[l] += (x[m, l] * y[m, l] + x[m + 1, l] * y[m + 1, l]) + (
                x[m + 2, l] * y[m + 2, l] + x[m + 3, l] * y[m + 3, l]
            )
    for m in range(whole, n):
        for l in range(lanes):
            g[l] += x[m, l] * y[m, l]


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def _start(W: Array, a: Array, lanes: int, space: LaneSpace, dW: Array, da: Array) -> float:
    """Lengths, and what each neuron contributes with itself (θ = 0); returns the shortest length."""
    k, n, _ = W.shape
    shortest = np.inf
    for i in range(k):
        norm, inverse = space.norm[i], space.inverse[i]
        _dot(W[i], W[i], lanes, space.g)
        for l in range(lanes):
            norm[l] = np.sqrt(space.g[l])
            inverse[l] = 1.0 / norm[l] if norm[l] > 0 else 0.0
            shortest = min(shortest, norm[l])
            space.radial[i, l], space.theirs[i, l] = 0.0, 0.0
            da[i, l] = 0.5 * a[i, l] * space.g[l]
        for m in range(n):
            for l in range(lanes):
                dW[i, m, l] = 0.5 * a[i, l] * W[i, m, l]
    return shortest


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def _students(W: Array, a: Array, c: Array, lanes: int, space: LaneSpace, dW: Array, da: Array) -> None:
    """All pairs of two neurons, each once."""
    k, n, _ = W.shape
    g, cosine, sine, rest = space.g, space.cosine, space.sine, space.rest
    for i in range(k):
        x, dx = W[i], dW[i]
        for j in range(i):
            y, dy = W[j], dW[j]
            _dot(x, y, lanes, g)
            for l in range(lanes):
                cosine[l] = g[l] * space.inverse[i, l] * space.inverse[j, l]
            angles(cosine[:lanes], c, sine, rest)
            for l in range(lanes):
                value = space.norm[i, l] * space.norm[j, l] * sine[l] + rest[l] * g[l]
                da[i, l] += a[j, l] * value
                da[j, l] += a[i, l] * value
                space.radial[i, l] += a[j, l] * space.norm[j, l] * sine[l]
                space.radial[j, l] += a[i, l] * space.norm[i, l] * sine[l]
                cosine[l], sine[l] = a[j, l] * rest[l], a[i, l] * rest[l]
            for m in range(n):
                for l in range(lanes):
                    dx[m, l] += cosine[l] * y[m, l]
                    dy[m, l] += sine[l] * x[m, l]


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def _teachers(W: Array, teacher: Teacher, c: Array, lanes: int, space: LaneSpace, dW: Array) -> None:
    """All pairs of a neuron and a teacher neuron."""
    g, cosine, sine, rest = space.g, space.cosine, space.sine, space.rest
    for i in range(len(W)):
        x, dx = W[i], dW[i]
        for t in range(len(teacher.b)):
            length, weight = teacher.norm[t], teacher.b[t]
            if length == 0:
                continue
            for l in range(lanes):
                g[l] = 0.0
            for q in range(teacher.first[t], teacher.first[t + 1]):
                m, v = teacher.column[q], teacher.value[q]
                for l in range(lanes):
                    g[l] += v * x[m, l]
            for l in range(lanes):
                cosine[l] = g[l] * space.inverse[i, l] * (1 / length)
            angles(cosine[:lanes], c, sine, rest)
            for l in range(lanes):
                across = weight * length * sine[l]
                space.radial[i, l] -= across
                space.theirs[i, l] -= across * space.norm[i, l] + weight * rest[l] * g[l]
            for q in range(teacher.first[t], teacher.first[t + 1]):
                m, v = teacher.column[q], weight * teacher.value[q]
                for l in range(lanes):
                    dx[m, l] -= v * rest[l]


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def relu_lanes(
    W: Array, a: Array, teacher: Teacher, c: Array, lanes: int, space: LaneSpace, loss: Array, dW: Array, da: Array
) -> float:  # fmt: skip
    """Fill loss (less the teacher's energy), ∂L/∂W and ∂L/∂a of the first `lanes` networks; returns the shortest ‖wᵢ‖.

    W, dW are (k, n, lanes), a, da (k, lanes). Formulas as in `_relu_loop.batch_loop`.
    """
    k, n, _ = W.shape
    shortest = _start(W, a, lanes, space, dW, da)
    _students(W, a, c, lanes, space, dW, da)
    _teachers(W, teacher, c, lanes, space, dW)
    for l in range(lanes):
        loss[l] = 0.0
    for i in range(k):
        turn = space.radial[i]
        for l in range(lanes):
            loss[l] += a[i, l] * (da[i, l] + 2 * space.theirs[i, l])
            da[i, l] = 2 * (da[i, l] + space.theirs[i, l])
            turn[l] *= space.inverse[i, l]
        for m in range(n):
            for l in range(lanes):
                dW[i, m, l] = 2 * a[i, l] * (dW[i, m, l] + turn[l] * W[i, m, l])
    return shortest
