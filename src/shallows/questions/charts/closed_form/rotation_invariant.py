"""Closed forms: Theorem 34 (Frobenius) and Theorem 35 (Gaussian and all rotation-invariant data) of paper 000.

With T = U diag(σ) Uᵀ, the critical points of rank r are, for each set I of r eigenvalues,

    S_I = U diag(σ_i + c_I : i ∈ I) Uᵀ,   c_I = 0 (Frobenius),   c_I = Σ_{j∉I} σ_j / (r+2) (Gaussian),

with loss Σ_{j∉I} σ_j² (Frobenius) or 2 Σ σ_j² + 2 (Σ σ_j)²/(r+2) (Gaussian) and, on the rank stratum, one negative
direction for each pair i ∈ I, j ∉ I with 0 ≤ (σ_i + c_I)/(σ_j + c_I) < 1 (equations 29 and 31). N(0, Σ) reduces to the
standard Gaussian by S → LᵀSL, Σ = LLᵀ.

Repeated eigenvalues give families (products of Grassmannians); σ_i + c_I = 0 means that S_I has lower rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import comb

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.eigenpairs import EigenEnclosure
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.closed_form.spectrum import Spectrum, enclosure_of
from shallows.questions.charts.points.family import CriticalFamily
from shallows.questions.charts.points.kinds import Signs, kinds
from shallows.questions.charts.points.networks import realise
from shallows.questions.charts.points.point import Certificate, Points, PointTable
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem

EQUAL = 1e-10
LARGEST_CHART = 2_000_000


def spectral_chart(problem: Problem, spectrum: Spectrum, certify: bool) -> Chart:
    """All critical points by Theorems 34 and 35, at every rank up to the width."""
    top = min(problem.width, spectrum.n)
    total = sum(comb(spectrum.n, r) for r in range(top + 1))
    if total > LARGEST_CHART:
        raise InvalidProblem(
            f"There are {total:,} critical points of rank up to {top} at n = {spectrum.n}, more than the limit of "
            f"{LARGEST_CHART:,}. Use a smaller width."
        )
    simple, families = _split(spectrum, top)
    enclosure = enclosure_of(problem, spectrum) if certify else None
    return _assemble(problem, spectrum, simple, families, enclosure)


@dataclass(frozen=True)
class Selection:
    """Sets I of one rank, one a row, with what follows from the eigenvalues alone."""

    rank: int
    sets: NDArray[np.intp]
    loss: Array
    shift: Array
    index: NDArray[np.intp]
    slope: tuple[Array, Array]
    positive: NDArray[np.intp]
    certified: NDArray[np.bool_]


def _clusters(sigma: Array) -> list[NDArray[np.intp]]:
    """Positions of equal eigenvalues (to rounding), ascending."""
    scale = max(float(np.max(np.abs(sigma))), 1e-300)
    cuts = np.flatnonzero(np.diff(sigma) > EQUAL * scale) + 1
    return np.split(np.arange(len(sigma)), cuts)


def _choices(clusters: list[NDArray[np.intp]], rank: int) -> Iterator[tuple[int, ...]]:
    """How many eigenvectors to take from each cluster."""
    for counts in product(*(range(len(c) + 1) for c in clusters)):
        if sum(counts) == rank:
            yield counts


def _split(
    spectrum: Spectrum, top: int
) -> tuple[list[NDArray[np.intp]], list[tuple[int, NDArray[np.intp], int]]]:
    """Sets that give isolated points, by rank; and (rank, a set, dimension) for families."""
    clusters = _clusters(spectrum.sigma)
    if len(clusters) == spectrum.n:
        return [_subsets(spectrum.n, r) for r in range(top + 1)], []
    isolated: list[NDArray[np.intp]] = []
    families = []
    for rank in range(top + 1):
        points = []
        for counts in _choices(clusters, rank):
            chosen = np.concatenate([c[:q] for c, q in zip(clusters, counts, strict=True)]).astype(np.intp)
            dimension = sum(q * (len(c) - q) for c, q in zip(clusters, counts, strict=True))
            if dimension:
                families.append((rank, chosen, dimension))
            else:
                points.append(chosen)
        isolated.append(np.array(points, dtype=np.intp).reshape(len(points), rank))
    return isolated, families


def _subsets(n: int, rank: int) -> NDArray[np.intp]:
    flat = np.fromiter((i for c in combinations(range(n), rank) for i in c), dtype=np.intp)
    return flat.reshape(comb(n, rank), rank)


def _complement(sets: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    mask = np.ones((len(sets), n), bool)
    np.put_along_axis(mask, sets, False, axis=1)
    return np.nonzero(mask)[1].reshape(len(sets), n - sets.shape[1])


def _select(spectrum: Spectrum, sets: NDArray[np.intp], enclosure: EigenEnclosure | None) -> Selection:
    """Loss, index and slopes of the sets of one rank; an enclosure certifies signs."""
    rank, sigma = sets.shape[1], spectrum.sigma
    rest = _complement(sets, spectrum.n)
    left_out, squares = sigma[rest].sum(axis=1), (sigma[rest] ** 2).sum(axis=1)
    shift = spectrum.shift(rank, left_out)
    inside, outside = sigma[sets] + shift[:, None], sigma[rest] + shift[:, None]
    # 1 − (σ_j+c)/(σ_i+c) < 0, the sign of the Hessian on the pair (i, j), without dividing by σ_j + c
    negative = (outside[:, None, :] - inside[:, :, None]) * np.sign(inside)[:, :, None] > 0
    slopes = spectrum.slope(outside)
    low = slopes.min(axis=1) if slopes.shape[1] else np.zeros(len(sets))
    high = slopes.max(axis=1) if slopes.shape[1] else np.zeros(len(sets))
    certified = np.zeros(len(sets), bool)
    if enclosure is not None:
        margin = enclosure.margin(sigma)
        clear = np.abs(inside).min(axis=1, initial=np.inf) > margin
        apart = np.abs(outside[:, None, :] - inside[:, :, None]).min(axis=(1, 2), initial=np.inf) > margin
        certified = clear & apart
    return Selection(
        rank, sets, spectrum.loss(rank, left_out, squares), shift, negative.sum(axis=(1, 2)), (low, high),
        (inside > 0).sum(axis=1), certified,
    )  # fmt: skip


def _assemble(
    problem: Problem,
    spectrum: Spectrum,
    simple: list[NDArray[np.intp]],
    families: list[tuple[int, NDArray[np.intp], int]],
    enclosure: EigenEnclosure | None,
) -> Chart:
    signs = Signs.of(problem)
    scale = max(float(np.max(np.abs(spectrum.sigma))), 1e-300)
    described = [
        _family(problem, spectrum, *family) for family in families if _fits(spectrum, signs, family[1])
    ]
    kept: list[Selection] = []
    complex_count = {}
    for sets in simple:
        selection = _select(spectrum, sets, enclosure)
        inside = spectrum.sigma[sets] + selection.shift[:, None]
        falls = np.any(np.abs(inside) <= EQUAL * scale, axis=1)
        described += [_fallen(problem, spectrum, selection, int(i)) for i in np.flatnonzero(falls)]
        fits = signs.realisable(selection.positive, selection.rank - selection.positive)
        complex_count[selection.rank] = int(np.count_nonzero(~falls))
        kept.append(_rows(selection, ~falls & fits))
    chart = _chart(problem, spectrum, kept, described, signs, enclosure)
    return replace(chart, complex_count=complex_count)


def _fits(spectrum: Spectrum, signs: Signs, chosen: NDArray[np.intp]) -> bool:
    """Whether the matrices of a family can be realised with the problem's outer weights."""
    selection = _select(spectrum, chosen[None, :], None)
    return bool(signs.realisable(selection.positive, selection.rank - selection.positive)[0])


