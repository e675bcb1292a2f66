"""Quadratic-linear layers with their linear weights absorbed into symmetric matrices.

Layer l of a QL network maps v ∈ R^{h_{l−1}} to the h_l numbers vᵀA_i^(l)v with A_i = QΛ_iQᵀ (paper 002, appendix F.1).
With m_l ≥ h_{l−1}h_l neurons, as Theorem F.1 asks, the A_i are any symmetric matrices, so they are the parameters here,
in orthonormal coordinates (F = h(h+1)/2 numbers each; inner products are Frobenius). The last layer has one output a
target. A network of L layers is a form of degree 2^L.

The penalty of equation F.1, γ Σ_{l<L} ‖Q̃ᵀQ̃ − I‖² with Q̃ = [vec A_1, …, vec A_h], is the Gram matrix of
these rows; on the last layer it is zero for the eigendecomposition of A^(L) and drops out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.fitting.frame import features
from shallows.support.checks import Array, positive_integer
from shallows.support.errors import InvalidProblem


@dataclass(frozen=True)
class Shape:
    """Sizes h_0 (inputs), h_1, …, h_L (outputs) of a deep quadratic network."""

    sizes: tuple[int, ...]

    @classmethod
    def of(cls, inputs: int, hidden: Sequence[int], outputs: int) -> Shape:
        """Check the hidden sizes."""
        if isinstance(hidden, str) or not isinstance(hidden, Sequence):
            raise InvalidProblem(f"hidden is {hidden!r}; expected sizes h_1, …, h_(L−1), such as (20,).")
        return cls((inputs, *(positive_integer("a hidden size", h) for h in hidden), outputs))

    @property
    def depth(self) -> int:
        """L, the number of quadratic-linear layers."""
        return len(self.sizes) - 1

    @property
    def degree(self) -> int:
        """2^L."""
        return int(2**self.depth)

    @property
    def parts(self) -> list[tuple[int, int]]:
        """(h_l, F_{l−1}): the shape of each layer's coordinates."""
        return [(after, coordinates.dimension(before, 2)) for before, after in pairwise(self.sizes)]

    @property
    def size(self) -> int:
        """The number of parameters."""
        return sum(rows * columns for rows, columns in self.parts)

    def split(self, thetas: Array) -> list[Array]:
        """θ (batch, p) as one array (batch, h_l, F_{l−1}) a layer."""
        ends = np.cumsum([rows * columns for rows, columns in self.parts])[:-1]
        pieces = np.split(thetas, ends, axis=-1)
        return [
            piece.reshape(*thetas.shape[:-1], *shape) for piece, shape in zip(pieces, self.parts, strict=True)
        ]

    def join(self, layers: Sequence[Array]) -> Array:
        """The layers as θ."""
        lead = layers[0].shape[:-2]
        return np.concatenate([layer.reshape(*lead, -1) for layer in layers], axis=-1)

    def start(self, rng: np.random.Generator) -> Array:
        """Orthonormal random A_i in every layer but the last, which is zero: Q̃ᵀQ̃ = I, f = 0 (Theorem E.2).

        Where a layer has more forms than F there is no orthonormal set; its columns are orthonormal then.
        """
        layers = []
        for number, (rows, columns) in enumerate(self.parts, 1):
            if number == self.depth:
                layers.append(np.zeros((rows, columns)))
                continue
            tall, _ = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
            layers.append(tall if rows > columns else tall.T)
        return self.join(layers)


def forward(shape: Shape, theta: Array, Z: Array) -> Array:
    """The outputs of one network at homogenised inputs, (rows, outputs)."""
    v = Z
    for layer in shape.split(theta):
        v = features(v, 2) @ layer.T
    return np.asarray(v)


def penalty(layers: Sequence[Array], gamma: float) -> tuple[Array, list[Array]]:
    """γ Σ_{l<L} ‖A Aᵀ − I‖² and its gradients, for a batch."""
    value, slopes = np.zeros(layers[0].shape[:-2]), []
    for number, layer in enumerate(layers, 1):
        if number == len(layers) or not gamma:
            slopes.append(np.zeros_like(layer))
            continue
        excess = layer @ layer.swapaxes(-1, -2) - np.eye(layer.shape[-2])
        value = value + gamma * np.sum(excess**2, axis=(-1, -2))
        slopes.append(4 * gamma * excess @ layer)
    return value, slopes
