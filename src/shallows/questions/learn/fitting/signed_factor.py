"""Levenberg-Marquardt over A = Wᵀ diag(s) W + νI with fixed signs s: the matrices of one signature and rank at most k.

Fixing the signs and folding |a| into W leaves no scaling direction; what remains flat (O(p, q) acting on W) is damped.
The excess ⟨A − A*, G(A − A*)⟩ has residual Mᵀ(A − A*), G = MMᵀ, whatever the number of samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.solvers.levenberg_marquardt import LevenbergMarquardt
from shallows.mathematics.solvers.rows import row_norms
from shallows.questions.learn.fitting.frame import from_matrix
from shallows.support.checks import Array

#: A slope below this share of √(‖J‖² ⟨A*, GA*⟩) is rounding: the residual's is ε √N of its size, N ≤ 500 or so.
STATIONARY = 1e-13
#: An excess below this share of ⟨A*, GA*⟩ is the square of a residual that is rounding: (1e-14)².
EXACT_FIT = 1e-28
#: A step taken that lowers the excess by less than this share of it has reached the end of float64.
NO_PROGRESS = 1e-15


@dataclass(frozen=True, eq=False)
class Factor:
    """W, signs, the norm neuron's weight and the excess reached."""

    W: Array
    signs: Array
    norm: float
    excess: float
    converged: bool

    @property
    def matrix(self) -> Array:
        """Wᵀ diag(s) W, without the norm neuron's part."""
        return np.asarray((self.W.T * self.signs) @ self.W)


def fit_factor(
    root: Array,
    optimum: Array,
    W: Array,
    signs: Array,
    norm_form: Array | None = None,
    norm: float = 0.0,
    limit: int = 300,
) -> Factor:
    """Minimise ⟨A − A*, G(A − A*)⟩ = ‖Mᵀ(A − A*)‖² from W, with `root` M of G = MMᵀ (`gram_root`).

    `norm_form` is the matrix of ‖z‖² in this frame, None without a norm neuron.
    """
    identity, unit = None, 1.0
    if norm_form is not None:  # scaled to unit norm: far from the origin ‖z‖² is huge in a frame that whitens
        identity = from_matrix(norm_form)
        unit = float(np.linalg.norm(identity))
        identity = identity / unit

    def residual(thetas: Array) -> tuple[Array, Array]:
        inner = thetas[0, : W.size].reshape(W.shape)
        move = from_matrix((inner.T * signs) @ inner) - optimum
        if identity is not None:
            move = move + thetas[0, -1] * identity
        return (move @ root)[None], (_derivative(inner, signs, identity) @ root).T[None]

    theta = W.ravel() if identity is None else np.append(W.ravel(), norm * unit)
    scale = float(np.sum((optimum @ root) ** 2))
    state, converged = LevenbergMarquardt(residual, theta[None]), False
    for _ in range(limit):
        before, excess = state.theta, float(state.squares()[0])
        top = float(np.einsum("bri,bri->bi", state.J, state.J).max())
        slope = float(row_norms(state.gradient)[0]) / 2
        if slope <= STATIONARY * np.sqrt(top * scale) or excess <= EXACT_FIT * scale:
            converged = True
            break
        state.step(scale)
        small = excess - float(state.squares()[0]) <= NO_PROGRESS * excess
        if state.stuck[0] or (small and not np.array_equal(before, state.theta)):
            converged = True
            break
    found = state.theta[0, : W.size].reshape(W.shape)
    weight = 0.0 if identity is None else float(state.theta[0, -1]) / unit
    return Factor(found, signs, weight, float(state.squares()[0]), converged)


def _derivative(W: Array, signs: Array, identity: Array | None) -> Array:
    """K: ∂A/∂W_ij = sᵢ(wᵢeⱼᵀ + eⱼwᵢᵀ) in orthonormal coordinates, one row a parameter."""
    k, size = W.shape
    block = np.zeros((k, size, size, size))
    j = np.arange(size)
    block[:, j, j, :] += (signs[:, None] * W)[:, None, :]
    block[:, j, :, j] += (signs[:, None] * W)[None, :, :]
    rows = from_matrix(block.reshape(k * size, size, size))
    return rows if identity is None else np.concatenate([rows, identity[None]])
