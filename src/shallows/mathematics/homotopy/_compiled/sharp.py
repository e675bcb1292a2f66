"""The evaluator of sparse systems in double-double arithmetic: values and derivatives that cancel keep their digits.

Points and results are doubles, everything between them has about 31 digits. Coefficients are affine in t and come in
two doubles a part. Layout and program are those of `evaluators.sparse`, without parameters. Importing this module
imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

from shallows.mathematics.homotopy._compiled.double_double import (
    add_product,
    rounded,
    scale,
    store,
)
from shallows.mathematics.homotopy._compiled.evaluators import SIGNATURE
from shallows.mathematics.homotopy._compiled.kinds import COMPLEX, COMPLEXES, FLOATS, INT, INTEGERS, VOID
from shallows.mathematics.homotopy._compiled.records import PLACES
from shallows.support.compiling import callback, unit

#: Numbers that a term and a sum need beside the tables: t, two of the term, two sums, and a product.
SPARE = 6


@unit(VOID(FLOATS, INT, INT, INT))
def set_product(numbers: Any, out: int, a: int, b: int) -> None:
    """numbers[out] = numbers[a] · numbers[b]; `out` is another place than both."""
    store(numbers, out, 0.0j)
    add_product(numbers, out, a, b)


@unit(VOID(FLOATS, INT, INT))
def move(numbers: Any, out: int, a: int) -> None:
    """numbers[out] = numbers[a]."""
    for k in range(PLACES):
        numbers[out + k] = numbers[a + k]


@unit(VOID(FLOATS, INT, COMPLEX, COMPLEX))
def store_pair(numbers: Any, out: int, high: complex, low: complex) -> None:
    """numbers[out] = high + low."""
    numbers[out], numbers[out + 1], numbers[out + 2], numbers[out + 3] = (
        high.real,
        low.real,
        high.imag,
        low.imag,
    )


@unit(INT(COMPLEXES, INTEGERS, FLOATS))
def sharp_monomials(point: Any, program: Any, numbers: Any) -> int:
    """The tables of `evaluators.monomials` in double-double: where the monomials begin, counted in numbers."""
    unknowns, count = program[1], program[3]
    at_degree, at_pointer, at_symbol, at_exponent = program[4], program[5], program[6], program[7]
    here, there = PLACES * (SPARE - 1), PLACES * (SPARE - 2)
    offset = SPARE
    for symbol in range(unknowns):
        store(numbers, here, point[symbol])
        store(numbers, PLACES * offset, 1.0 + 0.0j)
        for k in range(program[at_degree + symbol]):
            set_product(numbers, PLACES * (offset + k + 1), PLACES * (offset + k), here)
        offset += program[at_degree + symbol] + 1
    at_derivatives = offset + count
    for k in range(count):
        first, last = program[at_pointer + k], program[at_pointer + k + 1]
        value = PLACES * (offset + k)
        store(numbers, value, 1.0 + 0.0j)
        for f in range(first, last):
            base, exponent = SPARE + program[at_symbol + f], program[at_exponent + f]
            set_product(numbers, PLACES * (at_derivatives + f), value, PLACES * (base + exponent - 1))
            scale(numbers, PLACES * (at_derivatives + f), 1.0 * exponent)
            set_product(numbers, here, value, PLACES * (base + exponent))
            move(numbers, value, here)
        store(numbers, there, 1.0 + 0.0j)
        for back in range(last - first):
            f = last - 1 - back
            set_product(numbers, here, PLACES * (at_derivatives + f), there)
            move(numbers, PLACES * (at_derivatives + f), here)
            set_product(
                numbers, here, there, PLACES * (SPARE + program[at_symbol + f] + program[at_exponent + f])
            )
            move(numbers, there, here)
    return offset


@callback(SIGNATURE)
def sharp(
    point: Any, complexes: Any, reals: Any, program: Any, work: Any, scratch: Any, value: Any, jacobian: Any
) -> None:
    """`evaluators.sparse` in double-double; `complexes` has the low parts of both tables of coefficients behind them.

    `work` is for a row of the Jacobian, `scratch` for the tables.
    """
    equations, unknowns = program[0], program[1]
    at_pointer, at_exponent = program[5], program[7]
    at_row, at_term = program[8], program[9]
    width = unknowns + 1
    terms = program[at_row + equations]
    at_values = sharp_monomials(point, program, scratch)
    at_derivatives = at_values + program[3]
    at_index = at_exponent + program[at_pointer + program[3]]
    at_slopes = at_derivatives + program[at_pointer + program[3]]  # a row of the Jacobian
    t, coefficient, slope, total, drift = 0, PLACES, 2 * PLACES, 3 * PLACES, 4 * PLACES
    for i in range(equations):
        store(scratch, total, 0.0j)
        store(scratch, drift, 0.0j)
        for j in range(unknowns):
            store(scratch, PLACES * (at_slopes + j), 0.0j)
        for k in range(program[at_row + i], program[at_row + i + 1]):
            monomial = program[at_term + k]
            store(scratch, t, point[unknowns])
            store_pair(scratch, coefficient, complexes[k], complexes[2 * terms + k])
            store_pair(scratch, slope, complexes[terms + k], complexes[3 * terms + k])
            add_product(scratch, coefficient, t, slope)
            add_product(scratch, total, coefficient, PLACES * (at_values + monomial))
            add_product(scratch, drift, slope, PLACES * (at_values + monomial))
            for f in range(program[at_pointer + monomial], program[at_pointer + monomial + 1]):
                place = PLACES * (at_slopes + program[at_index + f])
                add_product(scratch, place, coefficient, PLACES * (at_derivatives + f))
        value[i] = rounded(scratch, total)
        for j in range(unknowns):
            jacobian[i * width + j] = rounded(scratch, PLACES * (at_slopes + j))
        jacobian[i * width + unknowns] = rounded(scratch, drift)
