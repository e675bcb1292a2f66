"""One quadratic neuron under any metric: the rank-one system K(v,v,v) = Bv, all solutions, certified.

ℓ(ε vvᵀ) = q(v) − 2ε b(v) + const with q(v) = τ(v)ᵀGτ(v) and b(v) = τ(v)ᵀGt. Over C the sign ε moves into v, so one
system has all critical points: a real v gives S = vvᵀ, a purely imaginary v = iu gives S = −uuᵀ, which solves the
system with −B in u; the others are not real.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.certification import Certification, certify
from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.balls.systems import ball_evaluator
from shallows.mathematics.exact.rational_arrays import fractions
from shallows.mathematics.homotopy.rank_one import RankOneSystem
from shallows.mathematics.homotopy.solutions import Status
from shallows.mathematics.homotopy.solve import solve
from shallows.mathematics.same_points import PointSet, nearest
from shallows.mathematics.signature import signature
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.balanced_coordinates import balanced_frame
from shallows.questions.charts.continuation.balanced_problem import BalancedProblem
from shallows.questions.charts.continuation.close_points import Resolved, close_points
from shallows.questions.charts.continuation.detours import Detours
from shallows.questions.charts.continuation.equations import Member
from shallows.questions.charts.continuation.generic_members import solved_target, starting_member
from shallows.questions.charts.continuation.lost_paths import FAR_OUT, LOST, REPEATED, settle
from shallows.questions.charts.continuation.metrics import OneMetric
from shallows.questions.charts.continuation.special_counts import (
    EULER,
    count_source,
    rank_one_count,
    round_bias_count,
)
from shallows.questions.charts.continuation.special_data import moved_gaussian
from shallows.questions.charts.near_orbits import near_solutions
from shallows.questions.charts.points.proved_signature import (
    APART,
    distances,
    real_balls,
    shown,
    signs_at_once,
    with_proofs,
)
from shallows.questions.charts.points.stratum import POINT_ERROR, REAL, Counts, RealPoint, Stratum
from shallows.questions.charts.powers.equations import PowerEquations
from shallows.questions.charts.shared_symmetry import SharedSymmetry
from shallows.questions.charts.singular_ends import MULTIPLE, End, examine, off_families, singular_note
from shallows.support.checks import Array
from shallows.support.progress import Shown

Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class _Ends:
    """Isolated solutions v, how often the degenerate ones (the last) count, and points on positive-dimensional sets.

    `alone` says which of the degenerate ones the exact equations have as isolated.
    """

    points: Complex
    multiplicities: list[int]
    alone: list[bool]
    continuum: Complex
    completeness: str
    notes: list[str]


def rank_one_stratum(problem: Problem, certify_points: bool, seed: int, tell: Shown = False) -> Stratum:
    """All critical points of rank one at degree 2."""
    exact = ExactLoss.of(problem)
    B = _half_symmetric(exact.right, problem.n)
    system = RankOneSystem.from_gram(exact.gram, B)
    mirror = system.mirrored()
    special = moved_gaussian(problem.data, 2)
    if special is None:
        known = round_bias_count(problem.data)
        count, source = (3**problem.n - 1) // 2, "(3ⁿ−1)/2, the ED degree of a generic metric"
        count, source = (count, source) if known is None else (known, EULER)
        ends = _solve(problem, system, seed, tell)
    else:
        count, source = rank_one_count(special.metrics), count_source(special.metrics)
        ends = _solve_special(problem, system, seed, tell)
    ends = _apart(problem, system, ends, count)
    completeness, notes = ends.completeness, ends.notes
    proof = None
    if certify_points:
        proof = certify(system, ends.points, digits=APART, bound=count, progress=tell)
        if proof.repeated:
            ends, proof = _without_repeated(ends, proof)
            completeness, notes = ends.completeness, ends.notes
    real = _real_points(ends.points, system, mirror, proof)
    singular = _singular(ends, proof)
    examined = examine(problem, 1, [End(v[None], 2) for v in ends.continuum] + singular, certify_points)
    if proof is not None and proof.complete and not examined.families:
        completeness = "proved"
    elif examined.close:
        completeness = "sampled"
    if examined.families or examined.close:  # singular ends there are no points
        regular = [point for point in real if not point.signature[1]]
        real = off_families(problem, regular, examined) + examined.points
    degenerate = sum(point.signature[1] > 0 for point in real)
    notes += singular_note(1, len(examined.on_family), len(examined.families), degenerate, examined.close)
    isolated = len(ends.points) - (
        len(singular) if examined.close else sum(examined.on_family[len(ends.continuum) :])
    )
    return Stratum(real, Counts(isolated, count, source), examined.families, notes, completeness)


def _apart(problem: Problem, system: RankOneSystem, ends: _Ends, count: int) -> _Ends:
    """Singular ends next to orbits of what is nearly a symmetry give way to the solutions there, when these are all."""
    first = len(ends.points) - len(ends.multiplicities)
    alone = np.array(ends.alone, bool)
    singular = ends.points[first:]
    suspects = np.concatenate([ends.continuum, singular[~alone]])
    if not len(suspects):
        return ends
    shared = SharedSymmetry.of(problem)
    if shared.nearly is None or shared.own.dimension:
        return ends
    known = PointSet(ends.points[:first], invariants=_squares)
    known.add(near_solutions(system, suspects[:, None], shared.nearly, _squares))
    multiplicities = [m for m, own in zip(ends.multiplicities, ends.alone, strict=True) if own]
    whole = len(known.points) + sum(multiplicities) == count
    return replace(
        ends,
        points=np.concatenate([known.points, singular[alone]]),
        multiplicities=multiplicities,
        alone=[True] * len(multiplicities),
        continuum=suspects[:0] if whole else suspects,
    )


def _squares(points: Complex) -> Complex:
    """v² of each v: the same for v and −v."""
    entries: Any = points
    return np.asarray(coordinates.monomials(entries, 2), np.complex128)


def _without_repeated(ends: _Ends, proof: Certification) -> tuple[_Ends, Certification]:
    """Each end once: where two are proved the same, another was missed, and no count is claimed."""
    note = f"rank 1: {len(proof.repeated)} {REPEATED}"
    kept, proof = proof.once()
    first = len(ends.points) - len(ends.multiplicities)
    chosen = [k - first for k in kept if k >= first]
    return _Ends(
        ends.points[kept],
        [ends.multiplicities[k] for k in chosen],
        [ends.alone[k] for k in chosen],
        ends.continuum,
        "sampled",
        [*ends.notes, note],
    ), proof


def _singular(ends: _Ends, proof: Certification | None) -> list[End]:
    """The ends that are, or may be, singular: multiple ones, and those without a proof."""
    chosen = np.arange(len(ends.points)) >= len(ends.points) - len(ends.multiplicities)
    if proof is not None:
        chosen = np.array([root is None for root in proof.roots], dtype=bool)
    alone = [False] * (len(ends.points) - len(ends.alone)) + ends.alone
    return [End(ends.points[k][None], 2, alone[k]) for k in np.flatnonzero(chosen)]


def _solve(problem: Problem, system: RankOneSystem, seed: int, tell: Shown) -> _Ends:
    """All (3ⁿ−1)/2 paths; when some run to infinity, the metric is not generic and is solved by itself.

    Directions of very different size look like infinity too, or leave ends undecided: then balanced coordinates are
    tried first.
    """
    open_ends: _Ends | None = None
    for frame in (None, balanced_frame(problem.gram(), problem.n, 2)):
        own = system if frame is None else system.in_frame(frame)
        solutions = solve(own, rng=seed, progress=tell, on_incomplete="return")
        if solutions.failed.count == 0 and solutions.at_infinity.count == 0:
            back = np.eye(problem.n) if frame is None else frame.T
            points, continuum = (
                np.asarray(found.points @ back, np.complex128)
                for found in (solutions.isolated, solutions.continuum)
            )
            alone = [not solution.note for solution in solutions.singular]
            ends = _Ends(points, solutions.singular.multiplicities, alone, continuum, "count-matched", [])
            if solutions.status is not Status.UNDECIDED:
                return ends
            open_ends = open_ends or ends
    if open_ends is not None:
        return open_ends
    equations = PowerEquations(2, problem.n, 1)
    even = BalancedProblem.of(problem)
    metric = OneMetric(even.gram.astype(np.complex128))
    start = solved_target(equations, metric, seed, tell)
    run = settle(Detours(equations, start, Member(metric, np.zeros(0), even.gram @ even.target), seed, tell))
    if (
        run.finite.count + len(run.degenerate) < solutions.finite.count
    ):  # the other paths found more, regular ones
        run = run.sampled
    how = "this metric is not generic: monodromy over targets under this metric"
    return _restored(close_points(run, system, equations, even.restored), even, how)


def _solve_special(problem: Problem, system: RankOneSystem, seed: int, tell: Shown) -> _Ends:
    """From a generic member of the data's own kind: no path runs to infinity for being special."""
    equations = PowerEquations(2, problem.n, 1)
    even = BalancedProblem.of(problem)
    start = starting_member(equations, even.member.special, Detours, tell)
    run = settle(Detours(equations, start, even.member, seed, tell))
    far = run.at_infinity
    resolved = close_points(run.sampled if far else run, system, equations, even.restored)
    ends = _restored(resolved, even, even.member.how)
    return replace(ends, notes=[*ends.notes, f"rank 1: {far} {FAR_OUT}"]) if far else ends


