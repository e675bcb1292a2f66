"""When training stops: at a tolerance, a goal, a limit, or when someone asks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from shallows.support.checks import Array

#: On the gradient norm, unless float64 cannot reach it: losses are then known to 10⁻²⁴ over the smallest curvature, so
#: that end points of one minimum are told from those of others by far.
DEFAULT_TOLERANCE = 1e-12


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
class Stopping:
    """Stop at ‖g‖ ≤ tolerance, at a loss ≤ goal, or after `iterations` in all; `scale` is E y²."""

    tolerance: float | Array = DEFAULT_TOLERANCE
    iterations: int = 100_000
    goal: float = -np.inf
    scale: float = 1.0
    interrupted: Interrupt = field(default_factory=Interrupt)

    def tightened(self, tolerance: float | Array) -> Stopping:
        """The same, with another tolerance."""
        return replace(self, tolerance=tolerance)

    def tolerance_of(self, rows: np.ndarray) -> float | Array:
        """The tolerance of these rows: one for all, or one a row of the batch."""
        return self.tolerance if isinstance(self.tolerance, float) else self.tolerance[rows]
