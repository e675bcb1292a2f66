"""Levenberg-Marquardt over A = Wᵀ diag(s) W + νI with fixed signs s: the matrices of one signature and rank at most k.

Fixing the signs and folding |a| into W leaves no scaling direction; what remains flat (O(p, q) acting on W) is damped.
The excess ⟨A − A*, G(A − A*)⟩ has Gauss-Newton matrix KᵀGK with K = ∂ψ(A)/∂(W, ν), whatever the number of samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.questions.learn.fitting.frame import from_matrix
from shallows.support.checks import Array

LARGEST_DAMPING = 1e8
SMALLEST_DAMPING = 1e-12


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


@dataclass(frozen=True, eq=False)
class Excess:
    """θ = (W, ν) ↦ ⟨A − A*, G(A − A*)⟩, its displacement A − A* and Gauss-Newton matrix."""

    gram: Array
    optimum: Array
    signs: Array
    identity: Array | None

    def unpack(self, theta: Array) -> tuple[Array, float]:
        """W and ν (zero without a norm neuron)."""
        if self.identity is None:
            return theta.reshape(len(self.signs), -1), 0.0
        return theta[:-1].reshape(len(self.signs), -1), float(theta[-1])

    def displacement(self, theta: Array) -> Array:
        """A − A* in orthonormal coordinates."""
        W, norm = self.unpack(theta)
        moved = from_matrix((W.T * self.signs) @ W) - self.optimum
        return moved if self.identity is None else moved + norm * self.identity

    def value(self, move: Array) -> float:
        """The excess of a displacement."""
        return float(move @ self.gram @ move)

    def model(self, theta: Array, move: Array) -> tuple[Array, Array]:
        """KᵀGK and KᵀG(A − A*)."""
        W, _ = self.unpack(theta)
        K = _derivative(W, self.signs, self.identity)
        image = K @ self.gram
        return image @ K.T, image @ move


def fit_factor(
    gram: Array,
    optimum: Array,
    W: Array,
    signs: Array,
    norm_form: Array | None = None,
    norm: float = 0.0,
    limit: int = 300,
) -> Factor:
    """Minimise the excess from W; `norm_form` is the matrix of ‖z‖² in this frame, None without a norm neuron."""
    identity, unit = None, 1.0
    if norm_form is not None:  # scaled to unit norm: far from the origin ‖z‖² is huge in a frame that whitens
        identity = from_matrix(norm_form)
        unit = float(np.linalg.norm(identity))
        identity = identity / unit
    function = Excess(gram, optimum, signs, identity)
    theta = W.ravel() if identity is None else np.append(W.ravel(), norm * unit)
    theta, excess, converged = _levenberg(function, theta, limit)
    found, weight = function.unpack(theta)
    return Factor(found, signs, weight / unit, excess, converged)


def _levenberg(function: Excess, theta: Array, limit: int) -> tuple[Array, float, bool]:
    """Damped Gauss-Newton steps until the slope, or the progress, is down to rounding."""
    scale, damping = function.value(function.optimum), 1e-3
    move = function.displacement(theta)
    excess = function.value(move)
    matrix, slope = function.model(theta, move)
    for _ in range(limit):
        top = float(matrix.diagonal().max())
        if np.linalg.norm(slope) <= 1e-13 * np.sqrt(top * scale) or excess <= 1e-28 * scale:
            return theta, excess, True
        trial = theta - np.linalg.solve(matrix + damping * top * np.eye(len(matrix)), slope)
        trial_move = function.displacement(trial)
        lower = function.value(trial_move)
        if not lower < excess:
            damping *= 4
            if damping > LARGEST_DAMPING:  # rounding stops progress: stationary to float64
                return theta, excess, True
            continue
        small = excess - lower <= 1e-15 * excess
        theta, move, excess, damping = trial, trial_move, lower, max(damping / 4, SMALLEST_DAMPING)
        if small:
            return theta, excess, True
        matrix, slope = function.model(theta, move)
    return theta, excess, False


def _derivative(W: Array, signs: Array, identity: Array | None) -> Array:
    """K: ∂A/∂W_ij = sᵢ(wᵢeⱼᵀ + eⱼwᵢᵀ) in orthonormal coordinates, one row a parameter."""
    k, size = W.shape
    block = np.zeros((k, size, size, size))
    j = np.arange(size)
    block[:, j, j, :] += (signs[:, None] * W)[:, None, :]
    block[:, j, :, j] += (signs[:, None] * W)[None, :, :]
    rows = from_matrix(block.reshape(k * size, size, size))
    return rows if identity is None else np.concatenate([rows, identity[None]])
