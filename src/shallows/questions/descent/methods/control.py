"""What every method is given: when to stop, what to record, whether someone asked to stop early."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from shallows.questions.descent.results.run import Trajectory
from shallows.support.checks import Array


class Interrupt:
    """A flag that compiled loops can read too."""

    def __init__(self) -> None:
        self.flag = np.zeros(1, dtype=np.int64)

    def set(self) -> None:
        """Ask all runs to stop."""
        self.flag[0] = 1

    def is_set(self) -> bool:
        """Whether someone asked."""
        return bool(self.flag[0])


@dataclass(frozen=True, eq=False)
class Control:
    """Stop at ‖g‖ ≤ tolerance, at a loss ≤ goal, or after `iterations` in all; `scale` is E y²."""

    tolerance: float | Array = 1e-12
    iterations: int = 100_000
    goal: float = -np.inf
    scale: float = 1.0
    interrupted: Interrupt = field(default_factory=Interrupt)

    def tightened(self, tolerance: float | Array) -> Control:
        """The same, with another tolerance."""
        return replace(self, tolerance=tolerance)

    def tolerance_of(self, rows: np.ndarray) -> float | Array:
        """The tolerance of these rows: one for all, or one a row of the batch."""
        return self.tolerance if isinstance(self.tolerance, float) else self.tolerance[rows]


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

    def trajectory(self) -> Trajectory | None:
        """What was recorded, or None when nothing was asked for."""
        if self.every is None:
            return None
        return Trajectory(np.array(self.times), np.array(self.thetas), np.array(self.losses))
