"""How far from the global optimum a fit is, as a proved bound where one can be proved.

The convex counterpart L(a) = Σ w (y − aᵀψ)²/W has Hessian 2G/W, so a point with gradient −2g/W, g = Σ w rψ
(which is zero
exactly at the optimum: paper 002, Lemma C.1), is within

    L(a) − L* ≤ ‖g‖² / (W λ_min(G))

of its minimum, and no network of any width is better than L*. Both sides are bounded rigorously: g with a priori
rounding bounds, λ_min from below by a verified Cholesky factorisation of the Gram matrix of some of the samples
(G only grows with more of them). Where the data leaves directions undetermined λ_min is zero and this proves nothing;
an exact fit is then still optimal because no loss is negative.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shallows import coordinates
from shallows._checks import Array
from shallows.learn.frame import Frame, chunks, features, from_matrix, to_matrix
from shallows.learn.least_squares import Solution
from shallows.learn.rounding import SLACK, UNIT, gamma, smallest_eigenvalue_bound

LARGEST_PROOF = 3000
SAMPLES_A_FEATURE = 4


@dataclass(frozen=True)
class Optimality:
    """The training loss (mean square, summed over outputs), a lower bound on the optimum, and the gap between them.

    `proved` says whether `gap` bounds L − L* rigorously; otherwise `reason` says what is missing and `gap`
    is an estimate.
    `gradient_norm` is ‖Σ w r ψ‖/W in the whitened frame and `smallest_eigenvalue` the bound on λ_min(G)/W.
    """

    loss: float
    lower_bound: float
    gap: float
    proved: bool
    reason: str
    gradient_norm: float
    smallest_eigenvalue: float

    def widened(self, loss: float) -> Optimality:
        """The certificate of another network of the same class with this loss: the same lower bound, a larger gap."""
        lower = self.lower_bound if self.proved else self.loss
        return replace(self, loss=loss, lower_bound=min(lower, loss), gap=max(loss - lower, 0.0))

    def __repr__(self) -> str:
        gap = f"gap <= {self.gap:.2g}, proved" if self.proved else f"gap about {self.gap:.2g}, not proved"
        return f"Optimality(loss={self.loss:.8g}, {gap}: {self.reason})"


def check_optimality(
    X: Array, Y: Array, weights: Array, solution: Solution, alpha: float, certify: bool = True
) -> Optimality:
    """The bound for a full solution of least squares; the smallest of what the two arguments prove."""
    frame, degree, total = solution.frame, solution.degree, float(weights.sum())
    loss, gradient, gradient_bound = _residual_moments(X, Y, weights, solution)
    if alpha:
        ridge = _ridge_gradient(solution, alpha)
        gradient_bound += float(np.linalg.norm(gradient - ridge) - np.linalg.norm(gradient))
        gradient_bound += 1e-12 * float(np.linalg.norm(ridge))
        gradient = gradient - ridge
    norm = float(np.linalg.norm(gradient))
    eigenvalue, reason = 0.0, "certify=False"
    if certify:
        eigenvalue, reason = _curvature(X, weights, frame, degree)
    if eigenvalue > 0:
        gap = gradient_bound**2 / (total * eigenvalue) * SLACK
        reason = "gradient and curvature bounded, rounding included"
        if alpha or gap < loss:
            return Optimality(loss, max(loss - gap, 0.0), gap, True, reason, norm / total, eigenvalue / total)
    if certify and not alpha and loss <= 1e-20 * float(weights @ np.sum(Y**2, axis=1)) / total:
        return Optimality(
            loss, 0.0, loss * SLACK, True, "an exact fit: no loss is negative", norm / total, 0.0
        )
    return Optimality(loss, loss, 0.0, False, reason, norm / total, eigenvalue / total)


def _residual_moments(X: Array, Y: Array, weights: Array, solution: Solution) -> tuple[float, Array, float]:
    """The loss, g = Σ w rψ(z′) for each output, and a bound on the norm of the exact g."""
    frame, degree, entries = solution.frame, solution.degree, solution.entries
    moments = np.zeros_like(entries)
    size, squares, error = np.linalg.norm(entries, axis=1), 0.0, 0.0
    n = frame.size
    stretch, shift = float(np.linalg.norm(frame.T, 2)), float(np.linalg.norm(frame.mean))
    rounding = gamma(2 * coordinates.dimension(n, degree) + degree + 4)
    absolute = 0.0
    for rows in chunks(len(X), coordinates.dimension(n, degree) if degree != 2 else n):
        Z, w = frame.apply(X[rows]), weights[rows]
        r, part = _moments(Z, Y[rows], w, entries, degree)
        moments += part
        squares += float(w @ np.sum(r**2, axis=1))
        length = np.linalg.norm(Z, axis=1)
        # z′ itself is rounded: |δ| ≤ γ_{n+2} ‖T‖ (‖x‖ + ‖mean‖)
        off = gamma(n + 2) * n * stretch * (np.linalg.norm(X[rows], axis=1) + shift)
        moved = degree * off * (length + off) ** (degree - 1)
        power = (length + off) ** degree
        doubt = rounding * (power[:, None] * size + np.abs(Y[rows])) + moved[:, None] * size
        error += float(w @ np.sum(doubt * power[:, None] + (np.abs(r) + doubt) * moved[:, None], axis=1))
        absolute += float(w @ (np.sum(np.abs(r), axis=1) * power))
    error += gamma(len(X) + n + 2) * absolute
    total = float(weights.sum())
    return squares / total, moments, (float(np.linalg.norm(moments)) + error) * SLACK


def _moments(Z: Array, Y: Array, w: Array, entries: Array, degree: int) -> tuple[Array, Array]:
    """Residuals and Σ w rψ of a chunk; for degree 2 through D×D matrices instead of F features."""
    if degree != 2:
        block = features(Z, degree)
        r = Y - block @ entries.T
        return r, (w[:, None] * r).T @ block
    r, parts = np.empty_like(Y), []
    for m, A in enumerate(to_matrix(entries, Z.shape[1])):
        r[:, m] = Y[:, m] - np.einsum("ij,ij->i", Z @ A, Z)
        parts.append(from_matrix(Z.T @ ((w * r[:, m])[:, None] * Z)))
    return r, np.array(parts)


def _ridge_gradient(solution: Solution, alpha: float) -> Array:
    """α times the penalised coefficients, taken back to the frame."""
    original = solution.original
    if solution.frame.affine:
        original[:, -1] = 0.0
    return np.asarray(alpha * original @ solution.frame.substitution(solution.degree).T)


def _curvature(X: Array, weights: Array, frame: Frame, degree: int) -> tuple[float, str]:
    """A proved lower bound on λ_min(G), from a subset of the samples, or zero and what stands in the way."""
    size = coordinates.dimension(frame.size, degree)
    if size > LARGEST_PROOF:
        return (
            0.0,
            f"{size:,} features are more than the {LARGEST_PROOF:,} whose curvature is bounded rigorously",
        )
    used = np.flatnonzero(weights > 0)
    if len(used) < size:
        return 0.0, f"{len(used)} samples leave some of the {size} features undetermined"
    count = min(len(used), SAMPLES_A_FEATURE * size)
    chosen = used[np.linspace(0, len(used) - 1, count).astype(np.intp)]
    gram = np.zeros((size, size))
    for rows in chunks(count, size, 1 << 21):
        root = np.sqrt(weights[chosen[rows]])
        block = features(frame.apply(X[chosen[rows]]), degree) * root[:, None]
        gram += block.T @ block
    trace = float(np.trace(gram))
    movement = feature_movement(X[chosen], weights[chosen], frame, degree)
    bound = smallest_eigenvalue_bound(gram) - gamma(count + 2) * trace * SLACK
    if bound <= 0:
        return 0.0, "the Gram matrix of the features is singular to rounding"
    root_bound = np.sqrt(bound) - movement * SLACK
    if root_bound <= 0:
        return 0.0, "the Gram matrix of the features is singular to rounding"
    return float(root_bound**2), ""


def feature_movement(X: Array, weights: Array, frame: Frame, degree: int) -> float:
    """A bound on √Σ w‖ψ̂ − ψ‖², ψ̂ the computed features: z′ = Tz is rounded, and so are its monomials.

    |ẑ′ − z′| ≤ γ_{n+2} n‖T‖(‖x‖ + ‖mean‖) =: δ, ‖ẑ′^{⊗d} − z′^{⊗d}‖ ≤ dδ(‖ẑ′‖ + δ)^{d−1}, and d+3 roundings a feature.
    """
    stretch, shift = float(np.linalg.norm(frame.T, 2)), float(np.linalg.norm(frame.mean))
    total = 0.0
    for rows in chunks(len(X), frame.size):
        length = np.linalg.norm(frame.apply(X[rows]), axis=1)
        off = gamma(frame.size + 2) * frame.size * stretch * (np.linalg.norm(X[rows], axis=1) + shift)
        moved = degree * off * (length + off) ** (degree - 1) + (degree + 3) * UNIT * length**degree
        total += float(weights[rows] @ moved**2)
    return float(np.sqrt(total)) * SLACK
