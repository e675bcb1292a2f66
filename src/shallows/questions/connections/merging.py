"""A merge tree from leaves and joins: water rises, and valleys become one where they first meet."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Meeting:
    """At this loss, at this row of the chart, the valleys of these leaves meet."""

    loss: float
    row: int
    leaves: tuple[Hashable, ...]


@dataclass(frozen=True)
class Merge:
    """A meeting that made one valley of several; `sides` are the leaves of each of them."""

    meeting: Meeting
    sides: tuple[tuple[Hashable, ...], ...]


class Valleys:
    """Which leaves lie in one valley, as the water rises.

    >>> valleys = Valleys("abc")
    >>> valleys.merge(Meeting(1.0, 7, ("a", "b"))).sides, valleys.merge(Meeting(2.0, 8, ("b", "a")))
    ((('a',), ('b',)), None)
    >>> valleys.together
    [('a', 'b'), ('c',)]
    """

    def __init__(self, leaves: Iterable[Hashable]) -> None:
        self._order = {leaf: i for i, leaf in enumerate(leaves)}
        self._valley: dict[Hashable, tuple[Hashable, ...]] = {leaf: (leaf,) for leaf in self._order}

    def merge(self, meeting: Meeting) -> Merge | None:
        """One valley of all that meet here; None where they are one already."""
        sides = sorted({self._valley[leaf] for leaf in meeting.leaves}, key=lambda side: self._order[side[0]])
        if len(sides) < 2:
            return None
        joined = tuple(sorted((leaf for side in sides for leaf in side), key=self._order.__getitem__))
        for leaf in joined:
            self._valley[leaf] = joined
        return Merge(meeting, tuple(sides))

    @property
    def together(self) -> list[tuple[Hashable, ...]]:
        """The valleys that there are now, each by its leaves."""
        return sorted(set(self._valley.values()), key=lambda side: self._order[side[0]])


def merged(leaves: Sequence[Hashable], meetings: Iterable[Meeting]) -> tuple[list[Merge], Valleys]:
    """The merges, by ascending loss, and the valleys that are left."""
    valleys = Valleys(leaves)
    found = [valleys.merge(meeting) for meeting in sorted(meetings, key=lambda m: m.loss)]
    return [merge for merge in found if merge is not None], valleys
