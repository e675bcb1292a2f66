"""Pictures of numbers of real solutions over a grid of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.support.theme import REGIONS, TEXT, styled

if TYPE_CHECKING:
    from shallows.mathematics.homotopy.real_regions import RealCounts


def region_figure(found: RealCounts) -> Any:
    """A field of colours, one a number of real solutions, and the points at which it changes; a step curve for one
    parameter."""
    import plotly.graph_objects as go

    names = found.names or tuple(f"parameter {k + 1}" for k in range(len(found.axes)))
    figure = go.Figure()
    if len(found.axes) == 1:
        shown = np.where(found.counts < 0, np.nan, found.counts)
        figure.add_scatter(
            x=found.axes[0], y=shown, mode="lines+markers", line_shape="hvh", name="real solutions"
        )
        for crossing in found.crossings[:, 0]:
            figure.add_vline(x=float(crossing), line_color=TEXT, line_dash="dot")
        figure.update_layout(xaxis_title=names[0], yaxis_title="real solutions")
        return styled(figure, legend=False)
    values = found.values
    place = {value: k for k, value in enumerate(values)}
    field = np.array([[place.get(int(c), np.nan) for c in row] for row in found.counts], float)
    steps = max(len(values), 1)
    colours = [REGIONS[k % len(REGIONS)] for k in range(steps)]
    scale = [[(k + side) / steps, colours[k]] for k in range(steps) for side in (0, 1)]
    figure.add_heatmap(
        x=found.axes[0],
        y=found.axes[1],
        z=field.T,
        zmin=-0.5,
        zmax=steps - 0.5,
        colorscale=scale,
        colorbar={"tickvals": list(range(steps)), "ticktext": [str(v) for v in values], "title": "real"},
        hoverongaps=False,
    )
    figure.add_scatter(
        x=found.crossings[:, 0],
        y=found.crossings[:, 1],
        mode="markers",
        marker={"size": 4, "color": TEXT},
        name="number changes",
    )
    figure.update_layout(xaxis_title=names[0], yaxis_title=names[1])
    return styled(figure, legend=False)
