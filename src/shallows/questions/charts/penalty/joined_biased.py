"""One neuron with a bias, several outputs and trained weights under the orthogonality penalty.

The penalty sees the length of w alone, which a takes back: with w ≠ 0 it is 1, the penalty γ(n − 1), and critical
points are those without penalty. A neuron with w = 0 is a constant, whose bias is free to grow while a shrinks; then it
is only the penalty that sees w, and falls: a saddle. Where the best function of all is a constant the infimum is the
limit of neurons of length 1 whose biases grow. Neurons of outer weight 0 are common zeros of all slopes
(`joined_zeros`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from shallows.mathematics.signature import signature
from shallows.mathematics.tensors.coordinates import slope_matrices
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.questions.charts.outputs.parallel import best_norms
from shallows.questions.charts.penalty.joined_zeros import SEARCHED, common_zeros
from shallows.questions.charts.points.point import CriticalFamily, CriticalPoint
from shallows.questions.charts.points.rows import ChartRow, points_in_order
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.questions.charts.result import Chart
from shallows.support.errors import InvalidProblem

#: A neuron whose w is this share of its bias is a constant: points are known to ten digits.
CONSTANT = 1e-8
#: The bias of the network that stands for a limit, a multiple of the length of w.
FAR = 1e4
ZEROS = "neurons of outer weight 0 and length 1 that are common zeros of all slopes"
GROWING = "the best function is a constant: a neuron of length 1 needs a bias without bound"


def joined_biased_chart(problem: Problem, charted: Callable[[Problem], Chart]) -> Chart:
    """The chart with penalty from that without it."""
    if problem.width > 1:
        raise InvalidProblem(
            f"{problem.width} neurons with biases, {problem.outputs} outputs and a penalty: lengths of neurons are "
            "determined by the angles between their w, and outputs by (b, w), one input more. Two inputs and a "
            "constant are three, in which two neurons without bias have 217 complex critical points already under "
            "rotation-invariant data, which (1, x) is not; in one input all w are parallel, and lengths are not "
            "determined: a set of dimension one for every critical function. "
            'Fix: width=1, bias=False, orthogonality=0, or method="descent" (sampled).'
        )
    norm = problem.norm_neuron
    plain = charted(Problem(problem.target, problem.data, 1, problem.activation, norm_neuron=norm, bias=True))
    rows = [_row(problem, point) for point in plain.critical]
    best = plain.critical[0]
    growing = best.rank == 1 and best.kind == "global minimum" and rows[0].kind == "saddle"
    if growing:
        rows.append(_limit(problem, best))
    zeros = list(_without_weight(problem))
    rows = sorted(rows + zeros, key=lambda row: (row.loss, row.rank))
    notes = (*plain.notes, *([SEARCHED] if zeros else []), *([GROWING] if growing else []))
    return replace(
        plain,
        critical=points_in_order(problem, rows),
        attained=False if growing else None,
        notes=notes,
        problem=problem,
    )


def _row(problem: Problem, point: CriticalPoint) -> ChartRow:
    """A point without penalty as one with it."""
    net, n = point.network, problem.n
    length = float(np.linalg.norm(net.W))
    assert net.bias is not None
    constant = not point.rank or length <= CONSTANT * float(np.abs(net.bias).max())
    if not constant:
        net = Network(
            net.W / length, np.asarray(net.a) * length**2, net.activation, net.norm, net.bias / length
        )
    positive, zero, negative = point.signature
    family = (point.description, ()) if isinstance(point, CriticalFamily) else None
    return ChartRow(
        net,
        point.loss + problem.orthogonality * (n - (not constant)),
        point.rank,
        (positive + (not constant), zero, negative),
        "saddle" if constant else point.kind,
        point.certificate,
        point.dimension,
        family=family,
    )


def _limit(problem: Problem, point: CriticalPoint) -> ChartRow:
    """The best constants, as the limit of a neuron of length 1."""
    net = point.network
    assert net.bias is not None
    w = np.eye(problem.n)[:1]
    A = np.asarray(net.a) * float(net.bias[0]) ** 2 / FAR**2
    near = Network(w, A, net.activation, net.norm, [FAR])
    positive, zero, negative = point.signature
    loss = point.loss + problem.orthogonality * (problem.n - 1)
    return ChartRow(near, loss, 1, (positive + 1, zero, negative), "global minimum", None, 0, True)


def _without_weight(problem: Problem) -> Iterator[ChartRow]:
    """The zero function with a neuron of length 1 at common zeros of the slopes."""
    right = OutputsLoss.of(problem.homogeneous()).right.astype(np.float64)
    slopes = -slope_matrices(right, problem.n + 1)
    for zeros in common_zeros(slopes, np.eye(problem.n + 1), 1, constants=1):
        v, a = zeros.V[0], np.zeros((problem.outputs, 1))
        norm = best_norms(problem) if problem.norm_neuron else 0.0
        net = Network(v[None, 1:], a, problem.activation, norm, v[:1])
        kind = "saddle" if slopes.any() else "global minimum"
        family = (ZEROS, ()) if zeros.dimension else None
        seen = signature(np.linalg.eigvalsh(problem.hessian(net)), POINT_ERROR)
        yield ChartRow(net, problem.loss(net), 1, seen, kind, None, zeros.dimension, family=family)
