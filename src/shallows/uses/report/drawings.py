"""The teacher and the students drawn: forms of two inputs as curves on the circle, of three as level surfaces,
matrices and weights as heat maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.support.checks import Array
from shallows.support.theme import BLUE, CYCLE, DIVERGING, INK, VERMILLION, plain_scene, styled
from shallows.uses.report.entries import Entry

CURVES = 6
PANELS = 11
SURFACES = 8
GRID = 21


def drawing(problem: Problem, entries: Sequence[Entry]) -> tuple[Any, str] | None:
    """A figure of teacher and students with its caption; None when there is nothing to draw."""
    picked = distinct(entries)
    if problem.bias and problem.activation == Power(2) and problem.outputs == 1:
        matrices = [(e, _matrix(e.network)) for e in picked[:PANELS]]
        return _panels(problem.homogeneous().target_tensor().to_matrix(), matrices), AFFINE_MATRICES
    if isinstance(problem.activation, Power) and problem.outputs == 1 and not problem.affine:
        target = problem.target_tensor()
        if problem.n == 2:
            return circle(target, picked[:CURVES]), CIRCLE
        if problem.n == 3:
            return surfaces(target, picked[:SURFACES]), SURFACE
        if problem.degree == 2:
            return _panels(target.to_matrix(), [(e, _matrix(e.network)) for e in picked[:PANELS]]), MATRICES
    if problem.outputs != 1:
        return None
    teacher = problem.target.W if isinstance(problem.target, Network) else None
    return _panels(teacher, [(e, fitted_rows(e.network.W, teacher)) for e in picked[:PANELS]]), WEIGHTS


CIRCLE = (
    "Teacher and students as functions of the direction u = (cos φ, sin φ): a neuron of rank one is a single hump, and "
    "a good student follows the teacher where the data puts its weight."
)
SURFACE = (
    "Where the forms reach plus (blue) or minus (vermillion) the teacher’s mean size on the sphere. A rank-one student "
    "is a pair of parallel planes across its neuron; the closer it is to the teacher’s surface, the lower its loss. "
    "Choose a student in the menu."
)
MATRICES = (
    "The teacher’s matrix and the students’, on one colour scale: blue positive, vermillion negative. A student of "
    "low rank keeps the strongest part of the teacher."
)
AFFINE_MATRICES = (
    f"{MATRICES} With a bias they are forms in (1, x): the first row holds constant and linear part."
)
WEIGHTS = (
    "Weights of the teacher and of the students, a row a neuron, neurons in the order that fits the teacher best. A "
    "global minimum repeats the teacher; a spurious minimum has one or more rows that answer for several of them."
)


def distinct(entries: Sequence[Entry]) -> list[Entry]:
    """One entry of each (kind, loss to six digits), minima first, then by loss."""
    found: dict[tuple[str, str], Entry] = {}
    for entry in sorted(entries, key=lambda entry: ("minimum" not in entry.kind, entry.loss)):
        found.setdefault((entry.kind, f"{entry.loss:.6g}"), entry)
    return list(found.values())


def label(entry: Entry) -> str:
    """The name of a student in a figure."""
    return f"{entry.number}: {entry.kind}, loss {entry.loss:.5g}"


def circle(target: SymmetricTensor, entries: Sequence[Entry]) -> Any:
    """T(cos φ, sin φ) over φ for the teacher and the students."""
    import plotly.graph_objects as go

    phi = np.linspace(0, 2 * np.pi, 241)
    directions = np.stack([np.cos(phi), np.sin(phi)], axis=1)
    figure = go.Figure()
    figure.add_scatter(
        x=np.degrees(phi), y=target(directions), mode="lines", name="teacher", meta=INK, line={"width": 4}
    )
    for colour, entry in zip(CYCLE, entries, strict=False):
        dash = "solid" if "minimum" in entry.kind else "dot"
        figure.add_scatter(
            x=np.degrees(phi), y=entry.network.tensor()(directions), mode="lines", name=label(entry),
            line={"color": colour, "width": 2, "dash": dash},
        )  # fmt: skip
    styled(figure, height=460)
    figure.update_xaxes(title_text="direction φ", dtick=45, ticksuffix="°", range=[0, 360])
    figure.update_yaxes(title_text="value on the unit circle", zeroline=True, zerolinewidth=1)
    return figure


def surfaces(target: SymmetricTensor, entries: Sequence[Entry]) -> Any:
    """Level surfaces f = ±c of the teacher and of one student, chosen in a menu."""
    from plotly.subplots import make_subplots

    level = float(np.sqrt(np.mean(target(_sphere()) ** 2))) or 1.0
    figure = make_subplots(
        rows=1, cols=2, specs=[[{"type": "scene"}] * 2], horizontal_spacing=0.02,
        subplot_titles=("teacher", "student"),
    )  # fmt: skip
    figure.add_trace(level_surface(target, level), row=1, col=1)
    for i, entry in enumerate(entries):
        trace = level_surface(entry.network.tensor(), level)
        figure.add_trace({**trace, "visible": i == 0}, row=1, col=2)
    buttons = [
        {"label": label(entry), "method": "update",
         "args": [{"visible": [True, *(j == i for j in range(len(entries)))]}]}
        for i, entry in enumerate(entries)
    ]  # fmt: skip
    styled(figure, height=440, legend=False)
    figure.update_layout(
        scene=plain_scene(REACH, x="x₁", y="x₂", z="x₃"), scene2=plain_scene(REACH, x="x₁", y="x₂", z="x₃"),
        margin={"l": 0, "r": 0, "t": 64, "b": 12},
        updatemenus=[{"buttons": buttons, "x": 1, "xanchor": "right", "y": 1.18, "yanchor": "top", "pad": {"t": 0}}],
    )  # fmt: skip
    return figure


REACH = 1.5


def level_surface(form: SymmetricTensor, level: float, points: int = GRID) -> dict[str, Any]:
    """The surfaces f = level (blue) and f = −level (vermillion) in a cube of `points` a side, as a trace.

    The grid, which all surfaces of a page share, is left out: the page's script puts it back (`meta`).
    """
    side = np.linspace(-REACH, REACH, points)
    grid = np.stack(np.meshgrid(side, side, side, indexing="ij"), axis=-1).reshape(-1, 3)
    return {
        "type": "isosurface",
        "meta": {"grid": [REACH, points]},
        "value": form(grid).astype(np.float32),
        "isomin": -level,
        "isomax": level,
        "cmin": -level,
        "cmax": level,
        "surface": {"count": 2},
        "colorscale": [[0, VERMILLION], [1, BLUE]],
        "showscale": False,
        "opacity": 0.75,
        "flatshading": False,
        "caps": {"x": {"show": False}, "y": {"show": False}, "z": {"show": False}},
        "hoverinfo": "skip",
        "lighting": {"ambient": 0.6, "diffuse": 0.7},
    }


def _sphere() -> Array:
    """Directions spread over the sphere (a Fibonacci lattice)."""
    i = np.arange(400) + 0.5
    z = 1 - 2 * i / 400
    phi = np.pi * (1 + 5**0.5) * i
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(phi), r * np.sin(phi), z], axis=1)


def _matrix(net: Network) -> Array:
    return net.tensor().to_matrix()


def fitted_rows(W: Array, teacher: Array | None) -> Array:
    """Rows in the order that fits the teacher's best, extra neurons last."""
    if teacher is None or W.shape[1] != teacher.shape[1]:
        return W
    from scipy.optimize import linear_sum_assignment

    gaps = np.linalg.norm(W[:, None, :] - teacher[None, :, :], axis=2)
    rows, columns = linear_sum_assignment(gaps)
    matched = rows[np.argsort(columns)]
    rest = np.setdiff1d(np.arange(len(W)), matched)
    return np.asarray(W[np.concatenate([matched, rest])])


