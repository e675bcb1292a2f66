"""Merge trees: leaves are minima, joins the critical points where their valleys meet. Results only."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shallows.questions.charts.points.point import CriticalPoint
from shallows.questions.charts.result import Chart
from shallows.questions.connections.crossing import Crossing, crossing
from shallows.questions.connections.figure import tree_figure
from shallows.questions.connections.file import read_tree, save_tree
from shallows.questions.connections.sublevels import sublevel_figure
from shallows.questions.connections.text import tree_text
from shallows.questions.connections.valley import Valley, valley
from shallows.support.arguments import typed
from shallows.support.checks import describe
from shallows.support.errors import InvalidProblem
from shallows.support.extras import needed

if TYPE_CHECKING:
    from shallows.model.network import Network
    from shallows.model.problem import Problem
    from shallows.questions.descent.results.ensemble import Ensemble


@dataclass(frozen=True)
class Leaf:
    """A valley's lowest point; `row` is its place in the tree's chart.

    `point` is a minimum, or None for a valley in which the loss has no minimum (its infimum is at most `loss`); `copy`
    numbers the components of its fiber in parameter space.
    """

    number: int
    loss: float
    row: int | None
    point: CriticalPoint | None = field(compare=False)
    copy: int = 0
    share: float | None = None

    def __repr__(self) -> str:
        if self.point is None:
            return f"Leaf({self.number}: no minimum, the infimum is at most {self.loss:.8g})"
        copy = f", copy {self.copy}" if self.copy else ""
        return f"Leaf({self.number}: {self.point.kind}, loss={self.loss:.8g}, rank={self.point.rank}{copy})"


@dataclass(frozen=True)
class Edge:
    """A join: at this point, of this loss, valleys meet that are apart below it.

    `leaves` are the minima that paths down from it reach, one a valley; `sides` all leaves of each of these valleys.
    """

    loss: float
    row: int
    point: CriticalPoint = field(compare=False)
    leaves: tuple[int, ...]
    sides: tuple[tuple[int, ...], ...]

    def __repr__(self) -> str:
        sides = " | ".join(",".join(map(str, side)) for side in self.sides)
        return f"Edge(loss={self.loss:.8g}, {self.point.kind} of rank {self.point.rank}, joins {sides})"


@dataclass(frozen=True)
class EasiestEscape:
    """The lowest way out of a minimum's valley: over `edge`, `height` above the minimum, to `leaves`."""

    edge: Edge
    height: float
    leaves: tuple[int, ...]

    @property
    def loss(self) -> float:
        """The loss that has to be reached."""
        return self.edge.loss


