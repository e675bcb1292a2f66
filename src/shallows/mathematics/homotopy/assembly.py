"""From the ends of paths to `Solutions`: one entry a distinct point, in an order that does not depend on paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.homotopy._compiled.codes import PathStatus
from shallows.mathematics.homotopy.classify import Ends
from shallows.mathematics.homotopy.close_roots import OPEN, Neighbourhood
from shallows.mathematics.homotopy.clusters import (
    ILL_CONDITIONED,
    INFINITE,
    LOST,
    POOR_CONDITION,
    REGULAR,
    SINGULAR,
)
from shallows.mathematics.homotopy.paths import Paths
from shallows.mathematics.homotopy.resolution import resolve, resolve_together
from shallows.mathematics.homotopy.solutions import (
    Realness,
    Solution,
    Solutions,
    SolutionSet,
    Status,
    realness,
)
from shallows.support.tolerances import EPSILON, TINY

#: Solutions are ordered by so many digits of their coordinates, fewer than all of them are known to.
ORDER_DIGITS = 9
#: Regular ends that are ill-conditioned, or known worse than this, are proved before they are called regular and real:
#: two of them may be one double root, or a real one half of a pair that is not.
WELL_KNOWN = 1e-12
#: So many singular ends are resolved, at a tenth of a second each.
MOST_RESOLVED = 60
UNRESOLVED = "not resolved: a multiple solution, several close ones, or a point of a larger set"


@dataclass(frozen=True)
class Run:
    """The ends of all paths from the start points of `key`; `moving`: singular ends that no other γ has."""

    ends: Ends
    paths: Paths
    moving: NDArray[np.bool_]
    key: Any = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, ends: Ends, paths: Paths) -> Run:
        """One γ alone."""
        return cls(ends, paths, np.zeros(len(ends.kind), bool))


@dataclass
class _Sorted:
    """Solutions by class, with the points in the tracker's coordinates that they are ordered by."""

    regular: list[tuple[NDArray[np.complex128], Solution]] = field(default_factory=list)
    singular: list[tuple[NDArray[np.complex128], Solution]] = field(default_factory=list)
    continuum: list[Solution] = field(default_factory=list)
    lost: list[Solution] = field(default_factory=list)
    undecided: bool = False


def assemble(prepared: Any, run: Run, seed: int, seconds: float, resolved: bool) -> Solutions:
    """Points by class. With `resolved` singular ends are decided from the exact equations; otherwise they stay open."""
    ends, paths = run.ends, run.paths
    regular_rows, clusters, clashes = _distinct(ends)
    real = realness(ends.points, ends.accuracy)
    own = prepared.unscale(ends.points)
    accuracy = _relative_errors(prepared, own, ends)

    figures = np.stack([ends.residual, ends.condition, accuracy], axis=1).tolist()

    def make(row: Any, note: str = "") -> Solution:
        residual, condition, error = figures[row]
        return Solution(own[row], 1, residual, condition, error, real[row], note, int(row))

    found = _Sorted()
    found.regular += [(ends.points[row], make(row)) for row in regular_rows]
    found.lost += [
        make(row, f"path {row}: {PathStatus(paths.status[row]).sentence} (|t| = {paths.radius[row]:.1e})")
        for row in np.flatnonzero(ends.kind == LOST)
    ]
    found.lost += [
        make(row, f"path {row}: ended at a regular solution that another path reached too") for row in clashes
    ]
    for rows, near in _decided(prepared, run, clusters) if resolved else ((c, OPEN) for c in clusters):
        _sort_in(found, prepared, [make(row) for row in rows], near, run, ends)
    infinite = [make(row) for row in np.flatnonzero(ends.kind == INFINITE)]
    return _solutions(prepared, run, found, infinite, seed, seconds)


def _relative_errors(prepared: Any, own: NDArray[np.complex128], ends: Ends) -> NDArray[np.float64]:
    """Errors of the points in the user's coordinates, relative to the largest one; to 1 at the origin."""
    off = np.repeat(ends.error[:, None], prepared.n, axis=1).astype(np.complex128)
    with np.errstate(invalid="ignore"):
        errors = np.abs(prepared.unscale(off)).max(axis=1, initial=0.0)
    sizes = np.abs(own).max(axis=1, initial=0.0)
    return np.asarray(errors / np.where(sizes > 0.0, sizes, 1.0))


def _decided(prepared: Any, run: Run, clusters: list[list[int]]) -> Iterator[tuple[list[int], Neighbourhood]]:
    """Rows that end together, and what is there."""
    points, rest = run.ends.points, clusters[MOST_RESOLVED:]
    clusters = clusters[:MOST_RESOLVED]

    def decide(group: list[int]) -> Neighbourhood:
        rows = [row for k in group for row in clusters[k]]
        return resolve(prepared, run.key, points[rows], rows)

    centres = np.array([points[rows].mean(axis=0) for rows in clusters]).reshape(len(clusters), prepared.n)
    for group, near in resolve_together(centres, decide):
        yield [row for k in group for row in clusters[k]], near
    yield from ((rows, OPEN) for rows in rest)


def _sort_in(
    found: _Sorted, prepared: Any, members: list[Solution], near: Neighbourhood, run: Run, ends: Ends
) -> None:
    """The solutions that a cluster of ends stands for."""
    if near.isolated is None and not run.moving[members[0].path]:
        best = min(members, key=lambda member: member.accuracy)
        found.undecided = True
        whole = replace(best, multiplicity=len(members), real="undecided", note=UNRESOLVED)
        found.singular.append((ends.points[best.path], whole))
        return
    if not near.isolated:
        found.continuum += members
        return
    waiting = iter(members)
    for root in near.roots:
        own = [next(waiting) for _ in range(root.multiplicity)]
        solution = replace(
            own[0],
            point=prepared.unscale(root.point[None])[0],
            multiplicity=root.multiplicity,
            accuracy=EPSILON,
            real=_word(root.real),
        )
        place = found.regular if root.multiplicity == 1 else found.singular
        place.append((root.point, solution))


