"""The critical pairs of one stratum: solved, sorted, proved."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shallows.mathematics.same_points import PointSet
from shallows.mathematics.tensors.symmetry import derivation, symmetry_algebra
from shallows.questions.charts.continuation.detours import proved_regular
from shallows.questions.charts.continuation.equations import Complex, Member
from shallows.questions.charts.continuation.lost_paths import FROM_GENERIC, UNCERTIFIED, Settled, settle
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.real import SortedNeurons, sort_neurons
from shallows.questions.charts.neurons.singular import ExaminedEnds, NeuronFamily, examine_ends
from shallows.questions.charts.outputs.point import Seen, seen_ends
from shallows.questions.charts.penalty.loss import PairLoss
from shallows.questions.charts.penalty.members import PinnedDetours, start_for
from shallows.questions.charts.penalty.metrics import Law, PenalisedMetrics
from shallows.questions.charts.penalty.students import Group, PenalisedEquations
from shallows.questions.charts.points.stratum import Part
from shallows.support.progress import Shown
from shallows.support.tolerances import TINY

#: A neuron shorter than this share of the longest adds less than 10⁻¹² to a matrix: it is none.
NO_NEURON = 1e-6
#: Singular ends are known to about the third root of rounding.
NEARLY = 1e-5


@dataclass(frozen=True, eq=False)
class _Even:
    """The wanted member in coordinates of size about one: a = unit a′, w = stretch w′."""

    equations: PenalisedEquations
    member: Member
    special: PenalisedMetrics
    unit: float
    stretch: float

    @classmethod
    def of(cls, loss: PairLoss, own: PenalisedEquations) -> _Even:
        right, size, gamma = loss.right, loss.size, loss.penalty
        G = loss.gram[:size, :size]
        scale = float(np.abs(right[:size]).max() / np.abs(G).max())  # of the target
        weights = [group.weight for group in own.groups if group.weight is not None]
        unit = next((w for w in weights if w), 1.0) if loss.fixed else scale or 1.0
        groups = tuple(Group(None if g.weight is None else g.weight / unit, g.size) for g in own.groups)
        square = max(1.0, scale / abs(unit))
        law: Law = "isotropic" if loss.isotropic and loss.n > 1 else "any"
        special = PenalisedMetrics(loss.n, law, own.constants)
        # s = unit stretch² s′ and P = stretch² P′, divided by the larger block
        first, second = unit**2 * square * G, gamma * square
        whole = max(float(np.abs(first).max()), second)
        u = special.of(first / whole, second / whole)
        g = np.concatenate([unit * right[:size], right[size:]]) / whole
        equations = PenalisedEquations.of(loss.n, groups, own.constants)
        return cls(equations, Member(special, u, g), special, unit, float(np.sqrt(square)))

    def restored(self, points: Complex) -> Complex:
        """Points in the problem's own coordinates."""
        result, place = np.array(points), 0
        for group in self.equations.groups:
            if group.weight is None:
                result[:, place] *= self.unit
                place += 1
            count = sum(self.equations.inputs - k for k in range(group.size))
            result[:, place : place + count] *= self.stretch
            place += count
        return result


def penalised_stratum(
    loss: PairLoss,
    own: PenalisedEquations,
    certify_points: bool,
    seed: int,
    tell: Shown = False,
    patient: bool = True,
) -> Part[Seen]:
    """All critical networks whose neurons in use are in these groups, trained weights of zero left out.

    Without patience "sampled" as soon as a path is lost.
    """
    system = NeuronSystem(own, loss.exact)
    even = _Even.of(loss, own)
    regular = proved_regular(system, even.restored)
    start = start_for(even.equations, even.special, tell)
    ways = PinnedDetours(even.equations, start, even.member, even.special, seed, tell, regular)
    run = settle(ways, patient)
    ends = _in_use(own, even.restored(_weighted(even.equations, run.finite.points)))
    points = PointSet(ends, invariants=own.tensors).points
    result = sort_neurons(system, points, certify_points, tell)
    singular = np.array([x for x in run.singular.points if not even.equations.of_no_use(x)])
    singular = _weighted(even.equations, singular.reshape(-1, own.unknowns))
    examined = examine_ends(loss, system, even.restored(singular), result.found, own.real_starts)
    notes = _notes(own, run, result, examined)
    if not own.constants:
        examined = replace(examined, families=[_orbit(loss, family) for family in examined.families])
    found = seen_ends(result.found, examined)
    return Part(found, len(points) + examined.regular, notes, run.completeness)


def _weighted(equations: PenalisedEquations, points: Complex) -> Complex:
    """Those whose trained weights are not zero."""
    kept = [not equations.has_zero_weight(x) for x in points]
    return np.asarray(points[kept])


def _orbit(loss: PairLoss, family: NeuronFamily) -> NeuronFamily:
    """The family, in words that say so where it is the orbit of symmetries of data and target."""
    size, n = loss.size, loss.n
    symmetry = symmetry_algebra(loss.gram[:size, :size], loss.target[:size], n, 2)
    P = family.point.entries[size:]
    skew = [X for X in symmetry.basis if np.abs(X + X.T).max() <= NEARLY]  # those that P − I does not see
    moved = np.array(
        [np.concatenate([derivation(X, 2) @ part for part in (family.point.entries[:size], P)]) for X in skew]
    )
    rank = (
        int(np.linalg.matrix_rank(moved, tol=NEARLY)) if len(moved) and len(skew) == symmetry.dimension else 0
    )
    if rank < family.dimension:
        return family
    which = "a symmetry" if rank == 1 else "the symmetries"
    return replace(family, description=f"the orbit of {which} that the data and the target share")


def _in_use(own: PenalisedEquations, points: Complex) -> Complex:
    """Those whose neurons are all different from zero: the others belong to other strata."""
    if not len(points):
        return points
    lengths = np.array([[np.abs(w).max() for w in own.network(x)[1]] for x in points])
    return np.asarray(points[lengths.min(axis=1) > NO_NEURON * np.maximum(lengths.max(axis=1), TINY)])


def _notes(own: PenalisedEquations, run: Settled, result: SortedNeurons, examined: ExaminedEnds) -> list[str]:
    rank = sum(group.size for group in own.groups)
    shown = ", ".join(
        "trained" if g.weight is None else f"{g.weight:g}" for g in own.groups for _ in range(g.size)
    )
    equal = " (equal ones)" if any(g.weight is None and g.size > 1 for g in own.groups) else ""
    where = f"rank {rank}, outer weights {shown}{equal}"
    paired = (result.paired, "real pairs whose neurons are not real: no real networks")
    return run.notes(where, FROM_GENERIC, paired, (result.undecided, UNCERTIFIED)) + examined.notes(rank)
