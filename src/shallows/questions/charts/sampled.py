"""What training finds, as a chart: for problems whose critical points are not algebraic. Never complete."""

from __future__ import annotations

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.problem import Problem
from shallows.questions.charts.chart_of_rows import chart_of_rows
from shallows.questions.charts.points.rows import ChartRow
from shallows.questions.charts.points.stratum import Counts
from shallows.questions.charts.result import Chart
from shallows.questions.descent.ensemble import ensemble
from shallows.questions.descent.results.minima import Minimum
from shallows.support.errors import NotConverged

#: Descents a chart is made of: an end point that every fiftieth start leads to is missed once in fifty charts.
RUNS = 200
#: A loss below this share of the largest is zero: gradients of 10⁻⁶ leave 10⁻¹² of it.
ZERO_LOSS = 1e-10


def descent_chart(problem: Problem, seed: int) -> Chart:
    """The distinct end points of 200 descents; signatures are in parameter space."""
    runs = ensemble(problem, runs=RUNS, rng=seed)
    minima = [minimum for minimum in runs.minima if minimum.signature is not None]
    if not minima:
        raise NotConverged(
            f"None of {RUNS} descents converged: {runs!r}. Use sh.ensemble with other settings."
        )
    scale = max(float(runs.losses.max()), 1.0)
    rows = [
        ChartRow(
            minimum.network,
            minimum.loss,
            problem.width if minimum.rank is None else minimum.rank,
            minimum.signature,
            _kind(minimum, scale),
            tensor=_tensor(problem, minimum),
        )
        for minimum in runs.minima
        if minimum.signature is not None
    ]
    return chart_of_rows(
        problem,
        rows,
        {rank: Counts(None, None, "") for rank in sorted({row.rank for row in rows})},
        completeness="sampled",
        method="descent",
        notes=(
            f"end points of {RUNS} descents from Xavier starts; signatures are in parameter space",
            "shares: " + ", ".join(f"{minimum.loss:.6g}: {minimum.share:.1%}" for minimum in minima[:8]),
        ),
    )


def _kind(minimum: Minimum, scale: float) -> str:
    """Global only when the loss is zero: descents cannot tell otherwise."""
    if minimum.signature is not None and minimum.signature[2] > 0:
        return "saddle"
    return "global minimum" if minimum.loss <= ZERO_LOSS * scale else "local minimum"


def _tensor(problem: Problem, minimum: Minimum) -> SymmetricTensor | None:
    polynomial = isinstance(problem.activation, Power) and problem.outputs == 1
    return minimum.network.tensor() if polynomial else None
