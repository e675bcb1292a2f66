"""One quadratic neuron under any metric: the rank-one system K(v,v,v) = Bv, all solutions, certified.

ℓ(ε vvᵀ) = q(v) − 2ε b(v) + const with q(v) = τ(v)ᵀGτ(v) and b(v) = τ(v)ᵀGt. Over C the sign ε moves into v, so one
system has all critical points: a real v gives S = vvᵀ, a purely imaginary v = iu gives S = −uuᵀ, which solves the
system with −B in u; the others are not real.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.certification import Certification, certify
from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.balls.systems import BallEvaluator, ball_evaluator
from shallows.mathematics.homotopy.rank_one import RankOneSystem
from shallows.mathematics.homotopy.solve import solve
from shallows.mathematics.same_points import nearest
from shallows.mathematics.signature import signature
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.balanced_problem import BalancedProblem
from shallows.questions.charts.continuation.detours import Detours
from shallows.questions.charts.continuation.equations import Member
from shallows.questions.charts.continuation.generic_members import solved_target, starting_member
from shallows.questions.charts.continuation.lost_paths import FAR_OUT, LOST, Settled, settle
from shallows.questions.charts.continuation.metrics import OneMetric
from shallows.questions.charts.continuation.special_counts import count_source, rank_one_count
from shallows.questions.charts.continuation.special_data import moved_gaussian
from shallows.questions.charts.points.first_order import slope_matrix
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.proved_signature import boxes, proved_signature
from shallows.questions.charts.points.stratum import POINT_ERROR, REAL, Counts, RealPoint, Stratum
from shallows.questions.charts.powers.equations import PowerEquations
from shallows.questions.charts.singular_ends import End, examine
from shallows.support.checks import Array
from shallows.support.progress import Shown
from shallows.support.tolerances import EPSILON

Complex = NDArray[np.complex128]
#: Uncertified points closer than this, relatively, are one: multiple roots, of four to ε^{1/4} = 10⁻⁴.
DEGENERATE = 1e-3


@dataclass(frozen=True)
class _Ends:
    """Isolated solutions v, how often the degenerate ones count, and points on positive-dimensional sets."""

    points: Complex
    multiplicities: list[int]
    continuum: Complex
    completeness: str
    notes: list[str]


def rank_one_stratum(problem: Problem, certify_points: bool, seed: int, tell: Shown = False) -> Stratum:
    """All critical points of rank one at degree 2."""
    gram = problem.data.exact_gram(2)
    B = slope_matrix(problem, problem.gram() @ problem.target_tensor().entries)
    system, mirror = RankOneSystem.from_gram(gram, B), RankOneSystem.from_gram(gram, -B)
    special = moved_gaussian(problem.data, 2)
    if special is None:
        count, source = (3**problem.n - 1) // 2, "(3ⁿ−1)/2, the ED degree of a generic metric"
        ends = _solve(problem, system, seed, tell)
    else:
        count, source = rank_one_count(special.metrics), count_source(special.metrics)
        ends = _solve_special(problem, seed, tell)
    completeness, notes = ends.completeness, ends.notes
    proof = certify(system, ends.points, bound=count, progress=tell) if certify_points else None
    real = _real_points(ends.points, system, mirror, proof)
    singular = [v for v, root in zip(ends.points, proof.roots, strict=True) if root is None] if proof else []
    examined = examine(problem, 1, [End(v[None], 2) for v in (*ends.continuum, *singular)])
    if proof is not None and proof.complete:
        completeness = "proved"
    if ends.multiplicities:
        shown = ", ".join(map(str, ends.multiplicities))
        notes.append(
            f"rank 1: {len(ends.multiplicities)} degenerate points (multiplicities {shown}): on the discriminant"
        )
    if examined.families:
        real = [point for point in real if not point.signature[1]]
    return Stratum(real, Counts(len(ends.points), count, source), examined.families, notes, completeness)


def _solve(problem: Problem, system: RankOneSystem, seed: int, tell: Shown) -> _Ends:
    """All (3ⁿ−1)/2 paths; when some run to infinity, the metric is not generic and is solved by itself."""
    solutions = solve(system, rng=seed, progress=tell, on_incomplete="return")
    if solutions.failed.count == 0 and solutions.at_infinity.count == 0:
        singular = solutions.singular.multiplicities
        return _Ends(solutions.isolated.points, singular, solutions.continuum.points, "count-matched", [])
    equations = PowerEquations(2, problem.n, 1)
    even = BalancedProblem.plain(problem)
    metric = OneMetric(even.gram.astype(np.complex128))
    own = solved_target(equations, metric, seed, tell)
    run = settle(Detours(equations, own, Member(metric, np.zeros(0), even.gram @ even.target), seed, tell))
    return _restored(run, even, "this metric is not generic: monodromy over targets under this metric")


def _solve_special(problem: Problem, seed: int, tell: Shown) -> _Ends:
    """From a generic member of the data's own kind: no path runs to infinity for being special."""
    equations = PowerEquations(2, problem.n, 1)
    even = BalancedProblem.of(problem)
    start = starting_member(equations, even.member.special, Detours, tell)
    run = settle(Detours(equations, start, even.member, seed, tell))
    far = run.at_infinity
    ends = _restored(run.sampled if far else run, even, even.member.how)
    return replace(ends, notes=[*ends.notes, f"rank 1: {far} {FAR_OUT}"]) if far else ends


