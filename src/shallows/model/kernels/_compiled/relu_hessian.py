"""Products with the ReLU Hessian in the inner weights, compiled: pair coefficients once a point, then matrix products.

With unit vectors û, lengths λ, c = cos θ, h = 1/(2π sin θ) and x_ij = pᵢ·ûⱼ, row i of ∇²L·P is 2aᵢ times

    Σⱼ aⱼ (π−θ)/2π pⱼ + ϱᵢ/λᵢ (pᵢ − x_ii ûᵢ) + Σⱼ eⱼ h λⱼ/λᵢ (x_ij − c x_ii) (ûⱼ − c ûᵢ)
        + Σⱼ aⱼ h [(x_ji − c x_jj) ûⱼ + (x_jj − c x_ji) ûᵢ],

the first and the last sum over students, the third over students and teachers, e = (a, −b).
Pairs that are `PARALLEL` have no q-terms (the sums with h): they tend to zero there (Lemma 1).
The slow twin is `Problem.hvp`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shallows.model.kernels._compiled.kinds import FIXED, MATRIX, VECTOR, VOID
from shallows.model.kernels._compiled.relu_angles import FAST
from shallows.model.kernels._compiled.relu_lanes import TEACHER, Teacher
from shallows.model.kernels._compiled.relu_loop import ONE_SPACE, OneSpace, pair_angles
from shallows.support.checks import Array
from shallows.support.compiling import part, record, several, unit

#: sin θ of a pair below which its q-terms, products of two factors of size sin θ with h = 1/(2π sin θ), are left out:
#: they are of this size, while rounding would be divided by it.
PARALLEL = 1e-9
INVERSE_FOUR_PI_SQUARED = 1 / (4 * np.pi**2)


class HessianSpace(NamedTuple):
    """Coefficients at a point and work arrays for products: `cross` is aⱼh, `lean` aⱼhλⱼ/λᵢ, `level` ϱᵢ/λᵢ."""

    pull: Array
    cross: Array
    lean: Array
    teacher_lean: Array
    level: Array
    products: Array
    turned: Array
    diagonal: Array
    weights: Array
    own: Array
    first: Array
    second: Array


HESSIAN_ARRAYS = several(
    MATRIX, MATRIX, MATRIX, MATRIX, VECTOR, MATRIX, MATRIX, VECTOR, MATRIX, VECTOR, MATRIX, MATRIX
)  # fmt: skip
HESSIAN_SPACE = record(
    HessianSpace, MATRIX, MATRIX, MATRIX, MATRIX, VECTOR, MATRIX, MATRIX, VECTOR, MATRIX, VECTOR, MATRIX, MATRIX
)  # fmt: skip


def hessian_space(k: int, n: int, m: int) -> tuple[Array, ...]:
    """Fresh arrays for k students and m teachers in n inputs, as `hessian_in` takes them."""
    shapes = [(k, k)] * 3 + [(m, k), (k,), (k, k), (k, k), (k,), (k, k), (k,), (k, n), (k, n)]
    return tuple(np.empty(shape) for shape in shapes)


@part
def hessian_in(arrays: Any) -> HessianSpace:
    """The arrays by name."""
    pull, cross, lean, teacher_lean, level, products, turned, diagonal, weights, own, first, second = arrays
    return HessianSpace(
        pull, cross, lean, teacher_lean, level, products, turned, diagonal, weights, own, first, second
    )  # fmt: skip


@unit(VOID(MATRIX, FIXED, TEACHER, FIXED, ONE_SPACE, HESSIAN_SPACE), fastmath=FAST)
def prepare(W: Array, a: Array, teacher: Teacher, c: Array, one: OneSpace, space: HessianSpace) -> None:
    """Fill the coefficients at W; `one` keeps unit vectors and cosines."""
    k = len(W)
    pair_angles(W, a, teacher, c, one)
    for i in range(k):
        level = 0.0
        for j in range(k):
            sine = one.students.sine[i, j]
            level += one.length[j] * sine
            space.cross[i, j] = a[j] * INVERSE_FOUR_PI_SQUARED / sine if sine > PARALLEL else 0.0
            space.lean[i, j] = space.cross[i, j] * one.norm[j] * one.inverse[i]
            space.pull[i, j] = a[j] * one.students.rest[i, j]
        for t in range(len(teacher.b)):
            sine, e = one.teachers.sine[t, i], -teacher.b[t]
            level += e * teacher.norm[t] * sine
            known = sine > PARALLEL and teacher.norm[t] > 0
            space.teacher_lean[t, i] = e * INVERSE_FOUR_PI_SQUARED / sine * one.inverse[i] if known else 0.0
        space.level[i] = level * one.inverse[i]


@unit(VOID(MATRIX, MATRIX, FIXED, TEACHER, ONE_SPACE, HESSIAN_SPACE, MATRIX), fastmath=FAST)
def hessian_times(
    P: Array, W: Array, a: Array, teacher: Teacher, one: OneSpace, space: HessianSpace, out: Array
) -> None:
    """∇²L·P after `prepare` at W."""
    k, n = W.shape
    pull, cross, lean, teacher_lean, level, X, turned, diagonal, weights, own, first, second = space
    cosine, teacher_cosine, unit, inverse = one.students.cosine, one.teachers.cosine, one.unit, one.inverse
    np.dot(P, unit, X)
    for i in range(k):
        diagonal[i] = X[i, i]
        for j in range(k):
            turned[i, j] = X[j, i]
    for i in range(k):
        d, total = diagonal[i], 0.0
        for j in range(k):
            weights[i, j] = lean[i, j] * (X[i, j] - cosine[i, j] * d) + cross[i, j] * (
                turned[i, j] - cosine[i, j] * diagonal[j]
            )
        for j in range(k):
            total += cross[i, j] * (diagonal[j] - cosine[i, j] * turned[i, j]) - lean[i, j] * cosine[i, j] * (
                X[i, j] - cosine[i, j] * d
            )
        own[i] = total - level[i] * d
    np.dot(pull, P, first)
    np.dot(weights, unit.T, second)
    for i in range(k):
        for m in range(n):
            out[i, m] = first[i, m] + second[i, m] + level[i] * P[i, m]
        for t in range(len(teacher.b)):
            slant = teacher_lean[t, i]
            if slant == 0:
                continue
            along = 0.0
            for p in range(teacher.first[t], teacher.first[t + 1]):
                along += teacher.value[p] * P[i, teacher.column[p]]
            angle, length = teacher_cosine[t, i], teacher.norm[t]
            tilt = slant * (along / length - angle * diagonal[i])
            own[i] -= tilt * angle * length
            for p in range(teacher.first[t], teacher.first[t + 1]):
                out[i, teacher.column[p]] += tilt * teacher.value[p]
        turn = own[i] * inverse[i]
        for m in range(n):
            out[i, m] = 2 * a[i] * (out[i, m] + turn * W[i, m])
