"""The numba loops behind `relu_fused`; their slow NumPy twin is `relu.ReLUKernel`, held together by a test."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from shallows.model.kernels._compiled.kinds import (
    CUBE,
    FIXED,
    FIXED_ROWS,
    FLOAT,
    FLOATS,
    INT,
    INTEGERS,
    MATRIX,
    VECTOR,
    VOID,
)
from shallows.model.kernels._compiled.relu_angles import FAST, angles
from shallows.model.kernels._compiled.relu_lanes import (
    FEWEST_LANES,
    LANE_ARRAYS,
    TEACHER,
    TEACHER_ARRAYS,
    Teacher,
    lane_space,
    lanes_for,
    lanes_in,
    relu_lanes,
)
from shallows.support.checks import Array
from shallows.support.compiling import entry, part, pointer, record, several, unit

NARROW = (
    320  # weights of a network: from here on one at a time is faster than to turn a batch into lanes and back
)
SPARSE = 0.2  # the share of nonzero entries up to which a teacher is cheaper entry by entry


class Pairs(NamedTuple):
    """cos θ, sin θ/2π and (π−θ)/2π of pairs: a row for each partner, a column for each student."""

    cosine: Array
    sine: Array
    rest: Array


class OneSpace(NamedTuple):
    """Work arrays for one network at a time; the first four are (n, k)."""

    unit: Array
    weighted: Array
    pull: Array
    more: Array
    students: Pairs
    teachers: Pairs
    norm: Array
    inverse: Array
    length: Array
    radial: Array


ONE_ARRAYS = several(
    MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR
)  # fmt: skip
LANE_BLOCK = several(CUBE, MATRIX, VECTOR, CUBE, MATRIX)
PAIRS = record(Pairs, MATRIX, MATRIX, MATRIX)
ONE_SPACE = record(
    OneSpace, MATRIX, MATRIX, MATRIX, MATRIX, PAIRS, PAIRS, VECTOR, VECTOR, VECTOR, VECTOR
)  # fmt: skip


@entry(INT(FIXED_ROWS, FIXED, INTEGERS, INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX))
def _fill(
    V: Array, b: Array, first: Any, column: Any, value: Array, norm: Array, outer: Array, length: Array, unit: Array,
    weighted: Array,
) -> int:  # fmt: skip
    """Fill the arrays of a teacher; returns how many entries are nonzero."""
    m, n = V.shape
    place = 0
    first[0] = 0
    for j in range(m):
        square = 0.0
        for i in range(n):
            if V[j, i] != 0:
                column[place], value[place] = i, V[j, i]
                square += V[j, i] * V[j, i]
                place += 1
        first[j + 1], norm[j], outer[j] = place, np.sqrt(square), b[j]
        length[j] = b[j] * norm[j]
        scale = 1 / norm[j] if norm[j] > 0 else 0.0
        for i in range(n):
            unit[j, i], weighted[j, i] = V[j, i] * scale, b[j] * V[j, i]
    return place


def teacher_rows(V: Array, b: Array) -> tuple[np.ndarray, ...]:
    """The teacher in sparse form, and with matrices when it is not sparse, as `teacher_in` takes it."""
    m, n = V.shape
    first, column = np.empty(m + 1, np.int64), np.empty(m * n, np.int64)
    value, norm, outer, length = np.empty(m * n), np.empty(m), np.empty(m), np.empty(m)
    unit, weighted = np.empty((m, n)), np.empty((m, n))
    count = _fill(V, b, first, column, value, norm, outer, length, unit, weighted)
    dense = m if count > SPARSE * m * n else 0
    return first, column, value, norm, outer, length, unit[:dense], weighted[:dense]


def one_space(k: int, n: int, m: int) -> tuple[Array, ...]:
    """Fresh work arrays for k students and m teachers in n inputs, as `one_in` takes them."""
    shapes = [(n, k)] * 4 + [(k, k)] * 3 + [(m, k)] * 3 + [(k,)] * 4
    return tuple(np.empty(shape) for shape in shapes)


@part
def teacher_in(arrays: Any) -> Teacher:
    """The arrays of the teacher by name."""
    first, column, value, norm, b, length, unit, weighted = arrays
    return Teacher(first, column, value, norm, b, length, unit, weighted)


@part
def one_in(arrays: Any) -> OneSpace:
    """The work arrays by name."""
    unit, weighted, pull, more, c0, s0, r0, c1, s1, r1, norm, inverse, length, radial = arrays
    students, teachers = Pairs(c0, s0, r0), Pairs(c1, s1, r1)
    return OneSpace(unit, weighted, pull, more, students, teachers, norm, inverse, length, radial)


# The loops below store into one array each and take no view of a row: numba cannot promise LLVM that two arrays do not
# overlap, so a loop over many of them stays scalar, and a view costs an atomic reference count.


@unit(FLOAT(MATRIX, FIXED, VECTOR, VECTOR, VECTOR), fastmath=FAST)
def _lengths(W: Array, a: Array, norm: Array, inverse: Array, length: Array) -> float:
    """‖wᵢ‖, 1/‖wᵢ‖ and aᵢ‖wᵢ‖; returns the shortest ‖wᵢ‖."""
    k, n = W.shape
    shortest = np.inf
    for i in range(k):
        square = 0.0
        for m in range(n):
            square += W[i, m] * W[i, m]
        size = np.sqrt(square)
        norm[i], length[i], inverse[i] = size, a[i] * size, 1.0 / size if size > 0 else 0.0
        shortest = min(shortest, size)
    return shortest


@unit(VOID(MATRIX, VECTOR, VECTOR, MATRIX, MATRIX), fastmath=FAST)
def _units(W: Array, inverse: Array, length: Array, unit: Array, weighted: Array) -> None:
    """ŵᵢ and aᵢwᵢ as columns."""
    k, n = W.shape
    for m in range(n):
        for i in range(k):
            unit[m, i] = W[i, m] * inverse[i]
    for m in range(n):
        for i in range(k):
            weighted[m, i] = unit[m, i] * length[i]


@unit(VOID(INTEGERS, INTEGERS, VECTOR, VECTOR, MATRIX, MATRIX), fastmath=FAST)
def _sparse_cosines(
    first: np.ndarray, column: np.ndarray, value: Array, norm: Array, unit: Array, cosine: Array
) -> None:
    """Row t holds the cosines of vₜ with all students; zero for a teacher neuron that is zero."""
    k = unit.shape[1]
    for t in range(len(norm)):
        scale = 1 / norm[t] if norm[t] > 0 else 0.0
        for i in range(k):
            cosine[t, i] = 0.0
        for q in range(first[t], first[t + 1]):
            m, v = column[q], value[q] * scale
            for i in range(k):
                cosine[t, i] += v * unit[m, i]


@unit(FLOAT(MATRIX, FIXED, TEACHER, FIXED, ONE_SPACE), fastmath=FAST)
def pair_angles(W: Array, a: Array, teacher: Teacher, c: Array, space: OneSpace) -> float:
    """Unit vectors, and sin θ/2π and (π−θ)/2π of all pairs; returns the shortest ‖wᵢ‖.

    Both halves of the symmetric block are computed: that is cheaper than to unpack one of them.
    """
    unit, weighted, _, _, students, teachers, norm, inverse, length, _ = space
    shortest = _lengths(W, a, norm, inverse, length)
    _units(W, inverse, length, unit, weighted)
    cosine, sine, rest = students
    np.dot(unit.T, unit, cosine)
    for i in range(len(W)):
        cosine[i, i] = 1.0
    angles(pointer(cosine), pointer(c), pointer(sine), pointer(rest), cosine.size)
    first, column, value, teacher_norm, _, _, dense, _ = teacher
    cosine, sine, rest = teachers
    if len(dense):
        np.dot(dense, unit, cosine)
    else:
        _sparse_cosines(first, column, value, teacher_norm, unit, cosine)
    angles(pointer(cosine), pointer(c), pointer(sine), pointer(rest), cosine.size)
    return float(shortest)


@unit(VOID(VECTOR, FLOAT, MATRIX, VECTOR), fastmath=FAST)
def _add_radials(length: Array, sign: float, sine: Array, radial: Array) -> None:
    """ϱᵢ += ± Σⱼ eⱼ‖uⱼ‖ sin θ_ij/2π."""
    for j in range(len(length)):
        weight = sign * length[j]
        for i in range(len(radial)):
            radial[i] += weight * sine[j, i]


@unit(VOID(INTEGERS, INTEGERS, VECTOR, VECTOR, MATRIX, MATRIX), fastmath=FAST)
def _add_sparse_pull(
    first: np.ndarray, column: np.ndarray, value: Array, b: Array, rest: Array, pull: Array
) -> None:
    """pull −= Σₜ bₜ (π−θ)/2π vₜ."""
    k = rest.shape[1]
    for t in range(len(b)):
        for q in range(first[t], first[t + 1]):
            m, v = column[q], b[t] * value[q]
            for i in range(k):
                pull[m, i] -= v * rest[t, i]


@unit(FLOAT(FLOATS, FLOATS, INT), fastmath=FAST)
def _inner(x: Any, y: Any, count: int) -> float:
    """Σ xᵢyᵢ."""
    total = 0.0
    for i in range(count):
        total += x[i] * y[i]
    return total


@unit(VOID(FLOATS, FLOATS, INT))
def _subtract(x: Any, y: Any, count: int) -> None:
    """y −= x."""
    for i in range(count):
        y[i] -= x[i]


@unit(VOID(MATRIX, MATRIX, VECTOR, VECTOR, VECTOR), fastmath=FAST)
def _values(unit: Array, pull: Array, radial: Array, norm: Array, value: Array) -> None:
    """Σⱼ eⱼ k(wᵢ, uⱼ) = wᵢ·Σⱼ eⱼ ∂₁k(wᵢ, uⱼ): the kernel is homogeneous of degree one (Euler)."""
    n, k = unit.shape
    for i in range(k):
        value[i] = radial[i]
    for m in range(n):
        for i in range(k):
            value[i] += unit[m, i] * pull[m, i]
    for i in range(k):
        value[i] *= norm[i]


@unit(VOID(MATRIX, FIXED, VECTOR, VECTOR, MATRIX, MATRIX), fastmath=FAST)
def _inner_gradient(W: Array, a: Array, radial: Array, inverse: Array, pull: Array, dW: Array) -> None:
    """2aᵢ (pullᵢ + ϱᵢ ŵᵢ), turned back into rows."""
    k, n = W.shape
    for i in range(k):
        factor, turn = 2 * a[i], radial[i] * inverse[i]
        for m in range(n):
            dW[i, m] = factor * (pull[m, i] + turn * W[i, m])


@unit(several(FLOAT, FLOAT)(MATRIX, FIXED, TEACHER, FIXED, ONE_SPACE, MATRIX, VECTOR), fastmath=FAST)
def one_pass(
    W: Array, a: Array, teacher: Teacher, c: Array, space: OneSpace, dW: Array, da: Array
) -> tuple[float, float]:
    """The loss (less the teacher's energy) and the shortest ‖wᵢ‖ of one network; fills both gradients.

    Students and teachers have coefficients e = (a, −b). With S_ij = eⱼ(π−θ_ij)/2π and ϱᵢ = Σⱼ eⱼ‖uⱼ‖ sin θ_ij/2π:
    ∂L/∂W = 2 diag(a) (S U + diag(ϱ/‖w‖) W), ∂L/∂a = 2 Σⱼ eⱼ k(wᵢ, uⱼ). Products S U are kept as columns (`pull`).
    """
    shortest = pair_angles(W, a, teacher, c, space)
    unit, weighted, pull, more, students, teachers, norm, inverse, length, radial = space
    first, column, value, _, b, teacher_length, _, dense = teacher
    np.dot(weighted, students.rest, pull)
    for i in range(len(radial)):
        radial[i] = 0.0
    _add_radials(length, 1.0, students.sine, radial)
    k = len(a)
    own = _inner(pointer(weighted), pointer(pull), weighted.size) + _inner(
        pointer(length), pointer(radial), k
    )
    _add_radials(teacher_length, -1.0, teachers.sine, radial)
    if len(dense):
        np.dot(dense.T, teachers.rest, more)
        _subtract(pointer(more), pointer(pull), pull.size)
    else:
        _add_sparse_pull(first, column, value, b, teachers.rest, pull)
    _values(unit, pull, radial, norm, da)
    for i in range(k):
        da[i] *= 2.0
    _inner_gradient(W, a, radial, inverse, pull, dW)
    return _inner(pointer(a), pointer(da), k) - own, shortest  # aᵀKa − 2aᵀc = 2aᵀ(Ka − c) − aᵀKa


@entry(FLOAT(CUBE, MATRIX, TEACHER_ARRAYS, FIXED, VECTOR, CUBE, MATRIX, ONE_ARRAYS))
def one_by_one(
    W: Array, a: Array, rows: Any, c: Array, losses: Array, dW: Array, da: Array, space: Any
) -> float:
    """As `side_by_side`, one network after the other."""
    teacher, one = teacher_in(rows), one_in(space)
    smallest = np.inf
    for l in range(len(W)):
        losses[l], shortest = one_pass(W[l], a[l], teacher, c, one, dW[l], da[l])
        smallest = min(smallest, shortest)
    return smallest


@entry(FLOAT(CUBE, MATRIX, TEACHER_ARRAYS, FIXED, VECTOR, CUBE, MATRIX, LANE_ARRAYS, LANE_BLOCK))
def side_by_side(
    W: Array, a: Array, rows: Any, c: Array, losses: Array, dW: Array, da: Array, space: Any, block: Any
) -> float:
    """Fill losses (less the teacher's energy) and both gradients for each network; return the shortest ‖wᵢ‖.

    `block` is room for as many networks as there are lanes: their weights, outer weights, losses and slopes.
    """
    teacher, lanes = teacher_in(rows), lanes_in(space)
    w, outer, loss, dw, slope = block
    batch, k, n = W.shape
    smallest = np.inf
    done = 0
    while done < batch:
        count = min(len(loss), batch - done)
        for l in range(count):
            for i in range(k):
                outer[i, l] = a[done + l, i]
                for m in range(n):
                    w[i, m, l] = W[done + l, i, m]
        smallest = min(smallest, relu_lanes(w, outer, teacher, c, count, lanes, loss, dw, slope))
        for l in range(count):
            losses[done + l] = loss[l]
            for i in range(k):
                da[done + l, i] = slope[i, l]
                for m in range(n):
                    dW[done + l, i, m] = dw[i, m, l]
        done += count
    return smallest


class _Rooms(threading.local):
    """Work arrays of a thread's last call, by their sizes: small networks take less time than making them."""

    def __init__(self) -> None:
        self.kept: tuple[Any, Any] = ((), ())

    def of(self, make: Callable[..., Any], *sizes: int) -> Any:
        """Those of these sizes."""
        if self.kept[0] != (make, sizes):
            self.kept = (make, sizes), make(*sizes)
        return self.kept[1]


_rooms = _Rooms()


def _block(k: int, n: int, lanes: int) -> tuple[Any, Any]:
    """Work arrays, and room for the networks, of `side_by_side`."""
    shapes = ((k, n, lanes), (k, lanes), (lanes,), (k, n, lanes), (k, lanes))
    return lane_space(k, lanes), tuple(np.empty(shape) for shape in shapes)


def batch_loop(
    W: Array, a: Array, V: Array, b: Array, c: Array, losses: Array, dW: Array, da: Array
) -> float:
    """Fill losses (less the teacher's energy) and both gradients for each network; return the shortest ‖wᵢ‖.

    Many small networks go side by side (`relu_lanes`), few or large ones one after the other (`one_pass`).
    """
    batch, k, n = W.shape
    rows = teacher_rows(V, b)
    if k * n < NARROW and batch >= FEWEST_LANES:
        space, block = _rooms.of(_block, k, n, lanes_for(k, n))
        return float(side_by_side(W, a, rows, c, losses, dW, da, space, block))
    return float(one_by_one(W, a, rows, c, losses, dW, da, _rooms.of(one_space, k, n, len(V))))