def _panels(teacher: Array | None, students: Sequence[tuple[Entry, Array]]) -> Any:
    """Heat maps side by side on one scale."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    shown = ([] if teacher is None else [("teacher", teacher)]) + [
        (f"{entry.number}: {entry.kind}<br>loss {entry.loss:.5g}", values) for entry, values in students
    ]
    columns = min(4, len(shown))
    rows = -(-len(shown) // columns)
    reach = max(float(np.abs(values).max()) for _, values in shown) or 1.0
    figure = make_subplots(
        rows=rows, cols=columns, subplot_titles=[title for title, _ in shown], vertical_spacing=0.22 / max(rows, 1),
        horizontal_spacing=0.03,
    )  # fmt: skip
    for i, (_, values) in enumerate(shown):
        figure.add_trace(
            go.Heatmap(z=values, coloraxis="coloraxis", xgap=1, ygap=1,
                       hovertemplate="row %{y}, column %{x}: %{z:.4g}<extra></extra>"),
            row=i // columns + 1, col=i % columns + 1,
        )  # fmt: skip
    styled(figure, height=80 + 230 * rows, legend=False)
    figure.update_layout(
        coloraxis={"colorscale": DIVERGING, "cmin": -reach, "cmax": reach,
                   "colorbar": {"thickness": 12, "len": 0.8, "outlinewidth": 0}},
        margin={"l": 10, "r": 10, "t": 60, "b": 16},
    )  # fmt: skip
    figure.update_xaxes(visible=False, constrain="domain")
    figure.update_yaxes(visible=False, autorange="reversed")
    for i in range(len(shown)):
        axis = "" if i == 0 else str(i + 1)
        figure.layout[f"yaxis{axis}"].update(scaleanchor=f"x{axis}", scaleratio=1, constrain="domain")
    figure.update_annotations(font={"size": 12})
    return figure
