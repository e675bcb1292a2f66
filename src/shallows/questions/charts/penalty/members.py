"""Solved members that charts with an orthogonality penalty start from.

Among pairs of any two metrics no critical point is at infinity, so that the sum of all is linear in the target: the
trace test tells whether monodromy has found them. From there paths are followed, once a machine, to a generic member
among penalised ones: Frobenius' metric on P, and a multiple of the identity for its target. Most of the others run to
infinity, slowly, like |t|^(−1/4): a path that double precision does not bring to an end is looked at on its way, and
counts as one to infinity when it grows by one and the same power of t. Singular ends where a neuron is
zero belong to other strata, those with a trained weight of zero to sets with a closed form (`zero_weights`), and those
with w·w = 0 stay so over all real problems, and are never real. Monodromy then finds no more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shallows.mathematics.homotopy.monodromy import monodromy
from shallows.mathematics.homotopy.parameter import solve_member
from shallows.mathematics.homotopy.paths import Homotopy, track
from shallows.mathematics.homotopy.rational_trace import rational_trace_test
from shallows.mathematics.homotopy.solutions import Solutions, SolutionSet
from shallows.mathematics.homotopy.trace import TraceTest, linear_trace_test
from shallows.mathematics.same_points import PointSet
from shallows.model.reduced_problem import identity
from shallows.questions.charts.continuation.detours import Detours, Regular
from shallows.questions.charts.continuation.equations import (
    Complex,
    EquationFamily,
    Member,
    SolvedMember,
    family,
)
from shallows.questions.charts.continuation.generic_members import drawn_metric, first_whole, solved_once
from shallows.questions.charts.continuation.lost_paths import SETTINGS
from shallows.questions.charts.continuation.metrics import OneMetric
from shallows.questions.charts.limits import most_points
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.penalty.metrics import PenalisedMetrics
from shallows.questions.charts.penalty.mirrored import found_mirrored
from shallows.questions.charts.penalty.students import PenalisedEquations
from shallows.support.progress import Shown
from shallows.support.seeds import complex_normal

#: Places |t| on the way at which a lost path is looked at, a hundredth of each other.
ON_THE_WAY = (1e-4, 1e-6, 1e-8)
#: It runs to infinity when it grows at least so much from one to the next (a sixteenth root of t), and the second time
#: as much as the first, up to this share; seen is t^(−1/6). Or where it has grown so far that tracking ends: members
#: have numbers of size one, and their points are below ten.
GROWS, ALIKE, FAR = 1.33, 0.2, 1e3

#: Sums of so many solutions are tested: 85, two neurons with biases in two inputs, in 6 s and to 10⁻¹⁵.
MOST_TRACED = 100


def start_for(equations: PenalisedEquations, special: PenalisedMetrics, tell: Shown) -> SolvedMember:
    """Where every problem with such students and metrics starts from."""
    return solved_once(equations, special, lambda: _special(equations, special, tell))


@dataclass(frozen=True, eq=False)
class PinnedFamily:
    """The equations over metrics of one kind with targets (t, vI): parameters (u, g₁, v), g = (g₁, v q)."""

    equations: NeuronEquations
    special: PenalisedMetrics

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return self.equations.unknowns

    @property
    def parameter_count(self) -> int:
        """Those of the metric, N and one."""
        return self.special.parameters + self.special.size + 1

    def full(self, parameters: Complex) -> Complex:
        """(u, g)."""
        return np.concatenate([parameters[:-1], parameters[-1] * identity(self.special.second)])

    def pinned(self, parameters: Complex) -> Complex:
        """(u, g₁, v) from (u, g)."""
        return np.asarray(parameters[: self.parameter_count])  # q begins with 1

    def segment(self, start: Complex, target: Complex) -> Homotopy:
        """The equations along the segment between two members."""
        begin, goal = (self.full(np.asarray(p, np.complex128)) for p in (start, target))
        return family(self.equations, self.special).segment(begin, goal)

    def member(self, parameters: object) -> None:
        """No exact system: proofs are of the problem's own equations."""
        return


@dataclass(frozen=True, eq=False)
class Targets:
    """The equations over (g₁, v), the metric held fixed; over g₁ alone where v is `held` too."""

    pinned: PinnedFamily
    u: Complex
    held: Complex

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return self.pinned.n

    @property
    def parameter_count(self) -> int:
        """The entries of g₁, and one."""
        return self.pinned.special.size + 1 - len(self.held)

    def segment(self, start: Complex, target: Complex) -> Homotopy:
        """The equations along the segment between two targets."""
        begin, goal = (np.concatenate([self.u, place, self.held]) for place in (start, target))
        return self.pinned.segment(begin, goal)

    def member(self, parameters: object) -> None:
        """No exact system: proofs are of the problem's own equations."""
        return


class PinnedDetours(Detours):
    """Ways between members whose second target is a multiple of the identity."""

    def __init__(
        self,
        equations: NeuronEquations,
        known: SolvedMember,
        wanted: Member,
        special: PenalisedMetrics,
        seed: int,
        tell: Shown,
        regular: Regular,
    ) -> None:
        super().__init__(equations, known, wanted, seed, tell, regular)
        self.own, self.special = equations, special

    def _tracked(self, way: int) -> Solutions | None:
        """All paths to the wanted member, those of pairs that are lost in other coordinates once more."""
        points = self.known.points
        found = self._followed(self.own, points, way)
        if not isinstance(self.own, PenalisedEquations):
            return found
        return found_mirrored(self.own, points, found, lambda own, starts: self._followed(own, starts, way))

    def _followed(self, equations: NeuronEquations, points: Complex, way: int) -> Solutions:
        pinned = PinnedFamily(equations, self.special)
        start, goal = (pinned.pinned(member.parameters) for member in (self.known, self.wanted))
        return self._between(pinned, points, start, goal, way)


