"""Trees along a path of problems, and the way over a barrier."""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh


def test_a_leaf_and_its_join_disappear_together():
    start = sh.Problem(np.diag([1.0, 1.0]), sh.IID.laplace(2), width=1)
    end = sh.Problem(np.diag([3.0, 0.5]), sh.IID.laplace(2), width=1)
    where = sh.follow(start, end, samples=9).collisions[0].position
    shapes = [
        (len(tree.leaves), len(tree.edges), tree.barrier(0, 1) - tree.leaves[1].loss if tree.edges else 0.0)
        for tree in sh.discriminants.trees_along(start, end, [where - 0.1, where - 0.01, where + 0.01])
    ]
    assert [shape[:2] for shape in shapes] == [(2, 1), (2, 1), (1, 0)]
    assert shapes[0][2] > 10 * shapes[1][2] > 0  # the pool is shallow just before


def test_what_is_refused():
    start = sh.Problem(np.diag([1.0, 1.0]), sh.IID.laplace(2), width=1)
    with pytest.raises(sh.InvalidProblem, match="same of both"):
        sh.discriminants.trees_along(start, sh.Problem(np.eye(3), sh.Gaussian(3), width=1), [0.0])


def test_crossing():
    tree = sh.chart(sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), width=1)).connections()
    way = tree.crossing(0)
    problem = tree.chart.problem
    assert np.argmax(way.losses) == way.top and np.isclose(way.losses[way.top], tree.edges[0].loss)
    assert np.allclose([problem.loss(net) for net in way.networks], way.losses)
    ends = {tree.leaves[leaf].loss for leaf in tree.edges[0].leaves}
    assert np.allclose(sorted({way.losses[0], way.losses[-1]})[0], min(ends))
    assert len(way.figure().data) == 2
    with pytest.raises(sh.InvalidProblem, match="3 joins"):
        tree.crossing(3)


def test_shares_are_the_width_of_trunks():
    problem = sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1)
    tree = sh.chart(problem).connections().with_runs(sh.ensemble(problem, runs=20, rng=0))
    assert abs(sum(leaf.share for leaf in tree.leaves) - 1) < 0.5
    widths = {trace.line.width for trace in tree.figure().data if trace.mode == "lines+markers"}
    assert len(widths) == 2
