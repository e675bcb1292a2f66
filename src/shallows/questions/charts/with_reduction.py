"""Charts of networks with a norm neuron: those of the reduced problem (`reduced_problem`), with the best ν added.

A point's tensor is S + νI, that of its network; its rank is that of S, what the neurons make. The functions of one rank
have one dimension more, ν, in which the loss is convex: signatures have one more positive direction.

From rank n − 1 on every form is a network: S = T − σI is singular for each eigenvalue σ of T, and S + σI = T. With a
bias all is on (1, x), and from rank n on every form in which the constant may have its sign (`without_constant`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.model.reduced_problem import ReducedProblem, identity
from shallows.questions.charts.points.kinds import ROUNDINGS
from shallows.questions.charts.points.point import Certificate, Points, Reread
from shallows.questions.charts.result import Chart
from shallows.questions.charts.with_bias import Affine
from shallows.questions.charts.without_constant import with_boundary, with_norm
from shallows.support.tolerances import EPSILON


@dataclass(frozen=True)
class Added(Reread):
    """A maker of points of the reduced problem, to which the norm neuron is added."""

    problem: ReducedProblem

    def _norm(self, tensor: SymmetricTensor) -> float:
        """ν, the best weight beside S."""
        h, start = self.problem.optimal_norm
        return start - float(h @ tensor.entries)

    def read(self, tensor: SymmetricTensor) -> SymmetricTensor:
        """S + νI."""
        q = identity(len(tensor.entries), self.problem.reduction.constants)
        entries = tensor.entries + self._norm(tensor) * q
        return SymmetricTensor(entries, tensor.n, tensor.degree)

    def network(self, i: int) -> Network:
        """The network of S, with the norm neuron."""
        return with_norm(self.problem, self.inner.network(i), self._norm(self.inner.tensor(i)))

    def certificate(self, i: int) -> Certificate | None:
        """What is proved of S; ν = ν₀ − hᵀs is off by Σ|h| times as much, and by rounding."""
        proof = self.inner.certificate(i)
        if proof is None:
            return None
        h, start = self.problem.optimal_norm
        size = abs(start) + float(np.abs(h) @ np.abs(self.inner.tensor(i).entries))
        radius = proof.radius * (1 + float(np.abs(h).sum())) + ROUNDINGS * len(h) * EPSILON * size
        return replace(proof, radius=radius)

    def escape(self, i: int) -> SymmetricTensor | None:
        """A direction, which the norm neuron does not change."""
        return self.inner.escape(i)


def with_reduction(problem: Problem, chart: Chart) -> Chart:
    """The chart of a problem with a norm neuron or a penalty from that of its `reduced` one."""
    plain, points = chart.problem, chart.critical
    assert isinstance(plain, ReducedProblem)
    table, maker = points.table, points.maker
    if problem.norm_neuron:
        table = replace(table, signature=table.signature + np.array([1, 0, 0]))
        maker = Added(maker, plain)
    elif problem.bias:
        maker = Affine(maker)
    made = replace(chart, critical=Points(table, maker, problem, points.places), problem=problem)
    return with_boundary(made, plain) if problem.norm_neuron and problem.bias else made
