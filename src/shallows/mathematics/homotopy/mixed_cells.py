"""Mixed cells and mixed volumes of supports, exactly: whole numbers only, and a volume that must add up.

The supports come in one after the other. Before A is exchanged for the unit simplex Δ in one place, that place holds
d·Δ ∪ A with d the degree of A: its mixed volume with the others is d times the last one, since A lies in d·Δ. Then the
vertices of d·Δ are lifted to infinity, and the cells that are left without them are those of A (A. Jensen, "Tropical
homotopy continuation", arXiv 1601.02818, section 5: tropical regeneration). The cells on the way must have the known
volume together, which proves that none was missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.mathematics.homotopy._compiled.codes import DONE, FULL, SPENT, TIED, TOO_LARGE
from shallows.support import cores
from shallows.support.arguments import typed
from shallows.support.errors import InvalidProblem, NotConverged

Whole = NDArray[np.int64]
#: Liftings are random whole numbers below this: two walls at once then have a chance of one in a million a pair, and
#: are noticed.
HIGHEST = 2**20
#: So many liftings are tried.
LIFTINGS = 5
#: Cells and waiting cells for which there is room at first; both grow.
ROOM = 1_024
#: Cells that a thread takes at once: half a millisecond of work or so; and no more parts than these for each.
A_THREAD, PARTS_A_WORKER = 4, 12
#: Work without a limit.
UNLIMITED = 2**62


@dataclass(frozen=True)
class MixedCells:
    """The mixed cells of n supports in Zⁿ for one lifting.

    edges[k, i] are the two points, by number, of the i-th support in the k-th cell; lifts[i] the lifting of the i-th
    support; volumes[k] = |det of the edges|, whose sum is the mixed volume. `work`: how many tables were looked at.
    """

    supports: tuple[Whole, ...]
    lifts: tuple[Whole, ...]
    edges: Whole
    volumes: Whole
    work: int

    @property
    def mixed_volume(self) -> int:
        """The number of solutions without a zero coordinate of a generic system with these supports."""
        return int(self.volumes.sum())

    def __repr__(self) -> str:
        sizes = ", ".join(str(len(support)) for support in self.supports)
        cells = f"{len(self.edges):,} cells"
        return f"MixedCells: mixed volume {self.mixed_volume:,} in {cells}, supports of {sizes} points"


class OutOfBudget(Exception):
    """The mixed cells take more work than was allowed, or larger numbers than can be held."""


def mixed_cells(
    supports: Sequence[Any],
    rng: np.random.Generator | int = 0,
    budget: int = UNLIMITED,
    threads: int | None = 1,
) -> MixedCells:
    """The mixed cells of n supports in Zⁿ with entries ≥ 0 for a random lifting; the same with any number of threads.

    >>> from shallows.mathematics.homotopy.mixed_cells import mixed_cells
    >>> square, segment = [[0, 0], [1, 0], [0, 1], [1, 1]], [[0, 0], [1, 1]]
    >>> mixed_cells([square, segment]).mixed_volume
    2
    """
    tables = tuple(_table(support, len(supports)) for support in supports)
    generator = np.random.default_rng(rng)
    for _ in range(LIFTINGS):
        found = _Regeneration(tables, generator, budget, cores.workers(threads)).run()
        if found is not None:
            return found
    raise NotConverged(f"none of {LIFTINGS} random liftings was generic. Fix: give another rng")


def _table(support: Any, n: int) -> Whole:
    table = np.unique(np.asarray(support, dtype=np.int64).reshape(-1, n), axis=0)
    if not len(table) or (table < 0).any():
        raise InvalidProblem("a support needs points with whole coordinates ≥ 0. Fix: multiply by a monomial")
    return table


class _Regeneration:
    """The supports in the order in which they come in, simplices for those to come, and the cells so far."""

    def __init__(
        self, supports: tuple[Whole, ...], rng: np.random.Generator, budget: int, workers: int
    ) -> None:
        self.given, self.rng, self.n, self.workers = supports, rng, len(supports), workers
        self.budget, self.work = budget, 0
        degrees = [int(support.sum(axis=1).max()) for support in supports]
        self.order = sorted(range(self.n), key=lambda i: (degrees[i], len(supports[i])))
        self.degrees = [degrees[i] for i in self.order]
        simplex = np.vstack([np.zeros((1, self.n), np.int64), np.eye(self.n, dtype=np.int64)])
        self.points = [simplex] * self.n
        self.lifts = self._first_lifts()
        edge = np.stack([np.zeros(self.n, np.int64), np.arange(1, self.n + 1)], axis=1)
        self.cells, self.volumes = edge[None], np.ones(1, np.int64)

    def _first_lifts(self) -> list[Whole]:
        """Liftings of n simplices whose only cell has the edges (0, eᵢ): α makes them lowest, and no other point."""
        n, rng = self.n, self.rng
        alpha = rng.integers(1, HIGHEST, n)
        lifts = []
        for i in range(n):
            above = rng.integers(1, HIGHEST, n)
            above[i] = 0
            lifts.append(rng.integers(1, HIGHEST) + np.concatenate([[0], above - alpha]))
        return lifts

    def run(self) -> MixedCells | None:
        """All supports; None when the lifting is not generic."""
        for place in range(self.n):
            if not self._bring_in(place):
                return None
        back = np.argsort(self.order)
        lifts = tuple(self.lifts[k] - self.lifts[k].min() for k in back)
        return MixedCells(self.given, lifts, self.cells[:, back], self.volumes, self.work)

    def _bring_in(self, place: int) -> bool:
        """Exchange the simplex at `place` for the support whose turn it is."""
        support, degree, n = self.given[self.order[place]], self.degrees[place], self.n
        if len(support) == 1:  # a monomial has no edge
            self.cells, self.volumes = self.cells[:0], self.volumes[:0]
            self.points[place], self.lifts[place] = support, np.zeros(1, np.int64)
            return True
        corners = degree * self.points[place]
        high = degree * self.lifts[place]
        own = int(high.max()) + self.rng.integers(1, HIGHEST, len(support))
        self.points[place] = np.vstack([corners, support])
        self.lifts[place] = np.concatenate([high, own])
        slopes = [np.zeros(len(table), np.int64) for table in self.points]
        slopes[place][: n + 1] = self.rng.integers(HIGHEST // 2, HIGHEST, n + 1)
        expected = degree * int(self.volumes.sum())
        if len(self.cells) and not self._explore(slopes, expected):
            return False
        self.cells[:, place] -= n + 1
        self.points[place], self.lifts[place] = support, own
        return True

    def _explore(self, slopes: list[Whole], expected: int) -> bool:
        """The cells when the points with a slope have gone to infinity; False when the lifting is not generic."""
        from shallows.mathematics.homotopy._compiled.tropical import explore

        n = self.n
        firsts = np.concatenate([[0], np.cumsum([len(table) for table in self.points])])
        coordinates = np.ascontiguousarray(np.vstack(self.points))
        lifts, moves = np.concatenate(self.lifts), np.concatenate(slopes)
        starts = np.ascontiguousarray((self.cells + firsts[:-1, None]).reshape(len(self.cells), 2 * n))

        def followed(own: Whole) -> tuple[int, Whole, Whole, int, int]:
            """Status, cells with their volumes, the volume of all and the work, from some of the cells."""
            memory = np.zeros(len(coordinates) * (n + 2) + 3 * n, np.int64)
            room = max(ROOM, 4 * len(own))
            while True:
                cells, stack = np.empty((room, 2 * n), np.int64), np.empty((room, 2 * n), np.int64)
                volumes = np.empty(room, np.int64)
                status, count, volume, work = explore(
                    coordinates, firsts, lifts, moves, own, cells, volumes, stack, memory, self.budget - self.work
                )  # fmt: skip
                if status != FULL:
                    return status, cells[:count], volumes[:count], volume, work
                room *= 4

        explore.load()
        many = 1 if self.workers == 1 else max(1, len(starts) // A_THREAD)
        parts = np.array_split(starts, min(many, PARTS_A_WORKER * self.workers))
        return self._taken(cores.each(followed, parts, self.workers), firsts, expected)

    def _taken(self, found: list[tuple[int, Whole, Whole, int, int]], firsts: Whole, expected: int) -> bool:
        """Put the parts of an exploration together; False when the lifting is not generic."""
        statuses = [part[0] for part in found]
        self.work += sum(part[4] for part in found)
        spent = SPENT in statuses or self.work > self.budget
        if spent or TOO_LARGE in statuses:
            what = "more work than allowed" if spent else "larger whole numbers than 64 bits hold"
            raise OutOfBudget(f"the mixed cells take {what}")
        if TIED in statuses:
            return False
        volume = sum(part[3] for part in found)
        if set(statuses) != {DONE} or volume != expected:
            raise AssertionError(
                f"mixed cells of volume {volume} where {expected} is known: some were missed"
            )
        cells = np.concatenate([part[1] for part in found])
        self.cells = cells.reshape(len(cells), self.n, 2) - firsts[:-1, None]
        self.volumes = np.concatenate([part[2] for part in found])
        return True


@typed
def mixed_volume(supports: Sequence[ArrayLike], rng: np.random.Generator | int = 0) -> int:
    """The mixed volume of n supports in Zⁿ, exactly: n!·vol for n equal ones.

    >>> sh.homotopy.mixed_volume([[[0, 0], [2, 0], [0, 2]], [[0, 0], [3, 0], [0, 3]]])     # Bézout: 2·3
    6
    >>> sh.homotopy.mixed_volume([[[0, 0], [1, 1]], [[0, 0], [1, 1], [1, 0]]])
    1
    """
    return mixed_cells(supports, rng).mixed_volume
