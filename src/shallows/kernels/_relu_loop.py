"""The numba loops behind `relu_fused`; their slow NumPy twin is `relu.ReLUKernel`, held together by a test."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shallows._checks import Array
from shallows.kernels._relu_angles import FAST, angles, sparse_rows
from shallows.kernels._relu_lanes import FEWEST_LANES, Teacher, lane_space, lanes_for, relu_lanes


class OneSpace(NamedTuple):
    """Work arrays for one network at a time."""

    turned: Array
    pull: Array
    gram: Array
    inner: Array
    norm: Array
    inverse: Array
    radial: Array
    theirs: Array
    cosine: Array
    sine: Array
    rest: Array


@njit(cache=True, nogil=True)
def teacher_rows(V: Array, b: Array) -> Teacher:
    """The teacher in sparse form."""
    first, column, value, norm = sparse_rows(V)
    return Teacher(first, column, value, norm, b)


@njit(cache=True)
def one_space(k: int, n: int, m: int) -> OneSpace:
    """Fresh work arrays for k students and m teachers in n inputs."""
    pairs = k * (k - 1) // 2 + k * m
    return OneSpace(
        np.empty((n, k)), np.empty((n, k)), np.empty((k, k)), np.empty((m, k)),
        np.empty(k), np.empty(k), np.empty(k), np.empty(k),
        np.empty(pairs), np.empty(pairs), np.empty(pairs),
    )  # fmt: skip


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def _cosines(W: Array, teacher: Teacher, space: OneSpace) -> float:
    """Gram entries, lengths, and the cosines of all pairs in one flat array; returns the shortest length."""
    k, n = W.shape
    turned, inverse, norm = space.turned, space.inverse, space.norm
    for i in range(k):
        for m in range(n):
            turned[m, i] = W[i, m]
    np.dot(W, turned, space.gram)
    shortest = np.inf
    for i in range(k):
        norm[i] = np.sqrt(space.gram[i, i])
        inverse[i] = 1.0 / norm[i] if norm[i] > 0 else 0.0
        shortest = min(shortest, norm[i])
    place = 0
    for i in range(k):
        row, cosine, scale = space.gram[i], space.cosine[place : place + i], inverse[i]
        for j in range(i):
            cosine[j] = row[j] * scale * inverse[j]
        place += i
    for t in range(len(teacher.b)):
        inner, cosine = space.inner[t], space.cosine[place : place + k]
        scale = 1 / teacher.norm[t] if teacher.norm[t] > 0 else 0.0
        for i in range(k):
            inner[i] = 0.0
        for q in range(teacher.first[t], teacher.first[t + 1]):
            column, v = turned[teacher.column[q]], teacher.value[q]
            for i in range(k):
                inner[i] += v * column[i]
        for i in range(k):
            cosine[i] = inner[i] * inverse[i] * scale
        place += k
    return shortest


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def _student_sums(a: Array, space: OneSpace, da: Array) -> None:
    """Values and radial parts of the pairs of students; the Gram matrix becomes the weights aⱼ(π−θ)/2π of the pull."""
    k = len(a)
    gram, norm, radial = space.gram, space.norm, space.radial
    for i in range(k):
        da[i], radial[i] = 0.5 * a[i] * gram[i, i], 0.0
    place = 0
    for i in range(k):
        value, turn, weight, length, row = 0.0, 0.0, a[i], norm[i], gram[i]
        sine, rest = space.sine[place : place + i], space.rest[place : place + i]
        for j in range(i):
            kernel = length * norm[j] * sine[j] + rest[j] * row[j]
            value += a[j] * kernel
            turn += a[j] * norm[j] * sine[j]
            da[j] += weight * kernel
            radial[j] += weight * length * sine[j]
            row[j] = a[j] * rest[j]
        for j in range(i):
            gram[j, i] = weight * rest[j]
        row[i] = 0.5 * weight
        da[i] += value
        radial[i] += turn
        place += i


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def _teacher_sums(teacher: Teacher, k: int, space: OneSpace) -> None:
    """Values, radial parts and (transposed) pulls of the pairs with the teacher."""
    norm, radial, theirs = space.norm, space.radial, space.theirs
    space.pull[:] = 0.0
    theirs[:] = 0.0
    place = k * (k - 1) // 2
    for t in range(len(teacher.b)):
        weight, length, inner = teacher.b[t], teacher.norm[t], space.inner[t]
        sine, rest = space.sine[place : place + k], space.rest[place : place + k]
        for i in range(k):
            across = weight * length * sine[i]
            radial[i] -= across
            theirs[i] -= across * norm[i] + weight * rest[i] * inner[i]
        for q in range(teacher.first[t], teacher.first[t + 1]):
            pull, v = space.pull[teacher.column[q]], weight * teacher.value[q]
            for i in range(k):
                pull[i] -= v * rest[i]
        place += k


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def one_pass(
    W: Array, a: Array, teacher: Teacher, c: Array, space: OneSpace, dW: Array, da: Array
) -> tuple[float, float]:
    """The loss (less the teacher's energy) and the shortest ‖wᵢ‖ of one network; fills both gradients.

    Students and teachers have coefficients e = (a, −b). With S_ij = eⱼ(π−θ_ij)/2π and ϱᵢ = Σⱼ eⱼ‖uⱼ‖ sin θ_ij/2π:
    ∂L/∂W = 2 diag(a) (S U + diag(ϱ/‖w‖) W), ∂L/∂a = 2 Σⱼ eⱼ k(wᵢ, uⱼ).
    """
    k, n = W.shape
    shortest = _cosines(W, teacher, space)
    angles(space.cosine, c, space.sine, space.rest)
    _student_sums(a, space, da)
    np.dot(space.gram, W, dW)
    _teacher_sums(teacher, k, space)
    loss = 0.0
    for i in range(k):
        loss += a[i] * (da[i] + 2 * space.theirs[i])
        da[i] = 2 * (da[i] + space.theirs[i])
        factor, turn, row, slope = 2 * a[i], space.radial[i] * space.inverse[i], W[i], dW[i]
        for m in range(n):
            slope[m] = factor * (slope[m] + turn * row[m] + space.pull[m, i])
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
