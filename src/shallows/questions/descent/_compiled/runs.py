"""The runs that a compiled loop trains, with what it has to know of them: one record for all loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shallows.model.kernels._compiled.kinds import COUNTS, FLOAT, FLOATS, INT
from shallows.questions.descent._compiled.base import Outcome
from shallows.questions.descent.stopping import Stopping
from shallows.support.checks import Array
from shallows.support.in_memory import Held, at, in_memory


class Runs(NamedTuple):
    """θ of `rows` runs, each `size` numbers, a fixed step (or none: ≤ 0), when each stops, and where it ends.

    flag[0] ≠ 0 asks all runs to stop. Rows, losses, norms, status and iterations are filled in place.
    """

    rows: int
    size: int
    step: float
    goal: float
    scale: float
    flag: np.ndarray
    tolerances: Array
    limits: np.ndarray
    thetas: Array
    losses: Array
    norms: Array
    status: np.ndarray
    iterations: np.ndarray


RUNS = in_memory(
    Runs, INT, INT, FLOAT, FLOAT, FLOAT, COUNTS, FLOATS, COUNTS, FLOATS, FLOATS, FLOATS, COUNTS, COUNTS
)  # fmt: skip
runs_at = at(RUNS)


def held_runs(
    out: Outcome, step: float | None, stopping: Stopping, limits: np.ndarray, tolerances: Array
) -> Held:
    """The rows of `out` for a loop."""
    count, size = out.thetas.shape
    return Held(
        RUNS,
        Runs(
            count, size, -1.0 if step is None else step, stopping.goal, stopping.scale, stopping.interrupted.flag,
            tolerances, np.ascontiguousarray(limits, dtype=np.int64), out.thetas, out.losses, out.norms, out.status,
            out.iterations,
        ),
    )  # fmt: skip
