"""Trees in parameter space against Theorem 37 of paper 000 and the energy barrier of paper 001."""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh


def tree_of(target, data, width, **options):
    return sh.chart(sh.Problem(target, data, width=width, **options)).connections(space="parameters")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_energy_barrier_is_a_barrier(n, seed):
    """Outer weights one, width d: det W > 0 and det W < 0 meet at the best network of rank d − 1 (Theorem 2.1)."""
    rng = np.random.default_rng([n, seed])
    root = rng.normal(size=(n, n))
    target = root @ root.T
    tree = tree_of(target, sh.Gaussian(n), n, outer="ones")
    assert len(tree.leaves) == 2 and tree.leaves[0].loss < 1e-9 and not tree.traps
    assert np.isclose(tree.barrier(0, 1), sh.energy_barrier(target).exact)
    assert tree.easiest_escape(1).leaves == (0,)


@pytest.mark.parametrize(
    ("eigenvalues", "width"),
    [((2.0, 1.0), 1), ((2.0, 1.0), 2), ((2.0, -1.0), 2), ((3.0, 2.0, -1.0), 3), ((3.0, 2.0, 1.0), 2)],
)
def test_components_of_fibers(eigenvalues, width):
    """As many leaves over a minimum as its fiber has components."""
    tree = tree_of(np.diag(eigenvalues), sh.Gaussian(len(eigenvalues)), width)
    rows = [leaf.row for leaf in tree.leaves]
    for row in set(rows):
        matrix = tree.chart.critical[row].tensor
        assert rows.count(row) == sh.fiber_components(matrix, width)


def test_a_wider_network_has_one_leaf():
    assert len(tree_of(np.diag([2.0, -1.0]), sh.Gaussian(2), 3).leaves) == 1


def test_two_copies_meet_at_a_saddle_that_joins_nothing_in_function_space():
    chart = sh.chart(sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1))
    assert not chart.connections().edges
    tree = chart.connections(space="parameters")
    assert tree.edges[0].point.rank == 1 and np.isclose(tree.barrier(0, 1), 32 / 3)


def test_traps_are_no_leaves():
    """Example 15: w = 0 with a < 0 against a positive target is a local minimum, left at no cost through a = 0."""
    problem = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1)
    tree = sh.chart(problem).connections(space="parameters")
    trapped = [tree.chart.critical[row] for row in tree.traps]
    assert [point.rank for point in trapped] == [0] and "Example 15" in tree.notes[-1]
    trap = sh.Network(np.zeros((1, 2)), a=[-1.0])
    rng = np.random.default_rng(0)
    base = problem.loss(trap)
    around = [
        problem.loss(sh.Network(1e-2 * rng.normal(size=(1, 2)), a=-1 + 1e-2 * rng.normal(size=1)))
        for _ in range(200)
    ]
    assert np.isclose(base, trapped[0].loss) and min(around) >= base
    assert (
        not sh.chart(sh.Problem(np.diag([2.0, -1.0]), sh.Frobenius(2), width=1))
        .connections(space="parameters")
        .traps
    )


def test_what_is_refused():
    cubic = sh.SymmetricTensor([1.0, 0.2, 0.3, -1.0], 2, 3)
    chart = sh.chart(sh.Problem(cubic, sh.Gaussian(2), width=2))
    with pytest.raises(sh.InvalidProblem, match="degree 3 and width 2"):
        chart.connections(space="parameters")
    fixed = sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=2, outer=[1.0, -1.0])
    with pytest.raises(sh.InvalidProblem, match="fixed outer weights"):
        sh.chart(fixed).connections(space="parameters")
