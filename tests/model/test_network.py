import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh


def test_defaults_and_shapes():
    net = sh.Network([[1.0, 2.0], [3.0, 4.0]])
    assert (net.width, net.n, net.outputs) == (2, 2, 1)
    assert net.a.tolist() == [1, 1]
    assert net.activation == sh.Power(2)
    assert net(np.zeros((3, 4, 2))).shape == (3, 4)
    many = sh.Network([[1.0, 2.0]], a=[[1.0], [2.0], [3.0]], norm=[0.0, 1.0, 2.0])
    assert many.outputs == 3
    assert many(np.ones((5, 2))).shape == (5, 3)
    np.testing.assert_allclose(many([1.0, 1.0]), [9, 18 + 2, 27 + 4])


def test_networks_are_immutable():
    net = sh.Network([[1.0]])
    with pytest.raises(AttributeError, match="immutable"):
        net.norm = 2.0
    with pytest.raises(ValueError, match="read-only"):
        net.W[0, 0] = 2.0


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 3), st.integers(1, 4))
def test_a_network_is_its_tensor(seed, degree, n, width):
    rng = np.random.default_rng(seed)
    net = sh.Network(rng.standard_normal((width, n)), rng.standard_normal(width), sh.Power(degree))
    X = rng.standard_normal((6, n))
    np.testing.assert_allclose(net.tensor()(X), net(X), rtol=1e-9, atol=1e-9)


def test_the_norm_neuron_is_part_of_the_tensor(rng):
    net = sh.Network(rng.standard_normal((2, 3)), [1.0, -2.0], norm=0.7)
    expected = net.W.T @ np.diag(net.a) @ net.W + 0.7 * np.eye(3)
    np.testing.assert_allclose(net.tensor().to_matrix(), expected, rtol=1e-13)
    with pytest.raises(sh.InvalidProblem, match="not homogeneous"):
        sh.Network([[1.0, 2.0]], activation=sh.Power(3), norm=1.0).tensor()


def test_outputs_one_by_one(rng):
    net = sh.Network(rng.standard_normal((2, 3)), rng.standard_normal((4, 2)), norm=0.5)
    X = rng.standard_normal((5, 3))
    for m in range(4):
        np.testing.assert_allclose(net.output(m)(X), net(X)[:, m])
    with pytest.raises(sh.InvalidProblem, match="4 tensors"):
        net.tensor()
    with pytest.raises(sh.InvalidProblem, match="0 to 3"):
        net.output(4)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"W": [1.0, 2.0]}, "expected 2 axes"),
        ({"W": np.zeros((0, 2))}, "at least one neuron"),
        ({"W": [[np.nan]]}, "NaN"),
        ({"W": [["a"]]}, "real numbers"),
        ({"W": [[1.0]], "a": [1.0, 2.0]}, "for 1 neuron,"),
        ({"W": [[1.0]], "a": [np.inf]}, "infinite"),
        ({"W": [[1.0]], "activation": "relu"}, "expected Power"),
        ({"W": [[1.0]], "norm": [1.0, 2.0]}, "one for each output"),
    ],
)
def test_bad_networks_are_refused(arguments, what):
    with pytest.raises(sh.InvalidProblem, match=what):
        sh.Network(**arguments)


def test_points_of_the_wrong_dimension_are_refused():
    with pytest.raises(sh.InvalidProblem, match="2 coordinates"):
        sh.Network([[1.0, 2.0]])([1.0, 2.0, 3.0])


@pytest.mark.parametrize("activation", [sh.ReLU(), sh.Power(2), sh.Power(3)])
@pytest.mark.parametrize("a", [[1.0, -2.0, 0.5], [[1.0, 2.0, 3.0], [0.0, -1.0, 0.5]]])
def test_a_split_network_is_the_same_function(activation, a, rng):
    net = sh.Network(rng.standard_normal((3, 2)), a, activation)
    X = rng.standard_normal((20, 2))
    for alpha in (0.0, 0.3, 1.0):
        split = net.split(1, alpha)
        assert split.width == 4 and split.outputs == net.outputs
        np.testing.assert_allclose(split(X), net(X), rtol=1e-13, atol=1e-13)
        np.testing.assert_array_equal(split.W[[0, 3]], net.W[[0, 2]])


def test_relu_splits_in_the_inner_weights_and_others_in_the_outer_ones():
    relu = sh.Network([[4.0, 0.0]], [3.0], sh.ReLU()).split(0, 0.25)
    np.testing.assert_array_equal(relu.W, [[1.0, 0.0], [3.0, 0.0]])
    np.testing.assert_array_equal(relu.a, [3.0, 3.0])
    square = sh.Network([[4.0, 0.0]], [8.0], norm=2.0).split(0, 0.25)
    np.testing.assert_array_equal(square.a, [2.0, 6.0])
    assert square.norm == 2.0


def test_bad_splits_are_refused():
    net = sh.Network([[1.0, 0.0]], activation=sh.ReLU())
    for i in (-1, 1, True, 0.5):
        with pytest.raises(sh.InvalidProblem, match="cannot be split"):
            net.split(i, 0.5)
    with pytest.raises(sh.InvalidProblem, match="0 ≤ α ≤ 1"):
        net.split(0, 1.5)
    with pytest.raises(sh.InvalidProblem, match="alpha"):
        net.split(0, float("nan"))
