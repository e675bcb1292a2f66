"""Charts by descent: only what training finds, and said so."""

import numpy as np
import pytest

import shallows as sh


def test_relu_minima_of_paper_003():
    """k = 7: the global minimum and the published [1, 6] minimum of loss 0.0232027 (½E)."""
    teacher = sh.Network(np.eye(7), activation=sh.ReLU())
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(7), 7, outer="ones"), method="descent")
    assert chart.completeness == "sampled" and chart.minimum.kind == "global minimum"
    assert any(p.kind == "local minimum" and abs(p.loss / 2 - 0.023202714914) < 1e-9 for p in chart.points)
    with pytest.raises(sh.InvalidProblem, match="no tensor"):
        chart.points[0].tensor


def test_descent_finds_only_points_of_the_chart():
    problem = sh.Problem(np.diag([1.0, 0.8, 0.6, 0.3]), sh.Gaussian(4), 2)
    whole, sampled = sh.chart(problem), sh.chart(problem, method="descent")
    assert len(sampled.points) > 0
    for point in sampled.points:
        assert np.min(np.abs(whole.losses - point.loss)) < 1e-8
