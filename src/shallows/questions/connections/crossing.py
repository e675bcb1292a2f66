"""The way over a barrier: networks from one minimum up to the join and down to the other, and the loss along it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.model.network import Network
from shallows.questions.charts.points.networks import realise
from shallows.questions.connections.crossing_animation import crossing_animation
from shallows.questions.connections.landscape import Landscape
from shallows.questions.connections.neuron_loss import Neurons
from shallows.support.checks import counted
from shallows.support.errors import IncompleteChart
from shallows.support.theme import INK, TEXT, mark_of, titled

if TYPE_CHECKING:
    from shallows.questions.connections.tree import MergeTree

#: Steps of a segment: pictures look smooth.
STEPS = 8


@dataclass(frozen=True, eq=False, repr=False)
class Crossing:
    """Networks along a way over one join, with their losses and how far along the way, in function space, they are.

    `top` is the place of the join among them.
    """

    networks: tuple[Network, ...]
    losses: np.ndarray
    lengths: np.ndarray
    top: int

    def figure(self) -> Any:
        """A Plotly figure: the loss along the way, the join marked."""
        import plotly.graph_objects as go

        figure = go.Figure()
        figure.add_scatter(
            x=self.lengths, y=self.losses, mode="lines", name="loss", line={"color": TEXT}, meta=INK
        )
        figure.add_scatter(
            x=[self.lengths[self.top]],
            y=[self.losses[self.top]],
            mode="markers",
            name="join",
            marker=mark_of("saddle")[1],
        )
        titled(figure, "The way over a join")
        figure.update_xaxes(title_text="distance in function space")
        figure.update_yaxes(title_text="loss E(f − y)²")
        return figure

    def animation(self) -> Any:
        """A Plotly figure with a Play button: the student walks over the barrier, its loss beside it."""
        return crossing_animation(self)

    def __repr__(self) -> str:
        ends = f"{self.losses[0]:.8g} → {self.losses[self.top]:.8g} → {self.losses[-1]:.8g}"
        return f"Crossing({counted(len(self.networks), 'network')}, loss {ends})"


def crossing(tree: MergeTree, number: int) -> Crossing:
    """The way over edge `number` of a tree from a complete chart: down both sides by the paths that proved it."""
    if tree.known == "sampled" or tree.chart.problem is None:
        raise IncompleteChart(
            "A way over a barrier is drawn for trees of complete charts: chart.connections()."
        )
    problem = tree.chart.problem.homogeneous()
    landscape = Landscape.of(tree.chart, problem)
    row = tree.edges[number].row
    here = landscape.link(row).neurons
    sides = [_filled([here, *_down(landscape, row, i)])[1:] for i in range(len(landscape.link(row).ways))][:2]
    if len(sides) < 2:
        raise IncompleteChart("This join has no two paths of its own: all valleys meet at the zero network.")
    places = [*reversed(sides[0]), here, *sides[1]]
    tensors = np.array([landscape.loss.tensor(place) for place in places])
    steps = [landscape.loss.distance(a, b) for a, b in pairwise(tensors)]
    losses = np.array([landscape.loss.value(place) for place in places]) + problem.floor
    networks = tuple(_network(tree, place) for place in places)
    return Crossing(networks, losses, np.concatenate([[0.0], np.cumsum(steps)]), len(sides[0]))


def _down(landscape: Landscape, row: int, number: int) -> list[Neurons]:
    """The places of the paths from a row to a leaf."""
    found: list[Neurons] = []
    hop = landscape.hop(row, number)
    while hop is not None:
        found += [Neurons(vectors, hop.path.signs) for vectors in hop.path.places]
        if hop.end is None or landscape.is_leaf(hop.end):
            break
        hop = landscape.hops(hop.end)[0]
    return found


def _filled(places: list[Neurons]) -> list[Neurons]:
    """Steps on the segments between neurons of the same signs, which are what was verified; others stay as they are."""
    found = places[:1]
    for before, after in pairwise(places):
        if before.vectors.shape == after.vectors.shape and np.array_equal(before.signs, after.signs):
            shares = np.linspace(0.0, 1.0, STEPS + 1)[1:-1]
            found += [after.at((1 - t) * before.vectors + t * after.vectors) for t in shares]
        found.append(after)
    return found


def _network(tree: MergeTree, place: Neurons) -> Network:
    problem = tree.chart.problem
    assert problem is not None
    net = realise(problem.homogeneous(), place.vectors, place.signs)
    return net.affine() if problem.bias else net
