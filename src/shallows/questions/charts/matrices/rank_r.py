"""Matrices of rank r, 1 < r < n, under any metric: parameter homotopy from a generic member, then certificates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.signature import signature
from shallows.mathematics.tensors import coordinates
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.balanced_problem import BalancedProblem
from shallows.questions.charts.continuation.generic_members import starting_member
from shallows.questions.charts.continuation.lost_paths import FAR_OUT, LOST, REPEATED, Settled, settle
from shallows.questions.charts.continuation.metrics import KindOfMetrics
from shallows.questions.charts.matrices.balls import LowRankSystem, prove_box
from shallows.questions.charts.matrices.equations import LowRankEquations
from shallows.questions.charts.matrices.hessian import curvatures, newton
from shallows.questions.charts.matrices.tracking import Frames
from shallows.questions.charts.points.networks import spectral_terms
from shallows.questions.charts.points.proved_signature import (
    APART,
    distances,
    real_balls,
    shown,
    signs_at_once,
    with_proofs,
)
from shallows.questions.charts.points.stratum import POINT_ERROR, REAL, Counts, RealPoint, Stratum
from shallows.questions.charts.singular_ends import End, examine, joined, singular_note
from shallows.support.checks import Array
from shallows.support.progress import Shown


def low_rank_stratum(
    problem: Problem, rank: int, certify_points: bool, seed: int, tell: Shown = False
) -> Stratum:
    """All critical points of one rank at degree 2."""
    equations = LowRankEquations(problem.n, rank)
    return stratum_by_frames(
        problem, equations, BalancedProblem.plain(problem), certify_points, seed, tell
    ).stratum


@dataclass(frozen=True)
class FoundStratum:
    """A stratum, and how many of the paths to it ran to infinity or were lost."""

    stratum: Stratum
    elsewhere: int


def stratum_by_frames(
    problem: Problem,
    equations: LowRankEquations,
    even: BalancedProblem,
    certify_points: bool,
    seed: int,
    tell: Shown = False,
    known: Counts | None = None,
    among: KindOfMetrics | None = None,
) -> FoundStratum:
    """All critical points of these equations, `even` being their member in coordinates of comparable size.

    `known` is what a theorem says of the problem's own metric, if one does; `among` are the equations' own special
    metrics, where the member's is one of them.
    """
    rank = equations.r
    turn = equations.frame(np.random.default_rng([seed, rank]))
    special = even.member.special if among is None else among
    start = starting_member(equations, special, Frames, tell)
    run = settle(Frames(equations, start, even.member, seed, tell, first=turn))
    points = _rescale(equations, run.finite.points, even.unit)
    singular = _rescale(equations, run.singular.points, even.unit)
    system = LowRankSystem.of(problem, equations, even.frame @ turn)
    points, singular = _regular_after_all(system, points, singular)
    proof = certify(system, points, digits=APART, progress=tell) if certify_points else None
    repeated = 0
    if proof is not None and proof.repeated:
        repeated, run = len(proof.repeated), run.sampled
        kept, proof = proof.once()
        points = points[kept]
    roots = proof.roots if proof is not None else (None,) * len(points)
    found = of_full_rank(problem, real_points(system, points, roots, certify_points))
    counts = _counts(equations, len(points), special)
    counts = counts if known is None else replace(known, complex=len(points))
    whole = proof is not None and proof.count == counts.bound
    far = even.member.special is not None and run.at_infinity > 0
    run = run.sampled if far else run
    matrices = [system.frame @ equations.matrix(x) @ system.frame.T for x in singular]
    seen = None if equations.definite else problem.n - 1
    examined = examine(problem, rank, [End.of_matrix(S, rank) for S in matrices], certify_points, seen)
    note = singular_note(rank, len(singular), len(examined.families), len(examined.points), examined.close)
    run = run.sampled if examined.close else run
    stratum = Stratum(
        joined(found, examined, 2),
        counts,
        examined.families,
        [*_notes(rank, even.member.how, run, far, repeated), *note],
        "proved" if whole and not examined.families else run.completeness,
    )
    return FoundStratum(stratum, run.at_infinity + run.lost)


def of_full_rank(problem: Problem, points: list[RealPoint]) -> list[RealPoint]:
    """Those no term of which is zero to what points are known to, where this is not proved: others have a lower one."""
    size = POINT_ERROR * float(np.abs(problem.target_tensor().entries).max())
    return [
        point
        for point in points
        if (point.certificate is not None and point.certificate.rank_certified)
        or float((point.vectors**2).sum(axis=1).min()) > size
    ]


def _counts(equations: LowRankEquations, count: int, special: KindOfMetrics | None) -> Counts:
    if special is not None:
        return Counts(count, None, f"not known beforehand for {special.kind} metrics")
    return Counts(count, equations.count, equations.source, bound=equations.count)


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
    prove: bool = True,
) -> list[RealPoint]:
    """The real ones, with what their certified `roots` prove: in a real frame S is real exactly when A and Z are.

    Those without a proof are looked at, and with `prove` proved, in a frame of their own.
    """
    proved, found = [], []
    for point, root in zip(points, roots, strict=True):
        if root is not None and root.real is False:
            continue
        if root is not None and root.real:
            proved.append(shown(root))
        elif np.max(np.abs(point.imag)) <= REAL * np.max(np.abs(point)):
            found.append(_in_own_frame(system, point.real, prove))
    return [*_certified(system, [_seen(system, root.point.real) for root in proved], proved), *found]


def _seen(system: LowRankSystem, x: Array) -> RealPoint:
    """The point as doubles show it."""
    vectors, signs = spectral_terms(_in_frame(system.equations, system.frame, x), system.equations.r)
    return RealPoint(vectors, signs, signature(curvatures(system, x), POINT_ERROR))


def _in_own_frame(system: LowRankSystem, x: Array, prove: bool) -> RealPoint:
    """The same matrix in the frame of its eigenvectors, where Z = 0.

    Where its first rows are nearly dependent in the frame that all share, Z is large: rounding then decides the signs
    of the Hessian, and no box around the root contracts.
    """
    return point_at(system, _in_frame(system.equations, system.frame, x), prove)


def point_at(system: LowRankSystem, S: Array, prove: bool) -> RealPoint:
    """The critical point next to a matrix that is one up to rounding, with what is proved about it."""
    return _point_near(*_own_frame(system, S), prove)


def points_at(system: LowRankSystem, matrices: list[Array], prove: bool) -> list[RealPoint]:
    """The same for many: proved together in one frame, and those that this leaves open each in its own."""
    frame = system.equations.frame(np.random.default_rng(len(matrices)))
    shared, proved = replace(system, frame=frame), dict[int, CertifiedRoot]()
    if prove and len(matrices) > 1:
        roots = certify(shared, shared.equations.unknowns_in(frame, np.array(matrices, np.complex128))).roots
        proved = {k: shown(root) for k, root in enumerate(roots) if root is not None and root.real}
    found = _certified(
        shared, [_seen(shared, root.point.real) for root in proved.values()], [*proved.values()]
    )
    near = dict(zip(proved, found, strict=True))
    return [near[k] if k in near else point_at(system, S, prove) for k, S in enumerate(matrices)]


def point_of_family(system: LowRankSystem, S: Array) -> RealPoint:
    """A matrix that is critical up to rounding, as it is, with its signature as doubles show it."""
    return _seen(*_own_frame(system, S))


def _own_frame(system: LowRankSystem, S: Array) -> tuple[LowRankSystem, Array]:
    """The system in the frame of the matrix's eigenvectors, largest first, and its unknowns there."""
    values, vectors = np.linalg.eigh(S)
    own = replace(system, frame=vectors[:, np.argsort(-np.abs(values))])
    return own, own.equations.unknowns_in(own.frame, S[None].astype(np.complex128))[0].real


