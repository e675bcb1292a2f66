"""The loss to first order off a point's rank stratum: ℓ′(±u^⊗d), the small additions that an idle neuron can make."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.problem import Problem
from shallows.questions.charts.points.stratum import RealPoint
from shallows.support.checks import Array


def slope_matrix(problem: Problem, slope: Array) -> Array:
    """At degree 2, the symmetric matrix M with ℓ′(uuᵀ) = uᵀMu, from ∇ℓ on entries."""
    n = problem.n
    rows, columns = coordinates.indices(n, 2).T
    matrix = np.zeros((n, n))
    matrix[rows, columns] += slope / 2
    matrix[columns, rows] += slope / 2
    return matrix


def _complement(found: RealPoint, n: int) -> Array:
    """An orthonormal basis of the vectors orthogonal to the point's neurons."""
    if not found.rank:
        return np.eye(n)
    full = np.linalg.qr(found.vectors.T, mode="complete")[0]
    return np.asarray(full[:, found.rank :])


def slope_range(problem: Problem, found: RealPoint, slope: Array) -> tuple[float, float]:
    """The smallest and largest ℓ′(u^⊗d) over unit u off the stratum's own directions."""
    if problem.degree == 2:
        basis = _complement(found, problem.n)
        if not basis.shape[1]:
            return 0.0, 0.0
        values = np.linalg.eigvalsh(basis.T @ slope_matrix(problem, slope) @ basis)
        return float(values[0]), float(values[-1])
    values = coordinates.monomials(_directions(problem.n), problem.degree) @ slope
    return float(values.min()), float(values.max())


def _directions(n: int) -> NDArray[np.float64]:
    """Fixed unit vectors spread over the sphere, for first-order slopes at degree ≥ 3."""
    u = np.random.default_rng(0).standard_normal((64 * n * n, n))
    return np.asarray(u / np.linalg.norm(u, axis=1, keepdims=True))


def escape(
    problem: Problem, slope: Array, room: tuple[bool, bool], found: RealPoint
) -> SymmetricTensor | None:
    """±u^⊗d of steepest first-order descent among the directions looked at, when a neuron is idle."""
    if not any(room):
        return None
    if problem.degree == 2:
        basis = _complement(found, problem.n)
        if not basis.shape[1]:
            return None
        values, vectors = np.linalg.eigh(basis.T @ slope_matrix(problem, slope) @ basis)
        candidates = (basis @ vectors).T
    else:
        candidates = _directions(problem.n)
        values = coordinates.monomials(candidates, problem.degree) @ slope
    gain = np.maximum(-values if room[0] else 0.0, values if room[1] else 0.0)
    best = int(np.argmax(gain))
    if gain[best] <= 1e-9 * max(float(np.max(np.abs(slope))), 1e-300):
        return None
    sign = 1.0 if -values[best] == gain[best] and room[0] else -1.0
    entries = sign * coordinates.monomials(candidates[best], problem.degree)
    return SymmetricTensor(entries, problem.n, problem.degree)
