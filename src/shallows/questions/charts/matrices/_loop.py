"""The compiled evaluator of the rank-r critical equations along a segment of (metric, target).

Importing this module imports numba: do it inside functions. The signature is that of `homotopy.evaluators`.
"""

from __future__ import annotations

from typing import Any

from numba import cfunc

from shallows.mathematics.homotopy._compiled.evaluators import SIGNATURE


@cfunc(SIGNATURE, cache=True)
def low_rank(
    point: Any, complexes: Any, reals: Any, program: Any, work: Any, scratch: Any, value: Any, jacobian: Any
) -> None:
    """F(A, Z; G(t), g(t)): the lower block of MU and the upper triangle of its top block.

    U = (I; Z), S = U A Uᵀ, e = G s − g on the entries s of S, and M the symmetric matrix with M_ii = e_ii,
    M_ij = e_ij / 2. `complexes` holds G and g at t = 0 and their slopes in t: G0, G1 (N×N), g0, g1.
    """
    n, r = program[0], program[1]
    size = n * (n + 1) // 2
    heads = r * (r + 1) // 2
    rows = n - r
    unknowns = heads + rows * r
    width = unknowns + 1
    t = point[unknowns]
    square = size * size
    # work: U (n r) | UA (n r) | s | e | drift of e | G(t) | M (n n) | dM (n n) | ds | de
    at_ua = n * r
    at_s = at_ua + n * r
    at_e = at_s + size
    at_drift = at_e + size
    at_g = at_drift + size
    at_m = at_g + square
    at_dm = at_m + n * n
    at_ds = at_dm + n * n
    at_de = at_ds + size

    for i in range(n):
        for a in range(r):
            if i < r:
                work[i * r + a] = 1.0 if i == a else 0.0
            else:
                work[i * r + a] = point[heads + (i - r) * r + a]
    for i in range(n):
        for b in range(r):
            total = 0.0 + 0.0j
            for a in range(r):
                low, high = (a, b) if a <= b else (b, a)
                place = low * r - low * (low - 1) // 2 + high - low
                total += work[i * r + a] * point[place]
            work[at_ua + i * r + b] = total
    k = 0
    for i in range(n):
        for j in range(i, n):
            total = 0.0 + 0.0j
            for a in range(r):
                total += work[at_ua + i * r + a] * work[j * r + a]
            work[at_s + k] = total
            k += 1
    for i in range(size):
        total = -(complexes[2 * square + i] + t * complexes[2 * square + size + i])
        drift = -complexes[2 * square + size + i]
        for j in range(size):
            slope = complexes[square + i * size + j]
            entry = complexes[i * size + j] + t * slope
            work[at_g + i * size + j] = entry
            total += entry * work[at_s + j]
            drift += slope * work[at_s + j]
        work[at_e + i] = total
        work[at_drift + i] = drift

    # the value and its derivative in t, from e and its drift
    for which in range(2):
        source = at_e if which == 0 else at_drift
        target = at_m if which == 0 else at_dm
        k = 0
        for i in range(n):
            for j in range(i, n):
                entry = work[source + k] if i == j else 0.5 * work[source + k]
                work[target + i * n + j] = entry
                work[target + j * n + i] = entry
                k += 1
        equation = 0
        for i in range(r, n):
            for a in range(r):
                total = 0.0 + 0.0j
                for j in range(n):
                    total += work[target + i * n + j] * work[j * r + a]
                if which == 0:
                    value[equation] = total
                else:
                    jacobian[equation * width + unknowns] = total
                equation += 1
        for a in range(r):
            for b in range(a, r):
                total = 0.0 + 0.0j
                for j in range(n):
                    total += work[target + a * n + j] * work[j * r + b]
                if which == 0:
                    value[equation] = total
                else:
                    jacobian[equation * width + unknowns] = total
                equation += 1

    # one column of the Jacobian an unknown: dM U + M dU
    for x in range(unknowns):
        first, second = 0, 0
        if x < heads:
            rest = x
            while rest >= r - first:
                rest -= r - first
                first += 1
            second = first + rest
        else:
            first = r + (x - heads) // r
            second = (x - heads) % r
        k = 0
        for i in range(n):
            for j in range(i, n):
                if x < heads:
                    change = work[i * r + first] * work[j * r + second]
                    if first != second:
                        change += work[i * r + second] * work[j * r + first]
                else:
                    change = 0.0 + 0.0j
                    if i == first:
                        change += work[at_ua + j * r + second]
                    if j == first:
                        change += work[at_ua + i * r + second]
                work[at_ds + k] = change
                k += 1
        for i in range(size):
            total = 0.0 + 0.0j
            for j in range(size):
                total += work[at_g + i * size + j] * work[at_ds + j]
            work[at_de + i] = total
        k = 0
        for i in range(n):
            for j in range(i, n):
                entry = work[at_de + k] if i == j else 0.5 * work[at_de + k]
                work[at_dm + i * n + j] = entry
                work[at_dm + j * n + i] = entry
                k += 1
        equation = 0
        for i in range(r, n):
            for a in range(r):
                total = 0.0 + 0.0j
                for j in range(n):
                    total += work[at_dm + i * n + j] * work[j * r + a]
                if x >= heads and a == second:
                    total += work[at_m + i * n + first]
                jacobian[equation * width + x] = total
                equation += 1
        for a in range(r):
            for b in range(a, r):
                total = 0.0 + 0.0j
                for j in range(n):
                    total += work[at_dm + a * n + j] * work[j * r + b]
                if x >= heads and b == second:
                    total += work[at_m + a * n + first]
                jacobian[equation * width + x] = total
                equation += 1