def _rows(selection: Selection, chosen: NDArray[np.bool_]) -> Selection:
    low, high = selection.slope
    return Selection(
        selection.rank, selection.sets[chosen], selection.loss[chosen], selection.shift[chosen],
        selection.index[chosen], (low[chosen], high[chosen]), selection.positive[chosen], selection.certified[chosen],
    )  # fmt: skip


def _chart(
    problem: Problem,
    spectrum: Spectrum,
    kept: list[Selection],
    described: list[CriticalFamily],
    signs: Signs,
    enclosure: EigenEnclosure | None,
) -> Chart:
    n = spectrum.n
    loss = np.concatenate([s.loss for s in kept]) + problem.floor
    rank = np.concatenate([np.full(len(s.loss), s.rank, dtype=np.intp) for s in kept])
    index = np.concatenate([s.index for s in kept])
    positive = np.concatenate([s.positive for s in kept])
    slope = tuple(np.concatenate([s.slope[i] for s in kept]) for i in (0, 1))
    dimension = rank * (2 * n - rank + 1) // 2
    signature = np.column_stack([dimension - index, np.zeros_like(index), index])
    losses = [*loss.tolist(), *(f.loss for f in described)]
    scale = spectrum.scale * 4 * max(float(np.max(np.abs(spectrum.sigma))), 1e-300)
    kind = kinds(
        loss, signature, signs.room(positive, rank - positive), (slope[0], slope[1]), scale, min(losses)
    )
    order = np.lexsort((rank, loss))
    owner = [(s, i) for s in kept for i in range(len(s.loss))]
    maker = SpectralMaker(problem, spectrum, [owner[i] for i in order], enclosure)
    table = PointTable(loss[order], rank[order], signature[order], kind[order])
    counts = {s.rank: len(s.loss) for s in kept}
    expected: dict[int, int | None] = {s.rank: comb(n, s.rank) for s in kept}
    theorem = "Theorem 35" if spectrum.gaussian else "Theorem 34"
    return Chart(
        points=Points(table, maker, problem),
        completeness="proved",
        method="closed-form",
        complex_count=counts,
        real_count=dict(counts),
        expected_count=expected,
        expected_source=dict.fromkeys(expected, f"C(n,r), paper 000 {theorem}"),
        families=tuple(described),
        problem=problem,
    )


