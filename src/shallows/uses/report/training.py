"""The training that a report shows: where many runs end, and the way of a few of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shallows.mathematics.signature import signature
from shallows.model.activations import Smooth
from shallows.model.problem import Problem
from shallows.questions.charts.result import Chart
from shallows.questions.descent.descend import descend
from shallows.questions.descent.ensemble import ensemble
from shallows.questions.descent.results.ensemble import Ensemble
from shallows.questions.descent.results.run import Run
from shallows.support.checks import Array
from shallows.support.errors import ShallowsError

RECORDED = 12
STEPS = 600
#: Steps of runs with a smooth activation: some milliseconds each, and those to infinity never end by themselves.
SMOOTH = 300
#: Hessian indices along recorded runs: at most so many points a run, for at most so many parameters.
INDEX_POINTS = 24
INDEX_PARAMETERS = 60
#: Hessian eigenvalues below this share of the largest are drawn as flat: off critical points their sign is no news.
FLAT = 1e-7
#: Drawn ways end at this gradient norm: beyond it nothing is seen to move.
DRAWN = 1e-7


@dataclass(frozen=True, eq=False)
class Way:
    """A recorded run: iterations, losses, and at some of them the number of negative Hessian eigenvalues."""

    times: Array
    losses: Array
    index_losses: Array
    indices: Array


@dataclass(frozen=True, eq=False)
class Training:
    """Runs with the ways of the first few; `failure` says why there are none."""

    runs: Ensemble | None
    ways: tuple[Way, ...] = ()
    failure: str = ""


def train_runs(problem: Problem, runs: int, seed: int) -> Training:
    """Gradient descent from `runs` Glorot starts, the first few recorded; a problem that cannot be trained says why."""
    longest: dict[str, Any] = {"iterations": SMOOTH} if isinstance(problem.activation, Smooth) else {}
    try:
        return with_ways(ensemble(problem, runs=runs, rng=seed, **longest))
    except ShallowsError as error:
        return Training(None, (), str(error))


def with_ways(runs: Ensemble) -> Training:
    """The runs, and the first few of them trained again from the same starts, step by step."""
    return Training(runs, tuple(_way(runs.problem, start) for start in runs.starts[:RECORDED]))


def _way(problem: Problem, start: Array) -> Way:
    run: Run = descend(problem, start, "gd", tolerance=DRAWN, record=1, iterations=STEPS, polish=False)
    assert run.trajectory is not None
    path = run.trajectory
    if problem.size > INDEX_PARAMETERS:
        return Way(path.times, path.losses, np.zeros(0), np.zeros(0))
    chosen = np.unique(np.geomspace(1, len(path), INDEX_POINTS).astype(int) - 1)
    indices = [_index(problem, path.thetas[i]) for i in chosen]
    return Way(path.times, path.losses, path.losses[chosen], np.array(indices))


def _index(problem: Problem, theta: Array) -> int:
    """How many Hessian eigenvalues are negative, beyond rounding."""
    values = np.linalg.eigvalsh(problem.hessian(problem.unpack(theta)))
    return signature(values, FLAT)[2]


def same_problem(chart: Chart, runs: Ensemble) -> bool:
    """Whether a chart and runs belong together, as far as can be seen from outside."""
    return chart.problem is None or chart.problem is runs.problem or repr(chart.problem) == repr(runs.problem)
