"""The lower link of a critical point: in how many pieces the set of lower loss meets it (stratified Morse theory).

The functions of a network are a union of strata, the tensors of one rank (and, with fixed outer weights, of given
signs). At a critical point s of index λ on its stratum, with normal lower link ℓ⁻, the lower link is the join
S^(λ−1) ∗ ℓ⁻ (M. Goresky, R. MacPherson, "Stratified Morse Theory", 1988, I.3.7). So it is

- empty, and s a minimum, if λ = 0 and ℓ⁻ is empty;
- in several pieces if λ = 1 and ℓ⁻ is empty, or λ = 0 and ℓ⁻ is: only there can valleys meet;
- in one piece otherwise: an index-one point of lower rank with ways down joins nothing.

ℓ⁻ are the small additions Σ ±u^⊗d of idle neurons that decrease the loss, ℓ′(N) < 0. At degree 2 they are matrices N on
the kernel of S with ⟨M, N⟩ < 0, M = P∇ℓP: with one idle neuron of either sign N = ±uuᵀ, which is in two pieces when M
is indefinite, the directions of negative eigenvalues with sign +, those of positive ones with sign −. With two idle
neurons one sign is exchanged for the other on the way, and ℓ⁻ is in one piece.

For one neuron of degree d the zero network is the top: s on a ray has ℓ(s) < ℓ(0) for 0 < ‖s‖ < 2⟨s, t⟩/‖s‖, and all
critical points are lower, so that every valley meets the others there at the latest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.signature import error_bound
from shallows.mathematics.tensors import coordinates
from shallows.model.problem import Problem
from shallows.questions.charts.points.kinds import Signs
from shallows.questions.charts.points.point import CriticalPoint
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.questions.connections.neuron_loss import NeuronLoss, Neurons
from shallows.support.checks import Array, counted

#: Directions of further neurons that are tried at degree 3 and above, a variable; their number is no proof of any kind.
DIRECTIONS = 6


@dataclass(frozen=True, eq=False)
class Way:
    """A way down: along a tangent of the stratum (a row a neuron), or by a further neuron with direction and sign."""

    tangent: Array | None = None
    neuron: Array | None = None
    sign: float = 1.0


@dataclass(frozen=True, eq=False)
class LowerLink:
    """A critical point's neurons and the ways down from it, at least one into each piece of its lower link.

    `pieces` is how many there are: None where a degeneracy leaves it open, with the `reason`; `apex` marks the zero
    network of a single neuron, at which all valleys meet. `touching`: to first order a further neuron leaves the loss
    as it is, so that ℓ⁻ is known numerically only.
    """

    neurons: Neurons
    pieces: int | None
    ways: tuple[Way, ...]
    apex: bool = False
    touching: bool = False
    reason: str = ""

    def __repr__(self) -> str:
        return f"LowerLink({self.pieces} pieces, {counted(len(self.ways), 'way')} down)"


def lower_link(problem: Problem, loss: NeuronLoss, point: CriticalPoint) -> LowerLink:
    """The lower link of a chart's point or family in the functions of the problem's networks."""
    neurons = Neurons.of(point.network.homogeneous() if point.network.bias is not None else point.network)
    slope = loss.slope(neurons)
    scale = float(np.max(np.abs(2 * loss.gram @ loss.target), initial=0.0))
    if np.max(np.abs(slope), initial=0.0) <= POINT_ERROR * scale:  # the target itself: ℓ is convex
        return LowerLink(neurons, 0, ())
    if problem.width == 1 and point.rank == 0 and problem.degree > 2:
        return LowerLink(neurons, None, _normal_ways(problem, loss, neurons, slope, scale)[0], apex=True)
    ways, pieces, touching = _normal_ways(problem, loss, neurons, slope, scale)
    residual = point.signature[1] - point.dimension
    decisive = (point.index == 0 and pieces != 1) or (point.index == 1 and not pieces)
    if residual > 0 and decisive:
        zeros = f"{counted(residual, 'undecided eigenvalue')} on its stratum"
        return LowerLink(neurons, None, ways, touching=touching, reason=zeros)
    if point.index == 0:
        return LowerLink(neurons, pieces, ways, touching=touching)
    down = _tangents(loss, neurons)
    if point.index == 1 and not pieces:
        return LowerLink(neurons, 2, down, touching=touching)
    return LowerLink(neurons, 1, ways or down, touching=touching)


def _tangents(loss: NeuronLoss, neurons: Neurons) -> tuple[Way, ...]:
    """The eigenvector of the most negative eigenvalue of the Hessian by the neurons, both ways."""
    vector = np.linalg.eigh(loss.derivatives(neurons)[1])[1][:, 0].reshape(neurons.vectors.shape)
    return Way(vector), Way(-vector)


def _normal_ways(
    problem: Problem, loss: NeuronLoss, neurons: Neurons, slope: Array, scale: float
) -> tuple[tuple[Way, ...], int, bool]:
    """Ways down by idle neurons, in how many pieces they come, and whether some direction is flat to first order."""
    signs = Signs.of(problem)
    positive = np.array([np.sum(neurons.signs > 0)])
    room = [bool(r[0]) for r in signs.room(positive, neurons.rank - positive)]
    if not any(room):
        return (), 0, False
    if problem.degree == 2:
        values, directions = _kernel_slopes(problem, neurons, slope)
        bound = error_bound(values, POINT_ERROR, scale)
    else:
        values, directions = _sphere_slopes(loss, slope)
        bound = POINT_ERROR * scale
    ways, touching = [], False
    for sign, idle in ((1.0, room[0]), (-1.0, room[1])):
        falling = np.flatnonzero(sign * values < -bound) if idle else np.zeros(0, int)
        touching |= idle and bool(np.any(np.abs(values) <= bound)) and problem.degree == 2
        if len(falling) and problem.degree == 2:
            falling = falling[[np.argmin(sign * values[falling])]]
        ways += [Way(neuron=directions[i], sign=sign) for i in falling.tolist()]
    alone = signs.total - neurons.rank == 1
    return tuple(ways), len(ways) if alone else min(len(ways), 1), touching


def _kernel_slopes(problem: Problem, neurons: Neurons, slope: Array) -> tuple[Array, Array]:
    """Eigenvalues of P∇ℓP on the kernel of S and unit eigenvectors, a row each."""
    n = problem.n
    basis = np.eye(n)
    if neurons.rank:
        basis = np.linalg.qr(neurons.vectors.T, mode="complete")[0][:, neurons.rank :]
    values, vectors = np.linalg.eigh(basis.T @ coordinates.slope_matrices(slope, problem.n) @ basis)
    return values, np.asarray((basis @ vectors).T)


def _sphere_slopes(loss: NeuronLoss, slope: Array) -> tuple[Array, Array]:
    """ℓ′(u^⊗d) and u at the extreme ones of directions spread over the sphere: some of each sign."""
    rng = np.random.default_rng(0)
    u = rng.standard_normal((DIRECTIONS * loss.n, loss.n))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    values = coordinates.monomials(u, loss.degree) @ slope
    return values, u
