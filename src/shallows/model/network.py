"""Shallow networks f(x) = Σᵢ aᵢ σ(wᵢ·x) + norm·‖x‖²."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Activation, Power, ReLU, checked_activation
from shallows.support.checks import Array, counted, finite_array, finite_number, points
from shallows.support.construction import Constructed, Construction
from shallows.support.errors import InvalidProblem


class Network(Constructed):
    """f(x) = Σᵢ aᵢ σ(wᵢ·x) + norm·‖x‖², rows of W are the neurons wᵢ.

    `a` defaults to ones; shape (k,) for one output, (M, k) for M outputs. `norm` is the weight of the norm
    neuron ‖x‖² of paper 002 (a number, or one for each output). Networks are immutable.

    >>> net = Network([[1.0, 0.0], [0.0, 2.0]], a=[1.0, -1.0])
    >>> float(net([3.0, 1.0]))
    5.0
    """

    __slots__ = ("W", "a", "activation", "norm")

    W: Array
    a: Array
    activation: Activation
    norm: float | Array

    def __init__(
        self,
        W: ArrayLike,
        a: ArrayLike | None = None,
        activation: Activation | None = None,
        norm: float | ArrayLike = 0.0,
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
        scale = finite_array("norm", norm, (0, 1))
        if scale.ndim == 1 and (outer.ndim == 1 or len(scale) != len(outer)):
            raise InvalidProblem(f"norm has shape {scale.shape}; expected a number, or one for each output.")
        object.__setattr__(self, "W", weights)
        object.__setattr__(self, "a", outer)
        object.__setattr__(self, "activation", activation)
        object.__setattr__(self, "norm", float(scale) if scale.ndim == 0 else scale)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Networks are immutable: make a new Network with the changed part.")

    def __reduce__(self) -> tuple[type[Network], tuple[Array, Array, Activation, float | Array]]:
        """Copies and pickles are made through the constructor: attributes cannot be set from outside."""
        return Network, (self.W, self.a, self.activation, self.norm)

    def construction(self) -> Construction:
        """Network(W, a, activation, norm)."""
        return self.constructed(W=self.W, a=self.a, activation=self.activation, norm=self.norm)

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
        hidden = self.activation(x @ self.W.T)
        squares = np.sum(x * x, axis=-1)
        if self.a.ndim == 1:
            return np.asarray(hidden @ self.a + self.norm * squares)
        return np.asarray(hidden @ self.a.T + np.multiply.outer(squares, self.norm * np.ones(self.outputs)))

    def tensor(self) -> SymmetricTensor:
        """τ(a, W) = Σᵢ aᵢ wᵢ^⊗d, plus norm·I when there is a norm neuron (degree 2, one output)."""
        if not isinstance(self.activation, Power):
            raise InvalidProblem(
                f"Only networks with a Power activation are tensors; this has {self.activation!r}."
            )
        if self.a.ndim != 1:
            raise InvalidProblem(
                f"A network with {self.outputs} outputs is {self.outputs} tensors: use net.output(m).tensor()."
            )
        tensor = SymmetricTensor.from_powers(self.W, self.a, self.activation.degree)
        if not np.any(self.norm):
            return tensor
        if self.activation.degree != 2:
            raise InvalidProblem(
                f"‖x‖² has degree 2 and the neurons degree {self.activation.degree}: their sum is not homogeneous."
            )
        return tensor + SymmetricTensor.from_matrix(float(self.norm) * np.eye(self.n))

    def output(self, m: int) -> Network:
        """The network of output m alone."""
        if not 0 <= m < self.outputs:
            raise InvalidProblem(f"output {m} was asked for; there are outputs 0 to {self.outputs - 1}.")
        norm = self.norm if isinstance(self.norm, float) else self.norm[m]
        return Network(self.W, np.atleast_2d(self.a)[m], self.activation, norm)

    def split(self, i: int, alpha: float) -> Network:
        """The same function with neuron i made two, at places i and i+1 (paper 003, section 4).

        ReLU neurons split in their inner weights, αwᵢ and (1−α)wᵢ, for 0 ≤ α ≤ 1 (positive homogeneity); neurons of
        any other activation in their outer weights, αaᵢ and (1−α)aᵢ.
        """
        if isinstance(i, bool) or not isinstance(i, Integral) or not 0 <= int(i) < self.width:
            raise InvalidProblem(f"Neuron {i!r} cannot be split; there are neurons 0 to {self.width - 1}.")
        share, i = finite_number("alpha", alpha), int(i)
        origin = np.insert(np.arange(self.width), i, i)
        W, a = self.W[origin], self.a[..., origin]
        parts = np.array([share, 1 - share])
        if isinstance(self.activation, ReLU):
            if not 0 <= share <= 1:
                raise InvalidProblem(
                    f"alpha is {share}; a ReLU neuron splits for 0 ≤ α ≤ 1: ReLU(αz) = α ReLU(z) needs α ≥ 0."
                )
            W[i : i + 2] *= parts[:, None]
        else:
            a[..., i : i + 2] *= parts
        return Network(W, a, self.activation, self.norm)

    def __repr__(self) -> str:
        parts = f"width={self.width}, n={self.n}, activation={self.activation!r}"
        if self.a.ndim == 2:
            parts += f", outputs={self.outputs}"
        if np.any(self.norm):
            parts += f", norm={self.norm}"
        return f"Network({parts})"
