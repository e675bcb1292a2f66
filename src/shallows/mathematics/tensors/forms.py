"""Homogeneous forms e(u) = Σ_I e_I u^I, several at once: values and weighted gradients at many vectors.

Shapes, with broadcasting leading axes: E is (…, M, N), one form an output; U is (…, k, n); A is (…, M, k).
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors.coordinates import gradient_matrix, monomials, monomials_jvp
from shallows.support.checks import Array


def values(E: Array, U: Array, degree: int) -> Array:
    """e_o(uᵢ), shape (…, M, k)."""
    return np.asarray(E @ monomials(U, degree).swapaxes(-1, -2))


def values_jvp(E: Array, U: Array, degree: int, dU: Array) -> Array:
    """The derivative of `values` along dU."""
    return np.asarray(E @ monomials_jvp(U, dU, degree).swapaxes(-1, -2))


def _slopes(E: Array, powers: Array, n: int, degree: int) -> Array:
    """∇e_o(uᵢ) from the monomials of degree d−1, shape (…, M, k, n)."""
    return np.asarray(powers[..., None, :, :] @ gradient_matrix(E, n, degree))


def _weigh(A: Array, slopes: Array) -> Array:
    """Σ_o A_oi slopes_oi."""
    return np.asarray(np.sum(A[..., None] * slopes, axis=-3))


def gradient(E: Array, U: Array, A: Array, degree: int) -> Array:
    """Σ_o A_oi ∇e_o(uᵢ), shape (…, k, n)."""
    return _weigh(A, _slopes(E, monomials(U, degree - 1), U.shape[-1], degree))


def gradient_jvp(E: Array, U: Array, A: Array, degree: int, dE: Array | None, dU: Array, dA: Array) -> Array:
    """The derivative of `gradient` along (dE, dU, dA); dE None means the forms are held fixed."""
    n = U.shape[-1]
    powers = monomials(U, degree - 1)
    result = _weigh(dA, _slopes(E, powers, n, degree))
    result = result + _weigh(A, _slopes(E, monomials_jvp(U, dU, degree - 1), n, degree))
    if dE is not None:
        result = result + _weigh(A, _slopes(dE, powers, n, degree))
    return result
