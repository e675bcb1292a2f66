"""Critical networks of two neurons with several outputs under a penalty: solved, sorted, proved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from shallows.mathematics.same_points import PointSet
from shallows.questions.charts.continuation.balanced_coordinates import power_action
from shallows.questions.charts.continuation.detours import proved_regular
from shallows.questions.charts.continuation.equations import Complex, Member
from shallows.questions.charts.continuation.lost_paths import FROM_GENERIC, UNCERTIFIED, Settled, settle
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.real import sort_neurons
from shallows.questions.charts.neurons.singular import examine_ends
from shallows.questions.charts.outputs.equations import generic_frame
from shallows.questions.charts.outputs.neurons import Real
from shallows.questions.charts.outputs.point import seen_ends
from shallows.questions.charts.outputs.stratum import fewest_lost
from shallows.questions.charts.penalty.joined_loss import JoinedLoss
from shallows.questions.charts.penalty.joined_members import joined_start
from shallows.questions.charts.penalty.members import PinnedDetours
from shallows.questions.charts.penalty.metrics import Law, PenalisedMetrics
from shallows.questions.charts.penalty.one_more_output import JoinedEquations, network_neuron
from shallows.questions.charts.points.stratum import Part
from shallows.support.checks import Array
from shallows.support.progress import Shown
from shallows.support.tolerances import TINY

#: A neuron that adds less than this share of the largest to an output, or two that are parallel to it, are fewer: ends
#: on sets of solutions are known to about the root of rounding.
FEWER = 1e-6


@dataclass(frozen=True, eq=False)
class _Wanted:
    """The member of a problem: w = √x frame u, a = unit b/x, outputs without target turned away."""

    member: Member
    special: PenalisedMetrics
    turn: Array
    frame: Array
    unit: float

    @classmethod
    def of(cls, loss: JoinedLoss, turn: int) -> _Wanted:
        n, independent = loss.problem.n, loss.outputs.rank
        G, b = loss.outputs.gram.astype(float), loss.outputs.right.astype(float)
        rotation = np.linalg.qr(np.random.default_rng(turn).standard_normal((n, n)))[0] if turn else np.eye(n)
        frame = rotation @ generic_frame(n)
        P = power_action(frame, 2)
        U = np.linalg.svd(b @ P)[0][:, :independent]
        g, metric = U.T @ b @ P, P.T @ G @ P if not loss.isotropic else G
        unit = float(np.abs(g).max() / np.abs(metric).max())
        first = unit**2 * (metric + metric.T) / 2
        whole = max(float(np.abs(first).max()), loss.penalty)
        law: Law = "isotropic" if loss.isotropic else "any"
        special = PenalisedMetrics(n, law, outputs=independent)
        last = loss.right[loss.size :]
        member = Member(
            special,
            special.of(first / whole, loss.penalty / whole),
            np.concatenate([unit * g.ravel(), last]) / whole,
        )
        return cls(member, special, U, frame, unit)

    def restored(self, equations: JoinedEquations, points: Complex) -> Complex:
        """(a₁, w₁, a₂, w₂) with all outputs."""
        b, x, u = equations.parts(points)
        A = self.unit * (b / x[..., None]) @ self.turn.T
        W = np.sqrt(x)[..., None] * (u @ self.frame.T)
        return np.concatenate([A, W], axis=-1).reshape(len(points), A.shape[-2] * (A.shape[-1] + W.shape[-1]))


def joined_stratum(loss: JoinedLoss, certify_points: bool, seed: int, tell: Shown = False) -> Part[Real]:
    """All critical networks of two neurons, whose directions and outer weights are not zero or parallel."""
    n, M, neurons = loss.problem.n, loss.problem.outputs, 2
    equations = JoinedEquations.of(n, neurons, loss.outputs.rank)
    own = NeuronEquations(network_neuron(n, neurons, M), 1, outer=((1.0,),))
    system = NeuronSystem(own, loss.exact)
    wanted, run = _followed(loss, equations, system, seed, tell)
    points = _in_use(wanted.restored(equations, run.finite.points), M, neurons)
    points = PointSet(points, invariants=own.tensors).points
    result = sort_neurons(system, points, certify_points, tell)
    singular = _in_use(wanted.restored(equations, run.singular.points), M, neurons)
    examined = examine_ends(loss, system, singular, result.found, lambda x: [x.real])
    found = []
    for point, family in seen_ends(result.found, examined):
        table = point.W[0].reshape(neurons, -1)
        found.append((table[:, :M].T, table[:, M:], point, family))
    more = (
        (result.paired, "real solutions whose neurons are not real: no real networks"),
        (result.undecided, UNCERTIFIED),
    )
    kind = f" among {wanted.special.kind} metrics" if wanted.special.law == "isotropic" else ""
    notes = run.notes(f"rank {neurons}", FROM_GENERIC + kind, *more) + examined.notes(neurons)
    return Part(found, len(points) + examined.regular, notes, run.completeness)


def _followed(
    loss: JoinedLoss, equations: JoinedEquations, system: NeuronSystem, seed: int, tell: Shown
) -> tuple[_Wanted, Settled]:
    """The ends of all paths, in the first coordinates in which none is lost."""

    def run(turn: int) -> tuple[_Wanted, Settled]:
        wanted = _Wanted.of(loss, turn)
        regular = proved_regular(system, partial(wanted.restored, equations))
        start = joined_start(equations, wanted.special, tell)
        ways = PinnedDetours(equations, start, wanted.member, wanted.special, seed, tell, regular)
        return wanted, settle(ways)

    return fewest_lost(run)


def _in_use(points: Complex, outputs: int, neurons: int) -> Complex:
    """Those with finite weights all of whose neurons add something, no two of them parallel."""
    if not len(points):
        return points
    table = points.reshape(len(points), neurons, -1)
    A, W = table[..., :outputs], table[..., outputs:]
    sizes = np.abs(A).max(axis=-1) * np.abs(W).max(axis=-1) ** 2
    kept = np.isfinite(points).all(axis=1) & (sizes.min(axis=1) > FEWER * np.maximum(sizes.max(axis=1), TINY))
    for i in range(neurons):
        for j in range(i):
            w, v = W[:, i], W[:, j]
            minors = w[:, :, None] * v[:, None, :] - w[:, None, :] * v[:, :, None]
            scale = np.abs(w).max(axis=1) * np.abs(v).max(axis=1)
            kept &= np.abs(minors).max(axis=(1, 2), initial=0.0) > FEWER * scale
    return np.asarray(points[kept])
