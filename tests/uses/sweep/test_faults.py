"""Real faults: workers, schedulers and whole processes are killed with signal 9, and nothing that was done is lost."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import psutil
import pyarrow.parquet as pq
import pytest

from shallows.sweep import SweepStopped, load_sweep, run_sweep, sweep_status
from shallows.uses.sweep.faults import Work
from shallows.uses.sweep.parts import parts

RUN = """
import sys
from shallows.sweep import run_sweep

if __name__ == "__main__":
    print(run_sweep(sys.argv[1], sys.argv[2], engine=sys.argv[3], workers=2))
"""


def wait_until(condition, seconds=600.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def worker_processes():
    """Processes of this process that are Dask workers."""
    children = psutil.Process().children(recursive=True)
    return [child for child in children if "spawn_main" in " ".join(child.cmdline())]


def whole(folder):
    """Every part can be read to the end, and nothing half-written lies about."""
    for part in parts(folder):
        pq.ParquetFile(part).read()
    return not list(folder.glob(".writing-*"))


# -- workers -----------------------------------------------------------------------------------------------------


def test_poisoned_cells_are_set_aside_and_a_worker_killed_from_outside_costs_nothing(sweep):
    """One cell kills its worker each time, one raises, and a worker is killed while it computes something else."""
    sweep.touchy(24, seconds=0.05, deadly=[5], bad=[9])
    killed = []

    def kill_one():
        wait_until(lambda: sum(sweep.started(x) for x in range(24)) >= 4)
        victim = worker_processes()[0]
        victim.kill()
        killed.append(victim.pid)

    killer = threading.Thread(target=kill_one)
    killer.start()
    result = run_sweep(sweep.file, sweep.out, workers=2)
    killer.join()
    assert killed and result.deaths >= 3
    assert (result.status.done, result.status.failed, result.status.set_aside) == (22, 1, 1)
    frame = load_sweep(sweep.out).set_index("x")
    assert frame["status"][5] == "set aside" and "died 2 times" in frame["error"][5]
    assert "x = 5" in repr(result.status) and frame["status"][9] == "error"
    assert 2 <= sweep.started(5) <= 3  # perhaps once in a chunk, then twice alone
    assert whole(sweep.out)
    assert run_sweep(sweep.file, sweep.out, workers=2).computed == 0


def test_the_rules_for_lost_chunks():
    work = Work(range(5))
    assert work.take(3, 0) == [0, 1, 2]
    assert work.lost([0, 1, 2], 1) == []  # nobody knows which one it was: one by one
    assert work.take(9, 0) == [3, 4] and work.take(9, 1) == [0] and work.take(9, 2) == [1]
    assert work.lost([1], 1) == []  # once alone: again, with nothing beside it
    assert work.take(9, 1) == [2] and work.take(9, 1) == []
    assert len(work) == 1 and work.take(9, 0) == [1]
    assert work.lost([1], 1) == [1] and work.deaths[1] == 2 and len(work) == 0


# -- the whole process -------------------------------------------------------------------------------------------


def killed_and_resumed(sweep, engine, count, seconds):
    sweep.touchy(count, seconds=seconds)
    script = sweep.folder / "run.py"
    script.write_text(RUN)
    command = [sys.executable, str(script), str(sweep.file), str(sweep.out), engine]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: len(parts(sweep.out)) >= 2 if sweep.out.exists() else False)
        children = psutil.Process(process.pid).children(recursive=True)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_until(lambda: not any(child.is_running() and child.status() != "zombie" for child in children))
    assert whole(sweep.out)
    done = set(load_sweep(sweep.out)["x"])
    assert 0 < len(done) < count and sweep_status(sweep.out).missing == count - len(done)
    marks = {x: sweep.started(x) for x in range(count)}
    result = run_sweep(sweep.file, sweep.out, engine="process")
    assert result.status.complete and result.computed == count - len(done)
    assert all(sweep.started(x) == marks[x] for x in done)  # no finished cell was computed again


def test_a_killed_process_loses_no_finished_cell(sweep):
    killed_and_resumed(sweep, "process", 150, 0.01)


@pytest.mark.thorough
def test_a_killed_process_with_workers_loses_no_finished_cell(sweep):
    killed_and_resumed(sweep, "local", 600, 0.02)


@pytest.mark.thorough
def test_ctrl_c_at_a_terminal_is_answered_by_one_process_alone(sweep):
    """A terminal sends the signal to the whole group: workers must not die of it with tracebacks."""
    sweep.touchy(2000, seconds=0.05)
    script = sweep.folder / "run.py"
    script.write_text(RUN)
    command = [sys.executable, str(script), str(sweep.file), str(sweep.out), "local"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        wait_until(lambda: len(parts(sweep.out)) >= 2 if sweep.out.exists() else False)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=600)[0]
    finally:
        process.kill()
    assert "interrupted; the same command goes on from here" in said and "Traceback" not in said, said
    assert whole(sweep.out) and sweep_status(sweep.out).missing > 0


@pytest.mark.thorough
def test_killed_again_and_again_at_any_moment(sweep, rng):
    """Killed a random moment after it has written something, in the middle of writing too: every part is whole."""
    sweep.touchy(800, seconds=0.002)
    script = sweep.folder / "run.py"
    script.write_text(RUN)
    command = [sys.executable, str(script), str(sweep.file), str(sweep.out), "process"]
    for delay in rng.uniform(0.0, 0.4, 8):
        before = set(parts(sweep.out)) if sweep.out.exists() else set()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        wait_until(
            lambda p=process, b=before: (
                p.poll() is not None or (sweep.out.exists() and set(parts(sweep.out)) != b)
            )
        )
        time.sleep(float(delay))
        process.kill()
        process.wait()
        for part in parts(sweep.out):
            pq.ParquetFile(part).read()
        done = load_sweep(sweep.out)
        assert done["x"].is_unique and (done["y"] == done["x"]).all()
    assert run_sweep(sweep.file, sweep.out, engine="process").status.complete
    assert whole(sweep.out)


# -- the scheduler -----------------------------------------------------------------------------------------------


def free_port():
    with socket.socket() as connection:
        connection.bind(("127.0.0.1", 0))
        return connection.getsockname()[1]


class Cluster:
    """A scheduler and a worker as processes of their own, as on a real cluster."""

    def __init__(self, folder, scheme="tcp", options=()):
        self.address = f"{scheme}://127.0.0.1:{free_port()}"
        here = ["--host", self.address, "--no-dashboard", *options]
        self.scheduler = self._start(folder, "scheduler", *here)
        worker = [
            "--nthreads",
            "1",
            "--local-directory",
            str(folder),
            "--no-dashboard",
            "--death-timeout",
            "60",
        ]
        self.worker = self._start(folder, "worker", self.address, *worker, *options)

    def _start(self, folder, *arguments):
        command = [sys.executable, "-m", "dask", *arguments]
        with (folder / f"{arguments[0]}.log").open("w") as log:
            return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder)

    def close(self):
        for process in (self.worker, self.scheduler):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def test_a_killed_scheduler_ends_the_sweep_with_a_sentence_and_another_goes_on(sweep):
    sweep.touchy(60, seconds=0.05)
    cluster = Cluster(sweep.folder)

    def kill_scheduler():
        wait_until(lambda: len(parts(sweep.out)) >= 1 if sweep.out.exists() else False)
        os.kill(cluster.scheduler.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_scheduler)
    killer.start()
    try:
        with pytest.raises(SweepStopped, match=r"scheduler is gone.*run the same command"):
            run_sweep(sweep.file, sweep.out, scheduler=cluster.address)
    finally:
        killer.join()
        cluster.close()
    assert whole(sweep.out)
    done = len(load_sweep(sweep.out))
    assert 0 < done < 60
    result = run_sweep(sweep.file, sweep.out, engine="process")
    assert result.status.complete and result.computed == 60 - done


def test_an_address_without_a_scheduler_is_named(sweep, monkeypatch):
    sweep.touchy(2)
    monkeypatch.setattr("shallows.support.cluster.ANSWER", "1s")
    with pytest.raises(SweepStopped, match="No Dask scheduler answers at tcp://127"):
        run_sweep(sweep.file, sweep.out, scheduler=f"tcp://127.0.0.1:{free_port()}")
    assert sweep.started(0) == 0


@pytest.mark.thorough
def test_encrypted_clusters_take_the_files_of_tls(sweep):
    ca, key = sweep.folder / "ca.pem", sweep.folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-keyout", str(key), "-out", str(ca)], check=True, capture_output=True,
    )  # fmt: skip
    files = ["--tls-ca-file", str(ca), "--tls-cert", str(ca), "--tls-key", str(key)]
    sweep.touchy(8)
    cluster = Cluster(sweep.folder, "tls", files)
    try:
        tls = {"ca": str(ca), "cert": str(ca), "key": str(key)}
        assert run_sweep(sweep.file, sweep.out, scheduler=cluster.address, tls=tls).status.complete
        with pytest.raises(SweepStopped, match="No Dask scheduler answers"):
            run_sweep(sweep.file, sweep.folder / "other", scheduler=cluster.address)
    finally:
        cluster.close()
