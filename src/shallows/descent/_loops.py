"""One network at a time in numba; the slow twins are the objectives of `shallows.objective`.

All of them release the interpreter's lock, so that several threads train at once.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shallows._checks import Array
from shallows.kernels._relu_loop import batch_loop

FAST = {"reassoc", "contract", "nsz", "arcp"}  # not "nnan": a NaN must stay a NaN


@njit(cache=True, nogil=True)
def relu_loop(W: Array, a: Array, V: Array, b: Array, c: Array, losses: Array, dW: Array, da: Array) -> float:
    """The fused ReLU pass, without the interpreter's lock."""
    return batch_loop(W, a, V, b, c, losses, dW, da)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def _slopes(rho: float, p: float, q: float, c: Array, degree: int) -> tuple[float, float]:
    """∂k/∂ρ and 2∂k/∂p of k = Σ_h c_h (pq)^h ρ^(d−2h)."""
    along, across = 0.0, 0.0
    x, before = 1.0, 0.0  # x = (pq)^h, before = (pq)^(h−1)
    for h in range(len(c)):
        power = degree - 2 * h
        tail = rho ** (power - 1) if power > 0 else 0.0
        along += power * c[h] * x * tail
        if h > 0:
            across += 2 * h * c[h] * before * (tail * rho if power > 0 else 1.0)
        before, x = x, x * p * q
    return along, across * q


@njit(cache=True, fastmath=FAST, error_model="numpy")
def _fill(g: Array, p: Array, c: Array, degree: int, along: Array, across: Array) -> None:
    """∂k/∂ρ and 2∂k/∂p of all pairs; degrees 2 and 3 are unrolled so that the loop vectorises."""
    k, m = g.shape
    high = c[0]
    low = c[1] if len(c) > 1 else 0.0
    for i in range(k):
        if degree == 2:
            for j in range(m):
                along[i, j] = 2 * high * g[i, j]
                across[i, j] = 2 * low * p[j]
        elif degree == 3:
            for j in range(m):
                along[i, j] = 3 * high * g[i, j] * g[i, j] + low * p[i] * p[j]
                across[i, j] = 2 * low * p[j] * g[i, j]
        else:
            for j in range(m):
                along[i, j], across[i, j] = _slopes(g[i, j], p[i], p[j], c, degree)


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def teacher_space(k: int, n: int, V: Array, b: Array) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Work space U, e, p, g, ∂k/∂ρ, 2∂k/∂p of `dot_product_one`, with the teacher's part filled in."""
    m = k + len(V)
    U, e, p = np.empty((m, n)), np.empty(m), np.empty(m)
    U[k:], e[k:] = V, -b
    for j in range(k, m):
        p[j] = np.dot(U[j], U[j])
    return U, e, p, np.empty((k, m)), np.empty((k, m)), np.empty((k, m))


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def dot_product_one(
    U: Array,
    e: Array,
    p: Array,
    g: Array,
    along: Array,
    across: Array,
    c: Array,
    degree: int,
    dW: Array,
    da: Array,
) -> float:
    """The loss (less the teacher's energy) and gradients for k(w, v) = Σ_h c_h (‖w‖‖v‖)^(2h) (w·v)^(d−2h).

    Students and teachers are one list U = (W, V) with coefficients e = (a, −b). With ρ = w·u, p = ‖w‖² and
    zᵢ = Σⱼ eⱼ ∂₁k(wᵢ, uⱼ) = Σⱼ eⱼ (∂k/∂ρ uⱼ + 2∂k/∂p wᵢ):  ∂L/∂wᵢ = 2aᵢzᵢ, and by Euler ∂L/∂aᵢ = 2 wᵢ·zᵢ/d.
    """
    k, m = g.shape
    np.dot(U[:k], U.T, g)
    for j in range(k):
        p[j] = g[j, j]
    _fill(g, p, c, degree, along, across)
    loss = 0.0
    for i in range(k):
        mine, turned, theirs, radial = 0.0, 0.0, 0.0, 0.0
        for j in range(k):
            mine += e[j] * along[i, j] * g[i, j]
            turned += e[j] * across[i, j]
        for j in range(k, m):
            theirs += e[j] * along[i, j] * g[i, j]
            radial += e[j] * across[i, j]
        mine += p[i] * turned
        theirs += p[i] * radial
        loss += e[i] * (mine + 2 * theirs)
        da[i] = 2 * (mine + theirs) / degree
        factor = 2 * e[i]
        for j in range(m):
            along[i, j] *= factor * e[j]
        along[i, i] += factor * (turned + radial)
    np.dot(along, U, dW)
    return loss / degree


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def quadratic_one(W: Array, a: Array, T: Array, D: Array, Z: Array, c: Array, dW: Array, da: Array) -> float:
    """Degree 2 without teacher neurons: with D = Σ aᵢ wᵢwᵢᵀ − T, L = c₀‖D‖² + c₁ tr(D)², a sum of squares.

    With G = 2c₀D + 2c₁tr(D) I:  ∂L/∂wᵢ = 2aᵢ Gwᵢ,  ∂L/∂aᵢ = wᵢᵀGwᵢ.
    """
    k, n = W.shape
    for i in range(k):
        for j in range(n):
            Z[i, j] = a[i] * W[i, j]
    np.dot(W.T, Z, D)
    trace, square, double = 0.0, 0.0, 2 * c[0]
    for i in range(n):
        trace += D[i, i] - T[i, i]
        for j in range(n):
            gap = D[i, j] - T[i, j]
            square += gap * gap
            D[i, j] = double * gap
    low = c[1] if len(c) > 1 else 0.0
    for i in range(n):
        D[i, i] += 2 * low * trace
    np.dot(W, D, Z)
    for i in range(k):
        slope, factor = 0.0, 2 * a[i]
        for j in range(n):
            slope += Z[i, j] * W[i, j]
            dW[i, j] = factor * Z[i, j]
        da[i] = slope
    return c[0] * square + low * trace * trace
