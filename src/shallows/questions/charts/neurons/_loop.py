"""The compiled evaluator of the critical equations of Σᵢ aᵢ ψ(wᵢ), along a segment of (metric, target).

Importing this module imports numba: do it inside functions. The signature is that of `homotopy.evaluators`. Numbers lie
one after the other in `work`:

    powers (rn × (d+1)) | B (r(1+n) × N): ψᵢ and slopes | B G | C = B G Bᵀ | s, e, drift (M × N each) | G(t)

`program` holds n, r, M, N, whether a is trained, d, the number of terms, then for each term its entry and exponents;
`reals` the terms' coefficients, then the fixed outer weights (r × M).
"""

from __future__ import annotations

from typing import Any

from shallows.mathematics.homotopy._compiled.evaluators import SIGNATURE
from shallows.questions.charts.continuation._loop import (
    FAR,
    add_curvature,
    metric_products,
    slope_of_monomial,
    store_powers,
)
from shallows.support.compiling import callback, part, unit

#: Where the terms start in `program`.
HEAD = 7


@part
def weight(point: Any, reals: Any, program: Any, i: int, m: int) -> Any:
    """a_im, trained or fixed."""
    if program[4]:
        return point[i * (program[2] + program[0]) + m]
    return reals[program[6] + i * program[2] + m] + 0.0j


@part
def _neurons(point: Any, reals: Any, program: Any, work: Any) -> None:
    """Powers of all weights, ψᵢ and its slopes."""
    n, r, outputs, size, trained = program[0], program[1], program[2], program[3], program[4]
    steps, terms = program[5] + 1, program[6]
    lead = outputs if trained else 0
    at_b = r * n * steps
    for i in range(r):
        for x in range(n):
            store_powers(point[i * (lead + n) + lead + x], steps, work, (i * n + x) * steps)
    for k in range(at_b, at_b + r * (1 + n) * size):
        work[k] = 0.0
    for i in range(r):
        for term in range(terms):
            row = HEAD + term * (1 + n)
            entry = program[row]
            full = reals[term] + 0.0j
            for x in range(n):
                full = full * work[(i * n + x) * steps + program[row + 1 + x]]
            work[at_b + i * (1 + n) * size + entry] += full
            for x in range(n):
                count = program[row + 1 + x]
                if count == 0:
                    continue
                slope = slope_of_monomial(
                    reals[term] * count, work, i * n * steps, steps, program, row + 1, n, x
                )
                work[at_b + (i * (1 + n) + 1 + x) * size + entry] += slope


@part
def _gaps(point: Any, complexes: Any, reals: Any, program: Any, work: Any, at_s: int) -> None:
    """s = Σ aᵢψᵢ, e = G(t) s − g(t), its derivative in t, for every output, and G(t)."""
    n, r, outputs, size = program[0], program[1], program[2], program[3]
    at_b = r * n * (program[5] + 1)
    square, block = size * size, outputs * size
    at_e, at_drift, at_g = at_s + block, at_s + 2 * block, at_s + 3 * block
    t = point[r * (n + (outputs if program[4] else 0))]
    for k in range(square):
        work[at_g + k] = complexes[k] + t * complexes[square + k]
    for m in range(outputs):
        for k in range(size):
            total = 0.0 + 0.0j
            for i in range(r):
                total += weight(point, reals, program, i, m) * work[at_b + i * (1 + n) * size + k]
            work[at_s + m * size + k] = total
    for m in range(outputs):
        for k in range(size):
            place = m * size + k
            change = complexes[2 * square + block + place]
            total = -(complexes[2 * square + place] + t * change)
            drift = -change
            for j in range(size):
                total += work[at_g + k * size + j] * work[at_s + m * size + j]
                drift += complexes[square + k * size + j] * work[at_s + m * size + j]
            work[at_e + place] = total
            work[at_drift + place] = drift


@part
def _dot(work: Any, left: int, right: int, size: int) -> Any:
    total = 0.0 + 0.0j
    for k in range(size):
        total += work[left + k] * work[right + k]
    return total


