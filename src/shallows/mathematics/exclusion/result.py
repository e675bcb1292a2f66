"""What a search for zeros found, what it could not decide, and what is left to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.same_points import chains
from shallows.support.checks import Array, counted
from shallows.support.files import Arrays, Format

FORMAT = Format("shallows-exclusion", 1)
_PARTS = ("region", "box", "domain", "undecided", "excused", "pending")


@dataclass(frozen=True, eq=False)
class Exclusion:
    """All zeros of a system in a region, but for the boxes that are `undecided`, `excused` or `pending`.

    Row i of `box` holds a zero, the only one in row i of `domain`, and no zero is listed twice. `excused` boxes were
    not asked about; `pending` ones were not reached (a search that was interrupted, or limited).

    >>> found = sh.exclusion.exclude(["x^2 + y^2 - 1", "x - y"], ([-2.0, -2.0], [2.0, 2.0]))
    >>> found
    Exclusion(2 zeros, nothing undecided, ... boxes)
    >>> found.zeros
    array([[-0.70710678, -0.70710678],
           [ 0.70710678,  0.70710678]])
    """

    region: Intervals
    box: Intervals
    domain: Intervals
    undecided: Intervals
    excused: Intervals
    pending: Intervals
    boxes: int
    split: tuple[int, ...] = field(default=())

    @property
    def zeros(self) -> Array:
        """The middles of the boxes, sorted by their coordinates."""
        middles = self.box.mid
        return middles[np.lexsort(np.round(middles, 9).T[::-1])]

    @property
    def complete(self) -> bool:
        """Whether every zero of the region (without what is excused) is listed: nothing undecided, nothing pending."""
        return not (len(self.undecided) or len(self.pending))

    def share(self, boxes: Intervals) -> float:
        """The measure of boxes as a share of the region's, in the unknowns that are bisected."""
        return float(volumes(boxes, self.region, self.split).sum())

    @cached_property
    def clusters(self) -> list[Intervals]:
        """The hulls of undecided boxes that touch, one a cluster."""
        if not len(self.undecided):
            return []
        lo, hi = self.undecided.lo, self.undecided.hi
        rows, columns = [], []
        for i in range(len(lo)):
            near = np.flatnonzero(np.all((lo <= hi[i]) & (hi >= lo[i]), axis=1))
            rows.append(np.full(len(near), i))
            columns.append(near)
        label = chains(len(lo), np.concatenate(rows), np.concatenate(columns))
        parts = [label == number for number in range(label.max() + 1)]
        return [Intervals(lo[part].min(axis=0), hi[part].max(axis=0)) for part in parts]

    def save(self, path: str | Path) -> Path:
        """Write all of it, so that `exclude(..., resume=Exclusion.load(path))` goes on where it stopped."""
        arrays: Arrays = {}
        for name in _PARTS:
            part: Intervals = getattr(self, name)
            arrays |= {f"{name}_lo": part.lo, f"{name}_hi": part.hi}
        return FORMAT.save(path, {"boxes": self.boxes, "split": list(self.split)}, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Exclusion:
        """What `save` wrote."""
        contents = FORMAT.load(path)
        with contents.reading():
            arrays, about = contents.arrays, contents.document
            parts = [Intervals(arrays[f"{name}_lo"], arrays[f"{name}_hi"]) for name in _PARTS]
            region, box, domain, undecided, excused, pending = parts
            split = tuple(int(i) for i in about["split"])
            return cls(region, box, domain, undecided, excused, pending, int(about["boxes"]), split)

    def __repr__(self) -> str:
        left = [
            f"{len(part):,} {'box' if len(part) == 1 else 'boxes'} {name} ({self.share(part):.2g} of the region)"
            for name, part in (
                ("undecided", self.undecided),
                ("pending", self.pending),
                ("excused", self.excused),
            )
            if len(part)
        ]
        rest = ", ".join(left) if left else "nothing undecided"
        return f"Exclusion({counted(len(self.box), 'zero')}, {rest}, {self.boxes:,} boxes)"


def volumes(boxes: Intervals, region: Intervals, split: tuple[int, ...]) -> Array:
    """The volume of each box as a share of the region's, in the unknowns that are bisected."""
    chosen = list(split)
    widths = (boxes.hi - boxes.lo)[:, chosen] / (region.hi - region.lo)[chosen]
    return np.asarray(np.prod(widths, axis=1))
