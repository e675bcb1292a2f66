"""Limits of two trained neurons without bias where the powers at both ends are next to each other, as in z² + z³.

Such a neuron a p(w·x) with p = Σ c_j z^j, j = j₁, j₁ + 1, …, d − 1, d (any between) and j₁ > 0, may have w at infinity
or at zero without the set of functions ending there: with w = ρu it is a smooth image of a circle of ρ over each
direction u, one to one also to first order. So limits of pairs of neurons that are none are those of two that merge:

    α p(w·x) + (v·x) p′(w·x),

2n + 1 dimensions, the boundary between pairs of real neurons and of complex ones. Weights ±1/2t + α/2 at w ± tv make
α ψ + Dψ[v] + t²(α D²ψ[v, v]/2 + D³ψ[v, v, v]/6) + …, and e(D²ψ[v, v]) = 0 at a critical one, e the slope of the loss:
it is a local minimum if it is one among such limits and e(D³ψ[v, v, v]) > 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from shallows.mathematics.same_points import PointSet
from shallows.mathematics.tensors import coordinates
from shallows.model.activations import PolynomialActivation
from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.closure.equations import TermEquations
from shallows.questions.charts.closure.term_map import Term
from shallows.questions.charts.continuation.detours import Detours
from shallows.questions.charts.continuation.equations import Complex, Member
from shallows.questions.charts.continuation.generic_members import generic_member
from shallows.questions.charts.continuation.lost_paths import Settled, settle
from shallows.questions.charts.neurons.apart import ApartMap
from shallows.questions.charts.neurons.balanced import BalancedNeurons
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.kinds import Placed
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.one_neuron_limits import Limits
from shallows.questions.charts.neurons.real import NeuronPoint, sort_neurons
from shallows.questions.charts.points.stratum import POINT_ERROR, REAL
from shallows.support.checks import Array
from shallows.support.progress import Shown

#: How near to its limit a network is that stands for one.
NEARLY = 1e-3
#: Units of w in which paths are followed, the next where some are lost or too far out to be told from infinity.
STRETCHES = (1.0, 3.0)
#: A tangent vector of a smaller share of the function is none: a limit of lower rank.
NO_TANGENT = 1e-8


def has_tangent_limits(problem: Problem) -> bool:
    """Whether all limits of a problem are those of merged neurons, and are charted here.

    Rotation-invariant data have fewer, and paths that run to infinity do not tell limits there from their metric.
    """
    activation = problem.activation
    if not isinstance(activation, PolynomialActivation) or problem.outer is not None or problem.bias:
        return False
    powers = np.flatnonzero(activation.coefficients).tolist()
    if len(powers) < 2 or not powers[0] or problem.width != 2 or problem.n < 2 or problem.outputs > 1:
        return False
    round_ = all(problem.data.rotation_invariance(j) is not None for j in range(1, activation.degree + 1))
    return bool(powers[1] - powers[0] == 1 and powers[-1] - powers[-2] == 1 and not round_)


@dataclass(frozen=True)
class TangentMap(ApartMap):
    """(w, α, v) ↦ α ψ(w) + Dψ(w)[v], ψ all monomials of these degrees, times `factors` of the degrees, if any.

    >>> TangentMap(1, (2, 3)).tensors(np.array([[2.0, 1.0, 10.0]]))      # 4 + 2·2·10 and 8 + 3·4·10
    array([[ 44., 128.]])
    """

    n: int
    degrees: tuple[int, ...]
    factors: tuple[float, ...] = ()

    @property
    def degree(self) -> int:  # type: ignore[override]
        """The highest power of w."""
        return max(self.degrees)

    @property
    def entries(self) -> int:
        """N."""
        return sum(coordinates.dimension(self.n, j) for j in self.degrees)

    @property
    def unknowns(self) -> int:
        """2n + 1."""
        return 2 * self.n + 1

    @cached_property
    def terms(self) -> list[Term]:
        """All summands of all entries."""
        found, entry = [], 0
        factors = self.factors or (1.0,) * len(self.degrees)
        for j, factor in zip(self.degrees, factors, strict=True):
            for row in coordinates.exponents(self.n, j).tolist():
                own = [(x, int(e)) for x, e in enumerate(row) if e]
                found.append(Term(entry, Fraction(factor), (*own, (self.n, 1))))
                for x, e in own:
                    lower = tuple((y, k - (y == x)) for y, k in own if k - (y == x))
                    found.append(Term(entry, Fraction(factor) * e, (*lower, (self.n + 1 + x, 1))))
                entry += 1
        return found


@dataclass(frozen=True)
class TangentEquations(TermEquations):
    """The critical equations of limits of two merged neurons."""

    n: int
    degrees: tuple[int, ...]

    @cached_property
    def map(self) -> TangentMap:
        """x ↦ s."""
        return TangentMap(self.n, self.degrees)


def tangent_limits(
    problem: Problem, space: PolynomialSpace, certify_points: bool, seed: int, tell: Shown = False
) -> Limits:
    """All critical limits of two merged neurons, marked, with their kinds."""
    even = BalancedNeurons.of(problem, space)
    equations = TangentEquations(problem.n, space.degrees)
    run, stretch = _followed(equations, even, space, seed, tell)
    points = PointSet(run.finite.points, invariants=equations.tensors).points
    map_ = TangentMap(problem.n, space.degrees, _factors(problem, space))
    own = np.array([_restored(even, stretch, problem.n, x) for x in points]).reshape(-1, map_.unknowns)
    system = NeuronSystem(NeuronEquations(map_.neuron, 1, outer=((1.0,),)), space.exact)
    found = sort_neurons(system, own, certify_points, tell).found
    placed = [item for point in found if (item := _placed(problem, space, point)) is not None]
    words = f"{len(points)} complex critical points"
    notes = run.notes("limits, two merged neurons", words, (run.singular.count, "singular ends, not listed"))
    closed = run.completeness != "sampled" and not (run.singular.count or run.at_infinity)
    return Limits(placed, run.completeness, notes, closed)


def _factors(problem: Problem, space: PolynomialSpace) -> tuple[float, ...]:
    assert isinstance(problem.activation, PolynomialActivation)
    return tuple(float(problem.activation.coefficients[j]) for j in space.degrees)


def _followed(
    equations: TangentEquations, even: BalancedNeurons, space: PolynomialSpace, seed: int, tell: Shown
) -> tuple[Settled, float]:
    """The ends of all paths, in the first units of w in which none is lost or far out, and these units."""
    runs = []
    for stretch in STRETCHES:
        units = stretch**space.at
        gram, g = even.member.gram * np.outer(units, units), np.real(even.member.g) * units
        size = float(np.abs(gram).max())
        member = Member.of(gram / size, g / size)
        run = settle(Detours(equations, generic_member(equations, tell), member, seed, tell))
        runs.append((run, stretch))
        if not (run.lost or run.at_infinity or run.singular.count):
            break
    return min(runs, key=lambda each: (each[0].completeness == "sampled", -each[0].finite.count))


def _restored(even: BalancedNeurons, stretch: float, n: int, x: Complex) -> Complex:
    """(w, α, v) in the problem's coordinates."""
    frame = stretch * even.frame
    return np.concatenate([frame @ x[:n], even.unit * x[n : n + 1], even.unit * (frame @ x[n + 1 :])])


