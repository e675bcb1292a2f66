"""Limits of two trained neurons without bias where the powers at both ends are next to each other, as in z² + z³.

Such a neuron a p(w·x) with p = Σ c_j z^j, j = j₁, j₁ + 1, …, d − 1, d (any between) and j₁ > 0, may have w at infinity
or at zero without the set of functions ending there: with w = ρu it is a smooth image of a circle of ρ over each
direction u, one to one also to first order. So limits of pairs of neurons that are none are those of two that merge:

    α p(w·x) + (v·x) p′(w·x),

2n + 1 dimensions, the boundary between pairs of real neurons and of complex ones. Weights ±1/2t + α/2 at w ± tv make
α ψ + Dψ[v] + t²(α D²ψ[v, v]/2 + D³ψ[v, v, v]/6) + …, and e(D²ψ[v, v]) = 0 at a critical one, e the slope of the loss:
it is a local minimum if it is one among such limits and e(D³ψ[v, v, v]) > 0.

They are solved for in the coordinates of `tangent_map`, from a member among metrics of the data's kind: rotation-
invariant data have 6 where others have 22 (z² + z³, two inputs), 60 where others have 160 (z + z² + z³). The paths of a
generic metric that are too many run to infinity on the way to that member, u to a direction with u·u = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.same_points import PointSet
from shallows.model.activations import PolynomialActivation
from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.detours import Detours
from shallows.questions.charts.continuation.equations import Complex, Member
from shallows.questions.charts.continuation.generic_members import starting_member
from shallows.questions.charts.continuation.lost_paths import Settled, settle
from shallows.questions.charts.neuron_limits.one_neuron_limits import Limits
from shallows.questions.charts.neuron_limits.tangent_map import MergedPairEquations, Tangent, TangentMap
from shallows.questions.charts.neurons.balanced import BalancedNeurons, blocks_of_degrees
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.kinds import Placed
from shallows.questions.charts.neurons.metrics import RotationInvariantMetrics
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.real import NeuronPoint, sort_neurons
from shallows.questions.charts.points.stratum import POINT_ERROR, REAL
from shallows.support.checks import Array
from shallows.support.progress import Shown

#: How near to its limit a network is that stands for one.
NEARLY = 1e-3
#: Random coordinates in which paths are followed, the next where some end has large ones, or is lost for that.
TURNS = 3
#: Inputs of rotation-invariant data up to which a member among their metrics is solved.
MOST_INPUTS = 2
#: A tangent vector of a smaller share of the function is none: a limit of lower rank. A neuron of a smaller share of
#: the typical size is one at zero, and one that is larger by as much is one at infinity: neither is critical for
#: targets that have all powers.
NO_TANGENT = 1e-8


def has_tangent_limits(problem: Problem) -> bool:
    """Whether all limits of a problem are those of merged neurons, and are charted here.

    Under rotation-invariant data in two inputs: in three 11 of the 1,745 paths from a generic metric are lost on their
    way to infinity (z² + z³; 99 limits are left), which takes minutes and says nothing.

    With a constant there are others: of 1 + z² + z³, neurons ±εu + … with outer weights ±y/2ε³ leave B + (u·x)(v·x) +
    y(u·x)³ for any v, which descents come to.
    """
    activation = problem.activation
    if not isinstance(activation, PolynomialActivation) or problem.outer is not None or problem.bias:
        return False
    if problem.width != 2 or problem.n < 2 or problem.outputs > 1:
        return False
    powers = np.flatnonzero(activation.coefficients).tolist()
    if len(powers) < 2 or not powers[0]:
        return False
    data, degree = problem.data, activation.degree
    round_ = all(data.rotation_invariance(j) is not None for j in range(1, degree + 1))
    if round_ and problem.n > MOST_INPUTS:
        return False
    return bool(powers[1] - powers[0] == 1 and powers[-1] - powers[-2] == 1)


@dataclass(frozen=True, eq=False)
class _Setting:
    """A problem in balanced, turned coordinates: u = frame u′, s = unit · c_j s′."""

    problem: Problem
    space: PolynomialSpace
    special: RotationInvariantMetrics | None
    frame: Array
    unit: float
    member: Member

    @classmethod
    def of(cls, problem: Problem, space: PolynomialSpace, seed: int) -> _Setting:
        even = BalancedNeurons.of(problem, space)
        turn = np.linalg.qr(np.random.default_rng([seed, 7]).standard_normal((problem.n, problem.n)))[0]
        P = blocks_of_degrees(turn, space.degrees)
        g = np.real(even.member.g) @ P
        if even.special is None:
            gram = P.T @ even.member.gram @ P
            member = Member.of((gram + gram.T) / 2, g)
        else:
            member = Member(even.special, even.member.u, g)
        return cls(problem, space, even.special, even.frame @ turn, even.unit, member)

    @property
    def factors(self) -> tuple[float, ...]:
        """c_j of the powers that p has."""
        assert isinstance(self.problem.activation, PolynomialActivation)
        return tuple(float(self.problem.activation.coefficients[j]) for j in self.space.degrees)

    def system(self, map_: TangentMap) -> NeuronSystem:
        """The critical equations in the problem's coordinates, for proofs."""
        return NeuronSystem(NeuronEquations(map_.neuron, 1, outer=((1.0,),)), self.space.exact)

    def moved(self, equations: MergedPairEquations, x: Complex) -> tuple[TangentMap, Complex]:
        """In the problem's coordinates, by the largest entry of u, and r between 0 and 1 where it is real."""
        own = equations.map.tangent(x)
        u = self.frame @ own.u
        tangent = Tangent(u, self.unit * (self.frame @ own.v), own.ends, self.unit * own.weights)
        c = int(np.argmax(np.abs(u)))
        side = -1 if float(np.real(own.ends[1] / own.ends[0] * u[c])) < 0 else 1
        map_ = TangentMap(self.problem.n, self.space.degrees, self.factors, c, side)
        return map_, map_.parameters(tangent)


