"""What a chart with an orthogonality penalty lists, row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.network import Network
from shallows.questions.charts.points.point import Certificate
from shallows.support.checks import Array


@dataclass(frozen=True, eq=False)
class Row:
    """A critical pair (s, P), entries one after the other, and a network that has it.

    `kind` is "" where the Hessian in all weights is to tell; `family` are words and some tensors where there is one.
    """

    pair: Array
    network: Network
    rank: int
    signature: tuple[int, int, int]
    kind: str = ""
    certificate: Certificate | None = None
    dimension: int = 0
    family: tuple[str, tuple[SymmetricTensor, ...]] | None = None

    def __repr__(self) -> str:
        return f"Row(rank {self.rank}, signature {self.signature}, dimension {self.dimension})"

    @property
    def neurons(self) -> Array:
        """Those that are not zero."""
        return np.asarray(self.network.W[np.any(self.network.W != 0, axis=1)])


def pair_of(a: Array, W: Array) -> Array:
    """(Σ aᵢ wᵢwᵢᵀ, Σ wᵢwᵢᵀ).

    >>> pair_of(np.array([2.0]), np.array([[1.0, 3.0]]))
    array([ 2.,  6., 18.,  1.,  3.,  9.])
    """
    squares = coordinates.monomials(W, 2)
    return np.concatenate([a @ squares, squares.sum(axis=0)])
