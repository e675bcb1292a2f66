"""Run experiments: cells that are stored are kept, the others are computed on all cores, then everything is written."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from shallows.support.cores import ONE_THREAD, available
from shallows.support.progress import Progress, silent
from shallows.uses.papers.experiments.experiment import Experiment, Plan, Result, Row, Settings
from shallows.uses.papers.experiments.store import Finished, Store
from shallows.uses.papers.experiments.write import write_csv, write_page
from shallows.uses.sweep.interrupts import given_up, ignore

Compute = Callable[[Settings], list[Row]]


def reproduce(
    experiments: Sequence[Experiment],
    plan: Plan,
    out: Path,
    jobs: int | None = None,
    done: Callable[[Result], None] = lambda result: None,
) -> list[Result]:
    """Run `experiments`, write `OUT/NAME.csv` and `OUT/NAME.html` for each; `done` is told of each one as it ends.

    Cells are kept in `OUT/cells`; rows do not depend on `jobs`, since a cell knows its own seed.
    """
    jobs = jobs or available()
    results = []
    with _pool(jobs) as pool:
        for experiment in experiments:
            result = _one(experiment, plan, out, pool)
            files = (write_csv(result, out), write_page(result, out))
            results.append(replace(result, files=files))
            done(results[-1])
    return results


def _one(experiment: Experiment, plan: Plan, out: Path, pool: ProcessPoolExecutor | None) -> Result:
    store = Store(out / "cells" / f"{experiment.task}.jsonl")
    cells = experiment.cells(plan)
    missing = [settings for settings in cells if store.get(settings) is None]
    with Progress(len(cells), experiment.name) as progress:
        progress.update(len(cells) - len(missing))
        for number, (settings, finished) in enumerate(_computed(experiment.compute, missing, pool), 1):
            store.put(settings, finished)
            progress.update(len(cells) - len(missing) + number)
    found = [store.get(settings) for settings in cells]
    rows = [row for each in found if each is not None for row in each.rows]
    seconds = sum(each.seconds for each in found if each is not None)
    shown = experiment.present(rows, plan)
    return Result(experiment, plan, rows, shown, len(cells), len(cells) - len(missing), seconds)


def _computed(
    compute: Compute, missing: list[Settings], pool: ProcessPoolExecutor | None
) -> Iterator[tuple[Settings, Finished]]:
    """Cells as they finish."""
    if pool is None:
        for settings in missing:
            yield settings, timed(compute, settings)
        return
    tasks = {pool.submit(timed, compute, settings): settings for settings in missing}
    for task in as_completed(tasks):
        yield tasks[task], task.result()


def timed(compute: Compute, settings: Settings) -> Finished:
    """Compute a cell, without bars of its own; the time is the processor's, not the clock's."""
    begin = time.process_time()
    with silent(), given_up():
        rows = compute(settings)
    return Finished(rows, time.process_time() - begin)


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor | None]:
    """Processes with one thread each, spawned: numba's threads and a fork do not go together. None for one job."""
    if jobs == 1:
        yield None
        return
    others = set(multiprocessing.active_children())
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), ignore) as pool:
            try:
                yield pool
            except BaseException as error:
                pool.shutdown(wait=False, cancel_futures=True)
                if isinstance(error, KeyboardInterrupt):
                    for child in set(multiprocessing.active_children()) - others:
                        child.terminate()  # what it was computing is given up, as in `interrupts`
                raise
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
