"""Newton-CG on ReLU losses with fixed outer weights, in compiled code; its slow twin is `polish.newton_cg`.

`_newton_step` is the compiled twin of `mathematics.solvers.conjugate_gradients`, with the products of this loss inside.

The same rules decide: a step is refused on negative curvature, when the gradient norm does not halve, or when the point
has moved by more than a quarter of its length; an end point at which a Lanczos run finds a negative eigenvalue is a
saddle. Hessian products are exact.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shallows.model.kernels._compiled.relu_hessian import HessianSpace, hessian_space, hessian_times, prepare
from shallows.model.kernels._compiled.relu_lanes import Teacher
from shallows.model.kernels._compiled.relu_loop import OneSpace, one_pass, one_space, teacher_rows
from shallows.questions.descent.thresholds import (
    CG_STEPS,
    EXHAUSTED,
    FARTHEST,
    FLAT,
    FORCING,
    HALVING,
    LANCZOS_STEPS,
    NEWTON_STEPS,
    SADDLE,
)  # fmt: skip
from shallows.support.checks import Array
from shallows.support.tolerances import TINY


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _dot(x: Array, y: Array) -> float:
    total = 0.0
    for p, q in zip(x.ravel(), y.ravel()):  # noqa: B905  (numba knows no strict)
        total += p * q
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _preconditioned(residual: Array, out: Array) -> None:
    """4(I − 11ᵀ/(k+1)) across the neurons."""
    k, n = residual.shape
    for m in range(n):
        mean = 0.0
        for i in range(k):
            mean += residual[i, m]
        mean /= k + 1
        for i in range(k):
            out[i, m] = 4 * (residual[i, m] - mean)


@njit(cache=True, nogil=True, error_model="numpy")
def _newton_step(
    W: Array, a: Array, gradient: Array, scale: float, teacher: Teacher, c: Array, one: OneSpace, space: HessianSpace,
    step: Array,
) -> bool:  # fmt: skip
    """Solve ∇²L·s ≈ −∇L by conjugate gradients; False when negative curvature was met."""
    prepare(W, a, teacher, c, one, space)
    norm = np.sqrt(_dot(gradient, gradient))
    forcing = min(FORCING, np.sqrt(norm / max(scale, TINY))) * norm
    residual, z, image = -gradient, np.empty_like(W), np.empty_like(W)
    step[:] = 0.0
    _preconditioned(residual, z)
    direction, product, steepest = z.copy(), _dot(residual, z), 0.0
    for _ in range(min(CG_STEPS, 2 * W.size + 10)):
        hessian_times(direction, W, a, teacher, one, space, image)
        square, curvature = _dot(direction, direction), _dot(direction, image)
        steepest = max(steepest, abs(curvature) / square)
        if curvature < -SADDLE * steepest * square:
            return False
        if curvature <= FLAT * steepest * square:
            return True
        length = product / curvature
        step += length * direction
        residual -= length * image
        if np.sqrt(_dot(residual, residual)) <= forcing:
            return True
        _preconditioned(residual, z)
        following = _dot(residual, z)
        direction *= following / product
        direction += z
        product = following
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _is_saddle(
    W: Array, a: Array, first: Array, teacher: Teacher, c: Array, one: OneSpace, space: HessianSpace
) -> bool:
    """Whether up to 30 Lanczos steps find an eigenvalue below −1e-6 of the largest one.

    The tridiagonal matrix T has one exactly when T + τI has a negative pivot. Copies of eigenvalues, which come with
    the loss of orthogonality, do no harm, so that three vectors are enough.
    """
    prepare(W, a, teacher, c, one, space)
    steps = min(LANCZOS_STEPS, W.size)
    diagonal, beside = np.zeros(steps), np.zeros(steps)
    q, last, image = first / np.sqrt(_dot(first, first)), np.zeros_like(W), np.empty_like(W)
    largest, length = 0.0, 0.0
    for j in range(steps):
        hessian_times(q, W, a, teacher, one, space, image)
        size = np.sqrt(_dot(image, image))
        diagonal[j] = _dot(q, image)
        image -= diagonal[j] * q + length * last
        length = np.sqrt(_dot(image, image))
        beside[j] = length
        largest = max(largest, size)
        if length <= EXHAUSTED * (1 + size):
            steps = j + 1
            break
        last, q = q, image / length
    return _has_negative_pivot(diagonal[:steps] + SADDLE * largest, beside)


@njit(cache=True, nogil=True, error_model="numpy")
def _has_negative_pivot(diagonal: Array, beside: Array) -> bool:
    """Whether the symmetric tridiagonal matrix is not positive semidefinite."""
    pivot = diagonal[0]
    for j in range(1, len(diagonal)):
        if pivot <= 0:
            return True
        pivot = diagonal[j] - beside[j - 1] * beside[j - 1] / pivot
    return bool(pivot < 0)


@njit(cache=True, nogil=True, error_model="numpy")
def newton_loop(
    thetas: Array, k: int, n: int, outer: Array, V: Array, b: Array, c: Array, energy: float, tolerance: float,
    scale: float, reachable: float, first: Array, losses: Array, norms: Array, saddles: np.ndarray,
) -> None:  # fmt: skip
    """Newton-CG from every row of `thetas`, in place; `saddles` tells for those that reached the tolerance."""
    teacher, one, space = teacher_rows(V, b), one_space(k, n, len(V)), hessian_space(k, n, len(V))
    slope, new, step, da = np.empty((k, n)), np.empty((k, n)), np.empty((k, n)), np.empty(k)
    for row in range(len(thetas)):
        start = thetas[row].copy().reshape(k, n)
        W = start.copy()
        loss, _ = one_pass(W, outer, teacher, c, one, slope, da)
        norm = np.sqrt(_dot(slope, slope))
        farthest = FARTHEST * np.sqrt(_dot(start, start))
        for _ in range(NEWTON_STEPS):
            if norm <= tolerance or not _newton_step(W, outer, slope, scale, teacher, c, one, space, step):
                break
            trial = W + step
            value, _ = one_pass(trial, outer, teacher, c, one, new, da)
            size, away = np.sqrt(_dot(new, new)), trial - start
            if not (size <= HALVING * norm and np.sqrt(_dot(away, away)) <= farthest):
                break
            W, loss, norm = trial, value, size
            slope, new = new, slope
        thetas[row] = W.ravel()
        losses[row], norms[row] = max(loss + energy, 0.0), norm
        close = norm <= max(tolerance, reachable)
        saddles[row] = close and _is_saddle(W, outer, first, teacher, c, one, space)
