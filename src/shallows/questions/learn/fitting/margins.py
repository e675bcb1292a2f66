"""Classes with a margin: the squared hinge loss as least squares on targets beyond the margin.

max(0, 1 − tf)² = min over ξ ≥ 0 of (t(1 + ξ) − f)², t = ±1: a sample on the right side, beyond 1, has no error and
pulls at nothing. So the fit that minimises mean max(0, 1 − tf)² + α‖A‖² is the ridge fit to the targets t·max(1, tf),
and the ridge fit to the samples within the margin alone. Newton's method finds which these are: fit to those that are
within, look again (O. Chapelle, Neural Computation 19, 2007), and where the loss would rise go only to its least on the
way: so it ends after finitely many steps (S. Keerthi, D. DeCoste, JMLR 6, 2005). With K the kernel of the features, I
the samples within, W the sum of the weights and b the free constant,

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
from scipy.optimize import brentq

from shallows.questions.learn.fitting.frame import Frame
from shallows.support.checks import Array

#: Newton's steps at most; 2 to 12 are taken, and more where hardly anything is penalised.
STEPS = 200
#: Samples this near the margin may be counted within it or beyond: there are no more digits in the outputs than that.
ON_IT = 1e-9
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
#: Newton's method starts from this share of the samples, where the ridge fit has less than `TOLD_APART` of them within
#: its margins. On digits 55% are within them and 7% to 21% in the end: a start from all of the 55% takes three times as
#: long, one from 8% twice. Whatever the start, the end is the same: the objective is strictly convex.
NEAREST, TOLD_APART = 0.25, 0.75
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


@dataclass(frozen=True, eq=False)
class _Point:
    """Fits f = Kβ + b, a column an output, and the triangular factor of the equations that they solve."""

    beta: Array
    constant: Array
    outputs: Array
    factor: Array

    def towards(self, other: _Point, share: float) -> _Point:
        """A share of the way to another."""
        return _Point(
            (1 - share) * self.beta + share * other.beta,
            (1 - share) * self.constant + share * other.constant,
            (1 - share) * self.outputs + share * other.outputs,
            other.factor,
        )


def _first(kernel: Array, T: Array, weights: Array, affine: bool, alpha: float) -> NDArray[np.bool_]:
    """A guess at the samples within the margins, from the ridge fit to ±1: one factorisation for all outputs.

    They are those within its own margins. Where classes can be told apart, that fit (which pulls back what is beyond)
    has far too many of them: then the `NEAREST` that are least on the right side.
    """
    sides = T * _solve(kernel, T, weights, affine, alpha, np.arange(len(T))).outputs
    within = sides < 1
    apart = within.mean(axis=0) < TOLD_APART
    return np.asarray(within & ((sides <= np.quantile(sides, NEAREST, axis=0)) | ~apart))


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
    here = None
    for _ in range(STEPS):
        rows = np.flatnonzero(within)
        there = _solve(kernel, t[:, None], weights, affine, alpha, rows)
        f = there.outputs[:, 0]
        moved = (t * f < 1) != within
        if np.all(np.abs(1 - t * f)[moved] <= ON_IT):
            break
        share = 1.0 if here is None else _share(here, there, t, weights, alpha)
        if share == 0.0:
            break
        here = there if here is None or share == 1.0 else here.towards(there, share)
        within = t * here.outputs[:, 0] < 1
    left_out = f.copy()
    leverage = 1 - alpha * weights.sum() / weights[rows] * _inverse_diagonal(there.factor, affine)
    alone = np.maximum(1 - leverage / np.maximum(weights[rows], 1.0), NO_OTHERS)
    left_out[rows] = t[rows] - (t - f)[rows] / alone
    return t * np.maximum(1.0, t * f), left_out, t * f < 1


def _share(here: _Point, there: _Point, t: Array, weights: Array, alpha: float) -> float:
    """How much of Newton's step to take: all of it, or up to the least loss on the way, which is convex."""
    f, step = here.outputs[:, 0], there.outputs[:, 0] - here.outputs[:, 0]
    beta, way = here.beta[:, 0], there.beta[:, 0] - here.beta[:, 0]
    form = step - (there.constant[0] - here.constant[0])  # K(β′ − β)
    first, second = beta @ form, way @ form

    def slope(share: float) -> float:
        errors = np.maximum(0.0, 1 - t * (f + share * step))
        return float(alpha * (first + share * second) - (weights * t * errors) @ step / weights.sum())

    if slope(1.0) <= 0:
        return 1.0
    return float(brentq(slope, 0.0, 1.0)) if slope(0.0) < 0 else 0.0


def _solve(
    kernel: Array, T: Array, weights: Array, affine: bool, alpha: float, rows: NDArray[np.intp]
) -> _Point:
    """The ridge fit to some samples, K_·I β + b at all of them; the factor is that of K_II + αW diag(1/w)."""
    across = kernel.take(rows, axis=0)
    matrix = across.take(rows, axis=1).T  # symmetric: the transpose is in LAPACK's order and is not copied
    matrix[np.diag_indices(len(rows))] += alpha * weights.sum() / weights[rows]
    factor, _ = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    solved = cho_solve((factor, True), np.column_stack([T[rows], np.ones(len(rows))]), check_finite=False)
    some, ones = solved[:, :-1], solved[:, -1]
    constant = some.sum(axis=0) / ones.sum() if affine else np.zeros(T.shape[1])
    beta = np.zeros(T.shape)
    beta[rows] = some - np.outer(ones, constant)
    return _Point(beta, constant, across.T @ beta[rows] + constant, factor)


def _inverse_diagonal(factor: Array, affine: bool) -> Array:
    """(C⁻¹)ᵢᵢ of the samples: that of A⁻¹ = (K_II + αW/w)⁻¹, less (A⁻¹1)ᵢ²/1ᵀA⁻¹1 for the free constant."""
    inverse, _ = lapack.dpotri(factor, lower=1)
    diagonal = np.diag(inverse).copy()
    if affine:
        ones = cho_solve((factor, True), np.ones(len(factor)), check_finite=False)
        diagonal -= ones**2 / ones.sum()
    return diagonal
