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
from shallows.mathematics.homotopy.solutions import Solution, Solutions, SolutionSet
from shallows.mathematics.homotopy.solve import solve
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.balance import Balanced
from shallows.questions.charts.continuation.members import Run, Tell, run_member, run_under, silently
from shallows.questions.charts.continuation.special_data import (
    count_source,
    moved_gaussian,
    rank_one_count,
)
from shallows.questions.charts.points.assembling import Counts, Found, slope_matrix
from shallows.questions.charts.points.family import CriticalFamily
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.signs import proved_signature, sharp_inertias
from shallows.questions.charts.powers.family import PowerShape
from shallows.support.checks import Array

#: Why paths to infinity leave a chart under a Gaussian moved along a line incomplete.
FAR_OUT = "of the points are too far out to be told from infinity: the data are nearly centred"
REAL = 1e-7
DEGENERATE = 1e-3


@dataclass(frozen=True)
class Stratum:
    """The critical points of one rank: those that are real, the counts, and what is proved."""

    found: list[Found]
    counts: Counts
    families: list[CriticalFamily]
    notes: list[str]
    completeness: str


def rank_one_stratum(problem: Problem, certify_points: bool, seed: int, tell: Tell = silently) -> Stratum:
    """All critical points of rank one at degree 2."""
    gram = problem.data.exact_gram(2)
    B = slope_matrix(problem, problem.gram() @ problem.target_tensor().entries)
    system, mirror = RankOneSystem.from_gram(gram, B), RankOneSystem.from_gram(gram, -B)
    special = moved_gaussian(problem.data, 2)
    count = (3**problem.n - 1) // 2 if special is None else rank_one_count(special.metrics)
    source = (
        "(3ⁿ−1)/2, the ED degree of a generic metric" if special is None else count_source(special.metrics)
    )
    if special is None:
        solutions, completeness, notes = _solve(problem, system, problem.gram(), B, seed, tell)
    else:
        solutions, completeness, notes = _solve_special(problem, system, seed, tell)
    points = solutions.isolated.points
    proof = certify(system, points, bound=count, progress=tell) if certify_points else None
    real = _real_points(points, system, mirror, proof)
    if proof is not None and proof.complete:
        completeness = "proved"
    if solutions.singular.count:
        notes.append(_singular_note(solutions))
    counts = Counts(len(points), count, source)
    return Stratum(real, counts, _families(problem, solutions), notes, completeness)


def _solve_special(
    problem: Problem, system: RankOneSystem, seed: int, tell: Tell
) -> tuple[Solutions, str, list[str]]:
    """From a generic member of the data's own kind: no path runs to infinity for being special."""
    even = Balanced.of(problem)
    run = run_member(PowerShape(2, problem.n, 1), even.member, seed, tell)
    far = run.solutions.at_infinity.count
    completeness = "sampled" if far else run.completeness
    notes = [f"rank 1: {run.how} ({completeness})"]
    notes += [f"rank 1: {far} {FAR_OUT}"] if far else []
    return _restored(run, system, even), completeness, notes


def _restored(run: Run, system: RankOneSystem, even: Balanced) -> Solutions:
    """A run in the problem's coordinates, as solutions of its system: ends that move are on a continuum."""
    moving = {tuple(x) for x in run.moving.tolist()}
    finite: list[Solution] = []
    singular: list[Solution] = []
    continuum: list[Solution] = []
    for kind, solutions in ((finite, run.solutions.finite), (singular, run.solutions.singular)):
        for s in solutions:
            chosen = continuum if tuple(s.point.tolist()) in moving else kind
            chosen.append(replace(s, point=even.restored(s.point[None])[0]))
    return replace(
        run.solutions,
        system=system,
        finite=SolutionSet(tuple(finite), system.n),
        singular=SolutionSet(tuple(singular), system.n),
        continuum=SolutionSet(tuple(continuum), system.n),
        at_infinity=SolutionSet((), system.n),
    )


