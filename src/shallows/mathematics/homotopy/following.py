"""All paths of a homotopy, the doubtful ones again with tighter settings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.batches import current
from shallows.mathematics.homotopy.classify import Ends, classify
from shallows.mathematics.homotopy.clusters import LOST, SINGULAR
from shallows.mathematics.homotopy.paths import Homotopy, Paths, TrackerSettings, track
from shallows.mathematics.same_points import chordal_coordinates
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Shown

#: How fast paths go on one core, for the estimate in a refusal only.
_PATHS_A_SECOND = 1_000
#: How often paths are tracked again with tighter settings (`TrackerSettings.tighter`).
_RETRIES = 3
#: Chordal distance at which a singular end of one γ is that of another: the endgame takes ends that are known to 10⁻⁶.
SAME_SINGULAR = 1e-5


def check_limit(count: int, limit: int) -> None:
    """Refuse more paths than the limit on one machine, with the count and an estimate of the time."""
    if count > limit and current() is None:
        seconds = count / _PATHS_A_SECOND
        span = f"{seconds:,.0f} s" if seconds < 600 else f"{seconds / 3600:,.1f} h"
        raise InvalidProblem(
            f"the system needs {count:,} paths, more than max_paths={limit:,} (about {span} on one core). "
            "Fix: raise max_paths, or give groups for a multihomogeneous start system"
        )


def follow_all(
    homotopy: Homotopy,
    starts: NDArray[np.complex128],
    settings: TrackerSettings,
    threads: int | None,
    progress: Shown,
    few: int = 0,
    only_lost: bool = False,
) -> tuple[Ends, Paths]:
    """Track everything; track again, with tighter settings, what was lost or cannot be right.

    When only `few` are left after the first repetition, the others are skipped: the caller has better means; with
    `only_lost`, for lost paths alone. A singular end by itself, on which two settings agree, is not tracked again.
    """
    paths = track(homotopy, starts, settings, threads=threads, progress=progress)
    ends = classify(homotopy, paths, threads)
    again, settled = ends.suspicious, np.zeros(len(starts), bool)
    for retry in range(_RETRIES):
        rows = np.flatnonzero(again)
        bearable = not only_lost or bool((ends.kind[rows] == LOST).all())
        if not len(rows) or (retry and len(rows) <= few and bearable):
            break
        settings = settings.tighter()
        fresh = track(homotopy, starts[rows], settings, threads=threads, progress=progress)
        before, windings = ends, paths.winding
        paths = paths.with_rows(rows, fresh)
        ends = classify(homotopy, paths, threads)
        settled |= again & _confirmed(before, ends) & (windings == paths.winding)
        again = ends.suspicious & ~settled
    return ends, paths


def _confirmed(first: Ends, second: Ends) -> NDArray[np.bool_]:
    """Paths of two runs with the same singular end, that no other path shares."""
    same: NDArray[np.bool_] = (first.kind == SINGULAR) & (second.kind == SINGULAR)
    for ends in (first, second):
        counts = np.bincount(ends.cluster[ends.cluster >= 0], minlength=1)
        same &= (ends.cluster >= 0) & (counts[ends.cluster] == 1)
    rows = np.flatnonzero(same)
    apart = chordal_coordinates(first.points[rows]) - chordal_coordinates(second.points[rows])
    same[rows] = np.linalg.norm(apart, axis=1) < SAME_SINGULAR
    return same
