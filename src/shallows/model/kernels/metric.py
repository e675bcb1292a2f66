"""Powers under any Gram matrix: k(w, v) = τ(w)ᵀ G τ(v), τ(w) the entries of w^⊗d."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors.coordinates import gradient_matrix, monomials, monomials_jvp
from shallows.model.kernels.base import Kernel, transpose
from shallows.support.checks import Array


class MetricKernel(Kernel):
    """⟨w^⊗d, v^⊗d⟩ under the inner product with Gram matrix G."""

    def __init__(self, gram: Array, n: int, degree: int) -> None:
        self.gram, self.n, self.degree = gram, n, degree

    def _right(self, V: Array) -> Array:
        """G τ(vⱼ), shape (…, m, N)."""
        return np.asarray(monomials(V, self.degree) @ self.gram)

    def _right_jvp(self, V: Array, dV: Array) -> Array:
        return np.asarray(monomials_jvp(V, dV, self.degree) @ self.gram)

    def _contract(self, W: Array, forms: Array) -> Array:
        """∇ of the form Σ_I f_I w^I at wᵢ, one form a neuron."""
        matrix = gradient_matrix(forms, self.n, self.degree)
        return np.asarray((monomials(W, self.degree - 1)[..., None, :] @ matrix)[..., 0, :])

    def value(self, W: Array, V: Array) -> Array:
        """τ(w)ᵀ G τ(v)."""
        return np.asarray(monomials(W, self.degree) @ transpose(self._right(V)))

    def value_jvp(self, W: Array, V: Array, dW: Array, dV: Array | None) -> Array:
        """The product rule on `value`."""
        result = monomials_jvp(W, dW, self.degree) @ transpose(self._right(V))
        if dV is not None:
            result = result + monomials(W, self.degree) @ transpose(self._right_jvp(V, dV))
        return np.asarray(result)

    def gradient(self, W: Array, V: Array, B: Array) -> Array:
        """The gradient of the form Σⱼ B_ij G τ(vⱼ) at wᵢ."""
        return self._contract(W, B @ self._right(V))

    def gradient_jvp(
        self, W: Array, V: Array, B: Array, dW: Array, dV: Array | None, dB: Array | None
    ) -> Array:
        """The product rule on `gradient`."""
        right = self._right(V)
        matrix = gradient_matrix(B @ right, self.n, self.degree)
        slope = monomials_jvp(W, dW, self.degree - 1)
        result = (slope[..., None, :] @ matrix)[..., 0, :]
        if dV is not None:
            result = result + self._contract(W, B @ self._right_jvp(V, dV))
        if dB is not None:
            result = result + self._contract(W, dB @ right)
        return np.asarray(result)
