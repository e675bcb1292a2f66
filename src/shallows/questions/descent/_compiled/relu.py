"""ReLU problems whose training runs in compiled code: descent, steps along the flow, Newton-CG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shallows.model.kernels.relu import require_nonzero
from shallows.questions.descent._compiled.base import Compiled, Outcome, train_rows
from shallows.questions.descent.results.run import Batch
from shallows.questions.descent.stopping import Stopping
from shallows.support.checks import Array

if TYPE_CHECKING:
    from shallows.support.in_memory import Held


@dataclass(frozen=True, eq=False)
class CompiledReLU(Compiled):
    """A ReLU problem, as the arguments of the loops beside this module."""

    width: int
    n: int
    outer: Array
    free: bool
    V: Array
    b: Array
    energy: float

    def __call__(self, thetas: Array) -> tuple[Array, Array]:
        """Losses (batch,) and gradients (batch, p)."""
        from shallows.model.kernels._compiled.relu_loop import batch_loop

        inner = self.width * self.n
        W = np.array(thetas[:, :inner], order="C").reshape(-1, self.width, self.n)
        a = np.array(
            thetas[:, inner:] if self.free else np.broadcast_to(self.outer, (len(W), self.width)), order="C"
        )
        losses, dW, da = np.empty(len(W)), np.empty_like(W), np.empty_like(a)
        if batch_loop(W, a, self.V, self.b, losses, dW, da) == 0:
            require_nonzero(np.sqrt(np.sum(W**2, axis=-1)))
        slopes = dW.reshape(len(W), inner)
        return np.maximum(losses + self.energy, 0.0), np.hstack([slopes, da]) if self.free else slopes

    def polish(
        self, thetas: Array, stopping: Stopping, reachable: float
    ) -> tuple[Array, Array, Array, np.ndarray] | None:
        """Newton-CG with exact Hessian products: end points, losses, gradient norms, and which are saddles.

        None when the outer weights are trained: the loop is for the inner ones.
        """
        if self.free:
            return None
        from shallows.questions.descent._compiled.relu_loops import newton_loop

        tolerance = float(np.min(stopping.tolerance))
        ends = np.array(thetas, order="C")
        losses, norms, saddles = np.empty(len(ends)), np.empty(len(ends)), np.zeros(len(ends), dtype=bool)
        first = np.random.default_rng(0).standard_normal((self.width, self.n))
        newton_loop(self._model(), ends, tolerance, stopping.scale, reachable, first, losses, norms, saddles)
        return ends, losses, norms, saddles

    @property
    def has_flow_steps(self) -> bool:
        """Whether long steps along the flow stand in for descent: not where minima fill continua (wide students)."""
        return not self.free and self.width <= len(self.V)

    def follow_flow(self, batch: Batch, stopping: Stopping, accuracy: float) -> None:
        """Take the running rows along the gradient flow to the tolerance; those that fail stay running."""
        from shallows.questions.descent._compiled.relu_loops import flow_loop
        from shallows.questions.descent._compiled.runs import held_runs

        def loop(out: Outcome, limits: np.ndarray, tolerances: Array) -> None:
            flow_loop(self._model(), held_runs(out, None, stopping, limits, tolerances), accuracy)

        train_rows(batch, stopping, loop)

    def loop(
        self, out: Outcome, step: float | None, stopping: Stopping, limits: np.ndarray, tolerances: Array
    ) -> None:
        """Small networks side by side, large ones one after the other."""
        from shallows.questions.descent._compiled.runs import held_runs

        runs = held_runs(out, step, stopping, limits, tolerances)
        if step is None:
            from shallows.questions.descent._compiled.relu_loops import line_search_loop

            line_search_loop(self._model(), runs)
        else:
            from shallows.questions.descent._compiled.relu_loops import fixed_step_loop

            fixed_step_loop(self._model(), runs)

    def _model(self) -> Held:
        """The problem in memory."""
        from shallows.model.kernels._compiled.relu_model import relu_model

        return relu_model(self.width, self.n, self.V, self.b, self.outer, self.free, self.energy)