def _restored(resolved: Resolved, even: BalancedProblem, how: str) -> _Ends:
    """The ends in the problem's coordinates: those that move are on a continuum."""
    run = resolved.run
    regular = np.concatenate([even.restored(run.finite.points), resolved.simple])
    points = np.concatenate([regular, even.restored(run.degenerate), resolved.multiple])
    multiplicities = [
        m for m, isolated in zip(run.singular.multiplicities, run.isolated, strict=True) if isolated
    ]
    alone = [False] * len(multiplicities) + [True] * len(resolved.multiple)
    multiplicities += resolved.multiplicities
    notes = [f"rank 1: {how} ({run.completeness})"]
    notes += [f"rank 1: {run.lost} {LOST}"] if run.lost else []
    return _Ends(points, multiplicities, alone, even.restored(run.moving), run.completeness, notes)


def _half_symmetric(right: NDArray[Any], n: int) -> NDArray[Any]:
    """B with vᵀBv = bᵀτ(v), exactly."""
    return coordinates.symmetric_matrices(right / fractions(coordinates.multiplicities(n, 2)))


@dataclass(frozen=True)
class _Candidate:
    """A real v of one sign, with the root that proves it."""

    u: Array
    sign: float
    root: CertifiedRoot | None


def _real_points(
    points: Complex, system: RankOneSystem, mirror: RankOneSystem, proof: Certification | None
) -> list[RealPoint]:
    """Those with v real (S = vvᵀ) or purely imaginary (S = −uuᵀ), each with its signature."""
    candidates = _candidates(points, mirror, proof)
    found: dict[int, RealPoint] = {}
    for sign, owner in ((1.0, system), (-1.0, mirror)):
        mine = [k for k, candidate in enumerate(candidates) if candidate.sign == sign]
        found.update(zip(mine, _found([candidates[k] for k in mine], sign, owner), strict=True))
    return [found[k] for k in range(len(candidates))]


