"""What is found at one rank with several outputs."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.neurons.singular import ExaminedEnds, NeuronFamily
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import Counts
from shallows.support.checks import Array

#: A real network, and the family that it stands for.
Seen = tuple[NeuronPoint, NeuronFamily | None]


@dataclass(frozen=True)
class OutputPoint:
    """A real critical network: outer weights (M, r), neurons (r, n), its tensors, its signature on the stratum.

    `dimension` is that of the family it stands for, 0 for a point, and `description` says what the family is. Of a
    `limit` A and W are a network near it, and `inward` is the slope of the loss into the networks.
    """

    A: Array
    W: Array
    entries: Array
    signature: tuple[int, int, int]
    certificate: Certificate | None = None
    dimension: int = 0
    description: str = ""
    limit: bool = False
    inward: float = inf

    @property
    def rank(self) -> int:
        """The number of neurons."""
        return len(self.W)


@dataclass(frozen=True)
class OutputStratum:
    """The critical networks of one rank, the counts, and what is proved; `singular` paths end at limits that are not
    listed."""

    found: list[OutputPoint]
    counts: Counts
    notes: list[str]
    completeness: str
    singular: int = 0


def seen_ends(found: list[NeuronPoint], examined: ExaminedEnds) -> list[Seen]:
    """Points, those among singular ends too, and families."""
    points: list[Seen] = [(point, None) for point in [*found, *examined.points]]
    return points + [(family.point, family) for family in examined.families]
