"""Run experiments: each is a sweep over the settings of its cells, kept in `OUT/cells/TASK`, then written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from shallows.support.cores import workers
from shallows.uses.papers.experiments.experiment import Experiment, Plan, Result
from shallows.uses.papers.experiments.write import write_csv, write_page
from shallows.uses.sweep.faults import SweepStopped
from shallows.uses.sweep.plan import Plan as SweepPlan
from shallows.uses.sweep.run import run_sweep
from shallows.uses.sweep.store import read_table


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
    results = []
    for experiment in experiments:
        result = _one(experiment, plan, out, workers(jobs))
        files = (write_csv(result, out), write_page(result, out))
        results.append(replace(result, files=files))
        done(results[-1])
    return results


def sweep_of(experiment: Experiment, plan: Plan) -> SweepPlan:
    """The sweep of an experiment: one axis, the settings of its cells; a cell's rows are one value, as JSON."""
    return SweepPlan.from_document(
        {
            "title": experiment.name,
            "axes": [{"name": "settings", "path": "compute.settings", "values": experiment.cells(plan)}],
            "compute": {
                "what": f"{experiment.compute.__module__}:{experiment.compute.__name__}",
                "settings": {},
            },
        }
    )


def _one(experiment: Experiment, plan: Plan, out: Path, jobs: int) -> Result:
    sweep, folder = sweep_of(experiment, plan), out / "cells" / experiment.task
    jobs = min(jobs, len(sweep))
    engine = "process" if jobs == 1 else "local"
    run = run_sweep(sweep, folder, engine=engine, workers=jobs, retry=True, progress=True)
    if run.interrupted:
        raise KeyboardInterrupt
    if not run.status.complete:
        trouble = run.status.troubles[0]
        raise SweepStopped(
            f"{len(sweep) - run.status.done} of {len(sweep)} cells of {experiment.name} failed, the first one, "
            f"{trouble.example}, with {trouble.message}. The others are kept in {folder}."
        )
    table = read_table(folder, ["value", "seconds"])
    kept = {row["key"]: row for row in table.to_pylist()}
    cells = [kept[key] for key in sweep.keys()]  # noqa: SIM118
    rows = [row for cell in cells for row in json.loads(cell["value"])]
    seconds = sum(cell["seconds"] for cell in cells)
    return Result(
        experiment, plan, rows, experiment.present(rows, plan), len(cells), len(cells) - run.computed, seconds
    )
