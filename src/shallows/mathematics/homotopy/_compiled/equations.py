"""The square system of each mode (see `codes`) at a point, and Newton's method for it.

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from shallows.mathematics.homotopy._compiled.codes import AFFINE, PENCIL, PROJECTIVE
from shallows.mathematics.homotopy._compiled.linear import factor, solve
from shallows.support.tolerances import HUGE

#: Newton's steps must shrink by this factor: at a double root they halve, and that is no convergence.
CONVERGING = 0.3
#: A relative step at which Newton's method has converged: the next would be of the size 10⁻²².
CONVERGED_STEP = 1e-11
#: Where the residual is nothing but rounding, a larger step than this says that the condition number is above 10¹⁰ or
#: so (a step is about ε times it), and nothing is known about the point.
ROUNDING_STEP = 1e-5
#: Steps of a few ε do not improve a point.
LAST_STEP = 1e-15


class Equations(NamedTuple):
    """An evaluator with its constant data, the patch or pencil of its mode, and room for what is computed.

    `matrix`, `value` and `drift` get the Jacobian, the value and the t-derivative of the square system.
    """

    evaluate: Any
    complexes: Any
    reals: Any
    program: Any
    mode: int
    chart: Any
    point: Any
    buffer: Any
    work: Any
    scratch: Any
    matrix: Any
    value: Any
    drift: Any
    pivots: Any


@njit(nogil=True, error_model="numpy")
def assemble(equations: Any, x: Any, t: complex) -> None:
    """Value, Jacobian and t-derivative of the square system of this mode at (x, t)."""
    matrix, value, drift = equations.matrix, equations.value, equations.drift
    point, buffer, chart, mode = equations.point, equations.buffer, equations.chart, equations.mode
    size = x.shape[0]
    for j in range(size):
        point[j] = x[j]
    unknowns = size
    if mode == PENCIL:
        unknowns = size - 1
    else:
        point[unknowns] = t
    equations.evaluate(
        point.ctypes,
        equations.complexes.ctypes,
        equations.reals.ctypes,
        equations.program.ctypes,
        equations.work.ctypes,
        equations.scratch.ctypes,
        value.ctypes,
        buffer.ctypes,
    )
    width = unknowns + 1
    for i in range(size if mode == AFFINE else size - 1):
        for j in range(size):
            matrix[i, j] = buffer[i * width + j]
        drift[i] = buffer[i * width + unknowns] if mode != PENCIL else 0.0
    last = size - 1
    if mode == PROJECTIVE:
        total = -1.0 + 0.0j
        for j in range(size):
            matrix[last, j] = chart[j]
            total += chart[j] * x[j]
        value[last] = total
        drift[last] = 0.0
    elif mode == PENCIL:
        # chart: ℓ, ℓ₀, s at parameter 0, then their slopes, then c
        form, slope = chart[unknowns] + t * chart[2 * unknowns + 2], chart[2 * unknowns + 2]
        offset = x[last] - chart[2 * (unknowns + 2)]
        for j in range(unknowns):
            entry = chart[j] + t * chart[unknowns + 2 + j]
            form += entry * x[j]
            slope += chart[unknowns + 2 + j] * x[j]
            matrix[last, j] = offset * entry
        matrix[last, last] = form
        value[last] = offset * form - (chart[unknowns + 1] + t * chart[2 * unknowns + 3])
        drift[last] = offset * slope - chart[2 * unknowns + 3]


@njit(nogil=True, error_model="numpy")
def largest(vector: Any) -> float:
    """The maximum norm."""
    best = 0.0
    for j in range(vector.shape[0]):
        square = vector[j].real * vector[j].real + vector[j].imag * vector[j].imag
        if not (square <= best):  # also true for NaN
            best = square
    return float(np.sqrt(best))


@njit(nogil=True, error_model="numpy")
def length(vector: Any) -> float:
    """The squared Euclidean norm."""
    total = 0.0
    for j in range(vector.shape[0]):
        total += vector[j].real ** 2 + vector[j].imag ** 2
    return total


@njit(nogil=True, error_model="numpy")
def distance(x: Any, y: Any) -> float:
    """‖x − y‖ in the maximum norm."""
    gap = 0.0
    for j in range(x.shape[0]):
        gap = max(gap, abs(x[j] - y[j]))
    return gap


@njit(nogil=True, error_model="numpy")
def copy(source: Any, out: Any) -> None:
    """out[j] = source[j] for every j of `source`: slices cost the compiler seconds, this does not."""
    for j in range(source.shape[0]):
        out[j] = source[j]


@njit(nogil=True, error_model="numpy")
def newton_step(equations: Any, x: Any, t: complex) -> tuple[bool, float]:
    """Newton's step at (x, t) in `equations.value`, to be subtracted: whether there is one, and the residual."""
    assemble(equations, x, t)
    if not factor(equations.matrix, equations.pivots):
        return False, 0.0
    residual = largest(equations.value)
    solve(equations.matrix, equations.pivots, equations.value)
    return True, residual


@njit(nogil=True, error_model="numpy")
def polish(equations: Any, x: Any, t: complex, noise: float, most: int) -> float:
    """Newton at fixed t until the steps stop shrinking; the last relative step, or −1 when it diverges."""
    value = equations.value
    before = HUGE
    for _ in range(most):
        solved, residual = newton_step(equations, x, t)
        if not solved:
            return -1.0
        step = largest(value) / largest(x)
        if not (step < HUGE):
            return -1.0
        if step > CONVERGING * before:
            if step < CONVERGED_STEP or (residual < noise and step < ROUNDING_STEP):
                return step
            return -1.0
        for j in range(x.shape[0]):
            x[j] -= value[j]
        before = step
        if step < LAST_STEP:
            break
    return before
