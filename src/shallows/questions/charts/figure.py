"""The picture of a chart: loss against index."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.support.theme import KIND_COLOURS, KIND_SYMBOLS

if TYPE_CHECKING:
    from shallows.questions.charts.result import Chart


def chart_figure(chart: Chart) -> Any:
    """Every critical point at (index on its stratum, loss); kinds differ in colour and in symbol."""
    import plotly.graph_objects as go

    table = chart.critical.table
    figure = go.Figure()
    spread = _spread(table.signature[:, 2], table.loss)
    for kind in chart.kinds():
        chosen = np.flatnonzero(table.kind == kind)
        figure.add_scatter(
            x=table.signature[chosen, 2] + spread[chosen],
            y=table.loss[chosen],
            mode="markers",
            name=f"{kind} ({len(chosen)})",
            marker={"color": KIND_COLOURS[kind], "symbol": KIND_SYMBOLS[kind], "size": 9},
            customdata=np.column_stack([table.rank[chosen], table.signature[chosen]]),
            hovertemplate="loss %{y:.6g}<br>rank %{customdata[0]}<br>signature (%{customdata[1]}, %{customdata[2]}, "
            "%{customdata[3]})<extra>" + kind + "</extra>",
        )
    figure.update_layout(
        title={"text": "Critical points", "subtitle": {"text": "<br>".join(wrap(chart.title, 110))}},
        xaxis={"title": "index on the rank stratum", "dtick": 1},
        yaxis={"title": "loss E(f − y)²"},
        template="plotly_white",
        legend={"title": "kind"},
        margin={"t": 110},
    )
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
