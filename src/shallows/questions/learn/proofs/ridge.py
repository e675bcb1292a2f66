"""The ridge penalty α‖A‖² and its gradient in ball arithmetic, A the coefficients in the data's own frame.

A = TᵀA′T for quadratic forms, a = Kᵀa′ with ψ(Tz) = Kψ(z) for other degrees; the constant is not penalised.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.fitting.least_squares import Solution
from shallows.questions.learn.proofs.form import entries_ball, frame_ball, matrix_ball


def ridge(solution: Solution, alpha: float) -> tuple[Ball, Ball]:
    """α‖A‖² summed over outputs, and half its gradient with respect to the coefficients in the frame."""
    squares, slopes = (_quadratic if solution.degree == 2 else _general)(solution)
    factor = Ball.exact(np.asarray(alpha))
    return factor * squares, factor * slopes


def _quadratic(solution: Solution) -> tuple[Ball, Ball]:
    T = frame_ball(solution.frame)
    squares, slopes = Ball.exact(np.zeros(())), []
    matrices = matrix_ball(solution.entries, solution.frame.size)
    for m in range(len(solution.entries)):
        original = T.T @ matrices[m] @ T
        if solution.frame.affine:
            original = original * Ball.exact(_all_but_last(original.mid.shape))
        squares = squares + (original * original).sum()
        slopes.append(entries_ball(T @ original @ T.T))
    return squares, Ball(np.array([s.mid for s in slopes]), np.array([s.rad for s in slopes]))


def _general(solution: Solution) -> tuple[Ball, Ball]:
    K = _substitution(solution)
    original = Ball.exact(solution.entries) @ K
    if solution.frame.affine:
        original = original * Ball.exact(_all_but_last(original.mid.shape[1:]))
    return (original * original).sum(), original @ K.T


def _all_but_last(shape: tuple[int, ...]) -> np.ndarray:
    """Ones with a zero in the last place: the constant's."""
    mask = np.ones(shape)
    mask[(-1,) * len(shape)] = 0.0
    return mask


def _substitution(solution: Solution) -> Ball:
    """`Frame.substitution` enclosed: K one degree at a time, x′^I = x′_{i1} · x′^(I∖i1)."""
    n, degree, T = solution.frame.size, solution.degree, frame_ball(solution.frame)
    rows = Ball.exact(np.ones((1, 1)))
    for d in range(1, degree + 1):
        table, places = coordinates.indices(n, d), coordinates.product_table(n, 1, d - 1)
        rest = coordinates.position(table[:, 1:], n) if d > 1 else np.zeros(n, dtype=np.intp)
        new = Ball.exact(np.zeros((len(table), len(table))))
        for j in range(n):
            term = T[table[:, 0], j][:, None] * rows[rest]
            summed = new[:, places[j]] + term
            new.mid[:, places[j]], new.rad[:, places[j]] = summed.mid, summed.rad
        rows = new
    root = np.sqrt(coordinates.multiplicities(n, degree))
    return Ball.rounded(root, 1)[:, None] * rows * Ball.rounded(1 / root, 2)
