"""What the end of each path is: regular, singular, at infinity, or lost; and which paths to doubt.

Two regular paths cannot end at the same point, and around a singular point the paths of winding number w
come w at a time. Where that fails a path has jumped to a neighbour: it is tracked again, never moved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy._compiled.codes import PENCIL, PROJECTIVE, PathStatus
from shallows.mathematics.homotopy.paths import Homotopy, Paths
from shallows.mathematics.same_points import chordal_coordinates, close_pairs

LOST, REGULAR, SINGULAR, INFINITE = 0, 1, 2, 3
#: Condition numbers above which an end point is taken as singular.
SINGULAR_CONDITION = 1e9
_EPSILON = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Ends:
    """One entry a path: its class, affine point (a direction, at infinity), and how good it is."""

    kind: NDArray[np.int64]
    points: NDArray[np.complex128]
    accuracy: NDArray[np.float64]
    condition: NDArray[np.float64]
    residual: NDArray[np.float64]
    cluster: NDArray[np.int64]
    suspicious: NDArray[np.bool_]


def classify(homotopy: Homotopy, paths: Paths) -> Ends:
    """Sort the ends of paths tracked to t = 0. Singular ends that coincide share a `cluster` number."""
    from shallows.mathematics.homotopy._compiled.entry_points import inspect

    if homotopy.mode == PENCIL:
        raise ValueError("a pencil has no target at t = 0 to classify")
    count, size = paths.ends.shape
    projective = homotopy.mode == PROJECTIVE
    arrived = paths.status == PathStatus.ARRIVED
    converged = paths.status == PathStatus.CONVERGED
    escaped = (paths.status == PathStatus.INFINITE) | (paths.status == PathStatus.DIVERGED)
    ends = paths.ends.copy()
    matrices = np.zeros((count, size, size), np.complex128)
    values = np.zeros((count, size), np.complex128)
    steps = np.where(arrived, np.abs(paths.error), -1.0)
    inspect(
        homotopy.evaluate,
        homotopy.complexes,
        homotopy.reals,
        homotopy.program,
        (homotopy.mode, homotopy.work, homotopy.scratch, homotopy.noise),
        (ends, converged & (paths.winding == 1)),
        (matrices, values, steps),
    )
    sane = np.isfinite(matrices).all(axis=(1, 2))
    condition = np.full(count, np.inf)
    size_of, smallest = np.ones(count), np.zeros(count)
    if sane.any():
        singular_values = np.linalg.svd(matrices[sane], compute_uv=False)
        with np.errstate(divide="ignore"):
            condition[sane] = singular_values[:, 0] / singular_values[:, -1]
        size_of[sane] = np.maximum(singular_values[:, 0], 1e-300)
        smallest[sane] = singular_values[:, -1]
    residual = np.abs(values).max(axis=1) / size_of
    # a converged end of winding number one from which Newton converges to a regular point next to it
    moved = np.abs(ends - _aligned(paths.ends, ends)).max(axis=1)
    rounded = converged & (paths.winding == 1) & (steps >= 0) & (steps < 1e-10) & (moved < 1e-5)
    rounded &= condition < SINGULAR_CONDITION
    precise = paths.status == PathStatus.PRECISE_REGULAR
    regular = (arrived & (condition < 1e13)) | rounded | precise
    # rounding of the equations, seen through the inverse Jacobian; where they are sharper, Newton's last step tells all
    rounding = np.maximum(4 * _EPSILON * condition, homotopy.noise / np.maximum(smallest, 1e-300))
    rounding[np.abs(ends).max(axis=1, initial=0.0) > homotopy.sharp_beyond] = 8 * _EPSILON
    accuracy = np.where(regular, np.abs(steps) + rounding, np.abs(paths.error) + 1e-9)
    accuracy[precise] = 8 * _EPSILON
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        affine = ends[:, :-1] / ends[:, -1:] if projective else ends
    kind = np.full(count, LOST)
    kind[regular] = REGULAR
    kind[(converged & ~rounded) | (arrived & ~regular)] = SINGULAR
    kind[paths.status == PathStatus.PRECISE_SINGULAR] = SINGULAR
    suspicious = np.zeros(count, bool)
    if projective:
        away = np.abs(ends[:, -1])
        far = np.where(kind == REGULAR, away < np.clip(10 * accuracy, 1e-13, 1e-8), away < 1e-7)
        escaped |= (kind != LOST) & far
        suspicious |= (kind == SINGULAR) & ~far & (away < 1e-5)
    kind[escaped] = INFINITE
    points = np.where((kind == INFINITE)[:, None], ends[:, :-1] if projective else ends, affine)
    points[~np.isfinite(points).all(axis=1)] = np.nan
    cluster = _clusters(points, accuracy, condition, kind)
    _merge_multiple(points, accuracy, condition, kind, cluster)
    suspicious |= kind == LOST
    suspicious |= (kind == REGULAR) & ((accuracy > 1e-6) | (steps > 1e-9)) & ~precise  # too much for doubles
    suspicious |= (kind == SINGULAR) & (condition < 1e6)  # claimed singular, and the Jacobian says otherwise
    suspicious |= _doubtful(cluster, kind, paths.winding)
    return Ends(kind, points, accuracy, condition, residual, cluster, suspicious)


def _aligned(old: NDArray[np.complex128], new: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """`old`, each row scaled by the complex number that brings it closest to `new` (for projective points)."""
    if old.shape[1] == 0:
        return old
    inner = np.einsum("ij,ij->i", old.conj(), new)
    square = np.einsum("ij,ij->i", old.conj(), old)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(np.abs(square) > 0, inner / square, 1.0)
    return old * factor[:, None]


def _clusters(
    points: NDArray[np.complex128],
    accuracy: NDArray[np.float64],
    condition: NDArray[np.float64],
    kind: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Numbers shared by coinciding finite ends, −1 for the others."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    cluster = np.full(len(points), -1)
    rows = np.flatnonzero((kind == REGULAR) | (kind == SINGULAR))
    if not len(rows):
        return cluster
    radius = np.where(kind[rows] == SINGULAR, 1e-6 + 10 * accuracy[rows], 1e-12 + 10 * accuracy[rows])
    first, second = close_pairs(points[rows], np.minimum(radius, 1e-4))
    graph = coo_matrix((np.ones(len(first)), (first, second)), shape=(len(rows), len(rows)))
    cluster[rows] = connected_components(graph, directed=False)[1]
    return cluster


def _merge_multiple(
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
    poor = (condition > 1e8) & (accuracy > 1e-12)
    hard = np.flatnonzero((cluster >= 0) & ((kind == SINGULAR) | poor))
    groups = [list(rows) for rows in _by_number(cluster, hard).values()]
    if not groups or len(groups) > 2000:
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
            if gaps[a, b] ** (len(groups[a]) + len(groups[b])) < 1e-12:
                groups[a] += groups.pop(b)
                merged = True
                break
    for rows in groups:
        cluster[rows] = cluster[rows[0]]
        if len(rows) > 1:
            spread = float(np.abs(points[rows] - points[rows].mean(axis=0)).max())
            points[rows] = points[rows].mean(axis=0)
            accuracy[rows] = accuracy[rows].max() + min(spread, 1e-7)
            kind[rows] = SINGULAR


def _by_number(cluster: NDArray[np.int64], rows: NDArray[np.int64]) -> dict[int, list[int]]:
    members: dict[int, list[int]] = {}
    for row in rows.tolist():
        members.setdefault(int(cluster[row]), []).append(row)
    return members


def _doubtful(
    cluster: NDArray[np.int64], kind: NDArray[np.int64], winding: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Ends that cannot all be right: regular ones that coincide, windings that do not add up."""
    doubtful = np.zeros(len(cluster), bool)
    used = cluster >= 0
    sizes = np.bincount(cluster[used]) if used.any() else np.zeros(0, int)
    for number in np.flatnonzero(sizes > 1):
        members = np.flatnonzero(cluster == number)
        if (kind[members] == REGULAR).any():
            doubtful[members] = True
            continue
        for w in np.unique(winding[members]):
            if np.count_nonzero(winding[members] == w) % w:
                doubtful[members] = True
    alone = used.copy()
    alone[used] = sizes[cluster[used]] == 1
    doubtful |= alone & (kind == SINGULAR) & (winding > 1)
    return doubtful
