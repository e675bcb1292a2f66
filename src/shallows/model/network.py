"""Shallow networks f(x) = Σᵢ aᵢ σ(wᵢ·x + bᵢ) + norm·‖x‖²."""

from __future__ import annotations

from math import isfinite
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Activation, Power, ReLU, checked_activation
from shallows.support.checks import Array, counted, finite_array, finite_number, points
from shallows.support.construction import Constructed, Construction
from shallows.support.errors import InvalidProblem
from shallows.support.extras import needed

if TYPE_CHECKING:
    from shallows.model.frameworks.layers import Layers


class Network(Constructed):
    """f(x) = Σᵢ aᵢ σ(wᵢ·x + bᵢ) + norm·‖x‖², rows of W are the neurons wᵢ.

    `a` defaults to ones; shape (k,) for one output, (M, k) for M outputs. `norm` is the weight of the norm
    neuron ‖x‖² of paper 002 (a number, or one for each output). `bias` is None or holds b, shape (k,). Networks are
    immutable.

    >>> net = Network([[1.0, 0.0], [0.0, 2.0]], a=[1.0, -1.0])
    >>> float(net([3.0, 1.0]))
    5.0
    >>> float(Network([[1.0, 0.0]], bias=[-1.0])([3.0, 1.0]))       # (x₁ − 1)²
    4.0
    """

    __slots__ = ("W", "a", "activation", "bias", "norm")

    W: Array
    a: Array
    activation: Activation
    norm: float | Array
    bias: Array | None

    def __init__(
        self,
        W: ArrayLike,
        a: ArrayLike | None = None,
        activation: Activation | None = None,
        norm: float | ArrayLike = 0.0,
        bias: ArrayLike | None = None,
    ) -> None:
        weights = finite_array("W", W, 2, "one row a neuron, one column an input; [w] for a single neuron w")
        if 0 in weights.shape:
            raise InvalidProblem(
                f"W has shape {weights.shape}; expected at least one neuron (row) and one input (column)."
            )
        outer = finite_array("a", np.ones(len(weights)) if a is None else a, (1, 2))
        if outer.shape[-1] != len(weights) or outer.shape[0] == 0:
            fix = ""
            if outer.ndim == 2 and len(outer) == len(weights):
                fix = " Fix: a.T"
            elif outer.ndim == 1 and len(outer) == weights.shape[1]:
                fix = " Fix: W.T, if its columns are the neurons."
            raise InvalidProblem(
                f"a has shape {outer.shape} for {counted(len(weights), 'neuron')}, the rows of W; expected "
                f"({len(weights)},) for one output or (M, {len(weights)}) for M outputs.{fix}"
            )
        activation = Power(2) if activation is None else checked_activation(activation)
        moved = None if bias is None else finite_array("bias", bias, 1)
        if moved is not None and len(moved) != len(weights):
            raise InvalidProblem(
                f"bias has shape {moved.shape} for {len(weights)} neurons; expected ({len(weights)},), one a neuron."
            )
        object.__setattr__(self, "W", weights)
        object.__setattr__(self, "a", outer)
        object.__setattr__(self, "activation", activation)
        object.__setattr__(self, "norm", _norm_weights(norm, outer))
        object.__setattr__(self, "bias", moved)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Networks are immutable: make a new Network with the changed part.")

    def __reduce__(
        self,
    ) -> tuple[type[Network], tuple[Array, Array, Activation, float | Array, Array | None]]:
        """Copies and pickles are made through the constructor: attributes cannot be set from outside."""
        return Network, (self.W, self.a, self.activation, self.norm, self.bias)

    def construction(self) -> Construction:
        """Network(W, a, activation, norm, bias)."""
        return self.constructed(
            W=self.W, a=self.a, activation=self.activation, norm=self.norm, bias=self.bias
        )

    @property
    def width(self) -> int:
        """The number of neurons, k."""
        return len(self.W)

    @property
    def n(self) -> int:
        """The number of inputs."""
        return int(self.W.shape[1])

    @property
    def outputs(self) -> int:
        """The number of outputs, M."""
        return 1 if self.a.ndim == 1 else len(self.a)

    def __call__(self, X: ArrayLike) -> Array:
        """f(x) at points of shape (…, n): shape (…) for one output (1-D `a`), (…, M) for M outputs."""
        x = points("X", X, self.n)
        reach = x @ self.W.T
        hidden = self.activation(reach if self.bias is None else reach + self.bias)
        squares = np.sum(x * x, axis=-1)
        if self.a.ndim == 1:
            return np.asarray(hidden @ self.a + self.norm * squares)
        return np.asarray(hidden @ self.a.T + np.multiply.outer(squares, self.norm * np.ones(self.outputs)))

    def tensor(self) -> SymmetricTensor:
        """τ(a, W) = Σᵢ aᵢ wᵢ^⊗d, plus norm·I when there is a norm neuron (degree 2, one output).

        With a bias it is Σᵢ aᵢ (bᵢ, wᵢ)^⊗d, a form in (1, x): n + 1 inputs, the constant first.
        """
        if not isinstance(self.activation, Power):
            raise InvalidProblem(
                f"Only networks with a Power activation are tensors; this has {self.activation!r}."
            )
        if self.a.ndim != 1:
            raise InvalidProblem(
                f"A network with {self.outputs} outputs is {self.outputs} tensors: use net.output(m).tensor()."
            )
        tensor = SymmetricTensor.from_powers(self.neurons, self.a, self.activation.degree)
        if not np.any(self.norm):
            return tensor
        if self.activation.degree != 2:
            raise InvalidProblem(
                f"‖x‖² has degree 2 and the neurons degree {self.activation.degree}: their sum is not homogeneous."
            )
        squares = np.eye(tensor.n)
        squares[: tensor.n - self.n] = 0.0
        return tensor + SymmetricTensor.from_matrix(float(self.norm) * squares)

    @property
    def neurons(self) -> Array:
        """What acts on the inputs: W, or with a bias (b, W), which acts on (1, x)."""
        return self.W if self.bias is None else np.column_stack([self.bias, self.W])

    def homogeneous(self) -> Network:
        """The same function as a network without bias on (1, x): neurons (bᵢ, wᵢ), n + 1 inputs, the constant first.

        >>> net = Network([[2.0]], bias=[1.0]).homogeneous()
        >>> net.W, float(net([1.0, 3.0]))        # (1 + 2·3)²
        (array([[1., 2.]]), 49.0)
        """
        W = np.column_stack([np.zeros(self.width) if self.bias is None else self.bias, self.W])
        if not np.any(self.norm):
            return Network(W, self.a, self.activation)
        if self.activation != Power(2):
            raise InvalidProblem(
                f"‖x‖² is no neuron of {self.activation!r} on (1, x): only Power(2) has it as n more neurons."
            )
        squares = np.multiply.outer(self.norm * np.ones(self.outputs), np.ones(self.n))
        outer = np.concatenate([np.atleast_2d(self.a), squares], axis=1)
        basis = np.eye(self.n, self.n + 1, 1)
        return Network(np.concatenate([W, basis]), outer[0] if self.a.ndim == 1 else outer)

    def affine(self) -> Network:
        """The inverse of `homogeneous`: a network on (1, x), read as one on x with the first weights as bias."""
        if self.n < 2 or self.bias is not None:
            raise InvalidProblem(
                f"{self!r} is not a network on (1, x): expected no bias and at least two inputs."
            )
        return Network(self.W[:, 1:], self.a, self.activation, bias=self.W[:, 0])

    @classmethod
    def from_torch(cls, module: Any, activation: Activation | None = None) -> Network:
        """The network that a PyTorch module computes: Linear, an activation, Linear (extra `torch`).

        Activations are ReLU, GELU, Tanh, Softplus, Sigmoid, SiLU and modules of one's own that are polynomials;
        `activation` is for those that stand as functions in `forward`. An output bias becomes one more neuron, of
        weight zero. What was read is compared with the module at random inputs, and refused where they differ.

            net = sh.Network.from_torch(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)))
        """
        with needed("torch"):
            from shallows.model.frameworks.torch_modules import layers_of
        return cls.of_layers(layers_of(module, activation))

    @classmethod
    def of_layers(cls, layers: Layers) -> Network:
        """The network of two linear layers."""
        a = layers.a[0] if len(layers.a) == 1 else layers.a
        return cls(layers.W, a, layers.activation, bias=layers.bias)

    def to_torch(self) -> Any:
        """Sequential(Linear, activation, Linear) in double precision that computes the same (extra `torch`)."""
        with needed("torch"):
            from shallows.model.frameworks.torch_modules import module_of
        return module_of(self)

    def output(self, m: int) -> Network:
        """The network of output m alone."""
        if not 0 <= m < self.outputs:
            raise InvalidProblem(f"output {m} was asked for; there are outputs 0 to {self.outputs - 1}.")
        norm = self.norm if isinstance(self.norm, float) else self.norm[m]
        return Network(self.W, np.atleast_2d(self.a)[m], self.activation, norm, self.bias)

    def split(self, i: int, alpha: float) -> Network:
        """The same function with neuron i made two, at places i and i+1 (paper 003, section 4).

        ReLU neurons split in their inner weights (and biases), αwᵢ and (1−α)wᵢ, for 0 ≤ α ≤ 1 (positive homogeneity);
        neurons of any other activation in their outer weights, αaᵢ and (1−α)aᵢ.
        """
        if isinstance(i, bool) or not isinstance(i, Integral) or not 0 <= int(i) < self.width:
            raise InvalidProblem(f"Neuron {i!r} cannot be split; there are neurons 0 to {self.width - 1}.")
        share, i = finite_number("alpha", alpha), int(i)
        origin = np.insert(np.arange(self.width), i, i)
        W, a = self.W[origin], self.a[..., origin]
        bias = None if self.bias is None else self.bias[origin]
        parts = np.array([share, 1 - share])
        if isinstance(self.activation, ReLU):
            if not 0 <= share <= 1:
                raise InvalidProblem(
                    f"alpha is {share}; a ReLU neuron splits for 0 ≤ α ≤ 1: ReLU(αz) = α ReLU(z) needs α ≥ 0."
                )
            W[i : i + 2] *= parts[:, None]
            if bias is not None:
                bias[i : i + 2] *= parts
        else:
            a[..., i : i + 2] *= parts
        return Network(W, a, self.activation, self.norm, bias)

    def __repr__(self) -> str:
        parts = f"width={self.width}, n={self.n}, activation={self.activation!r}"
        if self.a.ndim == 2:
            parts += f", outputs={self.outputs}"
        if np.any(self.norm):
            parts += f", norm={self.norm}"
        if self.bias is not None:
            parts += ", with bias"
        return f"Network({parts})"


def _norm_weights(norm: float | ArrayLike, outer: Array) -> float | Array:
    """The norm neuron's outer weights, checked: a number, or one for each output."""
    if type(norm) is float and isfinite(
        norm
    ):  # what most give: paths and training make networks by the thousand
        return norm
    scale = finite_array("norm", norm, (0, 1))
    if scale.ndim == 1 and (outer.ndim == 1 or len(scale) != len(outer)):
        raise InvalidProblem(f"norm has shape {scale.shape}; expected a number, or one for each output.")
    return float(scale) if scale.ndim == 0 else scale
