"""Charts: the critical points of a loss, what is proved about them, and how complete the list is.

Results only: the algorithms are in the rooms beside this module; a chart's text, figure and files are functions of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.questions.charts.figure import chart_figure
from shallows.questions.charts.file import read_chart, save_chart
from shallows.questions.charts.points.family import CriticalFamily
from shallows.questions.charts.points.kinds import KINDS
from shallows.questions.charts.points.point import CriticalPoint, Points
from shallows.questions.charts.text import chart_text
from shallows.support.checks import Array
from shallows.support.errors import MissingExtra

if TYPE_CHECKING:
    from shallows.model.problem import Problem


@dataclass(frozen=True, repr=False)
class Chart:
    """All critical points of a problem's loss in function space, for every rank up to the width.

    `points` are sorted by loss, `families` are the sets of them that are not isolated. `complex_count`, `real_count`
    and `expected_count` are {rank: number}; `completeness` says what they prove.

    >>> sh.chart(sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1))
    Chart: Problem(SymmetricTensor(degree=2, n=2, 3 entries), Gaussian(2), width=1, activation=Power(2), outer free)
      method closed-form, seed 0
      proved: no critical point is missing: a theorem, or as many certified points as there can be
      1 global minimum, 2 saddles
      rank  complex  expected  real
         0        1         1     1   C(n,r), paper 000 Theorem 35
         1        2         2     2   C(n,r), paper 000 Theorem 35
                loss  rank  (+, 0, −)       kind
           2.6666667     1  (2, 0, 0)       global minimum
           10.666667     1  (1, 0, 1)       saddle
                  19     0  (0, 0, 0)       saddle

    Heavier tails, other landscape: (3ⁿ − 1)/2 = 13 critical points of rank one instead of n = 3 (Theorem 36).

    >>> chart = sh.chart(sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), width=1))
    >>> chart.count(rank=1), chart.completeness, chart.kinds()
    (13, 'proved', {'global minimum': 4, 'saddle': 10})
    """

    points: Points
    completeness: str
    method: str
    complex_count: dict[int, int]
    real_count: dict[int, int]
    expected_count: dict[int, int | None]
    expected_source: dict[int, str]
    families: tuple[CriticalFamily, ...] = ()
    notes: tuple[str, ...] = ()
    seed: int = 0
    title: str = ""
    problem: Problem | None = field(default=None, compare=False)

    @property
    def losses(self) -> Array:
        """The losses of all points, ascending; no matrices are made."""
        return self.points.table.loss

    @property
    def minimum(self) -> CriticalPoint:
        """The point of lowest loss."""
        return self.points[0]

    def count(self, kind: str | None = None, rank: int | None = None) -> int:
        """How many points are of this kind and rank."""
        table = self.points.table
        chosen = np.ones(len(table), bool)
        if kind is not None:
            chosen &= table.kind == kind
        if rank is not None:
            chosen &= table.rank == rank
        return int(np.count_nonzero(chosen))

    def kinds(self) -> dict[str, int]:
        """How many points there are of each kind that occurs."""
        counts = Counter(self.points.table.kind.tolist())
        return {kind: counts[kind] for kind in KINDS if counts[kind]}

    def to_dataframe(self) -> Any:
        """A pandas DataFrame, a row a point."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("pandas", "learn") from None
        table = self.points.table
        names = ("positive", "zero", "negative")
        columns: dict[str, Any] = {"loss": table.loss, "rank": table.rank, "kind": table.kind}
        columns |= {name: table.signature[:, i] for i, name in enumerate(names)}
        columns["certified"] = [point.certificate is not None for point in self.points]
        return pandas.DataFrame(columns)

    def save(self, path: str | Path) -> Path:
        """Write `path`.json and `path`.npz; returns the path of the JSON file."""
        return save_chart(self, path)

    def report(self, path: str | Path, *, runs: Any = None, train: int = 200) -> Path:
        """Write the report, one self-contained HTML file; see `build.chart_report`."""
        from shallows.uses.report.build import chart_report

        return chart_report(self, path, runs=runs, train=train)

    def figure(self) -> Any:
        """A Plotly figure: loss against index, coloured by kind."""
        return chart_figure(self)

    def __repr__(self) -> str:
        return chart_text(self)


def load_chart(path: str | Path, problem: Problem | None = None) -> Chart:
    """A chart written by `chart.save(path)`, with its problem; `problem` stands for one that could not be stored.

    >>> import tempfile
    >>> problem = sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Frobenius(3), width=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = sh.chart(problem).save(f"{folder}/eckart-young")
    ...     chart = sh.load_chart(file)
    >>> file.name, chart.losses.tolist(), chart.problem.data
    ('eckart-young.json', [5.0, 10.0, 13.0, 14.0], Frobenius(3))
    """
    return Chart(**read_chart(path, problem))
