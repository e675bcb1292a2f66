"""The square system of each mode (see `codes`) at a point, and Newton's method for it.

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.mathematics.homotopy._compiled.codes import AFFINE, PENCIL, PROJECTIVE
from shallows.mathematics.homotopy._compiled.evaluators import evaluate_at
from shallows.mathematics.homotopy._compiled.kinds import (
    ANSWER,
    BOOL,
    COMPLEX,
    COMPLEXES,
    EQUATIONS,
    FLOAT,
    INT,
    VOID,
)
from shallows.mathematics.homotopy._compiled.linear import factor, solve
from shallows.support.compiling import unit
from shallows.support.tolerances import EPSILON, HUGE

#: Newton's steps must shrink by this factor: at a double root they halve, and that is no convergence.
CONVERGING = 0.3
#: A relative step at which Newton's method has converged: the next would be of the size 10⁻²².
CONVERGED_STEP = 1e-11
#: Where the residual is nothing but rounding, a larger step than this says that the condition number is above 10¹⁰ or
#: so (a step is about ε times it), and nothing is known about the point.
ROUNDING_STEP = 1e-5
#: Residuals that are rounding, in ε times Σⱼ |∂fᵢ/∂xⱼ| |xⱼ|: the point's own rounding is 1, the others those of terms.
ROUNDINGS = 16
#: Steps of a few ε do not improve a point.
LAST_STEP = 1e-15


@unit(VOID(EQUATIONS, COMPLEXES, COMPLEX), rare=True)
def _last_row_of_pencil(equations: Any, x: Any, t: complex) -> None:
    """(s − c)(ℓ + ℓ₀) − its value; chart: ℓ, ℓ₀, s at parameter 0, then their slopes, then c."""
    matrix, value, drift, chart = equations.matrix, equations.value, equations.drift, equations.chart
    last = equations.size - 1
    row = last * equations.size
    form, slope = chart[last] + t * chart[2 * last + 2], chart[2 * last + 2]
    offset = x[last] - chart[2 * (last + 2)]
    for j in range(last):
        entry = chart[j] + t * chart[last + 2 + j]
        form += entry * x[j]
        slope += chart[last + 2 + j] * x[j]
        matrix[row + j] = offset * entry
    matrix[row + last] = form
    value[last] = offset * form - (chart[last + 1] + t * chart[2 * last + 3])
    drift[last] = offset * slope - chart[2 * last + 3]


@unit(VOID(EQUATIONS, COMPLEXES, COMPLEX))
def assemble(equations: Any, x: Any, t: complex) -> None:
    """Value, Jacobian and t-derivative of the square system of this mode at (x, t)."""
    matrix, value, drift = equations.matrix, equations.value, equations.drift
    point, buffer, chart, mode = equations.point, equations.buffer, equations.chart, equations.mode
    size = equations.size
    copy(x, point, size)
    unknowns = size
    if mode == PENCIL:
        unknowns = size - 1
    else:
        point[unknowns] = t
    evaluate_at(
        equations.evaluate,
        point,
        equations.complexes,
        equations.reals,
        equations.program,
        equations.work,
        equations.scratch,
        value,
        buffer,
    )
    width = unknowns + 1
    for i in range(size if mode == AFFINE else size - 1):
        for j in range(size):
            matrix[i * size + j] = buffer[i * width + j]
        drift[i] = buffer[i * width + unknowns] if mode != PENCIL else 0.0j
    last = size - 1
    row = last * size
    if mode == PROJECTIVE:
        total = -1.0 + 0.0j
        for j in range(size):
            matrix[row + j] = chart[j]
            total += chart[j] * x[j]
        value[last] = total
        drift[last] = 0.0j
    elif mode == PENCIL:
        _last_row_of_pencil(equations, x, t)


@unit(FLOAT(COMPLEXES, INT))
def largest(vector: Any, size: int) -> float:
    """The maximum norm."""
    best = 0.0
    for j in range(size):
        square = vector[j].real * vector[j].real + vector[j].imag * vector[j].imag
        if not (square <= best):  # also true for NaN
            best = square
    return float(np.sqrt(best))


@unit(FLOAT(COMPLEXES, COMPLEXES, INT, FLOAT, FLOAT))
def relative(step: Any, x: Any, size: int, scale: float, floor: float) -> float:
    """The largest |stepⱼ| / max(|xⱼ|, floor·scale): steps in small coordinates count too."""
    if floor >= 1.0:
        return float(largest(step, size) / scale)
    best = 0.0
    least = (floor * scale) ** 2
    for j in range(size):
        own = max(x[j].real * x[j].real + x[j].imag * x[j].imag, least)
        square = (step[j].real * step[j].real + step[j].imag * step[j].imag) / own
        if not (square <= best):  # also true for NaN
            best = square
    return float(np.sqrt(best))


@unit(FLOAT(COMPLEXES, INT))
def length(vector: Any, size: int) -> float:
    """The squared Euclidean norm."""
    total = 0.0
    for j in range(size):
        total += vector[j].real ** 2 + vector[j].imag ** 2
    return total


@unit(FLOAT(COMPLEXES, COMPLEXES, INT))
def distance(x: Any, y: Any, size: int) -> float:
    """‖x − y‖ in the maximum norm."""
    gap = 0.0
    for j in range(size):
        gap = max(gap, abs(x[j] - y[j]))
    return gap


@unit(VOID(COMPLEXES, COMPLEXES, INT))
def copy(source: Any, out: Any, size: int) -> None:
    """out[j] = source[j]."""
    for j in range(size):
        out[j] = source[j]


@unit(ANSWER(EQUATIONS, COMPLEXES, COMPLEX))
def newton_step(equations: Any, x: Any, t: complex) -> tuple[bool, float]:
    """Newton's step at (x, t) in `equations.value`, to be subtracted: whether there is one, and the residual."""
    assemble(equations, x, t)
    residual = largest(equations.value, equations.size)
    solved = factor(equations.matrix, equations.pivots, equations.size)
    if solved:
        solve(equations.matrix, equations.pivots, equations.value, equations.size)
    return solved, residual


