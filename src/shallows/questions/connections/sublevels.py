"""Sublevel sets themselves, where the landscape has two or three dimensions: one neuron with two or three weights.

A function ε w^⊗d of one neuron is a vector w with a sign ε (odd degrees: the vector alone), so the loss is a function
on the plane or in space, one picture for each sign that the outer weight may have. At even degree w and −w are the same
function: what stands twice is one valley. A sign with no critical point but the zero network is left out. At each join
the set {loss ≤ level} is drawn at exactly its level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.model.problem import Problem
from shallows.questions.connections.neuron_loss import NeuronLoss, Neurons
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.theme import CYCLE, KIND_COLOURS, KIND_SYMBOLS, SEQUENTIAL, plain_scene, styled

if TYPE_CHECKING:
    from shallows.questions.connections.tree import MergeTree

#: Points of the grid along an axis, in the plane and in space: pages of one to three megabytes.
IN_THE_PLANE, IN_SPACE = 121, 27
#: Joins whose losses differ by less than this share have one picture: a line's width.
ONE_LEVEL = 1e-6
#: How far a picture reaches beyond the longest critical neuron.
MARGIN = 1.5
#: Losses above this many times that of the highest critical point are drawn in one colour.
HIGHEST = 1.5


@dataclass(frozen=True)
class Place:
    """A critical point in the picture of one sign."""

    vector: Array
    sign: int
    kind: str
    text: str


def sublevel_figure(tree: MergeTree) -> Any:
    """Plotly: the loss of one neuron, the border of the sublevel set at each join, and the critical points."""
    problem = _require(tree)
    from plotly.subplots import make_subplots

    loss, signs = NeuronLoss.of(problem), _signs(problem)
    places = _places(tree, signs)
    signs = [s for s in signs if any(p.sign == s and p.vector.any() for p in places)] or signs[:1]
    reach = MARGIN * max((float(np.max(np.abs(p.vector))) for p in places), default=0.0) or 1.0
    kind = "xy" if problem.n == 2 else "scene"
    titles = [f"a {'>' if sign > 0 else '<'} 0" for sign in signs] if problem.degree % 2 == 0 else None
    figure = make_subplots(cols=len(signs), specs=[[{"type": kind}] * len(signs)], subplot_titles=titles)
    axis = np.linspace(-reach, reach, IN_THE_PLANE if problem.n == 2 else IN_SPACE)
    grid = np.stack(np.meshgrid(*[axis] * problem.n, indexing="ij"), axis=-1).reshape(-1, 1, problem.n)
    for column, sign in enumerate(signs, start=1):
        values = loss.values(grid, np.array([float(sign)])) + problem.floor
        where = {"row": 1, "col": column}
        (_plane if problem.n == 2 else _space)(figure, tree, axis, values, column == 1, where)
        _points(figure, [place for place in places if place.sign == sign], column == 1, where)
    names = ["w₁", "w₂", "w₃"] if tree.chart.problem is problem else ["b", "w₁", "w₂"]
    return _laid_out(figure, names[: problem.n], reach, len(signs))


def _require(tree: MergeTree) -> Problem:
    """One neuron with two or three weights, in function space."""
    given = tree.chart.problem
    if given is None or tree.space != "function" or tree.known == "sampled":
        raise InvalidProblem(
            "Sublevel sets are drawn for trees of complete charts in function space: chart.connections()."
        )
    problem = given.homogeneous()
    if problem.width != 1 or problem.outputs != 1 or problem.n not in (2, 3):
        raise InvalidProblem(
            "Sublevel sets are drawn for one neuron with two or three weights, its bias included; this problem has "
            f"width {problem.width} and {problem.n} weights a neuron. tree.figure() draws the tree of every problem."
        )
    return problem


def _signs(problem: Problem) -> list[int]:
    """The signs a function ε w^⊗d can have."""
    if problem.degree % 2:
        return [1]
    return [1, -1] if problem.outer is None else [int(np.sign(problem.outer[0, 0]))]


def _places(tree: MergeTree, signs: list[int]) -> list[Place]:
    """Critical points and representatives of families; the zero network for every sign, w and −w at even degree."""
    problem = tree.chart.problem
    assert problem is not None
    found = []
    for point in tree.chart.critical:
        net = problem.homogeneous().unpack(problem.lift(problem.pack(point.network)))
        neurons, words = Neurons.of(net), f"{point.kind}, loss {point.loss:.6g}"
        if not neurons.rank:
            found += [Place(np.zeros(net.n), sign, point.kind, words) for sign in signs]
            continue
        vector, sign = neurons.vectors[0], int(neurons.signs[0])
        twice = (1, -1) if problem.homogeneous().degree % 2 == 0 else (1,)
        found += [Place(side * vector, sign, point.kind, words) for side in twice]
    return found


def _plane(
    figure: Any, tree: MergeTree, axis: Array, values: Array, first: bool, where: dict[str, int]
) -> None:
    """The loss as colour, and a line around the sublevel set of each join."""
    z = values.reshape(len(axis), len(axis)).T
    top = HIGHEST * max(point.loss for point in tree.chart.critical)
    figure.add_heatmap(
        x=axis, y=axis, z=np.minimum(z, top), zmax=top, colorscale=SEQUENTIAL, showscale=first, zsmooth="best",
        colorbar={"title": {"text": "loss"}, "len": 0.7}, hovertemplate="loss %{z:.6g}<extra></extra>", **where,
    )  # fmt: skip
    for number, level in enumerate(_levels(tree)):
        figure.add_contour(
            x=axis, y=axis, z=z, contours={"start": level, "end": level, "size": 1, "coloring": "none"},
            line={"color": CYCLE[(number + 1) % len(CYCLE)], "width": 2}, name=f"loss ≤ {level:.4g}",
            legendgroup=f"join {number}", showlegend=first, showscale=False, hoverinfo="skip", **where,
        )  # fmt: skip


def _space(
    figure: Any, tree: MergeTree, axis: Array, values: Array, first: bool, where: dict[str, int]
) -> None:
    """A surface around the sublevel set of each join."""
    x, y, z = (part.ravel().astype(np.float32) for part in np.meshgrid(axis, axis, axis, indexing="ij"))
    caps = {"x_show": False, "y_show": False, "z_show": False}
    for number, level in enumerate(_levels(tree)):
        colour = CYCLE[(number + 1) % len(CYCLE)]
        figure.add_isosurface(
            x=x, y=y, z=z, value=values.astype(np.float32), isomin=level, isomax=level, surface={"count": 1},
            caps=caps, colorscale=[[0, colour], [1, colour]], showscale=False, opacity=0.35, name=f"loss ≤ {level:.4g}",
            legendgroup=f"join {number}", showlegend=first, hoverinfo="skip", **where,
        )  # fmt: skip


def _levels(tree: MergeTree) -> list[float]:
    """The losses of joins, each once, lowest first."""
    levels: list[float] = []
    for loss in sorted(edge.loss for edge in tree.edges):
        if not levels or loss - levels[-1] > ONE_LEVEL * abs(loss):
            levels.append(loss)
    return levels


def _points(figure: Any, places: list[Place], first: bool, where: dict[str, int]) -> None:
    """Markers by kind."""
    for kind in dict.fromkeys(place.kind for place in places):
        chosen = [place for place in places if place.kind == kind]
        vectors = np.array([place.vector for place in chosen])
        outline = {"width": 1, "color": "white"}
        common = {
            "mode": "markers", "name": kind, "legendgroup": kind, "showlegend": first,
            "text": [place.text for place in chosen], "hovertemplate": "%{text}<extra></extra>",
        }  # fmt: skip
        if vectors.shape[1] == 2:
            marker = {"color": KIND_COLOURS[kind], "symbol": KIND_SYMBOLS[kind], "size": 11, "line": outline}
            figure.add_scatter(x=vectors[:, 0], y=vectors[:, 1], marker=marker, **common, **where)
        else:
            symbol = "diamond" if kind == "saddle" else "circle"  # stars do not exist in space
            marker = {"color": KIND_COLOURS[kind], "symbol": symbol, "size": 5, "line": outline}
            x, y, z = vectors.T
            figure.add_scatter3d(x=x, y=y, z=z, marker=marker, **common, **where)


def _laid_out(figure: Any, names: list[str], reach: float, columns: int) -> Any:
    """Equal scales on all axes."""
    styled(figure, height=460 if len(names) == 2 else 520)
    if len(names) == 2:
        figure.update_xaxes(title=names[0], range=[-reach, reach], constrain="domain")
        for column in range(1, columns + 1):
            anchor = "x" if column == 1 else f"x{column}"
            figure.update_yaxes(
                title=names[1],
                range=[-reach, reach],
                scaleanchor=anchor,
                constrain="domain",
                row=1,
                col=column,
            )
    else:
        figure.update_scenes(**plain_scene(reach, **dict(zip("xyz", names, strict=True))))
    return figure.update_layout(legend={"y": 1.08}, margin={"t": 60})
