"""The critical points among limits of merged neurons: parameter homotopy from a generic member, then certificates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.solutions import SolutionSet
from shallows.mathematics.same_points import PointSet
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.closure.equations import MergedEquations
from shallows.questions.charts.closure.real import (
    SortedLimits,
    Vectors,
    is_proper,
    merged_tensor,
    sort_limits,
)
from shallows.questions.charts.closure.real_students import Scaled, proved_regular
from shallows.questions.charts.closure.singular import examine_limits
from shallows.questions.charts.closure.triangles import CUBIC, INPUTS, stars
from shallows.questions.charts.continuation.balanced_coordinates import power_action
from shallows.questions.charts.continuation.balanced_problem import BalancedProblem
from shallows.questions.charts.continuation.detours import Detours, Regular
from shallows.questions.charts.continuation.generic_members import starting_member
from shallows.questions.charts.continuation.lost_paths import UNCERTIFIED, Settled, settle
from shallows.questions.charts.points.inward import inward_direction
from shallows.questions.charts.points.stratum import Counts, Stratum
from shallows.questions.charts.powers.proved_tensors import different
from shallows.questions.charts.powers.sums import hidden_points
from shallows.support.checks import counted
from shallows.support.progress import Shown
from shallows.support.tolerances import TINY

Complex = NDArray[np.complex128]
#: A slope into the networks that is smaller, relatively to the gradient at zero, is none: limits are known to ten
#: digits, multiple ones to about √ε.
CRITICAL = 1e-8


#: Coordinates are turned so often at most, each time for as many paths: w₁ = 1 is a bad scale on some paths, other ones
#: in other coordinates.
FRAMES = 6
#: Coordinates in which a simple end may look singular although no path is lost: w₁ = 1 is a bad scale for that end.
CALM = 2


@dataclass(frozen=True)
class _End:
    """A complex solution: its blocks' vectors, infinite where a neuron has come to a pair, and its tensor."""

    vectors: Vectors
    entries: Complex


def merged_stratum(
    problem: Problem, blocks: tuple[int, ...], certify_points: bool, seed: int, tell: Shown = False
) -> Stratum:
    """All critical points that are sums of these blocks of merged neurons (`parameterization`).

    Coordinates are turned at random, so that no w has w₁ = 0.
    """
    equations = MergedEquations(problem.degree, problem.n, blocks)
    even, run, whole = _followed(problem, equations, seed, tell)
    hidden = hidden_points(equations, even, run, seed, tell)
    if hidden:
        run = run.sampled
    points = [end.vectors for end in whole if is_proper(end.vectors)]
    result = sort_limits(problem, blocks, points, certify_points, tell)
    ends = [_restored(equations, even, x) for x in run.singular.points]
    singular = examine_limits(problem, blocks, [end for end in ends if is_proper(end)])
    special = even.member.special
    bound = equations.count if special is None else None
    proved = bound is not None and len(different(result.proved)) == bound
    counts = Counts(len(points), bound, "", bound=bound)
    return Stratum(
        result.found + singular.points,
        counts,
        singular.families,
        _notes(equations, even, run, result, len(points), hidden),
        "proved" if proved and run.completeness != "sampled" else run.completeness,
        critical_inward=_critical_inward(problem, points),
        of_three=_of_three(problem, points),
    )


def _followed(
    problem: Problem, equations: MergedEquations, seed: int, tell: Shown
) -> tuple[BalancedProblem, Settled, list[_End]]:
    """The coordinates and ends of the paths that went best, and the regular ends in all coordinates, each once."""
    best: tuple[BalancedProblem, Settled] | None = None
    calm: list[tuple[BalancedProblem, Settled, list[_End]]] = []
    whole: list[_End] = []
    for frame in range(FRAMES):
        key = [seed, 2, frame] if frame else [seed, 2]
        turn, _ = np.linalg.qr(np.random.default_rng(key).standard_normal((problem.n, problem.n)))
        even = BalancedProblem.turned(problem, turn)
        start = starting_member(equations, even.member.special, Detours, tell)
        ways = Detours(equations, start, even.member, seed, tell, _proved_regular(equations, even))
        run = settle(ways, patient=frame + 1 == FRAMES)
        own = _ends(equations, even, run)
        if not run.lost:
            calm.append((even, run, own))
            simple = any(end.multiplicity == 1 for end in run.singular)
            if not simple or len(calm) == CALM:
                return max(calm, key=lambda item: item[1].finite.count)
        whole = _joined(whole + own)
        if run.lost and (best is None or run.lost < best[1].lost):
            best = even, run
        if len(whole) == len(start.points):
            none = SolutionSet((), equations.unknowns)
            settled = replace(
                run, lost=0, singular=none, isolated=run.isolated[:0], completeness=start.completeness
            )
            return even, settled, whole
    if calm:
        return max(calm, key=lambda item: item[1].finite.count)
    assert best is not None
    even, run = best
    return even, replace(run, lost=max(run.lost - len(whole) + run.finite.count, 1)), whole


