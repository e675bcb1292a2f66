"""The critical equations of Σᵢ aᵢ ψ(wᵢ), one output, with 31 digits where neurons are long.

Where the metric on part of the entries is a fixed form, as Frobenius' is on P = Σ wᵢwᵢᵀ, it has null directions, and
solutions far out lie close to them: 1 is what ⟨P, P⟩ of size 10¹³ leaves at ‖w‖ = 2,600. Importing this module imports
numba: do it inside functions.
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
from shallows.mathematics.homotopy._compiled.evaluators import SIGNATURE
from shallows.mathematics.homotopy._compiled.kinds import COMPLEXES, FLOATS, INT, INTEGERS
from shallows.mathematics.homotopy._compiled.records import PLACES
from shallows.questions.charts.continuation._loop import longest
from shallows.questions.charts.neurons._loop import HEAD, evaluate, row_scale, weight
from shallows.questions.charts.powers._sharp_loop import THREE, gap, product_of_powers
from shallows.questions.charts.powers.cancellation import CANCELLING
from shallows.support.compiling import callback, several, unit


@unit(types.void(COMPLEXES, FLOATS, INTEGERS, FLOATS, THREE), rare=True)
def _neurons(point: Any, reals: Any, program: Any, numbers: Any, spare: Any) -> None:
    """Powers of all weights, ψᵢ and its slopes."""
    n, r, size, lead = program[0], program[1], program[3], program[4]
    steps, terms = program[5] + 1, program[6]
    at_b = PLACES * r * n * steps
    other, here, there = spare
    for i in range(r):
        for x in range(n):
            first = PLACES * (i * n + x) * steps
            store(numbers, first, 1.0 + 0.0j)
            for k in range(1, steps):
                store(numbers, other, point[i * (lead + n) + lead + x])
                store(numbers, first + PLACES * k, 0.0j)
                add_product(numbers, first + PLACES * k, first + PLACES * (k - 1), other)
    for k in range(r * (1 + n) * size):
        store(numbers, at_b + PLACES * k, 0.0j)
    for i in range(r):
        first = PLACES * i * n * steps
        for term in range(terms):
            row = HEAD + term * (1 + n) + 1
            entry = at_b + PLACES * (i * (1 + n) * size + program[row - 1])
            found = product_of_powers(numbers, first, steps, program, row, n, (here, there, -1, -1))
            scale(numbers, found, reals[term])
            add_number(numbers, entry, found)
            for x in range(n):
                if program[row + x]:
                    found = product_of_powers(numbers, first, steps, program, row, n, (here, there, x, -1))
                    scale(numbers, found, reals[term] * program[row + x])
                    add_number(numbers, entry + PLACES * (1 + x) * size, found)


@unit(types.void(COMPLEXES, FLOATS, INTEGERS, FLOATS, INT, INT), rare=True)
def _sum(point: Any, reals: Any, program: Any, numbers: Any, at_s: int, other: int) -> None:
    """s = Σ aᵢψᵢ."""
    n, r, size = program[0], program[1], program[3]
    at_b = PLACES * r * n * (program[5] + 1)
    for k in range(size):
        store(numbers, at_s + PLACES * k, 0.0j)
    for i in range(r):
        store(numbers, other, weight(point, reals, program, i, 0))
        for k in range(size):
            add_product(numbers, at_s + PLACES * k, other, at_b + PLACES * (i * (1 + n) * size + k))


@unit(types.void(FLOATS, INT, INT, INT, INT), rare=True)
def _dot(numbers: Any, total: int, left: int, right: int, size: int) -> None:
    """numbers[total] = left · right."""
    store(numbers, total, 0.0j)
    for k in range(size):
        add_product(numbers, total, left + PLACES * k, right + PLACES * k)


@unit(
    types.void(COMPLEXES, COMPLEXES, FLOATS, INTEGERS, FLOATS, COMPLEXES, COMPLEXES, several(INT, INT)),
    rare=True,
)
def _sharp(
    point: Any,
    complexes: Any,
    reals: Any,
    program: Any,
    numbers: Any,
    value: Any,
    jacobian: Any,
    sizes: Any,
) -> None:
    """Value and t-derivative, rounded at the end.

    `numbers` holds powers (rn × (d+1)) | B (r(1+n) × N) | G(t) | s | e | drift | t | four to spare.
    """
    n, r, size, lead = program[0], program[1], program[3], program[4]
    unknowns, own = sizes
    at_b = PLACES * r * n * (program[5] + 1)
    at_g = at_b + PLACES * r * (1 + n) * size
    at_s = at_g + PLACES * size * size
    at_e, at_drift, at_t = at_s + PLACES * size, at_s + 2 * PLACES * size, at_s + 3 * PLACES * size
    total, other, here, there = at_t + PLACES, at_t + 2 * PLACES, at_t + 3 * PLACES, at_t + 4 * PLACES
    store(numbers, at_t, point[unknowns])
    _neurons(point, reals, program, numbers, (other, here, there))
    _sum(point, reals, program, numbers, at_s, other)
    gap(complexes, numbers, at_g, at_t, size, (other, here))
    for i in range(r):
        shrink = row_scale(point, program, i)
        for row in range(own):
            v = at_b + PLACES * (i * (1 + n) + 1 + row - lead) * size
            _dot(numbers, total, v, at_e, size)
            value[i * own + row] = rounded(numbers, total) * shrink
            _dot(numbers, total, v, at_drift, size)
            jacobian[(i * own + row) * (unknowns + 1) + unknowns] = rounded(numbers, total) * shrink


@callback(SIGNATURE)
def sharp_neurons(
    point: Any, complexes: Any, reals: Any, program: Any, work: Any, scratch: Any, value: Any, jacobian: Any
) -> None:
    """The same as `neurons` for one output; the value has 31 digits where an unknown is larger than CANCELLING.

    `complexes` has, behind those of `neurons`, what the entries of G0 and G1 lack to be exact.
    """
    evaluate(point, complexes, reals, program, work, scratch, value, jacobian)
    own = program[4] + program[0]
    unknowns = program[1] * own
    if longest(point, unknowns) > CANCELLING:
        _sharp(point, complexes, reals, program, scratch, value, jacobian, (unknowns, own))
