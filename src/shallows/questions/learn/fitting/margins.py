"""Classes with a margin: the squared hinge loss as least squares on targets beyond the margin.

max(0, 1 − tf)² = min over ξ ≥ 0 of (t(1 + ξ) − f)², t = ±1: a sample on the right side, beyond 1, has no error and
pulls at nothing. So the fit that minimises mean max(0, 1 − tf)² + α‖A‖² is the ridge fit to the targets t·max(1, tf),
and the ridge fit to the samples within the margin alone. Newton's method finds which these are: fit to those that are
within, look again (O. Chapelle, Neural Computation 19, 2007). With K the kernel of the features, I the samples within,
W the sum of the weights and b the free constant,

    (K_II + αW diag(1/w_I)) β + b = t_I,   Σ β = 0,   f = K_·I β + b.

Leaving out a sample beyond the margin changes nothing; one within has the error βᵢ / (C⁻¹)ᵢᵢ then, C the matrix of
these equations (G. Cawley, N. Talbot 2007), up to samples that would change sides: (t − f) / (1 − h) with the leverage
h = 1 − αW (C⁻¹)ᵢᵢ / wᵢ. A sample of weight w > 1 counts like w samples, of which one is left out, with leverage h/w.

Several classes have one output each, t = 1 for the class itself, and one penalty: the one for which the true class is
farthest before the best other one at samples left out, mean max(0, 1 − (f_c − max f_m)/2)². They share the kernel and
the first factorisation; what each has of its own are the samples within its margin, which are few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, lapack

from shallows.questions.learn.fitting.frame import Frame
from shallows.support.checks import Array

#: Newton's steps at most; 2 to 12 are taken.
STEPS = 50
#: αW, where the search begins: an error of 1 at one sample costs as much as ‖A‖² = 1, as in a support vector machine
#: of C = 1/2 with the same kernel. On 24 public data sets the best is within a factor of 100 of it, while generalised
#: cross-validation, with fewer samples than features, takes 10⁻⁷ on some.
FIRST = 1.0
#: The factor between penalties that are compared.
STEP = 10.0**0.5
#: Steps at most from the first penalty to either side: a factor of 10⁴.
FARTHEST = 8
#: 1 − h of a sample that alone decides its output is known to rounding only: errors are at most this much magnified.
NO_OTHERS = 1e-6
#: Samples up to which "auto" asks for margins: the kernel of so many is factorised in a second or two.
LARGEST = 2000


@dataclass(frozen=True, eq=False)
class Margin:
    """A fit with margin: the targets that it is least squares to, outputs at samples left out, and the penalty.

    All have a row a sample and a column an output.
    """

    targets: Array
    left_out: Array
    alpha: float
    within: NDArray[np.bool_]

    @property
    def error(self) -> Array:
        """max(0, 1 − m)² of each sample when it is left out, m half the lead of the true class over the best other."""
        if self.targets.shape[1] == 1:
            lead = (np.sign(self.targets) * self.left_out)[:, 0]
        else:
            own = self.targets > 0
            rest = np.where(own, -np.inf, self.left_out).max(axis=1)
            lead = (np.where(own, self.left_out, -np.inf).max(axis=1) - rest) / 2
        return np.asarray(np.maximum(0.0, 1 - lead) ** 2)

    def __repr__(self) -> str:
        share, outputs = float(self.within.mean()), self.within.shape[1]
        return f"Margin({share:.0%} of samples within, {outputs} outputs, alpha={self.alpha:.3g})"


def best_margin(X: Array, T: Array, weights: Array, affine: bool, alpha: float | None = None) -> Margin:
    """The fit to targets ±1 (a column an output) with the penalty α; without one, with the best for samples left out.

    The search goes from `FIRST` downhill, to less penalty if that is better than none of it, else to more.
    """
    Z = Frame.standardising(X, weights, affine).apply(X)
    kernel, total = (Z @ Z.T) ** 2, float(weights.sum())
    if alpha is not None:
        return _fit(kernel, T, weights, affine, alpha, _first(kernel, T, weights, affine, alpha))
    start = FIRST / total
    best = _fit(kernel, T, weights, affine, start, _first(kernel, T, weights, affine, start))
    for factor in (1 / STEP, STEP):
        moved = False
        for _ in range(FARTHEST):
            now = _fit(kernel, T, weights, affine, best.alpha * factor, best.within)
            if not weights @ now.error < weights @ best.error:
                break
            best, moved = now, True
        if moved:
            break
    return best


def _first(kernel: Array, T: Array, weights: Array, affine: bool, alpha: float) -> NDArray[np.bool_]:
    """Samples within the margins of the ridge fit to ±1: one factorisation for all outputs."""
    rows = np.arange(len(T))
    beta, constant, _ = _solve(kernel, T, weights, affine, alpha, rows)
    return np.asarray(T * (kernel @ beta + constant) < 1)


def _fit(
    kernel: Array, T: Array, weights: Array, affine: bool, alpha: float, within: NDArray[np.bool_]
) -> Margin:
    """Newton's method, an output after the other, from a guess at the samples within the margins."""
    columns = [
        _fit_output(kernel, t, weights, affine, alpha, guess) for t, guess in zip(T.T, within.T, strict=True)
    ]
    targets, left_out, inside = (np.stack(parts, axis=1) for parts in zip(*columns, strict=True))
    return Margin(targets, left_out, alpha, inside)


