"""What training returns: a status with a sentence, one `Run` and its `Trajectory`; a `Batch` of running ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import numpy as np

from shallows.model.network import Network
from shallows.support.checks import Array, counted
from shallows.support.records import Records


class Status(IntEnum):
    """How a run ended; `sentence` says it in words."""

    RUNNING = -1
    CONVERGED = 0
    LIMIT = 1
    DIVERGED = 2
    ESCAPING = 3
    STALLED = 4
    INTERRUPTED = 5
    GOAL = 6
    SLOW = 7

    @property
    def sentence(self) -> str:
        """What happened, for a person."""
        return _SENTENCES[self]

    @property
    def settled(self) -> bool:
        """Whether the end point is one that the method was asked for."""
        return self in (Status.CONVERGED, Status.GOAL)


_SENTENCES = {
    Status.RUNNING: "Training has not ended.",
    Status.CONVERGED: "The gradient norm reached the tolerance.",
    Status.LIMIT: "The iteration limit came before the tolerance was reached.",
    Status.DIVERGED: "The loss blew up: the step is too long.",
    Status.ESCAPING: "The parameters run off to infinity while the loss keeps falling towards its infimum.",
    Status.STALLED: "Rounding stops progress before the tolerance: float64 reaches no further here.",
    Status.INTERRUPTED: "Training was interrupted.",
    Status.SLOW: "The flow is as slow as its integrator can tell, yet above the tolerance: it may still move.",
    Status.GOAL: "The loss is within `loss_tolerance` of its lower bound.",
}


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Points along one run: `times` are iterations (or the time of a flow), thetas has one row a point.

    >>> problem = sh.Problem(np.diag([2.0, 1.0]), sh.Frobenius(2), width=1)
    >>> way = sh.descend(problem, sh.Network([[1.0, 0.5]]), step=0.02, record=10).trajectory
    >>> [f"t = {t:.0f}: {loss:.4f}" for t, loss in zip(way.times[:4], way.losses)], f"{way.losses[-1]:.4f}"
    (['t = 0: 2.0625', 't = 10: 1.1651', 't = 20: 1.0266', 't = 30: 1.0041'], '1.0000')
    """

    times: Array
    thetas: Array
    losses: Array

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        if not len(self):
            return "Trajectory(empty)"
        return (
            f"Trajectory({counted(len(self), 'point')}, t = {self.times[0]:g} … {self.times[-1]:g}, "
            f"loss {self.losses[0]:.6g} → {self.losses[-1]:.6g})"
        )


class Recorder:
    """Collects the points of a run every m-th step; does nothing when `every` is None."""

    def __init__(self, every: int | None) -> None:
        self.every = every
        self.times: list[float] = []
        self.thetas: list[Array] = []
        self.losses: list[float] = []

    def note(self, time: float, theta: Array, loss: float, always: bool = False) -> None:
        """Keep this point if its turn has come; `always` is for the last one."""
        if self.every is None or not (always or time % self.every == 0):
            return
        if self.times and self.times[-1] == time:
            return
        self.times.append(float(time))
        self.thetas.append(np.array(theta))
        self.losses.append(float(loss))

    def trajectory(self, lower: Callable[[Array], Array]) -> Trajectory | None:
        """What was recorded, in the parameters that `lower` makes of those trained; None when nothing was asked for."""
        if self.every is None:
            return None
        return Trajectory(np.array(self.times), lower(np.array(self.thetas)), np.array(self.losses))


@dataclass(frozen=True, eq=False)
class Run:
    """One training run: where it ended, how (`status`, and `message` in words), and (on demand) the way there.

    >>> problem = sh.Problem(np.diag([2.0, 1.0]), sh.Frobenius(2), width=1)
    >>> run = sh.descend(problem, sh.Network([[1.0, 0.5]]), method="newton")
    >>> run.status.name, run.message, f"{run.loss:.8f}"
    ('CONVERGED', 'The gradient norm reached the tolerance.', '1.00000000')
    >>> sh.descend(problem, sh.Network([[1.0, 0.5]]), step=1.0).message
    'The loss blew up with step 1: it is too long. A step of 0.041 is stable from here.'
    """

    network: Network
    theta: Array
    loss: float
    gradient_norm: float
    iterations: int
    status: Status
    message: str
    method: str
    trajectory: Trajectory | None = None

    @property
    def converged(self) -> bool:
        """Whether the run ended at the tolerance (or at the loss it was asked for)."""
        return self.status.settled

    def save(self, path: str | Path) -> Path:
        """Write `path`.json and `path`.npz, the way there included; `Run.load` reads them. The path of the first."""
        return RECORDS.save(path, self)

    @classmethod
    def load(cls, path: str | Path) -> Run:
        """What `save` wrote.

        >>> import tempfile
        >>> problem = sh.Problem(np.diag([2.0, 1.0]), sh.Frobenius(2), width=1)
        >>> run = sh.descend(problem, sh.Network([[1.0, 0.5]]), step=0.02, record=10)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = sh.Run.load(run.save(f"{folder}/step-0.02"))
        >>> again, np.array_equal(again.trajectory.thetas, run.trajectory.thetas)
        (Run(gd: converged, loss=1, gradient norm=..., ... iterations), True)
        """
        run: Run = RECORDS.load(path)
        return run

    def __repr__(self) -> str:
        return (
            f"Run({self.method}: {self.status.name.lower()}, loss={self.loss:.10g}, "
            f"gradient norm={self.gradient_norm:.2g}, {counted(self.iterations, 'iteration')})"
        )


RECORDS = Records("shallows-run", 1, Run, Trajectory, Status)


@dataclass(eq=False)
class Batch:
    """The working state of many runs: arrays over runs, filled in place by the methods."""

    thetas: Array
    losses: Array
    norms: Array
    status: np.ndarray
    iterations: np.ndarray

    @classmethod
    def start(cls, thetas: Array) -> Batch:
        """Runs that have not moved yet."""
        count = len(thetas)
        return cls(
            np.array(thetas, dtype=np.float64),
            np.full(count, np.nan),
            np.full(count, np.nan),
            np.full(count, int(Status.RUNNING), dtype=np.int64),
            np.zeros(count, dtype=np.int64),
        )

    def running(self) -> np.ndarray:
        """The rows that have not ended."""
        return np.flatnonzero(self.status == Status.RUNNING)

    def store(self, rows: np.ndarray, thetas: Array, losses: Array, norms: Array) -> None:
        """Write the current points of these rows."""
        self.thetas[rows], self.losses[rows], self.norms[rows] = thetas, losses, norms

    @classmethod
    def join(cls, parts: list[Batch]) -> Batch:
        """Batches one after the other."""
        names = ("thetas", "losses", "norms", "status", "iterations")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
