"""Levenberg-Marquardt over A = Wᵀ diag(s) W + νI with fixed signs s: the matrices of one signature and rank at most k.

Fixing the signs and folding |a| into W leaves no scaling direction; what remains flat (O(p, q) acting on W) is damped.
The excess ⟨A − A*, G(A − A*)⟩ has residual Mᵀ(A − A*), G = MMᵀ, whatever the number of samples.
"""

from __future__ import annotations

from collections.abc import Callable
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
#: Steps after which a run is given up if at their pace it would not come down to the lowest run by the last step: runs
#: slow down, so the pace of the past is more than they will keep. (Signs that do not fit creep towards zero neurons.)
PATIENCE = 20


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


def fit_factors(
    root: Array,
    optimum: Array,
    starts: list[tuple[Array, Array]],
    norm_form: Array | None = None,
    limit: int = 300,
) -> list[Factor]:
    """Minimise ⟨A − A*, G(A − A*)⟩ = ‖Mᵀ(A − A*)‖² from each (W, signs), with `root` M of G = MMᵀ (`gram_root`).

    `norm_form` is the matrix of ‖z‖² in this frame, None without a norm neuron. Its weight ν is the best one for W at
    every step: the residual is linear in it, so it is projected out of M (G. Golub and V. Pereyra, "The differentiation
    of pseudo-inverses and nonlinear least squares problems whose variables separate", 1973).
    """
    scale = float(np.sum((optimum @ root) ** 2))
    seen, weigh = _without(root, norm_form)
    signs, rows = np.array([signs for _, signs in starts]), np.arange(len(starts))
    k, size = starts[0][0].shape

    def residual(thetas: Array) -> tuple[Array, Array]:
        inner = thetas.reshape(-1, k, size)
        signed = signs[rows][:, :, None] * inner
        move = from_matrix(inner.swapaxes(1, 2) @ signed) - optimum
        return move @ seen, (_derivative(signed) @ seen).swapaxes(1, 2)

    state = LevenbergMarquardt(residual, np.array([W.ravel() for W, _ in starts]))
    ends: list[Factor | None] = [None] * len(starts)
    small, paced, best = np.zeros(len(rows), dtype=bool), np.full(len(rows), np.inf), np.inf
    for step in range(limit + 1):
        excess = state.squares()
        best = min(best, float(excess.min()))
        left = np.zeros(len(rows), dtype=bool)
        if step % PATIENCE == 0:
            left = (paced - excess) * (limit - step) / PATIENCE < excess - best
            paced = excess
        top = np.einsum("bri,bri->bi", state.J, state.J).max(axis=1)
        still = row_norms(state.gradient) / 2 <= STATIONARY * np.sqrt(top * scale)
        done = still | (excess <= EXACT_FIT * scale) | state.stuck | small
        gone = done | left | (step == limit)
        for i in np.flatnonzero(gone):
            W, sign = state.theta[i].reshape(k, size), signs[rows[i]]
            weight = weigh(from_matrix((W.T * sign) @ W) - optimum)
            ends[rows[i]] = Factor(W, sign, weight, float(excess[i]), bool(done[i]))
        rows, before, paced = rows[~gone], excess[~gone], paced[~gone]
        if not len(rows):
            break
        state.keep(~gone)
        stood = state.theta
        state.step(scale)
        small = (before - state.squares() <= NO_PROGRESS * before) & np.any(stood != state.theta, axis=1)
    return [end for end in ends if end is not None]


def _without(root: Array, norm_form: Array | None) -> tuple[Array, Callable[[Array], float]]:
    """M without the direction of ‖z‖², and the weight ν that is best at a given A − A*."""
    if norm_form is None:
        return root, lambda move: 0.0
    image = from_matrix(norm_form) @ root
    length = float(np.linalg.norm(image))
    image = image / length
    return root - np.outer(root @ image, image), lambda move: -float(move @ root @ image) / length


def _derivative(signed: Array) -> Array:
    """K: ∂A/∂W_ij = sᵢ(wᵢeⱼᵀ + eⱼwᵢᵀ) in orthonormal coordinates, one row a parameter, for each run."""
    runs, k, size = signed.shape
    block = np.zeros((runs, k, size, size, size))
    j = np.arange(size)
    block[:, :, j, j, :] += signed[:, :, None, :]
    block[:, :, j, :, j] += signed[None]
    return from_matrix(block.reshape(runs, k * size, size, size))
