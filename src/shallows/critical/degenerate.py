"""Degenerate critical sets of rank-r matrices: real points on them, their loss and their dimension.

The homotopy ends at arbitrary complex points of a positive-dimensional critical set. The loss is constant along it, so
the ends are grouped by loss; a real point is then looked for by Levenberg-Marquardt on the real gradient, from the real
part of each end. At a real point the Hessian's nullity on the stratum bounds the dimension of the set there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shallows._checks import Array
from shallows.charts import CriticalFamily
from shallows.critical.realise import realise, spectral_terms
from shallows.data import Metric
from shallows.geometry.strata import stratum
from shallows.problem import Problem
from shallows.tensors import SymmetricTensor

REAL_LOSS = 1e-5
SAMPLES = 5


def degenerate_families(
    problem: Problem, rank: int, ends: Sequence[NDArray[np.complex128]]
) -> list[CriticalFamily]:
    """One record a loss value that has real points; ends without a real point nearby are not real sets."""
    groups: dict[str, list[SymmetricTensor]] = {}
    losses: dict[str, float] = {}
    if not ends:
        return []
    student = Problem(problem.target_tensor(), Metric(problem.n, 2, problem.gram()), rank)
    for S in ends:
        value = _complex_loss(problem, S)
        if abs(value.imag) > REAL_LOSS * max(1.0, abs(value)):
            continue
        tensor = _real_point(student, S.real, rank)
        if tensor is None:
            continue
        gap = tensor.entries - problem.target_tensor().entries
        loss = float(gap @ problem.gram() @ gap) + problem.floor
        key = f"{loss:.6g}"
        losses.setdefault(key, loss)
        groups.setdefault(key, []).append(tensor)
    records = []
    for key, samples in groups.items():
        dimension = _nullity(problem, samples[0], rank)
        if dimension:
            text = "a positive-dimensional critical set (dimension: nullity of the Hessian on the stratum)"
            records.append(CriticalFamily(rank, dimension, losses[key], text, tuple(samples[:SAMPLES])))
    return records


def _complex_loss(problem: Problem, S: NDArray[np.complex128]) -> complex:
    rows, columns = np.triu_indices(problem.n)
    gap = S[rows, columns] - problem.target_tensor().entries
    return complex(gap @ problem.gram() @ gap) + problem.floor


def _real_point(student: Problem, S: Array, rank: int) -> SymmetricTensor | None:
    """A real critical point of rank r near S, or None."""
    from scipy.optimize import least_squares

    start = student.pack(realise(student, *spectral_terms((S + S.T) / 2, rank)))
    result = least_squares(
        lambda theta: student.value_and_gradient(theta)[1],
        start,
        jac=lambda theta: student.hessian(student.unpack(theta)),
        method="trf",
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
        max_nfev=300,
    )
    scale = max(1.0, float(np.max(np.abs(student.gram() @ student.target_tensor().entries))))
    if np.linalg.norm(result.fun) > 1e-9 * scale:
        return None
    tensor = student.unpack(result.x).tensor()
    values = np.sort(np.abs(np.linalg.eigvalsh(tensor.to_matrix())))[::-1]
    return tensor if values[rank - 1] > 1e-6 * values[0] else None


def _nullity(problem: Problem, tensor: SymmetricTensor, rank: int) -> int:
    geometry = stratum(problem, tensor, rank=rank, tolerance=1e-6)
    return int(geometry.signature(problem.target_tensor().entries, 1e-6)[1])