def _placed(problem: Problem, space: PolynomialSpace, point: NeuronPoint) -> Placed | None:
    """A real limit and its kind."""
    n = problem.n
    w, alpha, v = np.split(point.W[0], [n, n + 1])
    neuron = Neuron.of_degrees(space.degrees, n)
    c = np.asarray(_factors(problem, space))[np.searchsorted(space.degrees, space.at)]
    tangent = c * (v @ neuron.slopes(w))
    if np.abs(tangent).max() <= NO_TANGENT * np.abs(point.entries).max():
        return None
    e = space.gram @ point.entries - space.right
    third = _third(neuron, w, v / np.linalg.norm(v)) * c
    slope = float(e @ third) / max(float(np.abs(third).max()), REAL)
    size = POINT_ERROR * float(np.abs(space.right).max())
    kind = "local minimum" if slope > size else "degenerate"
    kind = "degenerate" if point.signature[1] else kind
    kind = "saddle" if point.signature[2] or slope < -size else kind
    t = NEARLY * float(np.linalg.norm(w) / np.linalg.norm(v))
    W, a = (
        np.array([w + t * v, w - t * v]),
        np.array([alpha[0] / 2 + 1 / (2 * t), alpha[0] / 2 - 1 / (2 * t)]),
    )
    net = Network(W, a, problem.activation)
    limit = NeuronPoint(W, a, point.entries, point.signature, point.certificate, True)
    return Placed(limit, net, kind=kind)


def _third(neuron: Neuron, w: Array, v: Array) -> Array:
    """D³ψ(w)[v, v, v], exactly for polynomials: the coefficient of t³ in ψ(w + tv), six times."""
    nodes = np.arange(neuron.degree + 1) - neuron.degree / 2
    values = neuron.values(w + nodes[:, None] * v)
    return np.asarray(6 * np.polynomial.polynomial.polyfit(nodes, values, neuron.degree)[3])
