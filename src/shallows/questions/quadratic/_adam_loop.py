"""The compiled loop of `training`: full-batch Adam on many quadratic networks at once; its slow twin is `Problem`.

Runs are the last axis of every array, so that each statement is one vector operation over all runs, and G(s − s*) is
one matrix product for all of them. θ has the rows W (k·d, neuron by neuron), a (k) and, with a norm neuron, α.
"""

from __future__ import annotations

import numpy as np

from shallows.model.kernels._compiled.kinds import BOOL, FIXED, FIXED_ROWS, FLOAT, INT, MATRIX, VOID
from shallows.questions.descent.methods.adam import EPSILON, FIRST, SECOND
from shallows.support.checks import Array
from shallows.support.compiling import entry, pointer, unit
from shallows.support.matrix_product import product

FAST = {"reassoc", "contract", "nsz", "arcp"}  # not "nnan": a NaN must stay a NaN


@unit(VOID(MATRIX, INT, INT, BOOL, FIXED, MATRIX, MATRIX), fastmath=FAST)
def _difference(
    theta: Array, k: int, d: int, norm: bool, optimum: Array, weighted: Array, gap: Array
) -> None:
    """gap = s − s*, the entries x ≤ y of Σᵢ aᵢ wᵢwᵢᵀ + αI minus the optimum; `weighted` holds the rows aᵢ wᵢ."""
    runs = theta.shape[1]
    for i in range(k):
        for x in range(d):
            for r in range(runs):
                weighted[i * d + x, r] = theta[k * d + i, r] * theta[i * d + x, r]
    entry = 0
    for x in range(d):
        for y in range(x, d):
            for r in range(runs):
                gap[entry, r] = -optimum[entry]
            if norm and x == y:
                for r in range(runs):
                    gap[entry, r] += theta[k * d + k, r]
            for i in range(k):
                for r in range(runs):
                    gap[entry, r] += weighted[i * d + x, r] * theta[i * d + y, r]
            entry += 1


@unit(VOID(MATRIX, INT, MATRIX), fastmath=FAST)
def _unpack(image: Array, d: int, form: Array) -> None:
    """The symmetric matrix F with dL = ⟨F, dS⟩ (d² rows) from e = 2G(s − s*): F_xx = e_xx, F_xy = e_xy/2."""
    runs, entry = image.shape[1], 0
    for x in range(d):
        for y in range(x, d):
            factor = 2.0 if x == y else 1.0
            for r in range(runs):
                value = factor * image[entry, r]
                form[x * d + y, r] = value
                form[y * d + x, r] = value
            entry += 1


@unit(VOID(MATRIX, INT, INT, BOOL, MATRIX, MATRIX), fastmath=FAST)
def _slopes(theta: Array, k: int, d: int, norm: bool, form: Array, slope: Array) -> None:
    """∂L/∂wᵢ = 2aᵢ F wᵢ, ∂L/∂aᵢ = wᵢᵀF wᵢ, ∂L/∂α = tr F."""
    runs = theta.shape[1]
    for i in range(k):
        outer = k * d + i
        slope[outer, :] = 0.0
        for x in range(d):
            row = i * d + x
            slope[row, :] = 0.0
            for y in range(d):
                for r in range(runs):
                    slope[row, r] += form[x * d + y, r] * theta[i * d + y, r]
            for r in range(runs):
                slope[outer, r] += slope[row, r] * theta[row, r]
                slope[row, r] *= 2.0 * theta[outer, r]
    if norm:
        slope[k * d + k, :] = 0.0
        for x in range(d):
            for r in range(runs):
                slope[k * d + k, r] += form[x * d + x, r]


@unit(VOID(MATRIX, INT, INT, FLOAT, MATRIX, MATRIX), fastmath=FAST)
def _penalise(theta: Array, k: int, d: int, gamma: float, form: Array, slope: Array) -> None:
    """Add 4γ W(WᵀW − I), the gradient of γ‖WᵀW − I‖²; `form` is overwritten by WᵀW − I."""
    runs = theta.shape[1]
    for x in range(d):
        for y in range(x, d):
            start = -1.0 if x == y else 0.0
            form[x * d + y, :] = start
            for i in range(k):
                for r in range(runs):
                    form[x * d + y, r] += theta[i * d + x, r] * theta[i * d + y, r]
            for r in range(runs):  # a copied slice would need numba's memory, which loops go without
                form[y * d + x, r] = form[x * d + y, r]
    for i in range(k):
        for x in range(d):
            for y in range(d):
                for r in range(runs):
                    slope[i * d + x, r] += 4.0 * gamma * form[x * d + y, r] * theta[i * d + y, r]


@unit(VOID(MATRIX, MATRIX, MATRIX, MATRIX, FLOAT, FLOAT), fastmath=FAST)
def _step(theta: Array, m: Array, v: Array, slope: Array, size: float, correction: float) -> None:
    """m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², θ ← θ − size·m / (√(v·correction) + ε)."""
    rows, runs = theta.shape
    for row in range(rows):
        for r in range(runs):
            g = slope[row, r]
            m[row, r] = FIRST * m[row, r] + (1.0 - FIRST) * g
            v[row, r] = SECOND * v[row, r] + (1.0 - SECOND) * g * g
            theta[row, r] -= size * m[row, r] / (np.sqrt(v[row, r] * correction) + EPSILON)


@entry(
    VOID(MATRIX, MATRIX, MATRIX, INT, INT, BOOL, FLOAT, FIXED_ROWS, FIXED, FLOAT, INT, INT, MATRIX),
    fastmath=FAST,
)
def adam_loop(
    theta: Array, m: Array, v: Array, k: int, d: int, norm: bool, gamma: float, gram: Array, optimum: Array,
    step: float, done: int, epochs: int, room: Array,
) -> None:  # fmt: skip
    """`epochs` epochs of Adam at a constant step, in place; `done` epochs came before (bias correction).

    `room` has `rows_of_room` rows: for s − s* and its image, the rows aᵢ wᵢ, F, and the slopes.
    """
    runs, entries = theta.shape[1], len(optimum)
    gap, image, rest = room[:entries], room[entries : 2 * entries], room[2 * entries :]
    weighted, form, slope = rest[: k * d], rest[k * d : (k + d) * d], rest[(k + d) * d :]
    for epoch in range(done + 1, done + epochs + 1):
        _difference(theta, k, d, norm, optimum, weighted, gap)
        product(pointer(gram), False, pointer(gap), False, pointer(image), entries, entries, runs)
        _unpack(image, d, form)
        _slopes(theta, k, d, norm, form, slope)
        if gamma > 0.0:
            _penalise(theta, k, d, gamma, form, slope)
        _step(theta, m, v, slope, step / (1.0 - FIRST**epoch), 1.0 / (1.0 - SECOND**epoch))


def rows_of_room(k: int, d: int, entries: int, rows: int) -> int:
    """How many rows, one number a run each, the loop works in."""
    return 2 * entries + (k + d) * d + rows
