"""Degenerate critical sets of sums of r powers: real points on them, their loss and their dimension.

The homotopy ends at arbitrary complex points of a positive-dimensional critical set. The loss is constant along it, so
the ends are grouped by loss; a real point is then looked for by Levenberg-Marquardt on the real gradient, from the real
part of each end. At a real point the Hessian's nullity on the stratum bounds the dimension of the set there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.model.data.metric import Metric
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.points.family import CriticalFamily
from shallows.questions.charts.points.networks import realise, spectral_terms
from shallows.questions.geometry.manifolds.strata import stratum
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem

REAL_LOSS = 1e-5
SAMPLES = 5


@dataclass(frozen=True)
class Start:
    """An end point: the entries of its (complex) tensor, and real neurons and signs to look for a real point from."""

    entries: NDArray[np.complex128]
    vectors: Array
    signs: Array

    @classmethod
    def of_matrix(cls, S: NDArray[np.complex128], rank: int) -> Start:
        """From a complex symmetric matrix."""
        real = (S.real + S.real.T) / 2
        return cls(S[np.triu_indices(len(S))], *spectral_terms(real, rank))


def degenerate_families(problem: Problem, rank: int, starts: Sequence[Start]) -> list[CriticalFamily]:
    """One record a loss value that has real points; ends without a real point nearby are not real sets."""
    groups: dict[str, list[Network]] = {}
    losses: dict[str, float] = {}
    if not starts:
        return []
    metric = Metric(problem.n, problem.degree, problem.gram())
    student = Problem(problem.target_tensor(), metric, rank)
    for start in starts:
        gap = start.entries - problem.target_tensor().entries
        value = complex(gap @ problem.gram() @ gap)
        if abs(value.imag) > REAL_LOSS * max(1.0, abs(value)):
            continue
        net = _real_point(student, start, rank)
        if net is None:
            continue
        loss = student.loss(net) + problem.floor
        key = f"{loss:.6g}"
        losses.setdefault(key, loss)
        groups.setdefault(key, []).append(net)
    records = []
    for key, nets in groups.items():
        dimension = _nullity(problem, nets[0], rank)
        if dimension:
            text = "a positive-dimensional critical set (dimension: nullity of the Hessian on the stratum)"
            samples = tuple(net.tensor() for net in nets[:SAMPLES])
            records.append(CriticalFamily(rank, dimension, losses[key], text, samples))
    return records


def _real_point(student: Problem, start: Start, rank: int) -> Network | None:
    """A real critical point of rank r near a start, or None."""
    from scipy.optimize import least_squares

    result = least_squares(
        lambda theta: student.value_and_gradient(theta)[1],
        student.pack(realise(student, start.vectors, start.signs)),
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
    net = student.unpack(result.x)
    return net if _has_rank(net, rank) else None


def _has_rank(net: Network, rank: int) -> bool:
    """Matrices by their eigenvalues, other tensors by no neuron being idle."""
    if net.tensor().degree == 2:
        values = np.sort(np.abs(np.linalg.eigvalsh(net.tensor().to_matrix())))[::-1]
    else:
        values = np.sort(np.abs(net.a) * np.linalg.norm(net.W, axis=1) ** net.tensor().degree)[::-1]
    return bool(values[rank - 1] > 1e-6 * values[0])


def _nullity(problem: Problem, net: Network, rank: int) -> int:
    """The nullity of the Hessian on the stratum; 0 where neurons are so close that it is no stratum: lower rank."""
    try:
        if problem.degree == 2:
            geometry = stratum(problem, net.tensor(), rank=rank, tolerance=1e-6)
        else:
            geometry = stratum(problem, net, tolerance=1e-6)
    except InvalidProblem:
        return 0
    return int(geometry.signature(problem.target_tensor().entries, 1e-6)[1])
