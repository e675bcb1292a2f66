"""Problems whose whole descent runs in compiled code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shallows.model.kernels.relu import require_nonzero
from shallows.questions.descent.methods.control import Control
from shallows.questions.descent.results.run import Batch
from shallows.support.checks import Array


class Outcome(NamedTuple):
    """The rows a loop works on, filled in place."""

    thetas: Array
    losses: Array
    norms: Array
    status: np.ndarray
    iterations: np.ndarray


Loop = Callable[[Outcome, np.ndarray, Array], None]


def train_rows(batch: Batch, control: Control, loop: Loop) -> None:
    """Hand the running rows of a batch, with their limits and tolerances, to a compiled loop."""
    rows = batch.running()
    if not len(rows):
        return
    out = Outcome(
        np.ascontiguousarray(batch.thetas[rows]),
        np.empty(len(rows)),
        np.empty(len(rows)),
        np.empty(len(rows), dtype=np.int64),
        np.zeros(len(rows), dtype=np.int64),
    )
    tolerances = np.broadcast_to(control.tolerance_of(rows), len(rows)).astype(np.float64)
    loop(out, control.iterations - batch.iterations[rows], tolerances)
    batch.store(rows, out.thetas, out.losses, out.norms)
    batch.status[rows] = out.status
    batch.iterations[rows] += out.iterations


class Compiled(ABC):
    """Gradient descent without the interpreter: subclasses have the `loop`."""

    def descend(self, batch: Batch, step: float | None, control: Control) -> None:
        """Gradient descent from all running rows: `step` fixed, or None for the line search."""
        train_rows(
            batch, control, lambda out, limits, tolerances: self.loop(out, step, control, limits, tolerances)
        )

    @abstractmethod
    def loop(
        self, out: Outcome, step: float | None, control: Control, limits: np.ndarray, tolerances: Array
    ) -> None:
        """Train all rows of `out`."""


@dataclass(frozen=True, eq=False)
class ReLURuns(Compiled):
    """A ReLU problem, as the arguments of `_descent_loop`."""

    width: int
    n: int
    outer: Array
    free: bool
    V: Array
    b: Array
    c: Array
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
        if batch_loop(W, a, self.V, self.b, self.c, losses, dW, da) == 0:
            require_nonzero(np.sqrt(np.sum(W**2, axis=-1)))
        slopes = dW.reshape(len(W), inner)
        return np.maximum(losses + self.energy, 0.0), np.hstack([slopes, da]) if self.free else slopes

    def polish(
        self, thetas: Array, control: Control, reachable: float
    ) -> tuple[Array, Array, Array, np.ndarray] | None:
        """Newton-CG with exact Hessian products: end points, losses, gradient norms, and which are saddles.

        None when the outer weights are trained: the loop is for the inner ones.
        """
        if self.free:
            return None
        from shallows.questions.descent._compiled.relu_polish import polish_loop

        tolerance = float(np.min(control.tolerance))
        ends = np.array(thetas, order="C")
        losses, norms, saddles = np.empty(len(ends)), np.empty(len(ends)), np.zeros(len(ends), dtype=bool)
        first = np.random.default_rng(0).standard_normal((self.width, self.n))
        polish_loop(
            ends, self.width, self.n, self.outer, self.V, self.b, self.c, self.energy, tolerance,
            control.scale, reachable, first, losses, norms, saddles,
        )  # fmt: skip
        return ends, losses, norms, saddles

    @property
    def glides(self) -> bool:
        """Whether long steps along the flow stand in for descent: not where minima fill continua (wide students)."""
        return not self.free and self.width <= len(self.V)

    def glide(self, batch: Batch, control: Control, accuracy: float) -> None:
        """Take the running rows along the gradient flow to the tolerance; those that fail stay running."""
        from shallows.questions.descent._compiled.relu_glide import glide_loop

        def loop(out: Outcome, limits: np.ndarray, tolerances: Array) -> None:
            glide_loop(
                out.thetas, self.width, self.n, self.outer, self.V, self.b, self.c, self.energy, accuracy, tolerances,
                limits, control.goal, control.scale, control.interrupted.flag, out.losses, out.norms, out.status,
                out.iterations,
            )  # fmt: skip

        train_rows(batch, control, loop)

    def loop(
        self, out: Outcome, step: float | None, control: Control, limits: np.ndarray, tolerances: Array
    ) -> None:
        """Small networks side by side, large ones one after the other."""
        from shallows.questions.descent._compiled.relu_runs import descent_loop

        descent_loop(
            out.thetas, self.width, self.n, self.outer, self.free, self.V, self.b, self.c, self.energy,
            -1.0 if step is None else step, tolerances, limits, control.goal, control.scale,
            control.interrupted.flag, out.losses, out.norms, out.status, out.iterations,
        )  # fmt: skip
