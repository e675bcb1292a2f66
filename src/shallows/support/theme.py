"""Colours and the look of figures: one palette for reports, the explorer, charts, discriminants and sweeps.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; kinds differ in symbol too. Backgrounds are
transparent and texts get their colour from the page (see `page.js`), so that a figure fits a light and a dark page.
"""

from __future__ import annotations

from typing import Any

BLUE, ORANGE, GREEN, VERMILLION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PINK, YELLOW, GREY = "#56B4E9", "#CC79A7", "#F0E442", "#8a8f98"
#: Text and outlines in figures that stand on white.
TEXT = "#1c2126"
#: Light fills of regions, by the number of real critical points and then of local minima: tints of the colours above.
REGIONS = ("#DDEBF4", "#B8D6E8", "#FBEBCC", "#F5D08A", "#D3EDE5", "#A5DBCA", "#F3E2EC", "#E2BCD2")
#: For curves that are told apart by colour.
CYCLE = (BLUE, ORANGE, GREEN, PINK, SKY, VERMILLION, GREY, YELLOW)
#: Colours and symbols of kinds of critical points; end points of training have "minimum" and the like.
KIND_COLOURS = {
    "global minimum": GREEN,
    "local minimum": ORANGE,
    "saddle": BLUE,
    "local maximum": PINK,
    "degenerate": GREY,
    "minimum": ORANGE,
    "degenerate minimum": SKY,
    "lowest minimum": GREEN,
    "lowest degenerate minimum": GREEN,
}
KIND_SYMBOLS = {
    "global minimum": "star",
    "local minimum": "circle",
    "saddle": "diamond",
    "local maximum": "triangle-up",
    "degenerate": "x",
    "minimum": "circle",
    "degenerate minimum": "square",
    "lowest minimum": "star",
    "lowest degenerate minimum": "star-square",
}
#: Diverging, centred at zero: vermillion below, blue above.
DIVERGING = [[0.0, "#A33F00"], [0.25, "#E9A67C"], [0.5, "#F4F4F2"], [0.75, "#7FB4D6"], [1.0, "#004F7C"]]
#: From light to dark blue: amounts. Losses are drawn the other way round, darker is lower.
SEQUENTIAL = [[0.0, "#F3F7FA"], [0.25, "#C3DCEB"], [0.5, "#7FB4D6"], [0.75, "#2F86BC"], [1.0, "#004F7C"]]
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
#: `meta` of traces whose lines are drawn in the colour of the page's text.
INK = {"ink": True}


def styled(figure: Any, height: int = 420, legend: bool = True) -> Any:
    """Give a figure the house's look; titles are left to captions."""
    figure.update_layout(
        template="none",
        height=height,
        font={"family": FONT, "size": 13},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 64, "r": 20, "t": 24, "b": 56},
        showlegend=legend,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "bgcolor": "rgba(0,0,0,0)"},
        hoverlabel={"font": {"family": FONT}},
    )
    axis = {
        "showline": True,
        "linewidth": 1,
        "ticks": "outside",
        "ticklen": 4,
        "zeroline": False,
        "automargin": True,
    }
    title = {"font": {"size": 13}, "standoff": 8}
    figure.update_xaxes(title=title, **axis)
    figure.update_yaxes(title=title, **axis)
    return figure


def plain_scene(reach: float, **titles: str) -> dict[str, Any]:
    """A cube from −reach to reach, with few lines."""
    axis = {"range": [-reach, reach], "showbackground": False, "zeroline": False, "nticks": 4}
    return {
        "aspectmode": "cube",
        "camera": {"eye": {"x": 1.35, "y": -1.45, "z": 0.75}, "center": {"x": 0, "y": 0, "z": -0.15}},
        **{f"{letter}axis": {**axis, "title": {"text": titles.get(letter, letter)}} for letter in "xyz"},
    }