def _point_near(own: LowRankSystem, x: Array, prove: bool) -> RealPoint:
    """The point that Newton's method goes to, proved if that is asked for and works."""
    near = newton(own, x)
    (root,) = certify(own, near[None].astype(np.complex128)).roots if prove else (None,)
    if root is None or not root.real:
        return _seen(own, near)
    root = shown(root)
    return _certified(own, [_seen(own, root.point.real)], [root])[0]


def _in_frame(equations: LowRankEquations, frame: Array, x: Array) -> Array:
    """S = R U A Uᵀ Rᵀ for real unknowns, exactly symmetric."""
    S = np.asarray(frame @ equations.matrix(x.astype(np.complex128)).real @ frame.T, dtype=np.float64)
    return (S + S.T) / 2


def _certified(system: LowRankSystem, found: list[RealPoint], roots: list[CertifiedRoot]) -> list[RealPoint]:
    """The points with what the boxes of their roots prove: signature, rank, and the radius of S as doubles."""
    if not found:
        return found
    batch, box = system.ball_batch(), real_balls(roots)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not proved
        hessians = signs_at_once(batch.hessians(box), roots, lambda entries: prove_box(system, entries)[0])
        ranks = signs_at_once(batch.split(box)[0], roots, lambda entries: prove_box(system, entries)[1])
        entries = np.array([_entries(point) for point in found])
        radii = distances(entries, batch.tensors(box, system.frame))
    return with_proofs(found, hessians, radii, [rank.certified for rank in ranks])


def _entries(point: RealPoint) -> Array:
    """S as the chart has it, Σ εᵢ vᵢvᵢᵀ in doubles."""
    return np.asarray(point.signs @ coordinates.monomials(point.vectors, 2))


def _notes(rank: int, how: str, run: Settled, far: bool, repeated: int) -> list[str]:
    notes = [f"rank {rank}: {how} ({run.completeness})"]
    if run.at_infinity:
        text = FAR_OUT if far else "paths to infinity: this metric is not generic"
        notes.append(f"rank {rank}: {run.at_infinity} {text}")
    if run.lost:
        notes.append(f"rank {rank}: {run.lost} {LOST}")
    if repeated:
        notes.append(f"rank {rank}: {repeated} {REPEATED}")
    return notes
