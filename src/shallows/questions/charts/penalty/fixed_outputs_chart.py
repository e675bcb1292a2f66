"""Charts of squares with fixed outer weights of several outputs, beside norm neurons or under a penalty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from shallows.mathematics.same_points import PointSet
from shallows.model.problem import Problem
from shallows.questions.charts.chart_of_rows import Gathered, chart_of_rows
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.continuation.detours import Detours, Regular, proved_regular
from shallows.questions.charts.continuation.equations import Complex, Member
from shallows.questions.charts.continuation.generic_members import generic_member
from shallows.questions.charts.continuation.lost_paths import FROM_GENERIC, UNCERTIFIED, settle
from shallows.questions.charts.isolation import INSTEAD, TURNED, has_parallel
from shallows.questions.charts.neurons.assembly import SCOPE
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.neuron import Outer
from shallows.questions.charts.neurons.real import half_hessian, sort_neurons
from shallows.questions.charts.neurons.singular import NeuronFamily, examine_ends
from shallows.questions.charts.outputs.point import seen_ends
from shallows.questions.charts.outputs.scope import is_closed
from shallows.questions.charts.penalty.fixed_outputs import FixedOutputs, in_use, squares
from shallows.questions.charts.penalty.joined_loss import JoinedLoss
from shallows.questions.charts.penalty.joined_members import joined_start
from shallows.questions.charts.penalty.members import PinnedDetours
from shallows.questions.charts.penalty.metrics import Law, PenalisedMetrics
from shallows.questions.charts.points.kinds import Levels, hessian_kind, kinds_of
from shallows.questions.charts.points.point import EXACT, Certificate
from shallows.questions.charts.points.rows import FoundRow, in_order
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Shown, status_line
from shallows.support.tolerances import TINY

NOT_KNOWN = "not known beforehand; all choices of so many neurons"
#: A neuron shorter than this share of the longest adds less than 10⁻¹² to a matrix: it is none.
NO_NEURON = 1e-6


def fixed_outputs_chart(problem: Problem, certify_points: bool, seed: int, progress: bool) -> Chart:
    """All critical networks, by homotopy, one choice of neurons in use after the other."""
    assert problem.outer is not None
    loss, found = JoinedLoss.of(problem), Gathered()
    _require_different(problem)
    for chosen in in_use(problem.outer):
        _require_isolated(problem, _weights(problem, chosen))
    nothing = np.zeros((problem.width, problem.n))
    found.rows.append(_row(loss, nothing, np.zeros(len(loss.target)), (0, 0, 0), EXACT))
    found.count(0, 1, "the zero network", expected=1)
    for chosen in in_use(problem.outer):
        with status_line(f"neurons {', '.join(str(i + 1) for i in chosen)}", progress) as tell:
            _stratum(loss, chosen, certify_points, seed, tell, found)
    return _chart(loss, found)


def _weights(problem: Problem, chosen: tuple[int, ...]) -> Outer:
    assert problem.outer is not None
    return tuple(tuple(problem.outer[:, i].tolist()) for i in chosen)


def _require_different(problem: Problem) -> None:
    """Refuse, under a penalty, outer weights of zero, and parallel ones beside others."""
    assert problem.outer is not None
    if not problem.orthogonality:
        return
    if not problem.outer.any(axis=0).all():
        raise InvalidProblem(
            "A neuron whose fixed outer weights are all zero is seen by the penalty alone: beside others any w of "
            f"length 1 that is orthogonal to them is critical, a sphere in {problem.n} inputs and no point. Fix: leave "
            f"the neuron out, or {INSTEAD}."
        )
    if has_parallel(_weights(problem, tuple(range(problem.width)))):
        raise InvalidProblem(
            "Under the penalty some fixed outer weights are parallel and others are not: turning two neurons of "
            "parallel weights into each other changes no output, WᵀW alone, so that networks critical for some target "
            "satisfy one more condition, on W, for each such pair; they are several families, of which paths from one "
            "solution reach one. Fix: weights no two of which are parallel, or all, orthogonality=0, or "
            f"{INSTEAD}."
        )


def _require_isolated(problem: Problem, weights: Outer) -> None:
    """Refuse networks of which infinitely many are seen alike, with the rank that shows it."""
    equations = FixedOutputs.of(problem.n, weights, problem.constants, problem.norm_neuron)
    rank, count = equations.seen(bool(problem.orthogonality)), equations.unknowns
    if rank == count:
        return
    seen = "their outputs" + (", up to norm neurons," if problem.norm_neuron else "")
    seen += " and WᵀW" if problem.orthogonality else ""
    raise InvalidProblem(
        f"{len(weights)} squares with fixed outer weights in {problem.n} inputs: infinitely many networks are seen "
        f"alike{TURNED if has_parallel(weights) else ''}. The derivative of {seen} by the {count} weights has "
        f"rank {rank} at almost every network, so that they are sets of dimension {count - rank} and critical points "
        f"are not isolated in the weights. Fix: a smaller width, other outer weights, {INSTEAD}."
    )


def _row(
    loss: JoinedLoss,
    W: Array,
    entries: Array,
    seen: tuple[int, int, int],
    proof: Certificate | None,
    family: NeuronFamily | None = None,
) -> FoundRow:
    problem = loss.problem
    assert problem.outer is not None
    net = loss.network(problem.outer, W)
    norms = problem.outputs if problem.norm_neuron else 0
    rank = int(np.any(W != 0, axis=1).sum())
    dimension, about = (0, None) if family is None else (family.dimension, (family.description, ()))
    return FoundRow(entries, net, rank, (seen[0] + norms, *seen[1:]), "", proof, dimension, about)


@dataclass(frozen=True, eq=False)
class _Even:
    """A stratum in coordinates of size about one: a = unit a′, w = stretch w′."""

    weights: Outer
    gram: Array
    rights: Array
    penalty: float
    last: Array
    stretch: float

    @classmethod
    def of(cls, loss: JoinedLoss, weights: Outer) -> _Even:
        G, b = loss.outputs.gram.astype(float), loss.outputs.right.astype(float)
        unit = float(np.abs(weights).max())
        scale = float(np.abs(b).max() / np.abs(G).max()) / unit
        square = max(scale, 1.0) if loss.penalty else (scale or 1.0)
        first, second = unit**2 * square * G, loss.penalty * square
        whole = max(float(np.abs(first).max()), second)
        even = tuple(tuple(a / unit for a in row) for row in weights)
        last = loss.right[loss.size :] / whole
        return cls(even, first / whole, unit * b / whole, second / whole, last, float(np.sqrt(square)))


def _stratum(
    loss: JoinedLoss, chosen: tuple[int, ...], certify_points: bool, seed: int, tell: Shown, found: Gathered
) -> None:
    problem, weights = loss.problem, _weights(loss.problem, chosen)
    own = FixedOutputs.of(problem.n, weights, problem.constants, problem.norm_neuron)
    system, even = NeuronSystem(own, loss.exact), _Even.of(loss, weights)
    regular = proved_regular(system, lambda ends: ends * even.stretch)
    run = settle(_ways(loss, even, seed, tell, regular))
    points = _whole(run.finite.points, len(chosen)) * even.stretch
    points = PointSet(points, invariants=own.tensors).points
    result = sort_neurons(system, points, certify_points, tell)
    singular = _whole(run.singular.points, len(chosen)) * even.stretch
    examined = examine_ends(loss, system, singular, result.found, lambda x: [x.real])
    for point, family in seen_ends(result.found, examined):
        W = np.zeros((problem.width, problem.n))
        W[list(chosen)] = point.W[0].reshape(len(chosen), -1)
        found.rows.append(_row(loss, W, point.entries, point.signature, point.certificate, family))
    rank = len(chosen)
    found.count(rank, len(points) + examined.regular, NOT_KNOWN)
    where = f"neurons {', '.join(str(i + 1) for i in chosen)}"
    more = (
        (result.paired, "real solutions whose neurons are not real: no real networks"),
        (result.undecided, UNCERTIFIED),
    )
    found.say(run.notes(where, FROM_GENERIC, *more) + examined.notes(rank), run.completeness)


def _ways(loss: JoinedLoss, even: _Even, seed: int, tell: Shown, regular: Regular) -> Detours:
    n, M = loss.problem.n, loss.problem.outputs
    if not loss.penalty:
        plain = NeuronEquations(squares(n), len(even.weights), M, even.weights)
        member = Member.of(even.gram, even.rights.ravel())
        return Detours(plain, generic_member(plain, tell), member, seed, tell, regular)
    law: Law = "isotropic" if loss.isotropic else "any"
    special = PenalisedMetrics(n, law, outputs=M)
    equations = FixedOutputs.of(n, even.weights)
    wanted = Member(
        special, special.of(even.gram, even.penalty), np.concatenate([even.rights.ravel(), even.last])
    )
    start = joined_start(equations, special, tell)
    return PinnedDetours(equations, start, wanted, special, seed, tell, regular)


def _whole(points: Complex, neurons: int) -> Complex:
    """Those whose neurons are all different from zero."""
    if not len(points):
        return points
    sizes = np.abs(points.reshape(len(points), neurons, -1)).max(axis=2)
    return np.asarray(points[sizes.min(axis=1) > NO_NEURON * np.maximum(sizes.max(axis=1), TINY)])


def _kind(whole: NeuronSystem, row: FoundRow) -> str:
    """By the Hessian in the weights of all neurons that outputs see, norm neurons eliminated."""
    net = row.network
    x = np.asarray(net.neurons[net.a.any(axis=0)].ravel())
    return hessian_kind(half_hessian(whole, x), row.dimension)


def _closed(problem: Problem) -> bool:
    """A penalty bounds all weights; without it as for functions, up to ‖x‖²: fewer squares than inputs."""
    if problem.orthogonality:
        return True
    assert problem.outer is not None
    independent = np.linalg.matrix_rank(problem.outer) == problem.width
    return is_closed(problem) and bool(independent or problem.width < problem.n - problem.constants)


def _chart(loss: JoinedLoss, found: Gathered) -> Chart:
    problem, rows, completeness = loss.problem, found.rows, weakest(found.levels)
    excess = loss.excess(np.array([row.entries for row in rows]))
    levels, closed = Levels(excess, loss.energy), _closed(problem)
    assert problem.outer is not None
    seen = tuple(np.flatnonzero(problem.outer.any(axis=0)).tolist())
    whole = NeuronSystem(FixedOutputs.of(problem.n, _weights(problem, seen)), loss.exact)
    known = closed and completeness != "sampled"
    kind = kinds_of(levels, rows, partial(_kind, whole), known, among=("local minimum",))
    return chart_of_rows(
        problem,
        in_order(rows, excess, problem.floor, kind, [None] * len(rows)),
        found.counts,
        completeness=completeness,
        notes=found.notes,
        scope="" if closed else SCOPE,
    )
