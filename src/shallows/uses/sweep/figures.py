"""Figures of a sweep: lines, heat maps and phase diagrams, from the tables of its file or by hand, as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from shallows.support.arguments import typed
from shallows.support.errors import InvalidProblem
from shallows.support.theme import CYCLE, DIVERGING, SEQUENTIAL, titled, untitled
from shallows.uses.report.page import Picture, Section, render, write
from shallows.uses.sweep.file import FigureSection
from shallows.uses.sweep.pooling import is_boolean, pooled
from shallows.uses.sweep.results import load_sweep, sweep_status
from shallows.uses.sweep.store import load_plan

PAGE = "figures.html"
FEW = 20
HEIGHT = 520
LEAD = "The figures of a sweep, from the rows that it has so far."


@typed
def line(frame: Any, x: str, y: str, by: str | None = None, trials: str | None = None) -> Any:
    """y against x, a line for each value of `by`; bars are 95% intervals over repeats (binomial with `trials`).

    >>> import pandas
    >>> frame = pandas.DataFrame({"width": [1, 1, 2, 2], "n": [2, 3, 2, 3], "share": [0.5, 0.2, 1.0, 0.9]})
    >>> [curve.name for curve in line(frame, "width", "share", by="n").data]
    ['n = 2', 'n = 3']
    """
    import plotly.graph_objects as go

    table = pooled(frame, [x, *([by] if by else [])], y, trials)
    figure = go.Figure()
    groups = [("", table)] if by is None else [(str(name), part) for name, part in table.groupby(by)]
    for i, (name, part) in enumerate(groups):
        figure.add_scatter(
            x=part[x],
            y=part["value"],
            name=f"{by} = {name}" if by else y,
            mode="lines+markers",
            line_color=CYCLE[i % len(CYCLE)],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": part["high"] - part["value"],
                "arrayminus": part["value"] - part["low"],
            },
            customdata=part["count"],
            hovertemplate=(
                f"{x} = %{{x}}<br>{y} = %{{y:.6g}}<br>from %{{customdata:g}}<extra>%{{fullData.name}}</extra>"
            ),
        )
    figure.update_layout(xaxis_title=x, yaxis_title=y, showlegend=by is not None)
    return figure


@typed
def heat_map(frame: Any, x: str, y: str, value: str) -> Any:
    """The mean of a value over the grid of two axes; cells without a row stay empty.

    >>> import pandas
    >>> frame = pandas.DataFrame({"width": [1, 1, 2, 2], "n": [2, 3, 2, 3], "share": [0.5, 0.2, 1.0, 0.9]})
    >>> heat_map(frame, "width", "n", "share").data[0].z.tolist()
    [[0.5, 1.0], [0.2, 0.9]]
    """
    import plotly.graph_objects as go

    table = pooled(frame, [x, y], value)
    xs, ys, z = _grid(table, x, y, "value")
    figure = go.Figure(go.Heatmap(x=xs, y=ys, z=z, colorscale=SEQUENTIAL, colorbar_title=value))
    figure.update_traces(hovertemplate=f"{x} = %{{x}}<br>{y} = %{{y}}<br>{value} = %{{z:.6g}}<extra></extra>")
    _axes(figure, x, y, xs, ys)
    return figure


@typed
def phase_diagram(frame: Any, x: str, y: str, value: str, trials: str | None = None) -> Any:
    """A share over the grid of two axes, each cell with its 95% binomial interval; `trials` is the share's denominator.

    Without `trials` the value is a boolean, one trial a row.

    >>> import pandas
    >>> frame = pandas.DataFrame({"width": [1, 2], "n": [2, 2], "share": [0.5, 1.0], "runs": [10, 10]})
    >>> phase_diagram(frame, "width", "n", "share", trials="runs").data[0].text.tolist()
    [['0.50<br>0.24–0.76', '1.00<br>0.72–1.00']]
    """
    import plotly.graph_objects as go

    if trials is None and value in frame.columns and not is_boolean(frame[value].dropna()):
        raise InvalidProblem(
            f"{value!r} is neither a boolean nor a share with trials = '…', the column of how many trials it is from."
        )
    table = pooled(frame, [x, y], value, trials)
    xs, ys, share = _grid(table, x, y, "value")
    bounds = [_grid(table, x, y, name)[2] for name in ("low", "high", "count")]
    text = np.where(np.isnan(share), "", _text(share, bounds[0], bounds[1]))
    figure = go.Figure(
        go.Heatmap(
            x=xs,
            y=ys,
            z=share,
            zmin=0,
            zmax=1,
            colorscale=DIVERGING,
            text=text,
            texttemplate="%{text}",
            colorbar_title=value,
            customdata=np.stack(bounds, axis=-1),
            hovertemplate=(
                f"{x} = %{{x}}<br>{y} = %{{y}}<br>{value} = %{{z:.4f}}<br>95%: %{{customdata[0]:.4f}} to "
                "%{customdata[1]:.4f}, from %{customdata[2]:g} trials<extra></extra>"
            ),
        )
    )
    _axes(figure, x, y, xs, ys)
    return figure


def draw(frame: Any, section: FigureSection) -> Any:
    """The figure of a [[figures]] table."""
    if section.kind == "line":
        figure = line(frame, section.x, section.y, section.by, section.trials)
    elif section.kind == "heat-map":
        figure = heat_map(frame, section.x, section.y, str(section.value))
    else:
        figure = phase_diagram(frame, section.x, section.y, str(section.value), section.trials)
    if section.log_x:
        figure.update_xaxes(type="log")
    if section.log_y:
        figure.update_yaxes(type="log")
    return titled(figure, _title(section), HEIGHT, legend=bool(section.by))


def write_figures(path: str | Path, out: str | Path | None = None) -> Path:
    """Draw the figures of a sweep's file from the rows there are, as one page without outside parts."""
    plan = load_plan(path)
    if not plan.section.figures:
        raise InvalidProblem(
            f"The sweep in {path} has no [[figures]]; add some to its file and run it again."
        )
    frame = load_sweep(path)
    title = plan.section.title or Path(path).name
    section = Section(
        title=title,
        pictures=[
            Picture(_title(each), untitled(draw(frame, each)), _caption(each))
            for each in plan.section.figures
        ],
        sentences=[repr(sweep_status(path)), f"Seed {plan.section.seed}."],
    )
    target = Path(path) / PAGE if out is None else Path(out)
    return write(target, render(title, LEAD, [section]))


