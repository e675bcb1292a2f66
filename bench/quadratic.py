"""Quadratic networks: full-batch Adam on sufficient statistics against the same epochs in NumPy and PyTorch.

d = 10, N = 1500 samples, width 10, one thread, the same data and initial weights; all sides are given per epoch and
run, ours in a batch of 100 runs. PyTorch is imported by this interpreter or by the one that SHALLOWS_TORCH_PYTHON
names; it runs in its own process and is charged processor time, as ours is in that comparison. That the loops end
at the same networks is checked.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bench.report import Row, show_time, side_by_side
from shallows import Problem, Samples
from shallows.quadratic import figure_2_data, uniform_starts
from shallows.questions.quadratic.statistics import statistics_of
from shallows.questions.quadratic.training import adam
from shallows.questions.quadratic.variants import VARIANTS
from shallows.support.checks import Array

D, SAMPLES, WIDTH, RUNS, EPOCHS, STEP = 10, 1500, 10, 100, 200, 1e-3
_TORCH = """
import json, sys, time
import numpy as np, torch
torch.set_num_threads(1)
task = np.load(sys.argv[1])
dtype = torch.float64 if sys.argv[2] == "float64" else torch.float32
X, y = torch.tensor(task["X"], dtype=dtype), torch.tensor(task["y"], dtype=dtype)[:, None]
hidden = torch.nn.Linear(X.shape[1], task["W"].shape[0], bias=False, dtype=dtype)
outer = torch.nn.Linear(task["W"].shape[0], 1, bias=False, dtype=dtype)
with torch.no_grad():
    hidden.weight.copy_(torch.tensor(task["W"])), outer.weight.copy_(torch.tensor(task["a"])[None])
optimizer = torch.optim.Adam([hidden.weight, outer.weight], lr=float(task["step"]))
criterion, best = torch.nn.MSELoss(), float("inf")
epochs = int(task["epochs"])
for block in range(10):
    start = time.process_time()
    for epoch in range(epochs // 10):
        loss = criterion(outer(hidden(X) ** 2), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    best = min(best, (time.process_time() - start) / (epochs // 10))
print(json.dumps({"seconds": best, "loss": criterion(outer(hidden(X) ** 2), y).item()}))
"""


def numpy_adam(X: Array, y: Array, W: Array, a: Array, epochs: int) -> tuple[Array, Array]:
    """One run of full-batch Adam over the samples, as one would write it down in NumPy."""
    W, a = W.copy(), a.copy()
    parameters = [W, a]
    m, v = [np.zeros_like(p) for p in parameters], [np.zeros_like(p) for p in parameters]
    for epoch in range(1, epochs + 1):
        Z = X @ W.T
        H = Z**2
        r = H @ a - y
        scale = 2 / len(y)
        slopes = [scale * ((r[:, None] * Z) * (2 * a)).T @ X, scale * (H.T @ r)]
        for i, g in enumerate(slopes):
            m[i] = 0.9 * m[i] + 0.1 * g
            v[i] = 0.999 * v[i] + 0.001 * g**2
            parameters[i] -= STEP * (m[i] / (1 - 0.9**epoch)) / (np.sqrt(v[i] / (1 - 0.999**epoch)) + 1e-8)
    return W, a


def torch_seconds(X: Array, y: Array, W: Array, a: Array, dtype: str) -> tuple[float, float] | None:
    """Processor time an epoch and the final loss of the usual PyTorch loop; None when there is no PyTorch."""
    python = os.environ.get("SHALLOWS_TORCH_PYTHON")
    if not python:
        if importlib.util.find_spec("torch") is None:
            return None
        python = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / "task.npz"
        np.savez(task, X=X, y=y, W=W, a=a, step=STEP, epochs=10 * EPOCHS)
        done = subprocess.run(
            [python, "-c", _TORCH, str(task), dtype], text=True, capture_output=True, check=True
        )
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    return answer["seconds"], answer["loss"]


def processor_seconds(problem: Problem, begin: Array) -> float:
    """Our processor time an epoch and run, the best of ten blocks, as the PyTorch loop counts its own."""
    statistics, best = statistics_of(problem), float("inf")
    for _ in range(10):
        start = time.process_time()
        adam(problem, statistics, begin, EPOCHS, STEP)
        best = min(best, time.process_time() - start)
    return best / (RUNS * EPOCHS)


def _setting() -> tuple[Problem, Array]:
    problem = VARIANTS["plain"](figure_2_data("gauss", D, SAMPLES), WIDTH)
    return problem, uniform_starts(problem, RUNS)


def _against_numpy(problem: Problem, begin: Array, X: Array, y: Array) -> Row:
    statistics = statistics_of(problem)
    W, outer, _ = problem.layout.split(begin[0])
    assert outer is not None

    def ours() -> Array:
        return adam(problem, statistics, begin, EPOCHS, STEP)

    def peer() -> tuple[Array, Array]:
        return numpy_adam(X, y, W, outer[0], EPOCHS)

    far = float(np.max(np.abs(problem.layout.join(peer()[0], peer()[1][None], None) - ours()[0])))
    assert far < 1e-9, far
    time_ours, time_peer = side_by_side(ours, peer, rounds=7, budget=4.0)
    time_ours, time_peer = time_ours / (RUNS * EPOCHS), time_peer / EPOCHS
    note = f"the same weights after {EPOCHS} epochs to {far:.0e}"
    return Row(
        "an epoch of a run: Adam on statistics against NumPy over the samples",
        show_time(time_ours), show_time(time_peer), time_peer / time_ours, 30.0, note,
    )  # fmt: skip


def _against_torch(problem: Problem, begin: Array, X: Array, y: Array) -> list[Row]:
    W, outer, _ = problem.layout.split(begin[0])
    assert outer is not None
    end = adam(problem, statistics_of(problem), begin[:1], 10 * EPOCHS, STEP)
    loss = float(problem.value(end)[0])
    rows, time_ours = [], processor_seconds(problem, begin)
    for dtype, target in (("float32", 150.0), ("float64", 150.0)):
        question = f"an epoch of a run: Adam on statistics against PyTorch, {dtype}"
        peer = torch_seconds(X, y, W, outer[0], dtype)
        if peer is None:
            rows.append(
                Row(question, show_time(time_ours), "—", None, target, "PyTorch is not installed: skipped")
            )
            continue
        close = abs(peer[1] - loss) / loss
        assert close < (1e-8 if dtype == "float64" else 1e-2), (peer[1], loss)
        note = f"loss after {10 * EPOCHS} epochs agrees to {close:.0e}"
        rows.append(
            Row(question, show_time(time_ours), show_time(peer[0]), peer[0] / time_ours, target, note)
        )
    return rows


def run() -> list[Row]:
    """Per epoch and run; a missing PyTorch gives a row without a ratio."""
    problem, begin = _setting()
    assert isinstance(problem.data, Samples)
    X, y = np.array(problem.data.X), np.array(problem.data.y)
    return [_against_numpy(problem, begin, X, y), *_against_torch(problem, begin, X, y)]
