"""The folder of results is whole at every moment, and says at once when it cannot be written."""

import json
import os
import resource
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from shallows.support.errors import InvalidProblem
from shallows.sweep import Plan, StoreError, load_sweep, run_sweep, sweep_status
from shallows.uses.sweep.cell import compute_rows
from shallows.uses.sweep.parts import parts
from shallows.uses.sweep.store import SIDE_BY_SIDE, Store, read_table


def twice(sweep, count=8, repeats=1):
    sweep.write(
        f"""
        repeats = {repeats}
        [[axes]]
        path = "compute.x"
        range = {{ start = 0, stop = {count - 1} }}
        [compute]
        what = "cells:twice"
        """
    )
    return Plan.from_file(sweep.file)


def test_small_parts_are_merged_and_the_latest_row_of_a_key_counts(sweep):
    plan = twice(sweep, 100)
    rows = compute_rows(plan, range(100))
    with Store(sweep.out, plan, {}) as store:
        for row in rows:
            store.add([row])
            assert len(parts(sweep.out)) <= 2 * SIDE_BY_SIDE
        store.add([rows[7] | {"y": -1.0}])
        assert read_table(sweep.out).num_rows == 100
        store.compact()
        assert len(parts(sweep.out)) == 1
    frame = load_sweep(sweep.out)
    assert frame["x"].tolist() == list(range(100))
    assert frame["y"].tolist() == [-1.0 if x == 7 else 2 * x for x in range(100)]


def test_the_newest_row_counts_when_older_ones_are_merged_after_it(sweep):
    plan = twice(sweep, 3)
    rows = compute_rows(plan, range(3))
    with Store(sweep.out, plan, {}) as store:
        store.add([rows[0], rows[1]])
        store.add([rows[0] | {"y": -1.0}])
        old = [file.name for file in parts(sweep.out)][:1]
        store.add([rows[2]])
        store._merge([*old, parts(sweep.out)[-1].name])
        assert parts(sweep.out)[-1].name > parts(sweep.out)[0].name
    assert load_sweep(sweep.out)["y"].tolist() == [-1.0, 2.0, 4.0]


def test_an_axis_does_not_change_its_kind(sweep):
    sweep.write('[[axes]]\npath = "compute.x"\nvalues = [1, 2]\n[compute]\nwhat = "cells:mixed"\n')
    run_sweep(sweep.file, sweep.out, engine="process")
    sweep.write('[[axes]]\npath = "compute.x"\nvalues = ["a", "b"]\n[compute]\nwhat = "cells:mixed"\n')
    with pytest.raises(InvalidProblem, match="axis x is text now and a number in the rows"):
        run_sweep(sweep.file, sweep.out, engine="process")


def test_a_merge_that_dies_between_writing_and_deleting_loses_and_doubles_nothing(sweep, monkeypatch):
    plan = twice(sweep, 10)
    rows = compute_rows(plan, range(10))
    with Store(sweep.out, plan, {}) as store:
        for row in rows:
            store.add([row])
        monkeypatch.setattr(
            "pathlib.Path.unlink", lambda self, missing_ok=False: (_ for _ in ()).throw(MemoryError)
        )
        with pytest.raises(MemoryError):
            store.compact()
        monkeypatch.undo()
    assert len(parts(sweep.out)) == 11
    assert load_sweep(sweep.out)["y"].tolist() == [2 * x for x in range(10)]


def test_provenance_is_in_every_part(sweep):
    twice(sweep)
    run_sweep(sweep.file, sweep.out, engine="process")
    (part,) = parts(sweep.out)
    stored = json.loads(pq.read_schema(part).metadata[b"shallows"])
    assert stored["plan"]["version"] == sweep_status(sweep.out).version
    assert stored["plan"]["source"] == sweep.file.read_text()
    assert {"python", "numpy", "pyarrow", "machine", "started"} <= set(stored)


