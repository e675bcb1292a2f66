"""From found networks with several outputs to a chart: losses, kinds, norm neurons, sorting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.model.reduced_problem import identity
from shallows.questions.charts.chart_of_rows import chart_of_rows
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.questions.charts.outputs.point import OutputPoint
from shallows.questions.charts.points.kinds import ROUNDINGS, Levels
from shallows.questions.charts.points.rows import FoundRow, in_order
from shallows.questions.charts.points.stratum import POINT_ERROR, Counts
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON


@dataclass(frozen=True, eq=False)
class _Lifted:
    """Makes the network of a point, idle neurons at zero, with its norm neurons."""

    problem: Problem
    point: OutputPoint
    norms: Array

    def network(self) -> Network:
        """The network."""
        point, problem = self.point, self.problem
        W, A = np.zeros((problem.width, problem.n)), np.zeros((problem.outputs, problem.width))
        W[: point.rank], A[:, : point.rank] = point.W, point.A
        norm, outer = self.norms if problem.norm_neuron else 0.0, A[0] if problem.outputs == 1 else A
        if problem.norm_neuron and problem.constants:  # ‖x‖² is no norm neuron on (1, x)
            return Network(W[:, 1:], outer, problem.activation, norm, W[:, 0])
        return Network(W, outer, problem.activation, norm)


def assembled(
    problem: Problem,
    loss: OutputsLoss,
    found: list[OutputPoint],
    counts: dict[int, Counts],
    completeness: str,
    notes: list[str],
    *,
    method: str,
    closed: bool,
    ranks: Sequence[int] | None = None,
    scope: str = "",
) -> Chart:
    """The chart of found points; `closed` says that the lowest of them is the infimum, `ranks` are theirs."""
    gram, target = loss.gram.astype(float), problem._optimum[0]
    gaps = np.array([p.entries for p in found]).reshape(len(found), problem.outputs, -1) - target
    norms = np.zeros((len(found), problem.outputs))
    if problem.norm_neuron:
        q = identity(len(gram), problem.constants)
        image = problem.gram() @ q
        norms = -gaps @ image / float(image @ q)
    slopes = 2 * gaps @ gram
    excess = np.maximum(np.einsum("pmi,pmi->p", gaps, slopes) / 2, 0.0)
    energy = float(np.einsum("mi,ij,mj->", target, gram, target))
    rank = np.array([p.rank for p in found] if ranks is None else ranks, dtype=np.intp)
    signature = np.array([p.signature for p in found], dtype=np.intp)
    more = problem.outputs if problem.norm_neuron else 0
    levels = Levels(excess, energy)
    dimension = np.array([p.dimension for p in found], dtype=np.intp)
    idle = (rank < problem.width) & (problem.outer is None)
    limit = np.array([p.limit for p in found], dtype=bool)
    errors = _slope_errors(loss, found)
    flat = np.abs(slopes).max(axis=(1, 2)) <= errors
    inward = np.array([p.inward for p in found])
    kind = _kinds(levels, idle, signature, dimension, flat, (inward, errors), closed)
    lowest = (kind == "global minimum") & levels.same(float(np.min(excess)))
    rows = [
        FoundRow(
            point.entries,
            _Lifted(problem, point, norms[i]),
            int(rank[i]),
            (point.signature[0] + more, *point.signature[1:]),
            certificate=point.certificate,
            dimension=point.dimension,
            family=(point.description, ()) if point.dimension else None,
            limit=point.limit,
        )
        for i, point in enumerate(found)
    ]
    return chart_of_rows(
        problem,
        in_order(rows, excess, problem.floor, kind, [_tensor(problem, point) for point in found]),
        counts,
        completeness=completeness,
        method=method,
        notes=notes,
        attained=_attained(lowest, limit, closed or bool(np.any(flat & limit & (rank == problem.width)))),
        scope=scope,
    )


def _tensor(problem: Problem, point: OutputPoint) -> SymmetricTensor | None:
    """That of a single output; several have one each (`CriticalPoint.tensors`)."""
    return SymmetricTensor(point.entries, problem.n, problem.degree) if problem.outputs == 1 else None


def _attained(lowest: NDArray[np.bool_], limit: NDArray[np.bool_], known: bool) -> bool | None:
    """Whether a network is among the lowest; `known` where none but these can be: the list is that of the closure, or a
    limit that needs all neurons is the best of all functions, which no network then is."""
    if np.any(lowest & ~limit):
        return True
    return False if lowest.any() and known else None


def _slope_errors(loss: OutputsLoss, found: list[OutputPoint]) -> Array:
    """To what ∇ℓ is known at each point: where it is no more than that, the point is a minimum among all functions."""
    gram, right = loss.gram.astype(float), loss.right.astype(float)
    scale = 2 * float(np.abs(right).max(initial=0.0))
    rounding = ROUNDINGS * EPSILON * scale
    size = 2 * float(np.abs(gram).sum(axis=1).max())
    errors = [POINT_ERROR * scale if p.certificate is None else size * p.certificate.radius for p in found]
    return np.asarray(rounding + np.array(errors))


def _kinds(
    levels: Levels,
    idle: NDArray[np.bool_],
    signature: NDArray[np.intp],
    dimension: NDArray[np.intp],
    flat: NDArray[np.bool_],
    inward: tuple[Array, Array],
    closed: bool,
) -> NDArray[np.str_]:
    """With an idle neuron and ∇ℓ ≠ 0 some a ⊗ u^⊗d descends to first order, because a is free.

    `inward` are slopes from limits into the networks, and what they are off by: a limit with a loss that falls inwards
    is a saddle.
    """
    kind = np.full(len(idle), "local minimum", dtype="<U14")
    kind[signature[:, 1] > dimension] = "degenerate"
    slope, error = inward
    kind[np.abs(slope) <= error] = "degenerate"
    kind[(signature[:, 2] > 0) | idle | (slope < -error)] = "saddle"
    kind[flat] = "global minimum"
    if closed:
        lowest = levels.same(float(np.min(levels.excess)))
        kind[((kind == "local minimum") | (kind == "degenerate")) & lowest] = "global minimum"
    return kind
