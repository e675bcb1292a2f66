"""Threads that meet at the first use of everything, in processes that have compiled nothing: none waits for ever."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

#: Seconds after which a process is taken to hang: it takes a twentieth of that on an idle machine.
PATIENCE = 900
PROGRAM = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import shallows as sh

iid = sh.IID(2, [1, 0, 1, 0, 5.0])
relu = sh.Problem(sh.Network(np.eye(3), activation=sh.ReLU()), sh.Gaussian(3), width=3, outer="ones")
cubic = sh.Problem(sh.Network(np.eye(2), activation=sh.Power(3)), sh.Gaussian(2), width=1)
square = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=2)
WORK = [
    lambda: len(sh.chart(sh.Problem(np.diag([2.0, 1.0]), iid, width=2)).critical),
    lambda: len(sh.chart(cubic).critical),
    lambda: len(sh.chart(sh.Problem(np.diag([2.0, 1.0]), iid, width=1)).critical),
    lambda: sh.homotopy.solve(["x^2 + y^2 - 5", "x*y - 2"]).finite.count,
    lambda: len(sh.ensemble(relu, runs=20, cores=1).losses),
    lambda: len(sh.ensemble(cubic, runs=20, cores=1).losses),
    lambda: len(sh.ensemble(square, runs=20, cores=1).losses),
    lambda: len(sh.chart(square).critical),
]
shift, WORK = int(sys.argv[1]), WORK[: int(sys.argv[2])] * (8 // int(sys.argv[2]))
together = Barrier(len(WORK))


def one(place):
    together.wait()
    return WORK[(place + shift) % len(WORK)]()


with ThreadPoolExecutor(len(WORK)) as pool:
    found = list(pool.map(one, range(len(WORK))))
print([found[(place - shift) % len(WORK)] for place in range(len(WORK))])
"""


def _found(shift: int, kinds: int, cache: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "SHALLOWS_CACHE_DIR": cache}
    command = [sys.executable, "-c", PROGRAM, str(shift), str(kinds)]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE
    ).stdout


def _check(shift: int, kinds: int, cache: str) -> None:
    found = _found(shift, kinds, cache)
    assert found == _found(shift, kinds, cache)  # the same from the cache
    assert "0" not in found.strip("[]\n").split(", ")


def test_two_kinds_of_charts_at_a_first_use(tmp_path):
    """The two that waited for each other for ever, four times each."""
    _check(0, 2, str(tmp_path))


@pytest.mark.thorough
@pytest.mark.parametrize("shift", range(50))
def test_all_kinds_of_work_at_a_first_use(shift, tmp_path):
    _check(shift, 8, str(tmp_path))
