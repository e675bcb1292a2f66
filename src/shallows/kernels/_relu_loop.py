"""The numba loops behind `relu_fused`; their slow NumPy twin is `relu.ReLUKernel`, held together by a test."""

from __future__ import annotations

import numpy as np
from numba import njit

from shallows._checks import Array

TWO_PI = 2 * np.pi
FAST = {"reassoc", "contract", "nsz", "arcp"}  # not "nnan": a NaN must stay a NaN


@njit(cache=True, fastmath=FAST, error_model="numpy", inline="always")
def _angle_over_root(t: float, c: Array) -> float:
    """P(t) of degree 21 by Horner's rule, unrolled so that the pair loop vectorises."""
    p = c[21] * t + c[20]
    p = (p * t + c[19]) * t + c[18]
    p = (p * t + c[17]) * t + c[16]
    p = (p * t + c[15]) * t + c[14]
    p = (p * t + c[13]) * t + c[12]
    p = (p * t + c[11]) * t + c[10]
    p = (p * t + c[9]) * t + c[8]
    p = (p * t + c[7]) * t + c[6]
    p = (p * t + c[5]) * t + c[4]
    p = (p * t + c[3]) * t + c[2]
    return (p * t + c[1]) * t + c[0]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def _angles(cosine: Array, c: Array, sine: Array, rest: Array) -> None:
    """sin θ / 2π and (π−θ) / 2π, elementwise on flat arrays: long loops vectorise, rows of a small matrix do not."""
    for j in range(len(cosine)):
        size = min(abs(cosine[j]), 1.0)
        root = np.sqrt(1 - size)
        angle = root * _angle_over_root(2 * size - 1, c) * (1 / TWO_PI)
        rest[j] = angle if cosine[j] < 0 else 0.5 - angle
        sine[j] = root * np.sqrt(1 + size) * (1 / TWO_PI)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def _row_sums(g: Array, norm: Array, sine: Array, rest: Array, e: Array, own: float) -> tuple[float, float]:
    """Σⱼ eⱼ k(w, uⱼ) and Σⱼ eⱼ‖uⱼ‖ sin θⱼ/2π for one neuron of length `own`."""
    value, turn = 0.0, 0.0
    for j in range(len(e)):
        across = e[j] * norm[j] * sine[j]
        turn += across
        value += own * across + e[j] * rest[j] * g[j]
    return value, turn


@njit(cache=True, fastmath=FAST, error_model="numpy")
def batch_loop(
    W: Array, a: Array, V: Array, b: Array, c: Array, losses: Array, dW: Array, da: Array
) -> float:
    """Fill losses (less the teacher's energy) and both gradients for each network; return the shortest ‖wᵢ‖.

    Students and teachers are one list U = (W, V) with coefficients e = (a, −b). With S_ij = eⱼ(π−θ_ij)/2π and
    ϱᵢ = Σⱼ eⱼ‖uⱼ‖ sin θ_ij/2π: ∂L/∂W = 2 diag(a) (S U + diag(ϱ/‖w‖) W), ∂L/∂a = 2 Σⱼ eⱼ k(wᵢ, uⱼ).

    The pair (i, i) needs no care: what rounding makes of θ = 0 cancels to second order between S and ϱ.
    """
    batch, k, n = W.shape
    m = k + len(V)
    U, e = np.empty((m, n)), np.empty(m)
    U[k:], e[k:] = V, -b
    norm, inverse = np.empty(m), np.empty(m)
    for j in range(k, m):
        norm[j] = np.sqrt(np.dot(U[j], U[j]))
        inverse[j] = 1.0 / norm[j] if norm[j] > 0 else 0.0
    g = np.empty((k, m))
    cosine, sine, rest = np.empty(k * m), np.empty(k * m), np.empty(k * m)
    smallest = np.inf
    for l in range(batch):
        outer, slope = a[l], dW[l]
        U[:k], e[:k] = W[l], outer
        np.dot(U[:k], U.T, g)
        for j in range(k):
            norm[j] = np.sqrt(g[j, j])
            inverse[j] = 1.0 / norm[j] if norm[j] > 0 else 0.0
            smallest = min(smallest, norm[j])
        for i in range(k):
            for j in range(m):
                cosine[i * m + j] = g[i, j] * inverse[i] * inverse[j]
        _angles(cosine, c, sine, rest)
        loss = 0.0
        for i in range(k):
            start, middle, end = i * m, i * m + k, (i + 1) * m
            mine, turn = _row_sums(g[i, :k], norm[:k], sine[start:middle], rest[start:middle], e[:k], norm[i])
            theirs, turned = _row_sums(g[i, k:], norm[k:], sine[middle:end], rest[middle:end], e[k:], norm[i])
            loss += outer[i] * (mine + 2 * theirs)
            da[l, i] = 2 * (mine + theirs)
            factor = 2 * outer[i]
            for j in range(m):
                g[i, j] = factor * e[j] * rest[start + j]
            g[i, i] += factor * (turn + turned) * inverse[i]
        losses[l] = loss
        np.dot(g, U, slope)
    return smallest