def tangent_limits(
    problem: Problem, space: PolynomialSpace, certify_points: bool, seed: int, tell: Shown = False
) -> Limits:
    """All critical limits of two merged neurons, marked, with their kinds."""
    equations = MergedPairEquations(problem.n, space.degrees)
    setting, run = _followed(problem, space, equations, seed, tell)
    points = PointSet(run.finite.points, invariants=equations.tensors).points
    groups: dict[TangentMap, list[Complex]] = {}
    for x in points:
        if np.abs(x.imag).max() <= REAL * np.abs(x).max():
            map_, own = setting.moved(equations, x)
            groups.setdefault(map_, []).append(own)
    placed, ends = [], 0
    for map_, those in groups.items():
        for point in sort_neurons(setting.system(map_), np.array(those), certify_points, tell).found:
            tangent = map_.tangent(point.W[0])
            at_end = np.abs(tangent.ends).min() <= NO_TANGENT * np.abs(tangent.ends).max()
            item = None if at_end else _placed(setting, tangent, point)
            placed += [] if item is None else [item]
            ends += bool(at_end)
    words = f"{len(points)} complex critical points"
    said = [
        (run.singular.count, "singular ends, not listed"),
        (ends, "critical limits that merge at zero or at infinity, not listed"),
    ]
    notes = run.notes("limits, two merged neurons", words, *said)
    closed = run.completeness != "sampled" and not (run.singular.count or run.at_infinity or ends)
    return Limits(placed, run.completeness, notes, closed, optional=True)


def _followed(
    problem: Problem, space: PolynomialSpace, equations: MergedPairEquations, seed: int, tell: Shown
) -> tuple[_Setting, Settled]:
    """The ends of all paths, in the first coordinates in which all have regular ones, or else most."""
    runs = []
    for turn in range(TURNS):
        setting = _Setting.of(problem, space, seed + turn)
        start = starting_member(equations, setting.special, Detours, tell)
        regular = partial(_regular, setting, equations)
        run = settle(Detours(equations, start, setting.member, seed, tell, regular))
        runs.append((setting, run))
        if run.finite.count == len(start.points):
            break
    return max(runs, key=lambda each: (each[1].completeness != "sampled", each[1].finite.count))


def _regular(
    setting: _Setting, equations: MergedPairEquations, ends: Complex
) -> tuple[Complex, NDArray[np.bool_]]:
    """Ends that look singular for being far out, but are proved regular."""
    moved = [setting.moved(equations, x) for x in ends]
    roots = [certify(setting.system(map_), x[None]).roots[0] for map_, x in moved]
    return ends, np.array([root is not None for root in roots])


def _placed(setting: _Setting, tangent: Tangent, point: NeuronPoint) -> Placed | None:
    """A real limit and its kind."""
    problem, space, n = setting.problem, setting.space, setting.problem.n
    at, weight, along = tangent.of_neuron(space.degrees)
    w, alpha, v = np.real(at), float(np.real(weight)), np.real(along)
    neuron = Neuron.of_degrees(space.degrees, n)
    c = np.asarray(setting.factors)[np.searchsorted(space.degrees, space.at)]
    if np.abs(c * (v @ neuron.slopes(w))).max() <= NO_TANGENT * np.abs(point.entries).max():
        return None
    e = space.gram @ point.entries - space.right
    third = _third(neuron, w, v / np.linalg.norm(v)) * c
    slope = float(e @ third) / max(float(np.abs(third).max()), REAL)
    size = POINT_ERROR * float(np.abs(space.right).max())
    kind = "local minimum" if slope > size else "degenerate"
    kind = "degenerate" if point.signature[1] else kind
    kind = "saddle" if point.signature[2] or slope < -size else kind
    t = NEARLY * float(np.linalg.norm(w) / np.linalg.norm(v))
    W = np.array([w + t * v, w - t * v])
    a = np.array([alpha / 2 + 1 / (2 * t), alpha / 2 - 1 / (2 * t)])
    limit = NeuronPoint(W, a, point.entries, point.signature, point.certificate, True)
    return Placed(limit, Network(W, a, problem.activation), kind=kind)


def _third(neuron: Neuron, w: Array, v: Array) -> Array:
    """D³ψ(w)[v, v, v], exactly for polynomials: the coefficient of t³ in ψ(w + tv), six times."""
    nodes = np.arange(neuron.degree + 1) - neuron.degree / 2
    values = neuron.values(w + nodes[:, None] * v)
    return np.asarray(6 * np.polynomial.polynomial.polyfit(nodes, values, neuron.degree)[3])
