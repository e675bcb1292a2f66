"""Norm neuron and bias at width ≥ n: forms in (1, x) without a constant are the boundary of what networks compute.

A form ((c, l), (l, Q)) is a network S + νq, q = ‖x‖², of n neurons: for c ≠ 0 whatever l and Q are, with ν an
eigenvalue of Q − llᵀ/c. With c → 0 and l ≠ 0 some of these run off to infinity, and it takes neurons of both signs,
and so two, to have c = 0 and l ≠ 0 (a hyperbolic plane in S). Where there are none, that is

- with fixed outer weights of one sign, for which forms are those of c > 0, or of that sign, and of c = 0 = l;
- in one input at width one, where forms are those of c ≠ 0 and of c = 0 = l,

forms without constant are limits: a hyperplane, which the loss has one critical point on. It is the infimum where the
target is not on the networks' side of it, since the loss is convex.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shallows.mathematics.exact.rational_arrays import exact_solution
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.exact_loss import ExactLoss
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.model.reduced_problem import ReducedProblem
from shallows.questions.charts.points.networks import realise, spectral_terms
from shallows.questions.charts.points.point import Certificate, Points, PointTable, Reread
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array

#: The constant of the network that stands for a limit without one, as a share of its linear part: the loss there is off
#: by about as much, and its neurons are 10⁴ times as large as the limit.
NEAR = 1e-4
#: What a chart says of it.
LIMIT = (
    "forms without a constant are limits, whose neurons and norm neuron grow and cancel: the infimum is there"
)


def with_norm(problem: ReducedProblem, net: Network, norm: float) -> Network:
    """A network of the reduced problem with the norm neuron; one on (1, x) is read as one with bias."""
    if problem.reduction.constants:
        net = net.affine()
    return Network(net.W, net.a, net.activation, norm, net.bias)


@dataclass(frozen=True)
class WithLimit(Reread):
    """A maker of points, and of a limit in the row behind them."""

    row: int
    limit: SymmetricTensor
    near: Network

    def tensor(self, i: int) -> SymmetricTensor:
        """The point, or the limit."""
        return self.limit if i == self.row else self.inner.tensor(i)

    def network(self, i: int) -> Network:
        """Its network, or one near the limit."""
        return self.near if i == self.row else self.inner.network(i)

    def certificate(self, i: int) -> Certificate | None:
        """Exact rational arithmetic, rounded, for the limit."""
        if i != self.row:
            return self.inner.certificate(i)
        radius = float(np.spacing(np.abs(self.limit.entries).max()))
        return Certificate(radius, True, True, "a linear system over the rationals")

    def escape(self, i: int) -> SymmetricTensor | None:
        """None from the limit, which is the lowest of all."""
        return None if i == self.row else self.inner.escape(i)


def with_boundary(chart: Chart, plain: ReducedProblem) -> Chart:
    """The chart with the limit that is its infimum, where there is one; and in one input bx with two neurons."""
    problem, exact = plain.original, ExactLoss.of(plain.original)
    n, target = plain.n - 1, exact.target
    c, l = target[0], target[1 : n + 1]
    if plain.width < n or plain.reduction.penalty:
        return chart
    sign = _one_sign(problem)
    if sign * c > 0 or (not sign and (c or n > 1 or not l.any())) or (sign and not c and not l.any()):
        return chart
    if n == 1 and not sign and plain.width > 1:
        return _listed(chart, plain, target.astype(np.float64), 0.0, limit=False)
    free = np.arange(1, len(target))
    best = np.zeros(len(target), dtype=object)
    best[free] = exact_solution(exact.gram[np.ix_(free, free)], exact.right[free])
    if not best[1 : n + 1].any():
        return chart  # 0 ⊕ Q is a network
    gap = best - target
    return _listed(chart, plain, best.astype(np.float64), float(gap @ exact.gram @ gap), limit=True)


def _one_sign(problem: Problem) -> int:
    """1 or −1 where all fixed outer weights that are not zero have that sign, else 0."""
    signs = set() if problem.outer is None else set(np.sign(problem.outer[0]).tolist()) - {0.0}
    return int(signs.pop()) if len(signs) == 1 else 0


def _listed(chart: Chart, plain: ReducedProblem, entries: Array, excess: float, limit: bool) -> Chart:
    """The chart with this form as its lowest point."""
    table, rank = chart.critical.table, plain.n - int(limit)
    size = len(entries)
    first = PointTable(
        np.array([excess + plain.original.floor]),
        np.array([rank]),
        np.array([[size - int(limit), 0, 0]]),
        np.array(["global minimum"]),
        np.zeros(1, np.intp),
        np.array([limit]),
    )
    kind = np.where(table.kind == "global minimum", "local minimum", table.kind) if limit else table.kind
    joined = _together(first, replace(table, kind=kind))
    places = np.concatenate([[len(table)], chart.critical.places])
    maker = WithLimit(
        chart.critical.maker, len(table), SymmetricTensor(entries, plain.n, 2), _near(plain, entries, limit)
    )
    counts: dict[str, Any] = {}
    if not limit:
        counts = {
            name: getattr(chart, name) | {rank: value}
            for name, value in (
                ("complex_count", 1),
                ("real_count", 1),
                ("expected_count", 1),
                ("expected_source", "the target itself"),
            )
        }
    return replace(
        chart,
        critical=Points(joined, maker, chart.problem, places),
        attained=not limit,
        notes=(*chart.notes, LIMIT) if limit else chart.notes,
        **counts,
    )


def _together(first: PointTable, second: PointTable) -> PointTable:
    names = ("loss", "rank", "signature", "kind", "dimension", "limit")
    return PointTable(*(np.concatenate([getattr(first, name), getattr(second, name)]) for name in names))


def _near(plain: ReducedProblem, entries: Array, limit: bool) -> Network:
    """A network with this form, or with a small constant beside it."""
    n = plain.n
    T = SymmetricTensor(entries, n, 2).to_matrix()
    if limit:
        sign = _one_sign(plain.original) or 1
        T[0, 0] = sign * NEAR * float(np.abs(T[0, 1:]).max())
        values = np.linalg.eigvalsh(T[1:, 1:] - np.outer(T[0, 1:], T[0, 1:]) / T[0, 0])
        norm = float(values[0] if sign > 0 else values[-1])
    else:
        norm = 0.0
    T[range(1, n), range(1, n)] -= norm
    return with_norm(plain, realise(plain, *spectral_terms(T, n - int(limit))), norm)
