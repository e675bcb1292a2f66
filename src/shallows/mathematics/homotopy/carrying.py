"""Solutions of one member of a family carried to another, where no path is singular: lost ones are tried again.

A path is lost where its coordinates are a bad scale, w₁ = 1 where w₁ is small. A family that has other coordinates for
the same members (`OtherCoordinates`) is asked for them first: the path is the same one there. Then steps are made
smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy._compiled.codes import PathStatus
from shallows.mathematics.homotopy.families import Family, Vector
from shallows.mathematics.homotopy.paths import Homotopy, Paths, TrackerSettings, track
from shallows.support.progress import Shown

Complex = NDArray[np.complex128]
#: A singular end elsewhere is known to 10⁻⁵ or so, and so is the reciprocal of what it is here.
SINGULAR_FAR = 1e4


@dataclass(frozen=True)
class Elsewhere:
    """A segment of parameters in other coordinates, and the ways there and back, for points one a row.

    `same` are the unknowns themselves, with more digits: what is infinite there is infinite here.
    """

    segment: Homotopy
    there: Callable[[Complex], Complex]
    back: Callable[[Complex], Complex]
    same: bool = False


@runtime_checkable
class OtherCoordinates(Protocol):
    """A family whose members can be written in other coordinates."""

    def elsewhere(self, way: int, start: Vector, target: Vector) -> Elsewhere | None:
        """The segment in the coordinates of this number, 0, 1, …; None when there are none."""
        ...


def carried(
    family: Family,
    points: Complex,
    start: Vector,
    target: Vector,
    settings: TrackerSettings,
    *,
    again: int = 1,
    threads: int | None = None,
    progress: Shown = False,
) -> Paths:
    """The paths of `points` from the parameters `start` to `target`, without an endgame; lost ones in other
    coordinates, and then with smaller steps, so often.

    >>> from shallows.mathematics.homotopy.carrying import carried
    >>> family = sh.homotopy.PolynomialFamily.read(["x^2 - a*x + b"], ["x"], ["a", "b"])
    >>> known, wanted = np.array([3, 2], complex), np.array([5, 4], complex)
    >>> paths = carried(family, np.array([[1.0], [2.0]], complex), known, wanted, sh.homotopy.TrackerSettings())
    >>> paths.ends.real.round(9).tolist(), paths.status.tolist()
    ([[1.0], [4.0]], [0, 0])
    """
    segment = family.segment(start, target)
    paths = track(segment, points, settings, threads=threads, endgame=False, progress=progress)
    paths = found_elsewhere(family, points, start, target, paths, paths.status != 0, settings, threads)
    for _ in range(again):
        rows = np.flatnonzero(paths.status != 0)
        if not len(rows):
            break
        settings = settings.tighter()
        fresh = track(segment, points[rows], settings, threads=threads, endgame=False)
        paths = paths.with_rows(rows, fresh)
    return paths


def found_elsewhere(
    family: Family,
    points: Complex,
    start: Vector,
    target: Vector,
    paths: Paths,
    lost: NDArray[np.bool_],
    settings: TrackerSettings,
    threads: int | None,
    *,
    endgame: bool = False,
) -> Paths:
    """`paths` with those of the lost ones that have a finite end in other coordinates of the family, if it has any."""
    if not isinstance(family, OtherCoordinates):
        return paths
    left = np.flatnonzero(lost)
    for way in count():
        other = family.elsewhere(way, start, target) if len(left) else None
        if other is None:
            break
        starts = other.there(points[left])
        usable = np.isfinite(starts).all(axis=1)
        left, starts = np.concatenate([left[usable], left[~usable]]), starts[usable]
        there = track(other.segment, starts, settings, threads=threads, endgame=endgame)
        ends = other.back(there.ends)
        ended = np.isin(there.status, (PathStatus.ARRIVED, PathStatus.CONVERGED))
        far = ended & endgame & _is_far(ends, there.status == PathStatus.ARRIVED, settings)
        far |= endgame & other.same & np.isin(there.status, (PathStatus.DIVERGED, PathStatus.INFINITE))
        status = np.where(far, PathStatus.INFINITE, there.status)
        rows = np.flatnonzero(far | (ended & np.isfinite(ends).all(axis=1)))
        ends = np.where(np.isfinite(ends), ends, 0.0)
        paths = paths.with_rows(left[rows], replace(there, ends=ends, status=status).rows(rows))
        left = np.delete(left, rows)
    return paths


def _is_far(ends: Complex, regular: NDArray[np.bool_], settings: TrackerSettings) -> NDArray[np.bool_]:
    """Which points, finite in other coordinates, are at infinity here: as far as those are known."""
    sizes = np.where(np.isfinite(ends).all(axis=1), np.abs(ends).max(axis=1, initial=0.0), np.inf)
    return np.asarray(sizes > np.where(regular, settings.divergence, SINGULAR_FAR))
