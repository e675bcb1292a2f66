"""Ensembles: train from hundreds or thousands of starts, on all cores, the same result on any number of them.

Runs are cut into chunks of a fixed size, whatever the number of cores; a chunk is one batch, and chunks go to threads
(the fused loops and NumPy release the interpreter's lock). Every run has its own generator, spawned from the seed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from shallows.model.problem import Problem, as_problem
from shallows.questions.descent.descend import sentence
from shallows.questions.descent.options import checked_options
from shallows.questions.descent.plan import ONE_BY_ONE, Plan, plan_for
from shallows.questions.descent.results.ensemble import Ensemble
from shallows.questions.descent.results.run import Batch, Status
from shallows.questions.descent.starts import sources_of, starts_from
from shallows.support.budget import require
from shallows.support.checks import Array, counted, positive_integer
from shallows.support.cores import available
from shallows.support.errors import NotConverged
from shallows.support.progress import Progress
from shallows.support.seeds import seed_text

if TYPE_CHECKING:
    from shallows.questions.charts.result import Chart

#: Seconds that a run takes for each of its parameters, at least (small quadratic networks); and bytes: of its
#: generator, and vectors of its parameters that are kept or in use.
RUN_SECONDS, RUN_BYTES, KEPT = 3e-5, 2500.0, 6
CHUNK = 125
SMALL_CHUNK = 5

Watch = Callable[[int, int, Array], None]


def ensemble(
    problem: Problem,
    runs: int = 500,
    method: str = "gd",
    init: str | ArrayLike | Callable[[np.random.Generator], ArrayLike] = "xavier",
    step: float | None = None,
    tolerance: float | None = None,
    rng: int | np.random.Generator = 0,
    *,
    chart: Chart | None = None,
    cores: int | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> Ensemble:
    """Train `runs` networks and say where they end.

    - `method`: "gd", "perturbed", "sgd", "adam", "flow", "lbfgs", "newton", "lm";
    - `init`: "xavier", "normal", "large", "orthogonal", "barrier", an array (runs, p), or a function of a generator;
    - `step`: None is 2.5/k for ReLU against k teacher neurons (5/k on ½E in paper 003), a line search for other "gd";
    - `tolerance`: on the gradient norm of E(f − y)²; None is 1e-12, or what float64 can reach where that is more;
    - `chart`: match end points with its critical points; one that is missing from a complete chart is an error;
    - `cores`: threads, all by default; the result does not depend on it;
    - `watch(done, total, losses)`: called in the main thread whenever a chunk is done;
    - `options`: `iterations`, `polish`, `loss_tolerance`, `noise`, `per_neuron`, `batch_size`, `decay`, `flow`.

    Ctrl-C returns the runs that have finished. If every run diverges, `NotConverged` says which step would be stable.

    >>> cubic = sh.Network(np.eye(2), a=[2.0, 1.0], activation=sh.Power(3))   # 2x³ + y³
    >>> runs = sh.ensemble(sh.Problem(cubic, sh.Frobenius(2), width=1), runs=40, rng=0)
    >>> [(f"{found.loss:.6f}", found.count) for found in runs.minima]   # one neuron learns 2x³, or y³, or dies
    [('1.000000', 22), ('4.000000', 12), ('5.000000', 6)]
    >>> runs.share_of_global
    0.55
    """
    problem = as_problem(problem)
    runs = positive_integer("runs", runs)
    cores = available() if cores is None else positive_integer("cores", cores)
    require(
        f"{runs:,} runs of {counted(problem.size, 'parameter')}",
        seconds=RUN_SECONDS * runs * problem.size,
        size=runs * (RUN_BYTES + 8.0 * KEPT * problem.size),
        fix="Use fewer runs.",
    )
    seed = seed_text(rng)
    sources = sources_of(rng, runs)
    checked = checked_options(options)
    trained = problem.homogeneous() if problem.bias else problem  # the same descent, on (1, x)
    begin = problem.lift(starts_from(problem, init, sources))
    plan = plan_for(trained, method, step, tolerance, begin, checked)
    clock = time.perf_counter()
    parts = _train_all(plan, begin, sources, cores, watch)
    seconds = time.perf_counter() - clock
    index = np.concatenate([rows for rows, _ in parts]) if parts else np.zeros(0, dtype=np.int64)
    batch = Batch.join([part for _, part in parts]) if parts else Batch.start(begin[:0])
    kept = batch.status != Status.INTERRUPTED
    result = Ensemble(
        problem, problem.lower(batch.thetas[kept]), batch.losses[kept], batch.norms[kept], batch.status[kept],
        batch.iterations[kept], problem.lower(begin[index[kept]]), index[kept], method, plan.step,
        float(plan.stopping.tolerance), checked.loss_tolerance, runs, seed, plan.stopping.scale, seconds,
        _note(plan, batch, begin, index), chart,
    )  # fmt: skip
    if chart is not None:
        result.match(chart)
    return result


def _train_all(
    plan: Plan, begin: Array, sources: list[np.random.Generator], cores: int, watch: Watch | None
) -> list[tuple[np.ndarray, Batch]]:
    """Train chunk by chunk; after Ctrl-C, what there is."""
    size = SMALL_CHUNK if plan.method in ONE_BY_ONE else CHUNK
    rows = [np.arange(i, min(i + size, len(begin))) for i in range(0, len(begin), size)]
    done: dict[int, Batch] = {}

    def train(number: int) -> Batch:
        mine = rows[number]
        return plan.train(begin[mine], [sources[i] for i in mine])

    with Progress(len(begin), plan.method) as progress, ThreadPoolExecutor(cores) as pool:
        futures = {pool.submit(train, number): number for number in range(len(rows))}
        try:
            _collect(futures, done, rows, progress, watch)
        except KeyboardInterrupt:
            plan.stopping.interrupted.set()
            for future in futures:
                future.cancel()
            for future, number in futures.items():
                if not future.cancelled():
                    done[number] = future.result()
    return [(rows[number], done[number]) for number in sorted(done)]


def _collect(
    futures: dict[Future[Batch], int],
    done: dict[int, Batch],
    rows: list[np.ndarray],
    progress: Progress,
    watch: Watch | None,
) -> None:
    waiting = set(futures)
    total = sum(map(len, rows))
    while waiting:
        finished, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in finished:
            done[futures[future]] = future.result()
        count = sum(len(rows[number]) for number in done)
        progress.update(count)
        if finished and watch is not None:
            watch(count, total, np.concatenate([done[number].losses for number in sorted(done)]))


def _note(plan: Plan, batch: Batch, begin: Array, index: np.ndarray) -> str:
    """What a user has to know beyond the numbers; raises when no run is of any use."""
    diverged = np.flatnonzero(batch.status == Status.DIVERGED)
    if not len(diverged):
        return ""
    text = f"{len(diverged)} of {len(batch.status)} runs diverged. "
    text += sentence(plan, Status.DIVERGED, begin[index[diverged[:16]]])
    if len(diverged) == len(batch.status):
        raise NotConverged(text)
    return text
