"""What the strata of a chart of neurons have brought so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from shallows.questions.charts.neurons.kinds import Placed
from shallows.questions.charts.neurons.wide_points import WidePoints


@dataclass
class Found:
    """Points, counts, notes and levels; `complex` is None for a rank whose complex points were not counted.

    `limits` says that all limits that can be lowest are among the points, `searched` that some are, `escaped` how many
    paths ran to infinity or have no end, `left_out` which networks are not listed, `undecided` that the lowest limit
    may be a network.
    """

    placed: list[Placed] = field(default_factory=list)
    complex: dict[int, int | None] = field(default_factory=dict)
    bounds: dict[int, int | None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    levels: list[str] = field(default_factory=lambda: ["proved"])
    limits: bool = False
    searched: bool = False
    escaped: int = 0
    left_out: list[str] = field(default_factory=list)
    undecided: bool = False

    def count(self, rank: int, more: int | None) -> None:
        """Add to the complex points of a rank; where some were not counted, their number is not known."""
        known = self.complex.get(rank, 0)
        self.complex[rank] = None if known is None or more is None else known + more

    def take(self, wide: WidePoints) -> None:
        """What a width has that one function of its own does not determine."""
        self.placed += wide.placed
        self.notes += wide.notes
        self.limits, self.undecided = wide.closed, wide.undecided
