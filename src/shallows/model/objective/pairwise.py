"""The loss through kernels: L = ⟨AᵀA, K(U,U)⟩ − 2⟨A, c(U)⟩ + E‖y‖². No sampling, no tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shallows.model.kernels.base import Kernel
from shallows.model.objective.base import Objective
from shallows.model.objective.cross import Cross, TeacherCross
from shallows.support.checks import Array


class PairwiseObjective(Objective):
    """The exact population loss of a student against a teacher, in terms of the neuron kernel."""

    def __init__(
        self, kernel: Kernel, cross: Sequence[Cross], energy: float, energy_error: float = 0.0
    ) -> None:
        self.kernel, self.cross = kernel, list(cross)
        self.energy, self.energy_error = energy, energy_error

    def _assemble(self, A: Array, K: Array, c: Array) -> Array:
        quadratic = np.sum(A * (A @ K), axis=(-1, -2))
        return np.asarray(np.maximum(quadratic - 2 * np.sum(A * c, axis=(-1, -2)) + self.energy, 0.0))

    def _teacher(self, U: Array) -> Array:
        return np.asarray(sum(cross.value(U) for cross in self.cross))

    def value(self, U: Array, A: Array) -> Array:
        """L; what rounding pushes below zero is zero."""
        return self._assemble(A, self.kernel.value(U, U), self._teacher(U))

    def truncation_error(self, U: Array, A: Array) -> float:
        """(Σ|a|)² and Σ|a|Σ|b| times the kernels' bounds; the teacher's own energy is in there too."""
        size = float(np.sum(np.abs(A)))
        total = size**2 * self.kernel.truncation_error(U, U)
        for cross in self.cross:
            if isinstance(cross, TeacherCross):
                teacher = float(np.sum(np.abs(cross.B)))
                total += 2 * size * teacher * cross.kernel.truncation_error(U, cross.V)
        return total + self.energy_error

    def value_and_gradient(self, U: Array, A: Array) -> tuple[Array, Array, Array]:
        """∂L/∂U = 2 Σⱼ (AᵀA)_ij ∂₁k(uᵢ,uⱼ) − 2 Σ_o A_oi ∇c_o(uᵢ),  ∂L/∂A = 2AK − 2c."""
        K, c = self.kernel.value(U, U), self._teacher(U)
        inner = self.kernel.gradient(U, U, A.swapaxes(-1, -2) @ A)
        inner = inner - sum(cross.gradient(U, A) for cross in self.cross)
        return self._assemble(A, K, c), 2 * inner, 2 * (A @ K - c)

    def hvp(self, U: Array, A: Array, dU: Array, dA: Array) -> tuple[Array, Array]:
        """The product rule on both gradients."""
        At, dAt = A.swapaxes(-1, -2), dA.swapaxes(-1, -2)
        inner = self.kernel.gradient_jvp(U, U, At @ A, dU, dU, dAt @ A + At @ dA)
        outer = dA @ self.kernel.value(U, U) + A @ self.kernel.value_jvp(U, U, dU, dU)
        for cross in self.cross:
            inner = inner - cross.gradient_jvp(U, A, dU, dA)
            outer = outer - cross.value_jvp(U, dU)
        return 2 * inner, 2 * outer