def _word(real: bool | None) -> Realness:
    return "undecided" if real is None else "real" if real else "complex"


def _solutions(
    prepared: Any, run: Run, found: _Sorted, infinite: list[Solution], seed: int, seconds: float
) -> Solutions:
    regular, singular = _in_order(found.regular), _in_order(found.singular)
    accounted = len(regular) + sum(s.multiplicity for s in singular) + len(infinite)
    accounted += len(found.lost) + len(found.continuum)
    if accounted != len(run.paths):
        raise AssertionError(
            f"{accounted} ends for {len(run.paths)} paths: a path was dropped or counted twice"
        )
    status = Status.COMPLETE
    if found.lost:
        status = Status.INCOMPLETE
    elif found.undecided:
        status = Status.UNDECIDED
    elif found.continuum:
        status = Status.POSITIVE_DIMENSIONAL
    notes = run.notes
    if found.continuum:
        notes += (f"{len(found.continuum)} paths end on a positive-dimensional solution set",)
    n = prepared.n
    return Solutions(
        prepared.system,
        SolutionSet(tuple(regular), n),
        SolutionSet(tuple(singular), n),
        SolutionSet(tuple(infinite), n),
        SolutionSet(tuple(found.lost), n),
        SolutionSet(tuple(sorted(found.continuum, key=lambda s: s.path)), n),
        len(run.paths),
        seed,
        status,
        prepared.start,
        notes,
        int(run.paths.steps.sum()),
        seconds,
    )


def proved(prepared: Any, run: Run, solutions: Solutions) -> Solutions:
    """Ill-conditioned regular solutions with a proof, from the exact equations; what has none is not decided."""
    if solutions.system is None:
        return solutions
    finite = list(solutions.finite)
    if not getattr(solutions.system, "is_real", False):
        finite = [s if s.real == "complex" else replace(s, real="undecided") for s in finite]
    doubted = _doubted(run.ends, finite)
    places = np.array([finite[k].point for k in doubted])
    proof = certify(solutions.system, places, digits=0) if doubted else None  # as small as boxes come out
    undecided = proof is not None and bool(proof.repeated)
    for k, root in zip(doubted, proof.roots if proof is not None else (), strict=True):
        s = finite[k]
        real = None if root is None else root.real
        if root is None:
            near = resolve(prepared, run.key, run.ends.points[[s.path]], [s.path])
            undecided |= not near.roots
            s = replace(s, note="" if near.roots else UNRESOLVED)
            real = near.roots[0].real if near.roots else None
        finite[k] = replace(s, real=_word(real))
    status = solutions.status
    if undecided and status is not Status.INCOMPLETE:
        status = Status.UNDECIDED
    return replace(solutions, finite=replace(solutions.finite, solutions=tuple(finite)), status=status)


def _doubted(ends: Ends, solutions: list[Solution]) -> list[int]:
    """Regular solutions that may be half of a double root, or are not known well enough to be called real."""
    if not solutions:
        return []
    rows = np.array([solution.path for solution in solutions])
    figures = np.array([(solution.accuracy, solution.condition) for solution in solutions])
    not_real = np.array([solution.real == "complex" for solution in solutions])
    vanishes = np.abs(ends.points[rows]).max(axis=1) < WELL_KNOWN
    unclear = vanishes | (~not_real & (ends.accuracy[rows] > WELL_KNOWN))
    doubt = (figures[:, 0] != EPSILON) & ((figures[:, 1] > ILL_CONDITIONED) | unclear)
    found: list[int] = np.flatnonzero(doubt).tolist()
    return found


def _distinct(ends: Ends) -> tuple[list[int], list[list[int]], list[int]]:
    """Rows of regular solutions, rows a singular solution, and rows that clash with a regular one."""
    placed = np.flatnonzero((ends.cluster >= 0) & ((ends.kind == REGULAR) | (ends.kind == SINGULAR)))
    sizes = np.bincount(ends.cluster[placed], minlength=1)
    alone = (sizes[ends.cluster[placed]] == 1) & (ends.kind[placed] == REGULAR)
    regular: list[int] = placed[alone].tolist()
    singular, clashes = [], []
    members: dict[int, list[int]] = {}
    for row in placed[~alone]:
        members.setdefault(int(ends.cluster[row]), []).append(int(row))
    for rows in members.values():
        best = min(ends.condition[row] for row in rows)
        if best > POOR_CONDITION or all(ends.kind[row] == SINGULAR for row in rows):
            singular.append(rows)
        else:
            regular.append(rows[0])
            clashes += rows[1:]
    return regular, singular, clashes


def _in_order(solutions: Iterable[tuple[NDArray[np.complex128], Solution]]) -> list[Solution]:
    """Sorted by their points, so that the order does not depend on which path found which."""
    listed = list(solutions)
    if not listed:
        return []
    points = np.array([point for point, _ in listed])
    rounded = np.round(points / max(float(np.abs(points).max()), TINY), ORDER_DIGITS) + 0.0
    keys = np.stack([rounded.real, rounded.imag], axis=2).reshape(len(listed), -1)
    return [listed[k][1] for k in np.lexsort(keys.T[::-1])]
