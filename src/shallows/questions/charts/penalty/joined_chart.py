"""Charts of several outputs with trained weights under the orthogonality penalty (`one_more_output`).

- *One neuron*: the critical networks without penalty, of length 1.
- *Two neurons*: by homotopy, and limits in which they merge: those without penalty, where P is the projection onto the
  one direction that is left. Neurons û ± tv̂, v̂ orthogonal to û, have κ² = 1 − 4t² + …, so that inwards the penalty
  changes by −2γt² beside what the loss does.
- *Three and more in two inputs*: their squares span all forms, so that all slopes vanish and P = I: the target alone.
- *Outer weights 0* (`joined_zeros`).

Networks with fewer neurons in use than width and inputs allow are saddles: (P − I)v = −v for v orthogonal to them, and
a neuron εv of outer weight 0 lowers the penalty. Weights W are bounded by the penalty, and where outer weights grow
neurons merge, or shrink: then the penalty falls to first order with their length, so that such limits are no minima.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from shallows.mathematics.same_points import is_among
from shallows.mathematics.tensors import coordinates
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.chart_of_rows import Gathered, chart_of_rows
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.real import seen_point
from shallows.questions.charts.outputs.limits import output_limits
from shallows.questions.charts.outputs.point import OutputPoint
from shallows.questions.charts.penalty.joined_loss import JoinedLoss
from shallows.questions.charts.penalty.joined_stratum import joined_stratum
from shallows.questions.charts.penalty.joined_zeros import SEARCHED, common_zeros
from shallows.questions.charts.penalty.one_direction import one_direction_chart
from shallows.questions.charts.penalty.one_more_output import entries_of, network_neuron
from shallows.questions.charts.penalty.trained import NO_LIMITS
from shallows.questions.charts.points.kinds import Levels, kind_at, kinds_of
from shallows.questions.charts.points.point import EXACT, Certificate, CriticalFamily
from shallows.questions.charts.points.rows import FoundRow, attained, in_order
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Shown, status_line

NOT_KNOWN = "not known beforehand for several outputs with a penalty"
FLAT = "the target is zero: P is any projection, and nothing else is seen"
ANY_PROJECTION = "P any projection of this rank"
ZEROS = "orthonormal neurons of outer weight 0 that are common zeros of all slopes"
#: Two neurons are charted in so many inputs: 217 complex critical points under rotation-invariant data in three.
MOST_INPUTS = 3
#: The directions of the target's neurons in two inputs: 60 degrees apart, none on an axis.
FIRST, THREE = 0.25, 3


@dataclass(frozen=True, eq=False)
class _Neurons:
    """Outer weights and neurons in use of a network, or of one near a limit."""

    loss: JoinedLoss
    A: Array
    W: Array

    def network(self) -> Network:
        """The network."""
        return self.loss.network(self.A, self.W)


def _row(
    loss: JoinedLoss,
    A: Array,
    W: Array,
    entries: Array,
    seen: tuple[int, int, int],
    certificate: Certificate | None = None,
    dimension: int = 0,
    words: str = "",
    kind: str = "",
) -> FoundRow:
    """What is listed; of a limit entries are its own."""
    norms = loss.problem.outputs if loss.problem.norm_neuron else 0
    own, about = _Neurons(loss, A, W), (words, ()) if dimension else None
    return FoundRow(entries, own, len(W), (seen[0] + norms, *seen[1:]), kind, certificate, dimension, about)


def joined_chart(
    problem: Problem, charted: Callable[[Problem], Chart], certify: bool, seed: int, progress: bool
) -> Chart:
    """All critical networks; `charted` makes charts without penalty, or of one output."""
    loss = JoinedLoss.of(problem)
    if loss.outputs.rank == 1 and problem.width > 1:
        return one_direction_chart(problem, loss, charted)
    _require_charted(problem, loss)
    found = Gathered()
    _zero_network(loss, found)
    if not loss.outputs.rank:
        _projections(loss, found)
    else:
        _one_neuron(loss, charted, found)
        if problem.width > 1 and problem.n > 1:
            with status_line("two neurons and the penalty", progress) as tell:
                _two_neurons(loss, certify, seed, tell, found)
        if problem.width > 2 and problem.n == 2:
            _target(loss, found)
        _without_weight(loss, found)
        found.notes.append(NO_LIMITS)
    return _chart(loss, found)


def _require_charted(problem: Problem, loss: JoinedLoss) -> None:
    n, width = problem.n, problem.width
    if problem.norm_neuron and width >= n > 1 and loss.outputs.rank:
        raise InvalidProblem(
            f"{width} neurons in {n} inputs have WᵀW = I among their networks, where the squares of the neurons sum up "
            "to the norm ‖x‖²: adding one and the same vector to all outer weights changes outputs by what the norm "
            f"neurons take back, so that critical networks are sets of dimension {problem.outputs} there. Fix: a "
            f'width below {n}, norm_neuron=False, or method="descent" (sampled).'
        )
    rank = loss.outputs.rank
    if rank and ((width > 2 and n > 2) or (width == 2 and n > MOST_INPUTS)):
        raise InvalidProblem(
            f"{width} neurons in {n} inputs with {problem.outputs} outputs and a penalty: the penalty couples the "
            "angles of neurons, so that their complex critical points are many: two neurons with two outputs have 15 "
            "in two inputs and 217 in three under rotation-invariant data, and they are found by monodromy. Fix: "
            'width=1, or 2 in three inputs, orthogonality=0, or method="descent" (sampled).'
        )


def _zero_network(loss: JoinedLoss, found: Gathered) -> None:
    problem = loss.problem
    A, W = np.zeros((problem.outputs, 0)), np.zeros((0, problem.n))
    found.rows.append(_row(loss, A, W, np.zeros(len(loss.target)), (0, 0, 0), EXACT, kind="saddle"))
    found.count(0, 1, "the zero network", expected=1)


def _projections(loss: JoinedLoss, found: Gathered) -> None:
    """A target of zero: s = 0, and P any projection."""
    n, full, M = loss.problem.n, min(loss.problem.width, loss.problem.n), loss.problem.outputs
    found.notes.append(FLAT)
    for r in range(1, full + 1):
        W, A = np.eye(n)[:r], np.zeros((M, r))
        dimension = r * (n - r)
        seen = (r * M + r * (r + 1) // 2, dimension, 0)
        kind = "global minimum" if r == full else "saddle"
        words = ANY_PROJECTION if dimension else ""
        found.rows.append(_row(loss, A, W, entries_of(A, W), seen, EXACT, dimension, words, kind))
        found.count(r, int(not dimension), ANY_PROJECTION)


def _one_neuron(loss: JoinedLoss, charted: Callable[[Problem], Chart], found: Gathered) -> None:
    """Those of the chart without penalty, with neurons of length 1."""
    problem = loss.problem
    plain = charted(
        Problem(problem.target, problem.data, 1, problem.activation, norm_neuron=problem.norm_neuron)
    )
    full = min(problem.width, problem.n) == 1
    norms = problem.outputs if problem.norm_neuron else 0
    for point in plain.critical:
        if not point.rank:
            continue
        net = point.network
        length = float(np.linalg.norm(net.W))
        A, W = np.asarray(net.a).reshape(-1, 1) * length**2, net.W / length
        words = point.description if isinstance(point, CriticalFamily) else ""
        positive, zero, negative = point.signature
        kind = point.kind if full else "saddle"
        seen = (positive + 1 - norms, zero, negative)
        proof, dimension = point.certificate, point.dimension
        found.rows.append(_row(loss, A, W, entries_of(A, W), seen, proof, dimension, words, kind))
    found.count(1, plain.complex_count[1], plain.expected_source[1], plain.expected_count[1])
    found.say(plain.notes, plain.completeness)


def _two_neurons(loss: JoinedLoss, certify: bool, seed: int, tell: Shown, found: Gathered) -> None:
    problem = loss.problem
    stratum = joined_stratum(loss, certify, seed, tell)
    known = [row.entries for row in found.rows]
    near = POINT_ERROR * float(np.abs(loss.target).max())
    for A, W, point, family in stratum.found:
        if is_among(point.entries, known, near):
            continue
        dimension, words = (0, "") if family is None else (family.dimension, family.description)
        proof = point.certificate
        found.rows.append(_row(loss, A, W, point.entries, point.signature, proof, dimension, words))
    found.count(2, stratum.count, NOT_KNOWN)
    found.say(stratum.notes, stratum.completeness)
    if problem.width > 2:
        return
    bare = Problem(problem.target, problem.data, 2, problem.activation, norm_neuron=problem.norm_neuron)
    limits = output_limits(bare, loss.outputs, (2,), certify, seed, tell)
    found.rows += [_limit(loss, point) for point in limits.found]
    found.say(limits.notes, limits.completeness)


def _limit(loss: JoinedLoss, point: OutputPoint) -> FoundRow:
    """A limit of two merged neurons with P the projection onto its direction, and its kind."""
    w, across, outer = _merged(point)
    P = coordinates.monomials(w[None], 2)[0]
    rate = float(np.abs(np.outer(outer, coordinates.monomials(across[None], 2)[0])).max())
    inward = point.inward * rate - 2 * loss.penalty
    positive, zero, negative = point.signature
    entries = np.concatenate([point.entries, P])
    kind = "saddle" if negative or inward < 0 else "local minimum"
    (A, W), seen = _shortened(point), (positive + 1, zero, negative)
    return replace(_row(loss, A, W, entries, seen, point.certificate, kind=kind), limit=True)


def _merged(point: OutputPoint) -> tuple[Array, Array, Array]:
    """ŵ, v̂ and p of p ⊗ ŵ² + q ⊗ ŵv̂ from neurons w ± tv near it."""
    w, v = point.W.sum(axis=0) / 2, (point.W[0] - point.W[1]) / 2
    along = float(w @ v) / float(w @ w)
    across = v - along * w
    odd = 2 * (point.A[:, 0] - point.A[:, 1])
    outer = float(w @ w) * (point.A.sum(axis=1) + along * odd)
    return w / np.linalg.norm(w), across / np.linalg.norm(across), np.asarray(outer)


def _shortened(point: OutputPoint) -> tuple[Array, Array]:
    """The network near a limit with the lengths that the penalty asks for: 1/(1 + κ²)."""
    sizes = np.linalg.norm(point.W, axis=1)
    kappa = float(point.W[0] @ point.W[1]) / float(sizes.prod())
    lengths = np.sqrt(1 / (1 + kappa**2)) / sizes
    return point.A / lengths**2, point.W * lengths[:, None]


def _target(loss: JoinedLoss, found: Gathered) -> None:
    """The target itself beside P = I, three neurons in two inputs."""
    N, M = loss.block, loss.problem.outputs
    angles = np.pi * (FIRST + np.arange(THREE)) / THREE
    W = np.sqrt(2 / THREE) * np.column_stack([np.cos(angles), np.sin(angles)])
    near = POINT_ERROR * float(np.abs(loss.target).max())
    if is_among(loss.target, [row.entries for row in found.rows], near):
        return
    A = np.linalg.solve(coordinates.monomials(W, 2).T, loss.target[: loss.size].reshape(M, N).T).T
    seen = ((M + 1) * N, 0, 0)
    found.rows.append(_row(loss, np.asarray(A), W, loss.target, seen, kind="global minimum"))
    found.count(THREE, 1, "the target, and P = I", expected=1)


def _without_weight(loss: JoinedLoss, found: Gathered) -> None:
    """Neurons of outer weight 0 beside the zero network, and beside one neuron."""
    problem, n = loss.problem, loss.problem.n
    top = min(problem.width, n)
    none = POINT_ERROR * float(np.abs(loss.right).max())
    rows = []
    for row in found.rows:
        if row.rank > 1 or row.dimension or row.limit:
            continue
        slopes = loss.slopes(row.entries)
        slopes = slopes if np.abs(slopes).max() > none else np.zeros_like(slopes)
        own = row.network
        frame = np.linalg.svd(own.W)[2][row.rank :].T if row.rank else np.eye(n)
        for m in range(1, min(top, 2) - row.rank + 1):
            for zeros in common_zeros(slopes, frame, m):
                W = np.concatenate([own.W, zeros.V])
                A = np.concatenate([own.A, np.zeros((problem.outputs, m))], axis=1)
                kind = "saddle" if slopes.any() or len(W) < top else "global minimum"
                entries, seen = entries_of(A, W), _seen(loss, A, W)
                rows.append(_row(loss, A, W, entries, seen, None, zeros.dimension, ZEROS, kind))
    found.rows += rows
    found.notes += [SEARCHED] if rows else []


def _seen(loss: JoinedLoss, A: Array, W: Array) -> tuple[int, int, int]:
    """The signature in all weights of these neurons."""
    own = NeuronEquations(network_neuron(loss.problem.n, len(W), len(A)), 1, outer=((1.0,),))
    x = np.concatenate([A.T, W], axis=1).ravel()
    return seen_point(NeuronSystem(own, loss.exact), x).signature


def _judged(full: bool, row: FoundRow) -> str:
    """By the signature, in all weights; with an idle neuron a saddle."""
    return kind_at(row.signature, row.dimension) if full else "saddle"


def _chart(loss: JoinedLoss, found: Gathered) -> Chart:
    problem, rows, completeness = loss.problem, found.rows, weakest(found.levels)
    excess = loss.excess(np.array([row.entries for row in rows]))
    levels = Levels(excess, loss.energy)
    full = problem.width <= 2
    kind = kinds_of(levels, rows, partial(_judged, full), completeness != "sampled")
    made = in_order(rows, excess, problem.floor, kind, [None] * len(rows))
    return chart_of_rows(
        problem,
        made,
        found.counts,
        completeness=completeness,
        notes=found.notes,
        attained=attained(made),
    )
