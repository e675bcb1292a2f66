"""Cold start: the first call of each kind where nothing has been compiled, against a ten-line numba program.

Each runs in a process and with a cache directory of its own. Processor time is compared, that of all threads, so that
other work on the machine does not count.
"""

from __future__ import annotations

import compileall
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import shallows
from bench.report import Row, show_time

#: A first call may take so many times as long as importing numba and compiling a kernel of ten lines.
ALLOWED = 10.0

KERNEL = """
import numba, numpy as np

@numba.njit
def kernel(x, y):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            gap = x[i] - y[j]
            if gap > 0:
                total += np.sqrt(gap)
            else:
                total -= gap * gap
    return total / len(x)

kernel(np.arange(9.0), np.arange(7.0))
"""
SETUP = "import numpy as np, shallows as sh; rng = np.random.default_rng(0); "
SAMPLES = "X = rng.standard_normal((40, 2)); y = X[:, 0] ** 2 - X[:, 1]; "
FIRST = {
    "chart, closed form": "sh.chart(sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1))",
    "chart, i.i.d., width 1": "sh.chart(sh.Problem(np.diag([3.0, 2, 1]), sh.IID(3, [1, 0, 1, 0, 5]), width=1))",
    "chart, i.i.d., width 2": "sh.chart(sh.Problem(np.diag([3.0, 2, 1]), sh.IID(3, [1, 0, 1, 0, 5]), width=2))",
    "chart, samples": SAMPLES + "sh.chart(sh.Problem(None, sh.Samples(X, y), width=1))",
    "chart, cubic": "sh.chart(sh.Problem(sh.Network(np.eye(2), activation=sh.Power(3)), sh.Gaussian(2), width=1))",
    "ensemble, quadratic": "sh.ensemble(sh.Problem(np.diag([3.0, 2, 1]), sh.Gaussian(3), width=2), runs=50)",
    "ensemble, cubic": (
        "sh.ensemble(sh.Problem(sh.Network(np.eye(3), activation=sh.Power(3)), sh.Gaussian(3), width=3), runs=50)"
    ),
    "ensemble, ReLU": (
        "sh.ensemble(sh.Problem(sh.Network(np.eye(6), activation=sh.ReLU()), sh.Gaussian(6), width=6, "
        "outer='ones'), runs=50)"
    ),
    "certificate": (
        "system = sh.homotopy.PolynomialSystem.read(['x^2 + y^2 - 5', 'x*y - 2'], ['x', 'y']); "
        "sh.homotopy.solve(system).certify()"
    ),
    "homotopy.solve": "sh.homotopy.solve(['x^2 + y^2 - 5', 'x*y - 2'])",
}


def processor_time(program: str) -> float:
    """Seconds of processor time that a fresh process takes for a program, with an empty cache directory."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "SHALLOWS_CACHE_DIR": folder, "NUMBA_CACHE_DIR": folder}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run() -> list[Row]:
    """Every kind of first call, each between two runs of the kernel: how fast the machine is changes with its load."""
    compileall.compile_dir(Path(shallows.__file__).parent, quiet=1)  # as pip does when it installs
    rows, before = [], processor_time(KERNEL)
    for name, call in FIRST.items():
        ours, after = processor_time(SETUP + call), processor_time(KERNEL)
        reference, before = (before + after) / 2, after
        allowed = ALLOWED * reference
        note = f"{ours / reference:.1f} times a ten-line kernel ({show_time(reference)})"
        rows.append(Row(name, show_time(ours), f"allowed {show_time(allowed)}", allowed / ours, 1.0, note))
    return rows
