"""Directions of block-symmetric networks: one cell of a cube's faces for each block, its unknowns and its values.

Unknowns of a block are a length and the entries of its direction, one of which is ±1; in place of the length of the
last block stands Σ ‖wᵢ‖ over all neurons. Entries are measured in powers of two near the square roots of their
multiplicities, so that all coefficients are exact doubles and all entries of like importance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.support.checks import Array

#: Makes an upper bound of a root of two exact numbers that was rounded a few times.
WIDER = 1 + 2.0**-48


@dataclass(frozen=True)
class Entry:
    """One value of a row: on its own coordinate (block < 0), or on `count` other coordinates of a block."""

    block: int
    count: int
    unit: float

    @property
    def measure(self) -> float:
        """count·unit²: the square of the row's length is Σ measure·x²."""
        return self.count * self.unit * self.unit


def entries_of(sizes: Sequence[int], a: int) -> list[Entry]:
    """The values of a row of block a: its own coordinate, the rest of its block, each other block."""
    counts = [(-1, 1)] + [(c, p - 1 if c == a else p) for c, p in enumerate(sizes)]
    return [Entry(c, count, 2.0 ** -round(0.5 * np.log2(count))) for c, count in counts if count]


@dataclass(frozen=True, eq=False)
class Row:
    """A block's direction: its entries, its length, and B D (the gradient of half its square)."""

    D: list[Intervals]
    BD: list[Intervals]
    norm: Intervals
    square: Intervals


class BlockCell:
    """One cell of the directions of all blocks: a face of a cube for each."""

    def __init__(self, sizes: Sequence[int], faces: Sequence[tuple[int, int]]) -> None:
        """`faces`: for each block the place and the sign of the entry that is ±1."""
        self.sizes, self.faces = tuple(sizes), tuple(faces)
        self.entries = [entries_of(sizes, a) for a in range(len(sizes))]
        self.starts = np.cumsum([0, *(len(e) for e in self.entries)]).tolist()
        self.n = self.starts[-1]
        self.blocks = range(len(self.sizes))

    @property
    def split(self) -> tuple[int, ...]:
        """Directions; the first unknown of each block is its radius."""
        return tuple(i for i in range(self.n) if i not in self.starts)

    def region(self) -> Intervals:
        """The whole face, and all lengths that a critical point can have.

        E f² = E f y at a critical point, so ‖f‖ ≤ ‖y‖, and Σ‖w‖ = √2π E f ≤ √2π ‖y‖ = √(kπ + k(k−1)).
        """
        k = sum(self.sizes)
        largest = float(np.sqrt(k * np.pi + k * (k - 1)) * WIDER)
        lo, hi = -np.ones(self.n), np.ones(self.n)
        for a, start in enumerate(self.starts[:-1]):
            last = a == len(self.sizes) - 1
            lo[start], hi[start] = 0.0, largest if last else largest * WIDER / self.sizes[a]
        return Intervals(lo, hi)

    def place(self, a: int, i: int) -> int | None:
        """The unknown that is entry i of D_a; None for the one that is ±1."""
        face = self.faces[a][0]
        return None if i == face else self.starts[a] + 1 + i - (i > face)

    def coordinates(self, values: Array) -> Array:
        """The unknowns of a table of block values, in this cell."""
        x, total = np.zeros(self.n), 0.0
        for a, entries in enumerate(self.entries):
            row = np.array(
                [
                    values[a, e.block if e.block != a else -1] if e.block >= 0 else values[a, a]
                    for e in entries
                ]
            )
            D = row / np.array([e.unit for e in entries])
            length = float(np.sqrt(sum(e.measure * d * d for e, d in zip(entries, D, strict=True))))
            total += self.sizes[a] * length
            x[self.starts[a]] = length if a < len(self.sizes) - 1 else total
            for i in range(len(entries)):
                place = self.place(a, i)
                if place is not None:
                    x[place] = D[i] / abs(D[self.faces[a][0]])
        return x

    def table(self, x: Array) -> Array:
        """The inverse of `coordinates`."""
        b = len(self.sizes)
        values = np.zeros((b, b + 1))
        left = float(x[self.starts[b - 1]])
        for a, entries in enumerate(self.entries):
            length = float(x[self.starts[a]]) if a < b - 1 else left / self.sizes[a]
            left -= self.sizes[a] * length
            places = [self.place(a, i) for i in range(len(entries))]
            D = np.array([self.faces[a][1] if place is None else x[place] for place in places])
            norm = float(np.sqrt(sum(e.measure * d * d for e, d in zip(entries, D, strict=True))))
            for e, d in zip(entries, D, strict=True):
                column = a if e.block < 0 else (-1 if e.block == a else e.block)
                values[a, column] = length / norm * d * e.unit
        return values

    def moved(self, box: Intervals, other: BlockCell) -> Intervals | None:
        """A box of this cell in the coordinates of another; None where it does not meet that."""
        lo, hi = box.lo.copy(), box.hi.copy()
        one = Intervals(box.lo[None], box.hi[None])
        for a in self.blocks:
            face, sign = other.faces[a]
            D = self.row(one, a).D
            height = D[face] * float(sign)
            if not height.lo[0] > 0:
                return None
            for i in range(len(D)):
                place = other.place(a, i)
                if place is not None:
                    there = D[i] / height
                    lo[place], hi[place] = there.lo[0], there.hi[0]
        return Intervals(lo, hi)

    def row(self, box: Intervals, a: int) -> Row:
        """The direction of block a over boxes."""
        D = []
        for i in range(len(self.entries[a])):
            place = self.place(a, i)
            D.append(box[:, 0].alike(float(self.faces[a][1])) if place is None else box[:, place])
        square = D[0] * 0.0
        for x, entry in zip(D, self.entries[a], strict=True):
            square = square + x.square() * entry.measure
        BD = [x * entry.measure for x, entry in zip(D, self.entries[a], strict=True)]
        return Row(D, BD, square.sqrt(), square)


def product(x: list[Intervals], i: int, j: int) -> Intervals:
    """xᵢxⱼ; squares are not negative."""
    return x[i].square() if i == j else x[i] * x[j]
