"""Bounds on rounding errors that hold for any order of summation (Higham 2002, chapter 3), and a verified Cholesky.

u = 2⁻⁵³ and γ_n = nu/(1 − nu): a sum of n floating-point products is off by at most γ_n times the sum of their sizes.
"""

from __future__ import annotations

import numpy as np

from shallows._checks import Array

UNIT = 2.0**-53
SLACK = 1 + 1e-9  # covers the rounding in evaluating the bounds themselves


def gamma(n: int) -> float:
    """γ_n = nu/(1 − nu)."""
    return n * UNIT / (1 - n * UNIT)


def smallest_eigenvalue_bound(gram: Array) -> float:
    """A proved lower bound on the smallest eigenvalue of a floating-point symmetric matrix; 0 when none is found.

    Rump (2006): if the floating-point Cholesky factorisation of G − cI runs to completion, then
    λ_min(G) ≥ c − γ_{F+2} (tr G + Fc)/(1 − γ_{F+2}). Shifts c are tried from a numerical estimate downwards.
    """
    from scipy.linalg import lapack

    size = len(gram)
    estimate = _smallest_eigenvalue(gram)
    error = gamma(size + 2) / (1 - gamma(size + 2)) * float(np.trace(gram)) * SLACK
    for share in (0.99, 0.9, 0.5, 0.1):
        shift = share * estimate
        if shift <= 2 * error:
            return 0.0
        shifted = gram.copy()
        shifted[np.diag_indices(size)] -= shift
        _, failed = lapack.dpotrf(shifted, lower=1, overwrite_a=1)
        if not failed:
            return shift - 2 * error
    return 0.0


def _smallest_eigenvalue(gram: Array, steps: int = 12) -> float:
    """An estimate from above by inverse iteration; zero when the matrix is not positive definite to rounding."""
    from scipy.linalg import lapack

    factor, failed = lapack.dpotrf(gram, lower=1)
    if failed:
        return 0.0
    vector = np.cos(np.arange(len(gram)))[:, None]  # any vector that no data set is orthogonal to by design
    for _ in range(steps):
        vector = vector / np.linalg.norm(vector)
        vector, _ = lapack.dpotrs(factor, vector, lower=1)
    return float(1 / np.linalg.norm(vector))
