"""Focal points of neurons with a bias and of polynomial ones: as many as the chart's certified index (Theorem 26)."""

import numpy as np
import pytest

import shallows as sh
from shallows.model.data.base import Distribution

W = np.array([[1.0, 0.3], [-0.2, 0.8], [0.6, -1.1]])


def problem(activation=None, bias=None, width=1, data: Distribution | None = None):
    net = sh.Network(W[:, :2], [1.0, -1.0, 0.4], activation=activation or sh.Power(2), bias=bias)
    return sh.Problem(net, data or sh.Gaussian(2), width, bias=bias is not None)


CASES = {
    "bias": problem(bias=[0.3, 0.2, -0.5]),
    "bias, two neurons": problem(bias=[0.3, 0.2, -0.5], width=2),
    "z² + z + 0.3": problem(sh.Polynomial([0.3, 1, 1])),
    "z² + z − 1, heavy tails": problem(sh.Polynomial([-1, 1, 1]), data=sh.IID(2, [1, 0, 1, 0, 9])),
    "z² + z + 0.3, two neurons": problem(sh.Polynomial([0.3, 1, 1]), width=2),
    "cubic": problem(sh.Polynomial([0.5, 1, -0.4, 1])),
    "cubic with bias": problem(sh.Power(3), bias=[0.3, 0.2, -0.5]),
}


@pytest.mark.parametrize("name", CASES)
def test_focal_points_on_the_segment_count_the_index(name):
    given = CASES[name]
    full = [p for p in sh.chart(given).critical if p.rank == given.width and p.kind != "degenerate"]
    assert full
    for point in full:
        found = sh.focal_points(given, point)
        assert sum(f.multiplicity for f in found) == point.index
        again = sh.focal_points(given, point.network)  # a network goes another way than a tensor
        assert np.allclose([f.position for f in again], [f.position for f in found], rtol=1e-6)


def test_a_point_that_is_not_critical_is_refused():
    given = CASES["z² + z + 0.3"]
    point = sh.chart(given).critical[0].network
    with pytest.raises(sh.InvalidProblem, match=r"not critical|normal"):
        sh.focal_points(given, sh.Network(point.W * 1.01, point.a, activation=point.activation))