def _ends(equations: MergedEquations, even: BalancedProblem, run: Settled) -> list[_End]:
    """The regular ends in the problem's coordinates, one a tensor."""
    points = PointSet(run.finite.points, invariants=equations.tensors).points
    entries = even.unit * equations.tensors(points) @ power_action(even.frame, even.degree).T
    return [_End(_restored(equations, even, x), own) for x, own in zip(points, entries, strict=True)]


def _joined(ends: list[_End]) -> list[_End]:
    """One end a tensor."""
    if not ends:
        return []
    tensors = np.array([end.entries for end in ends])
    size = max(float(np.max(np.abs(tensors))), TINY)
    numbers = PointSet(tensors[:0]).place(np.asarray(tensors / size, np.complex128))
    return [ends[k] for k in np.unique(numbers, return_index=True)[1].tolist()]


def _critical_inward(problem: Problem, points: list[Vectors]) -> int:
    """At how many of these limits, complex ones too, ℓ′(w^(d−3)v³) = 0: the loss is critical for networks, too.

    Beside three merged neurons networks leave in two directions, and limits of pairs in one of them: none is counted.
    """
    if not points or max(len(block) for block in points[0]) > 2:
        return 0
    table, slopes, small = _slopes(problem, points)
    w, v = table[0]
    directions = inward_direction(w, v, problem.degree)
    gains = np.abs(np.sum(slopes * directions, axis=1))
    return int(np.sum(gains <= small * np.max(np.abs(directions), axis=1)))


def _of_three(problem: Problem, points: list[Vectors]) -> int:
    """At how many of these limits of cubic neurons, two or three in one place, paths of three end (`triangles`)."""
    if not points or len(points[0]) > 1 or (problem.degree, problem.n) != (CUBIC, INPUTS):
        return 0
    table, slopes, small = _slopes(problem, points)
    if len(table[0]) > 2:
        return int(np.sum(np.abs(slopes).max(axis=1) <= small))
    return stars(table[0][0], slopes, small)


def _slopes(problem: Problem, points: list[Vectors]) -> tuple[Vectors, Complex, float]:
    """The vectors of all points, one a row, G(s − t) at each, and what counts as zero beside it."""
    gram, target = problem.gram(), problem.target_tensor().entries
    table = [[np.array(rows) for rows in zip(*block, strict=True)] for block in zip(*points, strict=True)]
    slopes = (merged_tensor(table, problem.degree) - target) @ gram
    return table, slopes, CRITICAL * float(np.max(np.abs(gram @ target)))


def _proved_regular(equations: MergedEquations, even: BalancedProblem) -> Regular:
    """Whether an end that looks singular is regular: Krawczyk decides, where w_c = 1 is a good scale."""

    def scaled(end: Complex) -> Scaled | None:
        vectors = equations.map.vectors(end)
        if not is_proper(vectors):
            return None
        map_ = equations.scaled_map(vectors)
        x = np.asarray(map_.parameters(vectors), np.complex128)
        return map_, x, lambda point: np.asarray(equations.map.parameters(map_.vectors(point)), np.complex128)

    return proved_regular(ExactLoss.of_doubles(even.gram, even.target), scaled)


def _restored(equations: MergedEquations, even: BalancedProblem, x: Complex) -> Vectors:
    """The blocks' vectors in the problem's coordinates: s = unit · s′ in the frame."""
    found: Vectors = []
    for block in equations.map.vectors(x):
        if len(block[0]) == 1:
            found.append([block[0] * even.unit, even.frame @ block[1]])
        else:
            w, *v, last = (even.frame @ part for part in block)
            found.append([w, *(part * np.sqrt(even.unit) for part in v), last * even.unit])
    return found


def _notes(
    equations: MergedEquations,
    even: BalancedProblem,
    run: Settled,
    result: SortedLimits,
    count: int,
    hidden: int,
) -> list[str]:
    """What a reader of the chart should know about these limits."""
    blocks, d = equations.blocks, equations.degree
    pairs, triples, singles = blocks.count(2), blocks.count(3), blocks.count(1)
    parts = [f"w^({d}−1)v of two merged neurons" if pairs == 1 else f"of {pairs} pairs of merged neurons"]
    parts = parts if pairs else []
    parts += [f"w^({d}−2)v² + w^({d}−1)u of three merged neurons"] * triples
    what = f"limits {' and '.join(parts)}" + (f" beside {counted(singles, 'neuron')}" if singles else "")
    known = even.member.special is None and equations.count is not None
    of = f" (of {equations.count}: generic ED degree)" if known else ""
    head = f"rank {equations.r}, {what}"
    far = (hidden, "of the paths to infinity end at finite points, too far out to be told")
    how = f"{count} complex critical points{of}, {even.member.how}"
    return run.notes(head, how, (result.undecided, UNCERTIFIED), far)
