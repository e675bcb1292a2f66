"""Gradient descent with a line search on ReLU losses, in compiled code; its slow twin is `gradient.line_search`.

Nothing here holds the interpreter's lock, so threads train at full speed. `flag[0] ≠ 0` asks all runs to stop.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shallows.model.kernels._compiled.relu_lanes import Teacher
from shallows.model.kernels._compiled.relu_loop import OneSpace, one_pass, one_space, teacher_rows
from shallows.questions.descent._compiled.decisions import falls, verdict
from shallows.questions.descent.thresholds import (
    FIRST_MOVE,
    GOING,
    GROWTH,
    SHORTEST_THETA,
    SHRINK,
    SMALLEST_STEP,
    STALLED,
)
from shallows.support.checks import Array
from shallows.support.tolerances import TINY


@njit(cache=True, nogil=True, error_model="numpy")
def _evaluate(
    theta: Array, gradient: Array, k: int, n: int, outer: Array, free: bool, teacher: Teacher, c: Array, energy: float,
    one: OneSpace, unused: Array,
) -> float:  # fmt: skip
    """L and ∇L of one θ."""
    inner = k * n
    weights, slopes = theta[:inner].reshape(k, n), gradient[:inner].reshape(k, n)
    a = theta[inner:] if free else outer
    da = gradient[inner:] if free else unused
    value, _ = one_pass(weights, a, teacher, c, one, slopes, da)
    return max(value + energy, 0.0)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _dot(x: Array, y: Array) -> float:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def line_search_loop(
    thetas: Array, k: int, n: int, outer: Array, free: bool, V: Array, b: Array, c: Array,
    energy: float, tolerances: Array, limits: np.ndarray, goal: float, scale: float, flag: np.ndarray,
    losses: Array, norms: Array, status: np.ndarray, iterations: np.ndarray,
) -> None:  # fmt: skip
    """Train each row of `thetas` in place."""
    p = thetas.shape[1]
    teacher, one, unused = teacher_rows(V, b), one_space(k, n, len(V)), np.empty(k)
    gradient, trial, new = np.empty(p), np.empty(p), np.empty(p)
    for row in range(len(thetas)):
        theta = thetas[row]
        loss = _evaluate(theta, gradient, k, n, outer, free, teacher, c, energy, one, unused)
        norm = np.sqrt(_dot(gradient, gradient))
        s = FIRST_MOVE * (np.sqrt(_dot(theta, theta)) + SHORTEST_THETA) / max(norm, TINY)
        smallest, iteration, code = SMALLEST_STEP * s, 0, GOING
        while code == GOING:
            code = verdict(loss, norm, iteration, tolerances[row], limits[row], goal, flag)
            if code == GOING and s < smallest:
                code = STALLED
            if code != GOING:
                break
            for i in range(p):
                trial[i] = theta[i] - s * gradient[i]
            value = _evaluate(trial, new, k, n, outer, free, teacher, c, energy, one, unused)
            size = np.sqrt(_dot(new, new))
            iteration += 1
            taken = falls(loss, norm, s, value, _dot(new, gradient), scale) and np.isfinite(size)
            s = GROWTH * s if taken else SHRINK * s
            if taken:
                loss, norm = value, size
                for i in range(p):
                    theta[i], gradient[i] = trial[i], new[i]
        losses[row], norms[row], status[row] = loss, norm, code
        iterations[row] += iteration
