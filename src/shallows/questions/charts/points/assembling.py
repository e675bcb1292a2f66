"""From a list of critical points that were found to a chart: kinds, escapes, networks, sorting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.problem import Problem
from shallows.questions.charts.points.family import CriticalFamily
from shallows.questions.charts.points.kinds import Signs, kinds
from shallows.questions.charts.points.networks import realise
from shallows.questions.charts.points.point import Certificate, Points, PointTable, Stored
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array


@dataclass(frozen=True)
class Found:
    """A real critical tensor Σ signsᵢ vectorsᵢ^⊗d with its signature on the rank stratum."""

    vectors: Array
    signs: Array
    signature: tuple[int, int, int]
    certificate: Certificate | None = None

    @property
    def rank(self) -> int:
        """The number of terms."""
        return len(self.vectors)


@dataclass(frozen=True)
class Counts:
    """What is known about the number of critical points of one rank; `bound` when a theorem allows no more."""

    complex: int | None
    expected: int | None
    source: str
    bound: int | None = None


def origin(problem: Problem) -> Found:
    """The zero tensor, the one point of rank 0; it is critical on its stratum by definition."""
    proof = Certificate(0.0, True, True, "exact")
    return Found(np.zeros((0, problem.n)), np.zeros(0), (0, 0, 0), proof)


def assemble(
    problem: Problem,
    found: Sequence[Found],
    counts: dict[int, Counts],
    *,
    completeness: str,
    method: str,
    attained: bool = True,
    families: Sequence[CriticalFamily] = (),
    notes: Sequence[str] = (),
    seed: int = 0,
) -> Chart:
    """The chart of the found points that the problem's outer weights can realise.

    `attained` says that the infimum of the loss is attained at a listed point, so that the lowest may be called the
    global minimum (for d ≥ 3 and rank ≥ 2 the set of networks is not closed: paper 000, Example 19).
    """
    signs = Signs.of(problem)
    positive = np.array([int(np.sum(f.signs > 0)) for f in found], dtype=np.intp)
    negative = np.array([int(np.sum(f.signs < 0)) for f in found], dtype=np.intp)
    keep = np.flatnonzero(signs.realisable(positive, negative))
    found = [found[int(i)] for i in keep]
    entries = np.array([_entries(problem, f) for f in found])
    gram, target = problem.gram(), problem.target_tensor().entries
    gap = entries - target
    loss = np.einsum("ij,ij->i", gap, gap @ gram) + problem.floor
    slopes = 2 * gap @ gram
    room = signs.room(positive[keep], negative[keep])
    reach = [_slope_range(problem, f, slope) for f, slope in zip(found, slopes, strict=True)]
    low, high = np.array([r[0] for r in reach]), np.array([r[1] for r in reach])
    signature = np.array([f.signature for f in found], dtype=np.intp)
    lowest = min([*loss.tolist(), *(f.loss for f in families)]) if attained else None
    scale = max(float(np.max(np.abs(2 * gram @ target))), 1e-300)
    kind = kinds(loss, signature, room, (low, high), scale, lowest)
    notes = [*notes, *_lowest_note(loss, families)] if attained else list(notes)
    rank = np.array([f.rank for f in found], dtype=np.intp)
    order = np.lexsort((rank, loss))
    maker = Stored(
        [SymmetricTensor(entries[i], problem.n, problem.degree) for i in order],
        [realise(problem, found[i].vectors, found[i].signs) for i in order],
        [found[i].certificate for i in order],
        [_escape(problem, slopes[i], (bool(room[0][i]), bool(room[1][i])), found[i]) for i in order],
    )
    table = PointTable(loss[order], rank[order], signature[order], kind[order])
    return Chart(
        points=Points(table, maker, problem),
        completeness=completeness,
        method=method,
        complex_count={r: c.complex for r, c in counts.items() if c.complex is not None},
        real_count={r: int(np.sum(rank == r)) for r in counts},
        expected_count={r: c.expected for r, c in counts.items()},
        expected_source={r: c.source for r, c in counts.items()},
        families=tuple(families),
        notes=tuple(notes),
        seed=seed,
        problem=problem,
    )


def _lowest_note(loss: Array, families: Sequence[CriticalFamily]) -> list[str]:
    """When a family lies below every point, the global minimum is not isolated."""
    lowest = min((family.loss for family in families), default=np.inf)
    if not lowest < float(np.min(loss)) * (1 - 1e-9):
        return []
    return [f"the global minimum is not isolated: it is a family, of loss {lowest:.8g}"]


def _entries(problem: Problem, found: Found) -> Array:
    if not found.rank:
        return np.zeros(coordinates.dimension(problem.n, problem.degree))
    return np.asarray(found.signs @ coordinates.monomials(found.vectors, problem.degree))


def slope_matrix(problem: Problem, slope: Array) -> Array:
    """At degree 2, the symmetric matrix M with ℓ′(uuᵀ) = uᵀMu, from ∇ℓ on entries."""
    n = problem.n
    rows, columns = coordinates.indices(n, 2).T
    matrix = np.zeros((n, n))
    matrix[rows, columns] += slope / 2
    matrix[columns, rows] += slope / 2
    return matrix


def _complement(found: Found, n: int) -> Array:
    """An orthonormal basis of the vectors orthogonal to the point's neurons."""
    if not found.rank:
        return np.eye(n)
    full = np.linalg.qr(found.vectors.T, mode="complete")[0]
    return np.asarray(full[:, found.rank :])


def _slope_range(problem: Problem, found: Found, slope: Array) -> tuple[float, float]:
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


def _escape(problem: Problem, slope: Array, room: tuple[bool, bool], found: Found) -> SymmetricTensor | None:
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
