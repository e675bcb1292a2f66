"""Trained weights on disk as a network: NPZ files, and PyTorch's where it is installed. Nothing is unpickled.

weights.npz     W, and a, bias, norm where there are such; or a state_dict by its names (0.weight, 0.bias, …).
                Without a, the outer weights are the fixed ones of the problem, or ones
weights.pt      torch.save(module.state_dict(), "weights.pt")
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shallows.model.frameworks.layers import layers_of_weights
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.support.errors import InvalidProblem
from shallows.support.extras import needed
from shallows.support.npz import Archive

#: Endings of PyTorch's files.
TORCH = (".pt", ".pth")
#: The parts of a network in an NPZ file.
PARTS = ("W", "a", "bias", "norm")


def load_weights(path: str | Path, problem: Problem) -> Network:
    """The network of a file of weights, with the activation of the problem whose student it is.

    >>> import tempfile
    >>> problem = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/weights.npz", W=[[1.0, 0.0]], a=[2.0])
    ...     load_weights(f"{folder}/weights.npz", problem).tensor().to_matrix().tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """
    file = Path(path)
    if file.suffix not in (".npz", *TORCH):
        raise InvalidProblem(f"{file} is no file of weights; expected a name that ends in .npz, .pt or .pth.")
    if not file.is_file():
        raise InvalidProblem(f"There is no file {file}.")
    if file.suffix in TORCH:
        with needed("torch"):
            from shallows.model.frameworks.torch_file import state_of_file
        return Network.of_layers(layers_of_weights(state_of_file(file), problem.activation))
    arrays = Archive(file, file.read_bytes())
    if "W" not in arrays:
        return Network.of_layers(layers_of_weights(dict(arrays), problem.activation))
    unknown = [name for name in arrays if name not in PARTS]
    if unknown:
        raise InvalidProblem(
            f"{file} has {', '.join(unknown)}; expected {', '.join(PARTS)} and nothing else."
        )
    given: dict[str, Any] = {name: arrays[name] for name in PARTS if name in arrays}
    if "a" not in given and problem.outer is not None and len(given["W"]) == problem.width:
        given["a"] = problem.outer[0] if problem.outputs == 1 else problem.outer
    return Network(**given, activation=problem.activation)
