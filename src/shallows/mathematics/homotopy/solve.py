"""`solve`: all isolated solutions of a square polynomial system."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy._compiled.codes import PathStatus
from shallows.mathematics.homotopy.assembly import Run, assemble, proved
from shallows.mathematics.homotopy.batches import current
from shallows.mathematics.homotopy.classify import Ends, classify
from shallows.mathematics.homotopy.clusters import LOST, POOR_CONDITION, REGULAR, SINGULAR
from shallows.mathematics.homotopy.expressions import name_of
from shallows.mathematics.homotopy.following import SAME_SINGULAR, check_limit, follow_all
from shallows.mathematics.homotopy.not_square import Finish, squared
from shallows.mathematics.homotopy.paths import Paths, TrackerSettings, track
from shallows.mathematics.homotopy.prepared import SparseProblem
from shallows.mathematics.homotopy.solutions import Solutions, Status
from shallows.mathematics.homotopy.starts import StartName, Zeros, choose_start
from shallows.mathematics.homotopy.systems import PolynomialSystem
from shallows.mathematics.homotopy.zero_coordinates import without_zeros
from shallows.mathematics.same_points import nearest_chordal
from shallows.support.errors import IncompleteChart, InvalidProblem
from shallows.support.progress import Shown
from shallows.support.seeds import seed_of

#: How many γ are tried: two that agree are enough, two more are for those that lose paths.
_ATTEMPTS = 4
#: So many paths are tracked in multiple precision, at milliseconds a step.
_PRECISE_PATHS = 40
#: So many in double-double, at a fifteenth of the speed.
_SHARP_PATHS = 400
#: So many steps of a path with an endgame in double-double, a fiftieth of them on a side of its circles: a path that
#: takes more is for multiple precision.
_SHARP_STEPS = 1_000
#: An end that no other γ has within this distance lies on a positive-dimensional solution set, where ends move by
#: amounts of the size of the points; in between it is not clear.
MOVED = 1e-3
#: A lone singular end to which another γ came as close as this is no point of a continuum, but ill-conditioned.
CAME_NEAR = 1e-2


def solve(
    polynomials: Any,
    rng: int | np.random.Generator = 0,
    *,
    variables: Sequence[Any] | None = None,
    parameters: Mapping[Any, object] | None = None,
    groups: Sequence[Sequence[str]] | None = None,
    start: StartName = "auto",
    zeros: Zeros = "included",
    max_paths: int = 100_000,
    on_incomplete: Literal["raise", "return"] = "raise",
    threads: int | None = None,
    progress: Shown = False,
    settings: TrackerSettings | None = None,
) -> Solutions:
    """All isolated solutions of a polynomial system, by homotopy continuation.

    H(x, t) = (1−t) F(x) + γ t G(x) deforms a system G with known solutions into F; for almost every γ on
    the unit circle the paths are smooth for t > 0 and reach every isolated solution of F as t → 0
    (Sommese and Wampler, "The Numerical Solution of Systems of Polynomials", 2005, Theorem 7.1.1).

    Parameters
    ----------
    polynomials:
        Strings (`"x^2*y - 3*y + 1"`), expressions in `variables("x y")`, SymPy expressions or `Poly`, {exponents:
        coefficient} dictionaries, a function of the variables that returns such, a `PolynomialSystem`, or a
        structured system such as `RankOneSystem` that brings its own homotopy. Of more equations than variables
        random combinations are solved, and each end is held against all equations; with fewer the answer is the
        `dimension` of the solution set and its points on random hyperplanes.
    rng:
        A seed or a NumPy generator. The same seed gives the same result whatever the number of threads.
    variables:
        The order of the variables; names that are not in it are refused.
    parameters:
        Numbers for symbols that are no variables, by name or symbol: {"a": 3}, {a: Fraction(1, 3)}.
    groups:
        Variable groups for a multihomogeneous start system, often far fewer paths than Π deg fᵢ.
    start:
        "total degree", "multihomogeneous" (the best groups are found), "polyhedral" (as many paths as the mixed volume
        says), or "auto": the fewest paths.
    zeros:
        "excluded" when only solutions without a zero coordinate are wanted: often fewer paths.
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
    if hasattr(polynomials, "prepare"):
        prepared: Any = polynomials
        finish: Finish = _as_it_is
    else:
        system, finish = squared(_read(polynomials, variables, parameters), seed)
        prepared = SparseProblem(
            system, choose_start(system, start, groups, zeros, threads), threads, progress
        )
    check_limit(prepared.path_count, max_paths)
    run = _counted(prepared, seed, threads) if settings is None and current() is None else None
    result = None if run is None else _assembled(prepared, run, seed)
    if result is None or result.status is not Status.COMPLETE:
        run = settle(prepared, seed, settings or TrackerSettings(), threads, progress)
        result = _assembled(prepared, run, seed)
    if zeros == "excluded":
        result = without_zeros(result, prepared)
    result = finish(result)
    result = replace(result, seconds=time.perf_counter() - started)
    if result.status is Status.INCOMPLETE and on_incomplete == "raise":
        raise IncompleteChart(
            f"{result.failed.count} of {result.paths} paths were lost ({result.failed[0].note}), so solutions "
            f"may be missing; {result.finite.count} were found. {_ATTEMPTS} homotopies from seed {seed} were tried. "
            'Fix: settings=TrackerSettings(...) with more steps, or on_incomplete="return" to look at what there is'
        )
    return result


