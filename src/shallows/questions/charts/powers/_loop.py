"""The compiled evaluator of the critical equations of Σ w_j^⊗d, along a segment of (metric, target).

Importing this module imports numba: do it inside functions. The signature is that of `homotopy.evaluators`. Numbers lie
one after the other in `work`:

    powers (rn × (d+1)) | D (rn × N) | D G (rn × N) | s | e | drift | G(t)

and `program` holds n, r, d, N, then the exponents I_x, N×n.
"""

from __future__ import annotations

from typing import Any

from numba import types

from shallows.mathematics.homotopy._compiled.evaluators import SIGNATURE
from shallows.mathematics.homotopy._compiled.kinds import COMPLEXES, INT, INTEGERS
from shallows.questions.charts.continuation._loop import (
    FAR,
    add_curvature,
    first_order,
    gap,
    longest,
    shrink_rows,
    slope_of_monomial,
    store_powers,
)
from shallows.questions.charts.powers._sharp_loop import sharp
from shallows.questions.charts.powers.cancellation import CANCELLING, FARTHER, FARTHEST
from shallows.support.compiling import callback, unit


@unit(types.void(COMPLEXES, INTEGERS, COMPLEXES))
def _students(point: Any, program: Any, work: Any) -> None:
    """Powers of all coordinates, s_I = Σ_j w_j^I and the slopes D = ∂s in all unknowns."""
    n, r, degree, size = program[0], program[1], program[2], program[3]
    unknowns, steps = n * r, degree + 1
    at_d = unknowns * steps
    at_s = at_d + 2 * unknowns * size
    for v in range(unknowns):
        store_powers(point[v], steps, work, v * steps)
    for i in range(size):
        work[at_s + i] = 0.0
    for j in range(r):
        for i in range(size):
            exponents = 4 + i * n
            full = 1.0 + 0.0j
            for x in range(n):
                full = full * work[(j * n + x) * steps + program[exponents + x]]
            work[at_s + i] += full
            for x in range(n):
                count = program[exponents + x]
                if count == 0:
                    work[at_d + (j * n + x) * size + i] = 0.0
                    continue
                slope = slope_of_monomial(count, work, j * n * steps, steps, program, exponents, n, x)
                work[at_d + (j * n + x) * size + i] = slope


@unit(types.void(INTEGERS, COMPLEXES, INT, COMPLEXES))
def _add_second_order(program: Any, work: Any, at_e: int, jacobian: Any) -> None:
    """Add Σ_I e_I ∂_x∂_y (w_j^I) to the diagonal blocks of the Jacobian."""
    n, r, degree, size = program[0], program[1], program[2], program[3]
    steps, width = degree + 1, n * r + 1
    for j in range(r):
        for x in range(n):
            for y in range(n):
                total = 0.0 + 0.0j
                for i in range(size):
                    total = add_curvature(
                        total, 1, work[at_e + i], work, j * n * steps, steps, program, 4 + i * n, n, x, y
                    )
                jacobian[(j * n + x) * width + j * n + y] += total


@callback(SIGNATURE)
def powers(
    point: Any, complexes: Any, reals: Any, program: Any, work: Any, scratch: Any, value: Any, jacobian: Any
) -> None:
    """F_{i,x} = Σ_I e_I ∂_x (w_i^I), e = G(t) s − g(t), s_I = Σ_j w_j^I.

    `complexes` holds G and g at t = 0 and their slopes in t: G0, G1 (N×N), g0, g1, then what the entries of G0 and G1
    lack to be exact. The Jacobian is D G Dᵀ plus, on the diagonal blocks, Σ_I e_I ∂_x∂_y (w_i^I). Once a neuron is
    larger than FAR all rows, value and derivatives alike, are divided by its (2d−1)-st power over FAR's: Newton steps
    and tangents stay the same, and the residual that is nothing but rounding does not grow on the way to infinity.
    From CANCELLING on the value has 31 digits, and rounding is no concern before FARTHEST; from FARTHER on the Jacobian
    has them, too.
    """
    n, r, degree, size = program[0], program[1], program[2], program[3]
    unknowns = n * r
    at_d = unknowns * (degree + 1)
    at_s = at_d + 2 * unknowns * size
    _students(point, program, work)
    gap(point[unknowns], complexes, work, at_s, size)
    first_order(work, at_d, unknowns, size, value, jacobian)
    _add_second_order(program, work, at_s + size, jacobian)
    largest = longest(point, unknowns)
    if largest > CANCELLING:
        sharp(point, complexes, program, scratch, value, jacobian, largest > FARTHER)
    start = FARTHEST if largest > CANCELLING else FAR
    if largest > start:
        shrink_rows(value, jacobian, unknowns, (start / largest) ** (2 * degree - 1))
