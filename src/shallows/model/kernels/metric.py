"""Powers under any Gram matrix: k(w, v) = τ_d(w)ᵀ G τ_e(v), τ_d(w) the entries of w^⊗d."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors.coordinates import gradient_matrix, monomials, monomials_jvp
from shallows.model.kernels.base import Kernel, transpose
from shallows.support.checks import Array


class MetricKernel(Kernel):
    """⟨w^⊗d, v^⊗e⟩ with the matrix G of their inner products: square for d = e, else as in `cross_gram(d, e)`."""

    def __init__(self, gram: Array, n: int, degree: int, right: int) -> None:
        self.gram, self.n, self.degree, self.right = np.ascontiguousarray(gram.T), n, degree, right

    def _right(self, V: Array) -> Array:
        """G τ(vⱼ), shape (…, m, N)."""
        return np.asarray(monomials(V, self.right) @ self.gram)

    def _right_jvp(self, V: Array, dV: Array) -> Array:
        return np.asarray(monomials_jvp(V, dV, self.right) @ self.gram)

    def _contract(self, W: Array, forms: Array) -> Array:
        """∇ of the form Σ_I f_I w^I at wᵢ, one form a neuron; a constant has none."""
        if self.degree == 0:
            return np.zeros((*forms.shape[:-1], self.n))
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
        if self.degree == 0:
            return np.zeros_like(dW)
        right = self._right(V)
        matrix = gradient_matrix(B @ right, self.n, self.degree)
        slope = monomials_jvp(W, dW, self.degree - 1)
        result = (slope[..., None, :] @ matrix)[..., 0, :]
        if dV is not None:
            result = result + self._contract(W, B @ self._right_jvp(V, dV))
        if dB is not None:
            result = result + self._contract(W, dB @ right)
        return np.asarray(result)
