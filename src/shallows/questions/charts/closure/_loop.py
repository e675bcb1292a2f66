"""The compiled evaluator of critical equations on a stratum that is given by polynomials s_I(x).

Importing this module imports numba: do it inside functions. The signature is that of `homotopy.evaluators`. Numbers lie
one after the other in `work`:

    powers (m × (d+1)) | D (m × N) | D G (m × N) | s | e | drift | G(t)

`program` holds m, N, d, the number of terms; then for each term its entry; then where its factors begin (one more than
terms); then the factors, each a parameter and an exponent. `reals` are the terms' coefficients.
"""

from __future__ import annotations

from typing import Any

from shallows.mathematics.homotopy._compiled.evaluators import SIGNATURE
from shallows.questions.charts.continuation._loop import (
    FAR,
    first_order,
    gap,
    longest,
    shrink_rows,
    store_powers,
)
from shallows.support.compiling import callback, part


@part
def _product(work: Any, program: Any, first: int, last: int, steps: int, p: int, q: int) -> complex:
    """∂_p ∂_q of a term's monomial; −1 for no derivative."""
    value = 1.0 + 0.0j
    for f in range(first, last):
        x, e = program[2 * f], program[2 * f + 1]
        if x == p:
            value = value * e
            e -= 1
        if x == q:
            value = value * e
            e -= 1
        if e < 0:
            return 0.0j
        value = value * work[x * steps + e]
    return value


@part
def _students(point: Any, reals: Any, program: Any, work: Any) -> None:
    """Powers of all parameters, s and the slopes D = ∂s."""
    unknowns, size, degree, terms = program[0], program[1], program[2], program[3]
    steps = degree + 1
    at_d = unknowns * steps
    at_s = at_d + 2 * unknowns * size
    at_start = 4 + terms
    for v in range(unknowns):
        store_powers(point[v], steps, work, v * steps)
    for i in range(unknowns * size):
        work[at_d + i] = 0.0
    for i in range(size):
        work[at_s + i] = 0.0
    for k in range(terms):
        entry, first, last = program[4 + k], program[at_start + k], program[at_start + k + 1]
        work[at_s + entry] += reals[k] * _product(work, program, first, last, steps, -1, -1)
        for f in range(first, last):
            p = program[2 * f]
            slope = reals[k] * _product(work, program, first, last, steps, p, -1)
            work[at_d + p * size + entry] += slope


@part
def _add_second_order(reals: Any, program: Any, work: Any, at_e: int, jacobian: Any) -> None:
    """Add Σ_I e_I ∂∂s_I to the Jacobian."""
    unknowns, terms, steps = program[0], program[3], program[2] + 1
    width, at_start = unknowns + 1, 4 + terms
    for k in range(terms):
        first, last = program[at_start + k], program[at_start + k + 1]
        weight = reals[k] * work[at_e + program[4 + k]]
        for f in range(first, last):
            p = program[2 * f]
            for h in range(first, last):
                q = program[2 * h]
                jacobian[p * width + q] += weight * _product(work, program, first, last, steps, p, q)


@callback(SIGNATURE)
def merged(
    point: Any, complexes: Any, reals: Any, program: Any, work: Any, scratch: Any, value: Any, jacobian: Any
) -> None:
    """F = D e, e = G(t) s(x) − g(t), D = ∂s; the Jacobian is D G Dᵀ + Σ_I e_I ∂∂s_I.

    `complexes` holds G and g at t = 0 and their slopes in t: G0, G1 (N×N), g0, g1. Once a parameter is larger than FAR
    all rows are divided by its (2d−1)-st power over FAR's, as in `powers`.
    """
    unknowns, size, degree = program[0], program[1], program[2]
    at_d = unknowns * (degree + 1)
    at_s = at_d + 2 * unknowns * size
    _students(point, reals, program, work)
    gap(point[unknowns], complexes, work, at_s, size)
    first_order(work, at_d, unknowns, size, value, jacobian)
    _add_second_order(reals, program, work, at_s + size, jacobian)
    largest = longest(point, unknowns)
    if largest > FAR:
        shrink_rows(value, jacobian, unknowns, (FAR / largest) ** (2 * degree - 1))
