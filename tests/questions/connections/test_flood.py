"""Trees of one neuron against flood fill on a grid, which knows nothing but moments."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.tensors import coordinates

from .flood import Cone, flood, gaussian_moments

#: Laplace of unit variance: E x^(2k) = (2k)!/2^k.
LAPLACE = [0.0 if k % 2 else factorial(k) / 2 ** (k // 2) for k in range(13)]


def laws(n, degree, kind, rng):
    """A law of the library and the moments of its coordinates."""
    if kind == "gaussian":
        scales = rng.uniform(0.5, 1.5, n)
        return sh.Gaussian(n, covariance=np.diag(scales)), [
            gaussian_moments(0, s, 2 * degree) for s in scales
        ]
    if kind == "moved":
        mean = rng.normal(size=n)
        return sh.Gaussian(n, mean=mean), [gaussian_moments(m, 1, 2 * degree) for m in mean]
    return sh.IID.laplace(n), [LAPLACE] * n


def problem_of(n, degree, kind, rng, identity=False):
    """One neuron against a random form, and the same for the flood; `identity`: ‖x‖^d, a circle of minima."""
    data, moments = laws(n, degree, kind, rng)
    exponents = coordinates.exponents(n, degree)
    if identity:  # ‖x‖^d: C(d/2; e/2) at even exponents
        halves = [
            factorial(degree // 2) // np.prod([factorial(k // 2) for k in e]) for e in exponents.tolist()
        ]
        polynomial = np.where(np.all(exponents % 2 == 0, axis=1), halves, 0.0)
    else:
        polynomial = rng.normal(size=len(exponents))
    entries = polynomial / coordinates.multiplicities(n, degree)
    target = {tuple(e): float(c) for e, c in zip(exponents.tolist(), polynomial, strict=True)}
    problem = sh.Problem(sh.SymmetricTensor(entries, n, degree), data, width=1)
    return problem, Cone(moments, target, degree)


def close(ours, theirs, within):
    return len(ours) == len(theirs) and np.allclose(ours, theirs, rtol=0, atol=within)


def agree(problem, cone, *, count, radii, depth, space="function"):
    """Leaves and joins that are deeper than the grid's ripples are the same; shallow ones count on neither side."""
    chart = sh.chart(problem)
    if chart.completeness == "sampled":  # paths were lost: refused, not guessed
        with pytest.raises(sh.IncompleteChart):
            chart.connections(space)
        return None
    tree = chart.connections(space)
    (leaves, joins), energy = flood(
        cone, problem.n, count=count, radii=radii, depth=depth, parameters=space == "parameters"
    )
    ours_leaves, ours_joins = deep(tree, depth * energy)
    within = 0.5 * depth * energy
    assert close(ours_leaves, leaves, within), (tree, leaves, joins)
    assert close(ours_joins, joins, within), (tree, leaves, joins)
    return tree


def deep(tree, depth):
    """Losses of leaves and joins, without pools that are less deep than this where they meet a lower one."""
    lowest = {(leaf.number,): leaf.loss for leaf in tree.leaves}
    leaves, joins = [], []
    for edge in tree.edges:
        floors = sorted(min(tree.leaves[i].loss for i in side) for side in edge.sides)
        for floor in floors[1:]:
            if edge.loss - floor > depth:
                leaves.append(floor)
                joins.append(edge.loss)
    return sorted([*leaves, min(lowest.values())]), sorted(joins)


KINDS = ("gaussian", "heavy", "moved")


@pytest.mark.parametrize("degree", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_two_inputs(degree, kind):
    problem, cone = problem_of(2, degree, kind, np.random.default_rng([degree, len(kind)]))
    agree(problem, cone, count=300, radii=120, depth=2e-3)


@pytest.mark.parametrize(("degree", "kind"), [(2, "gaussian"), (2, "heavy"), (2, "moved"), (4, "heavy")])
def test_identity_teacher(degree, kind):
    problem, cone = problem_of(2, degree, kind, np.random.default_rng(degree), identity=True)
    agree(problem, cone, count=300, radii=120, depth=2e-3)


@pytest.mark.parametrize(("degree", "identity"), [(2, False), (3, False), (4, False), (2, True), (4, True)])
def test_parameter_space(degree, identity):
    problem, cone = problem_of(2, degree, "gaussian", np.random.default_rng(degree), identity=identity)
    agree(problem, cone, count=600, radii=120, depth=2e-3, space="parameters")


def test_circle_is_one_leaf():
    tree = sh.chart(sh.Problem(np.eye(2), sh.Gaussian(2), width=1)).connections()
    assert len(tree.leaves) == 1 and tree.leaves[0].point.dimension == 1 and not tree.edges


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(200))
def test_two_inputs_random(seed):
    rng = np.random.default_rng([seed, 2])
    problem, cone = problem_of(2, 2 + seed % 4, KINDS[(seed // 4) % 3], rng)
    agree(problem, cone, count=600, radii=240, depth=1e-3)
    agree(problem, cone, count=1200, radii=240, depth=1e-3, space="parameters")


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(30))
def test_three_inputs_random(seed):
    rng = np.random.default_rng([seed, 3])
    problem, cone = problem_of(3, 2 + seed % 3, KINDS[(seed // 3) % 3], rng)
    agree(problem, cone, count=6000, radii=60, depth=1e-2)
