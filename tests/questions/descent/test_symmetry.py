"""End points are grouped by symmetry, and only by symmetry."""

from itertools import permutations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.questions.descent.results.coordinate_symmetries import action, coordinate_group
from shallows.questions.descent.results.symmetry import NeuronView, TensorView, group, tensors_of, view

RELU = sh.Problem(sh.Network(np.eye(5), activation=sh.ReLU()), sh.Gaussian(5), 5, outer="ones")
QUADRATIC = sh.Problem(np.diag([1.0, 1.0, 0.5]), sh.IID.laplace(3), 2)
CUBIC = sh.Problem(sh.Network(np.eye(3), activation=sh.Power(3)), sh.Gaussian(3), 3)


@given(seed=st.integers(0, 10**6))
def test_relu_points_are_grouped_up_to_neurons_and_coordinates(seed):
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((5, 5))
    image = W[rng.permutation(5)][:, rng.permutation(5)]
    other = W.copy()
    other[0, 0] += 0.01
    view = NeuronView(RELU, np.array([W.ravel(), image.ravel(), other.ravel()]))
    assert view.same(0, 1) and view.same(1, 0)
    assert not view.same(0, 2) and not view.same(1, 2)


def test_block_symmetric_points_with_ties_are_matched():
    W = np.full((5, 5), 0.1) + 0.9 * np.eye(5)
    W[0], W[:, 0] = -0.3, 0.2
    rng = np.random.default_rng(0)
    image = W[rng.permutation(5)][:, rng.permutation(5)] + 1e-10 * rng.standard_normal((5, 5))
    assert NeuronView(RELU, np.array([W.ravel(), image.ravel()])).same(0, 1)


def test_a_teacher_with_distinct_neurons_allows_no_coordinate_permutation():
    teacher = sh.Network(np.diag([1.0, 2.0, 3.0]), activation=sh.ReLU())
    problem = sh.Problem(teacher, sh.Gaussian(3), 3, outer="ones")
    W = np.random.default_rng(0).standard_normal((3, 3))
    points = np.array([W.ravel(), W[[1, 2, 0]].ravel(), W[:, [1, 0, 2]].ravel()])
    view = NeuronView(problem, points)
    assert view.same(0, 1) and not view.same(0, 2)


def test_relu_scaling_between_layers_is_a_symmetry():
    problem = sh.Problem(sh.Network(np.eye(2), activation=sh.ReLU()), sh.Gaussian(2), 2)
    first = problem.pack(sh.Network([[1.0, 0.5], [0.2, -1.0]], [2.0, -1.0], sh.ReLU()))
    second = problem.pack(sh.Network([[4.0, 2.0], [0.1, -0.5]], [0.5, -2.0], sh.ReLU()))
    flipped = problem.pack(sh.Network([[4.0, 2.0], [0.1, -0.5]], [0.5, 2.0], sh.ReLU()))
    view = NeuronView(problem, np.array([first, second, flipped]))
    assert view.same(0, 1) and not view.same(0, 2)


@pytest.mark.parametrize("problem", [QUADRATIC, CUBIC], ids=["quadratic", "cubic"])
@given(seed=st.integers(0, 10**6))
def test_polynomial_points_up_to_fiber_and_teacher(problem, seed):
    rng = np.random.default_rng(seed)
    W, a = rng.standard_normal((problem.width, 3)), rng.standard_normal(problem.width)
    scale = rng.uniform(0.5, 2.0, problem.width) * (
        rng.choice([-1, 1], problem.width) if problem.degree == 2 else 1
    )
    order = rng.permutation(problem.width)
    moved = (scale[:, None] * W)[order], (a / scale**problem.degree)[order]
    swapped = moved[0][:, [1, 0, 2]], moved[1]
    thetas = [
        problem.layout.join(w, x[None], None) for w, x in ((W, a), moved, swapped, (W[:, [2, 1, 0]], a))
    ]
    view = TensorView(problem, np.array(thetas))
    assert view.same(0, 1) and view.same(0, 2)
    assert view.same(0, 3) == (problem is CUBIC)  # diag(1, 1, ½) tells the third coordinate from the others


def test_the_whole_fiber_of_degree_two_is_one_point():
    problem = sh.Problem(np.eye(2), sh.Gaussian(2), 2, outer="ones")
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    W = np.array([[1.0, 2.0], [0.5, -1.0]])
    assert TensorView(problem, np.array([W.ravel(), (turn @ W).ravel()])).same(0, 1)


def test_the_group_of_a_problem_by_brute_force():
    data, target = sh.IID.laplace(3), sh.SymmetricTensor.from_matrix(np.diag([1.0, 1.0, 0.5]))
    found = coordinate_group(target.entries[None], data.gram(2), 3, 2)
    assert found.whole and found.order == 2 * 8 // 2  # x ↦ −x does nothing to a matrix
    places, signs = action(3, 2, (1, 0, 2), (1, -1, 1))
    matrix = np.arange(9.0).reshape(3, 3)
    matrix = matrix + matrix.T
    moved = sh.SymmetricTensor(
        signs * sh.SymmetricTensor.from_matrix(matrix).entries[places], 3, 2
    ).to_matrix()
    P = np.diag([1, -1, 1]) @ np.eye(3)[[1, 0, 2]]
    assert np.allclose(moved, P @ matrix @ P.T)
    generic = coordinate_group(np.array([[1.0, 0.2, 0.3, 2.0, 0.4, 3.0]]), sh.Gaussian(3).gram(2), 3, 2)
    assert generic.order == 1
    large = coordinate_group(np.zeros((1, 45)), sh.Gaussian(9).gram(2), 9, 2)
    assert not large.whole


