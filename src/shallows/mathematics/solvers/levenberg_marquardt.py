"""Levenberg-Marquardt for a batch of sums of squares ‖r(θ)‖²: (JᵀJ + λI)δ = −Jᵀr, solved on the smaller side.

Each run has its own damping λ, changed by Nielsen's rule (Madsen, Nielsen and Tingleff 2004, algorithm 3.16): it falls
by up to a third with how well the quadratic model predicted the decrease, and grows by 2, 4, 8, … while steps are
refused. When to stop is the caller's to decide.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shallows.mathematics.solvers.rows import row_dots, row_norms
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON, TINY

#: θ (batch, p) ↦ r (batch, R) and J = ∂r/∂θ (batch, R, p).
Residual = Callable[[Array], tuple[Array, Array]]

#: The first damping, as a share of the largest squared column of J (Madsen, Nielsen and Tingleff 2004, (3.14): τ).
FIRST_DAMPING = 1e-3
#: Residuals carry roundings of about ε√scale, where `scale` is the size of ‖r‖² far from a minimum, and their sum of
#: squares about 2ε√scale‖r‖ (measured where ‖r‖² ≈ scale: 1e-15 to 1e-13). A predicted decrease below this share of
#: √scale‖r‖ is hidden by them: gradients decide instead. They must not decide earlier: where the fit is exact and J
#: badly conditioned, good steps raise the gradient.
RESOLUTION = 1e-12
#: Eigenvalues of a Gram matrix below this share of the largest one are rounding: those of G are exact to N ε ‖G‖, and
#: N is 50 or so.
SMALLEST_EIGENVALUE = 1e-14


class LevenbergMarquardt:
    """Points, residuals, Jacobians and damping of the runs that go on; `stuck` are those whose last step was lost.

    >>> def rosenbrock(theta):   # r = (1 − x, 10(y − x²))
    ...     x, y = theta.T
    ...     J = np.array([[-np.ones_like(x), 0 * x], [-20 * x, 10 * np.ones_like(x)]])
    ...     return np.array([1 - x, 10 * (y - x**2)]).T, J.transpose(2, 0, 1)
    >>> runs = LevenbergMarquardt(rosenbrock, np.array([[-1.2, 1.0], [3.0, -4.0]]))
    >>> for _ in range(40):
    ...     runs.step()
    >>> runs.theta.round(8).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """

    _rows = ("theta", "r", "J", "gradient", "damping", "factor", "stuck")

    def __init__(self, residual: Residual, starts: Array) -> None:
        self.residual, self.theta = residual, starts
        self.r, self.J = residual(starts)
        self.gradient = 2 * np.einsum("bri,br->bi", self.J, self.r)
        self.damping = FIRST_DAMPING * np.einsum("bri,bri->bi", self.J, self.J).max(axis=1) + TINY
        self.factor, self.stuck = np.full(len(starts), 2.0), np.zeros(len(starts), dtype=bool)

    def __len__(self) -> int:
        return len(self.theta)

    def squares(self) -> Array:
        """‖r‖² of each run."""
        return np.asarray(np.sum(self.r**2, axis=1))

    def keep(self, mask: np.ndarray) -> None:
        """Drop runs that have ended."""
        for name in self._rows:
            setattr(self, name, getattr(self, name)[mask])

    def step(self, scale: float = 0.0) -> None:
        """One damped step for all runs; those refused stay, with more damping.

        A step is taken when ‖r‖² falls, or, where the rounding of residuals of size √scale hides that, when the
        gradient does.
        """
        self.damping = np.maximum(self.damping, smallest_damping(self.J) + TINY)  # J may be zero
        step = solve_damped(self.J, self.r, self.damping)
        trial = self.theta + step
        self.stuck = np.all(trial == self.theta, axis=1)
        r, J = self.residual(trial)
        gradient = 2 * np.einsum("bri,br->bi", J, r)
        drop = self.squares() - np.sum(r**2, axis=1)
        predicted = row_dots(step, self.damping[:, None] * step - self.gradient / 2)
        hidden = predicted <= RESOLUTION * np.sqrt(scale * self.squares())
        calmer = row_norms(gradient) <= row_norms(self.gradient)
        taken = np.where(hidden, calmer, drop > 0) & np.isfinite(drop)
        gain = np.where(hidden, 1.0, drop / np.maximum(predicted, TINY))
        shrink = np.maximum(1 / 3, 1 - (2 * np.clip(gain, 0, 1) - 1) ** 3)
        self.damping = self.damping * np.where(taken, shrink, self.factor)
        self.factor = np.where(taken, 2.0, 2 * self.factor)
        self.theta, self.r = np.where(taken[:, None], trial, self.theta), np.where(taken[:, None], r, self.r)
        self.J = np.where(taken[:, None, None], J, self.J)
        self.gradient = np.where(taken[:, None], gradient, self.gradient)


def smallest_damping(J: Array) -> Array:
    """(m + n) ε ‖J‖²_F for J of m rows and n columns: below it rounding may leave JJᵀ + λI singular.

    Forming JJᵀ or JᵀJ is exact up to max(m, n) ε/2 ‖J‖²_F (Higham 2002, (3.13)), and the solve is backward stable to
    about as much again.
    """
    m, n = J.shape[1:]
    return np.asarray((m + n) * EPSILON * np.einsum("bri,bri->b", J, J))


def solve_damped(J: Array, r: Array, damping: Array) -> Array:
    """−(JᵀJ + λI)⁻¹Jᵀr = −Jᵀ(JJᵀ + λI)⁻¹r, whichever matrix is smaller."""
    rows, columns = J.shape[1:]
    Jt = J.swapaxes(-1, -2)
    if columns <= rows:
        matrix = Jt @ J + damping[:, None, None] * np.eye(columns)
        return np.asarray(-np.linalg.solve(matrix, Jt @ r[..., None])[..., 0])
    matrix = J @ Jt + damping[:, None, None] * np.eye(rows)
    return np.asarray(-(Jt @ np.linalg.solve(matrix, r[..., None]))[..., 0])


def gram_root(gram: Array) -> Array:
    """M with MMᵀ = G, as many columns as G has rank: xᵀGx = ‖Mᵀx‖²."""
    values, vectors = np.linalg.eigh(gram)
    keep = values > SMALLEST_EIGENVALUE * values[-1]
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))
