"""The latest row of a cell is the one that was written last, whatever the clock says."""

import time

import pytest

from shallows.sweep import Plan, load_sweep, run_sweep
from shallows.uses.sweep.cell import compute_rows
from shallows.uses.sweep.parts import parts
from shallows.uses.sweep.store import Store

HOUR = 3600.0
SWEEP = '[compute]\nwhat = "cells:value"\n[[axes]]\npath = "compute.x"\nvalues = [1, 2]\n'
#: Fails as long as a file is there, so that its rows can be computed again under the same key.
CELLS = """
    from pathlib import Path

    def value(x):
        if (Path(__file__).parent / "broken").exists():
            raise ValueError("broken")
        return x
"""


@pytest.mark.parametrize("hours", [-1, -24, 1])
def test_a_retry_counts_when_the_clock_was_set(folder, monkeypatch, hours):
    folder.write("cells.py", CELLS)
    sweep = folder.write("sweep.toml", SWEEP)
    broken = folder.write("broken", "")
    assert run_sweep(sweep, folder.out, engine="process").status.failed == 2
    broken.unlink()
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + hours * HOUR)
    assert run_sweep(sweep, folder.out, engine="process", retry=True).status.done == 2
    assert run_sweep(sweep, folder.out, engine="process", retry=True).computed == 0
    assert load_sweep(folder.out)["value"].tolist() == [1, 2]


def test_merged_parts_keep_the_order_of_their_rows(folder, monkeypatch):
    folder.write("cells.py", CELLS)
    plan = Plan.from_file(folder.write("sweep.toml", SWEEP))
    one, two = compute_rows(plan, [0, 1])
    times = iter([5.0, 4.0, 3.0, 2.0])
    monkeypatch.setattr(time, "time", lambda: next(times))
    with Store(folder.out, plan, {}) as store:
        store.add([one, two])
        store.add([one | {"value": -1}])
        store.compact()
        store.add([two | {"value": -2}])
        old = parts(folder.out)[0].name
        store.add([one | {"value": -3}])
        store._merge([old, parts(folder.out)[-1].name])
    monkeypatch.undo()
    assert load_sweep(folder.out)["value"].tolist() == [-3, -2]
