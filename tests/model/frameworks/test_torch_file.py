"""PyTorch's files: weights are read, everything else is refused by name and never run."""

import pickle

import numpy as np
import pytest

import shallows as sh
from shallows.model.weights_file import load_weights

torch = pytest.importorskip("torch", reason="make test-frameworks installs it")
RELU = sh.Problem(sh.Network(np.eye(2), activation=sh.ReLU()), sh.Gaussian(2), width=3, bias=True)


@pytest.fixture
def module():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1, bias=False))


class Trap:
    """An object that would write a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize(
    "wrap", [lambda s: s, lambda s: {"state_dict": s}, lambda s: {"model": s, "epoch": 3}]
)
@pytest.mark.parametrize("old", [False, True])
def test_weights_are_read(tmp_path, module, wrap, old):
    torch.save(wrap(module.state_dict()), tmp_path / "w.pt", _use_new_zipfile_serialization=not old)
    net = load_weights(tmp_path / "w.pt", RELU)
    x = np.random.default_rng(0).standard_normal((5, 2))
    with torch.no_grad():
        assert net(x) == pytest.approx(module.double()(torch.tensor(x)).numpy()[:, 0])
    assert sh.diagnose(RELU, net).loss == RELU.loss(net)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64])
def test_every_precision_is_read(tmp_path, module, kind):
    torch.save(module.to(kind).state_dict(), tmp_path / "w.pth")
    read = load_weights(tmp_path / "w.pth", RELU)
    assert read.W.tolist() == module[0].weight.detach().double().tolist()


def test_whole_modules_are_refused(tmp_path, module):
    torch.save(module, tmp_path / "w.pt")
    with pytest.raises(sh.InvalidProblem, match="state_dict"):
        load_weights(tmp_path / "w.pt", RELU)


@pytest.mark.parametrize("where", ["alone", "pickle", "inside"])
def test_code_in_a_file_is_refused_and_not_run(tmp_path, module, where):
    trap, file = Trap(tmp_path / "sprung"), tmp_path / "w.pt"
    if where == "alone":
        torch.save(trap, file)
    elif where == "pickle":
        file.write_bytes(pickle.dumps(trap))
    else:
        torch.save({**module.state_dict(), "extra": trap}, file)
    with pytest.raises(sh.InvalidProblem, match="more than weights"):
        load_weights(file, RELU)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("content", [b"", b"PK", b"nonsense", b"\x80\x02."])
def test_damaged_files_are_refused(tmp_path, content):
    (tmp_path / "w.pt").write_bytes(content)
    with pytest.raises(sh.InvalidProblem, match="damaged"):
        load_weights(tmp_path / "w.pt", RELU)


@pytest.mark.parametrize("state", [[1.0], {"0.weight": torch.eye(2)}, {1: torch.eye(2)}, torch.eye(2)])
def test_other_contents_are_refused(tmp_path, state):
    torch.save(state, tmp_path / "w.pt")
    with pytest.raises(sh.InvalidProblem, match="expected"):
        load_weights(tmp_path / "w.pt", RELU)


def test_nan_weights_are_refused(tmp_path, module):
    with torch.no_grad():
        module[0].weight[0, 0] = float("nan")
    torch.save(module.state_dict(), tmp_path / "w.pt")
    with pytest.raises(sh.InvalidProblem, match="NaN"):
        load_weights(tmp_path / "w.pt", RELU)