def invariant(entries, gram, n, degree, permutation, signs):
    """By brute force: one signed permutation, all entries."""
    places, sign = action(n, degree, permutation, signs)
    same_gram = np.allclose(gram[np.ix_(places, places)] * np.outer(sign, sign), gram)
    return np.allclose(entries[places] * sign, entries) and same_gram


@pytest.mark.parametrize("degree", [2, 3])
@given(seed=st.integers(0, 10**6), cycle=st.booleans())
def test_the_group_is_every_signed_permutation_that_preserves_the_problem(degree, seed, cycle):
    n, rng = 3, np.random.default_rng(seed)
    entries = rng.integers(-1, 2, comb(n + degree - 1, degree)).astype(float)
    if cycle:  # average over the cycle (0 1 2): a symmetry that no swap generates
        entries = sum(entries[action(n, degree, p, (1, 1, 1))[0]] for p in ((0, 1, 2), (1, 2, 0), (2, 0, 1)))
    gram = sh.IID.laplace(n).gram(degree)
    expected = {
        (action(n, degree, p, e)[0].tobytes(), action(n, degree, p, e)[1].tobytes())
        for p in permutations(range(n))
        for e in product((1, -1), repeat=n)
        if invariant(entries, gram, n, degree, p, e)
    }
    found = coordinate_group(entries[None], gram, n, degree)
    assert found.whole and found.order == len(expected) >= (3 if cycle else 1)
    assert {(p.tobytes(), s.tobytes()) for p, s in zip(found.places, found.signs, strict=True)} == expected


def test_end_points_that_a_cyclic_teacher_carries_into_each_other_are_one_class():
    """x²y + y²z + z²x is kept by the cycle of its variables and by no swap."""
    target = sh.SymmetricTensor.from_polynomial("x1^2*x2 + x2^2*x3 + x3^2*x1")
    problem = sh.Problem(target, sh.Frobenius(3), 1)
    W = np.array([0.9, 0.4, -0.2])
    points = [np.append(W[[0, 1, 2]], 0.7), np.append(W[[1, 2, 0]], 0.7), np.append(W[[1, 0, 2]], 0.7)]
    view = TensorView(problem, np.array(points))
    assert view.same(0, 1) and not view.same(0, 2)


def test_groups_split_equal_losses_of_different_points():
    problem = sh.Problem(np.diag([1.0, 0.6]), sh.Gaussian(2), 1)
    thetas = np.array([[1.0, 0.0, 0.5], [2.0, 0.0, 0.125], [0.0, 1.0, 0.5], [-1.0, 0.0, 0.5]])
    losses = np.array([1.0, 1.0, 1.0, 1.0])
    assert sorted(map(len, group(problem, thetas, losses, 1.0))) == [1, 3]
    assert len(group(problem, thetas, np.array([1.0, 1.0, 1.0, 2.0]), 1.0)) == 3
    assert tensors_of(problem, thetas).shape == (4, 1, 3)


@pytest.mark.parametrize("outputs", [1, 2])
def test_relu_scalings_and_parallel_neurons_are_one_minimum(outputs):
    """(cw, a/c), a neuron split into parallel ones, and idle neurons of any kind are the same network."""
    rng = np.random.default_rng(outputs)
    teacher = sh.Network(rng.standard_normal((2, 3)), rng.standard_normal((outputs, 2)), activation=sh.ReLU())
    problem = sh.Problem(teacher, sh.Gaussian(3), 4)
    W, a = rng.standard_normal((2, 3)), rng.standard_normal((outputs, 2))

    def theta(rows, columns):
        return problem.layout.join(np.array(rows), np.array(columns).T, None)

    zero, none = np.zeros(3), np.zeros(outputs)
    whole = theta([W[0], W[1], zero, zero], [a[:, 0], a[:, 1], none, none])
    scaled = theta([2 * W[0], W[1] / 5, zero, W[0]], [a[:, 0] / 2, 5 * a[:, 1], none + 3.0, none])
    split = theta(
        [0.3 * W[1], W[0], W[0], 4 * W[1]], [a[:, 1], 0.4 * a[:, 0], 0.6 * a[:, 0], 0.7 / 4 * a[:, 1]]
    )
    turned = theta([W[0], -W[1], zero, zero], [a[:, 0], a[:, 1], none, none])
    thetas = np.array([whole, scaled, split, turned])
    values = problem.value(thetas)
    assert values[:3] == pytest.approx(np.full(3, values[0]), rel=1e-12)
    lens = view(problem, thetas)
    assert lens.same(0, 1) and lens.same(0, 2) and lens.same(1, 2)
    assert not lens.same(0, 3)  # the control
