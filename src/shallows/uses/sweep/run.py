"""`run_sweep`: compute what is missing, write it as it comes, survive what goes wrong."""

from __future__ import annotations

import os
import platform
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from shallows.support.arguments import typed
from shallows.support.checks import counted
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Progress
from shallows.uses.sweep.cell import DONE, SET_ASIDE, Row, head
from shallows.uses.sweep.engines import Engine, InProcess, Outcome, on_cluster, on_this_machine
from shallows.uses.sweep.extra import need
from shallows.uses.sweep.faults import Work
from shallows.uses.sweep.pace import Pace
from shallows.uses.sweep.plan import Plan
from shallows.uses.sweep.results import SweepStatus, sweep_status
from shallows.uses.sweep.store import Store, read_table

ENGINES = ("local", "process")
#: Rows wait at most so long, in seconds, before they are written.
FLUSH = 0.25
BUFFER = 5000


@dataclass(frozen=True)
class SweepRun:
    """What a run did: rows computed now, the state of the whole sweep, seconds, and how many workers died.

    >>> from tempfile import TemporaryDirectory
    >>> axes = [{"path": "compute.ratio", "values": [1, 4, 8]}]
    >>> compute = {"what": "barrier-start-probability", "d": 5, "gamma": "m", "trials": 500}
    >>> with TemporaryDirectory() as out:
    ...     run = sh.run_sweep(sh.sweep.Plan.from_document({"axes": axes, "compute": compute}), out, engine="process")
    >>> run.computed, run.status.complete, run.deaths, run.interrupted
    (3, True, 0, False)
    """

    status: SweepStatus
    computed: int
    seconds: float
    deaths: int
    interrupted: bool

    def __repr__(self) -> str:
        lines = [repr(self.status), f"  this run: {counted(self.computed, 'row')} in {self.seconds:.1f} s"]
        if self.deaths:
            lines.append(f"  {self.deaths} times a worker died; its cells were computed again or set aside")
        if self.interrupted:
            lines.append("  interrupted; the same command goes on from here")
        return "\n".join(lines)


@typed
def run_sweep(
    sweep: str | Path | Plan,
    out: str | Path,
    *,
    engine: str = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    tls: dict[str, str] | None = None,
    retry: bool = False,
    progress: bool = False,
) -> SweepRun:
    """Compute the rows of a sweep file (or `Plan`) that are missing in the folder `out`.

    - `engine`: "local" (a process a core, or `workers` of them) or "process" (one by one, in this process);
    - `scheduler`: the address of a Dask cluster, instead of an engine; `tls`: its files "ca", "cert" and "key";
    - `retry`: compute rows with an error, and those set aside, again;
    - `progress`: a bar on stderr.

    Ctrl-C writes what has finished and returns. A script that runs the local engine needs the usual
    `if __name__ == "__main__":`, because its workers are new processes.

    >>> from tempfile import TemporaryDirectory
    >>> compute = {"what": "barrier-start-probability", "d": 5, "gamma": "m", "trials": 500}
    >>> axes = [{"path": "compute.ratio", "values": [1, 4, 8]}]   # m/d² of paper 001, Theorem 2.5
    >>> plan = sh.sweep.Plan.from_document({"axes": axes, "compute": compute})
    >>> with TemporaryDirectory() as out:
    ...     print([sh.run_sweep(plan, out, engine="process").computed for _ in range(2)])   # nothing is done twice
    ...     print(sh.load_sweep(out)[["ratio", "probability"]])
    [3, 0]
       ratio  probability
    0      1        0.006
    1      4        0.746
    2      8        0.998
    """
    need("pyarrow", "pandas", "dask", "threadpoolctl")
    plan = sweep if isinstance(sweep, Plan) else Plan.from_file(sweep)
    if engine not in ENGINES:
        raise InvalidProblem(f"engine is {engine!r}; expected one of {', '.join(ENGINES)}.")
    begin = time.perf_counter()
    with Store(out, plan, _provenance()) as store:
        pending = missing_rows(plan, Path(out), retry)
        driver = Driver(plan, store, Work(pending), len(plan))
        try:
            if pending:
                with _engine(plan, engine, workers, scheduler, tls) as running:
                    driver.run(running, progress)
        except KeyboardInterrupt:
            driver.interrupted = True
        finally:
            driver.flush()
        store.compact()
    seconds = time.perf_counter() - begin
    return SweepRun(sweep_status(out), driver.computed, seconds, driver.deaths, driver.interrupted)


