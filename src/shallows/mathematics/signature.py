"""The signature of a symmetric matrix that is known up to an error, from its eigenvalues in floating point.

Weyl: the eigenvalues of H and H + E differ by at most ‖E‖ each. So an eigenvalue beyond that bound has the sign of the
true one, and those within it are undecided: they count as zero. Two things make up E: what the eigenvalue solver rounds
(LAPACK is backward stable, ‖E‖ ≤ p(n) ε ‖H‖ with p a modest function of n, of which n itself is a safe value in
practice: E. Anderson et al., "LAPACK Users' Guide", 1999, section 4.7), and what the caller knows H to be wrong by.
Signatures that are proved come from `balls.inertia`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from shallows.support.tolerances import EPSILON


def error_bound(eigenvalues: ArrayLike, error: float = 0.0, scale: float = 0.0) -> float:
    """How far each eigenvalue may be off: (n ε + error) ‖H‖.

    `error` is that of H, relative to its norm, or to `scale` where that is larger: H may be a difference of larger
    matrices.
    """
    values = np.asarray(eigenvalues, np.float64)
    return float((values.shape[-1] * EPSILON + error) * np.max(np.abs(values), initial=scale))


def signature(eigenvalues: ArrayLike, error: float = 0.0, scale: float = 0.0) -> tuple[int, int, int]:
    """How many eigenvalues are positive, zero (or undecided) and negative; see `error_bound`.

    >>> signature([-1.0, 1e-17, 2.0]), signature([-1e-9, 1.0]), signature([-1e-9, 1.0], error=1e-8)
    ((1, 1, 1), (1, 0, 1), (1, 1, 0))
    """
    return decided(eigenvalues, error_bound(eigenvalues, error, scale))


def decided(eigenvalues: ArrayLike, bounds: ArrayLike) -> tuple[int, int, int]:
    """The same with a bound on the error, or one for each eigenvalue.

    >>> decided([-1.0, 0.1, 2.0], [0.5, 0.5, 0.01])
    (1, 1, 1)
    """
    values, off = np.asarray(eigenvalues, np.float64), np.asarray(bounds, np.float64)
    positive, negative = int(np.sum(values > off)), int(np.sum(values < -off))
    return positive, values.size - positive - negative, negative
