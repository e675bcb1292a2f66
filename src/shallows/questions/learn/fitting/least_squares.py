"""Least squares on polynomial features: the convex counterpart of every network here (paper 002, equation 2.5).

Minimise Σ w (y − aᵀψ(z′))² + αW‖a‖², W = Σ w, the coefficient of the constant left free: α counts the same whatever the
number of samples. Penalised are the coefficients in the frame of the fit, which for α > 0 is the standardising one, so
that units do not matter either. For α = 0, where the data leaves directions undetermined, the solution of smallest norm
is taken, in the coordinates the data was given in.

| method | cost | when |
| --- | --- | --- |
| "dense" | N·F² once, N·F memory (F features) | small data: a QR factorisation, an SVD when it is near singular |
| "statistics" | N·F² once, F² memory | streams; squares the condition number, which whitening keeps small |
| "conjugate" | N·D² a step, N·D memory | degree 2, large data: see `conjugate` |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack, qr, solve_triangular, svd

from shallows.mathematics.numerical_rank import rank_of
from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.fitting.frame import Frame, features
from shallows.questions.learn.fitting.statistics import Statistics
from shallows.support.checks import Array

#: Singular values (of features, or of their Gram matrix) below this share of the largest are undetermined directions:
#: whitened features have others of size 1, and rounding leaves about 1e-13 of one that is zero.
SINGULAR = 1e-10
#: A triangular factor with a reciprocal condition above this is solved at once: nine digits are left.
SAFE = 1e-7
#: With fewer samples than features, in the data's own frame: a few hundred ε, the rounding of an SVD.
REPEATED = 1e-13
#: A monomial is named as undetermined when more than this share of it is.
NAMED_SHARE = 1e-6
#: What undetermined directions leave of the penalised coefficients is singular below this share.
INVISIBLE = 1e-12


@dataclass(frozen=True, eq=False)
class Undetermined:
    """Directions of the feature space in which the data says nothing.

    `dimension` of the `features` are free; `share[I]` is how much of monomial I lies there.

    >>> import warnings
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [0.0, -1.0]])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", sh.learn.UndeterminedWarning)
    ...     model = sh.learn.QuadraticNetRegressor(alpha=0.0).fit(X, X[:, 0])
    >>> model.undetermined_, model.undetermined_.names(["x", "y", "1"], degree=2)   # xy is zero in every sample
    (Undetermined(1 of 6 directions), ['x·y'])
    """

    dimension: int
    features: int
    share: Array

    def names(self, columns: list[str], degree: int, limit: int = 5) -> list[str]:
        """The monomials most affected, written with the names of the columns."""
        table = coordinates.indices(len(columns), degree)
        worst = [i for i in np.argsort(-self.share, kind="stable")[:limit] if self.share[i] > NAMED_SHARE]
        return ["·".join(columns[j] for j in table[i] if columns[j] != "1") or "1" for i in worst]

    def __repr__(self) -> str:
        return f"Undetermined({self.dimension} of {self.features} directions)"


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients (outputs, F) of ψ(z′) in the frame; `undetermined` is None when the data fixes them all."""

    frame: Frame
    degree: int
    entries: Array
    undetermined: Undetermined | None
    method: str
    iterations: int
    converged: bool = True

    def predict(self, X: Array) -> Array:
        """aᵀψ(z′), shape (rows, outputs)."""
        return np.asarray(features(self.frame.apply(X), self.degree) @ self.entries.T)

    @property
    def original(self) -> Array:
        """The coefficients of ψ(z), z as the data was given."""
        return self.frame.pull_back(self.entries, self.degree)


def dense(X: Array, Y: Array, weights: Array, frame: Frame, degree: int, alpha: float) -> Solution:
    """Solve on the feature matrix itself: no condition number is squared."""
    block, right, mean, level = _centred(X, Y, weights, frame, degree)
    if alpha > 0:
        size = block.shape[1]
        block = np.concatenate([block, np.sqrt(alpha * weights.sum()) * np.eye(size)])
        right = np.concatenate([right, np.zeros((size, Y.shape[1]))])
    free = slice(0, -1) if frame.affine else slice(None)
    entries = np.zeros((block.shape[1], Y.shape[1]))
    entries[free], null = _solve_rectangular(block[:, free], right)
    return _finish(frame, degree, entries, null, mean, level, "dense")


def dual(X: Array, Y: Array, weights: Array, frame: Frame, degree: int, alpha: float) -> Solution:
    """The penalised fit with fewer samples than features: a = Σ βᵢψ̃ᵢ, (K̃ + αW)β = R with K̃ the centred (zᵢ·zⱼ)^d."""
    block, right, mean, level = _centred(X, Y, weights, frame, degree)
    if frame.affine:
        block[:, -1] = 0.0
    kernel = centred_kernel(frame.apply(X), weights, frame.affine, degree)
    kernel[np.diag_indices(len(kernel))] += alpha * float(weights.sum())
    entries = block.T @ cho_solve(cho_factor(kernel), right)
    return _finish(frame, degree, entries, np.zeros((0, 0)), mean, level, "dense")


