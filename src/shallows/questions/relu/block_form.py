"""Block forms: networks fixed by permuting neurons and coordinates together within blocks.

The minima published with paper 003 (the experiment of its section 4.2) are of this form.

With blocks of sizes p₁, …, p_b that add up to k, neuron i of block a has one number on its own coordinate, one on the
other coordinates of its block, and one on all coordinates of each other block: b(b+1) numbers whatever k is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.same_points import classes
from shallows.model.activations import ReLU
from shallows.model.network import Network
from shallows.support.checks import Array, finite_array, positive_integer
from shallows.support.errors import InvalidProblem

#: Neurons of the largest dense network: 128 MB of weights.
LARGEST_LIFT = 4_000
#: Entries of two neurons are alike below this share of the largest: descent to a gradient of 1e-8 leaves about 1e-7 at
#: a curvature of 0.1; in the published minima (k ≤ 20, measured) neurons of different blocks differ by 0.66 and more.
SAME = 1e-6
#: Entries of a block are alike in chains, each with the next: the first and the last may differ by so many tolerances.
CHAINED = 10


@dataclass(frozen=True, eq=False)
class BlockForm:
    """A network of block form, as the sizes of its blocks and a b×(b+1) table of values.

    It is the form of the minima published with paper 003. Permuting neurons and coordinates together within blocks
    leaves it as it is. A row of `values` is for the neurons of a block: `values[a, a]` is a neuron's entry on its own
    coordinate, `values[a, -1]` on the others of its block (0 when there are none), `values[a, c]` on the coordinates
    of block c.

    >>> from shallows.relu import BlockForm
    >>> form = BlockForm.of([1, 3], [[-0.5, 0.3, 0.0], [0.2, 1.0, -0.1]])   # b(b+1) = 6 numbers, whatever k is
    >>> form.network().W.tolist()
    [[-0.5, 0.3, 0.3, 0.3], [0.2, 1.0, -0.1, -0.1], [0.2, -0.1, 1.0, -0.1], [0.2, -0.1, -0.1, 1.0]]
    """

    sizes: tuple[int, ...]
    values: Array

    @classmethod
    def of(cls, sizes: Sequence[int], values: ArrayLike) -> BlockForm:
        """Checked sizes and values."""
        blocks = checked_sizes(sum(map(int, sizes)), sizes)
        table = finite_array("values", values, 2).copy()
        if table.shape != (len(blocks), len(blocks) + 1):
            raise InvalidProblem(
                f"values has shape {table.shape}; {len(blocks)} blocks need {(len(blocks), len(blocks) + 1)}."
            )
        for a, size in enumerate(blocks):
            if size == 1:
                table[a, -1] = 0.0
        return cls(blocks, table)

    @classmethod
    def from_published(cls, sizes: Sequence[int], vals: ArrayLike) -> BlockForm:
        """The authors' `p` and `vals`: columns are neurons there, and one block has the pair [diagonal, off]."""
        table = np.array(vals, dtype=np.float64)
        if table.ndim == 1:
            table = table[None]
        square = table[:, :-1].T
        return cls.of(sizes, np.column_stack([square, table[:, -1]]))

    @property
    def k(self) -> int:
        """The number of neurons and of coordinates."""
        return sum(self.sizes)

    @property
    def norms(self) -> Array:
        """The length of a neuron of each block."""
        counts = np.array(self.sizes, dtype=np.float64)
        weights = np.tile(counts, (len(self.sizes), 1))
        np.fill_diagonal(weights, 1.0)
        squares = np.sum(weights * self.values[:, :-1] ** 2, axis=1) + (counts - 1) * self.values[:, -1] ** 2
        return np.asarray(np.sqrt(squares))

    @property
    def norm_sum(self) -> float:
        """Σ ‖wᵢ‖."""
        return float(np.array(self.sizes) @ self.norms)

    def network(self) -> Network:
        """The k×k network; refused for k beyond 4,000, where the matrix would fill the memory."""
        if self.k > LARGEST_LIFT:
            raise InvalidProblem(
                f"The network has {self.k}² weights; networks are written out up to k = {LARGEST_LIFT}. Use `values`."
            )
        home = np.repeat(np.arange(len(self.sizes)), self.sizes)
        W = self.values[home[:, None], home[None, :]]
        same = home[:, None] == home[None, :]
        W[same] = self.values[home, -1][np.nonzero(same)[0]]
        np.fill_diagonal(W, self.values[home, home])
        return Network(W, activation=ReLU())

    def distance(self, other: BlockForm) -> float:
        """The Frobenius distance of the two networks; infinite when the sizes differ."""
        if self.sizes != other.sizes:
            return float("inf")
        counts = np.array(self.sizes, dtype=np.float64)
        weights = np.outer(counts, counts)
        np.fill_diagonal(weights, counts)
        weights = np.column_stack([weights, counts * (counts - 1)])
        return float(np.sqrt(np.sum(weights * (self.values - other.values) ** 2)))

    def __repr__(self) -> str:
        rows = "; ".join(" ".join(f"{x:.6g}" for x in row) for row in self.values)
        return f"BlockForm({list(self.sizes)}, [{rows}])"


