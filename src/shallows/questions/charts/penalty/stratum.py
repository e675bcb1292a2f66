"""The critical pairs of one stratum: solved, sorted, proved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.same_points import PointSet, is_among
from shallows.model.data.base import InnerProduct
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.equations import Complex, Member
from shallows.questions.charts.continuation.lost_paths import LOST, Settled, settle
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.real import NeuronPoint, SortedNeurons, seen_point, sort_neurons
from shallows.questions.charts.penalty.members import PinnedDetours, start_for
from shallows.questions.charts.penalty.metrics import PenalisedMetrics
from shallows.questions.charts.penalty.students import Group, PenalisedEquations
from shallows.support.checks import Array
from shallows.support.progress import Shown
from shallows.support.tolerances import TINY

#: Entries of a metric that rotations leave alone agree to rounding.
SAME = 1e-14
#: A neuron shorter than this share of the longest adds less than 10⁻¹² to a matrix: it is none.
NO_NEURON = 1e-6
#: Singular ends are known to about the third root of rounding.
NEARLY = 1e-5


@dataclass(frozen=True)
class PenalisedStratum:
    """Real critical networks of one stratum, how many pairs there are over C, and what is known of them."""

    found: list[NeuronPoint]
    count: int
    notes: list[str]
    completeness: str


@dataclass(frozen=True, eq=False)
class _Even:
    """The wanted member in coordinates of size about one: a = unit a′, w = stretch w′."""

    equations: PenalisedEquations
    member: Member
    special: PenalisedMetrics
    unit: float
    stretch: float

    @classmethod
    def of(cls, problem: Problem, system: NeuronSystem, own: PenalisedEquations) -> _Even:
        gram, right = system.exact.gram.astype(np.float64), system.exact.right.astype(np.float64)
        size = len(right) // 2
        G, gamma = gram[:size, :size], float(problem.orthogonality)
        scale = float(np.abs(right[:size]).max() / np.abs(G).max())  # of the target
        weights = [group.weight for group in own.groups if group.weight is not None]
        unit = next((w for w in weights if w), 1.0) if problem.outer is not None else scale or 1.0
        groups = tuple(Group(None if g.weight is None else g.weight / unit, g.size) for g in own.groups)
        square = max(1.0, scale / abs(unit))
        special = PenalisedMetrics(problem.n, "isotropic" if _isotropic(problem, G) else "any")
        # s = unit stretch² s′ and P = stretch² P′, divided by the larger block
        first, second = unit**2 * square * G, gamma * square
        whole = max(float(np.abs(first).max()), second)
        u = special.of(first / whole, second / whole)
        g = np.concatenate([unit * right[:size], right[size:]]) / whole
        equations = PenalisedEquations.of(problem.n, groups)
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


def _isotropic(problem: Problem, gram: Array) -> bool:
    """Whether G is u₁‖S‖² + u₂(tr S)², to rounding, by the kind of law."""
    data: InnerProduct = problem.data
    metric = data.rotation_invariance(2)
    if metric is None or problem.n == 1:
        return False
    kind = PenalisedMetrics(problem.n, "isotropic")
    near = kind.at(kind.of(gram, 1.0).astype(np.complex128)).high[: len(gram), : len(gram)].real
    return bool(np.abs(near - gram).max() <= SAME * np.abs(gram).max())


def penalised_stratum(
    problem: Problem,
    system: NeuronSystem,
    own: PenalisedEquations,
    certify_points: bool,
    seed: int,
    tell: Shown = False,
) -> PenalisedStratum:
    """All critical networks whose neurons in use are in these groups."""
    even = _Even.of(problem, system, own)

    def regular(ends: Complex) -> tuple[Complex, NDArray[np.bool_]]:
        """Ends that look singular for being far out, but are proved regular."""
        return ends, np.array([root is not None for root in certify(system, even.restored(ends)).roots])

    start = start_for(even.equations, even.special, tell)
    run = settle(PinnedDetours(even.equations, start, even.member, even.special, seed, tell, regular))
    ends = _in_use(own, even.restored(run.finite.points))
    points = PointSet(ends, invariants=own.tensors).points
    result = sort_neurons(system, points, certify_points, tell)
    degenerate = _degenerate(system, _in_use(own, even.restored(run.singular.points)))
    notes = _notes(own, run, result, len(run.singular.points))
    known = all(even.equations.of_no_use(x) for x in run.singular.points)
    completeness = run.completeness if known else "sampled"
    return PenalisedStratum(result.found + degenerate, len(points), notes, completeness)


def _in_use(own: PenalisedEquations, points: Complex) -> Complex:
    """Those whose neurons are all different from zero: the others belong to other strata."""
    if not len(points):
        return points
    lengths = np.array([[np.abs(w).max() for w in own.network(x)[1]] for x in points])
    return np.asarray(points[lengths.min(axis=1) > NO_NEURON * np.maximum(lengths.max(axis=1), TINY)])


def _degenerate(system: NeuronSystem, points: Complex) -> list[NeuronPoint]:
    """Real singular ends, listed without a proof."""
    real = [x.real for x in points if np.abs(x.imag).max() <= NEARLY * max(np.abs(x).max(), TINY)]
    kept: list[NeuronPoint] = []
    for x in real:
        point = seen_point(system, x, NEARLY)
        size = max(float(np.abs(point.entries).max()), TINY)
        if not is_among(point.entries, [other.entries for other in kept], NEARLY * size):
            kept.append(point)
    return kept


def _notes(own: PenalisedEquations, run: Settled, result: SortedNeurons, singular: int) -> list[str]:
    rank = sum(group.size for group in own.groups)
    shown = ", ".join(
        "trained" if g.weight is None else f"{g.weight:g}" for g in own.groups for _ in range(g.size)
    )
    equal = " (equal ones)" if any(g.weight is None and g.size > 1 for g in own.groups) else ""
    where = f"rank {rank}, outer weights {shown}{equal}"
    notes = [f"{where}: parameter homotopy from a generic member ({run.completeness})"]
    said = [
        (run.at_infinity, "paths run to infinity: these data or this target are not generic"),
        (result.paired, "real pairs whose neurons are not real: no real networks"),
        (run.lost, LOST),
        (
            singular,
            "paths end at singular points, degenerate ones or on families: nothing is claimed of these",
        ),
        (result.undecided, "points without a certificate"),
    ]
    return notes + [f"{where}: {count} {text}" for count, text in said if count]
