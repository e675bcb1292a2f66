"""The numba loops behind `relu_fused`; their slow NumPy twin is `relu.ReLUKernel`, held together by a test."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from shallows.model.kernels._compiled.kinds import CUBE, FLOAT, FLOATS, INT, MATRIX, VECTOR, VOID
from shallows.model.kernels._compiled.relu_angles import FAST, angles
from shallows.model.kernels._compiled.relu_lanes import (
    FEWEST_LANES,
    lane_space,
    lanes_at,
    lanes_for,
    relu_lanes,
)
from shallows.model.kernels._compiled.relu_model import MODEL, model_at, room_for, set_teacher
from shallows.model.kernels._compiled.vectors import inner, moved, turn
from shallows.support.checks import Array
from shallows.support.compiling import behind, entry, pointer, several, unit
from shallows.support.in_memory import Held, Room, at, in_memory
from shallows.support.matrix_product import product

NARROW = (
    320  # weights of a network: from here on one at a time is faster than to turn a batch into lanes and back
)


class OneSpace(NamedTuple):
    """Work arrays for one network at a time; the first four are (n, k).

    cos θ, sin θ/2π and (π−θ)/2π of pairs have a row for each partner (student or teacher), a column for each student.
    """

    unit: Array
    weighted: Array
    pull: Array
    more: Array
    cosine: Array
    sine: Array
    rest: Array
    teacher_cosine: Array
    teacher_sine: Array
    teacher_rest: Array
    norm: Array
    inverse: Array
    length: Array
    radial: Array


ONE_SPACE = in_memory(OneSpace, *(FLOATS,) * 14)
one_at = at(ONE_SPACE)


def one_space(k: int, n: int, m: int) -> Room:
    """Fresh work arrays for k students and m teachers in n inputs."""
    return Room(ONE_SPACE, *(n * k,) * 4, *(k * k,) * 3, *(m * k,) * 3, *(k,) * 4)


# The loops below store into one array each: numba cannot promise LLVM that two arrays do not overlap, so a loop over
# many of them stays scalar.


@unit(FLOAT(MODEL, ONE_SPACE, FLOATS, FLOATS), fastmath=FAST)
def _units(model: Any, space: Any, W: Any, a: Any) -> float:
    """‖wᵢ‖, 1/‖wᵢ‖ and aᵢ‖wᵢ‖, and ŵᵢ and aᵢwᵢ as columns; returns the shortest ‖wᵢ‖."""
    k, n = model.k, model.n
    norm, inverse, length, unit, weighted = (
        space.norm,
        space.inverse,
        space.length,
        space.unit,
        space.weighted,
    )
    shortest = np.inf
    for i in range(k):
        square = 0.0
        for m in range(n):
            square += W[i * n + m] * W[i * n + m]
        size = np.sqrt(square)
        norm[i], length[i], inverse[i] = size, a[i] * size, 1.0 / size if size > 0 else 0.0
        shortest = min(shortest, size)
    for m in range(n):
        for i in range(k):
            unit[m * k + i] = W[i * n + m] * inverse[i]
    for m in range(n):
        for i in range(k):
            weighted[m * k + i] = unit[m * k + i] * length[i]
    return shortest


@unit(VOID(MODEL, FLOATS, FLOATS), fastmath=FAST)
def _sparse_cosines(model: Any, unit: Any, cosine: Any) -> None:
    """Row t holds the cosines of vₜ with all students; zero for a teacher neuron that is zero."""
    k, first, column, value = model.k, model.first, model.column, model.value
    for t in range(model.m):
        length, row = model.norm[t], behind(cosine, t * k)
        scale = 1 / length if length > 0 else 0.0
        for i in range(k):
            row[i] = 0.0
        for q in range(first[t], first[t + 1]):
            x, v = behind(unit, column[q] * k), value[q] * scale
            for i in range(k):
                row[i] += v * x[i]


@unit(FLOAT(MODEL, ONE_SPACE, FLOATS, FLOATS))
def pair_angles(model: Any, space: Any, W: Any, a: Any) -> float:
    """Unit vectors, and sin θ/2π and (π−θ)/2π of all pairs; returns the shortest ‖wᵢ‖.

    Both halves of the symmetric block are computed: that is cheaper than to unpack one of them.
    """
    k, n, m, c, unit, cosine = model.k, model.n, model.m, model.c, space.unit, space.cosine
    shortest = _units(model, space, W, a)
    product(unit, True, unit, False, cosine, k, n, k)
    for i in range(k):
        cosine[i * k + i] = 1.0
    angles(cosine, c, space.sine, space.rest, k * k)
    cosine = space.teacher_cosine
    if model.dense[0] != 0:
        product(model.unit, False, unit, False, cosine, m, n, k)
    else:
        _sparse_cosines(model, unit, cosine)
    angles(cosine, c, space.teacher_sine, space.teacher_rest, m * k)
    return float(shortest)


@unit(VOID(FLOATS, INT, FLOAT, FLOATS, FLOATS, INT), fastmath=FAST)
def _add_radials(length: Any, m: int, sign: float, sine: Any, radial: Any, k: int) -> None:
    """ϱᵢ += ± Σⱼ eⱼ‖uⱼ‖ sin θ_ij/2π."""
    for j in range(m):
        weight, row = sign * length[j], behind(sine, j * k)
        for i in range(k):
            radial[i] += weight * row[i]


@unit(VOID(MODEL, FLOATS, FLOATS), fastmath=FAST)
def _add_sparse_pull(model: Any, rest: Any, pull: Any) -> None:
    """pull −= Σₜ bₜ (π−θ)/2π vₜ."""
    k, first, column, value = model.k, model.first, model.column, model.value
    for t in range(model.m):
        weight, row = model.b[t], behind(rest, t * k)
        for q in range(first[t], first[t + 1]):
            to, v = behind(pull, column[q] * k), weight * value[q]
            for i in range(k):
                to[i] -= v * row[i]


@unit(VOID(MODEL, ONE_SPACE, FLOATS, FLOATS, FLOATS, FLOATS), fastmath=FAST)
def _slopes(model: Any, space: Any, W: Any, a: Any, dW: Any, da: Any) -> None:
    """Both gradients: 2aᵢ (pullᵢ + ϱᵢ ŵᵢ), turned back into rows, and 2 Σⱼ eⱼ k(wᵢ, uⱼ), which is
    2wᵢ·Σⱼ eⱼ ∂₁k(wᵢ, uⱼ): the kernel is homogeneous of degree one (Euler)."""
    k, n, unit, pull, radial = model.k, model.n, space.unit, space.pull, space.radial
    norm, inverse = space.norm, space.inverse
    for i in range(k):
        da[i] = radial[i]
    for m in range(n):
        x, p = behind(unit, m * k), behind(pull, m * k)
        for i in range(k):
            da[i] += x[i] * p[i]
    for i in range(k):
        da[i] *= 2.0 * norm[i]
    for i in range(k):
        factor, turn = 2 * a[i], radial[i] * inverse[i]
        for m in range(n):
            dW[i * n + m] = factor * (pull[m * k + i] + turn * W[i * n + m])


@unit(several(FLOAT, FLOAT)(MODEL, ONE_SPACE, FLOATS, FLOATS, FLOATS, FLOATS))
def one_pass(model: Any, space: Any, W: Any, a: Any, dW: Any, da: Any) -> tuple[float, float]:
    """The loss (less the teacher's energy) and the shortest ‖wᵢ‖ of one network; fills both gradients.

    Students and teachers have coefficients e = (a, −b). With S_ij = eⱼ(π−θ_ij)/2π and ϱᵢ = Σⱼ eⱼ‖uⱼ‖ sin θ_ij/2π:
    ∂L/∂W = 2 diag(a) (S U + diag(ϱ/‖w‖) W), ∂L/∂a = 2 Σⱼ eⱼ k(wᵢ, uⱼ). Products S U are kept as columns (`pull`).
    """
    k, n, m, weighted, pull, radial = model.k, model.n, model.m, space.weighted, space.pull, space.radial
    length, more = space.length, space.more
    shortest = pair_angles(model, space, W, a)
    product(weighted, False, space.rest, False, pull, n, k, k)
    for i in range(k):
        radial[i] = 0.0
    _add_radials(length, k, 1.0, space.sine, radial, k)
    own = inner(weighted, pull, n * k) + inner(length, radial, k)
    _add_radials(model.length, m, -1.0, space.teacher_sine, radial, k)
    if model.dense[0] != 0:
        product(model.weighted, True, space.teacher_rest, False, more, n, m, k)
        moved(pull, -1.0, more, pull, n * k)
    else:
        _add_sparse_pull(model, space.teacher_rest, pull)
    _slopes(model, space, W, a, dW, da)
    return inner(a, da, k) - own, shortest  # aᵀKa − 2aᵀc = 2aᵀ(Ka − c) − aᵀKa


@entry(FLOAT(INT, INT, CUBE, MATRIX, VECTOR, CUBE, MATRIX))
def one_by_one(
    model_place: int, place: int, W: Array, a: Array, losses: Array, dW: Array, da: Array
) -> float:
    """As `side_by_side`, one network after the other."""
    model, space = model_at(model_place), one_at(place)
    k, size, smallest = model.k, model.k * model.n, np.inf
    for l in range(len(losses)):
        losses[l], shortest = one_pass(
            model,
            space,
            behind(pointer(W), l * size),
            behind(pointer(a), l * k),
            behind(pointer(dW), l * size),
            behind(pointer(da), l * k),
        )
        smallest = min(smallest, shortest)
    return smallest


class LaneBlock(NamedTuple):
    """Room for as many networks as there are lanes: their weights, outer weights, losses and slopes."""

    w: Array
    outer: Array
    loss: Array
    dw: Array
    slope: Array


LANE_BLOCK = in_memory(LaneBlock, *(FLOATS,) * 5)
block_at = at(LANE_BLOCK)


@entry(FLOAT(INT, INT, INT, CUBE, MATRIX, VECTOR, CUBE, MATRIX))
def side_by_side(
    model_place: int, place: int, block_place: int, W: Array, a: Array, losses: Array, dW: Array, da: Array
) -> float:
    """Fill losses (less the teacher's energy) and both gradients for each network; return the shortest ‖wᵢ‖."""
    model, space, block = model_at(model_place), lanes_at(place), block_at(block_place)
    k, size, row = model.k, model.k * model.n, space.row
    smallest = np.inf
    done = 0
    while done < len(losses):
        count = min(row, len(losses) - done)
        turn(behind(pointer(W), done * size), size, size, count, block.w, row)
        turn(behind(pointer(a), done * k), k, k, count, block.outer, row)
        shortest = relu_lanes(model, space, count, block.w, block.outer, block.loss, block.dw, block.slope)
        smallest = min(smallest, shortest)
        for l in range(count):
            losses[done + l] = block.loss[l]
        turn(block.dw, count, row, size, behind(pointer(dW), done * size), size)
        turn(block.slope, count, row, k, behind(pointer(da), done * k), k)
        done += count
    return smallest


class _Rooms(threading.local):
    """Work arrays of a thread's last call, by all that they depend on: small networks take less than making them."""

    def __init__(self) -> None:
        self.kept: tuple[Any, Any] = ((), ())

    def of(self, make: Callable[..., Any], *sizes: int) -> Any:
        """Those of these sizes."""
        if self.kept[0] != (make, sizes):
            self.kept = (make, sizes), make(*sizes)
        return self.kept[1]


_rooms = _Rooms()


def _single(k: int, n: int, m: int) -> tuple[Held, Room]:
    """A model and work arrays of `one_by_one`."""
    return room_for(k, n, m), one_space(k, n, m)


def _block(k: int, n: int, m: int) -> tuple[Held, Room, Room]:
    """A model, work arrays, and room for the networks, of `side_by_side`."""
    lanes = lanes_for(k, n)
    block = Room(LANE_BLOCK, k * n * lanes, k * lanes, lanes, k * n * lanes, k * lanes)
    return room_for(k, n, m), lane_space(k, lanes), block


def batch_loop(W: Array, a: Array, V: Array, b: Array, losses: Array, dW: Array, da: Array) -> float:
    """Fill losses (less the teacher's energy) and both gradients for each network; return the shortest ‖wᵢ‖.

    Many small networks go side by side (`relu_lanes`), few or large ones one after the other (`one_pass`).
    """
    batch, k, n = W.shape
    if k * n < NARROW and batch >= FEWEST_LANES:
        model, space, block = _rooms.of(_block, k, n, len(V))
        set_teacher(model.address, V, b)
        return float(side_by_side(model.address, space.address, block.address, W, a, losses, dW, da))
    model, space = _rooms.of(_single, k, n, len(V))
    set_teacher(model.address, V, b)
    return float(one_by_one(model.address, space.address, W, a, losses, dW, da))
