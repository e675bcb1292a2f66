"""Critical networks of two trained neurons with parallel weights: functions of one direction, solved, sorted, proved.

Where the powers of p leave such a network more weights than its function has dimensions, paths from generic neurons do
not lead to it: pairs of a target and such a critical network are a component apart. That is so for two powers
and several outputs (two weights more), and for three powers and one output (one more). For two powers and one output
functions are those of one neuron, real or not: two real ones compute αz + βz³ where one would need an imaginary weight.
`line_networks` says which critical functions are networks, and why these are saddles unless none of them has a slope.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from shallows.mathematics.same_points import PointSet, is_among
from shallows.model.activations import PolynomialActivation
from shallows.model.exact_loss import ExactLoss
from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.detours import Detours
from shallows.questions.charts.continuation.equations import Complex, Member
from shallows.questions.charts.continuation.generic_members import generic_member
from shallows.questions.charts.continuation.lost_paths import settle
from shallows.questions.charts.neurons.balanced import BalancedNeurons, blocks_of_degrees
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.line_map import LineEquations, LineMap
from shallows.questions.charts.neurons.line_networks import critical_pair
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.real import NeuronPoint, sort_neurons
from shallows.questions.charts.neurons.singular import NeuronFamily, Quadratic, examine_ends
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import POINT_ERROR, REAL
from shallows.support.checks import Array
from shallows.support.progress import Shown

#: What is left out where networks with parallel weights are not charted.
APART = "networks no two of whose neurons are polynomials of one w·x"
#: How a critical function of one direction is proved.
PROOF = "Krawczyk, on functions of one direction"


class Whole(Quadratic, Protocol):
    """The loss of all outputs, exactly."""

    @property
    def exact(self) -> ExactLoss:
        """I ⊗ G and all b_m."""
        ...

    @property
    def first(self) -> PolynomialSpace:
        """The space of output 0."""
        ...


@dataclass(frozen=True, eq=False)
class ApartNetwork:
    """A critical network of a component apart: outer weights (M, 2), neurons (2, n), its function; `still` if no
    network of the function has a slope."""

    A: Array
    W: Array
    point: NeuronPoint
    family: NeuronFamily | None
    still: bool


@dataclass
class ApartStratum:
    """What was found on a component apart."""

    found: list[ApartNetwork] = field(default_factory=list)
    count: int = 0
    completeness: str = "proved"
    notes: list[str] = field(default_factory=list)

    def beside(self, known: Sequence[Array]) -> list[ApartNetwork]:
        """Those whose functions are none of these."""

        def is_new(entries: Array) -> bool:
            return not is_among(entries, list(known), POINT_ERROR * float(np.abs(entries).max()))

        return [item for item in self.found if is_new(item.point.entries)]


def has_line_stratum(problem: Problem, outputs: int) -> bool:
    """Whether paths of two neurons miss those with parallel weights, and they are charted here."""
    assert isinstance(problem.activation, PolynomialActivation)
    powers = np.count_nonzero(problem.activation.coefficients)
    extra = problem.outer is None and problem.width == 2 and not problem.bias and problem.n > 1
    return bool(extra and (powers == 2 or (powers == 3 and outputs == 1)))


def leaves_lines_out(problem: Problem) -> bool:
    """Whether one output's networks with parallel weights have more weights than dimensions and are not charted.

    r of them have 2r weights, 3r with a bias, their functions J powers; with two powers they are one neuron's.
    """
    assert isinstance(problem.activation, PolynomialActivation)
    if problem.outer is not None or problem.width < 2 or problem.n < 2 or has_line_stratum(problem, 1):
        return False
    powers = np.count_nonzero(problem.activation.coefficients)
    if problem.bias:
        return bool(3 * problem.width > problem.activation.degree + 1)
    return bool(powers > 2 and 2 * problem.width > powers)


def line_stratum(
    problem: Problem, whole: Whole, turn: Array, certify_points: bool, seed: int, tell: Shown = False
) -> ApartStratum:
    """All critical networks of two neurons with parallel weights.

    `whole` is the loss of all outputs; `turn` (M, M′) are orthonormal combinations of outputs that have a target.
    """
    space, exact = whole.first, whole.exact
    setting = _Setting.of(problem, space, whole, turn, seed)
    equations = LineEquations(problem.n, space.degrees, turn.shape[1])
    run = settle(Detours(equations, generic_member(equations, tell), setting.member, seed, tell))
    points = PointSet(run.finite.points, invariants=equations.tensors).points
    result = ApartStratum(count=len(points), completeness=run.completeness)
    for chart, ends, singular in setting.by_chart(equations, points, run.singular.points):
        map_ = LineMap(problem.n, space.degrees, len(turn), chart)
        system = NeuronSystem(NeuronEquations(map_.neuron, 1, outer=((1.0,),)), exact)
        known = sort_neurons(system, ends, certify_points, tell).found
        examined = examine_ends(whole, system, singular, known)
        rows: list[tuple[NeuronPoint, NeuronFamily | None]] = [(p, None) for p in [*known, *examined.points]]
        for point, family in [*rows, *((family.point, family) for family in examined.families)]:
            item = setting.network(map_, point, family)
            result.found += [] if item is None else [item]
    result.notes = run.notes(
        "rank 2, parallel weights", f"{len(points)} complex critical functions of one direction"
    )
    return result


@dataclass(frozen=True, eq=False)
class _Setting:
    """A problem in balanced, turned coordinates: u = frame u′, C_j = unit c_j C′_j."""

    problem: Problem
    space: PolynomialSpace
    whole: Quadratic
    turn: Array
    frame: Array
    unit: float
    member: Member

    @classmethod
    def of(
        cls, problem: Problem, space: PolynomialSpace, whole: Quadratic, turn: Array, seed: int
    ) -> _Setting:
        rights = turn.T @ whole.right.reshape(len(turn), -1)
        even = BalancedNeurons.of(problem, space, rights=rights)
        rotation = np.linalg.qr(np.random.default_rng([seed, 7]).standard_normal((problem.n, problem.n)))[0]
        P = blocks_of_degrees(rotation, space.degrees)
        gram = P.T @ even.member.gram @ P
        g = np.real(even.member.g).reshape(len(rights), -1) @ P
        member = Member.of((gram + gram.T) / 2, g.ravel())
        return cls(problem, space, whole, turn, even.frame @ rotation, even.unit, member)

    @property
    def coefficients(self) -> Array:
        """c_j of the powers that p has."""
        assert isinstance(self.problem.activation, PolynomialActivation)
        return np.asarray(self.problem.activation.coefficients[list(self.space.degrees)])

    def by_chart(
        self, equations: LineEquations, points: Complex, singular: Complex
    ) -> Iterable[tuple[int, Complex, Complex]]:
        """Real ends, and singular ones, in the problem's coordinates, by the largest entry of u."""
        groups: dict[int, tuple[list[Complex], list[Complex]]] = {}
        for k, given in enumerate((points, singular)):
            for x in given:
                if k == 0 and np.abs(x.imag).max() > REAL * np.abs(x).max():
                    continue
                u, C = equations.map.split(x)
                u, C = self.frame @ u, self.unit * (self.turn @ C) * self.coefficients
                chart = int(np.argmax(np.abs(u)))
                map_ = LineMap(self.problem.n, self.space.degrees, len(self.turn), chart)
                groups.setdefault(chart, ([], []))[k].append(map_.join(u, C))
        for chart, (ends, others) in groups.items():
            unknowns = LineMap(self.problem.n, self.space.degrees, len(self.turn), chart).unknowns
            made = [np.array(rows, np.complex128).reshape(-1, unknowns) for rows in (ends, others)]
            yield chart, made[0], made[1]

    def network(self, map_: LineMap, point: NeuronPoint, family: NeuronFamily | None) -> ApartNetwork | None:
        """The network of a critical function, if it has one that is critical."""
        u, C = (np.real(part) for part in map_.split(point.W[0].astype(np.complex128)))
        length = float(np.linalg.norm(u))
        u, C = u / length, C * length ** np.array(self.space.degrees)
        gradient = (self.whole.gram @ point.entries - self.whole.right).reshape(len(self.turn), -1)
        slopes = Neuron.of_degrees(self.space.degrees, self.problem.n).slopes(u)
        across = np.linalg.svd(u[None])[2][1:] @ slopes.reshape(self.problem.n, -1)
        places = [self.space.at == j for j in self.space.degrees]
        K = np.stack([across[:, at] @ gradient[:, at].T for at in places], axis=-1)
        if np.abs(point.entries).max() <= REAL * np.abs(self.whole.target).max():
            return None  # the zero function
        size = float(np.abs(self.whole.right).max()) * max(self.space.degrees)
        pair = critical_pair(self.coefficients, self.space.degrees, C, K, size)
        if pair is None:
            return None
        proof = point.certificate and Certificate(point.certificate.radius, False, False, PROOF)
        W = np.outer(pair.scales, u)
        a = pair.outer[0]
        seen = NeuronPoint(W, a, point.entries, point.signature, proof)
        return ApartNetwork(pair.outer, W, seen, family, pair.still)


def apart_kind(problem: Problem, item: ApartNetwork, net: Network) -> str:
    """A saddle where networks of the same function have a slope, or the loss bends down."""
    if not item.still:
        return "saddle"
    values = np.linalg.eigvalsh(problem.hessian(net))
    return "saddle" if values[0] < -REAL * float(np.abs(values).max()) else "degenerate"
