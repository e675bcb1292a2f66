"""Ctrl-C during a cell that answers it with what it has (as `sh.ensemble` does): the cell is given up, not stored."""

import os
import signal
import time

from shallows.uses.sweep import cell
from shallows.uses.sweep.run import run_sweep


def test_a_cell_that_swallows_ctrl_c_is_given_up(sweep, monkeypatch):
    compute = cell._quantities

    def swallows(plan, which):
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:
            pass
        return {"y": 1}

    plan = sweep.touchy(3)
    monkeypatch.setattr(cell, "_quantities", swallows)
    stopped = run_sweep(plan, sweep.out, engine="process")
    assert (stopped.interrupted, stopped.computed, stopped.status.done) == (True, 0, 0)
    monkeypatch.setattr(cell, "_quantities", compute)
    finished = run_sweep(plan, sweep.out, engine="process")
    assert (finished.interrupted, finished.computed) == (False, 3)
