"""Ends of paths that are one solution: clusters, multiple roots that rounding has split, and numbers that cannot be.

Two regular paths cannot end at the same point, and around a singular point the paths of winding number w
come w at a time. Where that fails a path has jumped to a neighbour: it is tracked again, never moved.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.same_points import chains, chordal_coordinates, close_pairs

LOST, REGULAR, SINGULAR, INFINITE = 0, 1, 2, 3
#: Chordal distances within which ends are one: ten times their accuracy, and at least this for regular ends, which are
#: known to a few ε, and for singular ones, of which the endgame takes those that are known to 10⁻⁶ ...
ACCURACY_ROOM, REGULAR_ROOM, SINGULAR_ROOM = 10, 1e-12, 1e-6
#: ... but never more than this: an end that is known worse says nothing about its neighbours.
WIDEST_ROOM = 1e-4
#: Ends of a larger condition number may be half of a double root, or one of a close pair; smaller ones are regular.
ILL_CONDITIONED = 1e6
#: Ends of a condition number above this, and not known to REGULAR_ROOM, may be one multiple root: rounding splits a
#: double one into two points √ε apart, each with a condition number of about 1/√ε.
POOR_CONDITION = 1e8
#: m points stand for one m-fold root while (distance)^m is below this, a small multiple of ε.
SPLIT = 1e-12
#: The comparison of all pairs is left out beyond so many groups of ill-conditioned ends: their table would have
#: millions of entries.
MOST_GROUPS = 2000
#: What the spread of merged points adds to the error of their mean, at most: the mean stays put to first order.
WIDEST_SPREAD = 1e-7


def coinciding(
    points: NDArray[np.complex128], accuracy: NDArray[np.float64], kind: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Numbers shared by coinciding finite ends, −1 for the others."""
    cluster = np.full(len(points), -1)
    rows = np.flatnonzero((kind == REGULAR) | (kind == SINGULAR))
    if not len(rows):
        return cluster
    room = np.where(kind[rows] == SINGULAR, SINGULAR_ROOM, REGULAR_ROOM)
    radius = room + ACCURACY_ROOM * accuracy[rows]
    first, second = close_pairs(points[rows], np.minimum(radius, WIDEST_ROOM))
    cluster[rows] = chains(len(rows), first, second)
    return cluster


def merge_multiple(
    points: NDArray[np.complex128],
    accuracy: NDArray[np.float64],
    condition: NDArray[np.float64],
    kind: NDArray[np.int64],
    cluster: NDArray[np.int64],
) -> None:
    """Merge, in place, ill-conditioned ends that double precision cannot tell from one multiple root.

    Rounding splits an m-fold root into m points at distance about ε^(1/m), whose mean stays put: so points
    are merged while (distance)^m is below a small multiple of ε, and moved to their mean.
    """
    poor = (condition > POOR_CONDITION) & (accuracy > REGULAR_ROOM)
    hard = np.flatnonzero((cluster >= 0) & ((kind == SINGULAR) | poor))
    groups = [list(rows) for rows in _by_number(cluster, hard).values()]
    if not groups or len(groups) > MOST_GROUPS:
        return
    merged = True
    while merged and len(groups) > 1:
        merged = False
        centres = np.array([points[rows].mean(axis=0) for rows in groups])
        where = chordal_coordinates(centres)
        gaps = np.linalg.norm(where[:, None] - where[None], axis=2)
        np.fill_diagonal(gaps, np.inf)
        for flat in np.argsort(gaps, axis=None)[: 4 * len(groups)]:
            a, b = sorted(divmod(int(flat), len(groups)))
            if gaps[a, b] ** (len(groups[a]) + len(groups[b])) < SPLIT:
                groups[a] += groups.pop(b)
                merged = True
                break
    for rows in groups:
        cluster[rows] = cluster[rows[0]]
        if len(rows) > 1:
            spread = float(np.abs(points[rows] - points[rows].mean(axis=0)).max())
            points[rows] = points[rows].mean(axis=0)
            accuracy[rows] = accuracy[rows].max() + min(spread, WIDEST_SPREAD)
            kind[rows] = SINGULAR


def _by_number(cluster: NDArray[np.int64], rows: NDArray[np.int64]) -> dict[int, list[int]]:
    members: dict[int, list[int]] = {}
    for row in rows.tolist():
        members.setdefault(int(cluster[row]), []).append(row)
    return members


def doubtful(
    cluster: NDArray[np.int64], kind: NDArray[np.int64], winding: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Ends that cannot all be right: regular ones that coincide, windings that do not add up."""
    found = np.zeros(len(cluster), bool)
    used = cluster >= 0
    sizes = np.bincount(cluster[used]) if used.any() else np.zeros(0, int)
    for number in np.flatnonzero(sizes > 1):
        members = np.flatnonzero(cluster == number)
        if (kind[members] == REGULAR).any():
            found[members] = True
            continue
        for w in np.unique(winding[members]):
            if np.count_nonzero(winding[members] == w) % w:
                found[members] = True
    alone = used.copy()
    alone[used] = sizes[cluster[used]] == 1
    found |= alone & (kind == SINGULAR) & (winding > 1)
    return found
