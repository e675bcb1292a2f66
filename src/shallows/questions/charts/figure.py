"""The picture of a chart: loss against index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.model.problem_title import problem_title
from shallows.support.theme import loss_range, mark_of, titled

if TYPE_CHECKING:
    from shallows.questions.charts.result import Chart


def chart_figure(chart: Chart) -> Any:
    """Every critical point at (index on its stratum, loss); kinds differ in colour and in symbol.

    Hollow diamonds have a lower rank than the width: their index counts directions that keep the rank, and a further
    neuron leads down from each, also where it is 0.
    """
    import plotly.graph_objects as go

    table = chart.critical.table
    figure = go.Figure()
    spread = _spread(table.signature[:, 2], table.loss)
    lower = table.rank < (0 if chart.problem is None else chart.problem.width)
    for kind in chart.kinds():
        for below in (False, True):
            name, marker = mark_of(kind, below)
            apart = name != kind
            chosen = np.flatnonzero((table.kind == kind) & (lower if apart else ~lower | (kind != "saddle")))
            if apart != below or not len(chosen):
                continue
            figure.add_scatter(
                x=table.signature[chosen, 2] + spread[chosen],
                y=table.loss[chosen],
                mode="markers",
                name=f"{name} ({len(chosen)})",
                marker=marker,
                customdata=np.column_stack([table.rank[chosen], table.signature[chosen]]),
                hovertemplate="loss %{y:.6g}<br>rank %{customdata[0]}<br>signature (%{customdata[1]}, "
                "%{customdata[2]}, %{customdata[3]})<extra>" + kind + "</extra>",
            )
    title = chart.title if chart.problem is None else problem_title(chart.problem)
    titled(figure, f"Critical points: {title[:1].lower() + title[1:]}")
    figure.update_xaxes(title_text="index on the rank stratum", dtick=1)
    figure.update_yaxes(title_text="loss E(f − y)²", range=loss_range(table.loss.tolist()))
    return figure


def _spread(index: Any, loss: Any) -> Any:
    """Points of one index and one loss (to six digits) are drawn side by side."""
    offsets = np.zeros(len(loss))
    seen: dict[tuple[int, str], int] = {}
    for i, (k, value) in enumerate(zip(index, loss, strict=True)):
        key = (int(k), f"{value:.6g}")
        step = seen.get(key, 0)
        offsets[i] = 0.04 * ((step + 1) // 2) * (-1) ** step
        seen[key] = step + 1
    return np.clip(offsets, -0.4, 0.4)
