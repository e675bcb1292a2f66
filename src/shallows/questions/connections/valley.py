"""In which valley of a merge tree a network lies: a path down from it, and what is joined below its loss.

Let K be the component of {ℓ ≤ L(net)} in function space that holds the network's function. A path down from it stays in
K, so the leaf in which it ends is in K, and K's other leaves are those that the tree joins to that one at or below
L(net). With one leaf the network lies in that leaf's own valley, whichever way training goes down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shallows.model.network import Network
from shallows.questions.connections.descent import descend
from shallows.questions.connections.landscape import Landscape
from shallows.questions.connections.neuron_loss import Neurons
from shallows.support.errors import IncompleteChart, NotConverged
from shallows.support.tolerances import EPSILON

if TYPE_CHECKING:
    from shallows.questions.connections.tree import Leaf, MergeTree

#: A path may rise above the network's own loss by this share of ‖t‖²: what losses are rounded by.
ROUNDED = 256 * EPSILON


@dataclass(frozen=True)
class Valley:
    """Where a network lies: `leaf` is where a path down from it ends, `leaves` all that its sublevel set holds.

    `barrier` is the loss that a path to the lowest leaf has to reach, in function space: the network's own where that
    leaf is in the same valley.
    """

    leaf: Leaf
    leaves: tuple[int, ...]
    loss: float
    barrier: float

    @property
    def height(self) -> float:
        """How far a path to the lowest leaf has to climb."""
        return self.barrier - self.loss

    def __repr__(self) -> str:
        others = [str(i) for i in self.leaves if i != self.leaf.number]
        beside = f", with leaves {', '.join(others)}" if others else ""
        climb = f", {self.height:.6g} below the way to leaf 0" if self.height > 0 else ""
        return f"Valley({self.leaf!r}{beside}{climb})"


def valley(tree: MergeTree, net: Network) -> Valley:
    """The valley of a network in a tree of function space; see `MergeTree.valley`."""
    own = tree.chart.problem
    if tree.known == "sampled" or own is None or tree.space != "function":
        raise IncompleteChart(
            "Valleys are known for trees of complete charts, in function space: chart.connections()."
        )
    level = own.loss(net)
    landscape = Landscape.of(tree.chart, own.homogeneous())
    loss = landscape.loss
    begin = Neurons.of(net.homogeneous() if own.bias else net)
    row = _below(landscape, begin, loss.value(begin) + ROUNDED * loss.energy)
    leaf = next(leaf for leaf in tree.leaves if leaf.row == row)
    joined = {leaf.number}
    for edge in tree.edges:
        if edge.loss <= level + ROUNDED * loss.energy:
            together = {i for side in edge.sides for i in side}
            joined |= together if joined & together else set()
    barrier = level if 0 in joined else max(level, tree.barrier(leaf.number, 0))
    return Valley(leaf, tuple(sorted(joined)), level, barrier)


def _below(landscape: Landscape, begin: Neurons, level: float) -> int | None:
    """The row of the leaf below a place; None for a valley without minimum."""
    path = descend(landscape.loss, begin, level) if begin.rank else None  # the zero network is a listed point
    if path is None or path.converged:
        row = landscape.listed(begin if path is None else path.end)
        if row is not None:
            return landscape.leaf(row)
    if not landscape.closed:
        return None
    raise NotConverged("No path down from this network to a listed point was found.")
