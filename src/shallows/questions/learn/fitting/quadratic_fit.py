"""Fitting quadratic forms: from data or statistics to matrices, neurons and a certificate."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from shallows.mathematics.balls.arrays import gamma, raised_number
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.descent.ensemble import ensemble
from shallows.questions.descent.results.ensemble import Ensemble
from shallows.questions.learn.fitting.frame import Frame, to_matrix
from shallows.questions.learn.fitting.least_squares import Solution
from shallows.questions.learn.fitting.low_rank import LowRank, best_low_rank
from shallows.questions.learn.fitting.low_width import TRAINED
from shallows.questions.learn.fitting.statistics import Statistics
from shallows.questions.learn.proofs.optimality import Optimality, Point
from shallows.questions.learn.proofs.rank_bound import least_excess
from shallows.questions.learn.warnings import WidthWarning
from shallows.support.checks import Array

#: Eigenvalues are of one size when they differ by less than this share of the largest: what rounding may swap.
SAME_SIZE = 1e-9


@dataclass(frozen=True, eq=False)
class Neurons:
    """Σ λᵢ (qᵢ·z)² + ν‖z‖² for each output: eigenvalues (M, k), unit vectors (M, k, D), ν (M,)."""

    eigenvalues: Array
    vectors: Array
    norms: Array

    @property
    def network(self) -> Network:
        """One network on homogenised inputs: the neurons of all outputs, each with weight zero for the others."""
        outputs, width, size = self.vectors.shape
        if outputs == 1:
            return Network(self.vectors[0], self.eigenvalues[0], norm=float(self.norms[0]))
        outer = np.zeros((outputs, outputs * width))
        for m in range(outputs):
            outer[m, m * width : (m + 1) * width] = self.eigenvalues[m]
        return Network(self.vectors.reshape(-1, size), outer, norm=self.norms)


def useful_width(columns: int, affine: bool, norm_neuron: bool) -> int:
    """D: the neurons that reach every quadratic function of the inputs (paper 002, Lemma C.5)."""
    return max(columns + affine - norm_neuron, 1)


def checked_width(width: int | None, useful: int) -> int:
    """The width used: all that is useful by default, and never more."""
    if width is None:
        return useful
    if width > useful:
        warnings.warn(
            f"width={width} is larger than useful: D = {useful} neurons an output reach every quadratic function of "
            f"these inputs (paper 002, Lemma C.5). {useful} are used.",
            WidthWarning,
            stacklevel=4,
        )
    return min(width, useful)


def neurons_of(matrices: Array, width: int, norm_neuron: bool, norms: Array | None = None) -> Neurons:
    """Eigendecompositions, largest |λ| first, and of two that differ by rounding only the positive one first.

    With a norm neuron of free weight, ν is a middle eigenvalue: one neuron less.
    """
    values, vectors = np.linalg.eigh(matrices)
    if norm_neuron and norms is None:
        norms = values[:, (values.shape[1] - 1) // 2].copy()
        values = values - norms[:, None]
    elif norms is None:
        norms = np.zeros(len(matrices))
    order = np.array([_by_size(row) for row in values])[:, :width]
    chosen = np.take_along_axis(vectors.swapaxes(1, 2), order[:, :, None], axis=1)
    largest = np.take_along_axis(chosen, np.argmax(np.abs(chosen), axis=2)[..., None], axis=2)
    chosen = chosen * np.where(largest < 0, -1.0, 1.0)  # the sign of a neuron is free: fix it
    return Neurons(np.take_along_axis(values, order, axis=1), chosen, norms)


def _by_size(values: Array) -> np.ndarray:
    """The order of decreasing |λ|; sizes equal to rounding (`SAME_SIZE`) are ordered by λ, positive first."""
    order = np.argsort(-np.abs(values), kind="stable")
    sizes = np.abs(values)[order]
    tie = np.cumsum(np.concatenate([[0], np.diff(sizes) < -SAME_SIZE * sizes[0]]))
    return order[np.lexsort((-np.sign(values[order]), tie))]


def truncate(
    statistics: Statistics,
    solution: Solution,
    alpha: float,
    width: int,
    norm_neuron: bool,
    starts: int,
    rng: np.random.Generator,
) -> list[LowRank]:
    """The best matrices of rank ≤ width found, one an output, in the frame of the statistics.

    A norm neuron's weight starts at a middle eigenvalue of the optimum in the data's own frame.
    """
    frame = statistics.frame
    gram = penalised_gram(statistics, alpha)
    inverse = np.linalg.inv(frame.T)
    norm_form = inverse.T @ inverse if norm_neuron else None
    originals = frame.T.T @ matrices_of(solution) @ frame.T
    centres = np.median(np.linalg.eigvalsh(originals), axis=1) if norm_neuron else np.zeros(len(originals))
    return [
        best_low_rank(gram, row, width, norm_form, starts, rng, float(centre))
        for row, centre in zip(solution.entries, centres, strict=True)
    ]


def penalised_gram(statistics: Statistics, alpha: float) -> Array:
    """G/W + αB, B the squared norm of all coefficients but the constant's."""
    penalised = np.ones(len(statistics.gram))
    penalised[len(penalised) - statistics.frame.affine :] = 0.0
    return np.asarray(statistics.gram / statistics.weight + alpha * np.diag(penalised))