def _wide(equations: PenalisedEquations, tell: Shown) -> SolvedMember:
    """A generic member among all pairs of metrics."""
    kind = PenalisedMetrics(equations.inputs, "wide", equations.constants)
    rng = np.random.default_rng([0, equations.unknowns, equations.entries])
    u = complex_normal(rng, kind.parameters)
    gram = kind.at(u).high
    x, g = equations.first(gram, rng)

    def test(found: PointSet, generator: np.random.Generator) -> TraceTest:
        fixed = family(equations.rounded, OneMetric(gram))
        return linear_trace_test(fixed, found.points, g, equations.tensors, generator, settings=SETTINGS)

    result = monodromy(
        family(equations.rounded, kind),
        x[None, :],
        np.concatenate([u, g]),
        rng=0,
        invariants=equations.tensors,
        limit=most_points(),
        trace=test,
        settings=SETTINGS,
        progress=tell,
    )
    return SolvedMember(result.parameters, result.points, result.completeness)


def _special(equations: PenalisedEquations, special: PenalisedMetrics, tell: Shown) -> SolvedMember:
    wide = PenalisedMetrics(equations.inputs, "wide", equations.constants)
    start = solved_once(equations, wide, lambda: _wide(equations, tell))
    return first_whole(
        equations, lambda seed: _traced(equations, special, _followed(equations, special, start, seed, tell))
    )


def _traced(equations: PenalisedEquations, special: PenalisedMetrics, member: SolvedMember) -> SolvedMember:
    """A member some path to which was lost, once more: all solutions are known if their sum is a rational function of
    the targets. With fixed weights only: a network and its targets are then a linear space, over irreducible ones."""
    trained = any(group.weight is None for group in equations.groups)
    if member.completeness != "sampled" or trained or not 0 < len(member.points) <= MOST_TRACED:
        return member
    pinned = PinnedFamily(equations.rounded, special)
    own = pinned.pinned(member.parameters)
    u, targets = own[: special.parameters], own[special.parameters :]
    test = rational_trace_test(
        Targets(pinned, u, targets[:0]),
        member.points,
        targets,
        equations.tensors,
        np.random.default_rng(0),
        settings=SETTINGS,
    )
    return replace(member, completeness="trace-tested") if test.passed else member


def _followed(
    equations: PenalisedEquations, special: PenalisedMetrics, start: SolvedMember, seed: int, tell: Shown
) -> SolvedMember:
    """A generic member among penalised ones, from the ends of the paths of a generic pair of metrics."""
    rng, u = drawn_metric(equations, special, seed)
    pinned, gram = PinnedFamily(equations, special), special.at(u).high
    free = np.concatenate([u, complex_normal(rng, special.size + 1)])
    wide = PenalisedMetrics(equations.inputs, "wide", equations.constants)
    blocks = gram[: wide.size, : wide.size], gram[wide.size :, wide.size :]
    both = np.concatenate([block[np.triu_indices(len(block))] for block in blocks])
    wanted = np.concatenate([both, pinned.full(free)[special.parameters :]])
    ends, settled = _ends(equations, wide, start, wanted, seed, tell)
    points = PointSet(ends.finite.points, invariants=equations.tensors).points
    unreal = all(
        equations.of_no_use(end.point) or equations.has_zero_weight(end.point) for end in ends.singular
    )
    known = settled and unreal and len(points) == ends.finite.count
    if len(points):
        found = monodromy(
            pinned,
            points,
            free,
            rng=seed,
            invariants=equations.tensors,
            trace=False,
            settings=SETTINGS,
            progress=tell,
        )
        known, points = known and found.count == len(points), found.points
    return SolvedMember(pinned.full(free), points, start.completeness if known else "sampled")


def _ends(
    equations: PenalisedEquations,
    wide: PenalisedMetrics,
    start: SolvedMember,
    wanted: Complex,
    seed: int,
    tell: Shown,
) -> tuple[Solutions, bool]:
    """The ends of all paths, and whether each has one; lost ones are followed with 31 digits, or grow like t^−v."""

    def followed(kind: EquationFamily, points: Complex) -> tuple[Solutions, list[int]]:
        ends = solve_member(
            kind,
            points,
            start.parameters.tolist(),
            wanted.tolist(),
            rng=seed,
            detour=False,
            on_incomplete="return",
            settings=SETTINGS,
            progress=tell,
        )
        segment = kind.segment(start.parameters, wanted)
        return ends, [end.path for end in ends.failed if not _diverges(segment, points[end.path])]

    ends, lost = followed(family(equations.rounded, wide), start.points)
    if not lost:
        return ends, True
    more, still = followed(family(equations, wide), start.points[lost])
    n = ends.finite.n
    joined = replace(
        ends,
        finite=SolutionSet((*ends.finite, *more.finite), n),
        singular=SolutionSet((*ends.singular, *more.singular), n),
    )
    return joined, not still


def _diverges(segment: Homotopy, start: Complex) -> bool:
    """Whether a path grows like a power of t."""
    sizes = []
    for place in ON_THE_WAY:
        path = track(segment, start[None], end=place, endgame=False)
        if path.status[0] != 0:
            return float(np.abs(path.ends[0]).max()) > FAR
        sizes.append(float(np.abs(path.ends[0]).max()))
    first, second = sizes[1] / sizes[0], sizes[2] / sizes[1]
    return first > GROWS and second > GROWS and abs(second / first - 1) < ALIKE
