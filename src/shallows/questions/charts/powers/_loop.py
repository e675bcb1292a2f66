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
from shallows.questions.charts.continuation._loop import gap
from shallows.questions.charts.powers._sharp_loop import sharp
from shallows.support.compiling import callback, unit

#: Lengths of the longest neuron from which on rows are scaled; the value has 31 digits; the Jacobian has them too; and
#: rows are scaled again. Terms cancel to a share of about ‖w‖⁻ᵈ (`_sharp_loop`): at d = 3 doubles lose three digits of
#: the value at 8, and seven at 200, where Newton steps suffer too.
FAR, CANCELLING, FARTHER, FARTHEST = 2.0, 8.0, 200.0, 2e3


@unit(types.void(COMPLEXES, INTEGERS, COMPLEXES))
def _students(point: Any, program: Any, work: Any) -> None:
    """Powers of all coordinates, s_I = Σ_j w_j^I and the slopes D = ∂s in all unknowns."""
    n, r, degree, size = program[0], program[1], program[2], program[3]
    unknowns, steps = n * r, degree + 1
    at_d = unknowns * steps
    at_s = at_d + 2 * unknowns * size
    for v in range(unknowns):
        power = 1.0 + 0.0j
        for k in range(steps):
            work[v * steps + k] = power
            power = power * point[v]
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
                slope = count * work[(j * n + x) * steps + count - 1]
                for y in range(n):
                    if y != x:
                        slope = slope * work[(j * n + y) * steps + program[exponents + y]]
                work[at_d + (j * n + x) * size + i] = slope


@unit(types.void(COMPLEXES, INT, INT, INT, COMPLEXES, COMPLEXES))
def first_order(work: Any, at_d: int, unknowns: int, size: int, value: Any, jacobian: Any) -> None:
    """The value D e, its derivative in t, and D G Dᵀ."""
    width = unknowns + 1
    at_dg = at_d + unknowns * size
    at_e = at_dg + unknowns * size + size
    at_drift, at_g = at_e + size, at_e + 2 * size
    for v in range(unknowns):
        total = 0.0 + 0.0j
        drift = 0.0 + 0.0j
        for i in range(size):
            total += work[at_d + v * size + i] * work[at_e + i]
            drift += work[at_d + v * size + i] * work[at_drift + i]
        value[v] = total
        jacobian[v * width + unknowns] = drift
        for k in range(size):
            entry = 0.0 + 0.0j
            for i in range(size):
                entry += work[at_d + v * size + i] * work[at_g + i * size + k]
            work[at_dg + v * size + k] = entry
    for v in range(unknowns):
        for w in range(unknowns):
            total = 0.0 + 0.0j
            for k in range(size):
                total += work[at_dg + v * size + k] * work[at_d + w * size + k]
            jacobian[v * width + w] = total


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
                    exponents = 4 + i * n
                    cx, cy = program[exponents + x], program[exponents + y]
                    factor = cx * (cx - 1) if x == y else cx * cy
                    if factor == 0:
                        continue
                    term = factor * work[at_e + i]
                    for z in range(n):
                        down = (1 if z == x else 0) + (1 if z == y else 0)
                        term = term * work[(j * n + z) * steps + program[exponents + z] - down]
                    total += term
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
    width = unknowns + 1
    at_d = unknowns * (degree + 1)
    at_s = at_d + 2 * unknowns * size
    _students(point, program, work)
    gap(point[unknowns], complexes, work, at_s, size)
    first_order(work, at_d, unknowns, size, value, jacobian)
    _add_second_order(program, work, at_s + size, jacobian)
    largest = 0.0
    for v in range(unknowns):
        largest = max(largest, abs(point[v]))
    if largest > CANCELLING:
        sharp(point, complexes, program, scratch, value, jacobian, largest > FARTHER)
    start = FARTHEST if largest > CANCELLING else FAR
    if largest > start:
        shrink = (start / largest) ** (2 * degree - 1)
        for v in range(unknowns):
            value[v] = value[v] * shrink
            for w in range(width):
                jacobian[v * width + w] = jacobian[v * width + w] * shrink
