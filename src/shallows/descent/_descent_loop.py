"""Gradient descent in one compiled loop a run, for the fused losses; its slow twins are in `gradient`.

Nothing here holds the interpreter's lock, so threads train at full speed. `flag[0] ≠ 0` asks all runs to stop.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shallows._checks import Array
from shallows.descent._loops import dot_product_one, quadratic_one, teacher_space
from shallows.descent._relu_descent import relu_descent
from shallows.kernels._relu_loop import batch_loop

CONVERGED, LIMIT, DIVERGED, STALLED, INTERRUPTED, GOAL = 0, 1, 2, 4, 5, 6
BLOW_UP, PATIENCE, ROUNDING = 1e8, 20_000, 1e-12
DECREASE, GROWTH, SHRINK, SMALLEST_STEP, RESOLUTION = 0.5, 1.25, 0.5, 1e-14, 1e-12


@njit(cache=True, nogil=True, error_model="numpy")
def _evaluate(
    theta: Array, gradient: Array, W: Array, a: Array, dW: Array, da: Array, one: Array, degree: int, free: bool,
    V: Array, b: Array, c: Array, energy: float, space: tuple, square: tuple,
) -> float:  # fmt: skip
    """L and ∇L of one θ; degree 0 stands for ReLU. Returns L."""
    _, k, n = W.shape
    inner = k * n
    weights, slopes = theta[:inner].reshape(k, n), gradient[:inner].reshape(k, n)
    outer = theta[inner:] if free else a[0]
    outer_slopes = gradient[inner:] if free else da[0]
    if degree == 2:
        T, D, Z = square
        return quadratic_one(weights, outer, T, D, Z, c, slopes, outer_slopes)
    if degree == 0:
        W[0], a[0] = weights, outer
        batch_loop(W, a, V, b, c, one, dW, da)
        slopes[:], outer_slopes[:] = dW[0], da[0]
        return max(one[0] + energy, 0.0)
    U, e, p, g, along, across = space
    for i in range(k):
        e[i] = outer[i]
        for j in range(n):
            U[i, j] = weights[i, j]
    return max(dot_product_one(U, e, p, g, along, across, c, degree, slopes, outer_slopes) + energy, 0.0)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _dot(x: Array, y: Array) -> float:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def descent_loop(
    thetas: Array, k: int, n: int, outer: Array, degree: int, free: bool, V: Array, b: Array, c: Array,
    energy: float, step: float, tolerances: Array, limits: np.ndarray, goal: float, scale: float, flag: np.ndarray,
    losses: Array, norms: Array, status: np.ndarray, iterations: np.ndarray,
) -> None:  # fmt: skip
    """Train each row of `thetas` in place; step ≤ 0 asks for the line search of `gradient.line_search`."""
    if degree == 0 and step > 0:
        relu_descent(
            thetas, k, n, outer, free, V, b, c, energy, step, tolerances, limits, goal, scale, flag, losses, norms,
            status, iterations,
        )  # fmt: skip
        return
    p = thetas.shape[1]
    W, dW = np.empty((1, k, n)), np.empty((1, k, n))
    a, da, one = np.empty((1, k)), np.empty((1, k)), np.empty(1)
    a[0] = outer
    space = teacher_space(k, n, V, b)
    square = (np.dot(V.T * b, V), np.empty((n, n)), np.empty((k, n)))
    gradient, trial, new = np.empty(p), np.empty(p), np.empty(p)
    searching = step <= 0
    for row in range(len(thetas)):
        theta = thetas[row]
        loss = _evaluate(theta, gradient, W, a, dW, da, one, degree, free, V, b, c, energy, space, square)
        norm = np.sqrt(_dot(gradient, gradient))
        cap = BLOW_UP * (1 + loss)
        s = 0.01 * (np.sqrt(_dot(theta, theta)) + 1e-3) / max(norm, 1e-300) if searching else step
        smallest = SMALLEST_STEP * s
        best, since, iteration, code = np.inf, 0, 0, -1
        while code < 0:
            if not (np.isfinite(loss) and np.isfinite(norm)):
                code = DIVERGED
            elif norm <= tolerances[row]:
                code = CONVERGED
            elif loss <= goal:
                code = GOAL
            elif flag[0] != 0:
                code = INTERRUPTED
            elif iteration >= limits[row]:
                code = LIMIT
            elif searching and s < smallest:
                code = STALLED
            elif not searching and iteration % 500 == 0:
                if norm < 0.99 * best:
                    best, since = norm, iteration
                elif iteration - since >= PATIENCE and norm <= ROUNDING * scale:
                    code = STALLED
            if code >= 0:
                break
            for i in range(p):
                trial[i] = theta[i] - s * gradient[i]
            value = _evaluate(trial, new, W, a, dW, da, one, degree, free, V, b, c, energy, space, square)
            size = np.sqrt(_dot(new, new))
            iteration += 1
            if searching:
                drop, needed, noise = (
                    loss - value,
                    DECREASE * s * norm * norm,
                    RESOLUTION * (abs(loss) + scale),
                )
                taken = drop >= needed
                if not taken and needed < noise and drop > -noise:
                    taken = _dot(new, gradient) >= (2 * DECREASE - 1) * norm * norm
                taken = taken and np.isfinite(size)
                s = GROWTH * s if taken else SHRINK * s
            else:
                taken = value <= cap and np.isfinite(size)
                if not taken:
                    code = DIVERGED
            if taken:
                loss, norm = value, size
                for i in range(p):
                    theta[i], gradient[i] = trial[i], new[i]
        losses[row], norms[row], status[row] = loss, norm, code
        iterations[row] += iteration
