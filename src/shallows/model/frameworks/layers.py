"""Two linear layers with an activation between them as the parts of a network; PyTorch need not be there.

f(x) = A σ(Wx + b) + c. An output bias c is one more neuron, of weight zero and bias β with σ(β) ≠ 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shallows.model.activations import Activation
from shallows.support.checks import Array, describe
from shallows.support.errors import InvalidProblem

#: What may hold the weights in a file that has more than them.
WRAPPERS = ("state_dict", "model_state_dict", "model")


@dataclass(frozen=True)
class Layers:
    """A σ(Wx + b), what a network is made of."""

    W: Array
    a: Array
    activation: Activation
    bias: Array | None

    def __call__(self, x: Array) -> Array:
        """Its values at rows of x, shape (N, M)."""
        reach = x @ self.W.T
        return np.asarray(self.activation(reach if self.bias is None else reach + self.bias) @ self.a.T)


def layers_of_weights(state: Mapping[str, Any], activation: Activation) -> Layers:
    """What the weights of a `state_dict` of two linear layers make, in their order.

    >>> state = {"0.weight": np.eye(2), "0.bias": [1.0, 0.0], "2.weight": [[3.0, 4.0]]}
    >>> layers = layers_of_weights(state, sh.ReLU())
    >>> layers.a.tolist(), layers.bias.tolist()
    ([[3.0, 4.0]], [1.0, 0.0])
    """
    state = _unwrapped(state)
    weights = [key for key in state if key.endswith("weight")]
    ours = {*weights, *(key.removesuffix("weight") + "bias" for key in weights)}
    if len(weights) != 2 or not set(state) <= ours or any(np.ndim(state[key]) != 2 for key in weights):
        raise InvalidProblem(
            f"The weights have the keys {', '.join(map(str, state)) or '(none)'}; expected those of two linear layers, "
            "such as 0.weight, 0.bias, 2.weight, 2.bias."
        )
    parts = []
    for key in weights:
        bias = state.get(key.removesuffix("weight") + "bias")
        parts.append((numbers(state[key]), None if bias is None else numbers(bias)))
    (W, b), (A, c) = parts
    fits = (b is None or b.shape == (len(W),)) and (c is None or c.shape == (len(A),))
    if A.shape[1] != len(W) or not fits:
        shapes = ", ".join(f"{key} {tuple(np.shape(state[key]))}" for key in state)
        raise InvalidProblem(
            f"The layers do not fit together: {shapes}; expected (k, n), (k,), (M, k), (M,)."
        )
    return assembled(W, b, A, c, activation, 1.0)


def assembled(
    W: Array, b: Array | None, A: Array, c: Array | None, sigma: Activation, scale: float
) -> Layers:
    """A σ(β(Wx + b))/β + c without c and β."""
    W, A = scale * W, A / scale
    bias = None if b is None else scale * b
    if c is not None and np.any(c):
        level, value = _level(sigma)
        W = np.concatenate([W, np.zeros((1, W.shape[1]))])
        bias = np.append(np.zeros(len(W) - 1) if bias is None else bias, level)
        A = np.concatenate([A, c[:, None] / value], axis=1)
    return Layers(W, A, sigma, bias)


def numbers(tensor: Any) -> Array:
    """A tensor of any precision, or an array, in double precision."""
    return np.asarray(tensor.detach().cpu().double().numpy() if hasattr(tensor, "detach") else tensor, float)


def _unwrapped(state: Any) -> Mapping[str, Any]:
    """The mapping from names to tensors, also inside a checkpoint that has more."""
    for wrapper in WRAPPERS:
        if isinstance(state, Mapping) and isinstance(state.get(wrapper), Mapping):
            state = state[wrapper]
    if not isinstance(state, Mapping) or not all(isinstance(key, str) for key in state):
        raise InvalidProblem(f"The weights are {describe(state)}; expected a state_dict: names and tensors.")
    return state


def _level(sigma: Activation) -> tuple[float, float]:
    """β with σ(β) ≠ 0, and σ(β): 1 wherever it will do."""
    levels = np.array([1.0, 2.0, -1.0, 3.0, -2.0])
    values = np.asarray(sigma(levels))
    best = int(np.argmax(np.abs(values) > np.abs(values).max() / 2))
    return float(levels[best]), float(values[best])