@unit(BOOL(EQUATIONS, COMPLEXES, COMPLEX), rare=True)
def only_rounding(equations: Any, x: Any, t: complex) -> bool:
    """Whether all that is left of each equation at (x, t) is the rounding of its terms; the Jacobian there is factored.

    Σⱼ |∂fᵢ/∂xⱼ| |xⱼ| is taken for the size of the terms of an equation: it is what the rounding of the point changes.
    """
    assemble(equations, x, t)
    matrix, value, size = equations.matrix, equations.value, equations.size
    rounding = True
    for i in range(size):
        total = 0.0
        for j in range(size):
            total += abs(matrix[i * size + j]) * abs(x[j])
        rounding &= abs(value[i]) <= ROUNDINGS * EPSILON * total
    return bool(factor(matrix, equations.pivots, size) and rounding)


@unit(FLOAT(EQUATIONS, COMPLEXES, COMPLEX, FLOAT, INT))
def polish(equations: Any, x: Any, t: complex, noise: float, most: int) -> float:
    """Newton at fixed t until the steps stop shrinking; the last relative step, or −1 when it diverges."""
    value, size = equations.value, equations.size
    before = HUGE
    for _ in range(most):
        solved, residual = newton_step(equations, x, t)
        if not solved:
            return -1.0
        step = largest(value, size) / largest(x, size)
        if not (step < HUGE):
            return -1.0
        if step > CONVERGING * before:
            if step < CONVERGED_STEP or (residual < noise and step < ROUNDING_STEP):
                return float(step)
            return -1.0
        for j in range(size):
            x[j] -= value[j]
        before = step
        if step < LAST_STEP:
            break
    return float(before)
