"""Two classes with a margin: the squared hinge loss as least squares on targets beyond the margin.

max(0, 1 − tf)² = min over ξ ≥ 0 of (t(1 + ξ) − f)², t = ±1: a sample on the right side, beyond 1, has no error and
pulls at nothing. So the fit that minimises mean max(0, 1 − tf)² + α‖A‖² is the ridge fit to the targets t·max(1, tf),
and the ridge fit to the samples within the margin alone. Newton's method finds which these are: fit to those that are
within, look again (O. Chapelle, Neural Computation 19, 2007). With K the kernel of the features, I the samples within,
W the sum of the weights and b the free constant,

    (K_II + αW diag(1/w_I)) β + b = t_I,   Σ β = 0,   f = K_·I β + b.

Leaving out a sample beyond the margin changes nothing; one within has the error βᵢ / (C⁻¹)ᵢᵢ then, C the matrix of
these equations (G. Cawley, N. Talbot 2007), up to samples that would change sides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import inv, solve

from shallows.questions.learn.fitting.frame import Frame
from shallows.support.checks import Array

#: Newton's steps at most; 5 to 12 are taken.
STEPS = 50
#: Penalties that are looked at, as multiples of the one that generalised cross-validation chose for ±1.
MULTIPLES = 10.0 ** np.arange(2, -2.1, -0.5)
#: Samples up to which the kernel is factorised for every penalty: a second in all.
LARGEST = 1500


@dataclass(frozen=True, eq=False)
class Margin:
    """A fit with margin: outputs at the samples, what they would be if each were left out, and the penalty."""

    targets: Array
    left_out: Array
    alpha: float
    within: NDArray[np.bool_]

    @property
    def error(self) -> Array:
        """max(0, 1 − tf)² of each sample when it is left out."""
        return np.maximum(0.0, 1 - np.sign(self.targets) * self.left_out) ** 2

    def __repr__(self) -> str:
        return (
            f"Margin({int(self.within.sum())} of {len(self.within)} samples within, alpha={self.alpha:.3g})"
        )


def best_margin(X: Array, t: Array, weights: Array, affine: bool, alpha: float, search: bool) -> Margin:
    """The fit with the penalty α; with `search`, with that multiple of it whose left-out errors are least."""
    Z = Frame.standardising(X, weights, affine).apply(X)
    kernel = (Z @ Z.T) ** 2
    within = np.ones(len(t), bool)
    fits = []
    for multiple in MULTIPLES if search else (1.0,):
        fits.append(_fit(kernel, t, weights, affine, alpha * multiple, within))
        within = fits[-1].within
    return min(fits, key=lambda fit: float(weights @ fit.error))


def _fit(
    kernel: Array, t: Array, weights: Array, affine: bool, alpha: float, within: NDArray[np.bool_]
) -> Margin:
    """Newton's method from a guess at the samples within the margin."""
    for _ in range(STEPS):
        rows = np.flatnonzero(within)
        equations = _equations(kernel, weights, affine, alpha, rows)
        solved = solve(equations, np.append(t[rows], [0.0] * affine), assume_a="sym", check_finite=False)
        f = kernel[:, rows] @ solved[: len(rows)] + (solved[-1] if affine else 0.0)
        now = t * f < 1
        if np.array_equal(now, within) or not now.any():
            break
        within = now
    left_out, inverse = f.copy(), inv(equations, check_finite=False)
    left_out[rows] = t[rows] - solved[: len(rows)] / np.diag(inverse)[: len(rows)]
    return Margin(t * np.maximum(1.0, t * f), left_out, alpha, within)


def _equations(kernel: Array, weights: Array, affine: bool, alpha: float, rows: NDArray[np.intp]) -> Array:
    """C: the penalised kernel of some samples, bordered by the free constant."""
    size = len(rows)
    matrix = np.ones((size + affine, size + affine))
    matrix[:size, :size] = kernel[np.ix_(rows, rows)]
    matrix[np.arange(size), np.arange(size)] += alpha * weights.sum() / weights[rows]
    if affine:
        matrix[-1, -1] = 0.0
    return matrix