@part
def _curvature(reals: Any, program: Any, work: Any, i: int, x: int, y: int, at_e: int) -> Any:
    """∂_x∂_yψᵢ · e for one output."""
    n, steps, terms = program[0], program[5] + 1, program[6]
    total = 0.0 + 0.0j
    for term in range(terms):
        row = HEAD + term * (1 + n)
        e = work[at_e + program[row]]
        total = add_curvature(total, reals[term], e, work, i * n * steps, steps, program, row + 1, n, x, y)
    return total


@part
def row_scale(point: Any, program: Any, i: int) -> float:
    """What the rows of a neuron are multiplied by, `FAR` says why."""
    lead = program[2] if program[4] else 0
    longest = 0.0
    for x in range(program[0]):
        longest = max(longest, abs(point[i * (lead + program[0]) + lead + x]))
    return (FAR / longest) ** program[5] if longest > FAR else 1.0


@unit(SIGNATURE)
def evaluate(
    point: Any, complexes: Any, reals: Any, program: Any, work: Any, scratch: Any, value: Any, jacobian: Any
) -> None:
    """ψᵢ·e_m = 0 for every output m where a is trained, and Σ_m a_im ∂_xψᵢ·e_m = 0; one output has no factor aᵢ there.

    `complexes` holds G and g at t = 0 and their slopes in t: G0, G1 (N×N), g0, g1 (M×N).
    """
    n, r, outputs, size, trained = program[0], program[1], program[2], program[3], program[4]
    lead = outputs if trained else 0
    own = lead + n
    width = r * own + 1
    rows, block = r * (1 + n), outputs * size
    at_b = r * n * (program[5] + 1)
    at_c = at_b + 2 * rows * size
    at_s = at_c + rows * rows
    at_e, at_drift, at_g = at_s + block, at_s + 2 * block, at_s + 3 * block
    _neurons(point, reals, program, work)
    _gaps(point, complexes, reals, program, work, at_s)
    metric_products(work, at_b, rows, size, at_g, work, at_c, rows)
    for i in range(r):
        shrink = row_scale(point, program, i)
        for row in range(own):
            equation = i * own + row
            v = i * (1 + n) + (0 if row < lead else 1 + row - lead)
            total = 0.0 + 0.0j
            drift = 0.0 + 0.0j
            for m in range(outputs):
                if row < lead and m != row:
                    continue
                factor = 1.0 + 0.0j
                if row >= lead and outputs > 1:
                    factor = weight(point, reals, program, i, m)
                total += factor * _dot(work, at_b + v * size, at_e + m * size, size)
                drift += factor * _dot(work, at_b + v * size, at_drift + m * size, size)
            value[equation] = total * shrink
            jacobian[equation * width + width - 1] = drift * shrink
            for j in range(r):
                for column in range(own):
                    w = j * (1 + n) + (0 if column < lead else 1 + column - lead)
                    entry = 0.0 + 0.0j
                    for m in range(outputs):
                        if row < lead and m != row:
                            continue
                        if column < lead and m != column:
                            continue
                        factor = 1.0 + 0.0j
                        if row >= lead and outputs > 1:
                            factor = weight(point, reals, program, i, m)
                        step = 1.0 + 0.0j
                        if column >= lead:
                            step = weight(point, reals, program, j, m)
                        entry += factor * step * work[at_c + v * rows + w]
                        if i == j and row < lead and column >= lead:
                            entry += _dot(work, at_b + w * size, at_e + m * size, size)
                        if i == j and row >= lead and column < lead and outputs > 1:
                            entry += _dot(work, at_b + v * size, at_e + m * size, size)
                        if i == j and row >= lead and column >= lead:
                            entry += factor * _curvature(
                                reals, program, work, i, row - lead, column - lead, at_e + m * size
                            )
                    jacobian[equation * width + j * own + column] = entry * shrink


@callback(SIGNATURE)
def neurons(
    point: Any, complexes: Any, reals: Any, program: Any, work: Any, scratch: Any, value: Any, jacobian: Any
) -> None:
    """`evaluate`, for the tracker."""
    evaluate(point, complexes, reals, program, work, scratch, value, jacobian)
