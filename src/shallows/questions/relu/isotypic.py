"""The Hessian at a block-symmetric point, split by the symmetry into a handful of small matrices.

G = S_p₁ × … × S_p_b permutes neurons and coordinates together, and the Hessian commutes with it. R^k ⊗ R^k contains,
with s_a the standard representation of S_p_a,

| representation | copies | dimension |
| --- | --- | --- |
| trivial | number of unknowns | 1 |
| s_a | 2b+1 (2b if p_a = 2) | p_a − 1 |
| Λ²s_a, the partition (p−2, 1, 1) | 1 | (p_a−1)(p_a−2)/2 |
| the partition (p−2, 2) | 1 | p_a(p_a−3)/2 |
| s_a ⊗ s_c | 2 | (p_a−1)(p_c−1) |

so its spectrum is that of one small matrix a row, each eigenvalue as often as the dimension says (Schur's lemma;
Arjevani and Field 2020 do this for one and two blocks). Representatives of the copies are block tables of a finer
partition, whose second variations `reduced` gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from shallows.mathematics.balls.inertia import inertia
from shallows.questions.relu.reduced import Table, coordinates, unit_directions, variation
from shallows.support.checks import Array

#: How far below the smallest eigenvalue a bound is tried: far above the errors of float64 eigenvalues of small matrices
#: (about 1e-14) and of the boxes, far below what matters of the bound.
ROOM = 1e-9
Entry = tuple[int, int, Any]


@dataclass(frozen=True, eq=False)
class Isotype:
    """One representation: its small matrix (in balls), and how often each eigenvalue occurs in the Hessian."""

    name: str
    dimension: int
    matrix: Any

    @property
    def eigenvalues(self) -> Array:
        """Eigenvalues of the midpoint, ascending."""
        size = self.matrix.nrows()
        entries = [float(entry.mid()) for entry in self.matrix.entries()]
        return np.asarray(np.linalg.eigvalsh(np.array(entries).reshape(size, size)))

    def exceeds(self, bound: float, bits: int) -> bool:
        """Whether all eigenvalues are proved to be larger than `bound`."""
        size = self.matrix.nrows()
        rows = self.matrix.tolist()
        for i in range(size):
            rows[i][i] = rows[i][i] - arb(bound)
        return bool(inertia(rows, bits).positive == size)

    def __repr__(self) -> str:
        values = ", ".join(f"{value:.6g}" for value in self.eigenvalues)
        return f"{self.name}: {values}, each {self.dimension} times"


def isotypes(sizes: Sequence[int], point: Table) -> list[Isotype]:
    """All representations that occur, at a block-symmetric point given in balls."""
    found = [Isotype("trivial", 1, variation(sizes, point, unit_directions(sizes)).hessian)]
    for a, p in enumerate(sizes):
        if p > 1:
            found.append(_standard(sizes, point, a))
        if p > 2:
            found.append(_exterior(sizes, point, a))
        if p > 3:
            found.append(_two_row(sizes, point, a))
        found.extend(_product(sizes, point, c, a) for c in range(a) if p > 1 and sizes[c] > 1)
    return found


def lower_bound(components: Sequence[Isotype], bits: int) -> float:
    """A proved lower bound on the Hessian's eigenvalues, within `ROOM` of the smallest; −∞ when none is proved."""
    smallest = min(float(component.eigenvalues[0]) for component in components)
    bound = smallest - ROOM * max(1.0, abs(smallest))
    return bound if all(component.exceeds(bound, bits) for component in components) else float("-inf")


