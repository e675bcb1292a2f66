"""What a request costs, known before it starts: measured once, scaled to the machine that serves.

The figures in the views (seconds of processor time at the worst states found by random search, and of a report: without
training, and for each descent) were measured on one core of the reference machine of `support.budget`; elsewhere they
are scaled by how slow that is. Long descents of the ReLU view are timed on the spot instead. The tests hold every
estimate to within a factor of three of the processor time.
"""

from __future__ import annotations

from collections.abc import Callable

from shallows.model.problem import Problem
from shallows.support.budget import slowness
from shallows.uses.explorer.fields import Field, State
from shallows.uses.explorer.scene import Report

#: Processor seconds of a state.
Cost = Callable[[State], float]
#: Processor seconds of a descent of one to three quadratic neurons, measured.
QUICK_DESCENT = 1e-4
#: Processor seconds for the runs whose ways a report draws, a fixed number.
TRACED = 0.35
#: How many descents a report shows; every view with a training problem has this field.
TRAIN = Field("train", "descents in the report", 0, 20_000, 10, 100)
#: From what the report's homotopy and descents are drawn; `relu` draws its live descents from a field of this name too.
SEED = Field("seed", "seed of the report", 0, 9999, 1, 0)


def quick_descent(state: State) -> float:
    """What a descent of a small quadratic network costs, whatever the state."""
    return QUICK_DESCENT


def constant(seconds: float) -> Cost:
    """The cost of a view whose states all take about as long."""
    return lambda state: seconds * slowness()


def report_of(title: str, problem_of: Callable[[State], Problem], written: float, descent: Cost) -> Report:
    """The report of a chart: `written` seconds without training, TRACED more with it, and `descent` for each run."""

    def seconds(state: State) -> float:
        return (written + TRACED * (state["train"] > 0) + descent(state) * state["train"]) * slowness()

    def write(state: State) -> str:
        from shallows.questions.charts.chart import chart
        from shallows.uses.report.build import charts_html

        found = chart(problem_of(state), rng=int(state["seed"]))
        return charts_html([(title, found)], train=int(state["train"]))

    return Report(write, seconds)
