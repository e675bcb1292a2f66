"""Families as irreducible sets: degrees by hand, and against the decomposition of other equations."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.optimize import minimize

import shallows as sh


def form(values: dict[tuple[int, ...], float], n: int, degree: int) -> sh.SymmetricTensor:
    """A tensor by some of its entries."""
    return sh.SymmetricTensor(
        [values.get(index, 0.0) for index in combinations_with_replacement(range(n), degree)], n, degree
    )


def round_quartic(n: int) -> sh.SymmetricTensor:
    """‖x‖⁴."""
    entries = {(i,) * 4: 1.0 for i in range(n)}
    entries |= {(i, i, j, j): 1 / 3 for i in range(n) for j in range(i + 1, n)}
    return form(entries, n, 4)


def linear(matrix: np.ndarray, width: int) -> sh.Problem:
    n = matrix.shape[1]
    return sh.Problem(sh.Network(np.eye(n), matrix, activation=sh.Power(1)), sh.Gaussian(n), width=width)


ROUND = form({(0, 0, 0): 1.0, (0, 1, 1): 1.5, (0, 2, 2): 1.5}, 3, 3)
#: (problem, {(rank, dimension): degree}). Spheres {v·v = c} of rank one: 2·d^(n−1) over the d-th powers, two points to
#: one at even degree. Grassmannians of lines and planes in three dimensions: Veronese surfaces; with a pair of equal
#: values, conics.
KNOWN = {
    "quartic, circle": (sh.Problem(round_quartic(2), sh.Frobenius(2), 1), {(1, 1): 4}),
    "quartic, sphere": (sh.Problem(round_quartic(3), sh.Gaussian(3), 1), {(1, 2): 16}),
    "cubic, circle at a height": (sh.Problem(ROUND, sh.Frobenius(3), 1), {(1, 1): 6}),
    "linear, a pair": (linear(np.diag([2.0, 2.0, 1.0]), 2), {(1, 1): 2, (2, 1): 2}),
    "linear, identity": (linear(np.eye(3), 2), {(1, 2): 4, (2, 2): 4}),
    "norm neuron": (
        sh.Problem(np.diag([3.0, 3.0, 1.0]), sh.Gaussian(3), width=1, norm_neuron=True),
        {(1, 1): 2},
    ),
    "penalty": (
        sh.Problem(np.diag([3.0, 3.0, 1.0]), sh.Gaussian(3), width=2, outer="ones", orthogonality=0.3),
        {(1, 1): 2, (2, 1): 2},
    ),
    "quadratic, lines and planes": (
        sh.Problem(np.eye(3), sh.Frobenius(3), width=2),
        {(1, 2): 4, (2, 2): 4},
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_degrees(name):
    problem, expected = KNOWN[name]
    chart = sh.chart(problem)
    found = {}
    for family in chart.families:
        (one,) = family.components
        assert (
            one.confirmed
            and one.rank == family.rank
            and abs(one.loss - family.loss) < 1e-7 * max(1, family.loss)
        )
        found[one.rank, one.dimension] = one.degree
    assert found == expected


@pytest.mark.parametrize(
    "problem",
    [
        sh.Problem(np.diag([3.0, 3.0, 1.0]), sh.Gaussian(3), width=2),
        sh.Problem(np.diag([1.0, 2.0, 2.0]), sh.Gaussian(3, mean=[1, 0, 0]), width=1),
        sh.Problem(np.diag([1.0, 1.0, 1.0]), sh.Gaussian(2), width=1, bias=True),
    ],
    ids=["pair", "moved", "bias"],
)
def test_they_are_those_of_the_decomposition(problem):
    """`critical_sets` decomposes M(S)·S = 0 in the entries of S; here equations are in the neurons."""
    chart = sh.chart(problem)
    whole = [one for one in chart.critical_sets() if one.dimension]
    for family in chart.families:
        (one,) = family.components
        same = [
            other for other in whole if (other.rank, other.dimension) == (one.rank, one.dimension)
            and abs(other.loss - one.loss) < 1e-6
        ]  # fmt: skip
        assert [other.degree for other in same] == [one.degree]
        (other,) = same
        for sample in family.samples:
            assert one.component.contains(sample.entries) and other.component.contains(sample.entries)
        assert other.component.contains(one.component.images[0])  # complex points, too


#: Students whose families no chart lists, with where a descent starts: (dimension, degree) by hand. With a neuron in a
#: plane of equal inputs the pair (a·wwᵀ, wwᵀ), or the outputs' a_m·wwᵀ, are multiples of points of a conic.
TEACHER = sh.Network(np.eye(3), [[1.0, 3.0, 3.0], [2.0, 5.0, 5.0]])
FOUND = {
    "two outputs": (sh.Problem(TEACHER, sh.Gaussian(3), width=1), [0.0, 1.0, 0.3, 1.0, 1.0], (1, 2)),
    "penalty, trained": (
        sh.Problem(np.diag([1.0, 4.0, 4.0]), sh.Gaussian(3), width=1, orthogonality=0.3),
        [0.0, 1.0, 0.3, 1.0],
        (1, 2),
    ),
    "penalty, mixed": (
        sh.Problem(np.diag([-3.0, 4.0, 4.0]), sh.Gaussian(3), width=2, outer=[1.0, -1.0], orthogonality=0.1),
        [0.0, 1.0, 0.3, 1.0, 0.0, 0.0],
        (1, 2),
    ),
    "cubic, two outputs": (
        sh.Problem(
            sh.Network(
                [[1.0, 1.0], [1.0, -1.0], [2.0, 0.0]], [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], sh.Power(3)
            ),
            sh.Gaussian(2),
            width=2,
        ),
        None,
        (0, 1),
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_sets_through_trained_networks(name, rng):
    problem, start, expected = FOUND[name]
    theta = rng.standard_normal(problem.size) if start is None else np.array(start)
    lowest = minimize(
        lambda x: float(problem.loss(problem.unpack(x))),
        theta,
        jac=lambda x: problem.gradient(problem.unpack(x)),
        tol=1e-9,
    )
    one = sh.geometry.critical_set(problem, problem.unpack(lowest.x))
    assert (one.dimension, one.degree, one.confirmed) == (*expected, True)


def test_limits_other_activations_and_other_points_are_refused(rng):
    teacher = sh.Network([[1.0, 0.0, 0.0]], activation=sh.Power(3))
    quadratic = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1)
    with pytest.raises(sh.InvalidProblem, match="regular point"):
        sh.geometry.critical_set(quadratic, sh.Network([[3.0, 1.0]], [5.0]))
    relu = sh.Problem(sh.Network([[1.0, 0.0]], activation=sh.ReLU()), sh.Gaussian(2), width=1)
    with pytest.raises(sh.InvalidProblem, match="for powers"):
        sh.geometry.critical_set(relu, relu.target)
    with pytest.raises(sh.InvalidProblem, match="quadratic activations"):
        sh.chart(sh.Problem(teacher, sh.Gaussian(3), width=1)).critical_sets()
