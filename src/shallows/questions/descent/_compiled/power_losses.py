"""Loss and gradient of many Power networks side by side; the slow twins are the objectives of `model.objective`.

A block holds several runs, its lanes. Every quantity has the lanes as its last axis, so that each innermost loop runs
over them and becomes vector instructions, whatever the width and the number of inputs. No lane sees another one, and
sums are taken in the order in which they are written: a run's numbers do not depend on its neighbours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shallows.model.kernels._compiled.kinds import COUNTS, FLOAT, FLOATS, INT, MATRIX, VECTOR, VOID
from shallows.model.kernels._compiled.vectors import turn
from shallows.questions.descent._compiled.lanes import EXACT
from shallows.support.checks import Array
from shallows.support.compiling import behind, call_at, callback, entry, part, pointer, unit
from shallows.support.in_memory import Room, at, in_memory


class Model(NamedTuple):
    """A loss in one of three forms, of k neurons in n inputs; arrays that a form does not use are empty.

    - `matrix_lanes`: degree 2 under k(w, v) = c₀(w·v)² + c₁‖w‖²‖v‖², against the matrix `target`;
    - `powers_lanes`: k(w, v) = Σ_h c_h (‖w‖‖v‖)^(2h) (w·v)^(d−2h), h ≤ d/2, against m powers Σ bⱼ (vⱼ·x)^d with energy
      E y²;
    - `statistics_lanes`: (s − s*)ᵀG(s − s*) + floor, s the `size` entries of Σ aᵢ wᵢ^⊗d; monomial q of the degrees
      1, …, d (degree by degree, `tree` in all) is w[first[q]] times monomial rest[q].
    """

    k: int
    n: int
    m: int
    degree: int
    size: int
    tree: int
    constant: float
    c: Array
    target: Array
    V: Array
    b: Array
    gram: Array
    first: np.ndarray
    rest: np.ndarray


class Space(NamedTuple):
    """Work arrays of `row` lanes: D (n, n), Z (k, n) of `matrix_lanes`; ‖w‖², `radial`, `theirs` (k,) of
    `powers_lanes`; s, y (size,), `levels`, `bars` (tree,) of `statistics_lanes`; and five with a number a lane."""

    row: int
    D: Array
    Z: Array
    p: Array
    radial: Array
    theirs: Array
    s: Array
    y: Array
    levels: Array
    bars: Array
    rho: Array
    along: Array
    across: Array
    x: Array
    pq: Array


MODEL = in_memory(Model, *(INT,) * 6, FLOAT, *(FLOATS,) * 5, COUNTS, COUNTS)
SPACE = in_memory(Space, INT, *(FLOATS,) * 14)
model_at, space_at = at(MODEL), at(SPACE)
#: What each form of the loss is called with: model, room, lanes, W (k, n, B), a (k, B), and ∂L/∂W, ∂L/∂a, L.
FORM = VOID(MODEL, SPACE, INT, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS)
#: Calls a form at its address: a form that no problem has is not compiled.
evaluate_lanes = call_at(FORM)


@callback(FORM, fastmath=EXACT)
def matrix_lanes(model: Any, space: Any, lanes: int, W: Any, a: Any, dW: Any, da: Any, loss: Any) -> None:
    """With D = Σ aᵢ wᵢwᵢᵀ − T:  L = c₀‖D‖² + c₁ tr(D)², a sum of squares.

    With zᵢ = 2c₀Dwᵢ + 2c₁tr(D)wᵢ:  ∂L/∂wᵢ = 2aᵢzᵢ,  ∂L/∂aᵢ = wᵢ·zᵢ. Only the lower triangle of D is summed.
    """
    k, n, row, T, trace, c0, c1 = model.k, model.n, space.row, model.target, space.rho, model.c[0], model.c[1]
    D, Z = space.D, space.Z
    for m in range(k):
        outer = behind(a, m * row)
        for i in range(n):
            z, w = behind(Z, (m * n + i) * row), behind(W, (m * n + i) * row)
            for l in range(lanes):
                z[l] = outer[l] * w[l]
    for i in range(n):
        for j in range(i + 1):
            d, t = behind(D, (i * n + j) * row), T[i * n + j]
            for l in range(lanes):
                d[l] = Z[i * row + l] * W[j * row + l] - t
            for m in range(1, k):
                z, w = behind(Z, (m * n + i) * row), behind(W, (m * n + j) * row)
                for l in range(lanes):
                    d[l] += z[l] * w[l]
    for l in range(lanes):
        trace[l], loss[l] = 0.0, 0.0
    for i in range(n):
        d = behind(D, (i * n + i) * row)
        for l in range(lanes):
            trace[l] += d[l]
            loss[l] += c0 * d[l] * d[l]
        for j in range(i):
            d, e = behind(D, (i * n + j) * row), behind(D, (j * n + i) * row)
            for l in range(lanes):
                loss[l] += 2 * c0 * d[l] * d[l]
                e[l] = d[l]
    for l in range(lanes):
        loss[l] += c1 * trace[l] * trace[l]
        trace[l] *= 2 * c1
    for m in range(k):
        outer, slope = behind(a, m * row), behind(da, m * row)
        for l in range(lanes):
            slope[l] = 0.0
        for i in range(n):
            z, w, dw = (
                behind(Z, (m * n + i) * row),
                behind(W, (m * n + i) * row),
                behind(dW, (m * n + i) * row),
            )
            for l in range(lanes):
                z[l] = D[i * n * row + l] * W[m * n * row + l]
            for j in range(1, n):
                d, x = behind(D, (i * n + j) * row), behind(W, (m * n + j) * row)
                for l in range(lanes):
                    z[l] += d[l] * x[l]
            for l in range(lanes):
                y = 2 * c0 * z[l] + trace[l] * w[l]
                slope[l] += y * w[l]
                dw[l] = 2 * outer[l] * y


@part
def _slopes(model: Any, space: Any, lanes: int) -> None:
    """∂k/∂ρ and 2∂k/∂(pq) of k = Σ_h c_h (pq)^h ρ^(d−2h): forms in ρ² and pq, by Horner's rule, times 1 or ρ."""
    c, degree, rho, pq, along, across, x = (
        model.c,
        model.degree,
        space.rho,
        space.pq,
        space.along,
        space.across,
        space.x,
    )
    if degree == 3:  # the common case in one pass
        c0, c1 = c[0], c[1]
        for l in range(lanes):
            along[l] = 3 * c0 * rho[l] * rho[l] + c1 * pq[l]
            across[l] = 2 * c1 * rho[l]
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
    odd = degree % 2 == 1
    for l in range(lanes):
        if odd:
            across[l] *= rho[l]
        else:
            along[l] *= rho[l]


