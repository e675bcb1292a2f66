"""Plotly figures on the site: what a script shows becomes a fragment that `figures.js` draws.

The library plotly.js is copied once, from the installed package, and loaded by pages that have a figure. Nothing comes
from a network, and no browser is needed to build.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

import plotly.io as pio
from plotly.io._base_renderers import ExternalRenderer

from shallows.support.plotly_script import plotly_script

RENDERER = "site"
HEIGHT = 430
DIGITS = 8


class Collector(ExternalRenderer):
    """A renderer that keeps the figures that `figure.show()` hands to it."""

    def __init__(self) -> None:
        self.figures: list[dict[str, Any]] = []

    def render(self, fig: dict[str, Any]) -> None:
        """Keep one figure."""
        self.figures.append(fig)

    def take(self) -> list[dict[str, Any]]:
        """The figures shown since the last call."""
        taken, self.figures = self.figures, []
        return taken


COLLECTOR = Collector()


def activate() -> None:
    """Let `figure.show()` collect figures, in this process."""
    pio.renderers[RENDERER] = COLLECTOR
    pio.renderers.default = RENDERER


def fragment(figure: dict[str, Any], name: str | None = None) -> str:
    """One figure as HTML without a blank line: a place of the right height, and the data."""
    height = figure.get("layout", {}).get("height") or HEIGHT
    data = json.dumps(_rounded(json.loads(pio.to_json(figure, validate=False))), separators=(",", ":"))
    closed = data.replace("</", "<\\/")
    name = escape(name or _name(figure), quote=True)
    return (
        f'<div class="site-figure" role="img" aria-label="{name}" style="min-height:{height}px">'
        f'<script type="application/json">{closed}</script></div>'
    )


def landscapes(charts: dict[str, Any]) -> str:
    """The landscapes of charts beside each other, by the script that reports and the explorer have too."""
    from shallows.uses.landscape.picture import landscape, safe_json, script, style

    places = "".join(
        f'<figure><figcaption>{escape(title)}</figcaption><div class="site-landscape">'
        f'<script type="application/json">{safe_json(landscape(chart) or {})}</script></div></figure>'
        for title, chart in charts.items()
    )
    begin = (
        "for (const place of document.querySelectorAll('.site-landscape')) { const picture = shallowsLandscape(place, "
        "JSON.parse(place.firstChild.textContent)); picture.roll(); }"
    )
    return (
        f'<style>{style()}</style><div class="site-landscapes">{places}</div>'
        f"<script>{{ {script()}\n{begin} }}</script>"
    )


def _rounded(value: Any) -> Any:
    """Numbers to the digits that a screen can show: a page of focal surfaces is half as large."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return {key: _rounded(each) for key, each in value.items()} if isinstance(value, dict) else value


def _name(figure: dict[str, Any]) -> str:
    """What a reader who cannot see the figure is told."""
    layout = figure.get("layout", {})
    title = (layout.get("title") or {}).get("text")
    axes = [((layout.get(axis) or {}).get("title") or {}).get("text") for axis in ("xaxis", "yaxis")]
    return title or (f"{axes[1]} by {axes[0]}" if all(axes) else "figure")


def scrape(block: tuple[Any, ...], block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """What sphinx-gallery calls after each block of a script: the figures shown in it."""
    lines = []
    for figure in COLLECTOR.take():
        lines += [".. raw:: html", "", f"    {fragment(figure)}", ""]
    return "\n".join(lines)


def copy_library(static: Path) -> None:
    """Write plotly.js beside the other static files of the built site."""
    static.mkdir(parents=True, exist_ok=True)
    (static / "plotly.min.js").write_text(plotly_script(), encoding="utf-8")
