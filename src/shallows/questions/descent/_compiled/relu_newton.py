"""Newton-CG on ReLU losses with fixed outer weights, in compiled code; its slow twin is `polish.newton_cg`.

`_newton_step` is the compiled twin of `mathematics.solvers.conjugate_gradients`, with the products of this loss inside.

The same rules decide: a step is refused on negative curvature, when the gradient norm does not halve, or when the point
has moved by more than a quarter of its length; an end point at which a Lanczos run finds a negative eigenvalue is a
saddle. Hessian products are exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shallows.model.kernels._compiled.kinds import BOOL, FLOAT, FLOATS, INT, MATRIX, VECTOR, VOID
from shallows.model.kernels._compiled.relu_hessian import (
    HESSIAN_SPACE,
    hessian_at,
    hessian_space,
    hessian_times,
    prepare,
)
from shallows.model.kernels._compiled.relu_loop import ONE_SPACE, one_at, one_pass, one_space
from shallows.model.kernels._compiled.relu_model import MODEL, model_at
from shallows.model.kernels._compiled.vectors import inner, moved, scaled
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
from shallows.support.compiling import behind, entry, pointer, unit
from shallows.support.in_memory import Held, Room, at, in_memory
from shallows.support.tolerances import TINY


class NewtonSpace(NamedTuple):
    """The point, the next one, their slopes and the step between them; four vectors of
    conjugate gradients, three of them Lanczos', and the tridiagonal matrix of the latter."""

    W: Array
    trial: Array
    slope: Array
    new: Array
    da: Array
    step: Array
    residual: Array
    z: Array
    image: Array
    direction: Array
    diagonal: Array
    beside: Array


NEWTON_SPACE = in_memory(NewtonSpace, *(FLOATS,) * 12)
newton_at = at(NEWTON_SPACE)


@unit(VOID(INT, INT, FLOATS, FLOATS))
def _preconditioned(k: int, n: int, residual: Any, out: Any) -> None:
    """4(I − 11ᵀ/(k+1)) across the neurons."""
    for m in range(n):
        mean = 0.0
        for i in range(k):
            mean += residual[i * n + m]
        mean /= k + 1
        for i in range(k):
            out[i * n + m] = 4 * (residual[i * n + m] - mean)


@unit(BOOL(MODEL, ONE_SPACE, HESSIAN_SPACE, NEWTON_SPACE, FLOATS, FLOATS, FLOAT), rare=True)
def _newton_step(model: Any, one: Any, space: Any, newton: Any, W: Any, gradient: Any, scale: float) -> bool:
    """Solve ∇²L·s ≈ −∇L by conjugate gradients; False when negative curvature was met."""
    k, n, a, size, step = model.k, model.n, model.outer, model.k * model.n, newton.step
    residual, z, image, direction = newton.residual, newton.z, newton.image, newton.direction
    prepare(model, one, space, W, a)
    norm = np.sqrt(inner(gradient, gradient, size))
    forcing = min(FORCING, np.sqrt(norm / max(scale, TINY))) * norm
    scaled(gradient, -1.0, residual, size)
    scaled(gradient, 0.0, step, size)
    _preconditioned(k, n, residual, z)
    scaled(z, 1.0, direction, size)
    product, steepest = inner(residual, z, size), 0.0
    for _ in range(min(CG_STEPS, 2 * size + 10)):
        hessian_times(model, one, space, W, a, direction, image)
        square, curvature = inner(direction, direction, size), inner(direction, image, size)
        steepest = max(steepest, abs(curvature) / square)
        if curvature < -SADDLE * steepest * square:
            return False
        if curvature <= FLAT * steepest * square:
            return True
        length = product / curvature
        moved(step, length, direction, step, size)
        moved(residual, -length, image, residual, size)
        if np.sqrt(inner(residual, residual, size)) <= forcing:
            return True
        _preconditioned(k, n, residual, z)
        following = inner(residual, z, size)
        moved(z, following / product, direction, direction, size)
        product = following
    return True


