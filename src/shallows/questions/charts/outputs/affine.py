"""Affine neurons without bias, p(z) = c₀ + c₁z: linear networks on (1, x), in closed form at every width.

A neuron a p(w·x) is a ⊗ (c₀, c₁w) on (1, x). With a trained, S = AW̃, the first column of W̃ all c₀, is any matrix of
rank below the width, and of the width itself those with S e₀ ≠ 0: a turn in R^r makes the first column of a factor W̃
constant unless it is zero. So the chart is that of linear networks with a bias (`linear`), in which

- a point of full rank with S e₀ = 0 is a limit: outer weights shrink while neurons grow;
- one of lower rank with S e₀ = 0 is a network where some k with k₀ ≠ 0 is in the kernel of the slope E = (S − T)C: a
  neuron outside of the rows of S has to be at rest as well.

With a fixed the constants are known, and the loss is convex in W.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shallows.mathematics.numerical_rank import rank_of
from shallows.model.activations import Power, polynomial_of
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.equivalent_power import AT_INFINITY, NEARLY
from shallows.questions.charts.outputs.assembly import assembled
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.questions.charts.outputs.point import OutputPoint
from shallows.questions.charts.points.point import Certificate, Points, Reread
from shallows.questions.charts.points.stratum import POINT_ERROR, Counts
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array

#: What a chart says where the zero function, or another one of low rank, has no critical network.
AT_REST_NOWHERE = "{} of rank {} is no critical network: E[p(w·x) r] = 0 for no w, r its residual"


def affine_chart(problem: Problem, of_powers: Callable[[Problem], Chart]) -> Chart:
    """The chart of affine neurons without bias; `of_powers` makes that of linear ones."""
    if problem.outer is not None:
        return _convex(problem)
    linear = Problem(problem.target, problem.data, problem.width, Power(1), bias=True)
    chart = of_powers(linear)
    on_all = linear.homogeneous()
    target, gram = on_all._optimum[0], on_all.gram()
    points, rows = chart.critical, []
    for i in range(len(points)):
        net = points[i].network
        S = np.atleast_2d(net.a) @ np.column_stack([np.asarray(net.bias), net.W])
        turned = _turned(S, target, gram) if points[i].dimension else None
        S = S if turned is None else turned
        made = _factored(S, (S - target) @ gram, points[i].rank, problem.width)
        rows.append(made if made is None or turned is None else replace(made, turned=True))
    kept = np.array([row is not None for row in rows])
    limit = np.array([row is not None and row.limit for row in rows])
    table = replace(points.table, limit=limit)
    critical = Points(table, _Read(points.maker, problem, rows), problem).where(kept)
    least = (table.kind == "global minimum") & kept
    missing = [AT_REST_NOWHERE.format("a function", points[int(i)].rank) for i in np.flatnonzero(~kept)]
    return replace(
        chart,
        critical=critical,
        problem=problem,
        notes=(*chart.notes, *missing),
        attained=bool((least & ~limit).any()) if least.any() else chart.attained,
    )


@dataclass(frozen=True)
class _Factors:
    """S = AW̃ with ones in the first column of W̃; of a `limit` nearly so. `turned`: another member of a family."""

    A: Array
    W: Array
    limit: bool = False
    turned: bool = False


def _factored(S: Array, slope: Array, rank: int, width: int) -> _Factors | None:
    """A critical network with the function S; None where there is none."""
    U, values, Vt = np.linalg.svd(S)
    B, C = U[:, :rank] * values[:rank], Vt[:rank]
    first = float(np.linalg.norm(C[:, 0]))
    if first > AT_INFINITY:
        turn = _onto_ones(C[:, 0] / first)
        share = first / np.sqrt(rank)
        B, C = B @ turn.T * share, turn @ C / share
        idle = width - rank
        return _Factors(np.pad(B, ((0, 0), (0, idle))), np.concatenate([C, np.repeat(C[:1], idle, axis=0)]))
    if rank == width:
        C[:, 0] = NEARLY
        return _Factors(B * NEARLY, C / NEARLY, True)
    rest = np.linalg.lstsq(slope[:, 1:], -slope[:, 0])[0]
    at_rest = np.append(1.0, rest)
    if np.abs(slope @ at_rest).max() > POINT_ERROR * np.abs(slope).max() * np.abs(at_rest).max():
        return None
    A = np.concatenate([B, -B.sum(axis=1, keepdims=True)], axis=1)
    W = np.concatenate([C, np.zeros((width - rank, S.shape[1]))]) + at_rest
    return _Factors(np.pad(A, ((0, 0), (0, width - rank - 1))), W)


def _onto_ones(unit: Array) -> Array:
    """The reflection that takes a unit vector to a multiple of (1, …, 1)."""
    normal = unit - 1 / np.sqrt(len(unit))
    size = float(normal @ normal)
    return np.eye(len(unit)) - (2 / size * np.outer(normal, normal) if size else 0.0)


def _turned(S: Array, target: Array, gram: Array) -> Array | None:
    """Of a family with S e₀ = 0 a member for which it is not, if there is one: T e₀ has a part among equal singular
    values of which some are kept."""
    if np.abs(S[:, 0]).max() > AT_INFINITY * np.abs(S).max():
        return None
    squares, vectors = np.linalg.eigh(target @ gram @ target.T)
    kept = _columns(S)
    apart = np.diff(squares) > POINT_ERROR * np.abs(squares).max()
    for places in np.split(np.arange(len(squares)), np.flatnonzero(apart) + 1):
        equal = vectors[:, places]
        chosen = equal @ (equal.T @ kept)
        towards = equal @ (equal.T @ target[:, 0])
        size, number = float(np.linalg.norm(towards)), _columns(chosen).shape[1]
        if 0 < number < len(places) and size > AT_INFINITY * np.linalg.norm(target[:, 0]):
            away = chosen - np.outer(towards, towards @ chosen) / size**2
            whole = np.column_stack(
                [_columns(kept - chosen), np.linalg.svd(away)[0][:, : number - 1], towards / size]
            )
            return np.asarray(whole @ whole.T @ target)
    return None


def _columns(matrix: Array) -> Array:
    """An orthonormal basis of what the columns span; their sizes are about one, or that of S."""
    U, values, _ = np.linalg.svd(matrix)
    return np.asarray(U[:, : rank_of(values, AT_INFINITY, float(np.abs(matrix).max()))])


def _convex(problem: Problem) -> Chart:
    """Fixed outer weights: one critical function. V = c₁W solves AᵀA V C′ = Aᵀ(T′C′ + (T e₀ − c₀A1) mᵀ), m = E[x]."""
    assert problem.outer is not None
    A, constant = problem.outer, _coefficients(problem)[0]
    on_all = Problem(problem.target, problem.data, problem.width, Power(1), A, bias=True).homogeneous()
    target, gram = on_all._optimum[0], on_all.gram()
    gap = target[:, :1] - constant * A.sum(axis=1, keepdims=True)
    V = np.linalg.pinv(A) @ (target[:, 1:] + gap @ np.linalg.solve(gram[1:, 1:], gram[1:, :1]).T)
    W = np.column_stack([np.full(problem.width, constant), V])
    rank, reach = _columns(A @ W).shape[1], _columns(A).shape[1]
    point = OutputPoint(A, W, (A @ W).ravel(), (reach * problem.n, 0, 0))
    made = assembled(
        on_all,
        OutputsLoss.of(on_all),
        [point],
        {rank: Counts(1, 1, "a convex problem in W")},
        "proved",
        [],
        method="closed-form",
        closed=True,
        ranks=[rank],
    )
    rows = [_Factors(A * constant, W / constant)]
    critical = Points(made.critical.table, _Read(made.critical.maker, problem, rows), problem)
    return replace(made, critical=critical, problem=problem)


def _coefficients(problem: Problem) -> tuple[float, float]:
    constant, slope = polynomial_of(problem.activation).coefficients
    return float(constant), float(slope)


@dataclass(frozen=True)
class _Read(Reread):
    """A maker of points on (1, x), read as networks of affine neurons."""

    problem: Problem
    rows: Sequence[_Factors | None]

    def network(self, i: int) -> Network:
        """A network that realises it; near it, for a limit."""
        row, problem = self.rows[i], self.problem
        assert row is not None
        constant, slope = _coefficients(problem)
        A = row.A / constant if problem.outer is None else problem.outer
        outer = A[0] if problem.outputs == 1 else A
        return Network(row.W[:, 1:] * (constant / slope), outer, problem.activation)

    def certificate(self, i: int) -> Certificate | None:
        """What is proved about it; another member of a family has none."""
        row = self.rows[i]
        return None if row is not None and row.turned else super().certificate(i)
