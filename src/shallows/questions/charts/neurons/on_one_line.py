"""Critical networks of two trained neurons with parallel weights: functions of one direction, solved, sorted, proved.

Where the powers of p leave such a network more weights than its function has dimensions, paths from generic neurons do
not lead to it: pairs of a target and such a critical network are a component apart. That is so for two powers
and several outputs (two weights more), and for three powers and one output (one more). For two powers and one output
functions are those of one neuron, real or not: two real ones compute αz + βz³ where one would need an imaginary weight.
`line_networks` says which critical functions are networks, and why these are saddles unless none of them has a slope.
In two inputs critical directions are the zeros of one polynomial (`critical_directions`), and the list is proved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shallows.mathematics.homotopy.solutions import Solution, SolutionSet
from shallows.model.activations import polynomial_of
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.equations import Complex, Member
from shallows.questions.charts.continuation.lost_paths import Settled
from shallows.questions.charts.neurons.apart import ApartNetwork, ApartStratum, Whole, apart_stratum, listed
from shallows.questions.charts.neurons.balanced import BalancedNeurons, blocks_of_degrees
from shallows.questions.charts.neurons.critical_directions import CriticalDirections, DirectionMap
from shallows.questions.charts.neurons.line_map import LineEquations, LineMap
from shallows.questions.charts.neurons.line_networks import critical_pair
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.neurons.singular import NeuronFamily, Quadratic
from shallows.questions.charts.neurons.wide_plane import is_wide_plane
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import REAL
from shallows.support.checks import Array
from shallows.support.progress import Shown

#: What is left out where networks with parallel weights are not charted.
APART = "networks no two of whose neurons are polynomials of one w·x"
#: How a critical function of one direction is proved.
PROOF = "Krawczyk, on functions of one direction"


def has_line_stratum(problem: Problem, outputs: int) -> bool:
    """Whether paths of two neurons miss those with parallel weights, and they are charted here."""
    powers = np.count_nonzero(polynomial_of(problem.activation).coefficients)
    extra = problem.outer is None and problem.width > 1 and not problem.bias and problem.n > 1
    if problem.width > 2:
        return bool(extra and powers == 2 and outputs == 1 and problem.outputs == 1)
    return bool(extra and (powers == 2 or (powers == 3 and outputs == 1)))


def leaves_lines_out(problem: Problem) -> bool:
    """Whether one output's networks with parallel weights have more weights than dimensions and are not charted.

    r of them have 2r weights, 3r with a bias, their functions J powers; with two powers they are one neuron's, real or
    not, and two parallel ones beside a third are not charted but where there are none (`wide_plane`).
    """
    if problem.outer is not None or problem.width < 2 or problem.n < 2:
        return False
    if has_line_stratum(problem, 1):
        return problem.width > 2 and not is_wide_plane(problem)
    powers = np.count_nonzero(polynomial_of(problem.activation).coefficients)
    if problem.bias:
        return bool(3 * problem.width > polynomial_of(problem.activation).degree + 1)
    return bool(powers > 2 and 2 * problem.width > powers)


def line_stratum(
    problem: Problem, whole: Whole, turn: Array, certify_points: bool, seed: int, tell: Shown = False
) -> ApartStratum:
    """All critical networks of two neurons with parallel weights.

    `whole` is the loss of all outputs; `turn` (M, M′) are orthonormal combinations of outputs that have a target.
    """
    names = "rank 2, parallel weights", "of one direction"
    exact = CriticalDirections.of(whole.first.degrees, whole.exact) if problem.n == 2 else None
    setting = _Setting.of(problem, whole.first, whole, turn, seed)
    if exact is not None:
        map_ = DirectionMap(2, whole.first.degrees, len(turn))
        run = _found(map_, exact, whole)
        return listed(_Turned(**vars(setting)), map_, whole, names, run, certify_points, tell)
    equations = LineEquations(problem.n, whole.first.degrees, turn.shape[1])
    return apart_stratum(setting, equations, whole, names, certify_points, seed, tell)


def _found(map_: DirectionMap, exact: CriticalDirections, whole: Whole) -> Settled:
    """Simple critical directions with their best C, and those that are not simple, as ends of paths would be."""
    rights = whole.right.reshape(map_.outputs, -1)
    points = map_.join(exact.u, exact.best(map_.degrees, whole.first.gram, rights))
    ends = [Solution(x, power) for x, power in zip(points, exact.multiplicities, strict=True)]
    simple, others = (
        SolutionSet(tuple(end for end in ends if (end.multiplicity > 1) is multiple), map_.unknowns)
        for multiple in (False, True)
    )
    level = "count-matched" if others.count else "proved"
    return Settled(simple, others, np.zeros(others.count, bool), 0, 0, level)


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
        return np.asarray(polynomial_of(self.problem.activation).coefficients[list(self.space.degrees)])

    def moved(self, equations: LineEquations, x: Complex) -> tuple[LineMap, Complex]:
        """In the problem's coordinates, by the largest entry of u."""
        u, C = equations.map.split(x)
        u, C = self.frame @ u, self.unit * (self.turn @ C) * self.coefficients
        map_ = LineMap(self.problem.n, self.space.degrees, len(self.turn), int(np.argmax(np.abs(u))))
        return map_, map_.join(u, C)

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


@dataclass(frozen=True, eq=False)
class _Turned(_Setting):
    """The same for critical directions that are known exactly, in the problem's own coordinates."""

    def moved(self, equations: Any, x: Complex) -> tuple[LineMap, Complex]:
        """By the largest entry of u."""
        u, C = equations.split(x)
        map_ = LineMap(2, self.space.degrees, len(self.turn), int(np.argmax(np.abs(u))))
        return map_, map_.join(u, C)
