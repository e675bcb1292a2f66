"""Charts of what strata brought, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shallows.model.problem import Problem
from shallows.questions.charts.points.rows import ChartRow, FoundRow, isolated, points_in_order
from shallows.questions.charts.points.stratum import Counts
from shallows.questions.charts.result import Chart


@dataclass
class Gathered:
    """What strata have brought so far; a chart is as complete as the weakest of its `levels`."""

    rows: list[FoundRow] = field(default_factory=list)
    counts: dict[int, Counts] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    levels: list[str] = field(default_factory=lambda: ["proved"])

    def count(self, rank: int, more: int, source: str, expected: int | None = None) -> None:
        """So many more points of a rank, over the complex numbers."""
        before = self.counts[rank].complex or 0 if rank in self.counts else 0
        self.counts[rank] = Counts(before + more, expected, source)

    def say(self, notes: Sequence[str], completeness: str) -> None:
        """What is said of a part of the list, and how complete that is."""
        self.notes += notes
        self.levels.append(completeness)


def chart_of_rows(
    problem: Problem,
    rows: Sequence[ChartRow],
    counts: Mapping[int, Counts],
    *,
    completeness: str,
    method: str = "homotopy",
    notes: Sequence[str] = (),
    attained: bool | None = None,
    scope: str = "",
) -> Chart:
    """The chart of rows that are sorted; limits and families do not count among its points."""
    return Chart(
        critical=points_in_order(problem, rows),
        completeness=completeness,
        method=method,
        complex_count={r: c.complex for r, c in counts.items() if c.complex is not None},
        real_count=isolated([row for row in rows if not row.limit], counts),
        expected_count={r: c.expected for r, c in counts.items()},
        expected_source={r: c.source for r, c in counts.items()},
        notes=tuple(notes),
        attained=attained,
        scope=scope,
        problem=problem,
    )
