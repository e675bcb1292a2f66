"""From proved critical points to a chart: kinds by comparison of enclosed losses, and where the list is complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.points.kinds import kind_at
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.rows import ChartRow, Lifts, isolated, made, points_in_order
from shallows.questions.charts.result import Chart


@dataclass(frozen=True, eq=False)
class Listed:
    """A critical point or, with a dimension, a family: its loss in bounds, its signature, a network.

    `escapes` says that the loss decreases from it to first order in directions that the signature does not see (idle
    neurons); `dimension` of the signature's zeros are the family's own; `limit` that no network is this function.
    """

    network: Network | Lifts
    loss: tuple[float, float]
    rank: int
    signature: tuple[int, int, int]
    certificate: Certificate
    escapes: bool = False
    dimension: int = 0
    description: str = ""
    limit: bool = False

    @property
    def made(self) -> Network:
        """The network, made if it was not."""
        found: Network = made(self.network)
        return found

    @property
    def middle(self) -> float:
        """The loss, as one number."""
        return 0.5 * (self.loss[0] + self.loss[1])

    def kind(self, lowest: float, attained: bool) -> str:
        """What it is, given an upper bound on the lowest loss of all."""
        if self.escapes:
            return "saddle"
        if not self.signature[2] and attained and self.loss[0] <= lowest:
            return "global minimum"
        return kind_at(self.signature, self.dimension)


@dataclass(frozen=True, eq=False)
class Limits:
    """Whether the infimum is attained (None: not decided), the limit that has it if not, and words.

    `far` says that networks beyond the ball that was searched may be lower than all that is listed.
    """

    attained: bool | None = True
    listed: tuple[Listed, ...] = ()
    notes: tuple[str, ...] = ()
    far: bool = False


def chart_of_listed(
    problem: Problem,
    listed: Sequence[Listed],
    *,
    scope: str = "",
    notes: Sequence[str] = (),
    attained: bool = True,
    searched: bool = True,
    certify: bool = True,
) -> Chart:
    """The chart; `attained` says that the infimum of the loss is at a listed point, `searched` that no box is open.

    Where boxes are open nothing is known of them: the list is no better than a sample, its lowest point global only if
    its loss is zero.
    """
    lowest = min(item.loss[1] for item in listed)
    attained = attained and (searched or min(item.loss[0] for item in listed) <= 0)
    items = sorted(listed, key=lambda item: (item.middle, item.rank))
    rows = [
        ChartRow(
            item.network,
            item.middle,
            item.rank,
            item.signature,
            item.kind(lowest, attained),
            item.certificate if certify else None,
            item.dimension,
            item.limit,
            family=(item.description, ()) if item.dimension else None,
        )
        for item in items
    ]
    ranks = sorted({item.rank for item in items})
    return Chart(
        critical=points_in_order(problem, rows),
        completeness="proved" if searched else "sampled",
        method="exclusion",
        complex_count={},
        real_count=isolated(rows, ranks),
        expected_count=dict.fromkeys(ranks),
        expected_source=dict.fromkeys(ranks, "interval exclusion"),
        notes=tuple(notes),
        scope=scope,
        problem=problem,
    )
