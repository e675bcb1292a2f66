"""Mixed cells under a moving lifting, in exact integers: A. Jensen, "Tropical homotopy continuation", arXiv 1601.02818.

A cell is one edge (aᵢ, bᵢ) in each of n supports. With the matrix M of its edges bᵢ − aᵢ every point is
p = Σⱼ λⱼ(p) (bⱼ − aⱼ); the table holds det·λ for all points, whole numbers by Cramer's rule. The cell is a mixed one
for the lifting ω where, for every i and every c of the i-th support besides aᵢ and bᵢ,

    ω(c) − ω(aᵢ) − Σⱼ λⱼ(c − aᵢ) (ω(bⱼ) − ω(aⱼ)) > 0.

Where ω = lift + t·slope makes the first of these vanish, the cell is exchanged for those on the other side: with
λ = λᵢ(c − aᵢ) these are (c, bᵢ) when λ < 1 and (aᵢ, c) when λ > 0. When λ < 0 or λ > 1 a second cell comes to the
same wall, and one of the two goes on for both. A new edge changes the table by one exact pivot.

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

from shallows.mathematics.homotopy._compiled.codes import DONE, FULL, SPENT, TIED, TOO_LARGE
from shallows.mathematics.homotopy._compiled.kinds import BOOL, FLOAT, INT, INTEGERS, VOID
from shallows.support.compiling import behind, constants, entry, pointer, several, unit

#: Whole numbers below this, and sums of two of them, are held exactly; a bound computed in doubles may be off by one
#: part in 10¹⁴, which 2⁶¹ instead of 2⁶² pays for.
EXACT = 2.0**61
#: Newton steps for the inverse of an odd number modulo 2⁶⁴, which is its own inverse modulo 2³: 3·2⁵ ≥ 64.
INVERSE_STEPS = 5
#: Fractions of whole numbers that differ by more than this share differ as doubles do.
CLOSE = 1e-12


@unit(FLOAT(INTEGERS, INT))
def largest_entry(numbers: Any, count: int) -> float:
    """The largest size."""
    best = 0
    for k in range(count):
        best = max(best, abs(numbers[k]))
    return float(best)


@unit(BOOL(INTEGERS, INT, INT, INT, INTEGERS, INT))
def pivot(table: Any, points: int, n: int, det: int, edge: Any, place: int) -> bool:
    """Put a new edge, det·λ of it in `edge`, at `place`; the determinant is edge[place]. False: too large."""
    if largest_entry(table, points * n) * largest_entry(edge, n) > EXACT:
        return False
    new, shift, odd = edge[place], 0, det
    while odd & 1 == 0:
        odd >>= 1
        shift += 1
    # what is divided is a multiple of det: modulo 2⁶⁴ that is a product with its inverse, by Newton's method
    inverse = odd
    for _ in range(INVERSE_STEPS):
        inverse *= 2 - odd * inverse
    for p in range(points):
        own = table[p * n + place]
        for j in range(n):
            if j != place:
                table[p * n + j] = ((new * table[p * n + j] - edge[j] * own) >> shift) * inverse
    return True


@unit(VOID(INTEGERS, INT, INT, INT, INTEGERS))
def edge_of(table: Any, n: int, begin: int, end: int, edge: Any) -> None:
    """det·λ of the edge between two points."""
    for j in range(n):
        edge[j] = table[end * n + j] - table[begin * n + j]


@unit(INT(INTEGERS, INT, INT, INTEGERS, INTEGERS, INTEGERS))
def load(coordinates: Any, points: int, n: int, cell: Any, table: Any, room: Any) -> int:
    """The table of a cell from nothing: its determinant, up to sign, or 0 when numbers get too large.

    `room` is for 3n numbers.
    """
    edge, place_of, taken = room, behind(room, n), behind(room, 2 * n)
    for k in range(points * n):
        table[k] = coordinates[k]
    for j in range(n):
        taken[j] = 0
    det = 1
    for i in range(n):
        edge_of(table, n, cell[2 * i], cell[2 * i + 1], edge)
        place = -1
        for j in range(n):
            if taken[j] == 0 and edge[j] != 0 and (place < 0 or abs(edge[j]) < abs(edge[place])):
                place = j
        if place < 0 or not pivot(table, points, n, det, edge, place):
            return 0
        det = edge[place]
        taken[place], place_of[i] = 1, place
    for p in range(points):
        for i in range(n):
            edge[i] = table[p * n + place_of[i]]
        for i in range(n):
            table[p * n + i] = edge[i]
    return det


@unit(INT(INT, INT, INT, INT))
def compared(a: int, b: int, c: int, d: int) -> int:
    """The sign of a/b − c/d for whole numbers a, c ≥ 0 and b, d > 0, exactly, by their continued fractions."""
    x, y = a / b, c / d
    if abs(x - y) > CLOSE * (x + y):
        return 1 if x > y else -1
    sign = 1
    while True:
        if a // b != c // d:
            return sign if a // b > c // d else -sign
        a, c = a % b, c % d
        if a == 0 or c == 0:
            if a == c:
                return 0
            return sign if a > 0 else -sign
        a, b, c, d = b, a, d, c
        sign = -sign


@unit(BOOL(INTEGERS, INT, INT, INT, INTEGERS, INTEGERS, INTEGERS))
def heights(table: Any, points: int, n: int, det: int, cell: Any, lifts: Any, out: Any) -> bool:
    """det·ω(p) − Σⱼ det·λⱼ(p) (ω(bⱼ) − ω(aⱼ)) of every point; False when numbers get too large."""
    size = max(largest_entry(table, points * n), float(abs(det)))
    if size * (n + 1) * 4.0 * largest_entry(lifts, points) > EXACT:
        return False
    for p in range(points):
        total = det * lifts[p]
        for j in range(n):
            total -= table[p * n + j] * (lifts[cell[2 * j + 1]] - lifts[cell[2 * j]])
        out[p] = total
    return True


@unit(several(INT, INT, INT)(INT, INT, INTEGERS, INTEGERS, INTEGERS, INTEGERS))
def wall(n: int, det: int, cell: Any, firsts: Any, still: Any, moving: Any) -> tuple[int, int, int]:
    """The first inequality that vanishes: its support, its point (−1: none), and whether a second one does there."""
    sign = 1 if det > 0 else -1
    where, which, tied, above, below = -1, -1, 0, 0, 1
    for i in range(n):
        begin, end = cell[2 * i], cell[2 * i + 1]
        for c in range(firsts[i], firsts[i + 1]):
            falls = -sign * (moving[c] - moving[begin])
            if c in (begin, end) or falls <= 0:
                continue
            height = sign * (still[c] - still[begin])
            order = -1 if which < 0 else compared(height, falls, above, below)
            if order < 0:
                where, which, tied, above, below = i, c, 0, height, falls
            elif order == 0:
                tied = 1
    return where, which, tied


@unit(INT(INT, INT, INT, INT, INTEGERS, INTEGERS, INTEGERS))
def crossed(n: int, det: int, i: int, new: int, cell: Any, table: Any, other: Any) -> int:
    """Exchange the cell at its wall: 0 when another cell goes on for it, else 1, or 2 with a second cell in `other`."""
    begin, end = cell[2 * i], cell[2 * i + 1]
    share = table[new * n + i] - table[begin * n + i]
    if det < 0:
        share, det = -share, -det
    if (share < 0 and new < end) or (share > det and new < begin):
        return 0
    for k in range(2 * n):
        other[k] = cell[k]
    if share < det:
        cell[2 * i] = new
        if share > 0:
            other[2 * i + 1] = new
            return 2
    else:
        cell[2 * i + 1] = new
    return 1


@unit(BOOL(INTEGERS, INT, INTEGERS))
def rests(cell: Any, n: int, slopes: Any) -> bool:
    """Whether none of the cell's points moves."""
    moving = 0
    for k in range(2 * n):
        moving += slopes[cell[k]] != 0
    return bool(moving == 0)


