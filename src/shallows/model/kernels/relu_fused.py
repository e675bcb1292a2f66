"""The ReLU loss and gradient for a batch of networks, fused: all that depends on an angle in one compiled pass.

The loop turns Gram entries g = w·v into sin θ and π−θ without a branch or a library call. For a = |cos θ| in
[0, 1], arccos(a) = √(1−a²) · Q(2a−1), Q the interpolant of degree 21 of θ/sin θ, which is analytic on [−1, 1].
That is safe for gradients, where the error of θ near 0 and π is multiplied by sin θ; Hessians use the accurate
angles of `relu`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.polynomial import chebyshev

from shallows.model.kernels.relu import require_nonzero
from shallows.support.checks import Array

#: The degree at which the interpolant of θ/sin θ is exact to rounding (see `test_relu`).
DEGREE = 21


@lru_cache(maxsize=1)
def arccos_polynomial() -> Array:
    """Q in the monomial basis, lowest power first: Q(t) = arcsin(u) / u√(1−u²), u = √((1−a)/2), a = (1+t)/2.

    Interpolated in Chebyshev points through the cosine sums, in extended precision where the machine has it.
    """
    angles = np.acos(np.longdouble(-1)) * (2 * np.arange(DEGREE + 1) + 1) / (2 * DEGREE + 2)
    u = np.sin(angles / 2) / np.sqrt(np.longdouble(2))  # √((1−t)/4) at t = cos(angle), without cancellation
    values = np.arcsin(u) / (u * np.sqrt(1 - u * u))
    series = 2 * np.cos(np.outer(np.arange(DEGREE + 1), angles)) @ values / (DEGREE + 1)
    series[0] /= 2
    coefficients = np.asarray(chebyshev.cheb2poly(series), dtype=np.float64)
    coefficients.setflags(write=False)
    return coefficients


def loss_and_gradient(W: Array, a: Array, V: Array, b: Array, energy: float) -> tuple[Array, Array, Array]:
    """L, ∂L/∂W and ∂L/∂a of Σ aᵢ ReLU(wᵢ·x) against Σ bⱼ ReLU(vⱼ·x), x ~ N(0, I).

    W is (batch, k, n), a (batch, k), V (m, n), b (m,). numba is loaded, and the loop compiled and cached, on first
    use.
    """
    from shallows.model.kernels._compiled.relu_loop import batch_loop

    losses, dW, da = np.empty(len(W)), np.empty_like(W), np.empty_like(a)
    shortest = batch_loop(W, a, V, b, arccos_polynomial(), losses, dW, da)
    if shortest == 0:
        require_nonzero(np.sqrt(np.sum(W**2, axis=-1)))
    return np.maximum(losses + energy, 0.0), dW, da
