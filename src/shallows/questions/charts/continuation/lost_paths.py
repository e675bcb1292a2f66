"""What happens to a lost path, for all critical equations alike.

All paths from a solved member are tracked to the wanted one. Lost paths, ends at infinity and singular ends call for a
second look: in other coordinates, or another way round, by a random member of the family. Each kind of equations brings
its `Ways`. When after all ways some paths still have no end, the list is "sampled" and the chart says how many were
lost: nothing is dropped in silence, and what was found is not thrown away.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.paths import TrackerSettings
from shallows.mathematics.homotopy.solutions import SolutionSet

Complex = NDArray[np.complex128]
#: How many ways are tried: a budget, each costs as much as the first. Lost paths are few, and other ones each time.
WAYS = 5
#: Paths take about a hundred steps; one that takes many more creeps along a badly conditioned stretch, and is lost.
SETTINGS = TrackerSettings(steps=600)
#: What a chart says about paths that have no end.
LOST = f"paths were lost on every one of {WAYS} ways: points may be missing"
#: What it says of paths that run to infinity, and of ends that have no proof.
NOT_GENERIC = "paths run to infinity: these data or this target are not generic"
#: How most ends are found.
FROM_GENERIC = "parameter homotopy from a generic member"
UNCERTIFIED = "points without a certificate"
#: What it says of ends that are proved to be one and the same.
REPEATED = "paths end at points that other paths reached: points are missing"
#: What it says of paths to infinity under a Gaussian moved along a line, where no point is at infinity.
FAR_OUT = "of the points are too far out to be told from infinity: the data are nearly centred"


@dataclass(frozen=True)
class Settled:
    """Where all paths to a member end, and how complete the list of ends is.

    `isolated` says of each singular end whether another way round reproduced it. The others lie on
    positive-dimensional sets, which every way round meets somewhere else, or had no second look.
    """

    finite: SolutionSet
    singular: SolutionSet
    isolated: NDArray[np.bool_]
    at_infinity: int
    lost: int
    completeness: str

    @property
    def degenerate(self) -> Complex:
        """Singular ends that are isolated points."""
        return self.singular.points[self.isolated]

    @property
    def moving(self) -> Complex:
        """The other singular ends."""
        return self.singular.points[~self.isolated]

    @property
    def sampled(self) -> Settled:
        """The same ends, when others are known to be missing."""
        return replace(self, completeness="sampled")

    def notes(self, where: str, how: str, *more: tuple[int, str]) -> list[str]:
        """What a reader of the chart should know: how the ends were found, and of what there are how many, if any."""
        said = ((self.at_infinity, NOT_GENERIC), (self.lost, LOST), *more)
        counted = [f"{where}: {count} {text}" for count, text in said if count]
        return [f"{where}: {how} ({self.completeness})", *counted]


class Ways(Protocol):
    """The ways from a solved member to a wanted one, and what those that were tried have found together."""

    def follow(self, way: int) -> Settled | None:
        """Track the paths one more way; None while some have no end."""
        ...

    def unsettled(self) -> Settled:
        """The ends that are known when no way is left."""
        ...


def settle(ways: Ways, patient: bool = True) -> Settled:
    """The ends of all paths, by as many ways as it takes; "sampled" when WAYS of them were not enough.

    Without patience, as soon as a way has lost a path: for a caller who can start elsewhere.
    """
    for way in range(WAYS):
        settled = ways.follow(way)
        if settled is not None:
            return settled
        if not patient and ways.unsettled().lost:
            break
    return ways.unsettled().sampled
