"""The compiled evaluator of the rank-r critical equations along a segment of (metric, target).

Importing this module imports numba: do it inside functions. The signature is that of `homotopy.evaluators`. Numbers lie
one after the other in `work`:

    U (n r) | UA (n r) | s | e | drift of e | G(t) | M (n n) | dM (n n) | ds | de
"""

from __future__ import annotations

from typing import Any

from numba import types

from shallows.mathematics.homotopy._compiled.evaluators import SIGNATURE
from shallows.mathematics.homotopy._compiled.kinds import BOOL, COMPLEXES, INT
from shallows.questions.charts.continuation._loop import gap
from shallows.support.compiling import callback, several, unit

#: A row and a column.
PLACE = several(INT, INT)


@unit(types.void(COMPLEXES, COMPLEXES, INT, INT))
def _student(point: Any, work: Any, n: int, r: int) -> None:
    """U = (I; Z), UA and the entries s of S = U A Uᵀ, from the unknowns."""
    heads = r * (r + 1) // 2
    at_ua, at_s = n * r, 2 * n * r
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


@unit(types.void(COMPLEXES, INT, INT, INT))
def _matrix_of(work: Any, source: int, target: int, n: int) -> None:
    """The symmetric matrix with M_ii = e_ii, M_ij = e_ij / 2."""
    k = 0
    for i in range(n):
        for j in range(i, n):
            entry = work[source + k] if i == j else 0.5 * work[source + k]
            work[target + i * n + j] = entry
            work[target + j * n + i] = entry
            k += 1


@unit(types.void(COMPLEXES, INT, INT, INT, COMPLEXES, INT, INT))
def _equations(work: Any, matrix: int, n: int, r: int, result: Any, first: int, step: int) -> None:
    """The lower block of M U and the upper triangle of its top block, into every `step`-th place of `result`."""
    place = first
    for i in range(r, n):
        for a in range(r):
            total = 0.0 + 0.0j
            for j in range(n):
                total += work[matrix + i * n + j] * work[j * r + a]
            result[place] = total
            place += step
    for a in range(r):
        for b in range(a, r):
            total = 0.0 + 0.0j
            for j in range(n):
                total += work[matrix + a * n + j] * work[j * r + b]
            result[place] = total
            place += step


@unit(PLACE(INT, INT))
def _place_of(x: int, r: int) -> tuple[int, int]:
    """Row and column of the unknown x: in A for the first r(r+1)/2, in U for the others."""
    heads = r * (r + 1) // 2
    if x >= heads:
        return r + (x - heads) // r, (x - heads) % r
    row, rest = 0, x
    while rest >= r - row:
        rest -= r - row
        row += 1
    return row, row + rest


@unit(types.void(COMPLEXES, BOOL, PLACE, INT, INT, INT))
def _tangent(work: Any, inner: bool, place: tuple[int, int], at_ds: int, n: int, r: int) -> None:
    """∂s in an unknown: at `place` of A (`inner`), or of U."""
    first, second = place
    at_ua, k = n * r, 0
    for i in range(n):
        for j in range(i, n):
            if inner:
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


@unit(types.void(COMPLEXES, INT, PLACE, INT, INT, COMPLEXES, INT, INT))
def _add_moved_frame(
    work: Any, at_m: int, place: tuple[int, int], n: int, r: int, column: Any, first: int, step: int
) -> None:
    """Add M ∂U to a column of the Jacobian: ∂U has one 1, in row place[0] and column place[1]."""
    row, moved = place
    equation = first
    for i in range(r, n):
        column[equation + moved * step] += work[at_m + i * n + row]
        equation += r * step
    for a in range(r):
        for b in range(a, r):
            if b == moved:
                column[equation] += work[at_m + a * n + row]
            equation += step


@callback(SIGNATURE)
def low_rank(
    point: Any, complexes: Any, reals: Any, program: Any, work: Any, scratch: Any, value: Any, jacobian: Any
) -> None:
    """F(A, Z; G(t), g(t)): the lower block of MU and the upper triangle of its top block.

    U = (I; Z), S = U A Uᵀ, e = G s − g on the entries s of S, and M the symmetric matrix with M_ii = e_ii,
    M_ij = e_ij / 2. `complexes` holds G and g at t = 0 and their slopes in t: G0, G1 (N×N), g0, g1.
    """
    n, r = program[0], program[1]
    size, heads = n * (n + 1) // 2, r * (r + 1) // 2
    unknowns = heads + (n - r) * r
    width = unknowns + 1
    at_s = 2 * n * r
    at_e, at_drift, at_g = at_s + size, at_s + 2 * size, at_s + 3 * size
    at_m = at_g + size * size
    at_dm = at_m + n * n
    at_ds = at_dm + n * n
    at_de = at_ds + size
    _student(point, work, n, r)
    gap(point[unknowns], complexes, work, at_s, size)
    _matrix_of(work, at_e, at_m, n)
    _equations(work, at_m, n, r, value, 0, 1)
    _matrix_of(work, at_drift, at_dm, n)
    _equations(work, at_dm, n, r, jacobian, unknowns, width)
    for x in range(unknowns):  # one column of the Jacobian an unknown: dM U + M dU
        place = _place_of(x, r)
        _tangent(work, x < heads, place, at_ds, n, r)
        for i in range(size):
            total = 0.0 + 0.0j
            for j in range(size):
                total += work[at_g + i * size + j] * work[at_ds + j]
            work[at_de + i] = total
        _matrix_of(work, at_de, at_dm, n)
        _equations(work, at_dm, n, r, jacobian, x, width)
        if x >= heads:
            _add_moved_frame(work, at_m, place, n, r, jacobian, x, width)
