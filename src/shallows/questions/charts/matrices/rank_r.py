"""Matrices of rank r, 1 < r < n, under any metric: parameter homotopy from a generic member, then certificates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.signature import signature
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.balanced_problem import BalancedProblem
from shallows.questions.charts.continuation.generic_members import starting_member
from shallows.questions.charts.continuation.lost_paths import FAR_OUT, LOST, Settled, settle
from shallows.questions.charts.continuation.metrics import SpecialMetrics
from shallows.questions.charts.matrices.balls import LowRankSystem, prove_box
from shallows.questions.charts.matrices.equations import LowRankEquations
from shallows.questions.charts.matrices.hessian import curvatures
from shallows.questions.charts.matrices.tracking import Frames
from shallows.questions.charts.points.networks import spectral_terms
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.proved_signature import boxes, proved_signature
from shallows.questions.charts.points.stratum import POINT_ERROR, REAL, Counts, RealPoint, Stratum
from shallows.questions.charts.singular_ends import End, examine
from shallows.support.checks import Array
from shallows.support.progress import Shown

#: What rounding adds to a point, relatively, when A and Z become a matrix: some ε.
ROUNDED = 1e-15


def low_rank_stratum(
    problem: Problem, rank: int, certify_points: bool, seed: int, tell: Shown = False
) -> Stratum:
    """All critical points of one rank at degree 2."""
    equations = LowRankEquations(problem.n, rank)
    even = BalancedProblem.plain(problem)
    turn, _ = np.linalg.qr(np.random.default_rng([seed, rank]).standard_normal((problem.n, problem.n)))
    start = starting_member(equations, even.member.special, Frames, tell)
    run = settle(Frames(equations, start, even.member, seed, tell, first=turn))
    points = _rescale(equations, run.finite.points, even.unit)
    singular = _rescale(equations, run.singular.points, even.unit)
    target = problem.target_tensor().entries
    system = LowRankSystem(equations, problem.gram(), target, even.frame @ turn)
    proof = None
    if certify_points:
        points, singular = _regular_after_all(system, points, singular)
        proof = certify(system, points, progress=tell)
    found = real_points(system, points, proof.roots if proof is not None else (None,) * len(points))
    counts = _counts(equations, len(points), even.member.special)
    whole = proof is not None and proof.count == counts.bound
    far = even.member.special is not None and run.at_infinity > 0
    run = run.sampled if far else run
    matrices = [system.frame @ equations.matrix(x) @ system.frame.T for x in singular]
    examined = examine(problem, rank, [End.of_matrix(S, rank) for S in matrices])
    return Stratum(
        found + examined.points,
        counts,
        examined.families,
        _notes(rank, even.member.how, run, len(singular), far),
        "proved" if whole else run.completeness,
    )


def _counts(equations: LowRankEquations, count: int, special: SpecialMetrics | None) -> Counts:
    if special is not None:
        return Counts(count, None, f"not known beforehand for {special.kind} metrics")
    source = "generic ED degree: the sum of the algebraic degrees of semidefinite programming"
    return Counts(count, equations.count, source, bound=equations.count)


def _regular_after_all(
    system: LowRankSystem, points: NDArray[np.complex128], singular: NDArray[np.complex128]
) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Ends that looked singular in double precision, but are proved to be regular roots, join the finite ones."""
    if not len(singular):
        return points, singular
    everything = np.concatenate([points, singular])
    proof = certify(system, everything)
    joined = [i for i in proof.distinct if i >= len(points)]
    known = {i for i, root in enumerate(proof.roots) if root is not None}
    rest = [i for i in range(len(points), len(everything)) if i not in known]
    return np.concatenate([points, everything[joined]]), everything[rest]


def _rescale(
    equations: LowRankEquations, points: NDArray[np.complex128], unit: float
) -> NDArray[np.complex128]:
    """Only A carries the units of S."""
    moved = points.copy()
    moved[:, : equations.r * (equations.r + 1) // 2] *= unit
    return moved


def real_points(
    system: LowRankSystem,
    points: NDArray[np.complex128],
    roots: tuple[CertifiedRoot | None, ...],
) -> list[RealPoint]:
    """The real ones, with what their certified `roots` prove: in a real frame S is real exactly when A and Z are."""
    found = []
    for point, root in zip(points, roots, strict=True):
        if root is not None and root.real is not True:
            continue
        if root is None and np.max(np.abs(point.imag)) > REAL * np.max(np.abs(point)):
            continue
        x = (root.point if root is not None else point).real
        found.append(_found(system, x, root))
    return found


def _in_frame(equations: LowRankEquations, frame: Array, x: Array) -> Array:
    """S = R U A Uᵀ Rᵀ for real unknowns, exactly symmetric."""
    S = np.asarray(frame @ equations.matrix(x.astype(np.complex128)).real @ frame.T, dtype=np.float64)
    return (S + S.T) / 2


def _found(system: LowRankSystem, x: Array, root: CertifiedRoot | None) -> RealPoint:
    vectors, signs = spectral_terms(_in_frame(system.equations, system.frame, x), system.equations.r)
    seen = signature(curvatures(system, x), POINT_ERROR)
    if root is None:
        return RealPoint(vectors, signs, seen)
    for box in boxes(root):
        hessian, rank = prove_box(system, box)
        if hessian.certified and rank.certified:
            break
    proved = proved_signature(hessian, seen)
    size = float(np.abs(root.point).max())
    frame = max(1.0, float(np.abs(system.frame).max())) ** 2  # 1 unless the frame is not orthogonal
    radius = 4 * system.equations.n**2 * frame * (1 + size) ** 2 * (root.radius + ROUNDED * size)
    return RealPoint(
        vectors, signs, proved, Certificate(radius, hessian.certified, rank.certified, "Krawczyk")
    )


def _notes(rank: int, how: str, run: Settled, degenerate: int, far: bool) -> list[str]:
    notes = [f"rank {rank}: {how} ({run.completeness})"]
    if degenerate:
        notes.append(f"rank {rank}: {degenerate} paths end at degenerate points: see families")
    if run.at_infinity:
        text = FAR_OUT if far else "paths to infinity: this metric is not generic"
        notes.append(f"rank {rank}: {run.at_infinity} {text}")
    if run.lost:
        notes.append(f"rank {rank}: {run.lost} {LOST}")
    return notes