@dataclass(frozen=True)
class SpectralMaker:
    """Makes points from their eigenvalues: nothing is computed before it is looked at."""

    problem: Problem
    spectrum: Spectrum
    owner: list[tuple[Selection, int]]
    enclosure: EigenEnclosure | None

    def _eigenvalues(self, i: int) -> tuple[NDArray[np.intp], Array]:
        selection, row = self.owner[i]
        chosen = selection.sets[row]
        return chosen, self.spectrum.sigma[chosen] + selection.shift[row]

    def tensor(self, i: int) -> SymmetricTensor:
        """U diag(σ_i + c_I) Uᵀ."""
        return SymmetricTensor.from_matrix(self.spectrum.matrix(*self._eigenvalues(i)))

    def network(self, i: int) -> Network:
        """One neuron an eigenvalue that is kept."""
        chosen, values = self._eigenvalues(i)
        vectors = (self.spectrum.vectors[:, chosen] * np.sqrt(np.abs(values))).T
        return realise(self.problem, vectors, np.sign(values))

    def certificate(self, i: int) -> Certificate | None:
        """The theorem gives existence; the enclosure proves rank, signature and how far the matrix is off."""
        selection, row = self.owner[i]
        if self.enclosure is None or not selection.certified[row]:
            return None
        spectrum = self.spectrum
        matrix = self.tensor(i).to_matrix()
        radius = self.enclosure.radius(matrix, selection.sets[row], spectrum.sigma, spectrum.gaussian)
        return Certificate(radius, True, True, "eigenvalue enclosures (Theorems 34, 35)")

    def escape(self, i: int) -> SymmetricTensor | None:
        """±uuᵀ with u the left-out eigenvector of steepest first-order descent that an idle neuron can take."""
        selection, row = self.owner[i]
        positive = np.array([selection.positive[row]])
        room = Signs.of(self.problem).room(positive, selection.rank - positive)
        rest = _complement(selection.sets[row][None, :], self.spectrum.n)[0]
        if not len(rest):
            return None
        slopes = self.spectrum.slope(self.spectrum.sigma[rest] + selection.shift[row])
        gain = np.maximum(np.where(room[0], -slopes, 0.0), np.where(room[1], slopes, 0.0))
        best = int(np.argmax(gain))
        if gain[best] <= 1e-9 * max(float(np.max(np.abs(slopes))), 1e-300):
            return None
        u = self.spectrum.vectors[:, rest[best]]
        return SymmetricTensor.from_matrix(-np.sign(slopes[best]) * np.outer(u, u))


def _family(
    problem: Problem, spectrum: Spectrum, rank: int, chosen: NDArray[np.intp], dimension: int
) -> CriticalFamily:
    """A product of Grassmannians: any eigenvectors of the repeated eigenvalues will do."""
    selection = _select(spectrum, chosen[None, :], None)
    values = spectrum.sigma[chosen] + selection.shift[0]
    rng = np.random.default_rng(0)
    samples = []
    for _ in range(3):
        vectors = spectrum.vectors.copy()
        for cluster in _clusters(spectrum.sigma):
            turn, _ = np.linalg.qr(rng.standard_normal((len(cluster), len(cluster))))
            vectors[:, cluster] = vectors[:, cluster] @ turn
        U = vectors[:, chosen]
        samples.append(SymmetricTensor.from_matrix((U * values) @ U.T))
    eigenvalues = ", ".join(f"{v:.6g}" for v in spectrum.sigma[chosen])
    return CriticalFamily(
        rank, dimension, float(selection.loss[0]) + problem.floor,
        f"eigenvalues {eigenvalues} kept, of which some are repeated: a product of Grassmannians", tuple(samples),
    )  # fmt: skip


def _fallen(problem: Problem, spectrum: Spectrum, selection: Selection, row: int) -> CriticalFamily:
    """σ_i + c_I = 0: the point of this choice has lower rank, where it is listed already."""
    chosen = selection.sets[row]
    values = spectrum.sigma[chosen] + selection.shift[row]
    tensor = SymmetricTensor.from_matrix(spectrum.matrix(chosen, values))
    eigenvalues = ", ".join(f"{v:.6g}" for v in spectrum.sigma[chosen])
    return CriticalFamily(
        selection.rank, 0, float(selection.loss[row]) + problem.floor,
        f"eigenvalues {eigenvalues} kept: one of them becomes 0, so the point falls to lower rank", (tensor,),
    )  # fmt: skip
