"""Files of weights: what is read, and what is refused by name; nothing in a file is run."""

import pickle

import numpy as np
import pytest

import shallows as sh
from shallows.model.frameworks.layers import layers_of_weights
from shallows.model.weights_file import load_weights

PROBLEM = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1)
RELU = sh.relu_problem(2)


def saved(folder, **arrays):
    np.savez(folder / "w.npz", **arrays)
    return folder / "w.npz"


def test_parts_and_state_dicts(tmp_path):
    net = load_weights(saved(tmp_path, W=[[1.0, 2.0]], a=[3.0]), PROBLEM)
    assert net.W.tolist() == [[1.0, 2.0]] and net.a.tolist() == [3.0]
    state = {"0.weight": np.float32([[1, 2]]), "2.weight": np.float32([[3]])}
    again = load_weights(saved(tmp_path, **state), PROBLEM)
    assert again.W.tolist() == net.W.tolist() and again.a.tolist() == net.a.tolist()
    assert load_weights(saved(tmp_path, W=np.eye(2)), RELU).a.tolist() == [1.0, 1.0]


def test_an_output_bias_is_one_more_neuron():
    state = {"in.weight": np.eye(2), "in.bias": np.ones(2), "out.weight": [[1.0, 2.0]], "out.bias": [5.0]}
    x = np.array([[0.3, -2.0]])
    values = np.maximum(x + 1, 0) @ [1.0, 2.0] + 5
    assert layers_of_weights(state, sh.ReLU())(x)[:, 0] == pytest.approx(values)


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"W": [[np.nan, 0.0]]}, "NaN"),
        ({"W": [1.0, 2.0]}, "shape"),
        ({"W": [["a", "b"]]}, "W"),
        ({"W": [[1.0, 0.0]], "momentum": [1.0]}, "momentum"),
        ({"0.weight": np.eye(2)}, "two linear layers"),
        ({"0.weight": np.eye(2), "2.weight": np.eye(3)}, "do not fit"),
        ({"0.weight": np.eye(2), "2.weight": np.ones((1, 2)), "3.running_mean": np.ones(1)}, "running_mean"),
        ({}, "none"),
    ],
)
def test_other_contents_are_refused(tmp_path, arrays, says):
    with pytest.raises(sh.InvalidProblem, match=says):
        load_weights(saved(tmp_path, **arrays), PROBLEM)


def test_other_shapes_are_refused_with_the_shapes(tmp_path):
    net = load_weights(saved(tmp_path, W=np.eye(3)), RELU)
    with pytest.raises(sh.InvalidProblem, match="width 3"):
        sh.diagnose(RELU, net)


class Trap:
    """An object that would write a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_pickled_arrays_are_not_unpickled(tmp_path):
    trap = np.array([Trap(tmp_path / "sprung")], dtype=object)
    np.savez(tmp_path / "w.npz", W=trap)
    with pytest.raises(sh.InvalidProblem, match="damaged"):
        load_weights(tmp_path / "w.npz", PROBLEM)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("name", ["w.npy", "w.pkl", "w", "w.onnx"])
def test_other_endings_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(sh.InvalidProblem, match=r"\.npz, \.pt or \.pth"):
        load_weights(tmp_path / name, PROBLEM)
    with pytest.raises(sh.InvalidProblem, match="no file"):
        load_weights(tmp_path / "none.npz", PROBLEM)


def test_damaged_files_are_refused(tmp_path):
    (tmp_path / "w.npz").write_bytes(b"PK nonsense")
    with pytest.raises(sh.InvalidProblem, match="damaged"):
        load_weights(tmp_path / "w.npz", PROBLEM)


def test_pickles_under_a_torch_name_are_never_run(tmp_path):
    """With PyTorch a typed refusal, without it the extra is named; the trap is sprung in neither case."""
    (tmp_path / "w.pt").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    with pytest.raises((sh.InvalidProblem, sh.MissingExtra)):
        load_weights(tmp_path / "w.pt", PROBLEM)
    assert not (tmp_path / "sprung").exists()
