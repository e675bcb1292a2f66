"""Loss and gradient of many Power networks side by side; the slow twins are the objectives of `model.objective`.

A block holds several runs, its lanes. Every quantity has the lanes as its last axis, so that each innermost loop runs
over them and becomes vector instructions, whatever the width and the number of inputs. No lane sees another one, and
sums are taken in the order in which they are written: a run's numbers do not depend on its neighbours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shallows.model.kernels._compiled.kinds import (
    BOOL,
    CUBE,
    FIXED,
    FLOAT,
    INT,
    INTEGERS,
    MATRIX,
    VECTOR,
    VOID,
)
from shallows.support.checks import Array
from shallows.support.compiling import call_at, entry, part, record, several, unit

EXACT = {"contract"}  # fused multiply-add, but no reordering: the same bits in every lane
WorkSpace = tuple[Array, Array, Array, Array, Array, Array]


class Model(NamedTuple):
    """A loss in one of three forms; arrays that a form does not use are empty.

    - `matrix_lanes`: degree 2 under k(w, v) = c₀(w·v)² + c₁‖w‖²‖v‖², against the matrix `target`;
    - `powers_lanes`: k(w, v) = Σ_h c_h (‖w‖‖v‖)^(2h) (w·v)^(d−2h), h ≤ d/2, against Σ bⱼ (vⱼ·x)^d with energy E y²;
    - `statistics_lanes`: (s − s*)ᵀG(s − s*) + floor, s the entries of Σ aᵢ wᵢ^⊗d; monomial q of the degrees 1, …, d
      (degree by degree) is w[first[q]] times monomial rest[q].
    """

    degree: int
    c: Array
    target: Array
    V: Array
    b: Array
    constant: float
    gram: Array
    first: np.ndarray
    rest: np.ndarray


_FIELDS = (INT, VECTOR, MATRIX, MATRIX, VECTOR, FLOAT, MATRIX, INTEGERS, INTEGERS)
MODEL, MODEL_ARRAYS = record(Model, *_FIELDS), several(*_FIELDS)
SPACE = several(CUBE, CUBE, CUBE, MATRIX, CUBE, CUBE)
#: What each form of the loss is called with: W (k, n, B), a (k, B), lanes, the model, room, and ∂L/∂W, ∂L/∂a, L.
FORM = VOID(CUBE, MATRIX, INT, MODEL, SPACE, CUBE, MATRIX, VECTOR)
#: Calls a form at its address: a form that no problem has is not compiled.
evaluate_lanes = call_at(FORM)


@part
def model_in(arrays: Any) -> Model:
    """The model by name. Python hands over plain tuples: numba knows their types at once."""
    degree, c, target, V, b, constant, gram, first, rest = arrays
    return Model(degree, c, target, V, b, constant, gram, first, rest)


@unit(FORM, fastmath=EXACT)
def matrix_lanes(
    W: Array, a: Array, lanes: int, model: Model, space: WorkSpace, dW: Array, da: Array, loss: Array
) -> None:
    """With D = Σ aᵢ wᵢwᵢᵀ − T:  L = c₀‖D‖² + c₁ tr(D)², a sum of squares.

    With zᵢ = 2c₀Dwᵢ + 2c₁tr(D)wᵢ:  ∂L/∂wᵢ = 2aᵢzᵢ,  ∂L/∂aᵢ = wᵢ·zᵢ. Only the lower triangle of D is summed.
    """
    D, Z, T, c, trace = space[0], space[1], model.target, model.c, space[3][0]
    k, n, _ = W.shape
    for m in range(k):
        for i in range(n):
            for l in range(lanes):
                Z[m, i, l] = a[m, l] * W[m, i, l]
    for i in range(n):
        for j in range(i + 1):
            for l in range(lanes):
                D[i, j, l] = Z[0, i, l] * W[0, j, l] - T[i, j]
            for m in range(1, k):
                for l in range(lanes):
                    D[i, j, l] += Z[m, i, l] * W[m, j, l]
    for l in range(lanes):
        trace[l], loss[l] = 0.0, 0.0
    for i in range(n):
        for l in range(lanes):
            trace[l] += D[i, i, l]
            loss[l] += c[0] * D[i, i, l] * D[i, i, l]
        for j in range(i):
            for l in range(lanes):
                loss[l] += 2 * c[0] * D[i, j, l] * D[i, j, l]
                D[j, i, l] = D[i, j, l]
    for l in range(lanes):
        loss[l] += c[1] * trace[l] * trace[l]
        trace[l] *= 2 * c[1]
    for m in range(k):
        for l in range(lanes):
            da[m, l] = 0.0
        for i in range(n):
            for l in range(lanes):
                Z[m, i, l] = D[i, 0, l] * W[m, 0, l]
            for j in range(1, n):
                for l in range(lanes):
                    Z[m, i, l] += D[i, j, l] * W[m, j, l]
            for l in range(lanes):
                z = 2 * c[0] * Z[m, i, l] + trace[l] * W[m, i, l]
                da[m, l] += z * W[m, i, l]
                dW[m, i, l] = 2 * a[m, l] * z


@unit(VOID(VECTOR, VECTOR, VECTOR, INT, INT, VECTOR, VECTOR, VECTOR), fastmath=EXACT)
def _slopes(
    rho: Array, pq: Array, c: Array, degree: int, lanes: int, along: Array, across: Array, x: Array
) -> None:
    """∂k/∂ρ and 2∂k/∂(pq) of k = Σ_h c_h (pq)^h ρ^(d−2h): forms in ρ² and pq, by Horner's rule, times 1 or ρ."""
    if degree == 3:  # the common case in one pass
        for l in range(lanes):
            along[l] = 3 * c[0] * rho[l] * rho[l] + c[1] * pq[l]
            across[l] = 2 * c[1] * rho[l]
        return
    for l in range(lanes):
        along[l], across[l] = degree * c[0], 0.0
        x[l] = 1.0  # (pq)^(h−1)
    for h in range(1, degree // 2 + 1):
        for l in range(lanes):
            across[l] = across[l] * rho[l] * rho[l] + 2 * h * c[h] * x[l]
            x[l] *= pq[l]
        if 2 * h < degree:
            for l in range(lanes):
                along[l] = along[l] * rho[l] * rho[l] + (degree - 2 * h) * c[h] * x[l]
    if degree % 2 == 1:
        for l in range(lanes):
            across[l] *= rho[l]
    else:
        for l in range(lanes):
            along[l] *= rho[l]


@unit(VOID(CUBE, MATRIX, INT, VECTOR, INT, CUBE, MATRIX, CUBE, MATRIX), fastmath=EXACT)
def _among_students(
    W: Array, a: Array, lanes: int, c: Array, degree: int, rows: Array, pair: Array, dW: Array, da: Array
) -> None:
    """Add Σⱼ aⱼ ∂k/∂ρ wⱼ to dW, Σⱼ 2aⱼ ∂k/∂p to `radial` and Σⱼ aⱼ wᵢ·∂₁k to da; each pair once, for both."""
    k, n, _ = W.shape
    p, radial = rows[0], rows[1]
    rho, along, across, x, pq = pair[0], pair[1], pair[2], pair[3], pair[4]
    for i in range(k):
        for j in range(i + 1):
            for l in range(lanes):
                rho[l], pq[l] = W[i, 0, l] * W[j, 0, l], p[i, l] * p[j, l]
            for r in range(1, n):
                for l in range(lanes):
                    rho[l] += W[i, r, l] * W[j, r, l]
            _slopes(rho, pq, c, degree, lanes, along, across, x)
            for l in range(lanes):
                both = along[l] * rho[l] + across[l] * pq[l]
                da[i, l] += a[j, l] * both
                radial[i, l] += a[j, l] * across[l] * p[j, l]
                x[l] = a[j, l] * along[l]
            for r in range(n):
                for l in range(lanes):
                    dW[i, r, l] += x[l] * W[j, r, l]
            if j < i:
                for l in range(lanes):
                    both = along[l] * rho[l] + across[l] * pq[l]
                    da[j, l] += a[i, l] * both
                    radial[j, l] += a[i, l] * across[l] * p[i, l]
                    x[l] = a[i, l] * along[l]
                for r in range(n):
                    for l in range(lanes):
                        dW[j, r, l] += x[l] * W[i, r, l]


@unit(VOID(CUBE, INT, MATRIX, VECTOR, VECTOR, INT, CUBE, MATRIX, CUBE), fastmath=EXACT)
def _against_teachers(
    W: Array, lanes: int, V: Array, b: Array, c: Array, degree: int, rows: Array, pair: Array, dW: Array
) -> None:
    """Subtract Σⱼ bⱼ ∂k/∂ρ vⱼ from dW, and the teachers' parts from `radial` and `theirs`."""
    k, n, _ = W.shape
    p, radial, theirs = rows[0], rows[1], rows[2]
    rho, along, across, x, pq = pair[0], pair[1], pair[2], pair[3], pair[4]
    for j in range(len(V)):
        square = 0.0
        for r in range(n):
            square += V[j, r] * V[j, r]
        for i in range(k):
            for l in range(lanes):
                rho[l], pq[l] = W[i, 0, l] * V[j, 0], p[i, l] * square
            for r in range(1, n):
                for l in range(lanes):
                    rho[l] += W[i, r, l] * V[j, r]
            _slopes(rho, pq, c, degree, lanes, along, across, x)
            for l in range(lanes):
                theirs[i, l] -= b[j] * (along[l] * rho[l] + across[l] * pq[l])
                radial[i, l] -= b[j] * across[l] * square
                along[l] *= b[j]
            for r in range(n):
                for l in range(lanes):
                    dW[i, r, l] -= along[l] * V[j, r]


@unit(FORM, fastmath=EXACT)
def powers_lanes(
    W: Array, a: Array, lanes: int, model: Model, space: WorkSpace, dW: Array, da: Array, loss: Array
) -> None:
    """Students and teachers are one list u = (w, v) with coefficients e = (a, −b).

    With ρ = w·u, p = ‖w‖², q = ‖u‖² and zᵢ = Σⱼ eⱼ ∂₁k(wᵢ, uⱼ) = Σⱼ eⱼ (∂k/∂ρ uⱼ + 2∂k/∂p wᵢ):
    ∂L/∂wᵢ = 2aᵢzᵢ, and by Euler ∂L/∂aᵢ = 2wᵢ·zᵢ/d.
    """
    rows, pair = space[2], space[3]
    k, n, _ = W.shape
    degree = model.degree
    p, radial, theirs = rows[0], rows[1], rows[2]
    for i in range(k):
        for l in range(lanes):
            p[i, l], radial[i, l], theirs[i, l], da[i, l] = 0.0, 0.0, 0.0, 0.0
        for r in range(n):
            for l in range(lanes):
                p[i, l] += W[i, r, l] * W[i, r, l]
                dW[i, r, l] = 0.0
    _among_students(W, a, lanes, model.c, degree, rows, pair, dW, da)
    _against_teachers(W, lanes, model.V, model.b, model.c, degree, rows, pair, dW)
    for l in range(lanes):
        loss[l] = model.constant
    for i in range(k):
        for l in range(lanes):
            loss[l] += a[i, l] * (da[i, l] + 2 * theirs[i, l]) / degree
            da[i, l] = 2 * (da[i, l] + theirs[i, l]) / degree
        for r in range(n):
            for l in range(lanes):
                dW[i, r, l] = 2 * a[i, l] * (dW[i, r, l] + radial[i, l] * W[i, r, l])
    for l in range(lanes):
        if loss[l] < 0:  # rounding; a NaN stays
            loss[l] = 0.0


@unit(VOID(CUBE, INT, INT, INTEGERS, INTEGERS, MATRIX), fastmath=EXACT)
def _monomials(W: Array, m: int, lanes: int, first: np.ndarray, rest: np.ndarray, levels: Array) -> None:
    """The monomials of degrees 1, …, d of neuron m, degree by degree."""
    n = W.shape[1]
    for r in range(n):
        for l in range(lanes):
            levels[r, l] = W[m, r, l]
    for q in range(n, len(first)):
        u, v = first[q], rest[q]
        for l in range(lanes):
            levels[q, l] = levels[u, l] * levels[v, l]


@unit(FORM, fastmath=EXACT)
def statistics_lanes(
    W: Array, a: Array, lanes: int, model: Model, space: WorkSpace, dW: Array, da: Array, loss: Array
) -> None:
    """L = (s − s*)ᵀG(s − s*) + floor through its N×N Gram matrix; slopes by one sweep back through the monomials.

    With y = 2G(s − s*):  ∂L/∂aᵢ = Σ_I y_I wᵢ^I,  ∂L/∂wᵢ = aᵢ Σ_I y_I ∇(wᵢ^I).
    """
    sums, tree = space[4], space[5]
    k, n, _ = W.shape
    first, rest, gram = model.first, model.rest, model.gram
    size = len(gram)
    s, y, levels, bars = sums[0], sums[1], tree[0], tree[1]
    top = len(first) - size
    for q in range(size):
        for l in range(lanes):
            s[q, l] = -model.target[0, q]
    for m in range(k):
        _monomials(W, m, lanes, first, rest, levels)
        for q in range(size):
            for l in range(lanes):
                s[q, l] += a[m, l] * levels[top + q, l]
    for l in range(lanes):
        loss[l] = model.constant
    for q in range(size):
        for l in range(lanes):
            y[q, l] = 0.0
        for t in range(size):
            g = gram[q, t]
            for l in range(lanes):
                y[q, l] += g * s[t, l]
        for l in range(lanes):
            loss[l] += s[q, l] * y[q, l]
            y[q, l] *= 2
    for m in range(k):
        _monomials(W, m, lanes, first, rest, levels)
        for q in range(top):
            for l in range(lanes):
                bars[q, l] = 0.0
        for l in range(lanes):
            da[m, l] = 0.0
        for q in range(size):
            for l in range(lanes):
                bars[top + q, l] = y[q, l]
                da[m, l] += y[q, l] * levels[top + q, l]
        for q in range(len(first) - 1, n - 1, -1):
            u, v = first[q], rest[q]
            for l in range(lanes):
                bars[u, l] += bars[q, l] * levels[v, l]
                bars[v, l] += bars[q, l] * levels[u, l]
        for r in range(n):
            for l in range(lanes):
                dW[m, r, l] = a[m, l] * bars[r, l]


def work_space(model: Model, k: int, n: int, lanes: int) -> WorkSpace:
    """D, Z of `matrix_lanes`; rows, pair of `powers_lanes`; sums, tree of `statistics_lanes`: as large as needed."""
    return (
        np.empty((n if len(model.target) == n else 0, n, lanes)),
        np.empty((k if len(model.target) == n else 0, n, lanes)),
        np.empty((3 if model.V.shape[1] else 0, k, lanes)),
        np.empty((5, lanes)),
        np.empty((2, len(model.gram), lanes)),
        np.empty((2, len(model.first), lanes)),
    )


@entry(VOID(INT, MATRIX, INT, INT, FIXED, BOOL, MODEL_ARRAYS, SPACE, MATRIX, MATRIX, VECTOR, MATRIX))
def evaluate_rows(
    form: int, thetas: Array, k: int, n: int, outer: Array, free: bool, arrays: Any, space: WorkSpace, block: Array,
    slopes: Array, losses: Array, gradients: Array,
) -> None:  # fmt: skip
    """L and ∇L of each row of `thetas`, as many at a time as `block` and `slopes` have columns.

    They have k rows more than θ has entries, for the outer weights where θ has none; `form` is the loss's address.
    """
    size, model = thetas.shape[1], model_in(arrays)
    width = block.shape[1]
    W, dW = block[: k * n].reshape(k, n, width), slopes[: k * n].reshape(k, n, width)
    a, da, loss = block[size : size + k], slopes[size : size + k], slopes[size + k]
    if free:
        a, da = block[k * n : size], slopes[k * n : size]
    else:
        for i in range(k):
            for l in range(width):
                a[i, l] = outer[i]
    for begin in range(0, len(thetas), width):
        lanes = min(width, len(thetas) - begin)
        for l in range(lanes):
            for i in range(size):
                block[i, l] = thetas[begin + l, i]
        evaluate_lanes(form, W, a, lanes, model, space, dW, da, loss)
        for l in range(lanes):
            losses[begin + l] = loss[l]
            for i in range(size):
                gradients[begin + l, i] = slopes[i, l]
