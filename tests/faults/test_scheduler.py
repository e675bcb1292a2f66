"""A scheduler that dies: the command says one sentence, and Dask says nothing."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

CELLS = "import time\n\ndef value(x):\n    time.sleep(0.05)\n    return x\n"
SWEEP = '[compute]\nwhat = "cells:value"\n[[axes]]\npath = "compute.x"\nrange = { start = 0, stop = 399 }\n'


def free_port():
    with socket.socket() as connection:
        connection.bind(("127.0.0.1", 0))
        return connection.getsockname()[1]


@pytest.fixture
def cluster(folder):
    """The address of a scheduler with a worker, and the scheduler's process; both ignore the terminal's Ctrl-C."""
    address = f"tcp://127.0.0.1:{free_port()}"
    commands = (
        ["scheduler", "--host", address, "--no-dashboard"],
        ["worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny", "--death-timeout", "60"],
    )
    started = []
    for command in commands:
        with (folder.path / f"{command[0]}.log").open("w") as log:
            started.append(
                subprocess.Popen(
                    [sys.executable, "-m", "dask", *command], stdout=log, stderr=log, cwd=folder.path,
                    start_new_session=True,
                )
            )  # fmt: skip
    yield address, started[0]
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.thorough)])
def test_a_scheduler_that_dies_under_quiet_leaves_one_sentence(folder, cluster, how):
    address, scheduler = cluster
    folder.write("cells.py", CELLS)
    folder.write("sweep.toml", SWEEP)
    command = [
        sys.executable,
        "-m",
        "shallows",
        "sweep",
        "sweep.toml",
        "--out",
        "results",
        "--scheduler",
        address,
        "--quiet",
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder.path
    )
    try:
        end = time.monotonic() + 600
        while not list(folder.out.glob("part-*")):
            assert time.monotonic() < end and process.poll() is None, "no row was written"
            time.sleep(0.05)
        os.kill(scheduler.pid, how)
        said, complained = process.communicate(timeout=600)
    finally:
        process.kill()
    assert process.returncode == 2 and said == "", (process.returncode, said)
    assert complained.startswith("shallows: The Dask scheduler is gone") and complained.count("\n") == 1, (
        complained
    )


def test_an_encrypted_scheduler_without_certificates_is_refused_with_one_sentence(folder):
    folder.write("cells.py", CELLS)
    folder.write("sweep.toml", SWEEP)
    address = f"tls://127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "shallows", "sweep", "sweep.toml", "--scheduler", address, "--quiet"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, cwd=folder.path)
    assert run.returncode == 2 and "Fix: --tls-ca" in run.stderr and run.stderr.count("\n") == 1, run.stderr
