"""What the end of each path is: regular, singular, at infinity, or lost; and which paths to doubt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy._compiled.calls import inspect_block
from shallows.mathematics.homotopy._compiled.codes import PENCIL, PROJECTIVE, PathStatus
from shallows.mathematics.homotopy._compiled.records import room
from shallows.mathematics.homotopy.clusters import (
    ILL_CONDITIONED,
    INFINITE,
    LOST,
    REGULAR,
    SINGULAR,
    coinciding,
    doubtful,
    merge_multiple,
)
from shallows.mathematics.homotopy.paths import Homotopy, Paths
from shallows.mathematics.same_points import of_one_sign
from shallows.support import cores
from shallows.support.tolerances import EPSILON, TINY

#: An end of the endgame is regular after all when Newton converges from it, to this relative step, to a point of a
#: smaller condition number than SINGULAR_CONDITION that is no further away than this; nor does Newton in double-double
#: move an end further.
CONVERGED, NEXT_TO_IT, SINGULAR_CONDITION = 1e-10, 1e-5, 1e9
#: An end that Newton's method reached is regular below this condition number, at which hardly three digits of the point
#: are known (HomotopyContinuation.jl ends paths at the same number, its `terminate_cond`).
REGULAR_CONDITION = 1e13
#: Errors of a regular point in ε times the condition number, and in ε where equations are sharper than doubles.
ROUNDINGS, SHARP_ROUNDINGS = 4, 8
#: Errors of a singular end are those of the endgame's mean and this: it is a root of a perturbed system, in doubles.
MEAN_ERROR = 1e-9
#: A projective end is at infinity when |x₀|, of unit length, is below ten times its accuracy, which is taken to be
#: within these bounds for a regular one; and below this for a singular one, known to about 10⁻⁷.
FAR, NEAREST_FAR, WIDEST_FAR, SINGULAR_FAR = 10, 1e-13, 1e-8, 1e-7
#: A singular end nearer to infinity than this may be there: it is tracked again; so is a regular one that is called
#: infinite only because it is badly known.
NEARLY_FAR = 1e-5
#: A regular end is tracked again, or in multiple precision, when it is known worse than this, or when Newton's last
#: step was longer than this.
POOR_ACCURACY, POOR_STEP = 1e-6, 1e-9
#: Ends that a thread looks at together: a millisecond or so of work.
A_THREAD = 128


@dataclass(frozen=True)
class Ends:
    """One entry a path: its class, affine point (a direction, at infinity), and how good it is.

    `accuracy` is of the point of unit length that was tracked, `error` of the affine point, absolutely.
    """

    kind: NDArray[np.int64]
    points: NDArray[np.complex128]
    accuracy: NDArray[np.float64]
    condition: NDArray[np.float64]
    residual: NDArray[np.float64]
    cluster: NDArray[np.int64]
    suspicious: NDArray[np.bool_]
    error: NDArray[np.float64]


@dataclass(frozen=True)
class _Inspected:
    """Ends after a few Newton steps, the last of these (−1 where there was none), and the Jacobians there."""

    ends: NDArray[np.complex128]
    steps: NDArray[np.float64]
    residual: NDArray[np.float64]
    condition: NDArray[np.float64]
    smallest: NDArray[np.float64]


def classify(homotopy: Homotopy, paths: Paths, threads: int | None = 1) -> Ends:
    """Sort the ends of paths tracked to t = 0. Singular ends that coincide share a `cluster` number."""
    if homotopy.mode == PENCIL:
        raise ValueError("a pencil has no target at t = 0 to classify")
    projective = homotopy.mode == PROJECTIVE
    seen = _inspected(homotopy, paths, threads)
    ends, condition = seen.ends, seen.condition
    kind = _kinds(paths, seen)
    accuracy = _accuracy(homotopy, paths, seen, kind == REGULAR)
    suspicious = np.zeros(len(ends), bool)
    escaped = (paths.status == PathStatus.INFINITE) | (paths.status == PathStatus.DIVERGED)
    if projective:
        away = np.abs(ends[:, -1])
        within = np.where(kind == REGULAR, np.clip(FAR * accuracy, NEAREST_FAR, WIDEST_FAR), SINGULAR_FAR)
        escaped |= (kind != LOST) & (away < within)
        suspicious |= (kind == SINGULAR) & (away >= within) & (away < NEARLY_FAR)
        suspicious |= (kind == REGULAR) & (away < within) & (away > NEAREST_FAR)
    kind[escaped] = INFINITE
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        affine = ends[:, :-1] / ends[:, -1:] if projective else ends
    points = np.where((kind == INFINITE)[:, None], ends[:, :-1] if projective else ends, affine)
    points[~np.isfinite(points).all(axis=1)] = np.nan
    if homotopy.sign_symmetric:
        points = of_one_sign(points)
    cluster = coinciding(points, accuracy, kind)
    merge_multiple(points, accuracy, condition, kind, cluster)
    poor = (accuracy > POOR_ACCURACY) | (seen.steps > POOR_STEP)
    suspicious |= kind == LOST
    suspicious |= (kind == REGULAR) & poor & (paths.status != PathStatus.PRECISE_REGULAR)
    suspicious |= (kind == SINGULAR) & (condition < ILL_CONDITIONED)
    suspicious |= doubtful(cluster, kind, paths.winding)
    error = _error(points, accuracy, projective)
    return Ends(kind, points, accuracy, condition, seen.residual, cluster, suspicious, error)


def _error(
    points: NDArray[np.complex128], accuracy: NDArray[np.float64], projective: bool
) -> NDArray[np.float64]:
    """How far affine points may be off. With z = (x, 1)/√(1 + ‖x‖²) known to δ it is δ √(1 + ‖x‖²) (1 + ‖x‖): the
    quotient of two numbers that are both known to δ."""
    sizes = np.abs(points).max(axis=1, initial=0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        lever = np.hypot(1.0, sizes) * (1.0 + sizes) if projective else np.where(sizes > 0.0, sizes, 1.0)
        return np.asarray(accuracy * lever)


def _inspected(homotopy: Homotopy, paths: Paths, threads: int | None) -> _Inspected:
    count, size = paths.ends.shape
    ends, steps = paths.ends.copy(), np.where(paths.status == PathStatus.ARRIVED, np.abs(paths.error), -1.0)
    # ends that were reached in doubles get the digits of equations that are sharper
    sharper = (paths.status == PathStatus.ARRIVED) & (homotopy.sharp_beyond == 0.0)
    newton = ((paths.status == PathStatus.CONVERGED) & (paths.winding == 1)) | sharper
    values, spectra = np.zeros((count, size), np.complex128), np.zeros((count, 2))
    workers = cores.workers(threads)
    together = count if workers == 1 else max(A_THREAD, count // (2 * workers) + 1)
    blocks = [slice(k, k + together) for k in range(0, count, max(together, 1))]

    def inspect(rows: slice) -> None:
        matrices = _jacobians(homotopy, ends[rows], newton[rows], values[rows], steps[rows])
        sane = np.isfinite(matrices).all(axis=(1, 2))
        own = np.linalg.svd(matrices[sane], compute_uv=False)
        spectra[rows][sane] = own[:, [0, -1]]
        spectra[rows][~sane] = 1.0, 0.0

    cores.each(inspect, blocks, workers)
    away = sharper & (np.abs(ends - _aligned(paths.ends, ends)).max(axis=1, initial=0.0) > NEXT_TO_IT)
    ends[away], steps[away] = paths.ends[away], -1.0
    largest, smallest = spectra.T
    with np.errstate(divide="ignore", invalid="ignore"):
        condition = np.where(smallest > 0.0, largest / smallest, np.inf)
    return _Inspected(
        ends, steps, np.abs(values).max(axis=1) / np.maximum(largest, TINY), condition, smallest
    )


def _jacobians(
    homotopy: Homotopy,
    ends: NDArray[np.complex128],
    newton: NDArray[np.bool_],
    values: NDArray[np.complex128],
    steps: NDArray[np.float64],
) -> NDArray[np.complex128]:
    """Jacobians at some ends, moved by Newton's method where it is asked for; fills in values and its last steps."""
    count, size = ends.shape
    matrices = np.zeros((count, size, size), np.complex128)
    memory = room(homotopy.system(), homotopy.mode, size, size, homotopy.work, homotopy.scratch)
    flat = matrices.reshape(count, size * size)
    inspect_block(memory, homotopy.noise, ends, newton, flat, values, steps)
    return matrices


