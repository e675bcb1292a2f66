"""Inner products and norms of the rows of a batch."""

from __future__ import annotations

import numpy as np

from shallows.support.checks import Array


def row_dots(x: Array, y: Array) -> Array:
    """Inner products, row by row."""
    return np.asarray(np.einsum("ij,ij->i", x, y))


def row_norms(x: Array) -> Array:
    """Euclidean norms of rows; a row that is not finite has a norm that is not."""
    return np.asarray(np.sqrt(row_dots(x, x)))
