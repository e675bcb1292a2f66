"""Newton-CG on ReLU losses with fixed outer weights, in compiled code; its slow twin is `polish.newton_cg`.

`_newton_step` is the compiled twin of `mathematics.solvers.conjugate_gradients`, with the products of this loss inside.

The same rules decide: a step is refused on negative curvature, when the gradient norm does not halve, or when the point
has moved by more than a quarter of its length; an end point at which a Lanczos run finds a negative eigenvalue is a
saddle. Hessian products are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.model.kernels._compiled.kinds import BOOL, FIXED_ROWS, FLOAT, FLOATS, INT, MATRIX, VECTOR, VOID
from shallows.model.kernels._compiled.relu_hessian import (
    HESSIAN_ARRAYS,
    HESSIAN_SPACE,
    HessianSpace,
    hessian_in,
    hessian_space,
    hessian_times,
    prepare,
)
from shallows.model.kernels._compiled.relu_loop import (
    ONE_ARRAYS,
    ONE_SPACE,
    OneSpace,
    one_in,
    one_pass,
    one_space,
    teacher_rows,
)
from shallows.questions.descent._compiled.relu_fixed_step import MODEL, MODEL_ARRAYS, ReLUModel, model_in
from shallows.questions.descent._compiled.relu_line_search import dot
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
from shallows.support.compiling import entry, pointer, unit
from shallows.support.tolerances import TINY


@unit(FLOAT(MATRIX, MATRIX))
def _dot(x: Array, y: Array) -> float:
    """⟨x, y⟩."""
    return float(dot(pointer(x), pointer(y), x.size))


@unit(VOID(FLOATS, FLOAT, FLOATS, INT))
def _add(x: Any, factor: float, y: Any, count: int) -> None:
    """y ← y + factor·x."""
    for i in range(count):
        y[i] += factor * x[i]


@unit(VOID(FLOATS, FLOAT, FLOATS, INT))
def _scaled(x: Any, factor: float, y: Any, count: int) -> None:
    """y ← factor·x."""
    for i in range(count):
        y[i] = factor * x[i]


@unit(VOID(MATRIX, MATRIX))
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


@unit(BOOL(MATRIX, MATRIX, FLOAT, MODEL, ONE_SPACE, HESSIAN_SPACE, MATRIX))
def _newton_step(
    W: Array, gradient: Array, scale: float, model: ReLUModel, one: OneSpace, space: HessianSpace, step: Array
) -> bool:
    """Solve ∇²L·s ≈ −∇L by conjugate gradients; False when negative curvature was met."""
    a, teacher, size = model.outer, model.teacher, W.size
    prepare(W, a, teacher, model.c, one, space)
    norm = np.sqrt(_dot(gradient, gradient))
    forcing = min(FORCING, np.sqrt(norm / max(scale, TINY))) * norm
    residual, z = np.empty(W.shape), np.empty(W.shape)
    image, direction = np.empty(W.shape), np.empty(W.shape)
    _scaled(pointer(gradient), -1.0, pointer(residual), size)
    _scaled(pointer(gradient), 0.0, pointer(step), size)
    _preconditioned(residual, z)
    _scaled(pointer(z), 1.0, pointer(direction), size)
    product, steepest = _dot(residual, z), 0.0
    for _ in range(min(CG_STEPS, 2 * size + 10)):
        hessian_times(direction, W, a, teacher, one, space, image)
        square, curvature = _dot(direction, direction), _dot(direction, image)
        steepest = max(steepest, abs(curvature) / square)
        if curvature < -SADDLE * steepest * square:
            return False
        if curvature <= FLAT * steepest * square:
            return True
        length = product / curvature
        _add(pointer(direction), length, pointer(step), size)
        _add(pointer(image), -length, pointer(residual), size)
        if np.sqrt(_dot(residual, residual)) <= forcing:
            return True
        _preconditioned(residual, z)
        following = _dot(residual, z)
        _scaled(pointer(direction), following / product, pointer(direction), size)
        _add(pointer(z), 1.0, pointer(direction), size)
        product = following
    return True


@unit(BOOL(MATRIX, FIXED_ROWS, MODEL, ONE_SPACE, HESSIAN_SPACE))
def _is_saddle(W: Array, first: Array, model: ReLUModel, one: OneSpace, space: HessianSpace) -> bool:
    """Whether up to 30 Lanczos steps find an eigenvalue below −1e-6 of the largest one.

    The tridiagonal matrix T has one exactly when T + τI has a negative pivot. Copies of eigenvalues, which come with
    the loss of orthogonality, do no harm, so that three vectors are enough.
    """
    a, teacher, size = model.outer, model.teacher, W.size
    prepare(W, a, teacher, model.c, one, space)
    steps = min(LANCZOS_STEPS, size)
    diagonal, beside = np.zeros(steps), np.zeros(steps)
    q, last, image = np.empty(W.shape), np.zeros(W.shape), np.empty(W.shape)
    norm = np.sqrt(dot(pointer(first), pointer(first), size))
    _scaled(pointer(first), 1.0 / norm, pointer(q), size)
    largest, length = 0.0, 0.0
    for j in range(steps):
        hessian_times(q, W, a, teacher, one, space, image)
        extent = np.sqrt(_dot(image, image))
        diagonal[j] = _dot(q, image)
        _add(pointer(q), -diagonal[j], pointer(image), size)
        _add(pointer(last), -length, pointer(image), size)
        length = np.sqrt(_dot(image, image))
        beside[j] = length
        largest = max(largest, extent)
        if length <= EXHAUSTED * (1 + extent):
            steps = j + 1
            break
        last, q, image = q, image, last
        _scaled(pointer(q), 1.0 / length, pointer(q), size)
    for j in range(steps):
        diagonal[j] += SADDLE * largest
    return bool(_has_negative_pivot(diagonal, beside, steps))


@entry(BOOL(VECTOR, VECTOR, INT))
def _has_negative_pivot(diagonal: Array, beside: Array, size: int) -> bool:
    """Whether the symmetric tridiagonal matrix of this size is not positive semidefinite."""
    pivot = diagonal[0]
    for j in range(1, size):
        if pivot <= 0:
            return True
        pivot = diagonal[j] - beside[j - 1] * beside[j - 1] / pivot
    return bool(pivot < 0)


@entry(
    VOID(
        MATRIX,
        MODEL_ARRAYS,
        FLOAT,
        FLOAT,
        FLOAT,
        FIXED_ROWS,
        VECTOR,
        VECTOR,
        BOOL[::1],
        ONE_ARRAYS,
        HESSIAN_ARRAYS,
    )
)
def refine(
    thetas: Array, model_arrays: Any, tolerance: float, scale: float, reachable: float, first: Array, losses: Array,
    norms: Array, saddles: np.ndarray, one_arrays: Any, hessian_arrays: Any,
) -> None:  # fmt: skip
    """Newton-CG from every row of `thetas`, in place; `saddles` tells for those that reached the tolerance."""
    model, one, space = model_in(model_arrays), one_in(one_arrays), hessian_in(hessian_arrays)
    k, n, size, outer = model.k, model.n, model.k * model.n, model.outer
    slope, new, step, da = np.empty((k, n)), np.empty((k, n)), np.empty((k, n)), np.empty(k)
    W, trial, away = np.empty((k, n)), np.empty((k, n)), np.empty((k, n))
    for row in range(len(thetas)):
        start = thetas[row]
        _scaled(pointer(start), 1.0, pointer(W), size)
        loss, _ = one_pass(W, outer, model.teacher, model.c, one, slope, da)
        norm = np.sqrt(_dot(slope, slope))
        farthest = FARTHEST * np.sqrt(_dot(W, W))
        for _ in range(NEWTON_STEPS):
            if norm <= tolerance or not _newton_step(W, slope, scale, model, one, space, step):
                break
            _scaled(pointer(W), 1.0, pointer(trial), size)
            _add(pointer(step), 1.0, pointer(trial), size)
            value, _ = one_pass(trial, outer, model.teacher, model.c, one, new, da)
            _scaled(pointer(trial), 1.0, pointer(away), size)
            _add(pointer(start), -1.0, pointer(away), size)
            extent = np.sqrt(_dot(new, new))
            if not (extent <= HALVING * norm and np.sqrt(_dot(away, away)) <= farthest):
                break
            W, trial, loss, norm = trial, W, value, extent
            slope, new = new, slope
        _scaled(pointer(W), 1.0, pointer(start), size)
        losses[row], norms[row] = max(loss + model.energy, 0.0), norm
        close = norm <= max(tolerance, reachable)
        saddles[row] = close and _is_saddle(W, first, model, one, space)


def newton_loop(
    thetas: Array, k: int, n: int, outer: Array, V: Array, b: Array, c: Array, energy: float, tolerance: float,
    scale: float, reachable: float, first: Array, losses: Array, norms: Array, saddles: np.ndarray,
) -> None:  # fmt: skip
    """Newton-CG from every row of `thetas`, in place; `saddles` tells for those that reached the tolerance."""
    model, m = (k, n, outer, False, teacher_rows(V, b), c, energy), len(V)
    spaces = one_space(k, n, m), hessian_space(k, n, m)
    refine(thetas, model, tolerance, scale, reachable, first, losses, norms, saddles, *spaces)