@part
def _pull(
    space: Any, lanes: int, n: int, j: int, outer: Any, w: Any, radial: Any, slope: Any, dw: Any
) -> None:
    """What student j, with these weights, adds to the slopes of another one (or of itself)."""
    row, along, across, x = space.row, space.along, space.across, space.x
    rho, pq, p = space.rho, space.pq, behind(space.p, j * row)
    for l in range(lanes):
        slope[l] += outer[l] * (along[l] * rho[l] + across[l] * pq[l])
        radial[l] += outer[l] * across[l] * p[l]
        x[l] = outer[l] * along[l]
    for r in range(n):
        to, by = behind(dw, r * row), behind(w, r * row)
        for l in range(lanes):
            to[l] += x[l] * by[l]


@unit(VOID(MODEL, SPACE, INT, FLOATS, FLOATS, FLOATS, FLOATS), fastmath=EXACT)
def _among_students(model: Any, space: Any, lanes: int, W: Any, a: Any, dW: Any, da: Any) -> None:
    """Add Σⱼ aⱼ ∂k/∂ρ wⱼ to dW, Σⱼ 2aⱼ ∂k/∂p to `radial` and Σⱼ aⱼ wᵢ·∂₁k to da; each pair once, for both."""
    n, row, rho, pq = model.n, space.row, space.rho, space.pq
    for i in range(model.k):
        wi, pi = behind(W, i * n * row), behind(space.p, i * row)
        for j in range(i + 1):
            wj, pj = behind(W, j * n * row), behind(space.p, j * row)
            for l in range(lanes):
                rho[l], pq[l] = wi[l] * wj[l], pi[l] * pj[l]
            for r in range(1, n):
                x, y = behind(wi, r * row), behind(wj, r * row)
                for l in range(lanes):
                    rho[l] += x[l] * y[l]
            _slopes(model, space, lanes)
            to, at_i, at_j = behind(space.radial, i * row), i * row, j * row
            _pull(space, lanes, n, j, behind(a, at_j), wj, to, behind(da, at_i), behind(dW, n * at_i))
            if j < i:
                to = behind(space.radial, j * row)
                _pull(space, lanes, n, i, behind(a, at_i), wi, to, behind(da, at_j), behind(dW, n * at_j))


