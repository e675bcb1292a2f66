"""The special metrics of polynomials of some degrees: those that rotations leave alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.questions.charts.continuation.metrics import Complex, Pair, combined
from shallows.questions.charts.continuation.rotation_invariant import degree_pairs, rotation_invariant_basis


@dataclass(frozen=True)
class RotationInvariantMetrics:
    """The metrics G_IJ = u_{|I|,|J|} mult(I) mult(J) E[z^{I+J}] on polynomials of these degrees in n inputs.

    >>> RotationInvariantMetrics((0, 2), 1).at(np.array([1.0, 1.0, 1.0], complex)).high.real     # 1, x²: E x⁴ = 3
    array([[1., 1.],
           [1., 3.]])
    """

    degrees: tuple[int, ...]
    n: int
    kind: str = "rotation-invariant"

    @property
    def parameters(self) -> int:
        """One a pair of degrees of one parity."""
        return len(degree_pairs(self.degrees))

    def at(self, u: Complex) -> Pair:
        """Σ u_ij A_ij."""
        return combined(np.asarray(u), rotation_invariant_basis(self.degrees, self.n))
