"""A proved lower bound on the eigenvalues of a symmetric matrix given in balls."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, arb_mat

from shallows.mathematics.balls.rounding import below


def definite(matrix: Any) -> tuple[float, float]:
    """A proved lower bound on the smallest eigenvalue of a symmetric matrix of balls, and its double-precision value.

    With C the eigenvectors of the midpoint, CᵀAC is nearly diagonal and CᵀC nearly I. Gershgorin gives
    yᵀCᵀACy ≥ m‖y‖² and ‖Cy‖² ≤ M‖y‖², so λ ≥ m/M when m > 0; when not, nothing is proved and −∞ is returned.
    """
    n = matrix.nrows()
    middle = np.array([float(entry.mid()) for entry in matrix.entries()]).reshape(n, n)
    if not np.isfinite(middle).all():
        return float("-inf"), float("nan")
    values, vectors = np.linalg.eigh((middle + middle.T) / 2)
    frame = arb_mat(n, n, vectors.ravel().tolist())
    form = (frame.transpose() * matrix * frame).entries()
    gram = (frame.transpose() * frame).entries()
    lowest, widest = arb("inf"), arb(0)
    for i in range(n):
        row = range(i * n, (i + 1) * n)
        here = i * n + i
        around = sum((form[j].abs_upper() for j in row if j != here), arb(0))
        lowest = min(lowest, (form[here] - around).lower())
        widest = max(widest, sum((gram[j].abs_upper() for j in row), arb(0)).upper())
    bound = lowest / widest
    return (below(bound) if bound > 0 else float("-inf")), float(values[0])
