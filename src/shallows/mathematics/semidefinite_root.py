"""A square root RᵀR = G of a metric that may vanish in some directions."""

from __future__ import annotations

import numpy as np

from shallows.support.checks import Array


def semidefinite_root(gram: Array) -> Array:
    """Upper triangular R with RᵀR = G: Cholesky's, or where G is singular to rounding by its eigenvectors.

    >>> root = semidefinite_root(np.array([[1.0, 1.0], [1.0, 1.0]]))
    >>> bool(np.allclose(root.T @ root, 1.0))
    True
    """
    try:
        return np.asarray(np.linalg.cholesky(gram).T)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(gram)
        return np.asarray(np.linalg.qr(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)[1])