@entry(
    several(INT, INT, INT, INT)(
        constants(INT, 2), constants(INT), constants(INT), constants(INT), constants(INT, 2),
        INT[:, ::1], INT[::1], INT[:, ::1], INT[::1], INT,
    )
)  # fmt: skip
def explore(
    coordinates: Any, firsts: Any, lifts: Any, slopes: Any, starts: Any,
    cells: Any, volumes: Any, stack: Any, memory: Any, budget: int,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Follow cells from t = 0 to t = ∞: status, how many are kept, the volume of all that there are, the work done.

    The i-th support has the points firsts[i] to firsts[i + 1]. Cells none of whose points has a slope are kept, with
    their `volumes`. `stack` holds cells that wait; `memory` is for points·(n + 2) + 3n numbers.
    """
    points, n = coordinates.shape
    table = pointer(memory)
    still, moving, room = (
        behind(table, points * n),
        behind(table, points * (n + 1)),
        behind(table, points * (n + 2)),
    )
    found, volume, work = 0, 0, 0
    for number in range(len(starts)):
        for k in range(2 * n):
            stack[0, k] = starts[number, k]
        waiting = 1
        while waiting > 0:
            waiting -= 1
            cell = behind(pointer(stack), waiting * 2 * n)
            det = load(pointer(coordinates), points, n, cell, table, room)
            work += n
            while True:
                work += 1
                if work > budget:
                    return SPENT, found, volume, work
                if det == 0 or not heights(table, points, n, det, cell, pointer(lifts), still):
                    return TOO_LARGE, found, volume, work
                if not heights(table, points, n, det, cell, pointer(slopes), moving):
                    return TOO_LARGE, found, volume, work
                where, which, tied = wall(n, det, cell, pointer(firsts), still, moving)
                if tied != 0:
                    return TIED, found, volume, work
                if which < 0:
                    break
                if waiting + 1 == len(stack) or found == len(cells):
                    return FULL, found, volume, work
                count = crossed(n, det, where, which, cell, table, behind(cell, 2 * n))
                if count == 0:
                    break
                if count == 2:
                    waiting += 1
                    cell = behind(cell, 2 * n)
                edge_of(table, n, cell[2 * where], cell[2 * where + 1], room)
                new = room[where]
                det = new if pivot(table, points, n, det, room, where) else 0
            if which < 0:
                volume += abs(det)
                if rests(cell, n, pointer(slopes)):
                    for k in range(2 * n):
                        cells[found, k] = cell[k]
                    volumes[found] = abs(det)
                    found += 1
    return DONE, found, volume, work
