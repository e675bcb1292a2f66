"""The point of a chart whose function is nearest to that of given weights: √E(f − f*)² is least."""

from __future__ import annotations

import numpy as np

from shallows.model.activations import Power
from shallows.model.data.samples import Samples
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.points.point import CriticalPoint
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array


def nearest_point(
    problem: Problem, chart: Chart | None, net: Network
) -> tuple[CriticalPoint | None, float | None]:
    """The isolated point, no limit, and its distance; None where there is no chart."""
    points = [] if chart is None else [point for point in chart.points if not point.limit]
    if not points:
        return None, None
    squares = (_of_powers if isinstance(problem.activation, Power) else _of_networks)(problem, points, net)
    row = int(np.argmin(squares))
    return points[row], float(np.sqrt(max(float(squares[row]), 0.0)))


def _of_powers(problem: Problem, points: list[CriticalPoint], net: Network) -> Array:
    """(s − t)ᵀG(s − t), s and t the tensors."""
    twin, net = problem.homogeneous(), net.homogeneous() if problem.bias else net
    known = np.array([[tensor.entries for tensor in point.tensors] for point in points])
    gaps = known - np.array([net.output(m).tensor().entries for m in range(net.outputs)])
    return np.asarray(np.einsum("pmi,ij,pmj->p", gaps, twin.gram(), gaps))


def _of_networks(problem: Problem, points: list[CriticalPoint], net: Network) -> Array:
    """The loss of the weights against the networks of the points as teachers."""
    samples = problem.data.as_samples()
    data = problem.data if samples is None else Samples(samples.X, weights=samples.given)
    return np.array(
        [
            Problem(point.network, data, net.width, problem.activation, bias=net.bias is not None).loss(net)
            for point in points
        ]
    )
