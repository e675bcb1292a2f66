"""Least squares on quadratic features by conjugate gradients, the features never formed.

For x with mean 0 and covariance I and nothing else known, take it for Gaussian: a quadratic f = xᵀPx + 2qᵀx
+ c then has variance 2‖P‖² + 4‖q‖² = 2‖A‖²_F, A = [[P, q], [qᵀ, 0]]. So in the whitening frame, and with the
constant projected out, plain conjugate gradients are conjugate gradients preconditioned by the Gaussian metric.
Without the homogenising coordinate that metric is 2‖A‖² + tr(A)², inverted in closed form: R ↦ (R − tr(R)/(D+2)
I)/2.

A step is one pass over the data, A ↦ Σ w (zᵀAz) zzᵀ: 4ND² operations and no memory beyond the data. The matrix G of the
normal equations would cost ND⁴/4.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.solvers.conjugate_gradients import End, conjugate_gradients
from shallows.questions.learn.fitting.frame import Frame, chunks, from_matrix
from shallows.questions.learn.fitting.least_squares import Solution
from shallows.support.checks import Array
from shallows.support.progress import Progress

#: The relative residual of the normal equations: the prediction is then off by a millionth of ‖y‖ at most where their
#: smallest curvature is 1e-12 of the largest, and rounding in a pass over the data is below it.
RESIDUAL = 1e-12


class Pass:
    """The operator A ↦ Σ w (f − f̄) zzᵀ + αWA with f = zᵀAz, as one pass over the rows."""

    def __init__(self, X: Array, weights: Array, frame: Frame, alpha: float) -> None:
        self.Z, self.weights, self.frame, self.alpha = frame.apply(X), weights, frame, alpha
        self.total = float(weights.sum())
        self.rows = chunks(len(X), self.Z.shape[1])
        self.mean = self.spread(np.ones(len(X))) / self.total  # Σ w zzᵀ / Σ w

    def values(self, A: Array) -> Array:
        """zᵀAz of every row."""
        result = np.empty(len(self.Z))
        for rows in self.rows:
            Z = self.Z[rows]
            np.einsum("ij,ij->i", Z @ A, Z, out=result[rows])
        return result

    def spread(self, r: Array) -> Array:
        """Σ w r zzᵀ."""
        total = np.zeros((self.Z.shape[1],) * 2)
        for rows in self.rows:
            Z = self.Z[rows]
            total += Z.T @ ((self.weights[rows] * r[rows])[:, None] * Z)
        return total

    def __call__(self, A: Array) -> Array:
        """The operator at A, in one pass."""
        total = np.zeros_like(A)
        for rows in self.rows:
            Z = self.Z[rows]
            f = np.einsum("ij,ij->i", Z @ A, Z)
            total += Z.T @ ((self.weights[rows] * f)[:, None] * Z)
        if self.frame.affine:
            total -= np.vdot(self.mean, A) * self.total * self.mean
        return self.without_constant(total + self.ridge(A))

    def ridge(self, A: Array) -> Array:
        """αW times half the gradient of the squared norm of the coefficients; the constant's is taken out later."""
        return np.asarray(self.alpha * self.total * A)

    def without_constant(self, A: Array) -> Array:
        """A with the constant's place empty: it is set at the end."""
        if self.frame.affine:
            A[-1, -1] = 0.0
        return A

    def precondition(self, R: Array) -> Array:
        """The inverse of the Gaussian metric of whitened data (up to a factor)."""
        if self.frame.affine:
            return R
        return np.asarray(R - np.trace(R) / (len(R) + 2) * np.eye(len(R)))


def conjugate(
    X: Array,
    Y: Array,
    weights: Array,
    frame: Frame,
    alpha: float,
    limit: int = 500,
) -> Solution:
    """Minimise Σ w (y − zᵀAz)² + αW‖A‖², one output after the other, to a relative residual of RESIDUAL.

    In a frame that does not whiten (chosen when the data leaves directions undetermined) the iteration
    starts at zero and stays in the range of the operator, so that it ends at the solution of minimum norm; a residual
    in directions the operator does not see ends it too.
    """
    operator = Pass(X, weights, frame, alpha)
    whitened = not np.array_equal(frame.T, np.eye(frame.size))

    def image(P: Array, _: np.ndarray) -> Array:
        return operator(P.reshape(frame.size, frame.size)).reshape(1, -1)

    def precondition(R: Array) -> Array:
        return operator.precondition(R.reshape(frame.size, frame.size)).reshape(1, -1)

    matrices, iterations, converged = [], 0, True
    with Progress(Y.shape[1] * limit, "conjugate gradients") as bar:
        for m in range(Y.shape[1]):
            level = float(weights @ Y[:, m]) / operator.total if frame.affine else 0.0
            right = operator.without_constant(operator.spread(Y[:, m] - level))
            found = conjugate_gradients(
                image,
                right.reshape(1, -1),
                RESIDUAL * float(np.linalg.norm(right)),
                limit,
                precondition=precondition if whitened else None,
                watch=bar.update,
            )
            A = found.x.reshape(right.shape)
            if frame.affine:
                A[-1, -1] = level - np.vdot(operator.mean, A)
            matrices.append(A)
            iterations = max(iterations, int(found.steps[0]))
            converged = converged and bool(found.end[0] != End.LIMIT)
    return Solution(frame, 2, from_matrix(np.array(matrices)), None, "conjugate", iterations, converged)
