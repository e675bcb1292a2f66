"""Levenberg-Marquardt over A = Wᵀ diag(s) W + νI with fixed signs s: the matrices of one signature and rank at most k.

Fixing the signs and folding |a| into W leaves no scaling direction; what remains flat (O(p, q) acting on W) is damped.
The excess ⟨A − A*, G(A − A*)⟩ has Gauss-Newton matrix KᵀGK with K = ∂ψ(A)/∂(W, ν), whatever the number of samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows._checks import Array
from shallows.learn.frame import from_matrix

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
    trained = norm_form is not None
    theta = np.concatenate([W.ravel(), [norm] if trained else []])
    identity = from_matrix(norm_form) if norm_form is not None else np.zeros(len(optimum))

    def displacement(theta: Array) -> Array:
        W = theta[:W_size].reshape(shape)
        moved = from_matrix((W.T * signs) @ W) - optimum
        return moved + theta[-1] * identity if trained else moved

    shape, W_size = W.shape, W.size
    scale = float(optimum @ gram @ optimum)
    move = displacement(theta)
    excess, damping, converged = float(move @ gram @ move), 1e-3, False
    matrix = np.zeros(0)
    slope = np.zeros(0)
    fresh = True
    for _ in range(limit):
        if fresh:
            K = _derivative(theta[:W_size].reshape(shape), signs, identity if trained else None)
            image = K @ gram
            matrix, slope = image @ K.T, image @ move
        top = float(matrix.diagonal().max())
        if np.linalg.norm(slope) <= 1e-13 * np.sqrt(top * scale) or excess <= 1e-28 * scale:
            converged = True
            break
        step = np.linalg.solve(matrix + damping * top * np.eye(len(matrix)), -slope)
        trial = theta + step
        new_move = displacement(trial)
        new_excess = float(new_move @ gram @ new_move)
        fresh = new_excess < excess
        if fresh:
            small = excess - new_excess <= 1e-15 * excess
            theta, move, excess, damping = trial, new_move, new_excess, max(damping / 4, SMALLEST_DAMPING)
            if small:
                converged = True
                break
        else:
            damping *= 4
            if damping > LARGEST_DAMPING:  # rounding stops progress: stationary to float64
                converged = True
                break
    return Factor(
        theta[:W_size].reshape(shape), signs, float(theta[-1]) if trained else 0.0, excess, converged
    )


def _derivative(W: Array, signs: Array, identity: Array | None) -> Array:
    """K: ∂A/∂W_ij = sᵢ(wᵢeⱼᵀ + eⱼwᵢᵀ) in orthonormal coordinates, one row a parameter."""
    k, size = W.shape
    block = np.zeros((k, size, size, size))
    j = np.arange(size)
    block[:, j, j, :] += (signs[:, None] * W)[:, None, :]
    block[:, j, :, j] += (signs[:, None] * W)[None, :, :]
    rows = from_matrix(block.reshape(k * size, size, size))
    return rows if identity is None else np.concatenate([rows, identity[None]])
