"""Matrices of rank r, 1 < r < n, under any metric: parameter homotopy from a generic member, then certificates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shallows._checks import Array
from shallows.certify import CertifiedRoot, certify
from shallows.charts import Certificate, CriticalFamily
from shallows.critical.found import Counts, Found
from shallows.critical.low_rank_balls import LowRankSystem, prove_shape
from shallows.critical.low_rank_family import Shape, frame_action
from shallows.critical.members import Run, run_member
from shallows.critical.rank_one import Stratum
from shallows.critical.realise import spectral_terms
from shallows.geometry.strata import stratum as stratum_of
from shallows.homotopy import Solutions
from shallows.problem import Problem
from shallows.tensors import SymmetricTensor

REAL = 1e-7


def low_rank_stratum(problem: Problem, rank: int, certify_points: bool, seed: int) -> Stratum:
    """All critical points of one rank at degree 2."""
    shape = Shape(problem.n, rank)
    gram, target = problem.gram(), problem.target_tensor().entries
    scale = float(np.abs(gram).max())
    size = float(np.abs(gram @ target).max()) or 1.0
    frame, _ = np.linalg.qr(np.random.default_rng([seed, rank]).standard_normal((problem.n, problem.n)))
    action = frame_action(frame)
    # in units where G and g are of size one: S is then measured in units of size / scale
    run = run_member(shape, action.T @ gram @ action / scale, action.T @ (gram @ target) / size, seed)
    solutions = run.solutions
    unit = size / scale
    points = _rescale(shape, solutions.finite.points, unit)
    system = LowRankSystem(shape, gram, target, frame)
    proof = certify(system, points) if certify_points else None
    found = _real(problem, system, points, proof.roots if proof is not None else (None,) * len(points))
    degree = shape.count
    whole = proof is not None and degree is not None and proof.count == degree
    completeness = "proved" if whole else run.completeness
    source = (
        "generic ED degree (duality, or Ottaviani-Spaenlehauer-Sturmfels 2014)" if degree else "not known"
    )
    return Stratum(
        found, Counts(len(points), degree, source), _families(problem, shape, frame, solutions, unit),
        _notes(rank, run), completeness,
    )  # fmt: skip


def _rescale(shape: Shape, points: NDArray[np.complex128], unit: float) -> NDArray[np.complex128]:
    """Only A carries the units of S."""
    moved = points.copy()
    moved[:, : shape.r * (shape.r + 1) // 2] *= unit
    return moved


def _real(
    problem: Problem,
    system: LowRankSystem,
    points: NDArray[np.complex128],
    roots: tuple[CertifiedRoot | None, ...],
) -> list[Found]:
    """In a real frame S is real exactly when A and Z are."""
    found = []
    for point, root in zip(points, roots, strict=True):
        if root is not None and root.real is not True:
            continue
        if root is None and np.max(np.abs(point.imag)) > REAL * np.max(np.abs(point)):
            continue
        x = (root.point if root is not None else point).real
        found.append(_found(problem, system, _in_frame(system.shape, system.frame, x), root))
    return found


def _in_frame(shape: Shape, frame: Array, x: Array) -> Array:
    """S = R U A Uᵀ Rᵀ for real unknowns, exactly symmetric."""
    S = np.asarray(frame @ shape.matrix(x.astype(np.complex128)).real @ frame.T, dtype=np.float64)
    return (S + S.T) / 2


def _found(problem: Problem, system: LowRankSystem, S: Array, root: CertifiedRoot | None) -> Found:
    vectors, signs = spectral_terms(S, system.shape.r)
    geometry = stratum_of(problem, SymmetricTensor.from_matrix(S), rank=system.shape.r)
    positive, zero, negative = geometry.signature(problem.target_tensor().entries)
    signature = (int(positive), int(zero), int(negative))
    if root is None:
        return Found(vectors, signs, signature)
    hessian, rank = prove_shape(system, root)
    agrees = hessian.certified and (hessian.positive, 0, hessian.negative) == signature
    size = float(np.abs(root.point).max())
    radius = 4 * system.shape.n**2 * (1 + size) ** 2 * (root.radius + 1e-15 * size)
    return Found(vectors, signs, signature, Certificate(radius, agrees, rank.certified, "Krawczyk"))


def _notes(rank: int, run: Run) -> list[str]:
    notes = [f"rank {rank}: {run.how} ({run.completeness})"]
    if run.solutions.singular.count:
        count = run.solutions.singular.count
        notes.append(f"rank {rank}: {count} degenerate points: on the discriminant, or not isolated")
    return notes


def _families(
    problem: Problem, shape: Shape, frame: Array, solutions: Solutions, unit: float
) -> list[CriticalFamily]:
    """Singular real end points: degenerate points or members of positive-dimensional critical sets, by loss."""
    gram, target = problem.gram(), problem.target_tensor().entries
    groups: dict[str, list[tuple[float, SymmetricTensor]]] = {}
    ends = [*solutions.singular, *solutions.continuum]
    for solution in ends:
        x = _rescale(shape, solution.point[None, :], unit)[0]
        if np.max(np.abs(x.imag)) > 1e-4 * np.max(np.abs(x)):
            continue
        tensor = SymmetricTensor.from_matrix(_in_frame(shape, frame, x.real))
        gap = tensor.entries - target
        loss = float(gap @ gram @ gap) + problem.floor
        groups.setdefault(f"{loss:.6g}", []).append((loss, tensor))
    return [
        CriticalFamily(
            shape.r, _dimension(problem, group[0][1], shape.r), group[0][0], "a degenerate critical set",
            tuple(t for _, t in group[:5]),
        )
        for group in groups.values()
    ]  # fmt: skip


def _dimension(problem: Problem, tensor: SymmetricTensor, rank: int) -> int:
    """The Hessian's nullity on the stratum: an upper bound on the dimension of the critical set there."""
    geometry = stratum_of(problem, tensor, rank=rank, tolerance=1e-5)
    return int(geometry.signature(problem.target_tensor().entries, 1e-5)[1])
