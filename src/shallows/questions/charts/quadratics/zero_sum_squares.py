"""Functions without linear part of quadratic neurons whose outer weights have the sum zero (`zero_sum`)."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.numerical_rank import rank_of
from shallows.mathematics.tensors.coordinates import slope_matrices
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.data.given_metric import GivenMetric
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.found import Found
from shallows.questions.charts.neurons.kinds import Placed
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.neurons.singular import NeuronFamily
from shallows.questions.charts.points.kinds import Levels
from shallows.questions.charts.points.point import EXACT, CriticalFamily, CriticalPoint
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.questions.charts.quadratics.students import QuadraticStudents
from shallows.questions.charts.quadratics.zero_sum import ZeroSum
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array

#: The linear part of the network that stands for a limit without one, as a share of its matrix.
NEAR = 1e-4


def squares_alone(students: QuadraticStudents) -> Problem:
    """Matrices Q with the signs of the outer weights, no linear part beside them."""
    gram, right = students.without_constant()
    n, outer = students.problem.n, students.problem.outer
    assert outer is not None
    invariance = students.problem.data.rotation_invariance(2)
    data = GivenMetric(n, gram[n:, n:], right[n:], None, invariance)
    target = np.asarray(np.linalg.solve(data.gram(2), right[n:].astype(np.float64)), np.float64)
    signs = np.sign(outer[0] * students.square)
    return Problem(SymmetricTensor(target, n, 2), data, students.problem.width, outer=signs)


def zero_point(spread: ZeroSum) -> Placed | None:
    """The zero function, all neurons one w with βE_ℓ + 2αE_Q w = 0; None where there is none."""
    problem, n = spread.problem, spread.problem.n
    right = spread.students.without_constant()[1].astype(np.float64)
    E = slope_matrices(right[n:], n)
    beta, alpha = problem.activation.coefficients[1:]  # type: ignore[attr-defined]
    w, _, _, _ = np.linalg.lstsq(2 * alpha * E, -beta * right[:n])
    gap = float(np.abs(2 * alpha * E @ w + beta * right[:n]).max())
    if gap > POINT_ERROR * float(np.abs(right).max(initial=0.0)):
        return None
    net = Network(np.tile(w, (problem.width, 1)), spread.weights, problem.activation)
    entries = spread.entries(np.zeros(n), np.zeros((n, n)))
    point = NeuronPoint(np.zeros((0, n)), np.zeros(0), entries, (0, 0, 0), EXACT)
    return Placed(point, net, kind="saddle" if right.any() else "global minimum")


def even_points(spread: ZeroSum, chart: Chart) -> list[Placed]:
    """The critical matrices as networks without linear part, and as limits where all of one sign are in use."""
    return [_placed(spread, point) for point in chart.critical if point.rank]


def _placed(spread: ZeroSum, point: CriticalPoint) -> Placed:
    n, problem = spread.problem.n, spread.problem
    alpha = float(problem.activation.coefficients[2])  # type: ignore[attr-defined]
    Q = point.tensor.to_matrix() / alpha
    net = _without_slope(spread, Q, point.rank)
    limit = net is None
    if net is None:
        net = _near(spread, Q)
    positive, zero, negative = point.signature
    seen = (positive + n, zero, negative)  # ℓ costs at once
    proof = point.certificate

    def own(tensor: SymmetricTensor) -> Array:
        return spread.entries(np.zeros(n), tensor.to_matrix() / alpha)

    found = NeuronPoint(
        np.zeros((point.rank, n)), np.zeros(point.rank), own(point.tensor), seen, proof, limit
    )
    family = None
    if isinstance(point, CriticalFamily):
        family = NeuronFamily(found, point.dimension, point.description, tuple(own(s) for s in point.samples))
    return Placed(found, net, family, kind=point.kind)


def _without_slope(spread: ZeroSum, Q: Array, rank: int) -> Network | None:
    """W with Σ aw = 0 and Σ aww = Q: in the complement of the ones, less the ones; None where signs are too few."""
    a = spread.weights
    used = np.flatnonzero(a)
    A = np.diag(a[used])
    ones = np.ones(len(used))
    away = np.linalg.svd(np.stack([a[used], ones]))[2][2:].T  # A-orthogonal to the ones, and across them
    values, vectors = np.linalg.eigh(away.T @ A @ away)
    basis, signs = away @ vectors / np.sqrt(np.abs(values)), np.sign(values)
    own, directions = np.linalg.eigh(Q)
    W = np.zeros((len(a), len(Q)))
    free = {s: np.flatnonzero(signs == s).tolist() for s in (1.0, -1.0)}
    for k in np.argsort(-np.abs(own))[:rank]:
        places = free[float(np.sign(own[k]))]
        if not places:
            return None
        W[used] += np.outer(basis[:, places.pop(0)], np.sqrt(abs(own[k])) * directions[:, k])
    return Network(W, a, spread.problem.activation)


def _near(spread: ZeroSum, Q: Array) -> Network:
    """A network near ℓ = 0 and Q: with a small ℓ on whose complement Q has one sign of each kind less."""
    values, vectors = np.linalg.eigh(Q)
    up, down = vectors[:, -1] * np.sqrt(max(values[-1], 0.0)), vectors[:, 0] * np.sqrt(max(-values[0], 0.0))
    for l in (up + down, up - down, up, down):
        size = float(np.linalg.norm(l))
        if size:
            rank = rank_of(np.abs(values), POINT_ERROR)
            for beside in (rank - 2, rank - 1):
                made = spread.network(NEAR * np.sqrt(np.abs(values).max()) * l / size, Q, max(beside, 0))
                if made is not None:
                    return made
    return Network(np.zeros((len(spread.weights), len(Q))), spread.weights, spread.problem.activation)


def is_below(spread: ZeroSum, found: Found, squares: Chart) -> bool:
    """Whether some network listed is at most as high as all functions without linear part, and so limits too."""
    space = spread.students.space
    full = np.array([item.row(space).entries for item in found.placed]).reshape(-1, len(space.right))
    gap = full - space.target
    excess = np.maximum(np.einsum("ij,jk,ik->i", gap, space.gram, gap), 0.0)
    n = spread.problem.n
    lowest = squares.critical[0]
    alpha = float(spread.problem.activation.coefficients[2])  # type: ignore[attr-defined]
    alone = spread.entries(np.zeros(n), lowest.tensor.to_matrix() / alpha) - space.target
    level = max(float(alone @ space.gram @ alone), 0.0)
    levels = Levels(excess, float(space.energy))
    return bool(len(excess)) and bool((excess <= level).any() or levels.same(level).any())
