"""What the figures of the experiments share: grids of panels, lines with points, reference lines, shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from shallows.support.theme import GREY, LEGEND_BELOW, styled

AGREE = 3.5


def panels(titles: Sequence[str], columns: int, height: int = 380, **options: Any) -> Any:
    """A grid of panels with titles, in the house's look."""
    from plotly.subplots import make_subplots

    rows = math.ceil(len(titles) / columns)
    figure = make_subplots(rows=rows, cols=columns, subplot_titles=titles, **options)
    styled(figure, height=height)
    figure.update_yaxes(exponentformat="power")
    # the legend stands below: above it would be written over the panels' titles
    figure.update_layout(margin={"t": 40, "b": 56}, legend=LEGEND_BELOW)
    return figure


def place(number: int, columns: int) -> dict[str, int]:
    """Row and column of panel `number` (from 0)."""
    return {"row": number // columns + 1, "col": number % columns + 1}


def curve(colour: str, symbol: str = "circle", dash: str = "solid") -> dict[str, Any]:
    """The look of measured points joined by a line."""
    return {
        "mode": "lines+markers",
        "line": {"color": colour, "width": 2, "dash": dash},
        "marker": {"color": colour, "symbol": symbol, "size": 7},
    }


def guide(figure: Any, text: str, where: dict[str, Any], **line: float) -> None:
    """A dotted line at x or y, with its meaning written beside it."""
    look = {"color": GREY, "dash": "dot", "width": 1.5}
    if "x" in line:
        figure.add_vline(
            x=line["x"], line=look, annotation_text=text, annotation_position="top left", **where,
            annotation_font_size=11,
        )  # fmt: skip
    else:
        figure.add_hline(
            y=line["y"], line=look, annotation_text=text, annotation_position="bottom right", **where,
            annotation_font_size=11,
        )  # fmt: skip


def same_share(first: float, runs: int, second: float, others: int) -> bool:
    """Whether two shares of independent runs are within 3.5 standard deviations of their difference.

    The deviation is that of the pooled share, moved half a run away from 0 and 1.
    """
    pooled = (first * runs + second * others + 0.5) / (runs + others + 1)
    deviation = math.sqrt(pooled * (1 - pooled) * (1 / runs + 1 / others))
    return abs(first - second) <= AGREE * deviation
