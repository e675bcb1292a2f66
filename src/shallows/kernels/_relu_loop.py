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
def _pairs(
    g: Array, count: int, norm: float, v_norm: Array, inverse: Array, c: Array, sine: Array, rest: Array
) -> None:
    """sin θ / 2π and (π−θ) / 2π for the first `count` entries of one row of Gram entries."""
    scale = 1.0 / norm if norm > 0 else 0.0
    for j in range(count):
        cosine = g[j] * scale * inverse[j]
        size = min(abs(cosine), 1.0)
        root = np.sqrt(1 - size)
        angle = root * _angle_over_root(2 * size - 1, c) / TWO_PI
        rest[j] = angle if cosine < 0 else 0.5 - angle
        sine[j] = root * np.sqrt(1 + size) / TWO_PI


@njit(cache=True, fastmath=FAST, error_model="numpy")
def _invert(x: Array, out: Array) -> None:
    for j in range(len(x)):
        out[j] = 1.0 / x[j] if x[j] > 0 else 0.0


@njit(cache=True, fastmath=FAST, error_model="numpy")
def batch_loop(
    W: Array, a: Array, V: Array, b: Array, v_norm: Array, c: Array, losses: Array, dW: Array, da: Array
) -> None:
    """Fill losses (less the teacher's energy) and both gradients for each network of the batch.

    With S_ij = aᵢaⱼ(π−θ)/2π, T_ij = aᵢbⱼ(π−θ)/2π and ϱᵢ = aᵢ(Σⱼ aⱼ‖wⱼ‖ sin θ − Σⱼ bⱼ‖vⱼ‖ sin θ)/2π:
    ∂L/∂W = 2 (S W − T V + diag(ϱ/‖w‖) W).
    """
    batch, k, n = W.shape
    m = len(V)
    own, cross = np.empty((k, k)), np.empty((k, m))
    moved = np.empty((k, n))
    norm, inverse, v_inverse = np.empty(k), np.empty(k), np.empty(m)
    radial, gain = np.empty(k), np.empty(k)
    sine, rest = np.empty(max(k, m)), np.empty(max(k, m))
    V_t = np.ascontiguousarray(V.T)
    _invert(v_norm, v_inverse)
    for l in range(batch):
        w, outer = W[l], a[l]
        np.dot(w, w.T, own)
        np.dot(w, V_t, cross)
        for i in range(k):
            norm[i] = np.sqrt(own[i, i])
            radial[i] = 0.0
            gain[i] = 0.5 * outer[i] * own[i, i]
        _invert(norm, inverse)
        for i in range(k):
            _pairs(own[i], i, norm[i], norm, inverse, c, sine, rest)
            mine = outer[i]
            value, turn = 0.0, 0.0
            for j in range(i):
                k_ij = norm[i] * norm[j] * sine[j] + rest[j] * own[i, j]
                value += outer[j] * k_ij
                turn += outer[j] * norm[j] * sine[j]
                gain[j] += mine * k_ij
                radial[j] += mine * norm[i] * sine[j]
                own[i, j] = mine * outer[j] * rest[j]
            gain[i] += value
            radial[i] += turn
        for i in range(k):
            for j in range(i):
                own[j, i] = own[i, j]
        loss = 0.0
        for i in range(k):
            mine = outer[i]
            _pairs(cross[i], m, norm[i], v_norm, v_inverse, c, sine, rest)
            value, turn = 0.0, 0.0
            for j in range(m):
                value += b[j] * (norm[i] * v_norm[j] * sine[j] + rest[j] * cross[i, j])
                turn += b[j] * v_norm[j] * sine[j]
                cross[i, j] = mine * b[j] * rest[j]
            loss += mine * (gain[i] - 2 * value)
            da[l, i] = 2 * (gain[i] - value)
            own[i, i] = 0.5 * mine * mine + mine * (radial[i] - turn) * inverse[i]
        losses[l] = loss
        np.dot(own, w, dW[l])
        np.dot(cross, V, moved)
        for i in range(k):
            for x in range(n):
                dW[l, i, x] = 2 * (dW[l, i, x] - moved[i, x])