def _solve(
    problem: Problem, system: RankOneSystem, gram: Array, B: Array, seed: int, tell: Tell
) -> tuple[Solutions, str, list[str]]:
    """All (3ⁿ−1)/2 paths; when some run to infinity, the metric is not generic and is solved by itself."""
    solutions = solve(system, rng=seed, progress=tell, on_incomplete="return")
    if solutions.failed.count == 0 and solutions.at_infinity.count == 0:
        return solutions, "count-matched", []
    shape = PowerShape(2, problem.n, 1)
    even = Balanced.plain(problem)
    run = run_under(shape, even.gram, even.gram @ even.target, seed, tell)
    return (
        _restored(run, system, even),
        run.completeness,
        [f"rank 1: this metric is not generic: {run.how} ({run.completeness})"],
    )


def _real_points(
    points: NDArray[np.complex128],
    system: RankOneSystem,
    mirror: RankOneSystem,
    proof: Certification | None,
) -> list[Found]:
    """Those with v real (S = vvᵀ) or purely imaginary (S = −uuᵀ), each with its signature."""
    found: list[Found] = []
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
            if root is None and any(_close(u.real, sign, other) for other in found):
                continue  # a degenerate point that several paths reach, each with its own error
            found.append(_found(u.real, sign, owner, root, balls[id(owner)]))
    return found


def _close(u: Array, sign: float, other: Found) -> bool:
    """Whether two uncertified points are one to the accuracy of a multiple root."""
    if other.certificate is not None or other.signs[0] != sign:
        return False
    v = other.vectors[0]
    gap = min(float(np.max(np.abs(u - v))), float(np.max(np.abs(u + v))))
    return gap < DEGENERATE * float(np.max(np.abs(v)))


def _found(
    u: Array, sign: float, system: RankOneSystem, root: CertifiedRoot | None, balls: BallEvaluator
) -> Found:
    if root is not None:
        u = root.point.real
    hessian = _hessian(u, system)
    values = np.linalg.eigvalsh(hessian)
    tolerance = 1e-10 * float(np.max(np.abs(values)))
    negative, zero = int(np.sum(values < -tolerance)), int(np.sum(np.abs(values) <= tolerance))
    signature = (len(u) - negative - zero, zero, negative)
    vectors, signs = u[None, :], np.array([sign])
    if root is None:
        return Found(vectors, signs, signature)
    # the root's box proves existence and realness; the Jacobian over the box proves the signature
    (proof,) = sharp_inertias(root, lambda box: (inertia(balls(box)[1]),))
    radius = 2 * root.radius * float(np.max(np.abs(u))) + 8 * np.finfo(float).eps * float(np.max(u**2))
    certificate = Certificate(radius, proof.certified, True, "Krawczyk")
    return Found(vectors, signs, proved_signature(proof, signature), certificate)


def _hessian(u: Array, system: RankOneSystem) -> Array:
    """3Q(u) − B, a quarter of the Hessian of ℓ(ε uuᵀ) in u."""
    packed = np.array([[float(entry) for entry in row] for row in system.packed()])
    rows, columns = np.array(system.pairs).T
    entries = packed @ (u[rows] * u[columns])
    Q = np.zeros((system.n, system.n))
    Q[rows, columns] = Q[columns, rows] = entries
    return np.asarray(3 * Q - np.array([[float(entry) for entry in row] for row in system.linear]))


def _singular_note(solutions: Solutions) -> str:
    multiplicities = ", ".join(map(str, solutions.singular.multiplicities))
    count = solutions.singular.count
    return f"rank 1: {count} degenerate points (multiplicities {multiplicities}): on the discriminant"


def _families(problem: Problem, solutions: Solutions) -> list[CriticalFamily]:
    """Real points of positive-dimensional critical sets, one record a loss value."""
    gram, target = problem.gram(), problem.target_tensor().entries
    samples: dict[str, list[tuple[float, SymmetricTensor]]] = {}
    for solution in solutions.continuum:
        v = solution.point
        S = np.outer(v, v)
        if np.max(np.abs(S.imag)) > 1e-5 * np.max(np.abs(S)):
            continue
        tensor = SymmetricTensor.from_matrix(S.real)
        gap = tensor.entries - target
        loss = float(gap @ gram @ gap) + problem.floor
        samples.setdefault(f"{loss:.6g}", []).append((loss, tensor))
    return [
        CriticalFamily(
            1, 1, group[0][0], "a positive-dimensional set of critical points", tuple(t for _, t in group[:5])
        )
        for group in samples.values()
    ]
