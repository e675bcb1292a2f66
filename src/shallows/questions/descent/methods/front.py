"""The runs of a batch that are still moving, as arrays that shrink when a run ends."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.solvers.rows import row_norms
from shallows.questions.descent.evaluate import Evaluate
from shallows.questions.descent.methods.control import Control, Recorder
from shallows.questions.descent.results.run import Batch, Status
from shallows.support.checks import Array

BLOW_UP = 1e8


class Front:
    """Points, losses and gradients of the running rows. `move` accepts new points, `release` lets ended runs go."""

    def __init__(self, evaluate: Evaluate, batch: Batch, control: Control, recorder: Recorder) -> None:
        self.evaluate, self.batch, self.control, self.recorder = evaluate, batch, control, recorder
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
        control = self.control
        goal, done = self.loss <= control.goal, self.norm <= control.tolerance_of(self.rows)
        spent = self.batch.iterations[self.rows] + self.iteration >= control.iterations
        gone = goal | done | spent | control.interrupted.is_set()
        if stalled is not None:
            gone = gone | stalled
        if not gone.any():
            return None
        status = np.full(len(self), int(Status.INTERRUPTED if control.interrupted.is_set() else Status.LIMIT))
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
