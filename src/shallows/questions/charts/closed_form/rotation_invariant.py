"""Closed forms: Theorem 34 (Frobenius) and Theorem 35 (Gaussian and all rotation-invariant data) of paper 000.

With T = U diag(σ) Uᵀ, the critical points of rank r are, for each set I of r eigenvalues,

    S_I = U diag(σ_i + c_I : i ∈ I) Uᵀ,   c_I = 0 (Frobenius),   c_I = Σ_{j∉I} σ_j / (r+2) (Gaussian),

with loss Σ_{j∉I} σ_j² (Frobenius) or 2 Σ σ_j² + 2 (Σ σ_j)²/(r+2) (Gaussian) and, on the rank stratum, one negative
direction for each pair i ∈ I, j ∉ I with 0 ≤ (σ_i + c_I)/(σ_j + c_I) < 1 (equations 29 and 31). N(0, Σ) reduces to the
standard Gaussian by S → LᵀSL, Σ = LLᵀ.

The same proof serves every metric ‖S‖² + β (tr S)² (`Spectrum`): c_I = β Σ σ_j / (1 + rβ), with loss Σ σ_j² +
β (Σ σ_j)² / (1 + rβ). Beside a norm neuron β = −1/n and c_I = −Σ σ_j / (n−r): the loss is (n−r) times the variance of
the eigenvalues that are left out, and from rank n − 1 on it is zero.

Repeated eigenvalues give families (products of Grassmannians); σ_i + c_I = 0 means that S_I has lower rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import combinations, product
from math import comb

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.eigenpairs import EigenEnclosure
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.closed_form.left_out import LeftOut
from shallows.questions.charts.closed_form.spectrum import (
    Spectrum,
    distinct_count,
    enclosure_of,
    exact_rank,
    left_out_of,
)
from shallows.questions.charts.points.kinds import PROVED_LOSS, ROUNDINGS, Levels, Signs, kinds
from shallows.questions.charts.points.networks import realise
from shallows.questions.charts.points.point import Certificate, Points, PointTable
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import EPSILON

SAMPLES = 3
#: A first-order descent below this share of the largest slope is none: points, and so slopes, are known to ten digits.
NO_DESCENT = 1e-9
LARGEST_CHART = 2_000_000
#: What a chart says of families that are none in exact arithmetic.
NEARLY_EQUAL = (
    "eigenvalues that agree to rounding count as equal; taken as the doubles that they are they differ, and the "
    "families with them are isolated points, as close together as rounding"
)


def spectral_chart(problem: Problem, spectrum: Spectrum, certify: bool) -> Chart:
    """All critical points by Theorems 34 and 35, at every rank up to the width."""
    top = min(problem.width, spectrum.top)
    total = sum(comb(spectrum.n, r) for r in range(top + 1))
    if total > LARGEST_CHART:
        raise InvalidProblem(
            f"There are {total:,} critical points of rank up to {top} at n = {spectrum.n}, more than the limit of "
            f"{LARGEST_CHART:,}. Use a smaller width."
        )
    enclosure = enclosure_of(problem, spectrum) if certify else None
    clusters = Clusters.of(problem, spectrum, _resolution(spectrum, enclosure))
    selections = [
        _select(spectrum, sets, dimension, clusters, enclosure)
        for rank in range(top + 1)
        for sets, dimension in _sets(clusters.labels, rank)
    ]
    return _assemble(problem, spectrum, selections, clusters, enclosure)


@dataclass(frozen=True)
class Clusters:
    """Eigenvalues that are equal to rounding have one label, ascending; `exact` when those are equal exactly."""

    labels: NDArray[np.intp]
    exact: bool

    @classmethod
    def of(cls, problem: Problem, spectrum: Spectrum, resolution: float) -> Clusters:
        """Labels by gaps above the resolution; the characteristic polynomial tells how many are different."""
        apart = np.diff(spectrum.sigma) > resolution
        labels = np.concatenate([[0], np.cumsum(apart)]).astype(np.intp)
        return cls(labels, bool(apart.all()) or distinct_count(problem, spectrum) == labels[-1] + 1)


@dataclass(frozen=True)
class Selection:
    """Sets I of one rank, one a row, with what follows from the eigenvalues alone; `dimension` 0 is a point."""

    rank: int
    sets: NDArray[np.intp]
    dimension: NDArray[np.intp]
    loss: Array
    shift: Array
    index: NDArray[np.intp]
    slope: tuple[Array, Array]
    positive: NDArray[np.intp]
    clear: NDArray[np.bool_]
    certified: NDArray[np.bool_]


def _resolution(spectrum: Spectrum, enclosure: EigenEnclosure | None) -> float:
    """Eigenvalues (and sums of a few) that differ by less cannot be told apart: rounding, or what is proved of it."""
    rounding = ROUNDINGS * spectrum.n * EPSILON * float(np.max(np.abs(spectrum.sigma)))
    return rounding if enclosure is None else max(rounding, enclosure.margin(spectrum.sigma))


def _sets(labels: NDArray[np.intp], rank: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The sets I of one rank and the dimensions of what they give: all that are points, then families one by one.

    Taking q of m equal eigenvalues leaves a Grassmannian of dimension q(m − q).
    """
    n = len(labels)
    if int(labels[-1]) + 1 == n:
        sets = _subsets(n, rank)
        yield sets, np.zeros(len(sets), dtype=np.intp)
        return
    clusters = [np.flatnonzero(labels == label) for label in range(int(labels[-1]) + 1)]
    chosen, dimensions = [], []
    for counts in product(*(range(len(c) + 1) for c in clusters)):
        if sum(counts) == rank:
            chosen.append(np.concatenate([c[:q] for c, q in zip(clusters, counts, strict=True)]))
            dimensions.append(sum(q * (len(c) - q) for c, q in zip(clusters, counts, strict=True)))
    yield np.array(chosen, dtype=np.intp).reshape(len(chosen), rank), np.array(dimensions, dtype=np.intp)


