"""Problems whose whole descent runs in compiled code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from shallows.questions.descent.results.run import Batch
from shallows.questions.descent.stopping import Stopping
from shallows.support.checks import Array


class Outcome(NamedTuple):
    """The rows a loop works on, filled in place."""

    thetas: Array
    losses: Array
    norms: Array
    status: np.ndarray
    iterations: np.ndarray


Loop = Callable[[Outcome, np.ndarray, Array], None]


def train_rows(batch: Batch, stopping: Stopping, loop: Loop) -> None:
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
    tolerances = np.broadcast_to(stopping.tolerance_of(rows), len(rows)).astype(np.float64)
    loop(out, stopping.iterations - batch.iterations[rows], tolerances)
    batch.store(rows, out.thetas, out.losses, out.norms)
    batch.status[rows] = out.status
    batch.iterations[rows] += out.iterations


class Compiled(ABC):
    """Gradient descent without the interpreter: subclasses have the `loop`."""

    def descend(self, batch: Batch, step: float | None, stopping: Stopping) -> None:
        """Gradient descent from all running rows: `step` fixed, or None for the line search."""
        train_rows(
            batch,
            stopping,
            lambda out, limits, tolerances: self.loop(out, step, stopping, limits, tolerances),
        )

    @abstractmethod
    def loop(
        self, out: Outcome, step: float | None, stopping: Stopping, limits: np.ndarray, tolerances: Array
    ) -> None:
        """Train all rows of `out`."""