@unit(VOID(MODEL, SPACE, INT, FLOATS, FLOATS), fastmath=EXACT)
def _against_teachers(model: Any, space: Any, lanes: int, W: Any, dW: Any) -> None:
    """Subtract Σⱼ bⱼ ∂k/∂ρ vⱼ from dW, and the teachers' parts from `radial` and `theirs`."""
    n, row, rho, pq, along, across = model.n, space.row, space.rho, space.pq, space.along, space.across
    for j in range(model.m):
        v, b, square = behind(model.V, j * n), model.b[j], 0.0
        for r in range(n):
            square += v[r] * v[r]
        for i in range(model.k):
            w, dw, p = behind(W, i * n * row), behind(dW, i * n * row), behind(space.p, i * row)
            radial, theirs = behind(space.radial, i * row), behind(space.theirs, i * row)
            for l in range(lanes):
                rho[l], pq[l] = w[l] * v[0], p[l] * square
            for r in range(1, n):
                x, y = behind(w, r * row), v[r]
                for l in range(lanes):
                    rho[l] += x[l] * y
            _slopes(model, space, lanes)
            for l in range(lanes):
                theirs[l] -= b * (along[l] * rho[l] + across[l] * pq[l])
                radial[l] -= b * across[l] * square
                along[l] *= b
            for r in range(n):
                to, y = behind(dw, r * row), v[r]
                for l in range(lanes):
                    to[l] -= along[l] * y


@callback(FORM, fastmath=EXACT)
def powers_lanes(model: Any, space: Any, lanes: int, W: Any, a: Any, dW: Any, da: Any, loss: Any) -> None:
    """Students and teachers are one list u = (w, v) with coefficients e = (a, −b).

    With ρ = w·u, p = ‖w‖², q = ‖u‖² and zᵢ = Σⱼ eⱼ ∂₁k(wᵢ, uⱼ) = Σⱼ eⱼ (∂k/∂ρ uⱼ + 2∂k/∂p wᵢ):
    ∂L/∂wᵢ = 2aᵢzᵢ, and by Euler ∂L/∂aᵢ = 2wᵢ·zᵢ/d.
    """
    k, n, row, degree = model.k, model.n, space.row, model.degree
    for i in range(k):
        p, radial, theirs = (
            behind(space.p, i * row),
            behind(space.radial, i * row),
            behind(space.theirs, i * row),
        )
        slope = behind(da, i * row)
        for l in range(lanes):
            p[l], radial[l], theirs[l], slope[l] = 0.0, 0.0, 0.0, 0.0
        for r in range(i * n, i * n + n):
            w, dw = behind(W, r * row), behind(dW, r * row)
            for l in range(lanes):
                p[l] += w[l] * w[l]
                dw[l] = 0.0
    _among_students(model, space, lanes, W, a, dW, da)
    _against_teachers(model, space, lanes, W, dW)
    for l in range(lanes):
        loss[l] = model.constant
    for i in range(k):
        radial, theirs = behind(space.radial, i * row), behind(space.theirs, i * row)
        outer, slope = behind(a, i * row), behind(da, i * row)
        for l in range(lanes):
            loss[l] += outer[l] * (slope[l] + 2 * theirs[l]) / degree
            slope[l] = 2 * (slope[l] + theirs[l]) / degree
        for r in range(i * n, i * n + n):
            w, dw = behind(W, r * row), behind(dW, r * row)
            for l in range(lanes):
                dw[l] = 2 * outer[l] * (dw[l] + radial[l] * w[l])
    for l in range(lanes):
        if loss[l] < 0:  # rounding; a NaN stays
            loss[l] = 0.0


@unit(VOID(MODEL, SPACE, INT, FLOATS), fastmath=EXACT)
def _monomials(model: Any, space: Any, lanes: int, w: Any) -> None:
    """The monomials of degrees 1, …, d of a neuron, degree by degree."""
    n, row, levels = model.n, space.row, space.levels
    for r in range(n * row):
        levels[r] = w[r]
    for q in range(n, model.tree):
        x, y, to = (
            behind(levels, model.first[q] * row),
            behind(levels, model.rest[q] * row),
            behind(levels, q * row),
        )
        for l in range(lanes):
            to[l] = x[l] * y[l]


