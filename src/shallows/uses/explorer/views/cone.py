"""The cone of rank-one 2×2 matrices with its focal surface, and a slice of teachers (paper 000, Figure 2, right)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from shallows.model.data.iid import IID
from shallows.model.problem import Problem
from shallows.questions.discriminants.envelope import focal_curve, gram_array, lines
from shallows.questions.discriminants.figures import unit_rays
from shallows.questions.discriminants.known import rank_one
from shallows.questions.discriminants.polynomial import Discriminant
from shallows.questions.discriminants.regions import LandscapeRegions, landscape_regions
from shallows.questions.discriminants.students import critical_students
from shallows.questions.discriminants.walls import vertex_curve
from shallows.support.checks import Array, counted
from shallows.support.theme import (
    GREEN,
    GREY,
    KIND_COLOURS,
    ORANGE,
    PINK,
    SKY,
    VERMILLION,
    channels,
    faint,
    plain_scene,
    styled,
)
from shallows.uses.explorer.costs import SEED, TRAIN, constant, quick_descent, report_of
from shallows.uses.explorer.fields import Field, State
from shallows.uses.explorer.map_image import png_address
from shallows.uses.explorer.scene import Scene, View
from shallows.uses.explorer.sketch import Sketch
from shallows.uses.explorer.views.marks import (
    HEADINGS,
    STEADY,
    add_students,
    add_teacher,
    counts,
    kind_of,
    rows_of,
)
from shallows.uses.report.recipe import python_of

REACH = 3.0
#: Entries as they are counted on the page, from 1, and the discriminant's names for them.
VARIABLES = {"t00": "t11", "t01": "t12", "t11": "t22"}
#: Grid points a side: a cell is two pixels wide on a large screen, and the curves cover its corners.
RESOLUTION = 161
#: Fills of regions, by real critical points and local minima: colour and opacity, for light and dark pages.
FILLS: dict[tuple[int, int], tuple[str, float]] = {
    (2, 1): (SKY, 0.18),
    (2, 2): (SKY, 0.5),
    (4, 2): (GREEN, 0.45),
    (4, 3): (PINK, 0.5),
}


@lru_cache(maxsize=64)
def _discriminant(kurtosis: float) -> Discriminant:
    return rank_one(2).specialize(data=IID(2, [1, 0, 1, 0, kurtosis]))


def problem_of(state: State) -> Problem:
    """The problem of a state."""
    matrix = np.array([[state["t11"], state["t12"]], [state["t12"], state["t22"]]])
    return Problem(matrix, IID(2, [1, 0, 1, 0, state["kurtosis"]]), width=1)


def draw(state: State) -> Scene:
    """The cone and the slice t01 = const through the teacher."""
    P = _discriminant(state["kurtosis"])
    at = {variable: Fraction(str(state[name])) for variable, name in VARIABLES.items()}
    students = critical_students(P, **at)
    problem = problem_of(state)
    return Scene(
        figures=[_slice(state, students), _cone(P, state, students)],
        facts=[*counts(students), (f"{students[0].loss:.4g}", "lowest loss")],
        headings=HEADINGS,
        rows=rows_of(students),
        code=python_of(problem),
        problem=problem,
    )


@dataclass(frozen=True)
class Background:
    """What of a slice stays when the teacher moves within it: curves, the map of regions, and its legend."""

    traces: tuple[dict[str, Any], ...]
    image: dict[str, Any]


@lru_cache(maxsize=64)
def _background(kurtosis: float, height: float) -> Background:
    P, t01, window = _discriminant(kurtosis), Fraction(str(height)), (-REACH, REACH)
    regions = landscape_regions(P, ("t00", *window), ("t11", *window), resolution=RESOLUTION, t01=t01)
    figure = Sketch()
    focal, wall = focal_curve(P, samples=1200, t01=t01), vertex_curve(P, samples=1200, t01=t01)
    for curve, name, dash in ((focal, "focal locus", "solid"), (wall, "a point at zero", "dash")):
        x, y = _cut(curve.x, curve.y)
        line = {"color": VERMILLION if dash == "solid" else GREY, "width": 2, "dash": dash}
        figure.add_scatter(x=x, y=y, mode="lines", name=name, line=line, hoverinfo="skip")
    known = {(r.real_count, r.local_minima) for r in regions.regions}
    for kind in FILLS:
        if kind in known:
            count, minima = kind
            _add_region(figure, f"{count} points, {counted(minima, 'minimum')}", FILLS[kind])
    return Background(tuple(figure.data), region_map(regions))


def region_map(regions: LandscapeRegions) -> dict[str, Any]:
    """The regions as a picture under the figure; on a wall, and where there is no fill, it is clear."""
    codes = np.zeros(regions.labels.shape, dtype=np.int64)
    for code, (count, minima) in enumerate(FILLS, start=1):
        codes[(regions.real_counts == count) & (regions.local_minima == minima)] = code
    half = (regions.x[1] - regions.x[0]) / 2  # a cell is around its grid point
    side = float(regions.x[-1] - regions.x[0] + 2 * half)
    fills = [(0, 0, 0, 0.0), *(channels(*fill) for fill in FILLS.values())]
    return {
        "source": png_address(codes, fills), "xref": "x", "yref": "y", "layer": "below",
        "x": float(regions.x[0] - half), "y": float(regions.y[-1] + half), "sizex": side, "sizey": side,
        "sizing": "stretch",
    }  # fmt: skip


def _add_region(figure: Sketch, name: str, fill: tuple[str, float]) -> None:
    """An entry of the legend below the figure."""
    figure.add_scatter(
        x=[None], y=[None], mode="markers", name=name, legend="legend2", hoverinfo="skip",
        marker={"symbol": "square", "size": 13, "color": faint(*fill), "line": {"color": GREY, "width": 0.5}},
    )  # fmt: skip


def _slice(state: State, students: Any) -> Any:
    figure, window = Sketch(), (-REACH, REACH)
    background = _background(state["kurtosis"], state["t12"])
    for trace in background.traces:
        figure.add_trace(trace)
    add_students(figure, students, [s.entries[0] for s in students], [s.entries[2] for s in students])
    add_teacher(figure, state, ("t11", "t22"))
    styled(figure, height=580)
    below = {"orientation": "h", "yref": "container", "y": 0.0, "yanchor": "bottom", "x": 0}
    figure.update_layout(margin={**STEADY, "b": 96}, legend2=below, images=[background.image])
    figure.update_xaxes(title_text="t₁₁", range=window, constrain="domain", showgrid=False)
    figure.update_yaxes(title_text="t₂₂", range=window, scaleanchor="x", constrain="domain", showgrid=False)
    return figure


def _cut(x: Any, y: Any) -> tuple[Any, Any]:
    """A curve without its parts far outside the window, which would be drawn for nothing."""
    with np.errstate(invalid="ignore"):
        inside = (np.abs(x) < 3 * REACH) & (np.abs(y) < 3 * REACH)
    return np.where(inside, x, np.nan), np.where(inside, y, np.nan)


def _cone(P: Discriminant, state: State, students: Any) -> Any:
    phi = np.linspace(0, np.pi, 121)
    rays = np.stack([np.cos(phi) ** 2, np.cos(phi) * np.sin(phi), np.sin(phi) ** 2], axis=1)
    value, slope = lines(P.curve, gram_array(P), phi)
    figure = Sketch()
    figure.add_trace(_surface(rays, GREY, "rank-one matrices", 0.2))
    figure.add_trace(_surface(np.cross(value[:, 1:], slope[:, 1:]), ORANGE, "focal surface", 0.35))
    _points(figure, state, students)
    styled(figure, height=540)
    figure.update_layout(
        scene=plain_scene(REACH, x="t₁₁", y="t₁₂", z="t₂₂"),
        margin={"l": 0, "r": 0, "t": 24, "b": 0},
        uirevision="cone",
    )
    return figure


def _surface(rays: Array, colour: str, name: str, opacity: float) -> dict[str, Any]:
    """The double cone over a curve of rays t(φ): teachers r t(φ)/‖t(φ)‖, |r| ≤ reach; ruled, so three rows suffice.

    The focal rays t(φ) = r(φ) × r′(φ) solve F = r(φ)·t = 0 and ∂F/∂φ = 0, both linear in t.
    """
    unit = unit_rays(rays)
    x, y, z = (REACH * np.array([-1.0, 0.0, 1.0])[:, None, None] * unit[None]).reshape(-1, 3).T
    i, j, k = _triangles(3, len(unit)).T
    return {
        "type": "mesh3d", "x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "color": colour, "opacity": opacity,
        "name": name, "showlegend": True, "hoverinfo": "skip", "flatshading": True,
        "lighting": {"ambient": 0.75, "diffuse": 0.45, "specular": 0.05},
    }  # fmt: skip


def _triangles(rows: int, columns: int) -> Array:
    """Two triangles for each square of a grid of vertices, row by row (Plotly would refine a surface, at a cost)."""
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    below = corner + columns
    first = np.stack([corner, corner + 1, below], axis=1)
    return np.concatenate([first, np.stack([corner + 1, below + 1, below], axis=1)])


def _points(figure: Any, state: State, students: Any) -> None:
    lowest = students[0].loss if students else 0.0
    at = [state[name] for name in VARIABLES.values()]
    for student in students:
        kind = kind_of(student, lowest)
        figure.add_scatter3d(
            x=[at[0], student.entries[0]], y=[at[1], student.entries[1]], z=[at[2], student.entries[2]],
            mode="lines+markers", name=kind, legendgroup=kind, line={"color": KIND_COLOURS[kind], "width": 4},
            showlegend=all(trace.get("name") != kind for trace in figure.data),
            marker={"size": [0.1, 7], "color": KIND_COLOURS[kind]}, hoverinfo="skip",
        )  # fmt: skip
    figure.add_scatter3d(
        x=at[:1], y=at[1:2], z=at[2:], mode="markers", name="teacher", marker={"size": 7, "color": VERMILLION}
    )


VIEW = View(
    name="cone",
    title="2×2 cone",
    lead="One quadratic neuron with two inputs: the students are the rank-one matrices, a cone. As the teacher crosses "
    "its focal surface two critical points meet; the data’s fourth moment moves the surface.",
    fields=(
        Field("t11", "teacher t₁₁", -3, 3, 0.01, 1.2),
        Field("t12", "teacher t₁₂", -3, 3, 0.01, 0.2),
        Field("t22", "teacher t₂₂", -3, 3, 0.01, 0.9),
        Field("kurtosis", "data’s fourth moment (Gauss: 3)", 1.1, 30, 0.1, 9),
        TRAIN,
        SEED,
    ),
    captions=(
        "Teachers with this t₁₂, by how many critical points they have (colours); the solid curve is the focal locus, "
        "on the dashed one a critical point is at zero. Drag the teacher.",
        "The cone of rank-one matrices (grey), its focal surface (orange), the teacher, and lines to its critical "
        "points. Turn it.",
    ),
    draw=draw,
    seconds=constant(0.04),
    report=report_of("2×2 cone", problem_of, 0.15, quick_descent),
)
