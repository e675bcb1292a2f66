"""The student-teacher term c_o(u) = E[y_o σ(u·x)], for a teacher network and for a target tensor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from shallows.mathematics.tensors import forms
from shallows.model.kernels.base import Kernel
from shallows.support.checks import Array


class Cross(ABC):
    """c_o(uᵢ) and its derivatives; shapes as in `Objective`."""

    @abstractmethod
    def value(self, U: Array) -> Array:
        """c_o(uᵢ), shape (…, M, k)."""

    @abstractmethod
    def value_jvp(self, U: Array, dU: Array) -> Array:
        """The derivative of `value` along dU."""

    @abstractmethod
    def gradient(self, U: Array, A: Array) -> Array:
        """Σ_o A_oi ∇c_o(uᵢ), shape (…, k, n)."""

    @abstractmethod
    def gradient_jvp(self, U: Array, A: Array, dU: Array, dA: Array) -> Array:
        """The derivative of `gradient` along (dU, dA)."""


class TeacherCross(Cross):
    """y = B τ(Vx): c_o(u) = Σⱼ B_oj k(u, vⱼ)."""

    def __init__(self, kernel: Kernel, B: Array, V: Array) -> None:
        self.kernel, self.B, self.V = kernel, B, V

    def value(self, U: Array) -> Array:
        """B K(V, U)."""
        return np.asarray(self.B @ self.kernel.value(U, self.V).swapaxes(-1, -2))

    def value_jvp(self, U: Array, dU: Array) -> Array:
        """B dK(V, U)."""
        return np.asarray(self.B @ self.kernel.value_jvp(U, self.V, dU, None).swapaxes(-1, -2))

    def gradient(self, U: Array, A: Array) -> Array:
        """The kernel's gradient with coefficients AᵀB."""
        return self.kernel.gradient(U, self.V, A.swapaxes(-1, -2) @ self.B)

    def gradient_jvp(self, U: Array, A: Array, dU: Array, dA: Array) -> Array:
        """Its derivative, V held fixed."""
        weights, change = A.swapaxes(-1, -2) @ self.B, dA.swapaxes(-1, -2) @ self.B
        return self.kernel.gradient_jvp(U, self.V, weights, dU, None, change)


class FormCross(Cross):
    """A tensor as target, a polynomial as activation: c_o is a sum of forms of several degrees."""

    def __init__(self, parts: Sequence[tuple[int, Array]]) -> None:
        self.constant = sum((E for degree, E in parts if degree == 0), start=np.zeros((1, 1)))
        self.parts = [(degree, E) for degree, E in parts if degree > 0]

    def value(self, U: Array) -> Array:
        """Σ_d e_d(u)."""
        return np.asarray(sum(forms.values(E, U, degree) for degree, E in self.parts) + self.constant)

    def value_jvp(self, U: Array, dU: Array) -> Array:
        """Σ_d ∇e_d(u)·du."""
        return np.asarray(sum(forms.values_jvp(E, U, degree, dU) for degree, E in self.parts))

    def gradient(self, U: Array, A: Array) -> Array:
        """Σ_d Σ_o A_oi ∇e_d,o(uᵢ)."""
        return np.asarray(sum(forms.gradient(E, U, A, degree) for degree, E in self.parts))

    def gradient_jvp(self, U: Array, A: Array, dU: Array, dA: Array) -> Array:
        """Its derivative along (dU, dA)."""
        return np.asarray(sum(forms.gradient_jvp(E, U, A, degree, None, dU, dA) for degree, E in self.parts))