def missing_rows(plan: Plan, out: Path, retry: bool) -> list[int]:
    """The numbers of the rows to compute, shuffled, so that cells of all sizes are mixed from the start."""
    table = read_table(out, ["status"] if retry else [])
    keys = table["key"].to_pylist()
    if retry and keys:
        keys = [key for key, status in zip(keys, table["status"].to_pylist(), strict=True) if status == DONE]
    known = set(keys)
    rows = np.array([row for row, key in enumerate(plan.keys()) if key not in known], dtype=np.int64)
    shuffled: list[int] = np.random.default_rng(plan.section.seed).permutation(rows).tolist()
    return shuffled


def _engine(
    plan: Plan, engine: str, workers: int | None, scheduler: str | None, tls: dict[str, str] | None
) -> AbstractContextManager[Engine]:
    if scheduler is not None:
        return on_cluster(plan, scheduler, tls)
    if engine == "process":
        return nullcontext(InProcess(plan))
    return on_this_machine(plan, workers)


def _provenance() -> dict[str, Any]:
    return {
        "python": sys.version.split()[0],
        **{package: version(package) for package in ("numpy", "pyarrow", "dask")},
        "platform": platform.platform(),
        "machine": platform.node(),
        "process": os.getpid(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


class Driver:
    """Keeps the workers busy and the rows flowing to the disk."""

    def __init__(self, plan: Plan, store: Store, work: Work, total: int) -> None:
        self.plan, self.store, self.work, self.total = plan, store, work, total
        self.pace = Pace()
        self.buffer: list[Row] = []
        self.flushed = time.monotonic()
        self.computed = self.deaths = 0
        self.interrupted = False

    def run(self, engine: Engine, progress: bool) -> None:
        """Until nothing is left to do."""
        in_flight = 0
        before = self.total - len(self.work)
        with Progress(self.total, self.plan.section.title or "sweep", shown=progress) as bar:
            while self.work or in_flight:
                in_flight += self._submit(engine, in_flight)
                outcome = engine.next(FLUSH)
                if outcome is not None:
                    in_flight -= 1
                    self._take(outcome)
                if len(self.buffer) >= BUFFER or time.monotonic() - self.flushed >= FLUSH:
                    self.flush()
                bar.update(before + self.computed)

    def _submit(self, engine: Engine, in_flight: int) -> int:
        """Chunks for every worker, and one more each to go on with; never more, so that memory stays bounded."""
        workers = engine.workers()
        started = 0
        while in_flight + started < max(1, 2 * workers):
            rows = self.work.take(self.pace.chunk(len(self.work), workers), in_flight + started)
            if not rows:
                break
            engine.submit(rows)
            started += 1
        return started

    def _take(self, outcome: Outcome) -> None:
        if outcome.rows is not None:
            self.pace.learn(sum(row["seconds"] for row in outcome.rows), len(outcome.rows))
            self.buffer += outcome.rows
            self.computed += len(outcome.rows)
            return
        self.deaths += outcome.deaths
        for row in self.work.lost(outcome.asked, outcome.deaths):
            deaths = self.work.deaths[row]
            message = (
                f"its worker died {deaths} times while computing it, the last time with nothing else running"
            )
            self.buffer.append(head(self.plan.cell(row), SET_ASIDE, message, 0.0))
            self.computed += 1

    def flush(self) -> None:
        """Write the rows that have arrived."""
        rows, self.buffer = self.buffer, []
        self.store.add(rows)
        self.flushed = time.monotonic()
