"""From critical point to critical point by paths down: what lies below each row of a chart."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from shallows.mathematics.numerical_rank import rank_of
from shallows.model.problem import Problem
from shallows.questions.charts.result import Chart
from shallows.questions.connections.descent import Descent, descend, first_step
from shallows.questions.connections.lower_link import LowerLink, Way, lower_link
from shallows.questions.connections.neuron_loss import NeuronLoss, Neurons
from shallows.support.errors import IncompleteChart, NotConverged

#: A path's end is a listed point when losses agree to this share of ‖t‖², and tensors to this share of ‖t‖: ends are
#: known to the root of rounding at worst, and points that are closer are told apart by which is nearest.
SAME_LEVEL, SAME_PLACE = 1e-7, 1e-4
#: The nearest point is the one when the next is so many times further away.
NEARER = 10.0


@dataclass(frozen=True, eq=False)
class Hop:
    """A path down from one critical point to a lower one: rows of the chart; `end` None is a valley without minimum."""

    row: int
    way: Way
    path: Descent
    end: int | None

    def __repr__(self) -> str:
        return f"Hop({self.row} → {'no minimum' if self.end is None else self.end}, {self.path!r})"


@dataclass(eq=False)
class Landscape:
    """A chart with what lies below each of its points, found when it is asked for."""

    chart: Chart
    problem: Problem
    loss: NeuronLoss
    runaways: list[Descent] = field(default_factory=list)
    _links: dict[int, LowerLink] = field(default_factory=dict)
    _hops: dict[tuple[int, int], Hop | None] = field(default_factory=dict)

    @classmethod
    def of(cls, chart: Chart, problem: Problem) -> Landscape:
        """`problem` is the chart's own, on (1, x) where it has a bias.

        Limits that no network attains are left out: paths run to them, and such a valley has no minimum.
        """
        networks = chart.critical.where(~chart.critical.table.limit)
        return cls(replace(chart, critical=networks), problem, NeuronLoss.of(problem))

    def __len__(self) -> int:
        return len(self.chart.critical)

    @property
    def closed(self) -> bool:
        """Whether the functions of these networks are a closed set: degree 2, or one neuron."""
        return self.problem.degree == 2 or self.problem.width == 1

    def link(self, row: int) -> LowerLink:
        """The lower link of a row."""
        if row not in self._links:
            self._links[row] = lower_link(self.problem, self.loss, self.chart.critical[row])
        return self._links[row]

    def excess(self, row: int) -> float:
        """The loss of a row above the floor."""
        return float(self.chart.critical.table.loss[row] - self.problem.floor)

    def is_leaf(self, row: int) -> bool:
        """Whether nothing lies below."""
        link = self.link(row)
        return link.pieces == 0 or (link.apex and row == 0)

    def hop(self, row: int, number: int) -> Hop | None:
        """The path down the link's way of this number; None where that way is closed beyond first order."""
        key = (row, number)
        if key not in self._hops:
            self._hops[key] = self._follow(row, self.link(row).ways[number])
        return self._hops[key]

    def hops(self, row: int) -> list[Hop]:
        """The paths down every way."""
        found = (self.hop(row, i) for i in range(len(self.link(row).ways)))
        return [hop for hop in found if hop is not None]

    def leaf(self, row: int) -> int | None:
        """The row of a leaf in whose valley this row lies; None for a valley without minimum."""
        while not self.is_leaf(row):
            if self.link(row).apex:
                return self.leaf(0)
            below = next(iter(self._first(row)), None)
            if below is None:
                raise NotConverged(f"No way down was found from {self.chart.critical[row]!r}.")
            if below.end is None:
                return None
            row = below.end
        return row

    def _first(self, row: int) -> list[Hop]:
        for i in range(len(self.link(row).ways)):
            hop = self.hop(row, i)
            if hop is not None:
                return [hop]
        return []

    def _follow(self, row: int, way: Way) -> Hop | None:
        link = self.link(row)
        begin = first_step(self.loss, link, way)
        if begin is None:
            return None
        path = descend(self.loss, begin, self.loss.value(link.neurons))
        if path.converged:
            end = self.listed(path.end)
            if end is not None:
                return Hop(row, way, path, end)
        self._note_unlisted(row, path)
        return Hop(row, way, path, None)

    def _note_unlisted(self, row: int, path: Descent) -> None:
        """A path to no listed point: a valley without minimum where the set is not closed, else something is wrong."""
        if not self.closed:
            self.runaways.append(path)
            return
        value = self.loss.value(path.end) + self.problem.floor
        begin = repr(self.chart.critical[row])
        if path.converged:
            raise IncompleteChart(
                f"A path down from {begin} ends at a critical point of loss {value:.8g} that the chart does not list."
            )
        raise NotConverged(f"A path down from {begin} did not converge; it reached a loss of {value:.8g}.")

    def listed(self, end: Neurons) -> int | None:
        """The row that a path's end belongs to: the nearest point of its loss, or else the family of its loss."""
        table, unit = self.chart.critical.table, self.loss.energy
        excess = self.loss.value(end)
        level = np.abs(table.loss - self.problem.floor - excess) <= SAME_LEVEL * unit
        tensor = self.loss.tensor(end)
        rows = np.flatnonzero(level & (table.dimension == 0)).tolist()
        away = sorted(
            (self.loss.distance(tensor, self.chart.critical[row].tensor.entries), row) for row in rows
        )
        alone = len(away) == 1 or (len(away) > 1 and away[1][0] > NEARER * away[0][0])
        if alone and away[0][0] <= SAME_PLACE * np.sqrt(unit):
            return away[0][1]
        families = np.flatnonzero(level & (table.dimension > 0) & (table.rank == _rank(end))).tolist()
        if len(families) > 1:
            losses = ", ".join(f"{table.loss[row]:.8g}" for row in families)
            raise IncompleteChart(
                f"Families of one loss and rank ({losses}) cannot be told apart by a path's end: the tree is not known."
            )
        return families[0] if families else None


def _rank(end: Neurons) -> int:
    sizes = np.linalg.norm(end.vectors, axis=1)
    return rank_of(sizes, np.sqrt(SAME_PLACE))
