"""Colours and the look of figures: one palette for reports, the explorer, charts, discriminants and sweeps.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; kinds differ in symbol too. Backgrounds are
transparent and texts get their colour from the page (see `page.js`), so that a figure fits a light and a dark page.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from shallows.support.tolerances import TINY

BLUE, ORANGE, GREEN, VERMILLION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PINK, YELLOW, GREY = "#56B4E9", "#CC79A7", "#F0E442", "#8a8f98"
#: Text and outlines in figures that stand on white.
TEXT = "#1c2126"
#: The page shows through.
CLEAR = "rgba(0,0,0,0)"
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
#: Losses: deep blue is low, pale is high; `uses/landscape/page/terrain.js` has the same.
LOSSES = [
    [0.0, "#09244E"], [0.2, "#124E80"], [0.4, "#3484AA"], [0.6, "#80BAC8"], [0.8, "#CDE0D9"], [1.0, "#F7F1E0"],
]  # fmt: skip
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
#: Letters in a line of a figure's title.
LONGEST_TITLE = 84
#: `meta` of traces whose lines are drawn in the colour of the page's text.
INK = {"ink": True}


def channels(colour: str, opacity: float = 1.0) -> tuple[int, int, int, float]:
    """Red, green and blue of a colour of the palette, 0 to 255, and an opacity."""
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue, opacity


def faint(colour: str, opacity: float) -> str:
    """A colour of the palette that lets the page through.

    >>> faint(SKY, 0.18)
    'rgba(86,180,233,0.18)'
    """
    return "rgba({},{},{},{})".format(*channels(colour, opacity))


def styled(figure: Any, height: int = 420, legend: bool = True) -> Any:
    """Give a figure the house's look; titles are left to captions."""
    figure.update_layout(
        template="none",
        height=height,
        font={"family": FONT, "size": 13},
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        margin={"l": 64, "r": 20, "t": 24, "b": 56},
        showlegend=legend,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "bgcolor": CLEAR},
        hoverlabel={"font": {"family": FONT}},
    )
    axis = {
        "exponentformat": "power",  # 2×10⁻¹³, where Plotly would write 200f
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


#: Points of lower rank than the width: saddles all, whatever their index on their stratum, and drawn hollow.
LOWER_RANK = "saddle of lower rank"


def mark_of(kind: str, lower: bool = False, size: float = 10) -> tuple[str, dict[str, Any]]:
    """The name and the marker of a kind of critical point, the same in every figure; `lower`: of lower rank."""
    colour = KIND_COLOURS[kind]
    if kind == "saddle" and lower:
        return LOWER_RANK, {
            "color": colour,
            "symbol": "diamond-open",
            "size": size,
            "line": {"width": 2, "color": colour},
        }
    return kind, {"color": colour, "symbol": KIND_SYMBOLS[kind], "size": size, "line": {"width": 0}}


#: A legend below the axis' title whatever the figure's size: at the foot of the figure, which makes room for it.
LEGEND_BELOW = {"orientation": "h", "yref": "container", "y": 0.01, "yanchor": "bottom", "x": 0}


def titled(figure: Any, title: str, height: int = 480, legend: bool = True) -> Any:
    """The house's look for a figure that stands alone: its title above and its legend below it.

    Lines that take the colour of a page's text (`INK`) are drawn in the colour for white, on white.
    """
    styled(figure, height, legend)
    wide = "<br>".join(wrap(title, LONGEST_TITLE))
    lines = wide.count("<br>") + 1
    figure.update_layout(
        title={"text": wide, "x": 0.02, "xanchor": "left", "y": 0.98, "yref": "container", "yanchor": "top",
               "font": {"size": 15}},
        legend=LEGEND_BELOW, paper_bgcolor="white", font={"color": TEXT}, margin={"t": 34 + 20 * lines},
    )  # fmt: skip
    figure.update_xaxes(gridcolor="#e4e6e9", linecolor=GREY, tickcolor=GREY, zerolinecolor=GREY)
    figure.update_yaxes(gridcolor="#e4e6e9", linecolor=GREY, tickcolor=GREY, zerolinecolor=GREY)
    return figure


#: Losses that differ by less than this share of the largest are one level to the eye, and their axis shows no more.
ONE_LEVEL = 1e-6


def loss_range(losses: Sequence[float], scale: float = 0.0) -> list[float]:
    """The ends of an axis for these losses with some room; rounding around zero is not blown up.

    `scale`: the size of a loss, E y² say; the largest of the losses where it is not known.
    """
    low, high = min(losses, default=0.0), max(losses, default=1.0)
    size = max(scale, abs(low), abs(high))
    room = 0.12 * max(high - low, ONE_LEVEL * size, TINY)
    return [float(low - room), float(high + 2 * room)]


def untitled(figure: Any) -> Any:
    """A figure that stood alone, for a page whose heading and caption say what it is; returns it."""
    return figure.update_layout(title=None, margin={"t": 24}, paper_bgcolor=CLEAR, plot_bgcolor=CLEAR)


def plain_scene(reach: float, **titles: str) -> dict[str, Any]:
    """A cube from −reach to reach, with few lines."""
    axis = {"range": [-reach, reach], "showbackground": False, "zeroline": False, "nticks": 4}
    return {
        "aspectmode": "cube",
        "camera": {"eye": {"x": 1.35, "y": -1.45, "z": 0.75}, "center": {"x": 0, "y": 0, "z": -0.15}},
        **{f"{letter}axis": {**axis, "title": {"text": titles.get(letter, letter)}} for letter in "xyz"},
    }
