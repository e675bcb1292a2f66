"""Charts: the critical points of a loss, what is proved about them, and how complete the list is.

Results only: the algorithms are in the rooms beside this module; a chart's text, figure and files are functions of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.questions.charts.points.kinds import KINDS
from shallows.questions.charts.points.point import CriticalFamily, CriticalPoint, Points
from shallows.questions.charts.text import chart_text
from shallows.support.arguments import typed
from shallows.support.checks import Array
from shallows.support.errors import IncompleteChart, InvalidProblem
from shallows.support.extras import needed

if TYPE_CHECKING:
    from shallows.model.problem import Problem
    from shallows.questions.charts.critical_sets import CriticalSets
    from shallows.questions.connections.tree import MergeTree


@dataclass(frozen=True, repr=False)
class Chart:
    """All critical points of a problem's loss in function space, for every rank up to the width.

    `critical` holds all of it, sorted by loss: `points`, which are isolated, and `families`, sets of critical points
    that are not. `complex_count`, `real_count` and `expected_count` are of points, {rank: number}; `completeness` says
    what they prove. Charts are of the closure of the networks: limits that no network of the width attains are listed
    and marked, `infimum` and `attained` say what that means for training, and `scope` where the list is complete, if
    not everywhere.

    >>> sh.chart(sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1))
    Chart: Problem(SymmetricTensor(degree=2, n=2, 3 entries), Gaussian(2), width=1, activation=Power(2), outer free)
      method closed-form, seed 0
      proved: no critical point is missing: a theorem, a full count of certified points, or all other places excluded
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

    critical: Points
    completeness: str
    method: str
    complex_count: dict[int, int]
    real_count: dict[int, int]
    expected_count: dict[int, int | None]
    expected_source: dict[int, str]
    notes: tuple[str, ...] = ()
    seed: int = 0
    title: str = ""
    attained: bool | None = None
    scope: str = ""
    problem: Problem | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """A global minimum that is a network has the infimum: every chart that lists one says `attained`."""
        table = self.critical.table
        if self.attained is None and np.any((table.kind == "global minimum") & ~table.limit):
            object.__setattr__(self, "attained", True)

    @cached_property
    def points(self) -> Points:
        """The isolated critical points, sorted by loss."""
        return self.critical.where(self.critical.table.dimension == 0)

    @cached_property
    def families(self) -> tuple[CriticalFamily, ...]:
        """The sets of critical points of positive dimension, sorted by loss."""
        return tuple(item for item in self.critical if isinstance(item, CriticalFamily))

    @property
    def losses(self) -> Array:
        """The losses of all points and families, ascending; no matrices are made."""
        return self.critical.table.loss

    @property
    def minimum(self) -> CriticalPoint:
        """The lowest of all: a point, or a family (whose `network` is one of its points)."""
        self._require_points()
        return self.critical[0]

    @property
    def infimum(self) -> float:
        """The lowest loss over the closure of the networks, as far as the chart is complete and its `scope` goes.

        `attained` says whether a network of this width has it: at degree ≥ 3 and width ≥ 2 neurons can merge, and the
        limits w^(d−1)v are no networks of that width. Where it is None this is the lowest loss listed, an upper bound
        of the infimum: limits may be lower.

        >>> xxxy = sh.SymmetricTensor([0, 0.25, 0, 0, 0], n=2, degree=4)       # x³y, itself such a limit
        >>> chart = sh.chart(sh.Problem(xxxy, sh.Gaussian(2), width=2))
        >>> abs(chart.infimum) < 1e-12, chart.attained, chart.minimum.limit
        (True, False, True)
        """
        self._require_points()
        return float(self.losses[0])

    def _require_points(self) -> None:
        if not len(self.critical):
            raise IncompleteChart(
                f"The chart of {self.title} lists no critical point (completeness {self.completeness!r}), so it has "
                "no lowest one. Its notes say why; sh.ensemble(problem) shows where training goes."
            )

    def count(self, kind: str | None = None, rank: int | None = None) -> int:
        """How many points and families are of this kind and rank."""
        table = self.critical.table
        chosen = np.ones(len(table), bool)
        if kind is not None:
            chosen &= table.kind == kind
        if rank is not None:
            chosen &= table.rank == rank
        return int(np.count_nonzero(chosen))

    def kinds(self) -> dict[str, int]:
        """How many points and families there are of each kind that occurs."""
        counts = Counter(self.critical.table.kind.tolist())
        return {kind: counts[kind] for kind in KINDS if counts[kind]}

    def to_dataframe(self) -> Any:
        """A pandas DataFrame, a row a point or family; `dimension` is 0 for points."""
        with needed("pandas", "learn"):
            import pandas
        table = self.critical.table
        names = ("positive", "zero", "negative")
        columns: dict[str, Any] = {"loss": table.loss, "rank": table.rank, "kind": table.kind}
        columns["dimension"] = table.dimension
        columns["limit"] = table.limit
        columns |= {name: table.signature[:, i] for i, name in enumerate(names)}
        columns["certified"] = [item.certificate is not None for item in self.critical]
        return pandas.DataFrame(columns)

    def save(self, path: str | Path) -> Path:
        """Write `path`.json and `path`.npz; returns the path of the JSON file."""
        from shallows.questions.charts.file import save_chart

        return save_chart(self, path)

    def report(self, path: str | Path, *, runs: Any = None, train: int = 200) -> Path:
        """Write the report, one self-contained HTML file; see `build.chart_report`."""
        from shallows.uses.report.build import chart_report

        return chart_report(self, path, runs=runs, train=train)

    def connections(self, space: str = "function", *, progress: bool = False) -> MergeTree:
        """How its minima connect: a merge tree, whose joins are the critical points at which valleys meet.

        At every level of the loss the tree says how many components the sublevel set has. From a complete list that is
        stratified Morse theory and no sampling. The functions of a network are a union of strata, the tensors of one
        rank. At a critical point of index λ on its stratum, with normal lower link ℓ⁻ (the small additions Σ ±u^⊗d of
        idle neurons that decrease the loss), the lower link is the join S^(λ−1) ∗ ℓ⁻ (M. Goresky, R. MacPherson,
        "Stratified Morse Theory", 1988, I.3.7). Components meet only where it is in several pieces:

        - λ = 1 and ℓ⁻ empty, or λ = 0 and ℓ⁻ in pieces; an index-one point of lower rank with ways down joins nothing;
        - at degree 2 with a trained ℓ⁻ is in two pieces where rank = width − 1 and P∇ℓP, P onto the kernel of S, is
          indefinite: idle neurons of sign + on one side, of sign − on the other;
        - for one neuron all critical points are below the zero network, where valleys meet at the latest:
          the two signs at even degree, for a target of both, the components of {t > 0} on the sphere at odd degree;
        - a family of normal index one joins only if its negative bundle is orientable: else its two sides are one.

        From each piece the flow is followed down to a leaf. This needs a closed set of functions, so that the loss is
        proper: degree 2 at any width, or one neuron with a power. At degree ≥ 3 and width ≥ 2 an infimum may not be
        attained; the tree is "numerical" then and a valley without minimum is listed as one. It is "proved" when the
        list is complete, all critical points are non-degenerate, normal data included, and every path stays below its
        join over every whole segment in ball arithmetic and ends in a certified neighbourhood of the minimum.
        `space="parameters"` splits minima whose fibers are not connected (Theorem 37 of paper 000) and joins them where
        they meet.

        >>> tree = sh.chart(sh.Problem(np.diag([3.0, 2.0, -1.0]), sh.Gaussian(3), width=2)).connections()
        >>> [leaf.loss for leaf in tree.leaves], f"{tree.barrier(0, 1):.4f}"
        ([2.5, 10.0], '10.6667')
        """
        from shallows.questions.connections.connections import connections

        return connections(self, space, progress=progress)

    def critical_sets(self, rng: int = 0) -> CriticalSets:
        """Points and families over the complex numbers, each with dimension, degree and components: degree 2.

        A numerical irreducible decomposition of the critical equations, whose components are confirmed by trace tests;
        see `sh.homotopy.decompose`. The real family of all uuᵀ, ‖u‖ = 1, is the real part of a surface of degree 4:

        >>> sh.chart(sh.Problem(np.eye(3), sh.Frobenius(3), width=1)).critical_sets()
        CriticalSets: 2 irreducible sets over C, complete (numerically)
          CriticalSet(rank 0, loss 3, a point)
          CriticalSet(rank 1, loss 2, dimension 2, degree 4)
        """
        from shallows.questions.charts.critical_sets import critical_sets

        if self.problem is None:
            raise InvalidProblem("the chart has no problem. Fix: load_chart(path, problem)")
        return critical_sets(self.problem, rng)

    def figure(self) -> Any:
        """A Plotly figure: loss against index, coloured by kind."""
        from shallows.questions.charts.figure import chart_figure

        return chart_figure(self)

    def __repr__(self) -> str:
        return chart_text(self)


@typed
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
    from shallows.questions.charts.file import read_chart

    return Chart(**read_chart(path, problem))
