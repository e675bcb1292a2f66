"""The picture of a merge tree: the disconnectivity graph. Height is the loss, colour the rank, width the share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shallows.questions.learn.deep.network import DeepNetwork
from shallows.support.checks import counted
from shallows.support.theme import CYCLE, GREY, INK, KIND_COLOURS, KIND_SYMBOLS, mark_of, styled, titled

if TYPE_CHECKING:
    from shallows.questions.connections.tree import Leaf, MergeTree

#: How many entries of a network the hover text shows.
SHOWN_ENTRIES = 24
#: A trunk's width: of leaves without known shares, and how much a share of 1 adds.
THIN, WIDER = 2.0, 18.0
#: Colours of trunks by rank: not the one that saddles have, which joins are.
RANKS = tuple(colour for colour in CYCLE if colour != KIND_COLOURS["saddle"])


def tree_figure(tree: MergeTree) -> Any:
    """Leaves as trunks from their loss up to the join above them; a join is a bar over all that meet there.

    With shares of training runs (`leaf.share`) trunks are the wider the more runs end there.
    """
    import plotly.graph_objects as go

    figure = titled(draw_tree(go.Figure(), tree), "How minima connect")
    figure.update_xaxes(visible=False)
    figure.update_yaxes(title_text="loss E(f − y)²")
    return figure


def draw_tree(figure: Any, tree: MergeTree) -> Any:
    """Draw it on a figure; `customdata` are the numbers of points, from 1, as tables have them."""
    place = leaf_places(tree)
    for xs, ys in _lines(tree, place):
        figure.add_scatter(
            x=xs, y=ys, mode="lines", line={"color": GREY, "width": 1.5}, hoverinfo="skip", showlegend=False, meta=INK
        )  # fmt: skip
    _trunks(figure, tree, place)
    figure.add_scatter(
        x=[_middle(edge.sides, place) for edge in tree.edges],
        y=[edge.loss for edge in tree.edges],
        mode="markers",
        name="join",
        marker=mark_of("saddle")[1] | {"color": [KIND_COLOURS[edge.point.kind] for edge in tree.edges]},
        text=[f"{edge.point.kind} of rank {edge.point.rank}<br>{network_text(edge)}" for edge in tree.edges],
        customdata=[[edge.row + 1] for edge in tree.edges],
        hovertemplate="loss %{y:.6g}<br>%{text}<extra>join</extra>",
    )
    styled(figure)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(title_text="loss E(f − y)²")
    return figure


def leaf_places(tree: MergeTree) -> dict[int, float]:
    """Where leaves stand, left to right, so that no lines cross: in the order in which the joins gather them."""
    groups = [[leaf] for leaf in range(len(tree.leaves))]
    for edge in tree.edges:
        met = [group for group in groups if any(group[0] in side for side in edge.sides)]
        groups = [group for group in groups if group not in met] + [[leaf for group in met for leaf in group]]
    return {leaf: float(x) for x, leaf in enumerate(leaf for group in groups for leaf in group)}


def _middle(sides: tuple[tuple[int, ...], ...], place: dict[int, float]) -> float:
    """A join stands over the middle of the trunks that it joins."""
    tops = [sum(place[leaf] for leaf in side) / len(side) for side in sides]
    return (min(tops) + max(tops)) / 2


def _lines(tree: MergeTree, place: dict[int, float]) -> list[tuple[list[float], list[float]]]:
    """Each join: a bar over its sides, and a line down from it to the join, or leaf, of each side."""
    height: dict[tuple[int, ...], float] = {(leaf.number,): leaf.loss for leaf in tree.leaves}
    over: dict[tuple[int, ...], float] = {(leaf.number,): place[leaf.number] for leaf in tree.leaves}
    lines = []
    for edge in tree.edges:
        keys = [tuple(sorted(side)) for side in edge.sides]
        xs = [over[key] for key in keys]
        lines.append(([min(xs), max(xs)], [edge.loss, edge.loss]))
        lines += [([over[key]] * 2, [height[key], edge.loss]) for key in keys if len(key) > 1]
        whole = tuple(sorted(leaf for key in keys for leaf in key))
        height[whole], over[whole] = edge.loss, (min(xs) + max(xs)) / 2
    return lines


def _trunks(figure: Any, tree: MergeTree, place: dict[int, float]) -> None:
    """A trunk a leaf, up to the first join above it, coloured by its rank."""
    top = {leaf: edge.loss for edge in reversed(tree.edges) for side in edge.sides for leaf in side}
    seen: set[str] = set()
    for leaf in tree.leaves:
        x, rank = place[leaf.number], "no minimum" if leaf.point is None else f"rank {leaf.point.rank}"
        colour = GREY if leaf.point is None else RANKS[leaf.point.rank % len(RANKS)]
        symbol = "circle-open" if leaf.point is None else KIND_SYMBOLS[leaf.point.kind]
        figure.add_scatter(
            x=[x, x],
            y=[leaf.loss, top.get(leaf.number, leaf.loss)],
            mode="lines+markers",
            name=rank,
            legendgroup=rank,
            showlegend=rank not in seen,
            line={"color": colour, "width": THIN + WIDER * (leaf.share or 0.0)},
            marker={"size": [10, 0], "symbol": symbol, "color": colour},
            text=[_hover(leaf)] * 2,
            customdata=[[None if leaf.row is None else leaf.row + 1]] * 2,
            hovertemplate="%{text}<extra></extra>",
        )
        seen.add(rank)


def _hover(leaf: Leaf) -> str:
    if leaf.point is None:
        return f"leaf {leaf.number}: the loss has no minimum here<br>infimum at most {leaf.loss:.6g}"
    share = "" if leaf.share is None else f"<br>{leaf.share:.1%} of training runs"
    return f"leaf {leaf.number}: {leaf.point.kind}<br>loss {leaf.loss:.6g}{share}<br>{network_text(leaf)}"


def network_text(node: Any) -> str:
    """The neurons of a leaf or join, for reading: a line each."""
    net = node.point.network
    if isinstance(net, DeepNetwork):
        return f"{net!r}"
    if net.W.size > SHOWN_ENTRIES:
        return f"{counted(net.width, 'neuron')} in {counted(net.n, 'input')}"
    rows = ["(" + ", ".join(f"{x:.3g}" for x in row) + ")" for row in net.W.tolist()]
    return "<br>".join(f"a={a}, w={row}" for a, row in zip(_weights(net), rows, strict=True))


def _weights(net: Any) -> list[str]:
    if net.a.ndim > 1:
        return ["(" + ", ".join(f"{x:.3g}" for x in column) + ")" for column in net.a.T.tolist()]
    return [f"{x:.3g}" for x in net.a.tolist()]
