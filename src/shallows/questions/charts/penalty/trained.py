"""Trained outer weights under the orthogonality penalty: critical pairs from the chart without penalty.

With E half the slope in s and D = γ(P − I) that in P, a network is critical when aᵢEwᵢ + Dwᵢ = 0 and wᵢᵀEwᵢ = 0 for all
neurons. Let U_g be the span of the neurons of one weight a_g. For u in U_g and v in U_h, a_g uᵀEv = −uᵀDv = a_h uᵀEv:
spans of different weights are orthogonal for E and for D. If they depend on each other, Σ u_g = 0, then Eu_g is
orthogonal to all neurons; it is −Du_g/a_g, in their span; so Eu_g = Du_g = 0, and P is the identity on such u. What
the weights of such u are does not matter beyond their sum s: the same pair has a network of independent neurons.

1. *One neuron a weight.* wᵀEw = 0 gives wᵀDw = 0. Then the inner products K = WWᵀ have K² = K, and independent neurons
   are orthonormal: P is the projection onto their span, D vanishes on it, and Es = 0. These are the critical points of
   the loss without penalty, each written with its eigenvectors. On pairs (UAUᵀ, UBUᵀ) the penalty's second derivative
   is γ‖dB‖², nothing across: r(r+1)/2 more positive directions than without penalty.
2. *Several neurons of one weight* (`students`): Σ wᵢᵀEwᵢ = 0 over them is enough, as they can be rotated until each
   vanishes. E is not zero there, so to second order a change of one weight and a rotation descend: a saddle.
3. *Outer weight 0* (`zero_weights`): seen by the penalty only.

Every s of rank ≤ k has an orthonormal network, for which the penalty is as small as width k allows, γ(n − k) or 0. So
the lowest loss with penalty is the lowest without it, plus that, and it is attained; limits of networks whose neurons
shrink while their outer weights grow are never minima, because the penalty falls to first order with their length.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.network import Network
from shallows.model.reduced_problem import identity
from shallows.questions.charts.penalty.loss import PenalisedLoss
from shallows.questions.charts.points.point import Certificate, CriticalFamily, CriticalPoint
from shallows.questions.charts.points.rows import FoundRow
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array

#: What such a chart says of limits.
NO_LIMITS = (
    "limits of networks whose neurons shrink while their outer weights grow are not listed; none is a minimum, since "
    "the penalty falls to first order when such a neuron gets a length"
)
#: How the target itself is known where neurons and a norm neuron share the identity.
FILLED = "the target itself, rounded"


def pair_of(a: Array, W: Array) -> Array:
    """(Σ aᵢ wᵢwᵢᵀ, Σ wᵢwᵢᵀ).

    >>> pair_of(np.array([2.0]), np.array([[1.0, 3.0]]))
    array([ 2.,  6., 18.,  1.,  3.,  9.])
    """
    squares = coordinates.monomials(W, 2)
    return np.concatenate([a @ squares, squares.sum(axis=0)])


def neurons_of(row: FoundRow) -> Array:
    """Those that are not zero."""
    return np.asarray(row.network.W[np.any(row.network.W != 0, axis=1)])


def orthonormal_rows(loss: PenalisedLoss, chart: Chart) -> list[FoundRow]:
    """The points of the chart without penalty with orthonormal neurons, and with a norm neuron the target itself."""
    rows = [_orthonormal(loss, point) for point in chart.critical]
    problem = loss.problem
    if problem.norm_neuron and problem.width >= problem.n:
        rows.append(_filled(loss))
    return rows


def network_of(loss: PenalisedLoss, a: Array, W: Array) -> Network:
    """These neurons, others zero, and the best norm neuron."""
    problem = loss.problem
    weights, neurons = np.zeros(problem.width), np.zeros((problem.width, problem.n))
    weights[: len(a)], neurons[: len(a)] = a, W
    return Network(neurons, weights, problem.activation, loss.norm(pair_of(a, W)))


def _orthonormal(loss: PenalisedLoss, point: CriticalPoint) -> FoundRow:
    problem, plain = loss.problem, point.network
    S = plain.W.T @ (plain.a[:, None] * plain.W)
    values, vectors = np.linalg.eigh((S + S.T) / 2)
    own = np.argsort(-np.abs(values))[: point.rank]
    a, W = values[own], vectors[:, own].T
    positive, zero, negative = point.signature
    full = point.rank == min(problem.width, problem.n)
    return FoundRow(
        pair_of(a, W),
        network_of(loss, a, W),
        point.rank,
        (positive + point.rank * (point.rank + 1) // 2, zero, negative),
        point.kind if full else "saddle",
        point.certificate,
        point.dimension,
        (point.description, point.samples) if isinstance(point, CriticalFamily) else None,
    )


def _filled(loss: PenalisedLoss) -> FoundRow:
    """T = s + νI with s regular and P = I: ν does not matter."""
    n = loss.problem.n
    T = SymmetricTensor(loss.target[: len(loss.target) // 2], n, 2).to_matrix()
    values, vectors = np.linalg.eigh(T)
    move = 2 * float(np.abs(values).max()) + 1.0
    s = loss.target[: len(loss.target) // 2] - move * identity(len(loss.target) // 2)
    net = Network(vectors.T, values - move, loss.problem.activation)
    W, a = np.zeros((loss.problem.width, n)), np.zeros(loss.problem.width)
    W[:n], a[:n] = net.W, net.a
    pair = np.concatenate([s, identity(len(s))])
    made = Network(W, a, loss.problem.activation, loss.norm(pair))
    size = len(s)
    proof = Certificate(float(4 * n * np.spacing(np.abs(loss.target).max() + move)), True, True, FILLED)
    return FoundRow(pair, made, n, (2 * size - 1, 0, 0), "global minimum", proof)