def _title(section: FigureSection) -> str:
    return section.title or f"{section.value or section.y} by {section.x}"


def _caption(section: FigureSection) -> str:
    """What the picture shows."""
    if section.kind == "line":
        apart = f", a line for each {section.by}" if section.by else ""
        return f"{section.y} against {section.x}{apart}; bars are 95% intervals over repeats."
    over = f"over {section.x} and {section.y}; cells without a row stay empty"
    return (
        f"The mean of {section.value} {over}."
        if section.kind == "heat-map"
        else (f"The share {section.value} {over}, each with its 95% binomial interval.")
    )


def _grid(table: Any, x: str, y: str, value: str) -> tuple[list[Any], list[Any], np.ndarray]:
    wide = table.pivot(index=y, columns=x, values=value)
    return wide.columns.tolist(), wide.index.tolist(), wide.to_numpy(dtype=float)


def _axes(figure: Any, x: str, y: str, xs: list[Any], ys: list[Any]) -> None:
    """Cells of equal size, one a value, when the values are few or no numbers; otherwise where they belong."""
    figure.update_layout(xaxis_title=x, yaxis_title=y)
    for values, update in ((xs, figure.update_xaxes), (ys, figure.update_yaxes)):
        if len(values) <= FEW or any(isinstance(value, str) for value in values):
            update(type="category")


def _text(share: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    def one(value: float, down: float, up: float) -> str:
        return "" if np.isnan(value) else f"{value:.2f}<br>{down:.2f}–{up:.2f}"

    return np.asarray(np.vectorize(one, otypes=[object])(share, low, high))
