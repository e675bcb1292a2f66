"""What goes wrong with a sweep: errors by name, what is still to do, and what happens to cells whose worker dies.

A chunk whose worker died is tried again cell by cell, and a cell that lost its worker alone is tried once more when
nothing else is running: if the worker dies again, it was the cell, which is then set aside and named. So no cell is
set aside for another one's sake, and a worker that was killed from outside costs nothing but time.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from pathlib import Path

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


class StoreError(ShallowsError):
    """Results cannot be written or read; what was written before is safe.

    >>> axes = [{"path": "compute.ratio", "values": [1, 4, 8]}]
    >>> compute = {"what": "barrier-start-probability", "d": 5, "gamma": "m", "trials": 500}
    >>> plan = sh.sweep.Plan.from_document({"axes": axes, "compute": compute})
    >>> sh.run_sweep(plan, "/dev/null/results")
    Traceback (most recent call last):
        ...
    shallows.uses.sweep.faults.StoreError: Cannot write results into /dev/null/results: Not a directory. Fix: ...
    """


class DamagedFile(StoreError):
    """A file of the results is not what was written; the next run sets it aside and computes what was in it."""

    def __init__(self, file: str | Path, reason: str) -> None:
        super().__init__(
            f"{file} is damaged: {reason}. Fix: run the sweep again; it sets this file aside and computes the rows "
            "that were in it anew."
        )
        self.file = Path(file)


class InputChanged(SweepStopped):
    """A file that rows depend on changed while the sweep ran; rows written before are right."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is not what the sweep was started with: its content has changed since, or a worker has an older "
            "one. Rows written before are right. Fix: start the sweep again (on a cluster, restart the workers); rows "
            "of the old content are found again when it is put back."
        )
        self.name = name

    def __reduce__(self) -> tuple[type[InputChanged], tuple[str]]:
        """How workers send it: by the name, not by the sentence."""
        return type(self), (self.name,)


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
