"""The figures of a report; Plotly is loaded when one is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shallows.support.checks import plural
from shallows.support.theme import (
    BLUE,
    GREY,
    INK,
    KIND_COLOURS,
    ONE_LEVEL,
    VERMILLION,
    loss_range,
    mark_of,
    styled,
)
from shallows.support.tolerances import TINY
from shallows.uses.report.entries import Entry
from shallows.uses.report.training import FLAT, Way
from shallows.uses.report.words import percent

#: More points than this are thinned in a figure; the table has them all.
LARGEST_DRAWN = 5_000
GUIDES = 12


def landscape(
    entries: Sequence[Entry], ways: Sequence[Way] = (), place: str = "the rank stratum", scale: float = 0.0
) -> Any:
    """Loss against index: every point by kind, the ways of training as lines, its end points as rings."""
    import plotly.graph_objects as go

    return draw_landscape(go.Figure(), entries, ways, place, scale)


def draw_landscape(
    figure: Any, entries: Sequence[Entry], ways: Sequence[Way], place: str, scale: float = 0.0
) -> Any:
    """Draw it on a figure; `ways` have their indices in the parameters, and so must the points beside them."""
    for i, way in enumerate(way for way in ways if len(way.indices)):
        figure.add_scatter(
            x=way.indices + 0.24 * ((i + 0.5) / max(len(ways), 1) - 0.5), y=way.index_losses, mode="lines",
            line={"color": GREY, "width": 1}, opacity=0.6, hoverinfo="skip", name="training",
            legendgroup="training", showlegend=i == 0,
        )  # fmt: skip
    shown = [entry for entry in entries if entry.signature is not None][:LARGEST_DRAWN]
    spread = _spread(shown)
    for kind, lower in dict.fromkeys((entry.kind, entry.lower) for entry in shown):
        chosen = [i for i, entry in enumerate(shown) if (entry.kind, entry.lower) == (kind, lower)]
        name, marker = mark_of(kind, lower, 11)
        figure.add_scatter(
            x=[(shown[i].index or 0) + spread[i] for i in chosen], y=[shown[i].loss for i in chosen], mode="markers",
            name=f"{name} ({len(chosen)})", marker=marker,
            customdata=[[shown[i].number, "–" if shown[i].rank is None else shown[i].rank] for i in chosen],
            hovertemplate="point %{customdata[0]}<br>loss %{y:.6g}<br>rank %{customdata[1]}<extra>"
            + kind + "</extra>",
        )  # fmt: skip
    _rings(figure, shown, spread)
    top = max((entry.index or 0 for entry in shown), default=0)
    styled(figure)
    figure.update_xaxes(
        title_text=f"index: negative directions on {place}",
        dtick=max(1, top // 12),
        range=[-0.6, max(top, 1) + 1.6],
    )
    figure.update_yaxes(title_text="loss E(f − y)²", range=loss_range([entry.loss for entry in shown], scale))
    return figure


def _rings(figure: Any, shown: Sequence[Entry], spread: Sequence[float]) -> None:
    """A ring around every point where runs end, its area grows with their share; points side by side share a label."""
    ends = [i for i, entry in enumerate(shown) if entry.share]
    if not ends:
        return
    together: dict[tuple[int | None, str], list[int]] = {}
    for i in ends:
        together.setdefault((shown[i].index, f"{shown[i].loss:.6g}"), []).append(i)
    labels = {
        max(group, key=lambda i: spread[i]): percent(sum(shown[i].share or 0.0 for i in group))
        for group in together.values()
    }
    figure.add_scatter(
        x=[(shown[i].index or 0) + spread[i] for i in ends], y=[shown[i].loss for i in ends], mode="markers+text",
        marker={"symbol": "circle-open", "color": VERMILLION, "line": {"width": 2},
                "size": [16 + 26 * float(np.sqrt(shown[i].share or 0.0)) for i in ends]},
        text=[labels.get(i, "") for i in ends], textposition="middle right", name="end of training runs",
        hoverinfo="skip", cliponaxis=False,
    )  # fmt: skip


def _spread(entries: Sequence[Entry]) -> list[float]:
    """Points of one index and one loss (to six digits) are drawn side by side."""
    seen: dict[tuple[int | None, str], int] = {}
    offsets = []
    for entry in entries:
        key = (entry.index, f"{entry.loss:.6g}")
        step = seen.get(key, 0)
        seen[key] = step + 1
        offsets.append(float(np.clip(0.06 * ((step + 1) // 2) * (-1) ** step, -0.4, 0.4)))
    return offsets


def ways_figure(ways: Sequence[Way], entries: Sequence[Entry]) -> Any:
    """Loss against iterations of the recorded runs, with the losses of the listed points as horizontal lines."""
    import plotly.graph_objects as go

    figure = go.Figure()
    levels = _levels(entries)
    last = max(float(way.times[-1]) for way in ways) + 1
    for loss, kind in levels:
        figure.add_scatter(
            x=[1, last], y=[loss, loss], mode="lines", line={"color": KIND_COLOURS[kind], "width": 1.5, "dash": "dot"},
            name=plural(kind), legendgroup=kind, showlegend=kind not in {trace.legendgroup for trace in figure.data},
            hovertemplate=f"{kind}, loss {loss:.6g}<extra></extra>",
        )  # fmt: skip
    for i, way in enumerate(ways):
        figure.add_scatter(
            x=way.times + 1, y=way.losses, mode="lines", line={"width": 1.5}, opacity=0.7, name="runs",
            meta=INK, legendgroup="runs", showlegend=i == 0, hovertemplate="loss %{y:.6g}<extra></extra>",
        )  # fmt: skip
    styled(figure)
    figure.update_xaxes(title_text="iterations + 1", type="log", dtick=1)
    figure.update_yaxes(title_text="loss E(f − y)²", range=_window(levels, ways))
    return figure


def _window(levels: Sequence[tuple[float, str]], ways: Sequence[Way]) -> list[float]:
    """From below the lowest loss to well above the listed ones, so that their lines can be told apart."""
    losses = [loss for loss, _ in levels]
    low = min(losses + [float(way.losses[-1]) for way in ways])
    typical = float(np.median([way.losses[0] for way in ways]))
    spread = 2.5 * (max(losses, default=low) - low)
    high = max(low + spread, max(losses, default=low)) if spread > ONE_LEVEL * max(typical, TINY) else typical
    return [low - 0.05 * (high - low), high + 0.02 * (high - low)]


def _levels(entries: Sequence[Entry]) -> list[tuple[float, str]]:
    """The distinct losses of the listed points, those with a minimum first, a few at most."""
    found: dict[str, tuple[float, str]] = {}
    order = sorted(entries, key=lambda entry: ("minimum" not in entry.kind, entry.loss))
    for entry in order:
        found.setdefault(f"{entry.loss:.6g}", (entry.loss, entry.kind))
    return list(found.values())[:GUIDES]


def shares_figure(entries: Sequence[Entry], runs: int) -> Any:
    """The share of runs at each end point, with binomial standard errors."""
    import plotly.graph_objects as go

    ends = [entry for entry in entries if entry.share][:20][::-1]
    share = np.array([entry.share for entry in ends], dtype=float)
    error = np.sqrt(share * (1 - share) / max(runs, 1))
    figure = go.Figure(
        go.Bar(
            y=[f"{entry.number}: loss {entry.loss:.5g}" for entry in ends], x=share, orientation="h",
            marker={"color": [KIND_COLOURS[entry.kind] for entry in ends]},
            error_x={"type": "data", "array": error, "thickness": 1.2, "width": 3, "color": GREY},
            hovertemplate="%{y}<br>%{x:.1%} of runs<extra></extra>",
        )
    )  # fmt: skip
    styled(figure, height=90 + 34 * len(ends), legend=False)
    figure.update_xaxes(title_text="share of runs", tickformat=".0%", rangemode="tozero")
    figure.update_yaxes(type="category", ticks="")
    return figure


def eigenvalues_figure(entries: Sequence[Entry]) -> Any:
    """The smallest Hessian eigenvalues in parameter space, a column a point: negative, flat and positive apart."""
    import plotly.graph_objects as go

    shown = [entry for entry in entries if entry.eigenvalues is not None]
    x = np.concatenate([np.full(len(entry.eigenvalues), entry.number) for entry in shown])  # type: ignore[arg-type]
    y = np.concatenate([entry.eigenvalues for entry in shown])
    flat = FLAT * max(float(np.abs(y).max()), TINY)
    groups = (("negative", y < -flat, VERMILLION, "triangle-down"), ("flat", np.abs(y) <= flat, GREY, "line-ew"),
              ("positive", y > flat, BLUE, "circle"))  # fmt: skip
    figure = go.Figure()
    figure.add_hline(y=0, line={"width": 1, "color": GREY})
    for name, chosen, colour, symbol in groups:
        if not chosen.any():
            continue
        figure.add_scatter(
            x=x[chosen], y=y[chosen], mode="markers", name=name,
            marker={"color": colour, "symbol": symbol, "size": 8, "line": {"width": 2 if name == "flat" else 0,
                                                                           "color": colour}},
            hovertemplate="point %{x}<br>eigenvalue %{y:.5g}<extra></extra>",
        )  # fmt: skip
    styled(figure, height=360)
    figure.update_xaxes(title_text="point, by increasing loss", dtick=max(1, len(shown) // 15))
    figure.update_yaxes(title_text="smallest Hessian eigenvalues", range=None if y.any() else [-1, 1])
    return figure
