"""Products with the ReLU Hessian in the inner weights, compiled: pair coefficients once a point, then matrix products.

With q = 1/2πρ, r = g/sᵢ and X = P Uᵀ (the formulas of `relu.balls` in scalars), row i of ∇²L·P is 2aᵢ times

    Σⱼ aⱼ (π−θ)/2π pⱼ + ϱᵢ/‖wᵢ‖ (pᵢ − ŵᵢŵᵢᵀpᵢ) + Σⱼ eⱼ q (uⱼ − r wᵢ)(X_ij − r X_ii) + Σⱼ aⱼ q (…)

summed over students and teachers. Pairs that are parallel to 1e-9 have no q-terms: they tend to zero there (Lemma 1).
The slow twin is `Problem.hvp`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shallows._checks import Array
from shallows.kernels._relu_angles import FAST, angles
from shallows.kernels._relu_lanes import Teacher
from shallows.kernels._relu_loop import OneSpace, _cosines

PARALLEL = 1e-9
INVERSE_FOUR_PI_SQUARED = 1 / (4 * np.pi**2)


class HessianSpace(NamedTuple):
    """Coefficients at a point and work arrays for products."""

    pull: Array
    q: Array
    gram: Array
    q_teacher: Array
    level: Array
    square: Array
    products: Array
    weights: Array
    own: Array
    first: Array
    second: Array


@njit(cache=True)
def hessian_space(k: int, n: int, m: int) -> HessianSpace:
    """Fresh arrays for k students and m teachers in n inputs."""
    return HessianSpace(
        np.empty((k, k)), np.empty((k, k)), np.empty((k, k)), np.empty((m, k)), np.empty(k), np.empty(k),
        np.empty((k, k)), np.empty((k, k)), np.empty(k), np.empty((k, n)), np.empty((k, n)),
    )  # fmt: skip


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def prepare(W: Array, a: Array, teacher: Teacher, c: Array, one: OneSpace, space: HessianSpace) -> None:
    """Fill the coefficients at W; `one` keeps the angles."""
    k = len(W)
    _cosines(W, teacher, one)
    angles(one.cosine, c, one.sine, one.rest)
    for i in range(k):
        space.level[i], space.square[i] = 0.0, one.gram[i, i]
        space.pull[i, i], space.q[i, i], space.gram[i, i] = 0.5 * a[i], 0.0, one.gram[i, i]
    place = 0
    for i in range(k):
        for j in range(i):
            sine, rest = one.sine[place + j], one.rest[place + j]
            lengths = one.norm[i] * one.norm[j]
            q = INVERSE_FOUR_PI_SQUARED / (lengths * sine) if sine > PARALLEL else 0.0
            space.q[i, j] = space.q[j, i] = q
            space.gram[i, j] = space.gram[j, i] = one.gram[i, j]
            space.pull[i, j], space.pull[j, i] = a[j] * rest, a[i] * rest
            space.level[i] += a[j] * one.norm[j] * sine
            space.level[j] += a[i] * one.norm[i] * sine
        place += i
    for t in range(len(teacher.b)):
        for i in range(k):
            sine = one.sine[place + i]
            lengths = one.norm[i] * teacher.norm[t]
            known = sine > PARALLEL and lengths > 0
            space.q_teacher[t, i] = INVERSE_FOUR_PI_SQUARED / (lengths * sine) if known else 0.0
            space.level[i] -= teacher.b[t] * teacher.norm[t] * sine
        place += k
    for i in range(k):
        space.level[i] *= one.inverse[i]


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def hessian_times(
    P: Array, W: Array, a: Array, teacher: Teacher, one: OneSpace, space: HessianSpace, out: Array
) -> None:
    """∇²L·P after `prepare` at W."""
    k, n = W.shape
    X, own = space.products, space.own
    np.dot(P, one.turned, X)
    for i in range(k):
        total, square, d = 0.0, space.square[i], X[i, i]
        for j in range(k):
            q, g = space.q[i, j] * a[j], space.gram[i, j]
            r = g / square
            z = q * (X[i, j] - r * d)
            total += q * (X[j, j] - r * X[j, i]) - z * r
            space.weights[i, j] = z + q * (X[j, i] - g / space.square[j] * X[j, j])
        space.weights[i, i] = 0.0
        own[i] = total - space.level[i] * d / square
    np.dot(space.pull, P, space.first)
    np.dot(space.weights, W, space.second)
    for i in range(k):
        row, direction, w = out[i], P[i], W[i]
        for m in range(n):
            row[m] = space.first[i, m] + space.second[i, m] + space.level[i] * direction[m]
        for t in range(len(teacher.b)):
            q = -teacher.b[t] * space.q_teacher[t, i]
            if q == 0:
                continue
            along = 0.0
            for p in range(teacher.first[t], teacher.first[t + 1]):
                along += teacher.value[p] * direction[teacher.column[p]]
            r = one.inner[t, i] / space.square[i]
            z = q * (along - r * X[i, i])
            own[i] -= z * r
            for p in range(teacher.first[t], teacher.first[t + 1]):
                row[teacher.column[p]] += z * teacher.value[p]
        for m in range(n):
            row[m] = 2 * a[i] * (row[m] + own[i] * w[m])