@dataclass(frozen=True, repr=False)
class MergeTree:
    """How the valleys of a loss connect: at every level, which minima lie in one component of the sublevel set.

    Leaves are numbered by loss, edges sorted by it. `space` is "function" (each function once) or "parameters"; `known`
    is "proved", "numerical" or "sampled", with the reasons in `notes`. `traps` are rows of the chart at which training
    in parameter space can end although they are no leaves (paper 000, Example 15): a way of constant loss leads out.

    >>> chart = sh.chart(sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1))
    >>> tree = chart.connections()
    >>> tree
    Connections of Problem(SymmetricTensor(degree=2, n=2, 3 entries), Gaussian(2), width=1, activation=Power(2), ...)
      function space, ...
      2 leaves, 1 join
      11         saddle, rank 0
      ├─ 2.6666667  leaf 0: global minimum, rank 1
      └─ 10.666667  leaf 1: local minimum, rank 1
    >>> tree.barrier(0, 1)                       # the two signs meet at the zero network
    11.0
    """

    chart: Chart = field(compare=False)
    leaves: tuple[Leaf, ...]
    edges: tuple[Edge, ...]
    space: str
    known: str
    notes: tuple[str, ...] = ()
    traps: tuple[int, ...] = ()

    @cached_property
    def _parents(self) -> dict[int, list[Edge]]:
        return {
            leaf.number: [edge for edge in self.edges if any(leaf.number in side for side in edge.sides)]
            for leaf in self.leaves
        }

    def barrier(self, i: int, j: int) -> float:
        """The loss that a path from leaf i to leaf j has to reach, at least and at most; infinite if none is known.

        Of a leaf to itself it is that leaf's own loss.
        """
        edge = self.join(i, j)
        return edge.loss if edge is not None else (self.leaves[i].loss if i == j else float("inf"))

    def join(self, i: int, j: int) -> Edge | None:
        """The edge at which leaves i and j meet; None for one leaf, and where no join is known."""
        for number in (i, j):
            self._require(number)
        for edge in self._parents[i]:
            if i != j and any(j in side for side in edge.sides):
                return edge
        return None

    def easiest_escape(self, minimum: int | Leaf) -> EasiestEscape | None:
        """The lowest way from a minimum to one that is lower (or, from the lowest, to any other); None without one.

        >>> chart = sh.chart(sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1))
        >>> escape = chart.connections().easiest_escape(1)
        >>> escape.loss, f"{escape.height:.6f}", escape.leaves
        (11.0, '0.333333', (0,))
        """
        number = minimum.number if isinstance(minimum, Leaf) else minimum
        self._require(number)
        for edge in self._parents[number]:
            others = [side for side in edge.sides if number not in side]
            lower = tuple(leaf for side in others for leaf in side)
            if number == 0 or self.leaves[min(lower)].loss <= self.leaves[number].loss:
                return EasiestEscape(edge, edge.loss - self.leaves[number].loss, lower)
        return None

    def _require(self, number: Any) -> None:
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(self.leaves):
            raise InvalidProblem(
                f"leaf is {describe(number)}; expected one of the numbers 0 to {len(self.leaves) - 1} of tree.leaves."
            )

    def to_dataframe(self) -> Any:
        """A pandas DataFrame, a row a leaf or join: loss, rank, kind, which leaves it has below it."""
        with needed("pandas", "learn"):
            import pandas
        rows = []
        for leaf in self.leaves:
            rank, kind = (None, "no minimum") if leaf.point is None else (leaf.point.rank, leaf.point.kind)
            rows.append(("leaf", leaf.number, leaf.loss, rank, kind, str(leaf.number)))
        for i, edge in enumerate(self.edges):
            sides = " | ".join(" ".join(map(str, side)) for side in edge.sides)
            rows.append(("join", i, edge.loss, edge.point.rank, edge.point.kind, sides))
        return pandas.DataFrame(rows, columns=["node", "number", "loss", "rank", "kind", "leaves"])

    def figure(self) -> Any:
        """A Plotly figure: the disconnectivity graph, height = loss, colour = rank."""
        return tree_figure(self)

    def sublevel_figure(self) -> Any:
        """Plotly: the sublevel sets themselves at the joins, for one neuron with two or three weights.

        >>> tree = sh.chart(sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1)).connections()
        >>> len(tree.sublevel_figure().data) > 2
        True
        """
        return sublevel_figure(self)

    def with_runs(self, runs: Ensemble) -> MergeTree:
        """The tree with the share of training runs that end at each leaf, which its figure shows as width.

        >>> problem = sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1)
        >>> chart = sh.chart(problem)
        >>> tree = chart.connections().with_runs(sh.ensemble(problem, runs=20, rng=0))
        >>> [leaf.share for leaf in tree.leaves]
        [0.7, 0.3]
        """
        shares = runs.match(self.chart).shares
        leaves = [
            leaf if leaf.row is None else replace(leaf, share=shares.get(leaf.row, 0.0))
            for leaf in self.leaves
        ]
        return replace(self, leaves=tuple(leaves))

    def crossing(self, edge: int = 0) -> Crossing:
        """The way over a join: networks from one minimum up to it and down to another, with `losses` and a `figure()`.

        >>> chart = sh.chart(sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1))
        >>> chart.connections().crossing(0)
        Crossing(... networks, loss 2.6666667 → 11 → 10.666667)
        """
        if not 0 <= edge < len(self.edges):
            raise InvalidProblem(
                f"edge is {describe(edge)}; this tree has {len(self.edges)} joins, from 0 on."
            )
        return crossing(self, edge)

    def valley(self, net: Network) -> Valley:
        """The leaf below a network's function, and which leaves its sublevel set holds.

        >>> chart = sh.chart(sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1))
        >>> tree = chart.connections()
        >>> tree.valley(sh.Network([[0.1, 0.4]], a=[-1.0]))
        Valley(Leaf(1: local minimum, loss=10.666667, rank=1), 0.1333 below the way to leaf 0)
        """
        return valley(self, net)

    def save(self, path: str | Path) -> Path:
        """Write `path`.json and `path`.npz; returns the path of the JSON file."""
        return save_tree(self, path)

    def __repr__(self) -> str:
        return tree_text(self)


@typed
def load_connections(path: str | Path, problem: Problem | None = None) -> MergeTree:
    """A tree written by `tree.save(path)`, with its chart; `problem` stands for one that could not be stored.

    >>> import tempfile
    >>> tree = sh.chart(sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1)).connections()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = sh.load_connections(tree.save(f"{folder}/two-signs"))
    >>> again.edges
    (Edge(loss=11, saddle of rank 0, joins 0 | 1),)
    """
    fields, tree = read_tree(path, problem)
    return tree_of(Chart(**fields), tree)


def tree_of(chart: Chart, tree: dict[str, Any]) -> MergeTree:
    """The tree of a chart with these fields."""
    places = [leaf.pop("row") for leaf in tree["leaves"]]
    leaves = [
        Leaf(row=row, point=None if row is None else chart.critical[row], **leaf)
        for row, leaf in zip(places, tree["leaves"], strict=True)
    ]
    edges = [Edge(point=chart.critical[edge["row"]], **edge) for edge in tree["edges"]]
    return MergeTree(
        chart,
        tuple(leaves),
        tuple(edges),
        tree["space"],
        tree["known"],
        tuple(tree["notes"]),
        tuple(tree["traps"]),
    )
