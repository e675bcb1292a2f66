"""Charts of several outputs by their neurons: any polynomial activation, with and without bias, a trained or fixed.

Σᵢ aᵢ ⊗ ψ(wᵢ) under I ⊗ G. With a trained strata are numbers of neurons in use. With a fixed neurons can coincide, and
their weights add up, or be constant where the activation is flat at w = 0: each way to do so is a stratum.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from shallows.mathematics.exact.rational_arrays import fractions
from shallows.mathematics.same_points import is_among, most_real
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.algebraic import NO_TARGET
from shallows.questions.charts.chart_of_rows import Gathered, chart_of_rows
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.continuation.detours import Detours, proved_regular
from shallows.questions.charts.continuation.equations import Complex, SolvedMember
from shallows.questions.charts.continuation.generic_members import starting_member
from shallows.questions.charts.continuation.lost_paths import FROM_GENERIC, UNCERTIFIED, settle
from shallows.questions.charts.isolation import require_isolated
from shallows.questions.charts.neurons.apart import ApartStratum, apart_kind
from shallows.questions.charts.neurons.balanced import BalancedNeurons
from shallows.questions.charts.neurons.constants import constant_network, constant_neurons
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.filled import is_direct, without_folds
from shallows.questions.charts.neurons.groups import Arrangement, arrangements
from shallows.questions.charts.neurons.idle import network
from shallows.questions.charts.neurons.kinds import kind_of
from shallows.questions.charts.neurons.members import start_for
from shallows.questions.charts.neurons.neuron import Neuron, Outer
from shallows.questions.charts.neurons.on_one_line import APART, has_line_stratum, line_stratum
from shallows.questions.charts.neurons.real import NeuronPoint, sort_neurons
from shallows.questions.charts.neurons.singular import NeuronFamily, examine_ends
from shallows.questions.charts.neurons.stratum import own_neuron
from shallows.questions.charts.neurons.weightless import NOT_AT_REST, placed
from shallows.questions.charts.outputs.neuron_system import (
    OutputSpaces,
    independent,
    made_real,
    network_system,
)
from shallows.questions.charts.outputs.point import seen_ends
from shallows.questions.charts.outputs.scope import is_closed, scope_of
from shallows.questions.charts.outputs.shared_outer import OWN_OUTER, has_shared_stratum, shared_stratum
from shallows.questions.charts.points.kinds import Levels, kinds_of
from shallows.questions.charts.points.point import EXACT, Certificate
from shallows.questions.charts.points.rows import FoundRow, in_order
from shallows.questions.charts.points.stratum import Part
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array, counted
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Shown, status_line
from shallows.support.tolerances import TINY

#: Neurons can share one direction of the outputs: sets of such networks need not be where paths end.
UNREACHED = "paths that may have left a set of critical networks, which is not listed then"
#: In one input no network is outside of what APART leaves out.
ON_ONE_LINE = (
    "in one input all neurons are polynomials of one w·x: pairs that no path leads to are not looked for"
)
#: Outer weights and neurons of a real network, its point, and the family that it stands for.
Real = tuple[Array, Array, NeuronPoint, NeuronFamily | None]
SOURCE = "not known beforehand for several outputs"
#: What neurons are whose fixed outer weights are orthogonal to all that the outputs have for a target.
NO_PULL = (
    "outer weights that see no target, so that a critical s has ‖s‖² = ⟨s, t⟩ = 0: there is none but zero"
)
#: A neuron that adds less than this share of the largest to the function is none: the rank is lower.
NO_NEURON = 1e-9
#: Least squares stop at a residual of this share: E[p(w·x + b) y_m] = 0 for all outputs, known to rounding.
VANISHES = 1e-12
#: From how many random neurons such a w is looked for.
TRIES = 40


@dataclass
class _Found(Gathered):
    """`charted` are special kinds of networks that are listed too."""

    charted: list[str] = field(default_factory=list)


def neuron_outputs_chart(
    problem: Problem, certify_points: bool, seed: int, progress: bool, method: str
) -> Chart:
    """All critical networks, by homotopy."""
    if method not in ("auto", "homotopy"):
        raise InvalidProblem(
            f"{problem.activation!r} with {problem.outputs} outputs"
            f"{' and fixed outer weights' if problem.outer is not None else ''} goes by homotopy only; method is "
            f'{method!r}. Fix: method="auto".'
        )
    spaces, found = OutputSpaces.of(problem), _Found()
    require_isolated(problem, own_neuron(problem), problem.width)
    made = _trained if problem.outer is None else _fixed
    made(problem, spaces, certify_points, seed, progress, found)
    return _chart(problem, spaces, found)


def _neuron(problem: Problem) -> Neuron:
    """ψ; a power with fixed weights has d turns."""
    neuron = own_neuron(problem)
    return replace(neuron, turns=neuron.degree) if _is_pure(problem) else neuron


def _is_pure(problem: Problem) -> bool:
    """Whether neurons are powers (w·x)ᵈ, which vanish with w."""
    return isinstance(problem.activation, Power) and not problem.bias


def _pulled(spaces: OutputSpaces, weights: Outer) -> bool:
    """Whether neurons of these outer weights, one a row, see a target: Σ_m aᵢ_m b_m is not zero for all i, exactly."""
    rights = spaces.exact.right.reshape(len(spaces.spaces), -1)
    return bool(np.any(fractions(np.array(weights)) @ rights))


def _trained(
    problem: Problem, spaces: OutputSpaces, certify_points: bool, seed: int, progress: bool, found: _Found
) -> None:
    neuron, M = _neuron(problem), problem.outputs
    zero = _vanishing(neuron, spaces.rights)
    found.count(0, 1, SOURCE)
    if zero is None:
        found.notes.append(
            "the zero function is no critical network: no w was found with E[p(w·x + b) y] = 0"
        )
    else:
        net = network(problem, zero[None], np.zeros((M, 1)))
        found.rows.append(FoundRow(np.zeros(len(spaces.target)), net, 0, (0, 0, 0), certificate=EXACT))
    if not any(spaces.exact.right):
        found.notes.append(NO_TARGET)
        return
    for r in range(1, problem.width + 1):
        with status_line(f"rank {r} of {problem.width}", progress) as tell:
            part = _stratum(problem, spaces, r, None, certify_points, seed, tell)
        _take(problem, found, r, part)
        if r == 1:
            _best_constant(problem, spaces, found)
    turn = spaces.independent
    if has_line_stratum(problem, turn.shape[1]):
        with status_line("parallel weights", progress) as tell:
            found.charted.append(APART)
            _add_apart(problem, found, line_stratum(problem, spaces, turn, certify_points, seed, tell))
    if has_shared_stratum(problem, turn.shape[1]):
        with status_line("parallel outer weights", progress) as tell:
            found.charted.append(OWN_OUTER)
            _add_apart(problem, found, shared_stratum(problem, spaces, turn, certify_points, seed, tell))


def _add_apart(problem: Problem, found: _Found, part: ApartStratum) -> None:
    """Critical networks of two neurons that paths of two neurons do not lead to."""
    found.say(part.notes, part.completeness)
    found.count(2, part.count, SOURCE)
    for item in part.beside([row.entries for row in found.rows]):
        net = network(problem, item.W, item.A)
        found.rows.append(_row(item.point, item.family, net, 2, apart_kind(problem, item, net)))


def _best_constant(problem: Problem, spaces: OutputSpaces, found: _Found) -> None:
    """The best constants, where a neuron at w = 0 is one that stays."""
    constants = [c for c in constant_neurons(problem) if c.value]
    places = np.flatnonzero(spaces.first.at == 0)
    if not constants or not len(places):
        return
    best = spaces.rights[:, places[0]] / spaces.first.gram[places[0], places[0]]
    if not best.any():
        return
    entries = spaces.constants(best.tolist())
    known = [row.entries for row in found.rows]
    if is_among(entries, known, NO_NEURON * float(np.abs(best).max())):
        return
    net, kind = constant_network(problem, best, constants)
    seen = (problem.outputs, 0, 0)
    found.rows.append(FoundRow(entries, net, 1, seen, kind))
    found.count(1, 1, SOURCE)


def _take(problem: Problem, found: _Found, rank: int, part: Part[Real]) -> None:
    found.say(part.notes, part.completeness)
    found.count(rank, part.count, SOURCE)
    found.rows += [_row(point, family, network(problem, W, A), rank) for A, W, point, family in part.found]


def _row(
    point: NeuronPoint, family: NeuronFamily | None, net: Network, rank: int, kind: str = ""
) -> FoundRow:
    dimension, about = (0, None) if family is None else (family.dimension, (family.description, ()))
    return FoundRow(point.entries, net, rank, point.signature, kind, point.certificate, dimension, about)


def _fixed(
    problem: Problem, spaces: OutputSpaces, certify_points: bool, seed: int, progress: bool, found: _Found
) -> None:
    neuron, M = _neuron(problem), problem.outputs
    for way in arrangements(problem):
        if not way.groups:
            moved = spaces.constants(way.constant)
            proof = Certificate(float(np.spacing(np.abs(moved).max(initial=1.0))), True, True, "exact")
            point = NeuronPoint(
                np.zeros((0, neuron.n)), np.zeros(0), moved, (0, 0, 0), None if way.restless else proof
            )
            part: Part[Real] = Part([(np.zeros((M, 0)), point.W, point, None)], 1, [], "proved")
        else:
            with status_line(f"{len(way.groups)} different neurons", progress) as tell:
                part = _stratum(problem, spaces, len(way.groups), way, certify_points, seed, tell)
        _take_arranged(problem, spaces, found, part, way)


def _take_arranged(
    problem: Problem, spaces: OutputSpaces, found: _Found, part: Part[Real], way: Arrangement
) -> None:
    """Take those over in which groups whose weights cancel have a place where they are critical."""
    found.say(part.notes, part.completeness)
    found.count(len(way.groups), part.count, SOURCE)
    left_out = 0
    for _, W, point, family in part.found:
        entries = point.entries.reshape(problem.outputs, -1)
        own = placed(problem, way, W, entries @ spaces.first.gram - spaces.rights)
        if own.network is None:
            found.levels.append(own.level)
            left_out += 1
        else:
            found.rows.append(_row(point, family, own.network, len(way.groups)))
    if left_out:
        found.notes.append(
            f"rank {len(way.groups)}: {counted(left_out, 'function')} of which each {NOT_AT_REST}"
        )


def _stratum(
    problem: Problem,
    spaces: OutputSpaces,
    r: int,
    way: Arrangement | None,
    certify_points: bool,
    seed: int,
    tell: Shown,
) -> Part[Real]:
    """All critical networks of r different neurons."""
    neuron, M = _neuron(problem), problem.outputs
    moved = np.zeros(len(spaces.target)) if way is None else spaces.constants(way.constant)
    left = spaces.less(moved)
    turn = np.eye(M) if way is not None else independent(left.rights)
    if not turn.shape[1]:
        return Part([], 0, [], "proved")
    even = BalancedNeurons.of(problem, spaces.first, rights=turn.T @ left.rights)
    pure = neuron.turns if even.neuron.turns == 1 else even.neuron.turns
    outer = None if way is None else way.weights
    equations = NeuronEquations(replace(even.neuron, turns=pure), r, turn.shape[1], outer)
    own = NeuronEquations(neuron, r, M, outer)
    if way is not None and _is_pure(problem) and not _pulled(left, way.weights):
        return Part([], 0, [f"rank {r}: {NO_PULL}"], "proved")
    system = network_system(neuron, r, M, outer, left.exact)

    def restored(points: Complex) -> Complex:
        A, W = even.restored(*equations.split(points))
        return own.join(A @ turn.T, W)

    regular = proved_regular(system, restored)
    run = settle(Detours(equations, _start(equations, even, tell), even.member, seed, tell, regular))
    run, how = without_folds(own, run, FROM_GENERIC)
    points = restored(run.finite.points)
    points = most_real(made_real(own, points if way is not None else _whole(own, points)), own.tensors)
    result = sort_neurons(system, points, certify_points, tell)
    singular = restored(run.singular.points)
    if way is None or _is_pure(problem):  # networks of fewer neurons are charted on their own
        singular = _whole(own, singular)
    examined = examine_ends(left, system, singular, result.found)
    escaped = run.at_infinity if r > 1 else 0
    level = "sampled" if escaped else run.completeness
    own_words = (result.undecided, UNCERTIFIED), (escaped, UNREACHED)
    notes = run.notes(f"rank {r}", how, *own_words) + examined.notes(r)
    found = []
    for point, family in seen_ends(result.found, examined):
        A, W = own.split(point.W[0].astype(np.complex128))
        found.append((A.real.T, W.real, replace(point, entries=point.entries + moved), family))
    return Part(found, len(points) + examined.regular, notes, level)


def _start(equations: NeuronEquations, even: BalancedNeurons, tell: Shown) -> SolvedMember:
    """A solved member; among special metrics by monodromy at degree 2, and from a generic metric above, where loops
    of the trace test take minutes."""
    if equations.neuron.degree == 2 or is_direct(equations):
        return start_for(equations, even.special, tell)
    return starting_member(equations, even.special, Detours, tell)


def _whole(own: NeuronEquations, points: Complex) -> Complex:
    """Those whose neurons all add something to the function."""
    if not len(points):
        return points
    A, W = own.split(points)
    terms = np.abs(own.neuron.values(W)).max(axis=-1) * np.abs(A).max(axis=-1)
    return np.asarray(points[terms.min(axis=1) > NO_NEURON * np.maximum(terms.max(axis=1), TINY)])


def _vanishing(neuron: Neuron, rights: Array) -> Array | None:
    """A real w with ψ(w)·b_m = 0 for all outputs, the origin first."""
    from scipy.optimize import least_squares

    size = max(float(np.abs(rights).max()), TINY)

    def values(w: Array) -> Array:
        return np.asarray(rights @ neuron.values(w) / size)

    rng = np.random.default_rng(0)
    for start in [np.zeros(neuron.n), *rng.standard_normal((TRIES, neuron.n))]:
        w = start if not np.abs(values(start)).max() else np.asarray(least_squares(values, start).x)
        w = (
            w
            if np.abs(values(w)).max() <= VANISHES
            else np.asarray(least_squares(values, w, xtol=VANISHES, ftol=VANISHES, gtol=VANISHES).x)
        )
        if np.abs(values(w)).max() <= VANISHES:
            return w
    return None


def _chart(problem: Problem, spaces: OutputSpaces, found: _Found) -> Chart:
    closed = is_closed(problem)
    scope = scope_of(problem, closed, found.charted)
    if problem.n == 1 and APART in scope:
        found.say([ON_ONE_LINE], "sampled")
        scope = scope_of(problem, closed, [*found.charted, APART])
    rows, completeness = found.rows, weakest(found.levels)
    excess = spaces.excess(np.array([row.entries for row in rows]).reshape(-1, len(spaces.target)))
    levels = Levels(excess, spaces.energy)
    whole = closed and completeness != "sampled" and APART not in scope
    kind = kinds_of(levels, rows, partial(kind_of, problem), whole, ("local minimum",))
    return chart_of_rows(
        problem,
        in_order(rows, excess, spaces.floor, kind, [None] * len(rows)),
        found.counts,
        completeness=completeness,
        notes=found.notes,
        scope=scope,
    )