def _assembled(prepared: Any, run: Run, seed: int) -> Solutions:
    return proved(prepared, run, assemble(prepared, run, seed, 0.0, resolved=True))


def _as_it_is(found: Solutions) -> Solutions:
    return found


def _read(
    polynomials: Any, variables: Sequence[Any] | None, parameters: Mapping[Any, object] | None
) -> PolynomialSystem:
    """The system with numbers for its parameters."""
    values = {name_of(symbol): value for symbol, value in (parameters or {}).items()}
    system = PolynomialSystem.read(polynomials, variables, tuple(values), square=False)
    missing = [name for name in system.parameters if name not in values]
    if missing:
        raise InvalidProblem(
            f"the system has parameters {', '.join(missing)} without a value. Fix: give parameters={{name: number}}"
        )
    return system.specialize([values[name] for name in system.parameters]) if system.parameters else system


def _counted(prepared: Any, seed: int, threads: int | None) -> Run | None:
    """Bold paths, when all of them end at regular points of their own: there cannot be more solutions than paths, so
    that these are all, whatever happened on the way. None otherwise: then paths count, and more care is taken."""
    found = (
        prepared.boldly(np.random.default_rng(seed), TrackerSettings())
        if hasattr(prepared, "boldly")
        else None
    )
    if found is None:
        return None
    homotopy, paths, as_prepared = found
    ends = classify(homotopy, paths, threads)
    good = (ends.kind == REGULAR) & ~ends.suspicious & (ends.condition < POOR_CONDITION)
    if not good.all():
        return None
    return Run(ends, paths, np.zeros(len(ends.kind), bool), seed if as_prepared else None)


def settle(prepared: Any, seed: int, settings: TrackerSettings, threads: int | None, progress: Shown) -> Run:
    """Track with one γ; with others too while paths are lost or singular ends are not confirmed.

    An isolated singular solution is where two choices of γ agree on its place and multiplicity. Ends that
    no other γ reproduces lie on positive-dimensional solution sets: the third answer marks them.
    """
    runs: list[tuple[Ends, Paths]] = []
    for attempt in range(_ATTEMPTS):
        generator = np.random.default_rng(_key(seed, attempt))
        homotopy, starts = prepared.prepare(generator)
        few = _PRECISE_PATHS if hasattr(prepared, "precisely") else 0
        ends, paths = follow_all(homotopy, starts, settings, threads, progress, few)
        notes: tuple[str, ...] = ()
        if few:
            known = [earlier for earlier, _ in runs]
            key = _key(seed, attempt)
            ends, paths, notes = _more_digits(prepared, key, starts, ends, paths, known, settings, threads)
        calm = not ends.suspicious.any()
        agreed = any(_agree(ends, earlier) for earlier, _ in runs)
        if calm and (agreed or not (ends.kind == SINGULAR).any()):
            notes += (f"settled by γ number {attempt + 1}",) if attempt > 1 else ()
            return Run(ends, paths, np.zeros(len(ends.kind), bool), _key(seed, attempt), notes)
        runs.append((ends, paths))
    best = min(range(len(runs)), key=lambda k: np.count_nonzero(runs[k][0].suspicious))
    ends, paths = runs[best]
    continuum, unclear = _moving(ends, [other for k, (other, _) in enumerate(runs) if k != best])
    if not hasattr(prepared, "scaled_system"):
        ends.kind[unclear] = LOST
    return Run(ends, paths, continuum, _key(seed, best))


