"""Charts of problems whose numbers are rounded before anything is proved: nothing in them is called proved."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shallows.model.network import Network
from shallows.model.objective.best_forms import is_polynomial
from shallows.model.problem import Problem
from shallows.questions.charts.points.point import Certificate, Points, Reread
from shallows.questions.charts.result import Chart

#: What a chart says of a teacher that is no polynomial.
TEACHER = (
    "students see of this teacher E[y x^⊗d], which is no rational and was rounded: points are proved for what is "
    "rounded, and so not called so"
)


@dataclass(frozen=True)
class Unproved(Reread):
    """A maker of the same points, without their certificates."""

    def network(self, i: int) -> Network:
        """The same."""
        return self.inner.network(i)

    def certificate(self, i: int) -> Certificate | None:
        """None: what is proved is proved of other numbers."""
        return None


def is_rounded(problem: Problem) -> bool:
    """Whether the target of polynomial students is known in doubles only."""
    target = problem.target
    return target is not None and not is_polynomial(target) and problem.data.as_samples() is None


def as_rounded(chart: Chart, note: str) -> Chart:
    """The chart with certificates taken off, and "proved" with them."""
    points = chart.critical
    level = "count-matched" if chart.completeness == "proved" else chart.completeness
    critical = Points(points.table, Unproved(points.maker), chart.problem, points.places)
    notes = chart.notes if note in chart.notes else (*chart.notes, note)
    return replace(chart, critical=critical, completeness=level, notes=notes)
