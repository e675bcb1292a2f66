"""ReLU: is there a lower way out of the spurious minimum of paper 003 than the one into the global basin?"""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh
from shallows.questions.connections.connect import Search
from shallows.questions.connections.saddle_search import stationary
from shallows.questions.connections.two_layers import TwoLayers


def saddles_around(k, starts, rng):
    """Saddles of index one from random starts around the minimum, along soft directions more often, by loss."""
    problem = sh.relu_problem(k)
    minimum = sh.symmetric_minimum(k, [1, k - 1]).network()
    theta = problem.pack(minimum)
    search = Search(TwoLayers(problem), up_to_symmetry=True)
    search.minimum(problem.pack(problem.target), 0)
    search.minimum(theta, 1)
    values, vectors = np.linalg.eigh(problem.hessian(minimum))
    for _ in range(starts):
        step = vectors @ (rng.normal(size=len(theta)) / np.sqrt(values))
        found = stationary(search.loss, theta + rng.uniform(0.05, 1.5) * step / np.linalg.norm(step), 1)
        if found is not None:
            search._add(found)
    joined = [(saddle, [search.minima[i].loss for i in reached]) for saddle, reached in search.saddles]
    return problem.loss(minimum), sorted(joined, key=lambda item: item[0].loss)


def no_lower_way(k, starts):
    level, found = saddles_around(k, starts, np.random.default_rng(k))
    out = [(saddle, ends) for saddle, ends in found if any(abs(end - level) < 1e-9 for end in ends)]
    assert out, "no way out was found"
    saddle, ends = out[0]
    assert min(ends) < 1e-9, "the lowest way out leads into the global basin"
    tree = sh.connect(
        sh.relu_problem(k), [sh.relu_problem(k).target, sh.symmetric_minimum(k, [1, k - 1]).network()]
    )
    assert saddle.loss == pytest.approx(tree.barrier(0, len(tree.leaves) - 1), abs=1e-9)
    assert saddle.certificate.signature_certified


def test_six_neurons():
    no_lower_way(6, 30)


@pytest.mark.thorough
@pytest.mark.parametrize("k", [7, 8, 9, 10])
def test_more_neurons(k):
    no_lower_way(k, 100)