@unit(BOOL(MODEL, ONE_SPACE, HESSIAN_SPACE, NEWTON_SPACE, FLOATS, FLOATS), rare=True)
def _is_saddle(model: Any, one: Any, space: Any, newton: Any, W: Any, first: Any) -> bool:
    """Whether up to 30 Lanczos steps from `first` find an eigenvalue below −1e-6 of the largest one.

    The tridiagonal matrix T has one exactly when T + τI has a negative pivot. Copies of eigenvalues, which come with
    the loss of orthogonality, do no harm, so that three vectors are enough.
    """
    a, size, diagonal, beside = model.outer, model.k * model.n, newton.diagonal, newton.beside
    q, last, image = newton.residual, newton.z, newton.image
    prepare(model, one, space, W, a)
    steps = min(LANCZOS_STEPS, size)
    scaled(first, 1.0 / np.sqrt(inner(first, first, size)), q, size)
    for i in range(size):
        last[i] = 0.0
    largest, length = 0.0, 0.0
    for j in range(steps):
        hessian_times(model, one, space, W, a, q, image)
        extent, along = np.sqrt(inner(image, image, size)), inner(q, image, size)
        moved(image, -along, q, image, size)
        moved(image, -length, last, image, size)
        length = np.sqrt(inner(image, image, size))
        diagonal[j], beside[j] = along, length
        largest = max(largest, extent)
        if length <= EXHAUSTED * (1 + extent):
            steps = j + 1
            break
        last, q, image = q, image, last
        scaled(q, 1.0 / length, q, size)
    for j in range(steps):
        diagonal[j] += SADDLE * largest
    return bool(_has_negative_pivot(diagonal, beside, steps))


@unit(BOOL(FLOATS, FLOATS, INT), rare=True)
def _has_negative_pivot(diagonal: Any, beside: Any, size: int) -> bool:
    """Whether the symmetric tridiagonal matrix of this size is not positive semidefinite."""
    pivot = diagonal[0]
    for j in range(1, size):
        if pivot <= 0:
            return True
        pivot = diagonal[j] - beside[j - 1] * beside[j - 1] / pivot
    return bool(pivot < 0)


@unit(FLOAT(FLOATS, FLOATS, FLOATS, INT))
def _distance(x: Any, y: Any, room: Any, size: int) -> float:
    """‖x − y‖."""
    moved(x, -1.0, y, room, size)
    return float(np.sqrt(inner(room, room, size)))


@entry(VOID(INT, INT, INT, INT, FLOAT, FLOAT, FLOAT, MATRIX, MATRIX, VECTOR, VECTOR, BOOL[::1]), rare=True)
def refine(
    model_place: int, one_place: int, space_place: int, newton_place: int, tolerance: float, scale: float,
    reachable: float, first: Any, thetas: Any, losses: Any, norms: Any, saddles: Any,
) -> None:  # fmt: skip
    """Newton-CG from every row of `thetas`, in place; `saddles` tells for those that reached the tolerance."""
    model, one, space = model_at(model_place), one_at(one_place), hessian_at(space_place)
    newton = newton_at(newton_place)
    size, outer, da = model.k * model.n, model.outer, newton.da
    W, trial, slope, new = newton.W, newton.trial, newton.slope, newton.new
    for row in range(len(losses)):
        start = behind(pointer(thetas), row * size)
        scaled(start, 1.0, W, size)
        loss, _ = one_pass(model, one, W, outer, slope, da)
        norm = np.sqrt(inner(slope, slope, size))
        farthest = FARTHEST * np.sqrt(inner(W, W, size))
        for _ in range(NEWTON_STEPS):
            if norm <= tolerance or not _newton_step(model, one, space, newton, W, slope, scale):
                break
            moved(W, 1.0, newton.step, trial, size)
            value, _ = one_pass(model, one, trial, outer, new, da)
            extent = np.sqrt(inner(new, new, size))
            if not (extent <= HALVING * norm and _distance(trial, start, newton.image, size) <= farthest):
                break
            W, trial, loss, norm = trial, W, value, extent
            slope, new = new, slope
        scaled(W, 1.0, start, size)
        losses[row], norms[row] = max(loss + model.energy, 0.0), norm
        close = norm <= max(tolerance, reachable)
        saddles[row] = close and _is_saddle(model, one, space, newton, W, pointer(first))


def newton_loop(
    model: Held, thetas: Array, tolerance: float, scale: float, reachable: float, first: Array, losses: Array,
    norms: Array, saddles: np.ndarray,
) -> None:  # fmt: skip
    """Newton-CG from every row of `thetas`, in place; `saddles` tells for those that reached the tolerance."""
    k, n, m = model.values.k, model.values.n, model.values.m
    newton = Room(NEWTON_SPACE, *(k * n,) * 10, LANCZOS_STEPS, LANCZOS_STEPS)
    one, space = one_space(k, n, m), hessian_space(k, n, m)
    places = (each.address for each in (model, one, space, newton))
    refine(*places, tolerance, scale, reachable, first, thetas, losses, norms, saddles)
