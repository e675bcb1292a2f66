"""What is still to do, and what happens to cells whose worker dies.

A chunk whose worker died is tried again cell by cell, and a cell that lost its worker alone is tried once more when
nothing else is running: if the worker dies again, it was the cell, which is then set aside and named. So no cell is
set aside for another one's sake, and a worker that was killed from outside costs nothing but time.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from shallows.support.errors import ShallowsError


class SweepStopped(ShallowsError):
    """A sweep could not go on (scheduler gone, workers unable to run cells); rows written before are safe.

    >>> from tempfile import TemporaryDirectory
    >>> axes = [{"path": "compute.ratio", "values": [1, 4, 8]}]
    >>> compute = {"what": "barrier-start-probability", "d": 5, "gamma": "m", "trials": 500}
    >>> plan = sh.sweep.Plan.from_document({"axes": axes, "compute": compute})
    >>> with TemporaryDirectory() as out:
    ...     sh.run_sweep(plan, out, scheduler="tls://127.0.0.1:8786")
    Traceback (most recent call last):
        ...
    shallows.uses.sweep.faults.SweepStopped: No Dask scheduler answers at tls://127.0.0.1:8786: ...
    """


class Work:
    """The rows to compute, in the order in which they are given out."""

    def __init__(self, rows: Sequence[int]) -> None:
        self.fresh = deque(rows)
        self.singles: deque[int] = deque()
        self.suspects: deque[int] = deque()
        self.deaths: Counter[int] = Counter()

    def __len__(self) -> int:
        return len(self.fresh) + len(self.singles) + len(self.suspects)

    def take(self, size: int, in_flight: int) -> list[int]:
        """The next chunk of at most `size` rows; empty when there is none, or none that may run beside others."""
        if self.fresh:
            return [self.fresh.popleft() for _ in range(min(size, len(self.fresh)))]
        if self.singles:
            return [self.singles.popleft()]
        if self.suspects and not in_flight:
            return [self.suspects.popleft()]
        return []

    def lost(self, rows: Sequence[int], deaths: int) -> list[int]:
        """Take back a chunk whose workers died; the rows that are to be set aside."""
        if len(rows) > 1:
            self.singles.extend(rows)
            return []
        (row,) = rows
        before = self.deaths[row]
        self.deaths[row] += deaths
        if before:
            return [row]
        self.suspects.append(row)
        return []