def _kinds(paths: Paths, seen: _Inspected) -> NDArray[np.int64]:
    """Regular, singular or lost, by the status of the path and the Jacobian at its end."""
    arrived, converged = paths.status == PathStatus.ARRIVED, paths.status == PathStatus.CONVERGED
    # a converged end of winding number one from which Newton converges to a regular point next to it
    moved = np.abs(seen.ends - _aligned(paths.ends, seen.ends)).max(axis=1)
    by_newton = (seen.steps >= 0) & (seen.steps < CONVERGED) & (moved < NEXT_TO_IT)
    rounded = converged & (paths.winding == 1) & by_newton & (seen.condition < SINGULAR_CONDITION)
    regular = (arrived & (seen.condition < REGULAR_CONDITION)) | rounded
    kind = np.full(len(paths), LOST)
    kind[arrived | converged | (paths.status == PathStatus.PRECISE_SINGULAR)] = SINGULAR
    kind[regular | (paths.status == PathStatus.PRECISE_REGULAR)] = REGULAR
    return kind


def _accuracy(
    homotopy: Homotopy, paths: Paths, seen: _Inspected, regular: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Newton's last step and the rounding of the equations, seen through the inverse Jacobian; where these are sharper
    than doubles Newton's last step tells all."""
    noise = homotopy.noise / np.maximum(seen.smallest, TINY)
    rounding = np.maximum(ROUNDINGS * EPSILON * seen.condition, noise)
    rounding[np.abs(seen.ends).max(axis=1, initial=0.0) > homotopy.sharp_beyond] = SHARP_ROUNDINGS * EPSILON
    accuracy = np.where(regular, np.abs(seen.steps) + rounding, np.abs(paths.error) + MEAN_ERROR)
    accuracy[paths.status == PathStatus.PRECISE_REGULAR] = SHARP_ROUNDINGS * EPSILON
    return accuracy


def _aligned(old: NDArray[np.complex128], new: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """`old`, each row scaled by the complex number that brings it closest to `new` (for projective points)."""
    if old.shape[1] == 0:
        return old
    inner = np.einsum("ij,ij->i", old.conj(), new)
    square = np.einsum("ij,ij->i", old.conj(), old)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(np.abs(square) > 0, inner / square, 1.0)
    return old * factor[:, None]
