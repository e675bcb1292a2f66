"""Neurons that have merged in one place, in two inputs: the sum of c_k C(d,k) w^(d−k)v^k over k < m, c_(m−1) ≠ 0.

With f(t) = (w + tv)^d it is Σ c_k f^(k)(0)/k!, the limit of m neurons w + tᵢv with Σᵢ aᵢ tᵢ^k = c_k. Networks beside it
have nodes tᵢ with Σ tᵢ = 0, say, and all of them real:

    f[t₁, …, t_m] = f^(m−1)/(m−1)! + (Σ tᵢ²/2) f^(m+1)/(m+1)! + …,

so that up to directions along such limits, f, …, f^(m), networks are on the side of c_(m−1) f^(m+1) (`inward`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.tensors.curves import curve_coefficients
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON


@dataclass(frozen=True)
class Jet:
    """w and v, (2,), and the c, (m,)."""

    w: Array
    v: Array
    c: Array

    @property
    def size(self) -> int:
        """How many neurons have merged, m."""
        return len(self.c)

    @property
    def signed(self) -> tuple[int, int]:
        """How many of them have positive and negative outer weights: signs alternate, the outermost is that of c."""
        more, less = (self.size + 1) // 2, self.size // 2
        return (more, less) if self.c[-1] > 0 else (less, more)

    def entries(self, degree: int) -> Array:
        """The tensor's entries."""
        return np.asarray(self.c @ self._derivatives(degree)[: self.size])

    def inward(self, degree: int) -> Array:
        """c_(m−1) f^(m+1), divided by its largest entry."""
        entries = np.sign(self.c[-1]) * self._derivatives(degree)[self.size + 1]
        return np.asarray(entries / np.abs(entries).max())

    def neurons(self) -> tuple[Array, Array]:
        """Directions, a row each, and outer weights of m neurons that are about to merge.

        They stand δ = ε^(1/2m) apart: losses sum squares of terms that are δ^(1−m) times as large as the function, so
        that their rounding is about as large as what the distance leaves, δ².
        """
        nodes = EPSILON ** (1 / (2 * self.size)) * np.linspace(-1.0, 1.0, self.size)
        weights = np.asarray(np.linalg.solve(np.vander(nodes, increasing=True).T, self.c), np.float64)
        return self.w + nodes[:, None] * self.v, weights

    def _derivatives(self, degree: int) -> Array:
        """f^(k)(0)/k!, a row each."""
        return np.asarray(curve_coefficients(self.w, self.v, 0 * self.v, degree))
