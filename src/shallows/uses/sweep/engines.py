"""Where cells run: in this process, on all cores of this machine, or on a Dask cluster. The rows are the same.

An engine takes chunks of row numbers and gives back outcomes, in whatever order they finish.
"""

from __future__ import annotations

import logging
import os
import queue
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from shallows.support.checks import positive_integer
from shallows.support.cluster import connected
from shallows.support.cores import ONE_NUMBA_THREAD, ONE_THREAD, available
from shallows.uses.sweep.cell import Row, compute_chunk, compute_rows
from shallows.uses.sweep.extra import need
from shallows.uses.sweep.faults import SweepStopped
from shallows.uses.sweep.plan import Plan

RECOUNT = 2.0
#: How long, in seconds, this machine may be without any worker; a cluster may be as long as its queue takes.
PATIENCE = 120.0
#: Whose loggers are Dask's, and those of what it stands on.
DASK = ("distributed", "tornado", "asyncio")


@dataclass(frozen=True)
class Outcome:
    """A chunk that came back: its rows; or None, and how many workers died of it."""

    asked: list[int]
    rows: list[Row] | None
    deaths: int = 0


class Engine(Protocol):
    """Takes chunks, gives outcomes."""

    def workers(self) -> int:
        """How many cells can run at the same time now."""
        ...

    def submit(self, rows: list[int]) -> None:
        """Start computing these rows."""
        ...

    def next(self, timeout: float) -> Outcome | None:
        """A finished chunk, or None when none finished in time."""
        ...


class InProcess:
    """One cell after the other, here: for small sweeps, debuggers and profilers."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.waiting: deque[list[int]] = deque()

    def workers(self) -> int:
        """One."""
        return 1

    def submit(self, rows: list[int]) -> None:
        """Remember the chunk."""
        self.waiting.append(rows)

    def next(self, timeout: float) -> Outcome | None:
        """Compute the chunk that waits longest."""
        rows = self.waiting.popleft()
        return Outcome(rows, compute_rows(self.plan, rows))


class OnDask:
    """Chunks as tasks of a Dask cluster."""

    def __init__(self, plan: Plan, client: Any, patience: float = float("inf")) -> None:
        self.text = plan.to_json()
        self.client, self.patience = client, patience
        self.finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.running: dict[str, tuple[Any, list[int]]] = {}
        self._count, self._counted, self._seen = 0, -RECOUNT, time.monotonic()

    def workers(self) -> int:
        """The threads of all workers; workers that join or leave are noticed within two seconds."""
        if time.monotonic() - self._counted > RECOUNT:
            try:
                self._count = sum(self.client.nthreads().values())
            except (OSError, AttributeError) as error:  # a closed client has no scheduler to ask
                raise _gone(self.client, error) from None
            self._counted = time.monotonic()
            self._seen = self._counted if self._count else self._seen
            if self._counted - self._seen > self.patience:
                raise SweepStopped(
                    f"There has been no worker for {self.patience:.0f} s: new ones do not start. Rows written before "
                    "are safe; the same command goes on from there."
                )
        return self._count

    def submit(self, rows: list[int]) -> None:
        """Send the chunk to the scheduler."""
        future = self.client.submit(compute_chunk, self.text, rows, pure=False)
        self.running[future.key] = (future, rows)
        future.add_done_callback(self.finished.put)

    def next(self, timeout: float) -> Outcome | None:
        """A finished chunk; a scheduler that is gone, or workers that cannot run cells, end the sweep."""
        try:
            done = self.finished.get(timeout=timeout)
        except queue.Empty:
            if self.client.status not in ("running", "connecting"):
                raise _gone(self.client, None) from None
            return None
        future, rows = self.running.pop(done.key)
        if future.status in ("cancelled", "lost"):
            raise _gone(self.client, None)
        return _outcome(future, rows, self.client)

    def abandon(self) -> None:
        """Forget what is still running."""
        self.client.cancel([future for future, _ in self.running.values()])


def _outcome(future: Any, rows: list[int], client: Any) -> Outcome:
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        return Outcome(rows, future.result())
    except SweepStopped:
        raise
    except KilledWorker as error:
        return Outcome(rows, None, error.allowed_failures + 1)
    except (CancelledError, OSError) as error:
        raise _gone(client, error) from None
    except Exception as error:
        raise SweepStopped(
            f"The workers cannot run cells: {type(error).__name__}: {error}. They need the same version of shallows "
            "as this process, and the modules that the sweep file names."
        ) from error


def _gone(client: Any, error: Exception | None) -> SweepStopped:
    detail = f" ({error})" if error is not None and str(error) else ""
    return SweepStopped(
        f"The Dask scheduler is gone{detail}. Finished rows are written: start a scheduler and run the same command "
        "again, and it goes on from there."
    )


@contextmanager
def on_this_machine(plan: Plan, workers: int | None) -> Iterator[Engine]:
    """A worker process a core, one thread each; they end with this process, however it ends."""
    need("distributed")
    import dask
    from distributed import Client, LocalCluster

    count = available() if workers is None else positive_integer("workers", workers)
    settings = {
        # We count deaths ourselves, cell by cell, so Dask must not retry a chunk on its own.
        "distributed.scheduler.allowed-failures": 0,
        # By default a worker that takes more than 15 s to come back, on a busy machine, is given up for good.
        "distributed.deploy.lost-worker-timeout": "1 day",
        # Dask's sampling profiler and monitors take some milliseconds of every cell of 50 ms; nobody looks at them.
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "5s",
        # Dask sets these in this process too, before it starts a worker, ...
        "distributed.nanny.pre-spawn-environ": {**ONE_THREAD, "MALLOC_TRIM_THRESHOLD_": "65536"},
        # ... and this in the worker only.
        "distributed.nanny.environ": ONE_NUMBA_THREAD,
    }
    with dask.config.set(settings), _environment_kept():
        try:
            cluster = LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",  # any free port: two sweeps can run side by side
                silence_logs=logging.CRITICAL,
            )
        except RuntimeError as error:
            raise SweepStopped(
                f"The workers do not start: {error} Fix: a script that runs a sweep needs "
                'if __name__ == "__main__": around it, because workers are new processes; or engine="process".'
            ) from error
        with cluster, Client(cluster, set_as_default=False) as client:
            client.register_plugin(_deaf_to_ctrl_c())
            yield from _working(OnDask(plan, client, PATIENCE))


@contextmanager
def _environment_kept() -> Iterator[None]:
    """Dask puts what it gives to the workers into this process's environment; it is taken out again."""
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


def _deaf_to_ctrl_c() -> Any:
    """For all workers, restarted ones too: a terminal sends Ctrl-C to every process, and only this one shall answer."""
    import signal

    from distributed import WorkerPlugin

    class Deaf(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    return Deaf()


@contextmanager
def on_cluster(plan: Plan, address: str, tls: dict[str, str] | None = None) -> Iterator[Engine]:
    """The workers of the scheduler at `address`; `tls` has the files ca, cert and key of an encrypted cluster."""
    client = connected(address, tls, SweepStopped)
    with _dask_silent(), client:
        yield from _working(OnDask(plan, client))


@contextmanager
def _dask_silent() -> Iterator[None]:
    """What goes wrong is said once, by us: Dask's own loggers are off while its client runs and when it is closed."""
    known = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in DASK]
    loggers = [logging.getLogger(name) for name in known]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was in zip(loggers, before, strict=True):
            logger.disabled = was


def _working(engine: OnDask) -> Iterator[Engine]:
    try:
        yield engine
    finally:
        if engine.running and engine.client.status == "running":
            engine.abandon()
