"""Sums of r powers of degree d ≥ 3 under any metric: parameter homotopy from a generic member, then certificates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shallows import coordinates
from shallows._checks import Array
from shallows.certify import certify
from shallows.charts import Certificate
from shallows.critical.found import Counts, Found
from shallows.critical.members import Run, run_member
from shallows.critical.powers_balls import PowerSystem, prove_signature
from shallows.critical.powers_family import PowerShape
from shallows.critical.rank_one import Stratum
from shallows.data import Frobenius, Gaussian, Radial
from shallows.errors import InvalidProblem
from shallows.geometry.identifiability import is_identifiable
from shallows.problem import Problem

REAL = 1e-7
LARGEST_COUNT = 20_000


def powers_stratum(problem: Problem, rank: int, certify_points: bool, seed: int) -> Stratum:
    """All critical points that are sums of exactly `rank` powers."""
    shape = PowerShape(problem.degree, problem.n, rank)
    gram, target = problem.gram(), problem.target_tensor().entries
    scale = float(np.abs(gram).max())
    size = float(np.abs(gram @ target).max()) or 1.0
    special = isinstance(problem.data, Frobenius | Gaussian | Radial)
    own_count = _frobenius_count(shape) if isinstance(problem.data, Frobenius) else None
    run = run_member(shape, gram / scale, gram @ target / size, seed, special, own_count)
    unit = (size / scale) ** (1 / problem.degree)
    points = _distinct(shape, run.solutions.finite.points * unit)
    found, paired = _real(problem, shape, points, certify_points)
    notes = [f"rank {rank}: {run.how} ({run.completeness})"]
    if paired:
        notes.append(f"rank {rank}: {paired} real tensors with neurons in conjugate pairs: no real networks")
    if run.solutions.singular.count:
        notes.append(
            f"rank {rank}: {run.solutions.singular.count} singular end points, lower rank or degenerate"
        )
    return Stratum(found, _counts(shape, run, len(points), own_count), [], notes, run.completeness)


def _counts(shape: PowerShape, run: Run, count: int, own_count: int | None) -> Counts:
    if own_count is not None:
        return Counts(count, own_count, "((d−1)ⁿ−1)/(d−2), Cartwright and Sturmfels 2013")
    if run.generic and shape.r == 1:
        return Counts(count, shape.count, "((2d−1)ⁿ−(d−1)ⁿ)/d for a generic metric")
    return Counts(count, None, "not known beforehand")


def _frobenius_count(shape: PowerShape) -> int | None:
    """The number of eigenvectors of a generic tensor, for rank one."""
    d = shape.degree
    return ((d - 1) ** shape.n - 1) // (d - 2) if shape.r == 1 else None


def require_charted(degree: int, n: int, rank: int) -> None:
    """Refuse, before any work starts, what has too many points or is not identifiable."""
    shape = PowerShape(degree, n, rank)
    if shape.count is not None and shape.count > LARGEST_COUNT:
        raise InvalidProblem(
            f"There are {shape.count:,} complex critical points of rank one at degree {shape.degree}, n = {shape.n}; "
            f'the limit is {LARGEST_COUNT:,}. Use method="descent".'
        )
    if shape.r > 1 and (
        shape.unknowns > shape.entries or not is_identifiable(shape.degree, shape.n, shape.r)
    ):
        raise InvalidProblem(
            f"Sums of {shape.r} powers of degree {shape.degree} in {shape.n} variables are not identifiable, so their "
            'critical points are not isolated in the neurons. Use a smaller width, or method="descent".'
        )


def _distinct(shape: PowerShape, points: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """One point a tensor: different orbits can meet at a special member, and lower ranks are not of this stratum."""
    kept: list[NDArray[np.complex128]] = []
    tensors: list[NDArray[np.complex128]] = []
    for x in points:
        W = np.abs(x.reshape(shape.r, shape.n)).max(axis=1)
        tensor = shape.tensor(x)
        if W.min() < 1e-6 * max(W.max(), 1e-300):
            continue
        if any(
            np.max(np.abs(tensor - other)) < 1e-8 * max(np.max(np.abs(tensor)), 1e-300) for other in tensors
        ):
            continue
        kept.append(x)
        tensors.append(tensor)
    return np.array(kept).reshape(len(kept), shape.unknowns)


def _real(
    problem: Problem, shape: PowerShape, points: NDArray[np.complex128], certify_points: bool
) -> tuple[list[Found], int]:
    """Points whose neurons are real up to roots of unity, and how many other real tensors there are."""
    found, paired = [], 0
    gram, target = problem.gram(), problem.target_tensor().entries
    for x in points:
        turned = [_turn(w, shape.degree) for w in x.reshape(shape.r, shape.n)]
        if any(t is None for t in turned):
            tensor = shape.tensor(x)
            paired += int(np.max(np.abs(tensor.imag)) < REAL * np.max(np.abs(tensor)))
            continue
        signs = tuple(t[1] for t in turned if t is not None)
        u = np.concatenate([t[0] for t in turned if t is not None])
        system = PowerSystem(shape, gram, target, signs)
        entry = _found(shape, system, u, certify_points)
        if entry is not None:
            found.append(entry)
    return found, paired


def _turn(w: NDArray[np.complex128], degree: int) -> tuple[Array, float] | None:
    """u and ε with w^⊗d = ε u^⊗d, u real: w = ζu with ζ^d = ε; None when there is none."""
    lead = w[np.argmax(np.abs(w))]
    zeta = lead / abs(lead)
    u = w / zeta
    power = zeta**degree
    if np.max(np.abs(u.imag)) > REAL * abs(lead) or abs(power.imag) > REAL:
        return None
    sign = 1.0 if power.real > 0 else -1.0
    return (sign * u.real, 1.0) if degree % 2 else (u.real, sign)


def _found(shape: PowerShape, system: PowerSystem, u: Array, certify_points: bool) -> Found | None:
    root = certify(system, u[None, :].astype(np.complex128)).roots[0] if certify_points else None
    if root is not None:
        if root.real is not True:
            return None
        u = root.point.real
    values = np.linalg.eigvalsh(_hessian(shape, system, u))
    tolerance = 1e-10 * float(np.max(np.abs(values)))
    negative, zero = int(np.sum(values < -tolerance)), int(np.sum(np.abs(values) <= tolerance))
    signature = (len(u) - negative - zero, zero, negative)
    certificate = None
    if root is not None:
        proof = prove_signature(system, root)
        agrees = proof.certified and (proof.positive, 0, proof.negative) == signature
        size = max(float(np.max(np.abs(u))), 1e-300)
        radius = shape.r * shape.degree * size ** (shape.degree - 1) * (root.radius + 4e-16 * size)
        certificate = Certificate(radius, agrees, shape.r == 1, "Krawczyk")
    return Found(u.reshape(shape.r, shape.n), np.array(system.signs), signature, certificate)


def _hessian(shape: PowerShape, system: PowerSystem, u: Array) -> Array:
    """Half the Hessian of ℓ(Σ ε_j u_j^⊗d) in u."""
    n, d = shape.n, shape.degree
    U, signs = u.reshape(shape.r, n), np.array(system.signs)
    e = system.gram @ (signs @ coordinates.monomials(U, d) - system.target)
    slopes = coordinates.gradient_matrix(np.eye(shape.entries), n, d)
    D = np.concatenate(
        [
            s * np.einsum("m,imx->xi", w, slopes)
            for s, w in zip(signs, coordinates.monomials(U, d - 1), strict=True)
        ]
    )
    H = D @ system.gram @ D.T
    outer = coordinates.gradient_matrix(e, n, d)
    for j, (s, w) in enumerate(zip(signs, U, strict=True)):
        block = np.stack([coordinates.monomials_jvp(w, np.eye(n)[x], d - 1) @ outer for x in range(n)])
        H[j * n : (j + 1) * n, j * n : (j + 1) * n] += s * block
    return np.asarray((H + H.T) / 2)
