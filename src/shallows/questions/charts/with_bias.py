"""Charts of networks with bias: those of the same problem on (1, x), with every network read as one on x.

Tensors stay in n + 1 inputs, the constant first: σ(w·x + b) = ((b, w)·(1, x))^d. A neuron with b = 0 or w = 0 is
one like any other, so nothing is lost or added: the chart is as complete and as certified as the one on (1, x).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.points.point import Points, Reread
from shallows.questions.charts.result import Chart


@dataclass(frozen=True)
class Affine(Reread):
    """A maker of points on (1, x), tensors in Sym^d(R^(n+1)), whose networks are given a bias."""

    def network(self, i: int) -> Network:
        """A network with bias that realises it."""
        net = self.inner.network(i)
        return net.affine() if net.bias is None else net


def with_bias(problem: Problem, chart: Chart) -> Chart:
    """The chart of a problem with bias from that of `problem.homogeneous()`."""
    points = chart.critical
    critical = Points(points.table, Affine(points.maker), problem, points.places)
    return replace(chart, critical=critical, problem=problem)
