"""Angles for the compiled ReLU loops: from cosines to sin θ/2π and (π−θ)/2π, without a branch or a library call."""

from __future__ import annotations

import numpy as np
from numba import njit

from shallows.support.checks import Array

FAST = {"reassoc", "contract", "nsz", "arcp"}  # not "nnan": a NaN must stay a NaN
INVERSE_TWO_PI = 1 / (2 * np.pi)


@njit(cache=True, fastmath=FAST, error_model="numpy", inline="always")
def angle_over_sine(t: float, c: Array) -> float:
    """Q(t) of degree 21, even and odd powers apart: two short chains of multiply-adds in place of a long one."""
    s = t * t
    even = c[20] * s + c[18]
    odd = c[21] * s + c[19]
    even, odd = even * s + c[16], odd * s + c[17]
    even, odd = even * s + c[14], odd * s + c[15]
    even, odd = even * s + c[12], odd * s + c[13]
    even, odd = even * s + c[10], odd * s + c[11]
    even, odd = even * s + c[8], odd * s + c[9]
    even, odd = even * s + c[6], odd * s + c[7]
    even, odd = even * s + c[4], odd * s + c[5]
    even, odd = even * s + c[2], odd * s + c[3]
    even, odd = even * s + c[0], odd * s + c[1]
    value: float = even + t * odd
    return value


@njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)
def angles(cosine: Array, c: Array, sine: Array, rest: Array) -> None:
    """sin θ / 2π and (π−θ) / 2π of a flat array of cosines: θ = sin θ · Q(2|cos θ| − 1) for θ ≤ π/2."""
    for j in range(len(cosine)):
        size = min(abs(cosine[j]), 1.0)
        height = np.sqrt((1 - size) * (1 + size)) * INVERSE_TWO_PI
        angle = height * angle_over_sine(2 * size - 1, c)
        rest[j] = angle if cosine[j] < 0 else 0.5 - angle
        sine[j] = height


@njit(cache=True, nogil=True)
def sparse_rows(V: Array) -> tuple[np.ndarray, np.ndarray, Array, Array]:
    """Rows as lists of nonzero entries (first, column, value), and their lengths: teachers are often coordinates."""
    m, n = V.shape
    count = 0
    for j in range(m):
        for i in range(n):
            if V[j, i] != 0:
                count += 1
    first, column, value = np.zeros(m + 1, np.int64), np.empty(count, np.int64), np.empty(count)
    norm = np.empty(m)
    place = 0
    for j in range(m):
        square = 0.0
        for i in range(n):
            if V[j, i] != 0:
                column[place], value[place] = i, V[j, i]
                square += V[j, i] * V[j, i]
                place += 1
        first[j + 1], norm[j] = place, np.sqrt(square)
    return first, column, value, norm
