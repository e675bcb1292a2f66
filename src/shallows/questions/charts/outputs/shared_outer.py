"""Critical networks of two quadratic neurons with parallel outer weights: p ⊗ q, solved, sorted, proved.

Two quadratic neurons have more weights than their function has dimensions where they share p: forms of rank two are
sums of two squares in infinitely many ways. Some such functions are critical networks whatever the target of two
outputs, and paths of two neurons do not lead to them: pairs of a target and such a network are a component apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.model.activations import polynomial_of
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.balanced_coordinates import balanced_frame
from shallows.questions.charts.continuation.equations import Complex, Member
from shallows.questions.charts.neurons.apart import ApartNetwork, ApartStratum, Whole, apart_stratum
from shallows.questions.charts.neurons.balanced import blocks_of_degrees
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.neurons.singular import NeuronFamily, Quadratic
from shallows.questions.charts.outputs.shared_map import Shared, SharedEquations, SharedMap
from shallows.questions.charts.outputs.shared_networks import shared_pair
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import REAL
from shallows.support.checks import Array
from shallows.support.progress import Shown

#: What is left out where networks with parallel outer weights are not charted.
OWN_OUTER = "networks no two of whose neurons have parallel outer weights"
#: How a critical p ⊗ q is proved.
PROOF = "Krawczyk, on functions of one direction of the outputs"
#: The degrees of q in the inputs of the map, by the powers of the activation: 1 + z + z² is a square on (1, x).
DEGREES = {(2,): (2,), (1, 2): (1, 2), (0, 2): (0, 2), (0, 1, 2): (2,)}


def has_shared_stratum(problem: Problem, outputs: int, neurons: int | None = None) -> bool:
    """Whether two neurons can share outer weights in this way, and such networks are charted here.

    `neurons` is how many have to be looked at, the width unless told.
    """
    powers = tuple(np.flatnonzero(polynomial_of(problem.activation).coefficients).tolist())
    plain = (
        problem.outer is None
        and (neurons or problem.width) == 2
        and not (problem.bias or problem.norm_neuron)
    )
    return bool(plain and problem.n > 1 and outputs > 1 and powers in DEGREES)


def shared_stratum(
    problem: Problem, whole: Whole, turn: Array, certify_points: bool, seed: int, tell: Shown = False
) -> ApartStratum:
    """All critical networks of two quadratic neurons that share their outer weights.

    `whole` is the loss of all outputs; `turn` (M, M′) are orthonormal combinations that have a target.
    """
    setting = _Setting.of(problem, whole, turn, seed)
    equations = SharedEquations(setting.n, setting.degrees, turn.shape[1])
    names = "rank 2, parallel outer weights", "p ⊗ q"
    return apart_stratum(setting, equations, whole, names, certify_points, seed, tell)


@dataclass(frozen=True, eq=False)
class _Setting:
    """A problem in balanced, turned coordinates: p = turn p′, U = frame U′, q_j = shares_j q′_j, s = factors s′."""

    problem: Problem
    whole: Quadratic
    turn: Array
    n: int
    degrees: tuple[int, ...]
    factors: Array
    frame: Array
    shares: Array
    member: Member

    @classmethod
    def of(cls, problem: Problem, whole: Quadratic, turn: Array, seed: int) -> _Setting:
        c = polynomial_of(problem.activation).coefficients
        powers = tuple(np.flatnonzero(c).tolist())
        degrees, n = DEGREES[powers], problem.n + int(len(powers) == 3)
        factors = np.concatenate([np.full(_size(problem.n, j), float(c[j])) for j in powers])
        size = len(factors)
        gram = whole.gram[:size, :size] * np.outer(factors, factors)
        rights = whole.right.reshape(len(turn), size) * factors
        rng = np.random.default_rng([seed, 11])
        last = slice(size - _size(n, 2), size)
        frame = balanced_frame(gram[last, last], n, 2) @ np.linalg.qr(rng.standard_normal((n, n)))[0]
        T = blocks_of_degrees(frame, degrees)
        at = np.repeat(np.arange(len(degrees)), [_size(n, j) for j in degrees])
        diagonal = np.diag(T.T @ gram @ T)
        shares = np.array([1 / np.sqrt(diagonal[at == k].mean()) for k in range(len(degrees))])
        T = T * shares[at]
        turn = turn @ np.linalg.qr(rng.standard_normal((turn.shape[1],) * 2))[0]
        metric, g = T.T @ gram @ T, turn.T @ rights @ T
        scale, unit = float(np.abs(metric).max()), float(np.abs(g).max())
        member = Member.of((metric + metric.T) / 2 / scale, (g / unit).ravel())
        return cls(problem, whole, turn, n, degrees, factors, frame, shares * unit / scale, member)

    def moved(self, equations: SharedEquations, x: Complex) -> tuple[SharedMap, Complex]:
        """In the problem's coordinates, by the largest entries of p and U."""
        one = equations.map.split(x)
        q = tuple(share * row for share, row in zip(self.shares, one.q, strict=True))
        given = Shared(self.turn @ one.p, self.frame @ one.U, q)
        map_ = self._map(given)
        return map_, map_.join(given)

    def _map(self, given: Shared) -> SharedMap:
        """That of the largest minor of U, and the largest entry of p."""
        pairs = [(a, b) for a in range(self.n) for b in range(a + 1, self.n)]
        rows = max(pairs, key=lambda pair: float(np.abs(np.linalg.det(given.U[list(pair)]))))
        lead = int(np.argmax(np.abs(given.p)))
        return SharedMap(self.n, self.degrees, len(self.turn), rows, lead, tuple(self.factors.tolist()))

    def network(
        self, map_: SharedMap, point: NeuronPoint, family: NeuronFamily | None
    ) -> ApartNetwork | None:
        """The network of a critical function, if it has one that is critical."""
        if np.abs(point.entries).max() <= REAL * np.abs(self.whole.target).max():
            return None
        given = map_.split(point.W[0])
        p = np.real(given.p)
        gradient = (self.whole.gram @ point.entries - self.whole.right).reshape(len(p), -1) * self.factors
        across = np.linalg.svd(p[None])[2][1:]
        size = float(np.abs(self.whole.right.reshape(len(p), -1) * self.factors).max())
        pair = shared_pair(self.n, self.degrees, given, across @ gradient, size)
        if pair is None:
            return None
        W, weights = pair.V, pair.weights
        if self.n > self.problem.n:
            if np.abs(W[:, 0]).min() <= REAL * np.abs(W).max():
                return None  # a neuron at infinity
            W, weights = W[:, 1:] / W[:, :1], weights * W[:, 0] ** 2
        proof = point.certificate and Certificate(point.certificate.radius, False, False, PROOF)
        A = np.outer(p, weights)
        seen = NeuronPoint(W, A[0], point.entries, point.signature, proof)
        return ApartNetwork(A, W, seen, family, pair.still)


def _size(n: int, degree: int) -> int:
    return Neuron.of_degrees([degree], n).size