def _restored(run: Settled, even: BalancedProblem, how: str) -> _Ends:
    """The ends in the problem's coordinates: those that move are on a continuum."""
    points = np.concatenate([run.finite.points, run.degenerate])
    multiplicities = [
        m for m, isolated in zip(run.singular.multiplicities, run.isolated, strict=True) if isolated
    ]
    notes = [f"rank 1: {how} ({run.completeness})"]
    notes += [f"rank 1: {run.lost} {LOST}"] if run.lost else []
    return _Ends(even.restored(points), multiplicities, even.restored(run.moving), run.completeness, notes)


def _real_points(
    points: NDArray[np.complex128],
    system: RankOneSystem,
    mirror: RankOneSystem,
    proof: Certification | None,
) -> list[RealPoint]:
    """Those with v real (S = vvᵀ) or purely imaginary (S = −uuᵀ), each with its signature."""
    found: list[RealPoint] = []
    balls = {id(owner): ball_evaluator(owner, 128) for owner in (system, mirror)}
    for i, v in enumerate(points):
        size = float(np.max(np.abs(v)))
        for sign, u, owner in ((1.0, v, system), (-1.0, -1j * v, mirror)):
            if np.max(np.abs(u.imag)) > REAL * size:
                continue
            root = None
            if proof is not None:
                root = proof.roots[i] if sign > 0 else certify(mirror, u[None, :].real + 0j).roots[0]
                if root is not None and root.real is not True:
                    continue
            if root is None and _known(u.real, sign, found):
                continue  # a degenerate point that several paths reach, each with its own error
            found.append(_found(u.real, sign, owner, root, balls[id(owner)]))
    return found


def _known(u: Array, sign: float, found: list[RealPoint]) -> bool:
    """Whether ±u is, to the accuracy of a multiple root, a point that was found and not certified."""
    others = [v.vectors[0] for v in found if v.certificate is None and v.signs[0] == sign]
    _, gap = nearest(np.array([u, -u]), np.array(others).reshape(-1, len(u)))
    return bool(gap.min() < DEGENERATE * np.max(np.abs(u)))


def _found(
    u: Array, sign: float, system: RankOneSystem, root: CertifiedRoot | None, balls: BallEvaluator
) -> RealPoint:
    if root is not None:
        u = root.point.real
    seen = signature(np.linalg.eigvalsh(_hessian(u, system)), POINT_ERROR)
    vectors, signs = u[None, :], np.array([sign])
    if root is None:
        return RealPoint(vectors, signs, seen)
    # the root's box proves existence and realness; the Jacobian over the box proves the signature
    for box in boxes(root):
        proof = inertia(balls(box)[1])
        if proof.certified:
            break
    radius = 2 * root.radius * float(np.max(np.abs(u))) + 8 * EPSILON * float(np.max(u**2))
    certificate = Certificate(radius, proof.certified, True, "Krawczyk")
    return RealPoint(vectors, signs, proved_signature(proof, seen), certificate)


def _hessian(u: Array, system: RankOneSystem) -> Array:
    """3Q(u) − B, a quarter of the Hessian of ℓ(ε uuᵀ) in u."""
    packed = np.array([[float(entry) for entry in row] for row in system.packed()])
    rows, columns = np.array(system.pairs).T
    entries = packed @ (u[rows] * u[columns])
    Q = np.zeros((system.n, system.n))
    Q[rows, columns] = Q[columns, rows] = entries
    return np.asarray(3 * Q - np.array([[float(entry) for entry in row] for row in system.linear]))