def centred_kernel(Z: Array, weights: Array, affine: bool, degree: int) -> Array:
    """√wᵢ ⟨ψ̃ᵢ, ψ̃ⱼ⟩ √wⱼ from (zᵢ·zⱼ)^d, without the features; ψ̃ are centred where there is a constant."""
    root = np.sqrt(weights)[:, None]
    kernel = (Z @ Z.T) ** degree
    if affine:
        mean = kernel @ weights / weights.sum()
        kernel = kernel - mean - mean[:, None] + weights @ mean / weights.sum()
    return np.asarray(root * kernel * root.T)


def fewer_samples(X: Array, Y: Array, weights: Array, affine: bool, degree: int) -> Solution:
    """The exact fit of minimum norm when there are fewer samples than features: an SVD with as many rows as samples."""
    frame = Frame.identity(X.shape[1], affine)
    block, right, mean, level = _centred(X, Y, weights, frame, degree)
    free = slice(0, -1) if affine else slice(None)
    u, values, vt = svd(block[:, free], full_matrices=False, check_finite=False)
    rank = rank_of(values, REPEATED)
    entries, share = np.zeros((block.shape[1], Y.shape[1])), np.zeros(block.shape[1])
    entries[free] = vt[:rank].T @ ((u[:, :rank].T @ right) / values[:rank, None])
    share[free] = 1 - np.sum(vt[:rank] ** 2, axis=0)
    if affine:
        entries[-1] = level - mean @ entries
    missing = vt.shape[1] - rank
    undetermined = Undetermined(missing, block.shape[1], np.maximum(share, 0.0)) if missing else None
    return Solution(frame, degree, np.ascontiguousarray(entries.T), undetermined, "dense", 1)


def from_statistics(statistics: Statistics, alpha: float) -> Solution:
    """Solve the normal equations of gathered statistics."""
    frame, degree = statistics.frame, statistics.degree
    gram, moment = statistics.gram, statistics.moment
    mean, level = np.zeros(len(gram)), np.zeros(moment.shape[1])
    if frame.affine:  # the last feature is the constant 1: centring removes it
        mean, level = gram[-1] / statistics.weight, moment[-1] / statistics.weight
        gram = gram - statistics.weight * np.outer(mean, mean)
        moment = moment - statistics.weight * np.outer(mean, level)
    gram = gram + alpha * statistics.weight * np.eye(len(gram))
    free = slice(0, -1) if frame.affine else slice(None)
    values, vectors = np.linalg.eigh(gram[free, free])
    kept = values > SINGULAR * max(float(values[-1]), 0.0)
    entries = np.zeros(moment.shape)
    if kept.any():
        V = vectors[:, kept]
        entries[free] = V @ ((V.T @ moment[free]) / values[kept, None])
    return _finish(frame, degree, entries, vectors[:, ~kept], mean, level, "statistics")


def _centred(
    X: Array, Y: Array, weights: Array, frame: Frame, degree: int
) -> tuple[Array, Array, Array, Array]:
    """Features and labels less their weighted means, times √w; and the means, zeros without a free constant."""
    root, total = np.sqrt(weights)[:, None], weights.sum()
    block = features(frame.apply(X), degree)
    mean, level = np.zeros(block.shape[1]), np.zeros(Y.shape[1])
    if frame.affine:
        mean, level = np.asarray(weights @ block / total), np.asarray(weights @ Y / total)
    return (block - mean) * root, (Y - level) * root, mean, level


def own_coordinates(frame: Frame, degree: int) -> Array:
    """Takes coefficients in the frame to those of ψ(z), z as the data was given: all but the constant's."""
    matrix = frame.substitution(degree).T
    if frame.affine:
        matrix = matrix.copy()
        matrix[-1] = 0.0
    return np.asarray(matrix)


def _solve_rectangular(block: Array, right: Array) -> tuple[Array, Array]:
    """The minimum-norm solution and an orthonormal basis of the null space (empty when there is none)."""
    if len(block) >= block.shape[1]:
        q, r = qr(block, mode="economic", overwrite_a=False, check_finite=False)
        reciprocal, _ = lapack.dtrcon(r, norm="1", uplo="U", diag="N")
        right, block = q.T @ right, r
        if reciprocal > SAFE:
            return np.asarray(solve_triangular(r, right)), np.zeros((block.shape[1], 0))
    u, values, vt = svd(block, full_matrices=True, check_finite=False)
    rank = rank_of(values, SINGULAR)
    solution = vt[:rank].T @ ((u[:, :rank].T @ right) / values[:rank, None])
    return np.asarray(solution), np.asarray(vt[rank:].T)


def _finish(
    frame: Frame, degree: int, entries: Array, null: Array, mean: Array, level: Array, method: str
) -> Solution:  # fmt: skip
    """Move along undetermined directions to the smallest norm, then set the constant."""
    undetermined = None
    if null.shape[1]:
        own = own_coordinates(frame, degree)
        basis = np.zeros((len(entries), null.shape[1]))
        basis[: len(null)] = null
        visible = own @ basis
        entries = entries - basis @ np.linalg.lstsq(visible, own @ entries, rcond=INVISIBLE)[0]
        directions, _ = np.linalg.qr(visible)
        undetermined = Undetermined(null.shape[1], len(entries), np.sum(directions**2, axis=1))
    if frame.affine:
        entries[-1] = level - mean @ entries
    return Solution(frame, degree, np.ascontiguousarray(entries.T), undetermined, method, 1)