@unit(VOID(MODEL, SPACE, INT, FLOATS), fastmath=EXACT)
def _image(model: Any, space: Any, lanes: int, loss: Any) -> None:
    """y = 2G(s − s*), and the loss."""
    size, row = model.size, space.row
    for l in range(lanes):
        loss[l] = model.constant
    for q in range(size):
        y, own, gram = behind(space.y, q * row), behind(space.s, q * row), behind(model.gram, q * size)
        for l in range(lanes):
            y[l] = 0.0
        for t in range(size):
            g, s = gram[t], behind(space.s, t * row)
            for l in range(lanes):
                y[l] += g * s[l]
        for l in range(lanes):
            loss[l] += own[l] * y[l]
            y[l] *= 2


@callback(FORM, fastmath=EXACT)
def statistics_lanes(model: Any, space: Any, lanes: int, W: Any, a: Any, dW: Any, da: Any, loss: Any) -> None:
    """L = (s − s*)ᵀG(s − s*) + floor through its N×N Gram matrix; slopes by one sweep back through the monomials.

    With y = 2G(s − s*):  ∂L/∂aᵢ = Σ_I y_I wᵢ^I,  ∂L/∂wᵢ = aᵢ Σ_I y_I ∇(wᵢ^I).
    """
    k, n, row, size = model.k, model.n, space.row, model.size
    levels, bars, top = space.levels, space.bars, model.tree - model.size
    for q in range(size):
        s, t = behind(space.s, q * row), model.target[q]
        for l in range(lanes):
            s[l] = -t
    for m in range(k):
        outer = behind(a, m * row)
        _monomials(model, space, lanes, behind(W, m * n * row))
        for q in range(size):
            s, x = behind(space.s, q * row), behind(levels, (top + q) * row)
            for l in range(lanes):
                s[l] += outer[l] * x[l]
    _image(model, space, lanes, loss)
    for m in range(k):
        outer, slope = behind(a, m * row), behind(da, m * row)
        _monomials(model, space, lanes, behind(W, m * n * row))
        for q in range(top * row):
            bars[q] = 0.0
        for l in range(lanes):
            slope[l] = 0.0
        for q in range(size):
            to, y, x = (
                behind(bars, (top + q) * row),
                behind(space.y, q * row),
                behind(levels, (top + q) * row),
            )
            for l in range(lanes):
                to[l] = y[l]
                slope[l] += y[l] * x[l]
        for q in range(model.tree - 1, n - 1, -1):
            u, v, bar = model.first[q] * row, model.rest[q] * row, behind(bars, q * row)
            for l in range(lanes):
                bars[u + l] += bar[l] * levels[v + l]
                bars[v + l] += bar[l] * levels[u + l]
        for r in range(n):
            dw, bar = behind(dW, (m * n + r) * row), behind(bars, r * row)
            for l in range(lanes):
                dw[l] = outer[l] * bar[l]


def work_space(model: Model, lanes: int) -> Room:
    """Fresh work arrays, as large as the model's form needs."""
    k, n, m = model.k, model.n, model.m
    matrix = model.size == 0 and m == 0
    rows = [n * n if matrix else 0, k * n if matrix else 0, *(k if m else 0,) * 3]
    rows += [model.size] * 2 + [model.tree] * 2 + [1] * 5
    return Room(SPACE, lanes, *(count * lanes for count in rows))


@entry(VOID(INT, INT, INT, INT, MATRIX, MATRIX, MATRIX, VECTOR, MATRIX))
def evaluate_rows(
    form: int, model_place: int, space_place: int, size: int, thetas: Array, block: Array, slopes: Array,
    losses: Array, gradients: Array,
) -> None:  # fmt: skip
    """L and ∇L of each row of `thetas`, `size` numbers, as many at a time as `block` and `slopes` have columns.

    They have a row for each inner and each outer weight, whether θ has the latter or not, and `slopes` one for the
    losses; `form` is the loss's address.
    """
    model, space = model_at(model_place), space_at(space_place)
    row, inner = space.row, model.k * model.n * space.row
    w, dw = pointer(block), pointer(slopes)
    loss = behind(dw, inner + model.k * row)
    for begin in range(0, len(losses), row):
        lanes = min(row, len(losses) - begin)
        turn(behind(pointer(thetas), begin * size), size, size, lanes, w, row)
        evaluate_lanes(form, model, space, lanes, w, behind(w, inner), dw, behind(dw, inner), loss)
        for l in range(lanes):
            losses[begin + l] = loss[l]
        turn(dw, lanes, row, size, behind(pointer(gradients), begin * size), size)
