"""The flat parameter vector θ: W row by row, then the bias, then a if it is trained, then the norm neuron's weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.support.checks import Array, counted
from shallows.support.errors import InvalidProblem


@dataclass(frozen=True)
class Layout:
    """Where W (k, n), the bias (k,), a (M, k) and the norm weights (M,) stand in θ.

    Neurons are what acts on the inputs: W, or with a bias (b, W), shape (k, n + 1), which acts on (1, x).
    """

    width: int
    n: int
    outputs: int
    free: bool
    norm: bool
    bias: bool = False

    @property
    def size(self) -> int:
        """p, the number of trained parameters."""
        inner = self.width * (self.n + self.bias)
        return inner + self.free * self.outputs * self.width + self.norm * self.outputs

    def require_shape(self, width: int, n: int, outputs: int) -> None:
        """Refuse a network of another shape, and say what to change."""
        if (width, n, outputs) == (self.width, self.n, self.outputs):
            return
        if (n, width) == (self.width, self.n) and n != width:
            fix = "W is transposed: its rows are the neurons. Fix: Network(W.T, ...)"
        elif n != self.n:
            fix = f"Fix: W with {counted(self.n, 'column')}, or data with {counted(n, 'input')}."
        elif width != self.width:
            fix = f"Fix: W with {counted(self.width, 'row')}, or Problem(..., width={width})."
        else:
            fix = f"Fix: a of shape ({self.outputs}, {self.width})."
        raise InvalidProblem(
            f"The network has width {width}, {counted(n, 'input')} and {counted(outputs, 'output')}; "
            f"this problem's students have width {self.width}, {counted(self.n, 'input')} and "
            f"{counted(self.outputs, 'output')}. {fix}"
        )

    def split(self, theta: Array) -> tuple[Array, Array | None, Array | None]:
        """The neurons, a and the norm weights; leading axes are batches."""
        if theta.shape[-1:] != (self.size,):
            raise InvalidProblem(
                f"θ has shape {theta.shape}; its last axis must have {self.size} parameters: W ({self.width}×{self.n})"
                + (f", the bias ({self.width})" if self.bias else "")
                + (f", a ({self.outputs}×{self.width})" if self.free else "")
                + (", the norm neuron's weight" if self.norm else "")
                + "."
            )
        lead, inner = theta.shape[:-1], self.width * self.n
        neurons = theta[..., :inner].reshape(*lead, self.width, self.n)
        if self.bias:
            neurons = np.concatenate([theta[..., inner : inner + self.width, None], neurons], axis=-1)
            inner += self.width
        outer = norm = None
        if self.free:
            end = inner + self.outputs * self.width
            outer = theta[..., inner:end].reshape(*lead, self.outputs, self.width)
        if self.norm:
            norm = theta[..., self.size - self.outputs :]
        return neurons, outer, norm

    def places(self) -> tuple[list[list[int]], list[list[int]] | None]:
        """Where in θ each neuron's entries stand, the bias first, and each output's outer weights if trained."""
        neurons, outer, _ = self.split(np.arange(float(self.size)))
        return neurons.astype(int).tolist(), None if outer is None else outer.astype(int).tolist()

    def join(self, neurons: Array, outer: Array | None, norm: Array | None) -> Array:
        """θ from its parts; those that are not trained are left out."""
        lead = neurons.shape[:-2]
        W = neurons[..., 1:] if self.bias else neurons
        parts = [W.reshape(*lead, self.width * self.n)]
        if self.bias:
            parts.append(neurons[..., 0])
        if self.free:
            assert outer is not None
            parts.append(outer.reshape(*lead, self.outputs * self.width))
        if self.norm:
            assert norm is not None
            parts.append(norm)
        return np.concatenate(parts, axis=-1) if len(parts) > 1 else parts[0]
