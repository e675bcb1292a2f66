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

from shallows.model.kernels._compiled.kinds import FLOATS, VOID
from shallows.model.kernels._compiled.relu_angles import FAST
from shallows.model.kernels._compiled.relu_loop import ONE_SPACE, pair_angles
from shallows.model.kernels._compiled.relu_model import MODEL
from shallows.support.checks import Array
from shallows.support.compiling import behind, unit
from shallows.support.in_memory import Room, at, in_memory
from shallows.support.matrix_product import product

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


HESSIAN_SPACE = in_memory(HessianSpace, *(FLOATS,) * 12)
hessian_at = at(HESSIAN_SPACE)


def hessian_space(k: int, n: int, m: int) -> Room:
    """Fresh arrays for k students and m teachers in n inputs."""
    square = k * k
    return Room(HESSIAN_SPACE, *(square,) * 3, m * k, k, square, square, k, square, k, k * n, k * n)


@unit(VOID(MODEL, ONE_SPACE, HESSIAN_SPACE, FLOATS, FLOATS), fastmath=FAST)
def prepare(model: Any, one: Any, space: Any, W: Any, a: Any) -> None:
    """Fill the coefficients at W; `one` keeps unit vectors and cosines."""
    k = model.k
    pair_angles(model, one, W, a)
    for i in range(k):
        level, inverse = 0.0, one.inverse[i]
        sines, rest, cross = behind(one.sine, i * k), behind(one.rest, i * k), behind(space.cross, i * k)
        lean, pull = behind(space.lean, i * k), behind(space.pull, i * k)
        for j in range(k):
            sine = sines[j]
            level += one.length[j] * sine
            cross[j] = a[j] * INVERSE_FOUR_PI_SQUARED / sine if sine > PARALLEL else 0.0
            lean[j] = cross[j] * one.norm[j] * inverse
            pull[j] = a[j] * rest[j]
        for t in range(model.m):
            sine, e, length = one.teacher_sine[t * k + i], -model.b[t], model.norm[t]
            level += e * length * sine
            known = sine > PARALLEL and length > 0
            slant = e * INVERSE_FOUR_PI_SQUARED / sine * inverse if known else 0.0
            space.teacher_lean[t * k + i] = slant
        space.level[i] = level * inverse


@unit(VOID(MODEL, ONE_SPACE, HESSIAN_SPACE), fastmath=FAST)
def _weigh(model: Any, one: Any, space: Any) -> None:
    """The weights of all ûⱼ, and of ûᵢ itself, in row i of the product."""
    k, X, diagonal, own = model.k, space.products, space.diagonal, space.own
    for i in range(k):
        diagonal[i] = X[i * k + i]
        turned = behind(space.turned, i * k)
        for j in range(k):
            turned[j] = X[j * k + i]
    for i in range(k):
        x, turned, cosine = behind(X, i * k), behind(space.turned, i * k), behind(one.cosine, i * k)
        lean, cross, weights = (
            behind(space.lean, i * k),
            behind(space.cross, i * k),
            behind(space.weights, i * k),
        )
        d, total = diagonal[i], 0.0
        for j in range(k):
            weights[j] = lean[j] * (x[j] - cosine[j] * d) + cross[j] * (turned[j] - cosine[j] * diagonal[j])
        for j in range(k):
            total += cross[j] * (diagonal[j] - cosine[j] * turned[j]) - lean[j] * cosine[j] * (
                x[j] - cosine[j] * d
            )
        own[i] = total - space.level[i] * d


@unit(VOID(MODEL, ONE_SPACE, HESSIAN_SPACE, FLOATS, FLOATS, FLOATS, FLOATS), fastmath=FAST)
def hessian_times(model: Any, one: Any, space: Any, W: Any, a: Any, P: Any, out: Any) -> None:
    """∇²L·P after `prepare` at W."""
    k, n, teacher_first, column, value = model.k, model.n, model.first, model.column, model.value
    first, second = space.first, space.second
    product(P, False, one.unit, False, space.products, k, n, k)
    _weigh(model, one, space)
    product(space.pull, False, P, False, first, k, k, n)
    product(space.weights, False, one.unit, True, second, k, k, n)
    for i in range(k):
        level, own, diagonal = space.level[i], space.own[i], space.diagonal[i]
        p, image, w = behind(P, i * n), behind(out, i * n), behind(W, i * n)
        for m in range(n):
            image[m] = first[i * n + m] + second[i * n + m] + level * p[m]
        for t in range(model.m):
            slant = space.teacher_lean[t * k + i]
            if slant == 0:
                continue
            along = 0.0
            for q in range(teacher_first[t], teacher_first[t + 1]):
                along += value[q] * p[column[q]]
            angle, length = one.teacher_cosine[t * k + i], model.norm[t]
            tilt = slant * (along / length - angle * diagonal)
            own -= tilt * angle * length
            for q in range(teacher_first[t], teacher_first[t + 1]):
                image[column[q]] += tilt * value[q]
        turn = own * one.inverse[i]
        for m in range(n):
            image[m] = 2 * a[i] * (image[m] + turn * w[m])
