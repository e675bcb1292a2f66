"""Sweeps: what a cell costs beyond its own time, on two local workers; memory and resuming at 100,000 cells."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.report import Row, show_time
from shallows import load_sweep
from shallows.sweep import Plan
from shallows.uses.sweep.engines import OnDask, on_this_machine
from shallows.uses.sweep.faults import Work
from shallows.uses.sweep.run import Driver
from shallows.uses.sweep.store import Store

WORKERS = 2
NAP, NAPS = 0.05, 400
MANY, FEWER = 100_000, 20_000
MOST_MEMORY = 512.0  # MiB, of the process that writes and of each worker
LONGEST_RESUME = 10.0


def run() -> list[Row]:
    """What is promised of overhead, memory and resuming."""
    return [*overhead(), *many()]


def nap(x: int, seconds: float = NAP) -> dict[str, int]:
    """A cell that takes a known time and no core, so that other work on the machine does not count as overhead."""
    time.sleep(seconds)
    return {"y": x}


def nothing(x: int) -> dict[str, int]:
    """A cell of no work at all."""
    return {"y": x}


def plan(function: str, count: int) -> Plan:
    """A sweep of `count` cells."""
    axis = {"path": "compute.x", "range": {"start": 0, "stop": count - 1}}
    return Plan.from_document({"axes": [axis], "compute": {"what": f"bench.sweep:{function}"}})


def overhead() -> list[Row]:
    """Time outside the cells, per cell, on a cluster that has started; beside it, a Dask task a cell.

    Processor time (of this process, with the scheduler in it, and of the workers) can be measured on any machine. The
    clock only when cores are free: two bare processes that do nothing but nap say whether they are.
    """
    made = plan("nap", NAPS)
    with tempfile.TemporaryDirectory() as folder, on_this_machine(made, WORKERS) as engine:
        assert isinstance(engine, OnDask)
        timed(made, engine, Path(folder) / "first")  # workers import, and the file system wakes up
        wall, inside, processor = timed(made, engine, Path(folder) / "second")
        peer_wall, peer_processor = task_by_task(engine.client)
    ours, efficiency, bare = WORKERS * wall / NAPS - inside / NAPS, inside / (WORKERS * wall), bare_naps()
    note = f"two bare processes that only nap: {bare:.1%}"
    free = bare >= 0.99
    if not free:
        note += "; the cores are not free, so this is no measurement"
    return [
        Row("processor time a cell of 50 ms, against the 5 ms promised", show_time(processor), "5 ms", 5e-3 / processor,
            1, f"one Dask task a cell, nothing written: {show_time(peer_processor)}"),
        Row("time a cell of 50 ms waits, against the 5 ms promised", show_time(ours), "5 ms",
            5e-3 / ours if free else None, 1, f"one Dask task a cell, nothing written: {show_time(peer_wall)}"),
        Row(f"share of {WORKERS} workers' time in cells of 50 ms, against the 95% promised", f"{efficiency:.1%}", "95%",
            efficiency / 0.95 if free else None, 1, note),
    ]  # fmt: skip


def timed(made: Plan, engine: OnDask, out: Path) -> tuple[float, float, float]:
    """Seconds for the whole sweep, rows on the disk; seconds inside its cells; processor seconds a cell."""
    before = processor_seconds(engine.client)
    begin = time.perf_counter()
    with Store(out, made, {}) as store:
        driver = Driver(made, store, Work(range(len(made))), len(made))
        driver.run(engine, progress=False)
        driver.flush()
    wall = time.perf_counter() - begin
    processor = processor_seconds(engine.client) - before
    return wall, float(load_sweep(out)["seconds"].sum()), processor / NAPS


def processor_seconds(client: Any) -> float:
    """Of this process and of all workers."""
    return time.process_time() + sum(client.run(time.process_time).values())


def bare_naps() -> float:
    """The share of their time that two processes nap in, with no scheduler at all."""
    code = f"import time\nbegin = time.perf_counter()\nfor _ in range({NAPS // WORKERS}): time.sleep({NAP})\n"
    code += "print(time.perf_counter() - begin)"
    command = [sys.executable, "-c", code]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(WORKERS)]
    return NAPS // WORKERS * NAP / max(float(process.communicate()[0]) for process in running)


def task_by_task(client: Any) -> tuple[float, float]:
    """The same when every cell is a Dask task of its own: time a cell outside it, and processor time."""
    before = processor_seconds(client)
    begin = time.perf_counter()
    client.gather(client.map(nap, range(NAPS), pure=False))
    waited = WORKERS * (time.perf_counter() - begin) / NAPS - NAP
    return waited, (processor_seconds(client) - before) / NAPS


def many() -> list[Row]:
    """100,000 cells of no work: memory against 20,000, and going on where nothing is left to do."""
    with tempfile.TemporaryDirectory() as folder:
        fewer = measured(FEWER, Path(folder) / "fewer")
        all_of_them = measured(MANY, Path(folder) / "many")
        again = measured(MANY, Path(folder) / "many")
    assert all_of_them["computed"] == MANY and again["computed"] == 0
    largest = max(all_of_them["memory"], all_of_them["worker_memory"])
    growth = f"{fewer['memory']:.0f} MiB at {FEWER:,} cells; a worker {all_of_them['worker_memory']:.0f} MiB"
    rate = f"{MANY / all_of_them['seconds']:,.0f} cells a second, rows on the disk"
    return [
        Row(f"{MANY:,} cells: peak memory", f"{largest:.0f} MiB", f"{MOST_MEMORY:.0f} MiB", MOST_MEMORY / largest, 1,
            growth),
        Row(f"{MANY:,} cells: computing", show_time(all_of_them["seconds"]), "", None, None, rate),
        Row(
            f"{MANY:,} finished cells: resuming, from reading the file to the summary (processor time)",
            show_time(again["processor"]),
            show_time(LONGEST_RESUME),
            LONGEST_RESUME / again["processor"],
            1,
            f"{all_of_them['seconds'] / again['seconds']:.1f} times faster than computing",
        ),
    ]  # fmt: skip


MEASURE = """
import json, resource, sys, time
from bench.memory import kilobytes
from bench.sweep import plan
from shallows import run_sweep

if __name__ == "__main__":
    begin, processor = time.perf_counter(), time.process_time()
    result = run_sweep(plan("nothing", int(sys.argv[1])), sys.argv[2], workers=2)
    assert result.status.complete
    workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(json.dumps({"computed": result.computed, "seconds": time.perf_counter() - begin,
        "processor": time.process_time() - processor, "memory": kilobytes() / 1024, "worker_memory": workers / 1024}))
"""


def measured(count: int, out: Path) -> dict[str, float]:
    """One sweep in a process of its own: seconds and peak memory (MiB) of it and of its largest worker."""
    command = [sys.executable, "-c", MEASURE, str(count), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found
