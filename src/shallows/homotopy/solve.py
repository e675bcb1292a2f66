"""`solve`: all isolated solutions of a square polynomial system."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shallows.errors import IncompleteChart, InvalidProblem
from shallows.homotopy import classify as ends_of
from shallows.homotopy.classify import Ends, chart_coordinates, classify
from shallows.homotopy.paths import Homotopy, Paths, PathStatus, TrackerSettings, track
from shallows.homotopy.solutions import Solution, Solutions, SolutionSet, Status, realness
from shallows.homotopy.systems import Exponents, PolynomialSystem

#: How fast paths go on one core, for the estimate in a refusal only.
_PATHS_A_SECOND = 1_000
_RETRIES = 3


def solve(
    polynomials: Sequence[str | Mapping[Exponents, object]] | str | PolynomialSystem | Any,
    rng: int | np.random.Generator = 0,
    *,
    variables: Sequence[str] | None = None,
    groups: Sequence[Sequence[str]] | None = None,
    max_paths: int = 100_000,
    on_incomplete: Literal["raise", "return"] = "raise",
    threads: int | None = None,
    progress: bool = False,
    settings: TrackerSettings | None = None,
) -> Solutions:
    """All isolated solutions of a square system, by homotopy continuation.

    H(x, t) = (1−t) F(x) + γ t G(x) deforms a system G with known solutions into F; for almost every γ on
    the unit circle the paths are smooth for t > 0 and reach every isolated solution of F as t → 0
    (Sommese and Wampler, "The Numerical Solution of Systems of Polynomials", 2005, Theorem 7.1.1).

    Parameters
    ----------
    polynomials:
        Strings ("x^2*y - 3*y + 1"), {exponents: coefficient} dictionaries, a `PolynomialSystem`, or a
        structured system such as `RankOneSystem` that brings its own homotopy.
    rng:
        A seed or a NumPy generator. The same seed gives the same result whatever the number of threads.
    variables:
        The order of the variables; names that are not in it are refused.
    groups:
        Variable groups for a multihomogeneous start system, often far fewer paths than Π deg fᵢ.
    max_paths:
        More paths than this are refused before any work starts.
    on_incomplete:
        "raise" `IncompleteChart` when paths are lost, or "return" the result with its status.

    >>> from shallows.homotopy import solve
    >>> solve(["x^2 + y^2 - 5", "x*y - 2"]).real.count
    4
    """
    started = time.perf_counter()
    if on_incomplete not in ("raise", "return"):
        raise InvalidProblem(f'on_incomplete={on_incomplete!r}. Fix: use "raise" or "return"')
    seed = seed_of(rng)
    settings = settings or TrackerSettings()
    if hasattr(polynomials, "prepare"):
        prepared: Any = polynomials
    else:
        from shallows.homotopy.prepared import SparseProblem

        system = PolynomialSystem.read(polynomials, variables)
        if system.parameters:
            raise InvalidProblem(
                f"the system has parameters {system.parameters}. Fix: use specialize, or solve_family"
            )
        prepared = SparseProblem(system, groups)
    check_limit(prepared.path_count, max_paths)
    homotopy, starts = prepared.prepare(np.random.default_rng(seed))
    ends, paths = follow_all(homotopy, starts, settings, threads, progress)
    continuum = np.zeros(len(ends.kind), bool)
    notes: list[str] = []
    singular = ends.kind == ends_of.SINGULAR
    if singular.any():
        again, other = prepared.prepare(np.random.default_rng([seed, 1]))
        second, _ = follow_all(again, other, settings, threads, progress)
        continuum, unclear = moving(ends, second)
        ends.kind[unclear] = ends_of.LOST
        if continuum.any():
            notes.append(
                f"{np.count_nonzero(continuum)} paths end at rank-deficient points that move with γ: "
                "a positive-dimensional solution set"
            )
    result = assemble(prepared, ends, paths, continuum, seed, notes, time.perf_counter() - started)
    if result.status is Status.INCOMPLETE and on_incomplete == "raise":
        raise IncompleteChart(
            f"{result.failed.count} of {result.paths} paths were lost ({result.failed[0].note}), so solutions "
            f"may be missing; {result.finite.count} were found. Fix: try another rng (this was {seed}), "
            'tighter settings, or on_incomplete="return" to look at what there is'
        )
    return result


def seed_of(rng: int | np.random.Generator) -> int:
    """The seed to use and to report: the number itself, or one drawn from a generator."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    raise InvalidProblem(f"rng={rng!r} is neither a seed ≥ 0 nor a NumPy Generator. Fix: rng=0")


