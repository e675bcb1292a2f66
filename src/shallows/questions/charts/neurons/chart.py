"""Charts of polynomial activations by their neurons: with and without bias, a trained or fixed.

Strata are numbers of neurons that are different and in use. With a trained, a network with fewer has idle ones; with a
fixed, none is idle, but neurons can coincide, and their weights add up: each partition of them is a stratum, and where
the activation is flat at w = 0 (`constants`) any of them may also be constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from shallows.mathematics.same_points import is_among
from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.algebraic import NO_TARGET
from shallows.questions.charts.isolation import require_isolated
from shallows.questions.charts.neuron_limits.ends import has_searched_limits
from shallows.questions.charts.neuron_limits.one_neuron_limits import Limits, one_neuron_limits
from shallows.questions.charts.neuron_limits.reached import unlisted
from shallows.questions.charts.neuron_limits.searched_limits import searched_limits
from shallows.questions.charts.neuron_limits.strata import beyond_search
from shallows.questions.charts.neuron_limits.tangent_limits import has_tangent_limits, tangent_limits
from shallows.questions.charts.neuron_limits.two_neuron_limits import has_two_neuron_limits, two_neuron_limits
from shallows.questions.charts.neurons import fixed_excluded
from shallows.questions.charts.neurons.apart import apart_kind
from shallows.questions.charts.neurons.assembly import assembled
from shallows.questions.charts.neurons.beside_constant import (
    WITHOUT_CONSTANTS,
    WITHOUT_MIRRORED,
    has_constants_beside,
    has_mirrored_beside,
)
from shallows.questions.charts.neurons.beside_constant_strata import add_beside_constant
from shallows.questions.charts.neurons.constants import (
    any_constants,
    constant_network,
    constant_neurons,
)
from shallows.questions.charts.neurons.double_roots import (
    WITHOUT_SLOPES,
    double_root_networks,
    has_double_roots,
    leaves_slopes_out,
)
from shallows.questions.charts.neurons.exact import exact_stratum
from shallows.questions.charts.neurons.excluded import is_excludable, one_neuron_stratum
from shallows.questions.charts.neurons.found import Found
from shallows.questions.charts.neurons.groups import Arrangement, arrangements
from shallows.questions.charts.neurons.idle import network, zero_network
from shallows.questions.charts.neurons.kinds import Placed
from shallows.questions.charts.neurons.line_folds import (
    PAIR,
    WITHOUT_FOLDS,
    fold_stratum,
    has_folds,
    leaves_folds_out,
)
from shallows.questions.charts.neurons.on_one_line import (
    has_line_stratum,
    leaves_lines_out,
    line_stratum,
)
from shallows.questions.charts.neurons.one_root import by_roots
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.neurons.singular import examine_ends
from shallows.questions.charts.neurons.stratum import (
    NeuronStratum,
    neuron_stratum,
    own_neuron,
)
from shallows.questions.charts.neurons.task import Task
from shallows.questions.charts.neurons.weightless import NOT_AT_REST, placed
from shallows.questions.charts.neurons.wide import charted_beside, charted_width
from shallows.questions.charts.neurons.wide_fixed import (
    charted_groups,
    is_wide_fixed,
    leaves_groups_out,
    without_groups,
)
from shallows.questions.charts.neurons.wide_line import is_cubic, is_wide_line
from shallows.questions.charts.neurons.wide_points import NO_FIT, has_wide_points, wide_points
from shallows.questions.charts.outputs.neuron_system import OutputSpaces
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.questions.charts.result import Chart
from shallows.support.progress import status_line

#: What is proved about a point that a formula gives, a rounding or two of rational numbers off.
FORMULA = "a rational number, rounded"


def neurons_chart(
    problem: Problem,
    certify: bool,
    seed: int,
    progress: bool = False,
    method: str = "homotopy",
    charted: Callable[[Problem], Chart] | None = None,
) -> Chart:
    """All critical points of a problem with a polynomial activation and one output, by "homotopy" or "exact".

    `charted` makes charts of powers, which limits of one trained neuron are.
    """
    if not is_wide_fixed(problem):
        require_isolated(problem, own_neuron(problem), charted_width(problem))
    engine = exact_stratum if method == "exact" else neuron_stratum
    task = Task(problem, PolynomialSpace.of(problem), certify, seed, progress, engine)
    if problem.outer is None:
        _trained(task)
    else:
        _fixed(task)
    limits, found = _limits(task, charted), task.found
    if limits is not None:
        found.placed = _beside_networks(found.placed, limits.placed)
        found.notes += limits.notes
        known = limits.closed and not (limits.optional and found.escaped)
        found.levels += [limits.completeness] if known or not limits.optional else []
        found.limits, found.searched = known or (limits.searched and found.limits), limits.searched
        if limits.searched and not found.limits:
            found.left_out += [*beyond_search(problem), *unlisted(problem, task.space, found.placed, seed)]
    return assembled(problem, task.space, found, method)


def _limits(task: Task, charted: Callable[[Problem], Chart] | None) -> Limits | None:
    """What is known of the limits of trained neurons; None where nothing is looked for."""
    problem, space, certify, seed, progress = task.problem, task.space, task.certify, task.seed, task.progress
    found = task.found
    if problem.outer is None and problem.width == 1 and charted is not None:
        return one_neuron_limits(problem, space, charted)
    if not task.by_paths or not space.right.any():
        return None
    if has_tangent_limits(problem):
        with status_line("limits: two merged neurons", progress) as tell:
            return tangent_limits(problem, space, certify, seed, tell)
    if has_two_neuron_limits(problem):
        return two_neuron_limits(problem, space, certify, seed, progress)
    known = has_wide_points(problem) and (found.limits or NO_FIT not in found.notes)
    if known or not has_searched_limits(problem):
        return None
    return searched_limits(problem, space, certify, seed, progress)


def _beside_networks(networks: list[Placed], limits: list[Placed]) -> list[Placed]:
    """Limits that are no networks, after these: a constant is one, though neurons at infinity tend to it as well."""
    listed = list(networks)
    for limit in limits:
        entries = limit.point.entries
        size = POINT_ERROR * float(np.abs(entries).max())
        same = [i for i, item in enumerate(networks) if is_among(entries, [item.point.entries], size)]
        for i in same:
            if limit.kind == "saddle":
                listed[i] = replace(listed[i], kind="saddle")
        if not same:
            listed.append(limit)
    return listed


def _trained(task: Task) -> None:
    problem, space, found = task.problem, task.space, task.found
    _add_zero(task)
    if not any(space.exact.right):
        found.notes.append(NO_TARGET)
        found.limits = is_wide_line(problem)
        return
    for r in range(1, charted_width(problem) + 1):
        words = f"rank {r} of {charted_width(problem)}"
        if task.by_paths and task.certify and is_excludable(problem, r):
            with status_line(words, task.progress) as tell:
                stratum = one_neuron_stratum(problem, space, task.seed, tell)
        else:
            stratum = task.stratum(words, r)
        _add(task, space, by_roots(problem, space, r, stratum, task.certify), r, None)
    _add_constant(problem, space, found)
    if not (has_line_stratum(problem, 1) or leaves_lines_out(problem)):
        add_constants_beside(task)
    if task.by_paths and has_line_stratum(problem, 1):
        _add_lines(task)
    if leaves_slopes_out(problem):
        found.left_out.append(WITHOUT_SLOPES)
    if has_double_roots(problem):
        pairs = double_root_networks(problem, space, task.certify)
        found.placed += [Placed(point, network(problem, point.W, point.a)) for point in pairs]
        found.notes.append(
            f"rank 2, of a slope with two double roots: {len(pairs)} real, roots of polynomials"
        )
    if task.by_paths and has_folds(problem):
        with status_line(f"rank {PAIR}, folds", task.progress) as tell:
            folds = fold_stratum(problem, space, task.certify, task.seed, tell)
        _add(task, space, folds, PAIR, None)
    elif leaves_folds_out(problem) or has_folds(problem):
        found.left_out.append(WITHOUT_FOLDS)
    if has_wide_points(problem):
        found.take(wide_points(problem, space, found.placed))


def _add_zero(task: Task) -> None:
    """The zero function, where some neuron of it is critical."""
    neuron, found = task.neuron, task.found
    zero = zero_network(task.problem, neuron, task.space.right)
    found.count(0, 1)
    if zero is None:
        found.notes.append(
            "the zero function is no critical network: no w was found with E[p(w·x + b) y] = 0"
        )
        return
    proof = Certificate(0.0, True, True, "exact")
    nothing = np.zeros((0, neuron.n)), np.zeros(0), np.zeros(len(task.space.right))
    found.placed.append(Placed(NeuronPoint(*nothing, (0, 0, 0), proof), zero))


def add_constants_beside(task: Task) -> None:
    """Networks with a constant beside others, or what is left out: a neuron at w = 0, or a pair of mirror images."""
    problem = task.problem
    constants, mirrored = has_constants_beside(problem), has_mirrored_beside(problem)
    if not (constants or mirrored) or (is_wide_line(problem) and is_cubic(problem)):
        return
    if task.by_paths and charted_beside(problem):
        add_beside_constant(task)
    elif problem.bias or not is_wide_line(problem):
        task.found.left_out += [WITHOUT_CONSTANTS] * constants + [WITHOUT_MIRRORED] * mirrored


def _add_lines(task: Task) -> None:
    """Critical networks of two neurons with parallel weights, where paths of two neurons do not lead to them."""
    problem, space, found = task.problem, task.space, task.found
    with status_line("parallel weights", task.progress) as tell:
        lines = line_stratum(problem, OutputSpaces((space,)), np.eye(1), task.certify, task.seed, tell)
    found.notes += lines.notes
    found.levels.append(lines.completeness)
    found.count(2, lines.count)
    for item in lines.beside([item.point.entries for item in found.placed]):
        net = network(problem, item.W, item.A[0])
        kind = "saddle" if problem.width > 2 else apart_kind(problem, item, net)  # an idle neuron descends
        found.placed.append(Placed(item.point, net, item.family, kind=kind))


def _add_constant(problem: Problem, space: PolynomialSpace, found: Found) -> None:
    """The best constant, where a neuron at w = 0 is one that stays: where p is flat, or the loss, E[r x] = 0."""
    if not (space.at == 0).any():
        return
    place = int(np.flatnonzero(space.at == 0)[0])
    exact = space.exact.right[place] / space.exact.gram[place, place]
    value, rest = float(exact), space.exact.gram[place] * exact - space.exact.right
    constants = [c for c in constant_neurons(problem) if c.value]
    if not rest[space.at == 1].any():
        constants = constants or any_constants(problem)
    if not constants or not value:
        return  # none, or the zero function
    bound = found.bounds.get(1)
    found.count(1, 1)
    found.bounds[1] = None if bound is None else bound + 1
    entries = space.constant(value)
    net, kind = constant_network(problem, value, constants)
    proof = Certificate(_ulp(value), True, value != 0.0, FORMULA)
    point = NeuronPoint(
        constants[0].w[None], np.array([value / constants[0].value]), entries, (1, 0, 0), proof
    )
    near = POINT_ERROR * abs(value)
    others = [
        item for item in found.placed if item.family or not is_among(item.point.entries, [entries], near)
    ]
    found.placed = [*others, Placed(point, net, kind=kind)]


def _ulp(value: float) -> float:
    return float(2 * np.spacing(abs(value)))


def _add(
    task: Task, space: PolynomialSpace, stratum: NeuronStratum, rank: int, item: Arrangement | None
) -> None:
    """Take over a stratum's points and families, critical for the target of this space."""
    problem, found = task.problem, task.found
    found.notes += stratum.notes
    found.levels.append(stratum.completeness)
    found.escaped += stratum.escaped
    found.count(rank, stratum.count)
    found.bounds[rank] = stratum.bound if rank not in found.bounds else None
    examined = examine_ends(space, stratum.system, stratum.singular, stratum.found)
    found.count(rank, examined.regular)
    still = 0.0 if item is None else item.constant[0]

    def made(point: NeuronPoint) -> Network:
        if item is None:
            return network(problem, point.W, point.a)
        resting = [item.at_rest(group, point.W) for group in item.weightless]
        return item.network(problem, point.W, [w for w in resting if w is not None])

    for point in [*stratum.found, *examined.points]:
        found.placed.append(Placed(point, made(point), None, still))
    for family in examined.families:
        found.placed.append(Placed(family.point, made(family.point), family, still))
    found.notes += examined.notes(rank)


