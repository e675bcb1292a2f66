"""The special metrics of quadrics modulo constants: those that rotations of the inputs leave alone.

For (ℓ, Q) in n inputs they are u₁‖ℓ‖² + u₂‖Q‖² + u₃(tr Q)²: odd moments vanish, and a symmetric matrix has two
invariant quadratic forms. Centred Gaussian data have u₃ = u₂/2, and u₃ = 0 once the best constant is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.continuation.metrics import Complex, Pair, combined
from shallows.support.checks import Array
from shallows.support.tolerances import SQRT_EPSILON


@dataclass(frozen=True)
class IsotropicMetrics:
    """These metrics on the entries of matrices in (x, 1) but the last, n counting the constant.

    >>> IsotropicMetrics(2).at(np.array([3.0, 2.0, 1.0], complex)).high.real     # one input: (Q₁₁, ℓ₁/2)
    array([[ 3.,  0.],
           [ 0., 12.]])
    """

    n: int
    kind: str = "rotation-invariant"

    @property
    def parameters(self) -> int:
        """u₁, u₂ and u₃."""
        return 3

    def at(self, u: Complex) -> Pair:
        """Σ_j u_j A_j."""
        return combined(np.asarray(u), _basis(self.n))

    def weights(self, gram: Array) -> Array | None:
        """The u of a matrix on these entries; None where it is no such metric, to half of the digits."""
        linear, square, trace = _basis(self.n)
        size, inputs = float(np.abs(gram).max()), int(np.count_nonzero(np.diag(linear)))
        u = np.array(
            [
                np.sum(np.diag(gram) * (np.diag(linear) > 0)) / (4 * inputs),
                np.sum(gram * (square - np.diag(np.diag(trace)))) / (2 * inputs * (inputs - 1)),
                np.sum(gram * (trace - np.diag(np.diag(trace)))) / (inputs * (inputs - 1)),
            ]
        )
        near = np.abs(np.einsum("p,pij->ij", u, _basis(self.n)) - gram).max() <= SQRT_EPSILON * size
        return u if near else None


@lru_cache(maxsize=64)
def _basis(n: int) -> Array:
    """The integer matrices of ‖ℓ‖², ‖Q‖² and (tr Q)², ℓᵢ twice the entry (i, n)."""
    rows, columns = coordinates.indices(n, 2)[:-1].T
    linear, diagonal = columns == n - 1, rows == columns
    return np.array(
        [
            np.diag(np.where(linear, 4.0, 0.0)),
            np.diag(np.where(linear, 0.0, np.where(diagonal, 1.0, 2.0))),
            np.outer(diagonal, diagonal).astype(np.float64),
        ]
    )
