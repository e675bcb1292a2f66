"""What permuting neurons makes of block forms: networks that are searched once for several.

A loss does not change when neurons are permuted, nor when neurons and coordinates are permuted together. Two such
permutations take networks of one block form to others of it: the two neurons of a block of two may change places (its
values on the own and on the other coordinate do), and so may two blocks of one size. Directions are searched in which
the own value is not the smaller one, and one of two cells that are each other's image.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np

from shallows.questions.relu.block_cell import entries_of
from shallows.support.checks import Array

#: Tables of proved points that agree to this are of one point: the boxes in which proofs find it alone are as wide.
SAME = 1e-9
Faces = tuple[tuple[int, int], ...]


def searched_cells(sizes: Sequence[int]) -> list[Faces]:
    """Cells whose images are all cells: in a block of two the own entry is 1, the other −1, or they are in order."""
    faces = []
    for a, p in enumerate(sizes):
        kept = [(i, sign) for i in range(len(entries_of(sizes, a))) for sign in (1, -1)]
        faces.append([f for f in kept if p != 2 or f not in ((0, -1), (1 + a, 1))])
    cells = list(product(*faces))
    pair = _alike(sizes)
    return cells if pair is None else [f for f in cells if _swapped_faces(f, *pair) >= f]


def ordered(sizes: Sequence[int], faces: Faces) -> list[tuple[int, int]]:
    """(block, place of its other entry) for blocks of two whose face is neither their own nor their other entry."""
    return [(a, 1 + a) for a, p in enumerate(sizes) if p == 2 and faces[a][0] not in (0, 1 + a)]


def images(sizes: Sequence[int], values: Array) -> list[Array]:
    """The tables of all images of a network, itself first, each once."""
    found = [np.array(values)]
    twos = [a for a, p in enumerate(sizes) if p == 2]
    for count in range(1, len(twos) + 1):
        for chosen in combinations(twos, count):
            table = np.array(values)
            for a in chosen:
                table[a, a], table[a, -1] = values[a, -1], values[a, a]
            found.append(table)
    pair = _alike(sizes)
    if pair is not None:
        found += [_swapped(table, *pair) for table in found]
    distinct: list[Array] = []
    for table in found:
        if not any(alike(table, other) for other in distinct):
            distinct.append(table)
    return distinct


def alike(values: Array, other: Array) -> bool:
    """Whether two tables of proved points are of the same point."""
    return bool(np.abs(values - other).max() < SAME * max(1.0, float(np.abs(values).max())))


def _alike(sizes: Sequence[int]) -> tuple[int, int] | None:
    """The first two blocks of one size, larger than one."""
    return next(((a, c) for a, c in combinations(range(len(sizes)), 2) if sizes[a] == sizes[c] > 1), None)


def _swapped(table: Array, a: int, c: int) -> Array:
    """Neurons and coordinates of two blocks change places."""
    order = list(range(len(table)))
    order[a], order[c] = c, a
    return np.asarray(table[np.ix_(order, [*order, len(table)])])


def _swapped_faces(faces: Faces, a: int, c: int) -> Faces:
    """The image of a cell: entries are the own one, then one a block."""
    blocks = len(faces)
    order = list(range(blocks))
    order[a], order[c] = c, a
    return tuple(
        (i if i == 0 else 1 + order[i - 1], sign) for i, sign in (faces[order[b]] for b in range(blocks))
    )