def _fixed(task: Task) -> None:
    problem, found = task.problem, task.found
    most = charted_groups(problem) if is_wide_fixed(problem) else problem.width
    for item in arrangements(problem):
        rank, (constant,) = len(item.groups), item.constant
        if rank > most:
            continue
        if rank == 0:
            _add_still(task, item)
            continue
        own, outer = task.space.less(task.space.constant(constant)), np.array(item.weights)[:, 0]
        words = f"{rank} different neurons"
        if task.by_paths and task.certify and fixed_excluded.is_excludable(problem, outer):
            with status_line(words, task.progress) as tell:
                stratum = fixed_excluded.fixed_stratum(problem, own, outer, task.seed, tell)
        else:
            stratum = task.stratum(words, rank, own, outer)
        _add(task, own, stratum, rank, item)
    if is_wide_fixed(problem):
        found.left_out += [without_groups(most)] * leaves_groups_out(problem)
        found.take(wide_points(problem, task.space, found.placed))


def _add_still(task: Task, item: Arrangement) -> None:
    """The constant function of neurons that are constant, or that cancel where they are at rest."""
    space, found, (constant,) = task.space, task.found, item.constant
    entries = space.constant(constant)
    nothing = np.zeros((0, task.neuron.n))
    way = placed(task.problem, item, nothing, (space.gram @ entries - space.right)[None])
    if way.network is None:
        found.levels.append(way.level)
        found.notes.append(f"{'the constant' if constant else 'the zero function'} {NOT_AT_REST}")
        return
    found.count(0, 1)
    proof = None if item.restless else Certificate(_ulp(constant), True, True, FORMULA)
    point = NeuronPoint(nothing, np.zeros(0), entries, (0, 0, 0), proof)
    found.placed.append(Placed(point, way.network))
