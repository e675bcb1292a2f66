"""Trees of given minima: against trees of complete charts, for ReLU networks, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh


def test_the_same_joins_as_the_complete_tree():
    """One neuron, heavy tails: strings between the minima find the saddles that the chart has, and no lower barrier."""
    problem = sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), width=1, outer="ones")
    chart = sh.chart(problem)
    whole = chart.connections()
    found = sh.connect(problem, [leaf.point.network for leaf in whole.leaves], up_to_symmetry=False)
    assert found.known == "sampled" and len(found.leaves) >= len(whole.leaves)
    for edge in found.edges:
        assert np.min(np.abs(edge.loss - chart.losses)) < 1e-8


def test_symmetric_minima_are_one_leaf():
    problem = sh.relu_problem(6)
    minimum = sh.symmetric_minimum(6, [1, 5]).network()
    order = np.random.default_rng(0).permutation(6)
    image = sh.Network(minimum.W[order], activation=sh.ReLU())
    assert len(sh.connect(problem, [minimum, image]).leaves) == 1


def known_minimum_against_the_teacher(k):
    problem = sh.relu_problem(k)
    tree = sh.connect(problem, [problem.target, sh.symmetric_minimum(k, [1, k - 1]).network()])
    assert tree.leaves[0].point.kind == "global minimum" and tree.leaves[0].loss < 1e-12
    assert all(edge.point.certificate.signature_certified for edge in tree.edges)
    assert all(edge.point.signature == (k * k - 1, 0, 1) for edge in tree.edges)
    last = tree.leaves[-1]
    assert last.loss < tree.barrier(0, last.number) < 2 * last.loss
    return tree


def test_relu(tmp_path):
    tree = known_minimum_against_the_teacher(6)
    assert np.isclose(tree.barrier(0, 1), 0.0501846, atol=1e-6)
    again = sh.load_connections(tree.save(tmp_path / "relu"))
    assert again == tree and "sampled" in repr(again)


@pytest.mark.thorough
@pytest.mark.parametrize("k", [7, 8, 9, 10])
def test_relu_more_neurons(k):
    known_minimum_against_the_teacher(k)


def test_a_smooth_activation():
    teacher = sh.Network([[1.5, 0.2], [-0.3, 1.0]], activation=sh.Smooth(np.tanh))
    problem = sh.Problem(teacher, sh.Gaussian(2), width=2, outer="ones")
    tree = sh.connect(problem, [teacher])
    assert len(tree.leaves) == 1 and not tree.edges and tree.known == "sampled"


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("activation", [sh.Smooth("tanh"), sh.Polynomial([0.0, 1.0, 0.0, 0.3])], ids=repr)
def test_saddles_of_smooth_and_polynomial_networks_are_proved(activation, bias):
    """Two neurons change places over a saddle, where they are equal: its index against eigenvalues in doubles."""
    W, b = np.array([[1.0, 0.2], [0.1, 0.8]]), np.array([0.3, -0.2])
    orders = ([0, 1], [1, 0])
    both = [sh.Network(W[o], activation=activation, bias=b[o] if bias else None) for o in orders]
    problem = sh.Problem(both[0], sh.Gaussian(2), width=2, bias=bias, outer="ones")
    tree = sh.connect(problem, both, up_to_symmetry=False)
    assert len(tree.leaves) == 2 and len(tree.edges) == 1 and not tree.notes
    (edge,) = tree.edges
    assert edge.point.certificate.signature_certified and edge.point.signature == (problem.size - 1, 0, 1)
    values = np.linalg.eigvalsh(problem.hessian(edge.point.network))
    assert np.sum(values < 0) == 1 and np.abs(values).min() > 1e-4
    assert np.ptp(edge.point.network.W, axis=0).max() < 1e-6
    trained = sh.connect(sh.Problem(both[0], sh.Gaussian(2), width=2, bias=bias), both[:1])
    assert trained.leaves[0].point.certificate.signature_certified


@pytest.mark.parametrize("activation", [sh.Smooth("tanh"), sh.Power(2)], ids=repr)
def test_neurons_with_bias_in_another_order_are_one_minimum(activation):
    W, b = np.array([[1.0, 0.2], [0.1, 0.8]]), np.array([0.3, -0.2])
    both = [sh.Network(W[o], activation=activation, bias=b[o]) for o in ([0, 1], [1, 0])]
    problem = sh.Problem(both[0], sh.Gaussian(2), width=2, bias=True, outer="ones")
    tree = sh.connect(problem, both)
    assert len(tree.leaves) == 1 and tree.leaves[0].point.loss < 1e-20


def test_what_is_refused():
    problem = sh.relu_problem(6)
    with pytest.raises(sh.InvalidProblem, match=r"networks\[1\] is no minimum"):
        sh.connect(problem, [problem.target, sh.Network(np.eye(6) + 0.3, activation=sh.ReLU())])
    with pytest.raises(sh.InvalidProblem, match="list of trained networks"):
        sh.connect(problem, [])
    with pytest.raises(sh.InvalidProblem, match=r"networks\[0\] is"):
        sh.connect(problem, [np.eye(6)])