def _candidates(points: Complex, mirror: RankOneSystem, proof: Certification | None) -> list[_Candidate]:
    """The points that are real, or i times real, as far as is known."""
    size = REAL * np.abs(points).max(axis=1, initial=0.0)
    upright = np.abs(points.imag).max(axis=1, initial=0.0) <= size
    turned = np.flatnonzero(np.abs(points.real).max(axis=1, initial=0.0) <= size)
    mirrored: dict[int, CertifiedRoot | None] = {}
    if proof is not None and len(turned):
        proofs = certify(mirror, points[turned].imag.astype(np.complex128)).roots
        mirrored = dict(zip(turned.tolist(), proofs, strict=True))
    found: list[_Candidate] = []
    for i in np.union1d(np.flatnonzero(upright), turned).tolist():
        for sign, u in ((1.0, points[i]), (-1.0, -1j * points[i])):
            if np.max(np.abs(u.imag)) > size[i]:
                continue
            root = None
            if proof is not None:
                root = proof.roots[i] if sign > 0 else mirrored[i]
                if root is not None and root.real is False:
                    continue
                root = shown(root) if root is not None and root.real else None
            if root is None and _known(u.real, sign, found):
                continue  # a degenerate point that several paths reach, each with its own error
            found.append(_Candidate(u.real if root is None else root.point.real, sign, root))
    return found


def _known(u: Array, sign: float, found: list[_Candidate]) -> bool:
    """Whether ±u is, to the accuracy of a multiple root, a point that was found and not certified."""
    others = [v.u for v in found if v.root is None and v.sign == sign]
    _, gap = nearest(np.array([u, -u]), np.array(others).reshape(-1, len(u)))
    return bool(gap.min() < MULTIPLE * np.max(np.abs(u)))


def _found(candidates: list[_Candidate], sign: float, system: RankOneSystem) -> list[RealPoint]:
    """The points S = ±uuᵀ of one sign, signatures and radii of the proved ones all at once."""
    curvature = _hessians(np.array([c.u for c in candidates]).reshape(-1, system.n), system)
    seen = [signature(np.linalg.eigvalsh(H), POINT_ERROR) for H in curvature]
    signs = np.array([sign])
    points = [RealPoint(c.u[None, :], signs, s) for c, s in zip(candidates, seen, strict=True)]
    proved = [k for k, candidate in enumerate(candidates) if candidate.root is not None]
    if not proved:
        return points
    roots = [root for c in candidates if (root := c.root) is not None]
    # the root's box proves existence and realness; the Jacobian over the box proves the signature
    box = real_balls(roots)
    hessians = signs_at_once(
        system.ball_batch()(box)[1], roots, lambda entries: inertia(ball_evaluator(system, 128)(entries)[1])
    )
    rows, columns = np.array(system.pairs).T
    radii = distances(coordinates.monomials(box.mid, 2), box[:, rows] * box[:, columns])
    known = with_proofs([points[k] for k in proved], hessians, radii, [True] * len(proved))
    for k, point in zip(proved, known, strict=True):
        points[k] = point
    return points


def _hessians(u: Array, system: RankOneSystem) -> Array:
    """3Q(u) − B for each row u, a quarter of the Hessian of ℓ(ε uuᵀ) in u."""
    packed = np.array([[float(entry) for entry in row] for row in system.packed()])
    rows, columns = np.array(system.pairs).T
    entries = (u[:, rows] * u[:, columns]) @ packed.T
    Q = np.zeros((len(u), system.n, system.n))
    Q[:, rows, columns] = Q[:, columns, rows] = entries
    return np.asarray(3 * Q - np.array([[float(entry) for entry in row] for row in system.linear]))
