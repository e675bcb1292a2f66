"""Which critical neurons of an activation z² + βz + γ are local minima: Newton's method and the Hessian, in floats.

The loss is that of `activation_family`; changes of w are measured by ‖w‖ and those of a by |a|, so that neurons of all
sizes are treated alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.newton import at_once
from shallows.questions.discriminants.activation_family import TeacherNumbers
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON, TINY

#: Newton steps: zeros of F have errors of ε^(1/3) where three are close (small β), of which three steps leave rounding.
STEPS = 4
#: The last step, relative to w and a, of an iteration that has converged: rounding times the conditions that occur.
CONVERGED = 1e-9
#: Two neurons as close as this, relatively, are one that was found twice.
SAME = 1e-6
#: A least curvature below this share of the largest is not decided: entries are known to some units of rounding, at
#: neurons known to CONVERGED.
FLAT = 1e-8


def count_minima(
    teacher: TeacherNumbers, mu: Array, beta: Array, gamma: Array
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """How many of the zeros μ of F, (points, zeros), are local minima, and where that is decided."""
    if not mu.shape[1]:
        return np.zeros(len(mu), dtype=np.int64), np.ones(len(mu), dtype=bool)
    at = beta[:, None], gamma[:, None]
    with np.errstate(all="ignore"):  # what is not finite is not decided
        w, a = teacher.neurons(mu, np.broadcast_to(at[0], mu.shape), np.broadcast_to(at[1], mu.shape))
        z = np.concatenate([w, a[..., None]], axis=-1)

        def relative(z: Array) -> tuple[Array, Array]:
            size, hessian = _scaled_hessian(teacher, z, *at)
            return size * _gradient(teacher, z, *at), hessian

        def move(z: Array, step: Array) -> Array:
            return np.asarray(z + _sizes(z) * step)

        z, step = at_once(relative, z, STEPS, move)
        size, hessian = _scaled_hessian(teacher, z, *at)
        finite = np.asarray(np.isfinite(hessian).all(axis=(-1, -2)))
        values = np.linalg.eigvalsh(np.where(finite[..., None, None], hessian, 0.0))
        sharp = np.abs(values[..., 0]) > FLAT * np.abs(values).max(axis=-1)
        arrived = np.abs(step).max(axis=-1) < CONVERGED
        decided = (finite & sharp & arrived).all(axis=1) & _distinct(z / size)
    return np.sum(values[..., 0] > 0, axis=1), decided


def _distinct(z: Array) -> NDArray[np.bool_]:
    """Where no two of a row's neurons (relative to their sizes, and those to each other) are one."""
    result = np.ones(len(z), dtype=bool)
    for i in range(z.shape[1]):
        for j in range(i):
            result &= np.abs(z[:, i] - z[:, j]).max(axis=-1) > SAME
    return result


def _sizes(z: Array) -> Array:
    """(‖w‖, …, ‖w‖, |a|)."""
    w, a = z[..., :-1], z[..., -1:]
    length = np.maximum(np.sqrt(np.einsum("...i,...i", w, w)), TINY)[..., None]
    return np.concatenate([np.broadcast_to(length, w.shape), np.maximum(np.abs(a), EPSILON)], axis=-1)


def _parts(teacher: TeacherNumbers, z: Array, gamma: Array) -> tuple[Array, Array, Array, Array]:
    """w, a, ‖w‖² and r."""
    w, a = z[..., :-1], z[..., -1]
    square = np.einsum("...i,...i", w, w)
    return w, a, square, a * (square + gamma) - teacher.constant(gamma)


def _gradient(teacher: TeacherNumbers, z: Array, beta: Array, gamma: Array) -> Array:
    """The loss's derivatives by w and a."""
    w, a, square, r = _parts(teacher, z, gamma)
    image, product = w @ teacher.S, w @ teacher.b
    by_w = (8 * a * square + 2 * beta**2 * a + 4 * r)[..., None] * w - 8 * image
    by_w -= (2 * beta**2)[..., None] * teacher.b
    by_a = 4 * (a * square**2 - np.einsum("...i,...i", image, w)) + 2 * beta**2 * (a * square - product)
    by_a += 2 * r * (square + gamma)
    return np.concatenate([a[..., None] * by_w, by_a[..., None]], axis=-1)


def _scaled_hessian(teacher: TeacherNumbers, z: Array, beta: Array, gamma: Array) -> tuple[Array, Array]:
    """(‖w‖, …, ‖w‖, |a|), and the Hessian by relative changes."""
    w, a, square, r = _parts(teacher, z, gamma)
    n = w.shape[-1]
    inner = (8 * a * square + 2 * beta**2 * a + 4 * r)[..., None, None] * np.eye(n) - 8 * teacher.S
    inner = inner + (24 * a)[..., None, None] * w[..., :, None] * w[..., None, :]
    hessian = np.empty((*w.shape[:-1], n + 1, n + 1))
    hessian[..., :n, :n] = a[..., None, None] * inner
    gradient = _gradient(teacher, z, beta, gamma)[..., :n] / a[..., None]
    mixed = (a * (12 * square + 2 * beta**2 + 4 * gamma))[..., None] * w + gradient
    hessian[..., :n, n] = hessian[..., n, :n] = mixed
    hessian[..., n, n] = 4 * square**2 + 2 * beta**2 * square + 2 * (square + gamma) ** 2
    size = _sizes(z)
    return size, size[..., :, None] * hessian * size[..., None, :]
