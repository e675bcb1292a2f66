"""What the compiled evaluators of all critical equations have in common.

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

from numba import types

from shallows.mathematics.homotopy._compiled.kinds import COMPLEX, COMPLEXES, FLOAT, INT
from shallows.support.compiling import part, unit

#: The length of a neuron from which on rows are divided by a power of it over this one's: Newton steps and tangents
#: stay the same, and a residual that is nothing but rounding does not grow on the way to infinity.
FAR = 2.0


@part
def store_powers(number: Any, steps: int, work: Any, at: int) -> None:
    """1, z, z², … (`steps` of them) from `at` on."""
    power = 1.0 + 0.0j
    for k in range(steps):
        work[at + k] = power
        power = power * number


@part
def slope_of_monomial(
    lead: Any, work: Any, at: int, steps: int, program: Any, row: int, n: int, x: int
) -> Any:
    """`lead` times w^(I − 1ₓ), powers of w from `at` on and the exponents I in `program` from `row` on."""
    slope = lead * work[at + x * steps + program[row + x] - 1]
    for y in range(n):
        if y != x:
            slope = slope * work[at + y * steps + program[row + y]]
    return slope


@part
def add_curvature(
    total: Any,
    scale: Any,
    lead: Any,
    work: Any,
    at: int,
    steps: int,
    program: Any,
    row: int,
    n: int,
    x: int,
    y: int,
) -> Any:
    """`total` plus `scale` · `lead` · ∂ₓ∂_y w^I, the powers of w from `at` on."""
    cx, cy = program[row + x], program[row + y]
    factor = cx * (cx - 1) if x == y else cx * cy
    if factor == 0:
        return total
    term = scale * factor * lead
    for z in range(n):
        down = (1 if z == x else 0) + (1 if z == y else 0)
        term = term * work[at + z * steps + program[row + z] - down]
    return total + term


@unit(types.void(COMPLEXES, INT, INT, INT, INT, COMPLEXES, INT, INT))
def metric_products(
    work: Any, at_d: int, rows: int, size: int, at_g: int, result: Any, first: int, stride: int
) -> None:
    """D G, behind the rows of D in `work`, and D G Dᵀ, its rows `stride` apart from `first` on in `result`."""
    at_dg = at_d + rows * size
    for v in range(rows):
        for k in range(size):
            entry = 0.0 + 0.0j
            for i in range(size):
                entry += work[at_d + v * size + i] * work[at_g + i * size + k]
            work[at_dg + v * size + k] = entry
    for v in range(rows):
        for w in range(rows):
            total = 0.0 + 0.0j
            for k in range(size):
                total += work[at_dg + v * size + k] * work[at_d + w * size + k]
            result[first + v * stride + w] = total


@unit(types.void(COMPLEXES, INT, INT, INT, COMPLEXES, COMPLEXES))
def first_order(work: Any, at_d: int, unknowns: int, size: int, value: Any, jacobian: Any) -> None:
    """The value D e, its derivative in t, and D G Dᵀ; `work` holds D, room for D G, s, e, its drift and G(t)."""
    width = unknowns + 1
    at_e = at_d + 2 * unknowns * size + size
    at_drift, at_g = at_e + size, at_e + 2 * size
    for v in range(unknowns):
        total = 0.0 + 0.0j
        drift = 0.0 + 0.0j
        for i in range(size):
            total += work[at_d + v * size + i] * work[at_e + i]
            drift += work[at_d + v * size + i] * work[at_drift + i]
        value[v] = total
        jacobian[v * width + unknowns] = drift
    metric_products(work, at_d, unknowns, size, at_g, jacobian, 0, width)


@unit(FLOAT(COMPLEXES, INT))
def longest(point: Any, unknowns: int) -> float:
    """The largest |x|."""
    largest = 0.0
    for v in range(unknowns):
        largest = max(largest, abs(point[v]))
    return largest


@unit(types.void(COMPLEXES, COMPLEXES, INT, FLOAT))
def shrink_rows(value: Any, jacobian: Any, unknowns: int, shrink: float) -> None:
    """All equations, value and derivatives alike, times one number."""
    width = unknowns + 1
    for v in range(unknowns):
        value[v] = value[v] * shrink
        for w in range(width):
            jacobian[v * width + w] = jacobian[v * width + w] * shrink


@unit(types.void(COMPLEX, COMPLEXES, COMPLEXES, INT, INT))
def gap(t: complex, complexes: Any, work: Any, at_s: int, size: int) -> None:
    """e = G(t) s − g(t), its derivative in t, and G(t): behind each other in `work`, after s.

    `complexes` holds G and g at t = 0 and their slopes in t: G0, G1 (N×N), g0, g1.
    """
    square = size * size
    at_e, at_drift, at_g = at_s + size, at_s + 2 * size, at_s + 3 * size
    for i in range(size):
        total = -(complexes[2 * square + i] + t * complexes[2 * square + size + i])
        drift = -complexes[2 * square + size + i]
        for k in range(size):
            slope = complexes[square + i * size + k]
            entry = complexes[i * size + k] + t * slope
            work[at_g + i * size + k] = entry
            total += entry * work[at_s + k]
            drift += slope * work[at_s + k]
        work[at_e + i] = total
        work[at_drift + i] = drift
