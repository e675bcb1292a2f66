"""The ReLU loss and gradient for a batch of networks, fused: all that depends on an angle in one compiled pass.

The loop turns Gram entries g = w·v into sin θ and π−θ without a branch or a library call. For a = |cos θ| in
[0, 1], arccos(a) = √(1−a²) · Q(2a−1), Q the polynomial of `arccos_polynomial`.
That is safe for gradients, where the error of θ near 0 and π is multiplied by sin θ; Hessians use the accurate
angles of `relu`.
"""

from __future__ import annotations

import numpy as np

from shallows.model.kernels.relu import require_nonzero
from shallows.support.checks import Array


def loss_and_gradient(W: Array, a: Array, V: Array, b: Array, energy: float) -> tuple[Array, Array, Array]:
    """L, ∂L/∂W and ∂L/∂a of Σ aᵢ ReLU(wᵢ·x) against Σ bⱼ ReLU(vⱼ·x), x ~ N(0, I).

    W is (batch, k, n), a (batch, k), V (m, n), b (m,). numba is loaded, and the loop compiled and cached, on first
    use.
    """
    from shallows.model.kernels._compiled.relu_loop import batch_loop

    losses, dW, da = np.empty(len(W)), np.empty_like(W), np.empty_like(a)
    shortest = batch_loop(W, a, V, b, losses, dW, da)
    if shortest == 0:
        require_nonzero(np.sqrt(np.sum(W**2, axis=-1)))
    return np.maximum(losses + energy, 0.0), dW, da