def _subsets(n: int, rank: int) -> NDArray[np.intp]:
    flat = np.fromiter((i for c in combinations(range(n), rank) for i in c), dtype=np.intp)
    return flat.reshape(comb(n, rank), rank)


def _complement(sets: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    mask = np.ones((len(sets), n), bool)
    np.put_along_axis(mask, sets, False, axis=1)
    return np.nonzero(mask)[1].reshape(len(sets), n - sets.shape[1])


def _select(
    spectrum: Spectrum,
    sets: NDArray[np.intp],
    dimension: NDArray[np.intp],
    clusters: Clusters,
    enclosure: EigenEnclosure | None,
) -> Selection:
    """Loss, index and slopes of the sets of one rank; an enclosure certifies signs, and families of exact clusters."""
    rank, sigma = sets.shape[1], spectrum.sigma
    rest = _complement(sets, spectrum.n)
    left_out, squares = sigma[rest].sum(axis=1), (sigma[rest] ** 2).sum(axis=1)
    shift = spectrum.shift(rank, left_out)
    inside, outside = sigma[sets] + shift[:, None], sigma[rest] + shift[:, None]
    # 1 − (σ_j+c)/(σ_i+c) < 0, the sign of the Hessian on the pair (i, j), without dividing by σ_j + c
    differ = clusters.labels[rest][:, None, :] != clusters.labels[sets][:, :, None]
    negative = differ & ((outside[:, None, :] - inside[:, :, None]) * np.sign(inside)[:, :, None] > 0)
    slopes = spectrum.slope(outside)
    low = slopes.min(axis=1) if slopes.shape[1] else np.zeros(len(sets))
    high = slopes.max(axis=1) if slopes.shape[1] else np.zeros(len(sets))
    clear = np.abs(inside).min(axis=1, initial=np.inf) > _resolution(spectrum, enclosure)
    certified = np.full(len(sets), enclosure is not None) & clear & (clusters.exact | (dimension == 0))
    return Selection(
        rank, sets, dimension, spectrum.loss(rank, left_out, squares), shift, negative.sum(axis=(1, 2)), (low, high),
        (inside > 0).sum(axis=1), clear, certified,
    )  # fmt: skip


def _rows(selection: Selection, chosen: NDArray[np.bool_]) -> Selection:
    """Some of the rows."""
    low, high = selection.slope
    parts = {
        f.name: getattr(selection, f.name)[chosen]
        for f in fields(selection)
        if f.name not in ("rank", "slope")
    }
    return Selection(rank=selection.rank, slope=(low[chosen], high[chosen]), **parts)


def _assemble(
    problem: Problem,
    spectrum: Spectrum,
    selections: list[Selection],
    clusters: Clusters,
    enclosure: EigenEnclosure | None,
) -> Chart:
    n, signs = spectrum.n, Signs.of(problem)
    fallen = [(s, int(i)) for s in selections for i in np.flatnonzero(~s.clear)]
    vanish = _vanish(problem, spectrum, fallen, _resolution(spectrum, enclosure))
    notes = [_fallen(spectrum, *place, exactly=zero) for place, zero in zip(fallen, vanish, strict=True)]
    notes += [] if clusters.exact else [NEARLY_EQUAL]
    counts = {s.rank: int(np.count_nonzero(s.clear & (s.dimension == 0))) for s in selections}
    kept = [_rows(s, s.clear & signs.realisable(s.positive, s.rank - s.positive)) for s in selections]
    excess = np.concatenate([s.loss for s in kept])
    rank = np.concatenate([np.full(len(s.loss), s.rank, dtype=np.intp) for s in kept])
    index, dimension, positive = (
        np.concatenate([getattr(s, name) for s in kept]) for name in ("index", "dimension", "positive")
    )
    slope = tuple(np.concatenate([s.slope[i] for s in kept]) for i in (0, 1))
    ambient = rank * (2 * n - rank + 1) // 2
    signature = np.column_stack([ambient - index - dimension, dimension, index])
    energy = float(spectrum.loss(0, spectrum.sigma.sum(), np.asarray(np.sum(spectrum.sigma**2))))
    tolerance = 2 * spectrum.scale * _resolution(spectrum, enclosure)
    room = signs.room(positive, rank - positive)
    kind = kinds(
        Levels(excess, energy, PROVED_LOSS), signature, dimension, room, (slope[0], slope[1]), tolerance, True
    )
    order = np.lexsort((rank, excess))
    owner = [(s, i) for s in kept for i in range(len(s.loss))]
    maker = SpectralMaker(problem, spectrum, [owner[i] for i in order], clusters.labels, enclosure)
    loss = excess + problem.floor
    table = PointTable(loss[order], rank[order], signature[order], kind[order], dimension[order])
    expected: dict[int, int | None] = {s.rank: comb(n, s.rank) for s in kept}
    theorem = "Theorem 35" if spectrum.share else "Theorem 34"
    isolated = rank[dimension == 0]
    return Chart(
        critical=Points(table, maker, problem),
        completeness="proved" if clusters.exact and all(vanish) else "count-matched",
        method="closed-form",
        attained=True,
        complex_count=counts,
        real_count={s.rank: int(np.sum(isolated == s.rank)) for s in kept},
        expected_count=expected,
        expected_source=dict.fromkeys(expected, f"C(n,r), paper 000 {theorem}"),
        notes=tuple(notes),
        problem=problem,
    )


@dataclass(frozen=True)
class SpectralMaker:
    """Makes points from their eigenvalues: nothing is computed before it is looked at."""

    problem: Problem
    spectrum: Spectrum
    owner: list[tuple[Selection, int]]
    labels: NDArray[np.intp]
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
        divisor = spectrum.divisor(selection.rank)
        radius = self.enclosure.radius(matrix, selection.sets[row], spectrum.sigma, self.labels, divisor)
        if not np.isfinite(radius):  # its eigenvalues are not proved apart from the others
            return None
        return Certificate(radius, True, True, "eigenvalue enclosures (Theorems 34, 35)")

    def family(self, i: int) -> tuple[str, tuple[SymmetricTensor, ...]]:
        """A product of Grassmannians: any eigenvectors of the repeated eigenvalues will do."""
        chosen, values = self._eigenvalues(i)
        rng = np.random.default_rng(0)
        samples = []
        for _ in range(SAMPLES):
            vectors = self.spectrum.vectors.copy()
            for label in range(int(self.labels[-1]) + 1):
                cluster = np.flatnonzero(self.labels == label)
                turn, _ = np.linalg.qr(rng.standard_normal((len(cluster), len(cluster))))
                vectors[:, cluster] = vectors[:, cluster] @ turn
            U = vectors[:, chosen]
            samples.append(SymmetricTensor.from_matrix((U * values) @ U.T))
        eigenvalues = ", ".join(f"{v:.6g}" for v in self.spectrum.sigma[chosen])
        text = f"eigenvalues {eigenvalues} kept, of which some are repeated: a product of Grassmannians"
        return text, tuple(samples)

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
        if gain[best] <= NO_DESCENT * float(np.max(np.abs(slopes))):
            return None
        u = self.spectrum.vectors[:, rest[best]]
        return SymmetricTensor.from_matrix(-np.sign(slopes[best]) * np.outer(u, u))


def _vanish(
    problem: Problem, spectrum: Spectrum, fallen: list[tuple[Selection, int]], resolution: float
) -> list[bool]:
    """Of each choice with a σ_i + c_I that is 0 to rounding: whether it is proved to be 0.

    Frobenius: c_I = 0, and T has so many eigenvalues 0 as it lacks rank. Else by the signs of exact numbers.
    """
    if not fallen:
        return []
    if not spectrum.share:
        small = int(np.sum(np.abs(spectrum.sigma) <= resolution))
        return [exact_rank(problem) == spectrum.n - small] * len(fallen)
    exact = left_out_of(problem, spectrum)
    return [exact is not None and _vanishes(exact, spectrum, *place, resolution) for place in fallen]


def _vanishes(exact: LeftOut, spectrum: Spectrum, selection: Selection, row: int, resolution: float) -> bool:
    """Whether some σ_i + c_I is 0, of those that are to rounding."""
    kept, groups = selection.sets[row], exact.roots.groups
    small = np.abs(spectrum.sigma[kept] + selection.shift[row]) <= resolution
    left = list(exact.roots.multiplicities)
    for i in kept.tolist():
        left[groups[i]] -= 1
    divisor = spectrum.divisor(selection.rank)
    return any(exact.shift_sign(i, left, divisor) == 0 for i in {groups[i] for i in kept[small].tolist()})


def _fallen(spectrum: Spectrum, selection: Selection, row: int, exactly: bool) -> str:
    """σ_i + c_I = 0: the point of this choice has lower rank, where it is listed already."""
    eigenvalues = ", ".join(f"{v:.6g}" for v in spectrum.sigma[selection.sets[row]])
    zero = "0" if exactly else "0 to rounding (which is no proof)"
    return (
        f"rank {selection.rank}: with eigenvalues {eigenvalues} kept one of them becomes {zero}, so the point falls to "
        "lower rank, where it is listed"
    )
