"""The result of an ensemble: end points, distinct minima, shares; saved and loaded with its problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.model.problem import Problem
from shallows.model.stored_problem import problem_with, stored_with
from shallows.questions.descent.results.matching import Match, match
from shallows.questions.descent.results.minima import Minimum, distinct
from shallows.questions.descent.results.run import Status
from shallows.support.arguments import typed
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.files import Format
from shallows.support.tolerances import SQRT_EPSILON

if TYPE_CHECKING:
    from shallows.questions.charts.result import Chart

FORMAT = Format("shallows-ensemble", 2, earlier={"shallows-ensemble-1": 1})
#: Losses this close to the global one, in units of E y², count as it: ten times what classes of end points differ by.
GLOBAL = 1e-7
#: Runs whose gradients are computed again when an ensemble is loaded: some milliseconds.
COMPARED = 100
ARRAYS = ("thetas", "losses", "gradient_norms", "status", "iterations", "starts", "index")
WORDS = ("method", "step", "tolerance", "loss_tolerance", "requested", "seed", "scale", "seconds", "note")


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Many runs of one method on one problem, in the order of their starts.

    `index` is the number of each run (all of them, unless the ensemble was interrupted); `scale` is E y², against
    which losses are compared; `note` says what went wrong, if anything did.

    >>> runs = sh.ensemble(sh.relu_problem(8), runs=40, rng=0)   # published: 443 of 500 are global at k = 8
    >>> runs.counts(), runs.thetas.shape
    ({'converged': 40}, (40, 64))
    >>> [(f"{found.loss:.8f}", found.count, found.kind) for found in runs.minima], runs.share_of_global
    ([('0.00000000', 37, 'minimum'), ('0.04301607', 3, 'minimum')], 0.925)
    """

    problem: Problem
    thetas: Array
    losses: Array
    gradient_norms: Array
    status: np.ndarray
    iterations: np.ndarray
    starts: Array
    index: np.ndarray
    method: str
    step: float | None
    tolerance: float
    loss_tolerance: float | None
    requested: int
    seed: str
    scale: float
    seconds: float
    note: str = ""
    chart: Chart | None = field(default=None)

    def __len__(self) -> int:
        return len(self.losses)

    @property
    def converged(self) -> np.ndarray:
        """Which runs reached the tolerance (or the loss they were asked for)."""
        return np.asarray(np.isin(self.status, (Status.CONVERGED, Status.GOAL)))

    @property
    def ended(self) -> np.ndarray:
        """Which runs ended at a point: converged, or as close as rounding allows."""
        return np.asarray(self.converged | (self.status == Status.STALLED))

    @property
    def messages(self) -> list[str]:
        """Each run's status as a sentence."""
        return [Status(int(code)).sentence for code in self.status]

    @cached_property
    def minima(self) -> tuple[Minimum, ...]:
        """The distinct end points up to symmetry, sorted by loss; shares are of all runs."""
        return distinct(self.problem, self.thetas, self.losses, self.gradient_norms, self.ended, self.scale)

    @property
    def global_loss(self) -> float:
        """The loss that counts as global: the chart's minimum when there is a chart, else the lowest one found."""
        if self.chart is not None:
            return self.chart.minimum.loss
        return float(self.losses.min()) if len(self) else float("nan")

    @property
    def share_of_global(self) -> float:
        """The share of all runs whose loss is `global_loss`, to 1e-7 of E y² (or to `loss_tolerance`)."""
        if not len(self):
            return float("nan")
        room = max(GLOBAL * self.scale, self.loss_tolerance or 0.0)
        return float(np.mean(self.losses <= self.global_loss + room))

    def match(self, chart: Chart | None = None, strict: bool = True) -> Match:
        """Which critical point of the chart each run ended at; see `matching.match`."""
        chart = chart if chart is not None else self.chart
        if chart is None:
            raise InvalidProblem("No chart to match with. Fix: runs.match(sh.chart(problem)).")
        return match(self.problem, self.thetas, self.ended, chart, strict)

    def counts(self) -> dict[str, int]:
        """How many runs ended how."""
        codes, counts = np.unique(self.status, return_counts=True)
        return {Status(int(c)).name.lower(): int(k) for c, k in zip(codes, counts, strict=True)}

    def table(self) -> Any:
        """A rich table of the minima."""
        from shallows.questions.descent.results.text import minima_table

        return minima_table(self)

    def figure(self, kind: str = "shares") -> Any:
        """A Plotly figure: "shares" by minimum, or "losses" of all runs."""
        from shallows.questions.descent.results.figures import losses, shares

        makers = {"shares": shares, "losses": losses}
        if kind not in makers:
            raise InvalidProblem(f"kind is {kind!r}; expected one of {', '.join(makers)}.")
        return makers[kind](self)

    def __repr__(self) -> str:
        from shallows.questions.descent.results.text import ensemble_text

        return ensemble_text(self)

    def report(self, path: str | Path) -> Path:
        """Write the report, one self-contained HTML file; see `build.ensemble_report`."""
        from shallows.uses.report.build import ensemble_report

        return ensemble_report(self, path)

    def save(self, path: str | Path) -> Path:
        """Write `path`.json and `path`.npz; returns the path of the JSON file."""
        about, arrays = stored_with(self.problem)
        document = about | {name: getattr(self, name) for name in WORDS}
        return FORMAT.save(path, document, arrays | {name: getattr(self, name) for name in ARRAYS})


