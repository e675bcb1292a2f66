"""Zeros of a gradient from many starts, by Newton's method on its finite differences: no code of the library's."""

from collections.abc import Callable

import numpy as np

#: The step of central differences, steps of Newton's method, and the longest of them as a share of the weights.
DIFFERENCE, STEPS, LONGEST = 1e-6, 60, 0.3


def damped_newton(
    gradient: Callable[[np.ndarray], np.ndarray], x: np.ndarray, rcond: float = 1e-9
) -> np.ndarray:
    """Where the rows of x end, at zeros or elsewhere; flat directions (below `rcond`) are left alone."""
    for _ in range(STEPS):
        ends = [
            (gradient(x + DIFFERENCE * e) - gradient(x - DIFFERENCE * e)) / (2 * DIFFERENCE)
            for e in np.eye(x.shape[1])
        ]
        inverse = np.linalg.pinv(np.stack(ends, axis=2), rcond=rcond)
        shift = -np.einsum("mij,mj->mi", inverse, gradient(x))
        size, length = (np.linalg.norm(v, axis=1, keepdims=True) for v in (shift, x))
        x = x + shift * np.minimum(1.0, LONGEST * length / np.maximum(size, 1e-300))
    return x