def low_rank_certificate(
    full: Optimality, point: Point, statistics: Statistics, solution: Solution, width: int, norm_neuron: bool
) -> Optimality:
    """The relaxation's certificate with what the rank costs at least (nothing, with a norm neuron of free weight)."""
    if norm_neuron or not full.proved:
        return full.below(point.loss, point.objective, "convex relaxation (rank dropped)")
    upper = float(point.weight.upper)
    distance = raised_number(full.gap * upper, 2)
    least = sum(
        least_excess(statistics.gram, statistics.rounding.gram, row, width, statistics.frame.affine, distance)
        for row in solution.entries
    )
    reason = "convex relaxation (rank dropped), with the tail of its spectrum"
    share = least / upper * (1 - gamma(len(solution.entries) + 4))
    return full.below(point.loss, point.objective, reason, share)


def descend(
    statistics: Statistics,
    solution: Solution,
    width: int,
    norm_neuron: bool,
    orthogonality: float,
    method: str,
    runs: int,
    iterations: int,
    rng: np.random.Generator,
) -> tuple[Array, Array, list[Ensemble]]:
    """Train as in the papers, one output after the other: matrices (M, D, D) without ν, ν (M,), and all runs.

    Training sees the data through its statistics, L = ⟨A − A*, G(A − A*)⟩ + L* (`Statistics.metric`).
    """
    size = statistics.frame.size
    root = np.sqrt(coordinates.multiplicities(size, 2))
    data = statistics.metric()
    init = "orthogonal" if orthogonality else "xavier"
    matrices, norms, ensembles = [], [], []
    for row in solution.entries:
        problem = Problem(
            SymmetricTensor(row / root, size, 2),
            data,
            width,
            norm_neuron=norm_neuron,
            orthogonality=orthogonality,
        )
        trained = ensemble(
            problem, runs, method, init, rng=rng, tolerance=TRAINED, cores=1, iterations=iterations
        )
        best = problem.unpack(trained.thetas[int(np.argmin(trained.losses))])
        matrices.append((best.W.T * best.a) @ best.W)
        norms.append(float(best.norm))
        ensembles.append(trained)
    return np.array(matrices), np.array(norms), ensembles


def identity_statistics(
    X: Array, Y: Array, weights: Array, affine: bool, frame: Frame | None = None
) -> Statistics:
    """Statistics of a data set in memory, in the given frame (the data's own by default)."""
    frame = Frame.identity(X.shape[1], affine) if frame is None else frame
    return Statistics.empty(frame, 2, Y.shape[1]).add(X, Y, weights)


def matrices_of(solution: Solution) -> Array:
    """The symmetric matrices of a quadratic solution, in its frame."""
    return to_matrix(solution.entries, solution.frame.size)


def with_norm(matrices: Array, norms: Array, frame: Frame) -> Array:
    """A + ν‖z‖² as matrices in the frame, where the identity of the data's own frame is T⁻ᵀT⁻¹."""
    inverse = np.linalg.inv(frame.T)
    return np.asarray(matrices + norms[:, None, None] * (inverse.T @ inverse))