class _Finer:
    """A partition in which block a is cut into pieces; pieces keep their order, empty ones are dropped."""

    def __init__(self, sizes: Sequence[int], cuts: dict[int, Sequence[int]]) -> None:
        self.sizes: list[int] = []
        self.parent: list[int] = []
        self.place: dict[tuple[int, int], int] = {}
        for a, size in enumerate(sizes):
            for number, piece in enumerate(cuts.get(a, (size,))):
                if piece:
                    self.place[a, number] = len(self.sizes)
                    self.sizes.append(piece)
                    self.parent.append(a)

    def pieces(self, a: int) -> list[int]:
        """The finer blocks of block a."""
        return [i for i, parent in enumerate(self.parent) if parent == a]

    def lift(self, point: Table) -> Table:
        """The same network as a table of the finer partition."""
        table = []
        for i, a in enumerate(self.parent):
            row = [
                point[a][a] if i == j else (point[a][-1] if a == c else point[a][c])
                for j, c in enumerate(self.parent)
            ]
            table.append([*row, point[a][-1]])
        return table

    def unit(self, entries: Sequence[Entry]) -> Table:
        """The unit direction with these entries (row, column or −1 for the off-diagonal, value)."""
        blocks = len(self.sizes)
        table = [[arb(0)] * (blocks + 1) for _ in range(blocks)]
        for i, j, value in entries:
            table[i][j] = arb(value)
        counts = {(a, c): count for a, c, count in coordinates(self.sizes)}
        square = sum((count * (table[a][c] * table[a][c]) for (a, c), count in counts.items()), arb(0))
        return [[entry / square.sqrt() for entry in row] for row in table]

    def component(
        self, name: str, dimension: int, point: Table, copies: Sequence[Sequence[Entry]]
    ) -> Isotype:
        """The small matrix of these copies."""
        directions = [self.unit(copy) for copy in copies]
        return Isotype(name, dimension, variation(self.sizes, self.lift(point), directions).hessian)


def _standard(sizes: Sequence[int], point: Table, a: int) -> Isotype:
    """δ = (1, −1/(p−1), …) put on the diagonal, symmetrically and skew off it, and across to every other block."""
    p = sizes[a]
    finer = _Finer(sizes, {a: (1, p - 1)})
    first, rest = finer.place[a, 0], finer.place[a, 1]
    minus = arb(-1) / (p - 1)
    copies: list[list[Entry]] = [
        [(first, first, arb(1)), (rest, rest, minus)],
        [(first, rest, 1 - minus), (rest, first, minus - 1)],
    ]
    if p > 2:
        copies.append([(first, rest, 1 + minus), (rest, first, 1 + minus), (rest, -1, 2 * minus)])
    for c in range(len(sizes)):
        if c != a:
            (other,) = finer.pieces(c)
            copies.append([(first, other, arb(1)), (rest, other, minus)])
            copies.append([(other, first, arb(1)), (other, rest, minus)])
    return finer.component(f"standard of block {a}", p - 1, point, copies)


def _exterior(sizes: Sequence[int], point: Table, a: int) -> Isotype:
    """A skew 3-cycle of neurons and coordinates: row and column sums vanish."""
    p = sizes[a]
    finer = _Finer(sizes, {a: (1, 1, 1, p - 3)})
    x, y, z = (finer.place[a, i] for i in range(3))
    cycle: list[Entry] = []
    for i, j in ((x, y), (y, z), (z, x)):
        cycle += [(i, j, arb(1)), (j, i, arb(-1))]
    return finer.component(f"exterior square of block {a}", (p - 1) * (p - 2) // 2, point, [cycle])


def _two_row(sizes: Sequence[int], point: Table, a: int) -> Isotype:
    """(e₁−e₂)(e₃−e₄)ᵀ plus its transpose."""
    p = sizes[a]
    finer = _Finer(sizes, {a: (1, 1, 1, 1, p - 4)})
    w, x, y, z = (finer.place[a, i] for i in range(4))
    entries: list[Entry] = []
    for i, j, sign in ((w, y, 1), (w, z, -1), (x, y, -1), (x, z, 1)):
        entries += [(i, j, arb(sign)), (j, i, arb(sign))]
    return finer.component(f"two-row of block {a}", p * (p - 3) // 2, point, [entries])


def _product(sizes: Sequence[int], point: Table, a: int, c: int) -> Isotype:
    """δ_a ⊗ δ_c on the neurons of one block and the coordinates of the other, and the transpose."""
    p, q = sizes[a], sizes[c]
    finer = _Finer(sizes, {a: (1, p - 1), c: (1, q - 1)})
    rows = ((finer.place[a, 0], arb(1)), (finer.place[a, 1], arb(-1) / (p - 1)))
    columns = ((finer.place[c, 0], arb(1)), (finer.place[c, 1], arb(-1) / (q - 1)))
    across = [(i, j, x * y) for i, x in rows for j, y in columns]
    back = [(j, i, value) for i, j, value in across]
    return finer.component(f"product of blocks {a} and {c}", (p - 1) * (q - 1), point, [across, back])