def _fit_output(
    kernel: Array, t: Array, weights: Array, affine: bool, alpha: float, within: NDArray[np.bool_]
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Targets, outputs left out and samples within the margin of one output."""
    within = within if within.any() else np.ones(len(t), bool)
    for _ in range(STEPS):
        rows = np.flatnonzero(within)
        beta, constant, factor = _solve(kernel, t[:, None], weights, affine, alpha, rows)
        everywhere = np.zeros(len(t))
        everywhere[rows] = beta[:, 0]
        f = kernel @ everywhere + constant[0]
        now = t * f < 1
        if np.array_equal(now, within) or not now.any():
            break
        within = now
    left_out = f.copy()
    leverage = 1 - alpha * weights.sum() / weights[rows] * _inverse_diagonal(factor, affine)
    alone = np.maximum(1 - leverage / np.maximum(weights[rows], 1.0), NO_OTHERS)
    left_out[rows] = t[rows] - (t - f)[rows] / alone
    return t * np.maximum(1.0, t * f), left_out, within


def _solve(
    kernel: Array, T: Array, weights: Array, affine: bool, alpha: float, rows: NDArray[np.intp]
) -> tuple[Array, Array, Array]:
    """β and b of some samples, a column an output, and the triangular factor of K_II + αW diag(1/w)."""
    matrix = kernel.take(rows, axis=0).take(rows, axis=1)
    matrix[np.diag_indices(len(rows))] += alpha * weights.sum() / weights[rows]
    factor, _ = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    solved = cho_solve((factor, True), np.column_stack([T[rows], np.ones(len(rows))]), check_finite=False)
    beta, ones = solved[:, :-1], solved[:, -1]
    constant = beta.sum(axis=0) / ones.sum() if affine else np.zeros(T.shape[1])
    return beta - np.outer(ones, constant), constant, factor


def _inverse_diagonal(factor: Array, affine: bool) -> Array:
    """(C⁻¹)ᵢᵢ of the samples: that of A⁻¹ = (K_II + αW/w)⁻¹, less (A⁻¹1)ᵢ²/1ᵀA⁻¹1 for the free constant."""
    inverse, _ = lapack.dpotri(factor, lower=1)
    diagonal = np.diag(inverse).copy()
    if affine:
        ones = cho_solve((factor, True), np.ones(len(factor)), check_finite=False)
        diagonal -= ones**2 / ones.sum()
    return diagonal
