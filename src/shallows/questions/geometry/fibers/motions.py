"""Curved motions of the neurons that keep Σᵢ aᵢ wᵢwᵢᵀ: rescaling, rotations and hyperbolic boosts.

With a = ±1 =: J, every M with Mᵀ J M = J maps W to MW inside the fiber (paper 000, equation 34). `PlaneMotion`
turns a family of orthogonal planes span(uₖ, vₖ) of R^r by t·θₖ: circular planes lie within one sign of a, hyperbolic
ones between a positive and a negative direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgees

from shallows.questions.geometry.paths import Segment, State
from shallows.support.checks import Array
from shallows.support.errors import NotConverged

Rows = NDArray[np.intp]

#: Of LAPACK's dgees, in columns; what it asks for at the sizes met here.
WORKSPACE = 8


@dataclass(frozen=True, eq=False, repr=False)
class Rescale(Segment):
    """aᵢ → sign(aᵢ)|aᵢ|^(1−t), wᵢ → |aᵢ|^(t/2) wᵢ: the terms aᵢ wᵢwᵢᵀ stay, and aᵢ ends as ±1 (or 0)."""

    label: str
    start: State
    end: State

    @classmethod
    def to_signs(cls, state: State) -> Rescale:
        """The rescaling of every neuron with a ≠ 0 to a = ±1."""
        return cls("rescale to a = ±1", state, cls._moved(state, 1.0))

    @staticmethod
    def _moved(state: State, t: float) -> State:
        a, W = state
        size = np.where(a == 0.0, 1.0, np.abs(a))
        return np.sign(a) * size ** (1 - t), size[:, None] ** (t / 2) * W

    def at(self, t: float) -> State:
        """The parameters at t."""
        return self._moved(self.start, t)


@dataclass(frozen=True, eq=False, repr=False)
class PlaneMotion(Segment):
    """W(t) = M(t) W with M(t) turning the planes span(uₖ, vₖ) by t·θₖ, circularly or hyperbolically.

    With x = UᵀW, y = VᵀW, c = cos tθ, s = sin tθ (or cosh, sinh):
    circular W + U((c−1)x − s y) + V(s x + (c−1)y), hyperbolic W + U((c−1)x − s y) + V(−s x + (c−1)y).
    """

    label: str
    start: State
    end: State
    U: Array
    V: Array
    angles: Array
    hyperbolic: bool

    @classmethod
    def of(
        cls, label: str, state: State, U: Array, V: Array, angles: Array, hyperbolic: bool = False
    ) -> PlaneMotion:
        """The motion from `state`; columns of U and V are the planes' bases, orthonormal all together."""
        end = (state[0], _turned(state[1], U, V, angles, 1.0, hyperbolic))
        return cls(label, state, end, U, V, angles, hyperbolic)

    def at(self, t: float) -> State:
        """The parameters at t."""
        return self.start[0], _turned(self.start[1], self.U, self.V, self.angles, t, self.hyperbolic)


def _turned(W: Array, U: Array, V: Array, angles: Array, t: float, hyperbolic: bool) -> Array:
    x, y = U.T @ W, V.T @ W
    angle = (t * angles)[:, None]
    if hyperbolic:
        less, s = 2 * np.sinh(angle / 2) ** 2, np.sinh(angle)  # cosh − 1 without cancellation
        return W + U @ (less * x - s * y) + V @ (less * y - s * x)
    less, s = -2 * np.sin(angle / 2) ** 2, np.sin(angle)
    return W + U @ (less * x - s * y) + V @ (less * y + s * x)


def rotation_planes(R: Array) -> tuple[Array, Array, Array]:
    """Planes (U, V) and angles θ of R ∈ SO(m): R uₖ = cos θₖ uₖ + sin θₖ vₖ, and R is the identity elsewhere.

    From the real Schur form, which is block diagonal for an orthogonal matrix; eigenvalues −1 come in pairs.
    """
    T, _, _, _, Z, _, info = dgees(_unsorted, R, lwork=WORKSPACE * len(R))
    if info:
        raise NotConverged(
            f"LAPACK's dgees found no Schur form of a rotation of {len(R)} neurons (info = {info})."
        )
    below = np.diagonal(T, -1)
    first = np.flatnonzero(below)
    single = np.ones(len(R), dtype=bool)
    single[first] = single[first + 1] = False
    negative = np.flatnonzero(single & (np.diagonal(T) < 0.0))
    sine, cosine = below - np.diagonal(T, 1), np.diagonal(T)[:-1] + np.diagonal(T)[1:]
    angles = np.concatenate([np.arctan2(sine[first], cosine[first]), np.full(len(negative) // 2, np.pi)])
    ones, others = np.concatenate([first, negative[::2]]), np.concatenate([first + 1, negative[1::2]])
    return Z[:, ones], Z[:, others], angles


def _unsorted(real: float, imaginary: float) -> None:
    """LAPACK asks for a function to sort eigenvalues by; they are not sorted."""


def in_rows(block: Array, rows: Rows, width: int) -> Array:
    """A (len(rows), m) block written into the given rows of a (width, m) matrix of zeros."""
    padded = np.zeros((width, block.shape[1]))
    padded[rows] = block
    return padded
