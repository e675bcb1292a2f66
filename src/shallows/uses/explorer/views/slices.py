"""A plane through three critical networks in parameter space, and the curvature at each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.model.data.gaussian import Gaussian
from shallows.model.problem import Problem
from shallows.questions.charts.chart import chart as make_chart
from shallows.questions.charts.result import Chart
from shallows.questions.descent.results.figures import Plane, slice_plane
from shallows.support.checks import Array, counted
from shallows.support.errors import InvalidProblem
from shallows.support.theme import KIND_COLOURS, KIND_SYMBOLS, LOSSES, styled
from shallows.support.tolerances import TINY
from shallows.uses.explorer.costs import SEED, TRAIN, constant, quick_descent, report_of
from shallows.uses.explorer.fields import Field, State
from shallows.uses.explorer.scene import Preset, Scene, View
from shallows.uses.explorer.sketch import Sketch
from shallows.uses.report.recipe import python_of
from shallows.uses.report.training import FLAT

#: Places a side on which the loss is drawn, and how far the plane reaches beyond the three points, in their extent.
GRID, ROOM = 61, 0.45
#: A network within this share of the extent of the plane is on it, and is marked.
ON_PLANE = 1e-6
#: Widths of the kernel of a density of eigenvalues, as a share of their range: spectra here have a dozen lines.
WIDTH = 0.03
#: Places at which a density is drawn.
FINE = 240
PICKS, DASHES = ("first", "second", "third"), ("solid", "dash", "dot")


def problem_of(state: State) -> Problem:
    """Two quadratic neurons and a diagonal teacher of three inputs."""
    teacher = np.diag([state["t1"], state["t2"], state["t3"]])
    return Problem(teacher, Gaussian(3), width=2)


def draw(state: State) -> Scene:
    """The loss on the plane, and the spectra of the three Hessians."""
    problem = problem_of(state)
    chart = make_chart(problem)
    rows = _picked(state, chart)
    thetas = np.array([problem.pack(point.network) for point in chart.critical])
    plane = _plane(thetas[rows])
    spectra = [
        np.asarray(np.linalg.eigvalsh(problem.hessian(chart.critical[row].network)), float) for row in rows
    ]
    return Scene(
        figures=[_slice(problem, chart, plane, thetas, rows), _density(chart, rows, spectra)],
        facts=[
            (str(len(chart.critical)), "critical points"),
            (str(len(_on(plane, thetas))), "of them on this plane"),
            (str(problem.size), "parameters"),
            (chart.completeness, "completeness"),
        ],
        headings=("number", "loss", "kind", "rank", "on the plane", "smallest eigenvalue", "largest"),
        rows=[_row(problem, chart, row, row in _on(plane, thetas)) for row in range(len(chart.critical))],
        code=_code(problem, rows),
        problem=problem,
    )


def _picked(state: State, chart: Chart) -> list[int]:
    """Three different rows: beyond the list it is the last point, and instead of one taken twice the next."""
    count = len(chart.critical)
    if count < 3:
        raise InvalidProblem(
            f"This problem has {counted(count, 'critical point')}; a plane needs three. Move the teacher."
        )
    rows: list[int] = []
    for name in PICKS:
        row = min(int(state[name]), count) - 1
        while row in rows:
            row = (row + 1) % count
        rows.append(row)
    return rows


def _plane(corners: Array) -> Plane:
    return slice_plane(corners[0], corners[1] - corners[0], corners[2] - corners[0])


def _on(plane: Plane, thetas: Array) -> set[int]:
    """The rows of networks that lie on the plane."""
    at = plane.coordinates(thetas)
    off = np.linalg.norm(thetas - plane.origin - at @ plane.axes, axis=1)
    return set(np.flatnonzero(off <= ON_PLANE * max(float(np.abs(at).max()), TINY)).tolist())


def _row(problem: Problem, chart: Chart, row: int, on: bool) -> list[str]:
    point = chart.critical[row]
    values = np.linalg.eigvalsh(problem.hessian(point.network))
    values = np.where(np.abs(values) <= FLAT * max(float(np.abs(values).max()), TINY), 0.0, values)
    place = "yes" if on else "no"
    return [
        str(row + 1),
        f"{point.loss:.6g}",
        point.kind,
        str(point.rank),
        place,
        f"{values[0]:.4g}",
        f"{values[-1]:.4g}",
    ]


def _slice(problem: Problem, chart: Chart, plane: Plane, thetas: Array, rows: list[int]) -> Any:
    at = plane.coordinates(thetas)
    low, high = at[rows].min(axis=0), at[rows].max(axis=0)
    room = ROOM * max(float((high - low).max()), TINY)
    x, y = (np.linspace(low[i] - room, high[i] + room, GRID) for i in (0, 1))
    mesh = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    values = np.asarray(problem.value(plane.origin + mesh @ plane.axes)).reshape(GRID, GRID)
    top = 1.6 * max(chart.critical[row].loss for row in rows) + TINY
    figure = Sketch()
    figure.add_trace({
        "type": "contour", "x": x, "y": y, "z": np.minimum(values, top), "colorscale": LOSSES,
        "ncontours": 24, "line": {"width": 0.5},
        "colorbar": {"thickness": 12, "outlinewidth": 0, "title": {"text": "loss"}},
        "hovertemplate": "loss %{z:.5g}<extra></extra>",
    })  # fmt: skip
    for row in sorted(_on(plane, thetas)):
        point = chart.critical[row]
        figure.add_scatter(
            x=[at[row, 0]], y=[at[row, 1]], mode="markers+text", text=[str(row + 1)], textposition="top center",
            textfont={"color": "white", "size": 13},
            name=f"{row + 1}: {point.kind}",
            hovertemplate=f"{point.kind}, loss {point.loss:.5g}<extra>{row + 1}</extra>",
            marker={"color": KIND_COLOURS[point.kind], "symbol": KIND_SYMBOLS[point.kind], "size": 14,
                    "line": {"color": "white", "width": 1.5}},
        )  # fmt: skip
    styled(figure, height=470)
    figure.update_xaxes(title_text="first direction", range=[float(x[0]), float(x[-1])])
    figure.update_yaxes(title_text="second direction", range=[float(y[0]), float(y[-1])])
    return figure


def _density(chart: Chart, rows: list[int], spectra: list[Array]) -> Any:
    """Each eigenvalue as a bump of one width; areas are one, and lines below are the eigenvalues themselves."""
    low, high = min(s[0] for s in spectra), max(s[-1] for s in spectra)
    width = WIDTH * max(high - low, TINY)
    x = np.linspace(low - 4 * width, high + 4 * width, FINE)
    figure = Sketch()
    for i, (row, values) in enumerate(zip(rows, spectra, strict=True)):
        bumps = np.exp(-((x[:, None] - values) ** 2) / (2 * width**2)) / (width * np.sqrt(2 * np.pi))
        kind = chart.critical[row].kind
        name, colour = f"{row + 1}: {kind}", KIND_COLOURS[kind]
        line = {"color": colour, "width": 2.5, "dash": DASHES[i]}  # points of one kind differ in their dashes
        figure.add_scatter(x=x, y=bumps.mean(axis=1), mode="lines", name=name, line=line, hoverinfo="skip")
        figure.add_scatter(
            x=values, y=np.full(len(values), -0.02 * (i + 1) / width), mode="markers", showlegend=False, name=name,
            marker={"color": colour, "symbol": "circle", "size": 6},
            hovertemplate="eigenvalue %{x:.5g}<extra>" + name + "</extra>",
        )  # fmt: skip
    styled(figure, height=420)
    figure.update_xaxes(title_text="eigenvalue of the Hessian in the parameters", zeroline=True)
    figure.update_yaxes(title_text="density", showticklabels=False)
    return figure


def _code(problem: Problem, rows: list[int]) -> str:
    return python_of(
        problem,
        "chart = sh.chart(problem)\n"
        f"a, b, c = (problem.pack(chart.critical[row].network) for row in {rows})\n"
        "plane = sh.training.slice_plane(a, b - a, c - a)\n"
        "print(problem.loss(problem.unpack(plane.origin)))",
    )


VIEW = View(
    name="slices",
    title="Slices",
    lead="Two quadratic neurons have eight parameters: too many to draw. Choose three critical networks; the plane "
    "through them is drawn, with every critical network that lies on it, and the curvature at the three.",
    fields=(
        Field("first", "first point, by loss", 1, 7, 1, 1),
        Field("second", "second point", 1, 7, 1, 2),
        Field("third", "third point", 1, 7, 1, 4),
        Field("t1", "teacher t₁", -3, 3, 0.01, 2),
        Field("t2", "teacher t₂", -3, 3, 0.01, 1),
        Field("t3", "teacher t₃", -3, 3, 0.01, -1),
        TRAIN,
        SEED,
    ),
    captions=(
        "The loss on the plane through the three points. A point can look like a minimum here and still have a way "
        "down off the plane: its kind is of all directions.",
        "The eigenvalues of the Hessian at the three points as a density; dots are the eigenvalues. Left of zero are "
        "ways down; those at zero are symmetries that leave the function as it is.",
    ),
    presets=(
        Preset("a minimum and two saddles", {"first": "1", "second": "2", "third": "3"}),
        Preset("with the zero network", {"first": "1", "second": "2", "third": "6"}),
    ),
    draw=draw,
    seconds=constant(0.02),
    report=report_of("Two quadratic neurons, n = 3", problem_of, 0.25, quick_descent),
)
