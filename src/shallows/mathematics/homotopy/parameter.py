"""Parameter homotopy: from one solved member of a family to any other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.mathematics.homotopy._compiled.codes import PathStatus
from shallows.mathematics.homotopy.assembly import Run, assemble
from shallows.mathematics.homotopy.carrying import OtherCoordinates, carried, found_elsewhere
from shallows.mathematics.homotopy.classify import classify
from shallows.mathematics.homotopy.clusters import LOST
from shallows.mathematics.homotopy.families import Family, Vector
from shallows.mathematics.homotopy.following import check_limit, follow_all
from shallows.mathematics.homotopy.paths import Paths, TrackerSettings
from shallows.mathematics.homotopy.solutions import Solutions, Status
from shallows.support.arguments import typed
from shallows.support.errors import IncompleteChart, InvalidProblem
from shallows.support.progress import Shown
from shallows.support.seeds import seed_of
from shallows.support.tolerances import TINY

#: So many generic members are tried: each costs as much as the first, and a path that is lost on the way to two of
#: them most often starts at a singular point.
_MEMBERS = 3


class _Member:
    """The target member of a family, as `solve.assemble` sees it."""

    start = "parameter homotopy"

    def __init__(self, n: int, system: Any) -> None:
        self.n, self.system = n, system

    def unscale(self, points: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """Coordinates are not scaled here."""
        return points


@typed
def solve_member(
    family: Family,
    solutions: ArrayLike,
    known: Sequence[object],
    wanted: Sequence[object],
    rng: int | np.random.Generator = 0,
    *,
    detour: bool = True,
    max_paths: int = 100_000,
    on_incomplete: Literal["raise", "return"] = "raise",
    threads: int | None = None,
    progress: Shown = False,
    settings: TrackerSettings | None = None,
    give_up: int = 0,
) -> Solutions:
    """Solutions at the parameters `wanted`, from all `solutions` at the parameters `known`.

    When the known member is generic, the paths reach every isolated solution of the wanted one (Sommese
    and Wampler 2005, Theorem 7.1.1: parameter continuation). `detour` goes by a random complex member, so
    that the way between two real members does not run into the discriminant; it can be left out when the
    known parameters are themselves random complex numbers. Lost paths are tried again with smaller steps, up to three
    times; when no more than `give_up` are left after the first time, for a caller who knows other ways, only once. So
    many may be lost on the way to the random member, too.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^2 - a*x + b"], ["x"], ["a", "b"])
    >>> found = sh.homotopy.solve_member(family, [[1], [2]], known=[3, 2], wanted=[5, 6])
    >>> sorted(found.real.points[:, 0].round(9).tolist())
    [2.0, 3.0]
    """
    started = time.perf_counter()
    seed = seed_of(rng)
    settings = settings or TrackerSettings()
    points = np.array(solutions, dtype=np.complex128, ndmin=2)
    begin, goal = _vector(family, known, "known"), _vector(family, wanted, "wanted")
    if points.shape[1] != family.n:
        raise InvalidProblem(
            f"the solutions have {points.shape[1]} coordinates, the family {family.n} unknowns. "
            "Fix: give one solution a row"
        )
    check_limit(len(points), max_paths)
    there = None
    if detour:
        size = float(np.abs([*begin, *goal]).max())
        there, begin = _generic_member(
            family, points, begin, size, seed, settings, threads, progress, give_up
        )
        points = there.ends[there.status == 0]
    homotopy = family.segment(begin, goal)
    ends, paths = follow_all(homotopy, points, settings, threads, progress, give_up, only_lost=True)
    lost = ends.kind == LOST
    if lost.any() and isinstance(family, OtherCoordinates):
        paths = found_elsewhere(family, points, begin, goal, paths, lost, settings, threads, endgame=True)
        ends = classify(homotopy, paths, threads)
    if there is not None and there.status.any():
        paths = there.with_rows(np.flatnonzero(there.status == 0), paths)
        ends = classify(homotopy, paths, threads)
    member = _Member(family.n, family.member(wanted))
    seconds = time.perf_counter() - started
    result = assemble(member, Run.of(ends, paths), seed, seconds, resolved=False)
    if result.status is Status.INCOMPLETE and on_incomplete == "raise":
        raise IncompleteChart(
            f"{result.failed.count} of {result.paths} paths were lost ({result.failed[0].note}), seed {seed}. Fix: "
            'settings=TrackerSettings(...) with more steps, or on_incomplete="return" to look at what there is'
        )
    return result


def _generic_member(
    family: Family,
    points: NDArray[np.complex128],
    begin: Vector,
    size: float,
    seed: int,
    settings: TrackerSettings,
    threads: int | None,
    progress: Shown,
    few: int,
) -> tuple[Paths, Vector]:
    """Paths to a random complex member; another member is drawn while more than a few paths are lost."""
    for attempt in range(_MEMBERS):
        generator = np.random.default_rng(seed if attempt == 0 else [seed, attempt])
        between = random_parameters(family, generator, size)
        found = carried(family, points, begin, between, settings, threads=threads, progress=progress)
        if np.count_nonzero(found.status) <= few:
            return replace(found, status=_early(found.status)), between
    raise IncompleteChart(
        f"{np.count_nonzero(found.status)} of {len(points)} paths were lost on the way to a generic member, whichever "
        f"of {_MEMBERS} was taken. Fix: give regular solutions of the known member, each once."
    )


def _early(status: NDArray[np.int64]) -> NDArray[np.int64]:
    """A generic member has no solution at infinity: a path that diverges on the way to it is lost, not at its end."""
    return np.where(status == PathStatus.DIVERGED, PathStatus.LEFT_EARLY, status)


def random_parameters(family: Family, rng: np.random.Generator, size: float = 1.0) -> Vector:
    """Random complex parameters of about this size."""
    real, imaginary = rng.standard_normal((2, family.parameter_count))
    return np.asarray((real + 1j * imaginary) * max(float(size), TINY) / np.sqrt(2))


def _vector(family: Family, parameters: Sequence[object], label: str) -> Vector:
    vector = np.array([complex(entry) for entry in parameters], np.complex128)  # type: ignore[call-overload]
    if vector.shape != (family.parameter_count,) or not np.isfinite(vector).all():
        raise InvalidProblem(f"{label}={parameters!r}: expected {family.parameter_count} finite parameters")
    return vector