def check_limit(count: int, limit: int) -> None:
    """Refuse more paths than the limit, with the count and an estimate of the time."""
    if count > limit:
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
    progress: bool,
) -> tuple[Ends, Paths]:
    """Track everything; track again, with tighter settings, what was lost or cannot be right."""
    paths = track(homotopy, starts, settings, threads=threads, progress=progress)
    ends = classify(homotopy, paths)
    for _ in range(_RETRIES):
        rows = np.flatnonzero(ends.suspicious)
        if not len(rows):
            break
        settings = settings.tighter()
        fresh = track(homotopy, starts[rows], settings, threads=threads, progress=progress)
        paths = paths.with_rows(rows, fresh)
        ends = classify(homotopy, paths)
    return ends, paths


def moving(first: Ends, second: Ends) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Singular ends that another γ does not reproduce: they lie on positive-dimensional solution sets.

    The second answer marks ends that come back only roughly, too ill-conditioned to tell.
    """
    from scipy.spatial import cKDTree

    mine = np.flatnonzero(first.kind == ends_of.SINGULAR)
    theirs = np.flatnonzero(second.kind == ends_of.SINGULAR)
    result = np.zeros(len(first.kind), bool)
    if not len(theirs):
        result[mine] = True
        return result, np.zeros_like(result)
    tree = cKDTree(chart_coordinates(second.points[theirs]))
    distance, _ = tree.query(chart_coordinates(first.points[mine]))
    unclear = result.copy()
    result[mine] = distance > 1e-3
    unclear[mine] = (distance > 1e-5 + 10 * first.accuracy[mine]) & (distance <= 1e-3)
    return result, unclear


def assemble(
    prepared: Any,
    ends: Ends,
    paths: Paths,
    continuum: NDArray[np.bool_],
    seed: int,
    notes: list[str],
    seconds: float,
) -> Solutions:
    """Points by class, one `Solution` a distinct point, sorted so that the order does not depend on paths."""
    kind = ends.kind.copy()
    regular_rows, singular_sets, clashes = _distinct(ends, kind, continuum)
    real = realness(ends.points, ends.accuracy)
    scale = prepared.unscale

    def make(row: Any, multiplicity: int = 1, note: str = "") -> Solution:
        return Solution(
            scale(ends.points[row : row + 1])[0],
            multiplicity,
            float(ends.residual[row]),
            float(ends.condition[row]),
            float(ends.accuracy[row]),
            real[row],
            note,
        )

    n = prepared.n
    regular = sorted((make(row) for row in regular_rows), key=_order)
    singular = sorted(
        (make(min(rows, key=lambda r: ends.accuracy[r]), len(rows)) for rows in singular_sets), key=_order
    )
    infinite = [make(row) for row in np.flatnonzero(kind == ends_of.INFINITE)]
    lost = [
        make(
            row, note=f"path {row}: {PathStatus(paths.status[row]).sentence} (|t| = {paths.radius[row]:.1e})"
        )
        for row in np.flatnonzero(kind == ends_of.LOST)
    ]
    lost += [
        make(row, note=f"path {row}: ended at a regular solution that another path reached too")
        for row in clashes
    ]
    on_sets = [make(row) for row in np.flatnonzero(continuum)]
    status = Status.INCOMPLETE if lost else Status.POSITIVE_DIMENSIONAL if on_sets else Status.COMPLETE
    return Solutions(
        prepared.system,
        SolutionSet(tuple(regular), n),
        SolutionSet(tuple(singular), n),
        SolutionSet(tuple(infinite), n),
        SolutionSet(tuple(lost), n),
        SolutionSet(tuple(on_sets), n),
        len(kind),
        seed,
        status,
        prepared.start,
        tuple(notes),
        int(paths.steps.sum()),
        seconds,
    )


def _distinct(
    ends: Ends, kind: NDArray[np.int64], continuum: NDArray[np.bool_]
) -> tuple[list[int], list[list[int]], list[int]]:
    """Rows of regular solutions, rows a singular solution, and rows that clash with a regular one."""
    regular, singular, clashes = [], [], []
    members: dict[int, list[int]] = {}
    for row in np.flatnonzero((ends.cluster >= 0) & ~continuum):
        members.setdefault(int(ends.cluster[row]), []).append(int(row))
    for rows in members.values():
        best = min(ends.condition[row] for row in rows)
        if len(rows) == 1 and kind[rows[0]] == ends_of.REGULAR:
            regular.append(rows[0])
        elif best > 1e8 or all(kind[row] == ends_of.SINGULAR for row in rows):
            singular.append(rows)  # nearly or exactly multiple: double precision cannot tell them apart
        else:
            regular.append(rows[0])
            clashes += rows[1:]
    return regular, singular, clashes


def _order(solution: Solution) -> tuple[float, ...]:
    rounded = np.round(solution.point, 9) + 0.0
    return tuple(np.column_stack([rounded.real, rounded.imag]).ravel())
