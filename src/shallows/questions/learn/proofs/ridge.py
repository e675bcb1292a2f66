"""The ridge penalty αW‖a‖² in ball arithmetic, and what it proves: its own curvature is enough for a certificate.

a are the coefficients in the frame of the fit, all but the constant's c. With Q(a, c) = Σ w (y − aᵀψ − c)² + αW‖a‖²
and g_a = Σ w rψ − αWa, g_c = Σ w r, the best c is g_c²/W lower, and there the gradient in a is
−2(g_a − (g_c/W) Σ wψ). What is left is convex with Hessian at least 2αW, so

    Q − min Q ≤ g_c²/W + ‖g_a − (g_c/W) Σ wψ‖² / (αW).

No Gram matrix is needed, and it may be singular: one-hot and constant columns, fewer samples than features.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.balls.arrays import Ball, raised_number
from shallows.questions.learn.fitting.least_squares import Solution
from shallows.support.checks import Array


def ridge(solution: Solution, alpha: float, weight: Ball) -> tuple[Ball, Ball]:
    """αW‖a‖² summed over outputs, and half its gradient."""
    a = Ball.exact(_penalised(solution.entries, solution.frame.affine))
    factor = Ball.exact(np.asarray(alpha)) * weight
    return factor * (a * a).sum(), factor * a


def ridge_gap(
    gradient: Ball, doubt: float, affine: bool, alpha: float, weight: Ball, features: float
) -> float:
    """A bound on L − min L, L = Q/W, from a bound on ‖Σ wψ‖."""
    W = float(weight.lower)
    inner, constant = gradient.norm(), 0.0
    if affine:
        last = gradient[:, -1:]
        constant = raised_number(last.norm() + doubt, 2)
        inner = Ball(_penalised(gradient.mid, True), _penalised(gradient.rad, True)).norm()
    reduced = raised_number(inner + doubt + constant / W * features, 6)
    return raised_number(constant**2 / W**2 + reduced**2 / (alpha * W**2), 12)


def _penalised(entries: Array, affine: bool) -> Array:
    """The entries with a zero for the constant's."""
    result = np.array(entries)
    if affine:
        result[..., -1] = 0.0
    return result
