"""The runs of a batch that still move, as arrays that shrink when a run ends, and the loop of fixed-step methods."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shallows.mathematics.solvers.rows import row_norms
from shallows.questions.descent.evaluate import Evaluate
from shallows.questions.descent.results.run import Batch, Recorder, Status
from shallows.questions.descent.stopping import Stopping
from shallows.questions.descent.thresholds import BLOW_UP, CHECK, NEW_LOW, PATIENCE, ROUNDING
from shallows.support.checks import Array


class Running:
    """Points, losses and gradients of the running rows. `move` accepts new points, `release` lets ended runs go."""

    def __init__(self, evaluate: Evaluate, batch: Batch, stopping: Stopping, recorder: Recorder) -> None:
        self.evaluate, self.batch, self.stopping, self.recorder = evaluate, batch, stopping, recorder
        self.rows = batch.running()
        self.theta = batch.thetas[self.rows]
        self.iteration = 0
        if len(self.rows):
            self.loss, self.gradient = evaluate(self.theta)
            self.norm = row_norms(self.gradient)
            self.cap = BLOW_UP * (1 + self.loss)
            broken = ~(np.isfinite(self.loss) & np.isfinite(self.norm))
            if broken.any():
                self._end(broken, Status.DIVERGED)

    def __len__(self) -> int:
        return len(self.rows)

    def _end(self, mask: np.ndarray, status: Status | np.ndarray) -> None:
        rows = self.rows[mask]
        self.batch.thetas[rows], self.batch.losses[rows] = self.theta[mask], self.loss[mask]
        self.batch.norms[rows], self.batch.status[rows] = self.norm[mask], status
        self.batch.iterations[rows] += self.iteration
        if 0 in rows:
            self.recorder.note(self.iteration, self.batch.thetas[0], self.batch.losses[0], always=True)
        self._keep(~mask)

    def _keep(self, mask: np.ndarray) -> None:
        for name in ("rows", "theta", "loss", "gradient", "norm", "cap"):
            setattr(self, name, getattr(self, name)[mask])

    def release(self, stalled: np.ndarray | None = None) -> np.ndarray | None:
        """End runs that reached the goal or the tolerance (or stalled); return the mask kept, None when all go on."""
        if self.recorder.every is not None and len(self) and self.rows[0] == 0:
            self.recorder.note(self.iteration, self.theta[0], self.loss[0])
        stopping = self.stopping
        goal, done = self.loss <= stopping.goal, self.norm <= stopping.tolerance_of(self.rows)
        spent = self.batch.iterations[self.rows] + self.iteration >= stopping.iterations
        gone = goal | done | spent | stopping.interrupted.is_set()
        if stalled is not None:
            gone = gone | stalled
        if not gone.any():
            return None
        status = np.full(
            len(self), int(Status.INTERRUPTED if stopping.interrupted.is_set() else Status.LIMIT)
        )
        if stalled is not None:
            status[stalled] = Status.STALLED
        status[goal], status[done] = Status.GOAL, Status.CONVERGED
        self._end(gone, status[gone])
        return np.asarray(~gone)

    def advance(self, theta: Array) -> None:
        """Move all rows to these points; rows whose loss blows up end at the point before."""
        loss, gradient = self.evaluate(theta)
        norm = row_norms(gradient)
        self.iteration += 1
        broken = ~((loss <= self.cap) & np.isfinite(norm))
        if broken.any():
            self._end(broken, Status.DIVERGED)
            theta, loss, gradient, norm = theta[~broken], loss[~broken], gradient[~broken], norm[~broken]
        self.theta, self.loss, self.gradient, self.norm = theta, loss, gradient, norm

    def accept(self, taken: np.ndarray, theta: Array, loss: Array, gradient: Array, norm: Array) -> None:
        """Move the rows `taken` to points that are already evaluated; the others stay."""
        self.iteration += 1
        if taken.all():
            self.theta, self.loss, self.gradient, self.norm = theta, loss, gradient, norm
            return
        self.theta[taken], self.loss[taken] = theta[taken], loss[taken]
        self.gradient[taken], self.norm[taken] = gradient[taken], norm[taken]


Propose = Callable[[Running], Array]


class Patience:
    """Which runs are stuck in rounding: a gradient norm below 1e-12 E y² and no smaller one for 20,000 iterations.

    A large gradient that does not shrink is no stall: the run may be leaving a saddle.
    """

    def __init__(self, count: int) -> None:
        self.best, self.since = np.full(count, np.inf), np.zeros(count, dtype=np.int64)

    def stalled(self, running: Running) -> np.ndarray | None:
        """Look once in 500 iterations; None in between."""
        if running.iteration % CHECK:
            return None
        rows = running.rows
        better = running.norm < NEW_LOW * self.best[rows]
        self.best[rows] = np.minimum(self.best[rows], running.norm)
        self.since[rows[better]] = running.iteration
        tiny = running.norm <= ROUNDING * running.stopping.scale
        return np.asarray(tiny & (running.iteration - self.since[rows] >= PATIENCE))


def iterate(
    evaluate: Evaluate, batch: Batch, propose: Propose, stopping: Stopping, recorder: Recorder | None = None
) -> None:
    """θ ← propose(running) for all running rows, until each has a status."""
    with np.errstate(over="ignore", invalid="ignore"):
        running = Running(evaluate, batch, stopping, recorder or Recorder(None))
        patience = Patience(len(batch.thetas))
        while len(running):
            running.release(patience.stalled(running))
            if len(running):
                running.advance(propose(running))