@typed
def load_ensemble(path: str | Path, problem: Problem | None = None) -> Ensemble:
    """Read what `Ensemble.save` wrote, with its problem; one that is given must be the same one.

    >>> from tempfile import TemporaryDirectory
    >>> runs = sh.ensemble(sh.Problem(np.diag([2.0, 1.0]), sh.Frobenius(2), width=1), runs=10, rng=0)
    >>> with TemporaryDirectory() as folder:
    ...     again = sh.load_ensemble(runs.save(f"{folder}/runs"))
    >>> len(again), again.method, again.seed, np.array_equal(again.thetas, runs.thetas)
    (10, 'gd', '0', True)
    """
    contents = FORMAT.load(path)
    with contents.reading():
        problem = problem_with(contents, problem)
        if problem is None:
            raise InvalidProblem(
                f"{contents.path} was written by an earlier version of shallows, which did not store the problem. Fix: "
                f"load_ensemble(path, problem) with {contents.document['problem']}."
            )
        arrays: dict[str, Any] = {name: contents.arrays[name] for name in ARRAYS}
        words = {name: contents.document[name] for name in WORDS}
        if arrays["thetas"].shape[1:] != (problem.size,):
            raise InvalidProblem(
                f"This ensemble has {arrays['thetas'].shape[-1]} parameters and {problem!r} has {problem.size}: it "
                "belongs to another problem."
            )
        _require_same(contents.path, problem, arrays, float(words["scale"]))
        return Ensemble(problem=problem, **arrays, **words)


def _require_same(file: Path, problem: Problem, arrays: dict[str, Any], scale: float) -> None:
    """Refuse runs whose losses, or gradient norms (of some runs, evenly spaced), are not those of the problem."""
    count = len(arrays["thetas"])
    if any(len(arrays[name]) != count for name in ARRAYS) or arrays["starts"].shape != arrays["thetas"].shape:
        raise InvalidProblem(f"{file} is damaged: its arrays are not of one length.")
    if not count:
        return
    some = np.unique(np.linspace(0, count - 1, min(count, COMPARED)).astype(int))
    thetas = arrays["thetas"][some]
    with np.errstate(all="ignore"):  # runs that diverged are far out
        again = problem.value(arrays["thetas"])
        norms = np.linalg.norm(problem.value_and_gradient(thetas)[1], axis=1)
        sizes = scale + np.abs(again)
        slack = SQRT_EPSILON * (sizes[some] + norms * (1 + np.linalg.norm(thetas, axis=1)))
    for what, now, then, room in (
        ("losses", again, arrays["losses"], SQRT_EPSILON * sizes),
        ("gradient norms", norms, arrays["gradient_norms"][some], slack),
    ):
        finite = np.isfinite(now)
        if np.any(finite != np.isfinite(then)) or np.any(finite & ~(np.abs(now - then) <= room)):
            raise InvalidProblem(
                f"The {what} stored in {file} are not those of {problem!r}: its target or data differ."
            )
