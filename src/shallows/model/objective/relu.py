"""ReLU against ReLU under N(0, Σ): batches of networks go through the fused loop."""

from __future__ import annotations

import numpy as np

from shallows.model.kernels.relu import ReLUKernel
from shallows.model.kernels.relu_fused import loss_and_gradient
from shallows.model.objective.cross import TeacherCross
from shallows.model.objective.pairwise import PairwiseObjective
from shallows.support.checks import Array

#: Networks from which on the compiled loop is used (measured: 80 times faster, once numba is loaded); fewer go through
#: the accurate formulas, which load nothing.
SMALLEST_BATCH = 4


class ReLUObjective(PairwiseObjective):
    """The pairwise objective, with one compiled pass for the gradients of a batch (one output)."""

    def __init__(self, kernel: ReLUKernel, cross: TeacherCross, energy: float) -> None:
        super().__init__(kernel, [cross], energy)
        self.root = kernel.root
        self.teacher = self._coloured(cross.V)
        self.teacher_outer = cross.B

    def _coloured(self, X: Array) -> Array:
        return np.ascontiguousarray(X if self.root is None else X @ self.root)

    def value_and_gradient(self, U: Array, A: Array) -> tuple[Array, Array, Array]:
        """L, ∂L/∂U and ∂L/∂A; a few networks by the accurate formulas, many by the fused loop."""
        if U.ndim != 3 or len(U) < SMALLEST_BATCH or A.shape[-2] != 1:
            return super().value_and_gradient(U, A)
        W = self._coloured(U)
        outer = np.ascontiguousarray(np.broadcast_to(A[..., 0, :], W.shape[:-1]))
        value, dW, da = loss_and_gradient(W, outer, self.teacher, self.teacher_outer[0], self.energy)
        return value, self._coloured(dW), da[:, None, :]
