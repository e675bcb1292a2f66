"""A proved lower bound on the smallest eigenvalue of a Gram matrix that is known up to an error.

With a floating-point Cholesky factor C of Ĝ − cI, Ĝ = cI + CCᵀ + S and CCᵀ is positive semidefinite whatever C is, so
λ_min(G) ≥ c − ‖S‖ − ‖G − Ĝ‖. ‖S‖ is bounded by the largest row sum of |Ĝ − cI − fl(CCᵀ)| and γ_F‖C‖²_F, the rounding of
the product.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from shallows.mathematics.balls.arrays import UNIT, gamma, raised_number
from shallows.support.checks import Array

#: Shares of the estimated eigenvalue that are tried as bounds.
SHARES = (0.99, 0.9, 0.5, 0.1)


def smallest_eigenvalue_bound(gram: Array, error: float = 0.0) -> float:
    """A lower bound on λ_min of all symmetric matrices within `error` (spectral norm) of `gram`; 0 if none is found."""
    estimate = _smallest_eigenvalue(gram)
    for shift in (share * estimate for share in SHARES):
        if shift <= error:
            break
        shifted = gram.copy()
        shifted[np.diag_indices(len(gram))] -= shift
        factor, failed = lapack.dpotrf(shifted, lower=1, clean=1)
        if failed:
            continue
        bound = np.nextafter(shift - raised_number(_residual_norm(shifted, factor) + error, 1), -np.inf)
        return max(float(bound), 0.0)
    return 0.0


def _residual_norm(shifted: Array, factor: Array) -> float:
    """A bound on ‖(G − cI) − CCᵀ‖, where `shifted` is G − cI with its diagonal rounded."""
    size = len(shifted)
    rest = np.abs(shifted - factor @ factor.T)
    rows = raised_number(float(rest.sum(axis=1).max()), size + 1)
    product = gamma(size) * raised_number(float(np.sum(factor**2)), size * size + 1)
    return raised_number(rows + product + UNIT * float(np.abs(shifted.diagonal()).max()), 3)


def _smallest_eigenvalue(gram: Array, steps: int = 12) -> float:
    """An estimate from above by inverse iteration; zero when the matrix is not positive definite to rounding."""
    factor, failed = lapack.dpotrf(gram, lower=1)
    if failed:
        return 0.0
    vector = np.cos(np.arange(len(gram)))[:, None]  # any vector that no data set is orthogonal to by design
    for _ in range(steps):
        vector = vector / np.linalg.norm(vector)
        vector, _ = lapack.dpotrs(factor, vector, lower=1)
    return float(1 / np.linalg.norm(vector))