def _more_digits(
    prepared: Any,
    key: Any,
    starts: NDArray[np.complex128],
    ends: Ends,
    paths: Paths,
    earlier: list[Ends],
    settings: TrackerSettings,
    threads: int | None,
) -> tuple[Ends, Paths, tuple[str, ...]]:
    """Doubtful paths once more in double-double, and those that this does not settle in multiple precision."""
    doubtful = np.flatnonzero(ends.suspicious | _ill_conditioned(ends, earlier))
    if not len(doubtful):
        return ends, paths, ()
    notes: list[str] = []
    homotopy = prepared.sharply(np.random.default_rng(key))
    if len(doubtful) <= _SHARP_PATHS:
        careful = replace(settings.tighter(), steps=settings.steps)
        fresh = track(homotopy, starts[doubtful], careful, threads=threads, endgame=False)
        late = np.flatnonzero(fresh.status != PathStatus.ARRIVED)
        if len(late):
            brief = replace(settings, steps=min(settings.steps, _SHARP_STEPS))
            fresh = fresh.with_rows(late, track(homotopy, starts[doubtful[late]], brief, threads=threads))
        ended = (fresh.status == PathStatus.ARRIVED) | (fresh.status == PathStatus.CONVERGED)
        if ended.any():
            paths = paths.with_rows(doubtful[ended], fresh.rows(np.flatnonzero(ended)))
            ends = classify(homotopy, paths, threads)
            notes.append(f"{np.count_nonzero(ended)} paths went on in double-double")
        doubtful = np.flatnonzero(ends.suspicious | _ill_conditioned(ends, earlier))
    if 0 < len(doubtful) <= _PRECISE_PATHS:
        precise = prepared.precisely(np.random.default_rng(key), doubtful, settings.steps)
        paths = paths.with_rows(doubtful, precise)
        ends = classify(homotopy, paths, threads)
        notes.append(f"{len(doubtful)} paths went on in multiple precision")
    return ends, paths, tuple(notes)


def _key(seed: int, attempt: int) -> Any:
    """What the random numbers of an attempt start from."""
    return seed if attempt == 0 else [seed, attempt]


def _ill_conditioned(ends: Ends, earlier: list[Ends]) -> NDArray[np.bool_]:
    """Singular ends of a single path that are no continuum: an earlier run came near, or n = 1."""
    lone: NDArray[np.bool_] = ends.kind == SINGULAR
    counts = np.bincount(ends.cluster[ends.cluster >= 0], minlength=1)
    lone[lone] = counts[ends.cluster[lone]] == 1
    if ends.points.shape[1] == 1 or not lone.any():
        return lone
    back = np.zeros(len(lone), bool)
    rows = np.flatnonzero(lone)
    for other in earlier:
        finite = (other.kind == SINGULAR) | (other.kind == REGULAR)
        distance, _ = nearest_chordal(ends.points[rows], other.points[finite])
        back[rows] |= distance < CAME_NEAR
    return back


def _singular_points(ends: Ends) -> tuple[NDArray[np.complex128], NDArray[np.int64], list[NDArray[np.int64]]]:
    """Singular solutions of one run: points, multiplicities and the rows of their paths."""
    numbers = np.unique(ends.cluster[ends.kind == SINGULAR])
    rows = [np.flatnonzero(ends.cluster == number) for number in numbers]
    points = np.array([ends.points[members[0]] for members in rows]).reshape(len(rows), ends.points.shape[1])
    return points, np.array([len(members) for members in rows], dtype=np.int64), rows


def _agree(first: Ends, second: Ends) -> bool:
    """Whether two runs have the same singular solutions with the same multiplicities."""
    mine, how_many, _ = _singular_points(first)
    theirs, how_many_there, _ = _singular_points(second)
    if len(mine) != len(theirs) or not len(mine):
        return len(mine) == len(theirs)
    distance, index = nearest_chordal(mine, theirs)
    return bool((distance < SAME_SINGULAR).all() and (how_many == how_many_there[index]).all())


def _moving(ends: Ends, others: list[Ends]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Paths whose singular end no other run has; and those that others have only roughly."""
    continuum, unclear = np.zeros(len(ends.kind), bool), np.zeros(len(ends.kind), bool)
    points, how_many, rows = _singular_points(ends)
    if not len(points):
        return continuum, unclear
    gaps = np.full(len(points), np.inf)
    confirmed = np.zeros(len(points), bool)
    for other in others:
        theirs, how_many_there, _ = _singular_points(other)
        distance, index = nearest_chordal(points, theirs)
        gaps = np.minimum(gaps, distance)
        if len(theirs):
            confirmed |= (distance < SAME_SINGULAR) & (how_many == how_many_there[index])
    for k, members in enumerate(rows):
        continuum[members] = not confirmed[k] and gaps[k] > MOVED
        unclear[members] = not confirmed[k] and gaps[k] <= MOVED
    return continuum, unclear
