"""The critical equations of Σ w_j^⊗d with 31 digits, for points far out, where their terms cancel.

Under a metric that is not generic, large neurons have a direction in which ⟨s, s⟩ and its derivatives nearly vanish,
so that G s − g is a small share of its terms: 10⁻⁷ of them at ‖w‖ = 200 and d = 3. The same happens when two neurons
nearly cancel. Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

from numba import types

from shallows.mathematics.homotopy._compiled.double_double import (
    add_number,
    add_product,
    rounded,
    scale,
    store,
)
from shallows.mathematics.homotopy._compiled.kinds import BOOL, COMPLEXES, FLOATS, INT, INTEGERS
from shallows.mathematics.homotopy._compiled.records import PLACES
from shallows.support.compiling import several, unit

#: Places to spare.
THREE = several(INT, INT, INT)


@unit(INT(FLOATS, INT, INT, INTEGERS, INT, INT, several(INT, INT, INT, INT)), rare=True)
def product_of_powers(
    numbers: Any, first: int, steps: int, program: Any, row: int, n: int, spare: Any
) -> int:
    """∏_x w_x^{I_x}, with what `spare` takes off the exponents I = program[row:]; the place of the result."""
    here, there, x1, x2 = spare
    store(numbers, here, 1.0 + 0.0j)
    for x in range(n):
        down = (1 if x == x1 else 0) + (1 if x == x2 else 0)
        store(numbers, there, 0.0j)
        add_product(numbers, there, here, first + PLACES * (x * steps + program[row + x] - down))
        here, there = there, here
    return int(here)


@unit(types.void(COMPLEXES, INTEGERS, FLOATS, THREE), rare=True)
def _students(point: Any, program: Any, numbers: Any, spare: Any) -> None:
    """Powers of all coordinates, s_I = Σ_j w_j^I and the slopes D = ∂s in all unknowns."""
    n, r, degree, size = program[0], program[1], program[2], program[3]
    unknowns, steps = n * r, degree + 1
    at_d = PLACES * unknowns * steps
    at_s = at_d + PLACES * (2 * unknowns * size + size * size)
    other, here, there = spare
    for v in range(unknowns):
        first = PLACES * v * steps
        store(numbers, first, 1.0 + 0.0j)
        for k in range(1, steps):
            store(numbers, other, point[v])
            store(numbers, first + PLACES * k, 0.0j)
            add_product(numbers, first + PLACES * k, first + PLACES * (k - 1), other)
    for i in range(size):
        row = 4 + i * n
        store(numbers, at_s + PLACES * i, 0.0j)
        for j in range(r):
            first = PLACES * j * n * steps
            found = product_of_powers(numbers, first, steps, program, row, n, (here, there, -1, -1))
            add_number(numbers, at_s + PLACES * i, found)
            for x in range(n):
                slope = at_d + PLACES * ((j * n + x) * size + i)
                store(numbers, slope, 0.0j)
                if program[row + x]:
                    found = product_of_powers(numbers, first, steps, program, row, n, (here, there, x, -1))
                    scale(numbers, found, 1.0 * program[row + x])
                    add_number(numbers, slope, found)


@unit(types.void(COMPLEXES, FLOATS, INT, INT, INT, several(INT, INT)), rare=True)
def gap(complexes: Any, numbers: Any, at_g: int, at_t: int, size: int, spare: Any) -> None:
    """e = G(t) s − g(t), its derivative in t, and G(t)."""
    square, other, here = size * size, spare[0], spare[1]
    lows = 2 * (square + size)
    at_s = at_g + PLACES * square
    for i in range(size):
        error, drift = at_s + PLACES * (size + i), at_s + PLACES * (2 * size + i)
        store(numbers, error, -complexes[2 * square + i])
        store(numbers, drift, -complexes[2 * square + size + i])
        add_product(numbers, error, at_t, drift)
        for k in range(size):
            entry = at_g + PLACES * (i * size + k)
            store(numbers, entry, complexes[i * size + k])
            store(numbers, other, complexes[lows + i * size + k])
            add_number(numbers, entry, other)
            store(numbers, here, complexes[lows + square + i * size + k])
            store(numbers, other, complexes[square + i * size + k])
            add_number(numbers, other, here)
            add_product(numbers, entry, other, at_t)
            add_product(numbers, error, entry, at_s + PLACES * k)
            add_product(numbers, drift, other, at_s + PLACES * k)


@unit(types.void(INTEGERS, FLOATS, INT, COMPLEXES, THREE), rare=True)
def _derivatives(program: Any, numbers: Any, at_e: int, jacobian: Any, spare: Any) -> None:
    """D G Dᵀ plus, on the diagonal blocks, Σ_I e_I ∂_x∂_y (w_j^I)."""
    n, r, degree, size = program[0], program[1], program[2], program[3]
    unknowns, steps = n * r, degree + 1
    at_d = PLACES * unknowns * steps
    at_dg = at_d + PLACES * unknowns * size
    at_g = at_dg + PLACES * unknowns * size
    total, here, there = spare
    for v in range(unknowns):
        for k in range(size):
            entry = at_dg + PLACES * (v * size + k)
            store(numbers, entry, 0.0j)
            for i in range(size):
                slope = at_d + PLACES * (v * size + i)
                add_product(numbers, entry, slope, at_g + PLACES * (i * size + k))
    for v in range(unknowns):
        for w in range(unknowns):
            j, x, y = v // n, v % n, w % n
            store(numbers, total, 0.0j)
            for i in range(size):
                add_product(numbers, total, at_dg + PLACES * (v * size + i), at_d + PLACES * (w * size + i))
                row = 4 + i * n
                cx, cy = program[row + x], program[row + y]
                factor = cx * (cx - 1) if x == y else cx * cy
                if w // n == j and factor:
                    first = PLACES * j * n * steps
                    found = product_of_powers(numbers, first, steps, program, row, n, (here, there, x, y))
                    scale(numbers, found, 1.0 * factor)
                    add_product(numbers, total, found, at_e + PLACES * i)
            jacobian[v * (unknowns + 1) + w] = rounded(numbers, total)


@unit(types.void(COMPLEXES, COMPLEXES, INTEGERS, FLOATS, COMPLEXES, COMPLEXES, BOOL), rare=True)
def sharp(
    point: Any, complexes: Any, program: Any, numbers: Any, value: Any, jacobian: Any, whole: bool
) -> None:
    """Value and t-derivative as in `powers`, and the Jacobian when `whole`; all rounded at the end.

    `numbers` holds powers (rn × (d+1)) | D (rn × N) | D G (rn × N) | G(t) | s | e | drift | t | four to spare.
    """
    unknowns, size = program[0] * program[1], program[3]
    at_d = PLACES * unknowns * (program[2] + 1)
    at_g = at_d + PLACES * 2 * unknowns * size
    at_e = at_g + PLACES * (size * size + size)
    at_drift, at_t = at_e + PLACES * size, at_e + 2 * PLACES * size
    total, other = at_t + PLACES, at_t + 2 * PLACES
    here, there = at_t + 3 * PLACES, at_t + 4 * PLACES
    store(numbers, at_t, point[unknowns])
    _students(point, program, numbers, (other, here, there))
    gap(complexes, numbers, at_g, at_t, size, (other, here))
    for v in range(unknowns):
        store(numbers, total, 0.0j)
        store(numbers, other, 0.0j)
        for i in range(size):
            slope = at_d + PLACES * (v * size + i)
            add_product(numbers, total, slope, at_e + PLACES * i)
            add_product(numbers, other, slope, at_drift + PLACES * i)
        value[v] = rounded(numbers, total)
        jacobian[v * (unknowns + 1) + unknowns] = rounded(numbers, other)
    if whole:
        _derivatives(program, numbers, at_e, jacobian, (total, here, there))
