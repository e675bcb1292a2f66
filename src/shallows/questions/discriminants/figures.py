"""Figures: the three panels of Figure 2 of paper 000, slices of rank-one problems, and clouds of focal points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.questions.discriminants.curves import EllipseCurve, RankOneCurve
from shallows.questions.discriminants.envelope import focal_curve, gram_array, lines
from shallows.questions.discriminants.known import ellipse, rank_one
from shallows.questions.discriminants.students import critical_students
from shallows.questions.discriminants.walls import vertex_curve
from shallows.support.checks import Array, counted
from shallows.support.theme import (
    BLUE,
    CYCLE,
    GREY,
    ORANGE,
    REGIONS,
    SEQUENTIAL,
    TEXT,
    VERMILLION,
    channels,
    titled,
)
from shallows.support.tolerances import TINY

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from shallows.questions.discriminants.activation_regions import ActivationRegions
    from shallows.questions.discriminants.following.result import Following
    from shallows.questions.discriminants.loci import FocalCloud
    from shallows.questions.discriminants.regions import LandscapeRegions

#: Walls: where two critical points meet, and where one goes through the zero tensor.
FOCAL, VERTEX = VERMILLION, GREY
HEIGHT = 560
#: A ray shorter than this share of the longest has no direction that could be drawn.
NO_RAY = 1e-12


def _layout(figure: Figure, title: str, x: str, y: str) -> Figure:
    titled(figure, title, HEIGHT).update_layout(legend={"itemsizing": "constant"})
    figure.update_xaxes(title_text=x)
    figure.update_yaxes(title_text=y)
    return figure


def figure2_left(
    teachers: Sequence[tuple[float, float]] = ((0.45, 0.5), (1.9, 1.3)), p: object = 4, q: object = 1
) -> Figure:
    """Figure 2, left: an ellipse, its focal curve, and teachers with their critical points: four inside, two out."""
    import plotly.graph_objects as go

    P = ellipse(p, q).specialize(m11=1, m12=0, m22=1)
    assert isinstance(P.curve, EllipseCurve)
    a, b = P.curve.roots
    theta = np.linspace(0, 2 * np.pi, 400)
    curve = focal_curve(P)
    figure = go.Figure()
    figure.add_scatter(
        x=a * np.cos(theta), y=b * np.sin(theta), mode="lines", name="ellipse", line={"color": TEXT}
    )
    figure.add_scatter(x=curve.x, y=curve.y, mode="lines", name="focal curve", line={"color": FOCAL})
    for k, (x, y) in enumerate(teachers):
        students = critical_students(P, x=x, y=y)
        color, count = CYCLE[k % len(CYCLE)], len(students)
        figure.add_scatter(
            x=[x],
            y=[y],
            mode="markers",
            marker={"color": color, "size": 14, "symbol": "star"},
            name=f"teacher ({x:g}, {y:g}): {count} critical points",
            legendgroup=str(k),
        )
        for student in students:
            figure.add_scatter(
                x=[x, student.entries[0]],
                y=[y, student.entries[1]],
                mode="lines",
                line={"color": color, "width": 1, "dash": "dot"},
                showlegend=False,
                hoverinfo="skip",
            )
        for kind, symbol in (("local minimum", "circle"), ("local maximum", "circle-open")):
            chosen = [s for s in students if s.kind == kind]
            figure.add_scatter(
                x=[s.entries[0] for s in chosen],
                y=[s.entries[1] for s in chosen],
                mode="markers",
                marker={"color": color, "size": 10, "symbol": symbol, "line": {"width": 2, "color": color}},
                name=f"its {'minima' if symbol == 'circle' else 'maxima'}: {len(chosen)}",
                text=[f"loss {s.loss:.4g}" for s in chosen],
                legendgroup=str(k),
            )
    figure.update_yaxes(scaleanchor="x", scaleratio=1)
    return _layout(figure, "An ellipse, its focal curve and two teachers", "x", "y")


def figure2_centre(
    stretches: Sequence[float] = (0.4, 0.7, 1.0, 1.6, 2.5),
    shears: Sequence[float] = (-0.6, -0.3, 0.0, 0.3, 0.6),
) -> Figure:
    """Figure 2, centre: focal curves of the ellipse as m11 varies (top) and as m12 varies (bottom)."""
    from plotly.subplots import make_subplots

    titles = ("m22 = 1, m12 = 0, m11 varies", "m11 = m22 = 1, m12 varies")
    figure = make_subplots(rows=2, cols=1, subplot_titles=titles, vertical_spacing=0.1)
    theta = np.linspace(0, 2 * np.pi, 400)
    families: list[tuple[str, Sequence[float]]] = [("m11", stretches), ("m12", shears)]
    for row, (name, values) in enumerate(families, start=1):
        figure.add_scatter(
            x=2 * np.cos(theta), y=np.sin(theta), mode="lines", line={"color": TEXT}, row=row, col=1,
            name="ellipse", showlegend=row == 1,
        )  # fmt: skip
        for value in values:
            metric = {"m11": 1.0, "m12": 0.0, "m22": 1.0, name: value}
            curve = focal_curve(ellipse(4, 1), **metric)  # type: ignore[arg-type]
            share = (value - min(values)) / max(max(values) - min(values), TINY)
            figure.add_scatter(
                x=curve.x, y=curve.y, mode="lines", name=f"{name} = {value:g}", row=row, col=1,
                line={"color": _blend(share)}, legendgroup=str(row),
            )  # fmt: skip
    figure.update_xaxes(range=[-5, 5])
    figure.update_yaxes(range=[-4, 4])
    figure.update_yaxes(scaleanchor="x", scaleratio=1, row=1, col=1)
    figure.update_yaxes(scaleanchor="x2", scaleratio=1, row=2, col=1)
    _layout(figure, "Focal curves of the ellipse as the metric varies", "x", "y")
    return figure.update_layout(margin={"t": 84})  # the upper panel has a title of its own


def figure2_right(moments: Sequence[float] = (1, 2, 4), radius: float = 2.0) -> Figure:
    """Figure 2, right: the cone of rank-one 2×2 matrices with its focal surfaces for several m0101."""
    import plotly.graph_objects as go

    figure = go.Figure()
    phi = np.linspace(0, np.pi, 361)
    rays = np.stack([np.cos(phi) ** 2, np.cos(phi) * np.sin(phi), np.sin(phi) ** 2], axis=1)
    for trace in _cone(rays, radius, GREY, "rank-one matrices", 0.35):
        figure.add_trace(trace)
    opacities = np.linspace(0.9, 0.35, len(moments))  # the outer ones are seen through
    for color, moment, opacity in zip(CYCLE, moments, opacities, strict=False):
        name = f"focal surface, m0101 = {moment:g}"
        for trace in _cone(focal_rays(moment, phi), radius, color, name, float(opacity)):
            figure.add_trace(trace)
    titled(figure, "The cone of rank-one matrices and its focal surfaces", HEIGHT)
    figure.update_layout(
        scene={
            "xaxis_title": "t00", "yaxis_title": "t01", "zaxis_title": "t11", "aspectmode": "cube",
            "camera": {"eye": {"x": 1.5, "y": -1.6, "z": 0.7}},
        },
    )  # fmt: skip
    return figure


def focal_rays(moment: float, phi: Array) -> Array:
    """The focal surface for m0000 = m1111 = 1, m0101 = `moment`, others 0 is a cone: its rays t(φ) = r(φ) × r′(φ).

    t solves F = r(φ)·t = 0 and r′(φ)·t = 0, with F linear in t.
    """
    P = rank_one(2).specialize(m0000=1, m1111=1, m0101=moment, m0001=0, m0011=0, m0111=0)
    value, slope = lines(P.curve, gram_array(P), phi)
    return np.cross(value[:, 1:], slope[:, 1:])


def unit_rays(rays: Array) -> Array:
    """Rays of length one; neighbouring ones point the same way, so that no strip folds through the origin."""
    size = np.linalg.norm(rays, axis=1, keepdims=True)
    unit = np.divide(rays, size, out=np.zeros_like(rays), where=size > NO_RAY * np.max(size))
    for k in range(1, len(unit)):
        if unit[k] @ unit[k - 1] < 0:
            unit[k] = -unit[k]
    return np.asarray(unit)


def _cone(rays: Array, radius: float, color: str, name: str, opacity: float) -> list[Any]:
    """The double cone over a curve of rays, cut off at a sphere, and its two rims."""
    import plotly.graph_objects as go

    unit = unit_rays(rays)
    points = radius * np.linspace(-1, 1, 21)[:, None, None] * unit[None]
    surface = go.Surface(
        x=points[..., 0], y=points[..., 1], z=points[..., 2], surfacecolor=np.zeros(points.shape[:2]), name=name,
        colorscale=[[0, color], [1, color]], showscale=False, opacity=opacity, showlegend=True,
    )  # fmt: skip
    rims = [
        go.Scatter3d(x=edge[:, 0], y=edge[:, 1], z=edge[:, 2], mode="lines", line={"color": color, "width": 5},
                     showlegend=False, hoverinfo="skip")
        for edge in (points[0], points[-1])
    ]  # fmt: skip
    return [surface, *rims]


def _blend(share: float) -> str:
    """A colour between blue and orange."""
    pairs = zip(channels(BLUE), channels(ORANGE), strict=True)
    return "rgba({},{},{},{})".format(*(round(low + share * (high - low)) for low, high in pairs))


def coloured_regions(regions: LandscapeRegions | ActivationRegions) -> Figure:
    """The regions of a grid by colour, with a legend of their landscapes."""
    import plotly.graph_objects as go

    kinds = sorted({(r.real_count, r.local_minima) for r in regions.regions})
    code = np.full(regions.labels.shape, np.nan)
    for k, (count, minima) in enumerate(kinds):
        code[(regions.real_counts == count) & (regions.local_minima == minima)] = k
    figure = go.Figure()
    stops = [
        [edge, REGIONS[k % len(REGIONS)]]
        for k in range(len(kinds))
        for edge in (k / len(kinds), (k + 1) / len(kinds))
    ]
    figure.add_heatmap(
        x=regions.x, y=regions.y, z=code, colorscale=stops, zmin=-0.5, zmax=len(kinds) - 0.5, showscale=False,
        hoverinfo="skip",
    )  # fmt: skip
    for k, (count, minima) in enumerate(kinds):
        figure.add_scatter(
            x=[None], y=[None], mode="markers",
            name=f"{counted(count, 'critical point')}, {counted(minima, 'local minimum')}",
            marker={"size": 12, "symbol": "square", "color": REGIONS[k % len(REGIONS)]},
        )  # fmt: skip
    figure.update_xaxes(range=[regions.x[0], regions.x[-1]])
    figure.update_yaxes(range=[regions.y[0], regions.y[-1]])
    return figure


def slice_figure(regions: LandscapeRegions) -> Figure:
    """A slice of landscapes: regions by colour, the focal curve, and the wall where a critical point is at zero."""
    figure = coloured_regions(regions)
    P = regions.discriminant
    if not P.metric:
        curve = focal_curve(P)
        inside = _inside(regions, curve.x, curve.y)
        figure.add_scatter(
            x=np.where(inside, curve.x, np.nan), y=np.where(inside, curve.y, np.nan), mode="lines",
            name="discriminant: two critical points meet", line={"color": FOCAL, "width": 2},
        )  # fmt: skip
        if isinstance(P.curve, RankOneCurve):
            _add_vertex_wall(figure, regions)
    return _layout(figure, f"Landscapes: {P.curve.title}", regions.horizontal, regions.vertical)


def activation_figure(regions: ActivationRegions) -> Figure:
    """A window of activations: regions by colour, the discriminant, and γ = 0, where three points are at infinity."""
    figure = coloured_regions(regions)
    walls = (
        ("discriminant", FOCAL, "discriminant: two critical points meet"),
        ("vertex", VERTEX, "vertex wall: one is the zero function"),
    )
    for kind, color, name in walls:
        x, y = regions.curve(kind)
        figure.add_scatter(
            x=x, y=y, mode="markers", marker={"color": color, "size": 3}, hoverinfo="skip", name=name
        )
    if regions.y[0] < 0 < regions.y[-1]:
        figure.add_scatter(
            x=regions.x[[0, -1]], y=[0, 0], mode="lines", line={"color": VERTEX, "width": 2, "dash": "dash"},
            name="γ = 0: three are at infinity",
        )  # fmt: skip
    return _layout(figure, "One neuron, activation z² + βz + γ", "β", "γ")


def _inside(regions: LandscapeRegions, x: Array, y: Array) -> Any:
    """A little more than the window, so that lines run to its edge."""
    wide, high = regions.x[-1] - regions.x[0], regions.y[-1] - regions.y[0]
    with np.errstate(invalid="ignore"):
        return (
            (x > regions.x[0] - wide)
            & (x < regions.x[-1] + wide)
            & (y > regions.y[0] - high)
            & (y < regions.y[-1] + high)
        )


def _add_vertex_wall(figure: Figure, regions: LandscapeRegions) -> None:
    """The teachers for which p = ⟨w^⊗d, T⟩ has a double zero."""
    wall = vertex_curve(regions.discriminant)
    inside = _inside(regions, wall.x, wall.y)
    figure.add_scatter(
        x=np.where(inside, wall.x, np.nan), y=np.where(inside, wall.y, np.nan), mode="lines",
        name="vertex wall: one is at the zero tensor", line={"color": VERTEX, "width": 2, "dash": "dash"},
    )  # fmt: skip


def cloud_figure(cloud: FocalCloud, axes: Sequence[int] = (0, 1, 2)) -> Figure:
    """Focal points of a numeric locus in three of the teacher's coordinates (or two)."""
    import plotly.graph_objects as go

    names = cloud.names
    columns = [cloud.teachers[:, k] for k in axes]
    marker: dict[str, Any] = {"size": 3, "color": np.log10(cloud.distances), "colorscale": SEQUENTIAL,
              "showscale": True, "colorbar": {"title": "log10 distance<br>to student"}}  # fmt: skip
    figure = go.Figure()
    if len(axes) == 3:
        figure.add_scatter3d(
            x=columns[0], y=columns[1], z=columns[2], mode="markers", marker=marker, name="focal"
        )
        figure.update_layout(
            scene=dict(
                zip(("xaxis_title", "yaxis_title", "zaxis_title"), (names[k] for k in axes), strict=True)
            )
        )
    else:
        for branch in np.unique(cloud.branches):
            part = cloud.branches == branch
            look = (
                {"mode": "lines", "line": {"color": FOCAL}} if np.any(cloud.branches) else {"mode": "markers"}
            )
            figure.add_scatter(x=columns[0][part], y=columns[1][part], name="focal", showlegend=False, **look)
    return _layout(figure, f"Focal points: {cloud.title}", names[axes[0]], names[axes[1]])


def following_figure(following: Following) -> Figure:
    """The size of every critical point along a path: real ones solid, complex ones dotted, events as vertical lines."""
    import plotly.graph_objects as go

    figure = go.Figure()
    sizes = np.linalg.norm(following.tensors, axis=2)
    for i in range(sizes.shape[1]):
        for real, dash in ((True, "solid"), (False, "dot")):
            shown = np.where(following.real[:, i] == real, sizes[:, i], np.nan)
            figure.add_scatter(
                x=following.positions, y=shown, mode="lines", showlegend=False,
                line={"color": TEXT if real else VERTEX, "dash": dash},
            )  # fmt: skip
    for event in following.events:
        color = {"collision": FOCAL, "vertex": CYCLE[2]}.get(event.kind, VERTEX)
        before, after = event.real_counts
        note = f"{event.kind}: {before} → {after}" if before != after else event.kind
        figure.add_vline(
            x=event.position, line={"color": color, "dash": "dash", "width": 1.5}, annotation_text=note
        )
    return _layout(figure, "Critical points along the path", "τ", "norm of the critical tensor")