def test_one_process_writes_at_a_time(sweep):
    plan = twice(sweep)
    with Store(sweep.out, plan, {}), pytest.raises(StoreError, match=f"process {os.getpid()}"):
        run_sweep(plan, sweep.out, engine="process")
    assert run_sweep(plan, sweep.out, engine="process").status.complete


def test_another_sweep_is_not_written_into_the_same_folder(sweep):
    run_sweep(twice(sweep), sweep.out, engine="process")
    sweep.touchy(3)
    with pytest.raises(InvalidProblem, match="holds another sweep: its quantities"):
        run_sweep(sweep.file, sweep.out, engine="process")
    with pytest.raises(InvalidProblem, match="no folder of sweep results"):
        load_sweep(sweep.folder)


def test_a_spoilt_part_is_named_and_set_aside(sweep):
    plan = twice(sweep)
    run_sweep(plan, sweep.out, engine="process")
    (sweep.out / "part-00000009-spoilt00.parquet").write_bytes(b"not parquet")
    with pytest.raises(StoreError, match=r"spoilt00\.parquet is damaged"):
        load_sweep(sweep.out)
    run = run_sweep(plan, sweep.out, engine="process")
    assert run.computed == 0 and run.status.damaged == ("damaged-part-00000009-spoilt00.parquet",)


# -- folders that cannot be written -----------------------------------------------------------------------------

LIMITED = """
import resource, sys
from shallows.support.errors import ShallowsError
from shallows.sweep import run_sweep
file, out, limit = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
try:
    run_sweep(file, out, engine="process")
except ShallowsError as error:
    print(error)
    sys.exit(2)
"""


def limited(sweep, limit):
    command = [sys.executable, "-c", LIMITED, str(sweep.file), str(sweep.out), str(limit)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def test_a_disk_that_fills_up_stops_the_sweep_with_what_was_written_safe(sweep):
    """The kernel refuses to let a file grow, as on a full disk: first at the start, then in the middle."""
    sweep.touchy(400, seconds=0.005)
    refused = limited(sweep, 512)
    assert refused.returncode == 2 and "Cannot write results into" in refused.stdout, refused
    assert sweep.started(0) == 0 and not list(sweep.out.glob("*.parquet"))
    stopped = limited(sweep, 8000)
    assert stopped.returncode == 2, stopped
    assert "Cannot write" in stopped.stdout and "run the same command again" in stopped.stdout
    assert not list(sweep.out.glob(".writing-*"))
    safe = load_sweep(sweep.out)
    assert (
        0 < len(safe) <= 400 and (safe["y"] == safe["x"]).all()
    )  # on a slow machine only merging parts fails
    finished = run_sweep(sweep.file, sweep.out, engine="process")
    assert finished.status.complete and finished.computed == 400 - len(safe)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 8000


def mounted(folder, options):
    """Whether a small file system of its own could be mounted there (needs root)."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    return os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_read_only_folder_is_reported_before_anything_runs(sweep):
    sweep.touchy(3)
    folder = sweep.folder / "fixed"
    mount = mounted(folder, "ro,size=1m")
    if not mount:
        if os.geteuid() == 0:
            pytest.skip("root may write everywhere, and nothing can be mounted here")
        folder.chmod(0o500)
    try:
        with pytest.raises(StoreError, match=r"Cannot write results into .*(Read-only|denied)"):
            run_sweep(sweep.file, folder / "results", engine="process")
        assert sweep.started(0) == 0
    finally:
        if mount:
            subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_with_no_room_is_reported_before_anything_runs(sweep):
    sweep.touchy(3)
    folder = sweep.folder / "tiny"
    if not mounted(folder, "size=256k"):
        pytest.skip("no file system can be mounted here; the limit on file sizes is tested in any case")
    try:
        with pytest.raises(StoreError, match=r"has 0\.. MiB left"):
            run_sweep(sweep.file, folder / "results", engine="process")
        assert sweep.started(0) == 0
    finally:
        subprocess.run(["umount", str(folder)], check=True)
