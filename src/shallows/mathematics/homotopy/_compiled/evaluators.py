"""Compiled evaluators: H(x, t) with its extended Jacobian [∂H/∂x | ∂H/∂t], behind one C signature.

The tracker is compiled once and calls an evaluator through a function pointer, so a new structured
system costs the compilation of its own few lines and nothing else. The signature is

    evaluate(point, complexes, reals, program, work, scratch, value, jacobian)

    point      complex128*  the m unknowns, then t (the target is at t = 0, the start at t = 1)
    complexes  complex128*  constant data of the system            reals  float64*  likewise, real
    program    int64*       constant integers of the system
    work       complex128*  room for intermediate results          scratch  float64*  likewise, real
    value      complex128*  out: the k equations
    jacobian   complex128*  out: k × (m+1), row by row; the last column is ∂H/∂t

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from shallows.mathematics.homotopy._compiled.kinds import COMPLEXES, FLOAT, FLOATS, INT, INTEGERS, VOID
from shallows.support.compiling import behind, call_at, callback, unit

SIGNATURE = types.void(COMPLEXES, COMPLEXES, FLOATS, INTEGERS, COMPLEXES, FLOATS, COMPLEXES, COMPLEXES)
#: Calls the evaluator at an address: `evaluate_at(address, point, ..., jacobian)`.
evaluate_at = call_at(SIGNATURE)
#: Positions in the header of a sparse program (see `sparse.compile_sparse`).
HEADER = 13
#: Products may be fused with sums (one rounding for two); NaN stays NaN.
FUSED = {"contract"}
#: Terms that are damped by more than exp(−DAMPED) = 10⁻²⁶ are left out: they are below the rounding of the others.
DAMPED = 60.0


@unit(INT(COMPLEXES, COMPLEXES, INTEGERS, COMPLEXES), fastmath=FUSED)
def monomials(point: Any, complexes: Any, program: Any, work: Any) -> int:
    """Every distinct monomial of a sparse program once, with its derivatives: where their values begin in `work`.

    Powers of every symbol come first, then values, then derivatives, one a factor. A monomial is its parent, which
    comes before it, times a power of one symbol, its last factor: a product for the value and for each derivative.
    """
    unknowns, parameters, count = program[1], program[2], program[3]
    at_degree, at_pointer, at_symbol, at_exponent = program[4], program[5], program[6], program[7]
    at_parent = program[12]
    t = point[unknowns]
    offset = 0
    for symbol in range(unknowns + parameters):
        x = point[symbol] if symbol < unknowns else complexes[symbol - unknowns]
        if symbol >= unknowns:
            x = x + t * complexes[parameters + symbol - unknowns]
        power = 1.0 + 0.0j
        for _ in range(program[at_degree + symbol] + 1):
            work[offset] = power
            power = power * x
            offset += 1
    at_derivatives = offset + count
    for k in range(count):
        first, last = program[at_pointer + k], program[at_pointer + k + 1] - 1
        if last < first:
            work[offset + k] = 1.0 + 0.0j
            continue
        base, exponent, parent = (
            program[at_symbol + last],
            program[at_exponent + last],
            program[at_parent + k],
        )
        factor = work[base + exponent]
        slope = exponent * work[base + exponent - 1]
        if parent < 0:
            work[offset + k] = factor
            work[at_derivatives + last] = slope
            continue
        value = work[offset + parent]
        work[offset + k] = value * factor
        work[at_derivatives + last] = value * slope if exponent > 1 else value
        before = at_derivatives + program[at_pointer + parent]
        for f in range(last - first):
            work[at_derivatives + first + f] = work[before + f] * factor
    return offset


@callback(SIGNATURE, fastmath=FUSED)
def sparse(
    point: Any, complexes: Any, reals: Any, program: Any, work: Any, scratch: Any, value: Any, jacobian: Any
) -> None:
    """Sparse polynomials whose coefficients, and whose parameters, are affine in t: one dot product an equation."""
    equations, unknowns, parameters = program[0], program[1], program[2]
    at_pointer, at_exponent = program[5], program[7]
    at_row, at_term = program[8], program[9]
    at_target, at_slope = program[10], program[11]
    width = unknowns + 1
    t = point[unknowns]
    at_values = monomials(point, complexes, program, work)
    at_derivatives = at_values + program[3]
    at_index = at_exponent + program[at_pointer + program[3]]  # which symbol a factor belongs to
    for i in range(equations):
        row = i * width
        for j in range(width):
            jacobian[row + j] = 0.0
        total = 0.0 + 0.0j
        drift = 0.0 + 0.0j
        for k in range(program[at_row + i], program[at_row + i + 1]):
            monomial = program[at_term + k]
            slope = complexes[at_slope + k]
            coefficient = complexes[at_target + k] + t * slope
            total += coefficient * work[at_values + monomial]
            drift += slope * work[at_values + monomial]
            for f in range(program[at_pointer + monomial], program[at_pointer + monomial + 1]):
                symbol = program[at_index + f]
                change = coefficient * work[at_derivatives + f]
                if symbol < unknowns:
                    jacobian[row + symbol] += change
                else:
                    drift += change * complexes[parameters + symbol - unknowns]
        value[i] = total
        jacobian[row + unknowns] = drift


@unit(VOID(FLOAT, COMPLEXES, FLOATS, INTEGERS, FLOATS), fastmath=FUSED)
def damped_coefficients(t: float, complexes: Any, reals: Any, program: Any, scratch: Any) -> None:
    """The coefficients of `toric` at t and their derivatives, four numbers a term: `scratch` keeps them behind the t,
    and the number of the cell, that they are for."""
    at_target, at_slope = program[10], program[11]
    terms = program[program[8] + program[0]]
    rate, scale, number, fading = reals[terms], reals[terms + 1], reals[terms + 2], reals[terms + 3]
    if scratch[0] == t and scratch[1] == number:
        return
    scratch[0], scratch[1] = t, number
    grown = scale * np.exp(rate * t)
    time, speed = grown - scale, rate * grown
    fade = np.exp(-fading * time)
    for k in range(terms):
        weight = reals[k]
        damp = 1.0 if weight == 0.0 else 0.0 if weight * time > DAMPED else np.exp(-weight * time)
        slope = complexes[at_slope + k] * damp
        coefficient = complexes[at_target + k] * damp + (1.0 - fade) * slope
        drift = speed * (fading * fade * slope - weight * coefficient)
        place = behind(scratch, 2 + 4 * k)
        place[0], place[1], place[2], place[3] = coefficient.real, coefficient.imag, drift.real, drift.imag


@callback(SIGNATURE, fastmath=FUSED)
def toric(
    point: Any, complexes: Any, reals: Any, program: Any, work: Any, scratch: Any, value: Any, jacobian: Any
) -> None:
    """Sparse polynomials whose terms are damped: Σ (g + exp(−v τ) (f − g)) exp(−w τ) x^a with weights w ≥ 0 in `reals`,
    one a term, f the targets and f − g minus the slopes.

    Behind the weights are κ and s: τ(t) = s (exp(κ t) − 1), t real, spreads weights of different sizes evenly over t;
    then the number of the cell, and v.
    """
    equations, unknowns = program[0], program[1]
    at_pointer, at_exponent, at_row, at_term = program[5], program[7], program[8], program[9]
    width = unknowns + 1
    at_values = monomials(point, complexes, program, work)
    at_derivatives = at_values + program[3]
    at_index = at_exponent + program[at_pointer + program[3]]
    damped_coefficients(point[unknowns].real, complexes, reals, program, scratch)
    for i in range(equations):
        row = i * width
        for j in range(width):
            jacobian[row + j] = 0.0
        total = 0.0 + 0.0j
        drift = 0.0 + 0.0j
        for k in range(program[at_row + i], program[at_row + i + 1]):
            place = behind(scratch, 2 + 4 * k)
            coefficient, change = complex(place[0], place[1]), complex(place[2], place[3])
            if coefficient == 0.0 and change == 0.0:
                continue
            monomial = program[at_term + k]
            total += coefficient * work[at_values + monomial]
            drift += change * work[at_values + monomial]
            for f in range(program[at_pointer + monomial], program[at_pointer + monomial + 1]):
                jacobian[row + program[at_index + f]] += coefficient * work[at_derivatives + f]
        value[i] = total
        jacobian[row + unknowns] = drift


@callback(SIGNATURE)
def rank_one(
    point: Any, complexes: Any, reals: Any, program: Any, work: Any, scratch: Any, value: Any, jacobian: Any
) -> None:
    """H = γ t (v³ − v) + (1−t) (K(v,v,v) − B v) with K a real symmetric 4-tensor, B real symmetric.

    With Q(v) = K(v,v), one real N×N product, N = n(n+1)/2, the value is Q(v)v − Bv and the Jacobian
    3Q(v) − B. `reals` holds K (columns weighted by how often a product vₖvₗ occurs), then B.
    """
    n = program[0]
    size = n * (n + 1) // 2
    gamma = complexes[0]
    t = point[n]
    products_re, products_im = scratch, behind(scratch, size)
    form_re, form_im = behind(scratch, 2 * size), behind(scratch, 3 * size)
    a = 0
    for i in range(n):
        for j in range(i, n):
            product = point[i] * point[j]
            products_re[a] = product.real
            products_im[a] = product.imag
            form_re[a] = 0.0
            form_im[a] = 0.0
            a += 1
    for b in range(size):
        u, w = products_re[b], products_im[b]
        column = behind(reals, b * size)
        for a in range(size):
            form_re[a] += column[a] * u
            form_im[a] += column[a] * w
    width = n + 1
    for i in range(n):
        value[i] = 0.0
    a = 0
    for i in range(n):
        for j in range(i, n):
            q = complex(form_re[a], form_im[a])
            linear = reals[size * size + i * n + j]
            entry = (1.0 - t) * (3.0 * q - linear)
            jacobian[i * width + j] = entry
            jacobian[j * width + i] = entry
            value[i] += (q - linear) * point[j]
            if j > i:
                value[j] += (q - linear) * point[i]
            a += 1
    for i in range(n):
        square = point[i] * point[i]
        start = gamma * (square - 1.0) * point[i]
        jacobian[i * width + i] += t * gamma * (3.0 * square - 1.0)
        jacobian[i * width + n] = start - value[i]
        value[i] = t * start + (1.0 - t) * value[i]
