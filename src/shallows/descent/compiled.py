"""Evaluators that can also run a whole descent in compiled code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows._checks import Array
from shallows.descent.control import Control
from shallows.descent.run import Batch


@dataclass(frozen=True, eq=False)
class Compiled:
    """The arguments of `_descent_loop` for one problem: degree 0 stands for ReLU."""

    width: int
    n: int
    outer: Array
    degree: int
    free: bool
    V: Array
    b: Array
    c: Array
    energy: float

    def descend(self, batch: Batch, step: float | None, control: Control) -> None:
        """Gradient descent from all running rows: `step` fixed, or None for the line search."""
        from shallows.descent._descent_loop import descent_loop

        rows = batch.running()
        if not len(rows):
            return
        thetas = np.ascontiguousarray(batch.thetas[rows])
        losses, norms = np.empty(len(rows)), np.empty(len(rows))
        status, iterations = np.empty(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        tolerances = np.broadcast_to(control.tolerance_of(rows), len(rows)).astype(np.float64)
        limits = control.iterations - batch.iterations[rows]
        descent_loop(
            thetas, self.width, self.n, self.outer, self.degree, self.free, self.V, self.b, self.c, self.energy,
            -1.0 if step is None else step, tolerances, limits, control.goal, control.scale,
            control.interrupted.flag, losses, norms, status, iterations,
        )  # fmt: skip
        batch.thetas[rows], batch.losses[rows], batch.norms[rows] = thetas, losses, norms
        batch.status[rows] = status
        batch.iterations[rows] += iterations
