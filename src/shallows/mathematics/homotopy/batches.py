"""Paths in batches on a client: a Dask client, or anything with `submit`, whose workers have `shallows` installed.

A path depends on its own start only, so batches can be tracked anywhere and in any order. What is sent is the name of
the compiled evaluator and its constant data; what comes back, and is kept, are arrays. A batch that was finished is on
disk, under the digest of all that it depends on, and is not tracked again: whoever stops, or loses a worker, loses no
more than the batches that were being tracked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.support.cluster import connected
from shallows.support.code_cache import root
from shallows.support.errors import InvalidProblem
from shallows.support.files import Format
from shallows.support.progress import Progress, Shown

#: A batch as names, numbers and arrays; and what a worker makes of one: its COLUMNS.
Job = dict[str, Any]
Tracked = Callable[[Job], dict[str, Any]]
FORMAT = Format("shallows-batch-of-paths", 1)
#: Paths in a batch: seconds of work, against milliseconds to send it.
SIZE = 2_000
#: How often a batch is sent again whose worker died: it may be the batch that kills them.
RETRIES = 3
#: What of the tracked paths is sent back and kept.
COLUMNS = ("ends", "status", "winding", "steps", "radius", "error")


@dataclass(frozen=True)
class Batches:
    """Where paths are tracked, how many at once, and where finished batches are kept (None: nowhere)."""

    client: Any
    folder: Path | None = None
    size: int = SIZE

    def track(
        self, tracked: Tracked, homotopy: Any, starts: NDArray[np.complex128], given: Job, progress: Shown
    ) -> list[NDArray[Any]]:
        """The COLUMNS of all paths, in their order; `tracked` is what a worker does with a batch."""
        jobs = [job_of(homotopy, starts[k : k + self.size], given) for k in range(0, len(starts), self.size)]
        done: list[dict[str, Any] | None] = [self._kept(job) for job in jobs]
        with Progress(len(starts), "tracking paths", progress, "paths") as shown:
            shown.advance(sum(len(part["ends"]) for part in done if part is not None))
            waiting = {
                self._sent(tracked, job): k
                for k, (job, part) in enumerate(zip(jobs, done, strict=True))
                if part is None
            }
            for future in _finished(self.client, waiting):
                k = waiting[future]
                part = done[k] = future.result()
                self._keep(jobs[k], part)
                shown.advance(len(part["ends"]))
        return [np.concatenate([part[name] for part in done if part is not None]) for name in COLUMNS]

    def _sent(self, tracked: Tracked, job: Job) -> Any:
        dask = {"pure": False, "retries": RETRIES} if hasattr(self.client, "scheduler_info") else {}
        return self.client.submit(tracked, job, **dask)

    def _path(self, job: dict[str, Any]) -> Path | None:
        return None if self.folder is None else self.folder / digest(job)

    def _kept(self, job: dict[str, Any]) -> dict[str, Any] | None:
        path = self._path(job)
        if path is None or not path.with_name(f"{path.name}.json").exists():
            return None
        with suppress(InvalidProblem):
            arrays = FORMAT.load(path).arrays
            part = {name: arrays[name] for name in COLUMNS}
            if all(len(column) == len(job["starts"]) for column in part.values()):
                return part
        return None

    def _keep(self, job: dict[str, Any], part: dict[str, Any]) -> None:
        path = self._path(job)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            FORMAT.save(path, {}, part)


_CURRENT: ContextVar[Batches | None] = ContextVar("batches", default=None)


def current() -> Batches | None:
    """Where paths are tracked now, if not here."""
    return _CURRENT.get()


@contextmanager
def in_batches(client: Any, folder: str | Path | None = None, size: int = SIZE) -> Iterator[None]:
    """Track all paths on a client, as long as this lasts."""
    token = _CURRENT.set(Batches(client, None if folder is None else Path(folder), size))
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def on_client(client: Any, folder: str | Path | None = None) -> Iterator[None]:
    """Track all paths on a client, or on the workers of a Dask scheduler by its address; batches are kept.

    They are kept in `folder`, or else in the user's cache directory.
    """
    above = root()
    place = folder if folder is not None or above is None else above / "batches"
    if not isinstance(client, str):
        with in_batches(client, place):
            yield
        return
    made = connected(client)
    with made, in_batches(made, place):
        yield


def job_of(homotopy: Any, starts: NDArray[np.complex128], given: dict[str, Any]) -> dict[str, Any]:
    """A batch as names, numbers and arrays."""
    data = {field.name: getattr(homotopy, field.name) for field in fields(homotopy)}
    unit = data.pop("evaluate")
    if not hasattr(unit, "symbol"):
        raise InvalidProblem(
            f"{unit!r} is no evaluator of shallows, so no other process can find it. Fix: track without a client."
        )
    return {"evaluate": unit.symbol, "homotopy": data, "starts": starts, **given}


def digest(job: dict[str, Any]) -> str:
    """What a batch depends on, in 32 letters."""
    total = hashlib.sha256()

    def add(value: Any) -> None:
        if isinstance(value, dict):
            for name in sorted(value):
                total.update(name.encode())
                add(value[name])
        elif isinstance(value, np.ndarray):
            total.update(f"{value.dtype} {value.shape}".encode())
            total.update(np.ascontiguousarray(value).tobytes())
        else:
            total.update(repr(value).encode())

    add(job)
    return total.hexdigest()[:32]


def _finished(client: Any, futures: dict[Any, int]) -> Iterator[Any]:
    """Futures as they finish, of Dask or of the standard library."""
    if not futures:
        return
    if hasattr(client, "scheduler_info"):
        from distributed import as_completed as completed

        yield from completed(list(futures), loop=client.loop)
    else:
        from concurrent.futures import as_completed

        yield from as_completed(list(futures))
