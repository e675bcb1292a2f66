"""Charts by descent: only what training finds, and said so."""

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.points.parameter_space import ParameterSignature, parameter_signature
from shallows.questions.charts.points.point import Points, PointTable, Stored


def test_relu_minima_of_paper_003():
    """k = 7: the global minimum and the published [1, 6] minimum of loss 0.0232027 (½E)."""
    teacher = sh.Network(np.eye(7), activation=sh.ReLU())
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(7), 7, outer="ones"), method="descent")
    assert chart.completeness == "sampled" and chart.minimum.kind == "global minimum"
    assert any(p.kind == "local minimum" and abs(p.loss / 2 - 0.023202714914) < 1e-9 for p in chart.points)
    with pytest.raises(sh.InvalidProblem, match="no tensor"):
        chart.points[0].tensor


def test_flat_directions_of_relu_networks_are_explained():
    """The scalings (cw, a/c) of three neurons, and nothing else, leave the function as it is at the teacher."""
    teacher = sh.Network(np.eye(3), activation=sh.ReLU())
    problem = sh.Problem(teacher, sh.Gaussian(3), 3)
    assert parameter_signature(problem, teacher) == ParameterSignature(9, 3, 0, 3)
    dead = sh.Network(np.diag([1.0, 1.0, 0.0]), [1.0, 1.0, 0.0], sh.ReLU())
    table = PointTable(
        np.array([1.0]), np.array([3]), np.zeros((1, 3), np.intp), np.array(["degenerate"]), np.array([0])
    )
    (point,) = Points(table, Stored([None], [dead], [None], [None]), problem)
    assert point.parameter_signature is None  # no Hessian at a zero neuron


def test_descent_finds_only_points_of_the_chart():
    problem = sh.Problem(np.diag([1.0, 0.8, 0.6, 0.3]), sh.Gaussian(4), 2)
    whole, sampled = sh.chart(problem), sh.chart(problem, method="descent")
    assert len(sampled.points) > 0
    for point in sampled.points:
        assert np.min(np.abs(whole.losses - point.loss)) < 1e-8
