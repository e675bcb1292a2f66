"""The numba loops behind `relu_fused`; their slow NumPy twin is `relu.ReLUKernel`, held together by a test."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shallows.model.kernels._compiled.relu_angles import FAST, angles, sparse_rows
from shallows.model.kernels._compiled.relu_lanes import (
    FEWEST_LANES,
    Teacher,
    lane_space,
    lanes_for,
    relu_lanes,
)
from shallows.support.checks import Array

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


@njit(cache=True, nogil=True)
def teacher_rows(V: Array, b: Array) -> Teacher:
    """The teacher in sparse form, and with matrices when it is not sparse."""
    first, column, value, norm = sparse_rows(V)
    m, n = V.shape
    dense = m if len(value) > SPARSE * m * n else 0
    unit, weighted = np.empty((dense, n)), np.empty((dense, n))
    for t in range(dense):
        scale = 1 / norm[t] if norm[t] > 0 else 0.0
        for i in range(n):
            unit[t, i], weighted[t, i] = V[t, i] * scale, b[t] * V[t, i]
    return Teacher(first, column, value, norm, b, b * norm, unit, weighted)


@njit(cache=True)
def one_space(k: int, n: int, m: int) -> OneSpace:
    """Fresh work arrays for k students and m teachers in n inputs."""
    return OneSpace(
        np.empty((n, k)), np.empty((n, k)), np.empty((n, k)), np.empty((n, k)),
        Pairs(np.empty((k, k)), np.empty((k, k)), np.empty((k, k))),
        Pairs(np.empty((m, k)), np.empty((m, k)), np.empty((m, k))),
        np.empty(k), np.empty(k), np.empty(k), np.empty(k),
    )  # fmt: skip


# The loops below store into one array each and take no view of a row: numba cannot promise LLVM that two arrays do not
# overlap, so a loop over many of them stays scalar, and a view costs an atomic reference count.


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
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


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def _units(W: Array, inverse: Array, length: Array, unit: Array, weighted: Array) -> None:
    """ŵᵢ and aᵢwᵢ as columns."""
    k, n = W.shape
    for m in range(n):
        for i in range(k):
            unit[m, i] = W[i, m] * inverse[i]
    for m in range(n):
        for i in range(k):
            weighted[m, i] = unit[m, i] * length[i]


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
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


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
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
    angles(cosine.reshape(-1), c, sine.reshape(-1), rest.reshape(-1))
    first, column, value, teacher_norm, _, _, dense, _ = teacher
    cosine, sine, rest = teachers
    if len(dense):
        np.dot(dense, unit, cosine)
    else:
        _sparse_cosines(first, column, value, teacher_norm, unit, cosine)
    angles(cosine.reshape(-1), c, sine.reshape(-1), rest.reshape(-1))
    return shortest


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def _add_radials(length: Array, sign: float, sine: Array, radial: Array) -> None:
    """ϱᵢ += ± Σⱼ eⱼ‖uⱼ‖ sin θ_ij/2π."""
    for j in range(len(length)):
        weight = sign * length[j]
        for i in range(len(radial)):
            radial[i] += weight * sine[j, i]


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
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


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def _inner(x: Array, y: Array) -> float:
    """Σ xᵢyᵢ."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
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


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def _inner_gradient(W: Array, a: Array, radial: Array, inverse: Array, pull: Array, dW: Array) -> None:
    """2aᵢ (pullᵢ + ϱᵢ ŵᵢ), turned back into rows."""
    k, n = W.shape
    for i in range(k):
        factor, turn = 2 * a[i], radial[i] * inverse[i]
        for m in range(n):
            dW[i, m] = factor * (pull[m, i] + turn * W[i, m])


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
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
    radial[:] = 0.0
    _add_radials(length, 1.0, students.sine, radial)
    own = _inner(weighted.reshape(-1), pull.reshape(-1)) + _inner(length, radial)
    _add_radials(teacher_length, -1.0, teachers.sine, radial)
    if len(dense):
        np.dot(dense.T, teachers.rest, more)
        pull -= more
    else:
        _add_sparse_pull(first, column, value, b, teachers.rest, pull)
    _values(unit, pull, radial, norm, da)
    da *= 2.0
    _inner_gradient(W, a, radial, inverse, pull, dW)
    return _inner(a, da) - own, shortest  # aᵀKa − 2aᵀc = 2aᵀ(Ka − c) − aᵀKa


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def batch_loop(
    W: Array, a: Array, V: Array, b: Array, c: Array, losses: Array, dW: Array, da: Array
) -> float:
    """Fill losses (less the teacher's energy) and both gradients for each network; return the shortest ‖wᵢ‖.

    Many small networks go side by side (`relu_lanes`), few or large ones one after the other (`one_pass`).
    """
    batch, k, n = W.shape
    teacher = teacher_rows(V, b)
    lanes = lanes_for(k, n)
    smallest = np.inf
    done = 0
    if k * n < NARROW and batch >= FEWEST_LANES:
        space = lane_space(k, lanes)
        w, dw, loss = np.empty((k, n, lanes)), np.empty((k, n, lanes)), np.empty(lanes)
        outer, slope = np.empty((k, lanes)), np.empty((k, lanes))
        while done < batch:
            count = min(lanes, batch - done)
            for l in range(count):
                for i in range(k):
                    outer[i, l] = a[done + l, i]
                    for m in range(n):
                        w[i, m, l] = W[done + l, i, m]
            smallest = min(smallest, relu_lanes(w, outer, teacher, c, count, space, loss, dw, slope))
            for l in range(count):
                losses[done + l] = loss[l]
                for i in range(k):
                    da[done + l, i] = slope[i, l]
                    for m in range(n):
                        dW[done + l, i, m] = dw[i, m, l]
            done += count
        return smallest
    one = one_space(k, n, len(V))
    for l in range(batch):
        losses[l], shortest = one_pass(W[l], a[l], teacher, c, one, dW[l], da[l])
        smallest = min(smallest, shortest)
    return smallest