def checked_sizes(k: int, blocks: Sequence[int]) -> tuple[int, ...]:
    """Positive block sizes that add up to k."""
    if not len(blocks):
        raise InvalidProblem(
            f"blocks is empty; expected sizes that add up to k = {k}, for example [1, {k - 1}]."
        )
    sizes = tuple(positive_integer("a block size", size) for size in blocks)
    if sum(sizes) != k:
        raise InvalidProblem(f"The blocks {list(sizes)} add up to {sum(sizes)}; they must add up to k = {k}.")
    return sizes


def recognise(W: ArrayLike, tolerance: float = SAME) -> BlockForm | None:
    """The block form of a square matrix of neurons (rows), up to permutations of both; None when it has none.

    Rows with the same sorted entries are a block, and so are columns. Blocks come in the order of their diagonal.

    >>> from shallows.relu import BlockForm, recognise
    >>> W = BlockForm.of([1, 3], [[-0.5, 0.3, 0.0], [0.2, 1.0, -0.1]]).network().W
    >>> recognise(W[[2, 0, 3, 1]][:, [1, 3, 0, 2]])   # neurons and coordinates shuffled
    BlockForm([1, 3], [-0.5 0.3 0; 0.2 1 -0.1])
    >>> recognise([[1.0, 1.0], [2.0, 2.0]]) is None   # two kinds of neurons, one kind of coordinates
    True
    """
    matrix = finite_array("W", W, 2)
    if matrix.shape[0] != matrix.shape[1]:
        return None
    scale = float(np.abs(matrix).max()) or 1.0
    rows = classes(np.sort(matrix, axis=1), tolerance * scale)
    columns = classes(np.sort(matrix.T, axis=1), tolerance * scale)
    partner = _partners(matrix, rows, columns, tolerance * scale)
    if partner is None:
        return None
    order = np.argsort([matrix[rows[a][0], partner[a][0]] for a in range(len(rows))], kind="stable")
    rows, partner = [rows[a] for a in order], [partner[a] for a in order]
    table = np.zeros((len(rows), len(rows) + 1))
    for a, mine in enumerate(rows):
        for c, theirs in enumerate(partner):
            table[a, c] = matrix[mine[0], theirs[0]]
        if len(mine) > 1:
            table[a, -1] = matrix[mine[0], partner[a][1]]
    form = BlockForm(tuple(len(row) for row in rows), table)
    lifted = form.network().W
    ordered = matrix[np.ix_(np.concatenate(rows), np.concatenate(partner))]
    return form if np.abs(lifted - ordered).max() <= CHAINED * tolerance * scale else None


def _partners(
    matrix: Array, rows: list[np.ndarray], columns: list[np.ndarray], tolerance: float
) -> list[np.ndarray] | None:
    """For each block of rows the columns that are its own, in matching order."""
    if sorted(map(len, rows)) != sorted(map(len, columns)):
        return None
    partner: list[np.ndarray | None] = [None] * len(rows)
    free = list(range(len(columns)))
    for a in sorted(range(len(rows)), key=lambda a: -len(rows[a])):
        best = None
        for c in free:
            if len(columns[c]) != len(rows[a]):
                continue
            found = _matching(matrix[np.ix_(rows[a], columns[c])], tolerance)
            if found is not None and (best is None or found[0] > best[0]):
                best = (found[0], c, columns[c][found[1]])
        if best is None:
            return None
        partner[a] = best[2]
        free.remove(best[1])
    return [own for own in partner if own is not None]


def _matching(block: Array, tolerance: float) -> tuple[float, np.ndarray] | None:
    """A permutation of the columns that makes the block d·I + e·(J − I), with |d| (or |d − e|) as its weight."""
    size = len(block)
    if size == 1:
        return float(abs(block[0, 0])), np.array([0])
    away = np.abs(block - np.median(block)) if size > 2 else np.abs(block)
    order = np.argmax(away, axis=1)
    if len(set(order.tolist())) != size:
        return None
    arranged = block[:, order]
    inside = arranged[~np.eye(size, dtype=bool)]
    diagonal = np.diag(arranged)
    if np.ptp(inside) > tolerance or np.ptp(diagonal) > tolerance:
        return None
    gap = float(abs(diagonal[0] - inside[0]))
    return (gap, order) if gap > tolerance else None
