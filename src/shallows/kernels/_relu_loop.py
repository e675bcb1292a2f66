"""The numba loops behind `relu_fused`; their slow NumPy twin is `relu.ReLUKernel`, held together by a test."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shallows._checks import Array
from shallows.kernels._relu_angles import FAST, angles, sparse_rows
from shallows.kernels._relu_lanes import FEWEST_LANES, Teacher, lane_space, lanes_for, relu_lanes

SPARSE = 0.2  # the share of nonzero entries up to which a teacher is cheaper entry by entry


class Pairs(NamedTuple):
    """cos θ, sin θ/2π and (π−θ)/2π of pairs: a row for each partner, a column for each student."""

    cosine: Array
    sine: Array
    rest: Array


class OneSpace(NamedTuple):
    """Work arrays for one network at a time; `unit`, `pull` and `more` are (n, k), `weighted` is (k, n)."""

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
    return Teacher(first, column, value, norm, b, unit, weighted)


@njit(cache=True)
def one_space(k: int, n: int, m: int) -> OneSpace:
    """Fresh work arrays for k students and m teachers in n inputs."""
    return OneSpace(
        np.empty((n, k)), np.empty((k, n)), np.empty((n, k)), np.empty((n, k)),
        Pairs(np.empty((k, k)), np.empty((k, k)), np.empty((k, k))),
        Pairs(np.empty((m, k)), np.empty((m, k)), np.empty((m, k))),
        np.empty(k), np.empty(k), np.empty(k), np.empty(k),
    )  # fmt: skip


# The loops below store into one array each and take no view of a row: numba cannot promise LLVM that two arrays do not
# overlap, so a loop over many of them stays scalar, and a view costs an atomic reference count.


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def _units(
    W: Array, a: Array, unit: Array, weighted: Array, norm: Array, inverse: Array, length: Array
) -> float:
    """Unit vectors as columns, aᵢwᵢ as rows, ‖wᵢ‖, 1/‖wᵢ‖ and aᵢ‖wᵢ‖; returns the shortest length."""
    k, n = W.shape
    shortest = np.inf
    for i in range(k):
        square = 0.0
        for m in range(n):
            square += W[i, m] * W[i, m]
        size = np.sqrt(square)
        norm[i], length[i], inverse[i] = size, a[i] * size, 1.0 / size if size > 0 else 0.0
        shortest = min(shortest, size)
        for m in range(n):
            weighted[i, m] = a[i] * W[i, m]
    for m in range(n):
        for i in range(k):
            unit[m, i] = W[i, m] * inverse[i]
    return shortest


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def _teacher_cosines(teacher: Teacher, unit: Array, cosine: Array) -> None:
    """Row t holds the cosines of vₜ with all students; zero for a teacher neuron that is zero."""
    first, column, value, norm, _, dense, _ = teacher
    if len(dense):
        np.dot(dense, unit, cosine)
        return
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
    cosine, sine, rest = students
    shortest = _units(W, a, unit, weighted, norm, inverse, length)
    np.dot(unit.T, unit, cosine)
    for i in range(len(W)):
        cosine[i, i] = 1.0
    angles(cosine.reshape(-1), c, sine.reshape(-1), rest.reshape(-1))
    cosine, sine, rest = teachers
    _teacher_cosines(teacher, unit, cosine)
    angles(cosine.reshape(-1), c, sine.reshape(-1), rest.reshape(-1))
    return shortest


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def _student_radials(length: Array, sine: Array, radial: Array) -> None:
    """ϱᵢ = Σⱼ aⱼ‖wⱼ‖ sin θ_ij/2π."""
    for i in range(len(radial)):
        radial[i] = 0.0
    for j in range(len(length)):
        weight = length[j]
        for i in range(len(radial)):
            radial[i] += weight * sine[j, i]


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def _add_teacher(teacher: Teacher, sine: Array, rest: Array, radial: Array, pull: Array, more: Array) -> None:
    """The teacher's part of ϱ and of the (transposed) pull, with coefficients −bₜ."""
    first, column, value, norm, b, _, weighted = teacher
    n, k = pull.shape
    for t in range(len(b)):
        weight = b[t] * norm[t]
        for i in range(k):
            radial[i] -= weight * sine[t, i]
    if len(weighted):
        np.dot(weighted.T, rest, more)
        for m in range(n):
            for i in range(k):
                pull[m, i] -= more[m, i]
        return
    for t in range(len(b)):
        for q in range(first[t], first[t + 1]):
            m, v = column[q], b[t] * value[q]
            for i in range(k):
                pull[m, i] -= v * rest[t, i]


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
    ∂L/∂W = 2 diag(a) (S U + diag(ϱ/‖w‖) W), ∂L/∂a = 2 Σⱼ eⱼ k(wᵢ, uⱼ).
    """
    shortest = pair_angles(W, a, teacher, c, space)
    unit, weighted, pull, more, students, teachers, norm, inverse, length, radial = space
    np.dot(weighted.T, students.rest, pull)
    _student_radials(length, students.sine, radial)
    _values(unit, pull, radial, norm, da)
    loss = 0.0
    for i in range(len(a)):
        loss -= a[i] * da[i]  # aᵀKa − 2aᵀc = 2aᵀ(Ka − c) − aᵀKa
    _add_teacher(teacher, teachers.sine, teachers.rest, radial, pull, more)
    _values(unit, pull, radial, norm, da)
    for i in range(len(a)):
        da[i] *= 2
        loss += a[i] * da[i]
    _inner_gradient(W, a, radial, inverse, pull, dW)
    return loss, shortest


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
    if lanes and batch >= FEWEST_LANES:
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
