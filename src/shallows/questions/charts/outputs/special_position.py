"""Critical networks of three quadratic neurons in special position: solved as functions, sorted, proved.

Let n inputs and M outputs have a generic target. The conditions on the slopes E at three neurons (`special_networks`)
depend on each other where outer weights are parallel or weights lie in a plane, and pairs of a target and such a
critical network are a component apart, which paths of three neurons do not lead to. Counted in dimensions, networks and
forms E that vanish on their conditions together, it covers all targets

- with two parallel outer weights, MN + 2 − M: for M = 2;
- with three, MN + 5 − 2M: for M = 2;
- with weights in a plane, MN + 5 − n: for n ≤ 5.

Neurons that are parallel, or of no weight, are networks of fewer. So these are all that there are beside regular ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shallows.mathematics.exact.rational_arrays import fractions
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.closure.real_students import Scaled, proved_regular
from shallows.questions.charts.continuation.detours import Regular
from shallows.questions.charts.continuation.equations import Complex
from shallows.questions.charts.neurons.apart import ApartNetwork, ApartStratum, Whole, listed
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.neurons.singular import NeuronFamily
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.questions.charts.outputs.special_map import (
    Forms,
    Group,
    SpecialEquations,
    SpecialMap,
    best_map,
)
from shallows.questions.charts.outputs.special_networks import (
    Three,
    pair_beside_neuron,
    three_in_a_plane,
    three_shared,
)
from shallows.questions.charts.outputs.stratum import Wanted, followed
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import REAL
from shallows.support.checks import Array
from shallows.support.progress import Shown

#: How a critical function in special position is proved.
PROOF = "Krawczyk, on functions in special position"
#: Beyond so many inputs no generic target has three critical neurons in a plane.
PLANE_INPUTS = 5


@dataclass(frozen=True)
class Kind:
    """A kind of special position: its name, its functions, its groups, and their networks."""

    name: str
    functions: str
    groups: tuple[Group, ...]
    networks: Callable[[list[Forms], Array, float], Three | None]


TWO_PARALLEL = Kind(
    "two parallel outer weights of three",
    "p ⊗ q + a ⊗ w²",
    (Group((0, 1), 0), Group((0,))),
    pair_beside_neuron,
)
THREE_PARALLEL = Kind("three parallel outer weights", "p ⊗ Q", (Group((0, 1, 2), 0),), three_shared)
IN_A_PLANE = Kind("three neurons in a plane", "R^M ⊗ Sym²(U)", (Group((0, 1)),), three_in_a_plane)


def special_kinds(n: int, outputs: int) -> list[Kind]:
    """The kinds of special position of three neurons that generic targets of so many independent outputs have."""
    parallel = [TWO_PARALLEL, THREE_PARALLEL] if outputs == 2 else []
    return parallel + ([IN_A_PLANE] if n <= PLANE_INPUTS else [])


def special_stratum(
    problem: Problem, loss: OutputsLoss, kind: Kind, certify_points: bool, seed: int, tell: Shown = False
) -> ApartStratum:
    """All critical networks of three neurons in one kind of special position."""
    equations = SpecialEquations(problem.n, (2,), loss.rank, kind.groups)
    wanted, run = followed(
        problem, loss, equations, seed, tell, lambda to: _proved_regular(equations, to), mixed=True
    )
    whole = loss.spaces(problem)
    names = f"rank 3, {kind.name}", kind.functions
    return listed(_Setting(problem, whole, wanted, kind), equations, whole, names, run, certify_points, tell)


def _proved_regular(equations: SpecialEquations, wanted: Wanted) -> Regular:
    """Whether an end that looks singular is regular, in coordinates of the largest minors."""
    gram = np.kron(np.eye(equations.outputs), wanted.member.gram)
    exact = ExactLoss(fractions(gram), fractions(np.real(wanted.member.g)))

    def scaled(end: Complex) -> Scaled:
        given = equations.map.split(end)
        map_ = best_map(equations.n, equations.outputs, equations.groups, given)
        return map_, map_.join(given), lambda x: equations.map.join(map_.split(x))

    return proved_regular(exact, scaled)


@dataclass(frozen=True, eq=False)
class _Setting:
    """The way back from the coordinates in which paths were followed."""

    problem: Problem
    whole: Whole
    wanted: Wanted
    kind: Kind

    def moved(self, equations: SpecialEquations, x: Complex) -> tuple[SpecialMap, Complex]:
        """In the problem's coordinates, by the largest minors."""
        turn, unit = self.wanted.turn, self.wanted.unit
        given = [
            Forms(self.wanted.frame @ one.U, unit * np.einsum("mk,kab->mab", turn, one.S))
            for one in equations.map.split(x)
        ]
        map_ = best_map(self.problem.n, self.problem.outputs, self.kind.groups, given)
        return map_, map_.join(given)

    def network(
        self, map_: SpecialMap, point: NeuronPoint, family: NeuronFamily | None
    ) -> ApartNetwork | None:
        """The network of a critical function, if it has one that is critical."""
        if np.abs(point.entries).max() <= REAL * np.abs(self.whole.target).max():
            return None
        M = self.problem.outputs
        slopes = (self.whole.gram @ point.entries - self.whole.right).reshape(M, -1)
        size = float(np.abs(self.whole.right).max())
        three = self.kind.networks(map_.split(point.W[0]), slopes, size)
        if three is None:
            return None
        proof = point.certificate and Certificate(point.certificate.radius, False, False, PROOF)
        seen = NeuronPoint(three.W, three.A[0], point.entries, point.signature, proof)
        return ApartNetwork(three.A, three.W, seen, family, three.still)
