"""Runs: the same rows on any engine, only what is missing, errors as rows."""

import os
import subprocess
import sys

import pandas.testing
import pytest

import shallows as sh
from shallows.support.errors import InvalidProblem, MissingExtra
from shallows.sweep import Plan, estimate_sweep, load_sweep, run_sweep, sweep_status
from shallows.uses.sweep.pace import LARGEST, Pace

TWICE = """
    repeats = {repeats}
    seed = {seed}
    [[axes]]
    path = "compute.x"
    range = {{ start = 0, stop = {last} }}
    [compute]
    what = "cells:twice"
"""


def test_rows_come_in_the_order_of_the_grid_with_their_seeds(sweep):
    sweep.write(TWICE.format(repeats=2, seed=0, last=4))
    result = run_sweep(sweep.file, sweep.out, engine="process")
    assert result.status.complete and result.computed == 10 and not result.deaths
    frame = load_sweep(sweep.out)
    assert frame["x"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert frame["repeat"].tolist() == [0, 1] * 5
    assert frame["drawn"].nunique() == 10
    import numpy as np

    for row in frame.itertuples():  # a row can be made again by hand
        assert row.drawn == np.random.default_rng(row.seed).random()


def test_a_second_run_computes_only_what_is_missing(sweep):
    sweep.touchy(6)
    assert run_sweep(sweep.file, sweep.out, engine="process").computed == 6
    assert run_sweep(sweep.file, sweep.out, engine="process").computed == 0
    sweep.touchy(9)
    assert run_sweep(sweep.file, sweep.out, engine="process").computed == 3
    assert [sweep.started(x) for x in range(9)] == [1] * 9
    sweep.touchy(4)  # a smaller grid shows its own rows; the others stay
    status = run_sweep(sweep.file, sweep.out, engine="process").status
    assert status.complete and (status.rows, status.earlier) == (4, 5)
    assert len(load_sweep(sweep.out)) == 4 and len(load_sweep(sweep.out, everything=True)) == 9


def test_a_cell_that_raises_is_recorded_and_tried_again_only_when_asked(sweep):
    sweep.touchy(5, bad=[1, 3])
    result = run_sweep(sweep.file, sweep.out, engine="process")
    assert (result.status.done, result.status.failed, result.status.missing) == (3, 2, 0)
    frame = load_sweep(sweep.out)
    assert frame["status"].tolist() == ["done", "error", "done", "error", "done"]
    assert frame["error"][3].startswith("ValueError: no 3 here (cells.py, line")
    assert "ValueError: no 1 here" in repr(result) and "x = 1, repeat 0" in repr(result)
    assert run_sweep(sweep.file, sweep.out, engine="process").computed == 0
    assert run_sweep(sweep.file, sweep.out, engine="process", retry=True).computed == 2
    assert [sweep.started(x) for x in range(5)] == [1, 2, 1, 2, 1]


@pytest.mark.parametrize(
    ("function", "what"), [("mixed", "value is .* here and .* in other cells"), ("shaped", "value = ndarray")]
)
def test_results_that_are_no_columns_are_errors_of_their_cells(sweep, function, what):
    sweep.write(f'[[axes]]\npath = "compute.x"\nvalues = [1, 2, 3]\n[compute]\nwhat = "cells:{function}"\n')
    status = run_sweep(sweep.file, sweep.out, engine="process").status
    assert status.failed >= 1 and status.missing == 0
    assert load_sweep(sweep.out)["error"].dropna().str.contains(what).all()


def test_several_quantities_have_their_names_before_their_columns(sweep):
    sweep.write(
        """
        [problem]
        width = 1
        target = { diagonal = [2.0, 1.0] }
        data = { law = "gaussian", n = 2 }
        [[axes]]
        path = ["problem.width", "compute.1.x"]
        values = [1, 2]
        [[compute]]
        what = "chart"
        [[compute]]
        what = "cells:twice"
        name = "double"
        """
    )
    run_sweep(sweep.file, sweep.out, engine="process")
    frame = load_sweep(sweep.out)
    assert frame["chart.real_rank_1"].tolist() == [2, 2] and frame["double.y"].tolist() == [2, 4]
    assert frame["chart.global_minima"].tolist() == [1, 1] and frame["width"].tolist() == [1, 2]


def test_a_result_cannot_take_the_name_of_an_axis(sweep):
    sweep.write('[[axes]]\nname = "y"\npath = "compute.x"\nvalues = [1]\n[compute]\nwhat = "cells:twice"\n')
    assert run_sweep(sweep.file, sweep.out, engine="process").status.failed == 1
    assert "column y, which is an axis" in load_sweep(sweep.out)["error"][0]


def test_cells_run_on_one_thread(sweep):
    sweep.write('[compute]\nwhat = "cells:threads"\n')
    run_sweep(sweep.file, sweep.out, engine="process")
    row = load_sweep(sweep.out).iloc[0]
    assert row.status == "done" and row.pools >= 1 and row.most == 1, row.error


WHILE_WORKERS_RUN = """
import sys

import numba
import numpy as np
from shallows.sweep import Plan
from shallows.uses.sweep.engines import on_this_machine


def total(x):
    result = 0.0
    for k in numba.prange(len(x)):
        result += x[k]
    return result


if __name__ == "__main__":
    with on_this_machine(Plan.from_file(sys.argv[1]), 1):
        numba.njit(parallel=True)(total)(np.ones(100))
    print(numba.njit(lambda x: x)(7))
    print(numba.get_num_threads() == numba.config.NUMBA_DEFAULT_NUM_THREADS)
"""


def test_workers_leave_the_threads_of_this_process_alone(sweep):
    """numba stops at its next compilation where NUMBA_NUM_THREADS was another one when its threads started."""
    sweep.write('[compute]\nwhat = "cells:threads"\n')
    script = sweep.folder / "script.py"
    script.write_text(WHILE_WORKERS_RUN)
    variables = {name: value for name, value in os.environ.items() if name != "NUMBA_NUM_THREADS"}
    command = [sys.executable, str(script), str(sweep.file)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["7", "True"], done.stderr
    run_sweep(sweep.file, sweep.out, workers=1)
    row = load_sweep(sweep.out).iloc[0]
    assert row.status == "done" and row.most == 1, row.error


def same(one, other):
    own = ["seconds", "written"]
    pandas.testing.assert_frame_equal(one.drop(columns=own), other.drop(columns=own))


ENSEMBLES = """
    repeats = 2
    seed = 5
    [problem]
    width = 1
    target = { diagonal = [1.0, 0.8, 0.5] }
    data = { law = "gaussian", n = 3 }
    [[axes]]
    path = "problem.width"
    values = [1, 2, 3]
    [[axes]]
    path = "problem.outer"
    values = ["free", "ones"]
    [compute]
    what = "ensemble"
    runs = 6
    tolerance = 1e-6
"""


def test_any_engine_and_any_order_give_the_same_rows(sweep, monkeypatch):
    sweep.write(ENSEMBLES)
    run_sweep(sweep.file, sweep.folder / "here", engine="process")
    monkeypatch.setattr(
        "shallows.uses.sweep.run.missing_rows", lambda plan, out, retry: list(range(len(plan)))[::-1]
    )
    run_sweep(sweep.file, sweep.folder / "backwards", engine="process")
    monkeypatch.undo()
    run_sweep(sweep.file, sweep.folder / "there", engine="local", workers=2)
    here = load_sweep(sweep.folder / "here")
    assert here["status"].eq("done").all() and len(here) == 12
    same(here, load_sweep(sweep.folder / "backwards"))
    same(here, load_sweep(sweep.folder / "there"))


INTERRUPTED = """
import os, signal, sys, threading, time
from pathlib import Path
from shallows.sweep import run_sweep


def interrupt():
    while not list(Path(sys.argv[2]).glob("part-*")):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)


threading.Thread(target=interrupt, daemon=True).start()
result = run_sweep(sys.argv[1], sys.argv[2], engine="process")
print(result.interrupted, result.computed)
"""


def test_ctrl_c_keeps_what_has_finished(sweep):
    sweep.touchy(500, seconds=0.02)
    command = [sys.executable, "-c", INTERRUPTED, str(sweep.file), str(sweep.out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    interrupted, computed = done.stdout.split()
    assert interrupted == "True" and int(computed) == sweep_status(sweep.out).done < 500, done


def test_estimates_write_nothing(sweep):
    sweep.touchy(40, seconds=0.03, bad=list(range(40)))
    estimate = estimate_sweep(sweep.file, sweep.out)
    assert (estimate.cells, estimate.missing) == (40, 40) and not sweep.out.exists()
    assert len(estimate.seconds) == 3 and len(estimate.errors) == 3 and "no " in repr(estimate)
    sweep.touchy(40, seconds=0.03)
    estimate = estimate_sweep(sweep.file)
    assert min(estimate.seconds) >= 0.03 and not estimate.errors
    assert estimate.total == pytest.approx(40 * sum(estimate.seconds) / 3)


def test_chunks_grow_to_half_a_second_and_shrink_at_the_end():
    pace = Pace()
    assert pace.chunk(1000, 2) == 1
    for _ in range(20):
        pace.learn(0.05 * pace.size, pace.size)
    assert pace.chunk(1000, 2) == 10 and pace.chunk(12, 2) == 3 and pace.chunk(1, 2) == 1
    for _ in range(20):
        pace.learn(1e-5 * pace.size, pace.size)
    assert pace.chunk(10**6, 2) == LARGEST


def test_bad_arguments_are_refused(sweep, monkeypatch):
    sweep.touchy(2)
    with pytest.raises(InvalidProblem, match="engine is 'gpu'"):
        run_sweep(sweep.file, sweep.out, engine="gpu")
    monkeypatch.setattr(
        "shallows.uses.sweep.extra.find_spec", lambda name: None if name == "pyarrow" else object()
    )
    with pytest.raises(MissingExtra, match=r"shallows\[sweep\]"):
        run_sweep(sweep.file, sweep.out)
    assert issubclass(MissingExtra, sh.ShallowsError)
    with pytest.raises(MissingExtra):
        load_sweep(Plan.from_file(sweep.file) and sweep.out)
