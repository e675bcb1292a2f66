"""The search of block-symmetric directions: cell after cell, kept in files, with what Newton finds where it is open.

Networks that permutations of neurons take to each other are searched once (`block_orbits`). With three angles a search
takes seconds, with four minutes. Where it is stopped, boxes that are open say where a point may be missing, and
Newton's method from their middles finds points there, each proved like the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.result import Exclusion
from shallows.mathematics.exclusion.search import exclude
from shallows.mathematics.newton import at_once
from shallows.mathematics.same_points import classes
from shallows.questions.relu.block_orbits import searched_cells
from shallows.questions.relu.block_system import BlockSystem
from shallows.support.checks import Array
from shallows.support.errors import NotConverged
from shallows.support.progress import Progress

#: Pieces of one angle to begin with: half as many rounds.
PIECES = 64
#: Boxes of a cell between two writings to the folder `keep`: some seconds.
PORTION = 100_000
#: Angles from which on a search may be stopped before it ends: the widest boxes come first.
LONG = 4
#: Open boxes of a cell from whose middles Newton's method starts, its steps, and the longest of them in a direction.
STARTS, STEPS, LONGEST = 512, 24, 0.2
#: Where equations, of size 1 and more, are zero; directions of neurons shorter than this are not followed.
ZERO, SHORT = 1e-10, 1e-3
#: How far outside its cell a zero is still taken: it is one of the next cell, or on the border.
BESIDE = 1e-6


@dataclass(frozen=True, eq=False)
class BlockSearch:
    """All cells with what was found in each."""

    systems: list[BlockSystem]
    searches: list[Exclusion]

    @property
    def boxes(self) -> int:
        """Boxes that were examined."""
        return sum(search.boxes for search in self.searches)

    @property
    def complete(self) -> bool:
        """Whether nothing is open."""
        return all(search.complete for search in self.searches)

    @property
    def open(self) -> tuple[int, float]:
        """Open boxes, and their share of the directions that were to be searched."""
        shares = [s.share(s.undecided) + s.share(s.pending) for s in self.searches]
        count = sum(len(s.undecided) + len(s.pending) for s in self.searches)
        return count, float(np.mean(shares))

    def distinct(self) -> list[tuple[BlockSystem, Exclusion, int]]:
        """Zeros of all cells, each once."""
        kept: list[tuple[BlockSystem, Exclusion, int]] = []
        for system, search in zip(self.systems, self.searches, strict=True):
            for i in range(len(search.box)):
                if not any(_same(system, search.box[i], *other) for other in kept):
                    kept.append((system, search, i))
        return kept

    def in_open_boxes(self) -> list[Array]:
        """Tables of values that Newton's method finds from open boxes; nothing is proved of them."""
        return [
            table
            for system, search in zip(self.systems, self.searches, strict=True)
            if not search.complete
            for table in newton_from(system, search)
        ]


def search_blocks(
    sizes: tuple[int, ...], most: int, workers: int, progress: bool, keep: str | Path | None
) -> BlockSearch:
    """Every cell, with its share of the boxes that are left of `most`."""
    systems = [BlockSystem(sizes, faces, once=True) for faces in searched_cells(sizes)]
    searches: list[Exclusion] = []
    left = most
    with Progress(len(systems), "excluding directions", progress, "cells") as bar:
        for i, system in enumerate(systems):
            file = None if keep is None else Path(keep) / f"blocks-{'-'.join(map(str, sizes))}-cell-{i}"
            searches.append(_searched(system, file, left // (len(systems) - i), workers, progress))
            left = max(left - searches[-1].boxes, 0)
            bar.advance()
    return BlockSearch(systems, searches)


def _region(system: BlockSystem) -> Intervals:
    """The cell; one angle in pieces from the start, since rounds cost more than boxes there."""
    region = system.region()
    if len(system.split) > 1:
        return region
    lo, hi = (np.repeat(end[None], PIECES, axis=0) for end in (region.lo, region.hi))
    ends = np.linspace(lo[0, system.split[0]], hi[0, system.split[0]], PIECES + 1)
    lo[:, system.split[0]], hi[:, system.split[0]] = ends[:-1], ends[1:]
    return Intervals(lo, hi)


def _searched(system: BlockSystem, file: Path | None, most: int, workers: int, progress: bool) -> Exclusion:
    """One cell; in portions that are written to the file, where there is one. An interrupt ends it, kept."""
    region, widest = _region(system), len(system.split) >= LONG
    if file is None:
        return exclude(system, region, most=most, workers=workers, progress=progress, widest=widest)
    file.parent.mkdir(parents=True, exist_ok=True)
    done = Exclusion.load(file.with_suffix(".json")) if file.with_suffix(".json").exists() else None
    while done is None or (len(done.pending) and done.boxes < most):
        limit = min(PORTION + (done.boxes if done is not None else 0), most)
        done = exclude(
            system, region, most=limit, workers=workers, progress=progress, resume=done, widest=widest
        )
        done.save(file)
        if len(done.pending) and done.boxes < limit:
            raise KeyboardInterrupt(f"the search is kept in {file.parent}; the same call goes on with it")
    return done


def _same(system: BlockSystem, box: Intervals, other: BlockSystem, search: Exclusion, i: int) -> bool:
    """Whether a zero of one cell is zero i of another."""
    there = system.moved(box, other)
    if there is None or np.any((there.lo > search.box.hi[i]) | (there.hi < search.box.lo[i])):
        return False
    if np.all(there.within(search.domain[i])):
        return True
    raise NotConverged(f"Two cells have zeros that may be the same: {there!r} and {search.box[i]!r}.")


def newton_from(system: BlockSystem, search: Exclusion) -> list[Array]:
    """Zeros that Newton's method finds from the middles of open boxes, outside the tube, as tables of values."""
    lo = np.concatenate([search.undecided.lo, search.pending.lo])
    hi = np.concatenate([search.undecided.hi, search.pending.hi])
    chosen = np.unique(np.linspace(0, len(lo) - 1, STARTS).astype(int))
    x = 0.5 * (lo + hi)[chosen]
    region, split = system.region(), list(system.split)

    def middles(x: Array) -> tuple[Array, Array]:
        value, slope = system(Intervals.exact(x), True)
        assert slope is not None
        return value.mid, slope.mid

    def move(x: Array, step: Array) -> Array:
        longest = np.abs(step[:, split]).max(axis=1, keepdims=True)
        there = np.clip(x + step * np.minimum(1.0, LONGEST / longest), region.lo, region.hi)
        return np.asarray(there[np.isfinite(there).all(axis=1)])

    with np.errstate(all="ignore"):
        thin = Intervals(np.tile(region.lo, (len(x), 1)), np.tile(region.hi, (len(x), 1)))
        thin.lo[:, split] = thin.hi[:, split] = x[:, split]
        fitted = system.contract(thin)  # lengths that nearly solve their linear equations, in this direction
        x = np.where(np.isin(np.arange(system.n), split), x, np.clip(fitted.mid, region.lo, region.hi))
        x, _ = at_once(middles, x, STEPS, move)
        box = Intervals.exact(x)
        small = np.abs(system(box, False)[0].mid).max(axis=1) < ZERO
        short = np.min([system.length(box, a).mid for a in system.blocks], axis=0) < SHORT
        kept = x[small & ~short & ~system.excused(box)]
    return [system.table(kept[rows[0]]) for rows in classes(kept, BESIDE)]
