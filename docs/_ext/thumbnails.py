"""Draw the thumbnails of gallery scripts: `python docs/_ext/thumbnails.py [NN …]`.

This needs a Chromium on the PATH and Playwright; building the site does not, because the pictures are committed.
"""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

import pictures
import plotly.graph_objects as go

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "examples" / "gallery"
PLACE = ROOT / "docs" / "_static" / "thumbnails"
SIZE = {"width": 400, "height": 280}
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]


#: At the size of a thumbnail lines and marks are drawn this much larger, or they would be faint.
BOLDER = 1.9
THIN_LINE, SMALL_MARK = 2.0, 7.0
ROOM = 16


def plain(figure: dict[str, Any]) -> go.Figure:
    """The figure without what cannot be read at this size, whole, and in bold strokes."""
    small = go.Figure(figure)
    small.layout.annotations = ()
    small.update_layout(
        title=None, showlegend=False, margin={"l": ROOM, "r": ROOM, "t": ROOM, "b": ROOM, "autoexpand": False},
        paper_bgcolor="white", plot_bgcolor="white", coloraxis={"showscale": False}, updatemenus=[], sliders=[], **SIZE,
    )  # fmt: skip
    axis = {"title": None, "showticklabels": False, "ticks": "", "showgrid": False, "zeroline": False}
    frame = {"showline": True, "mirror": True, "linecolor": "#8a8f98", "linewidth": 1.5}
    small.update_xaxes(**axis, **frame)
    small.update_yaxes(**axis, **frame)
    small.update_scenes(
        xaxis_visible=False,
        yaxis_visible=False,
        zaxis_visible=False,
        camera_eye={"x": 0.9, "y": -0.9, "z": 0.5},
    )
    for trace in small.data:
        _embolden(trace)
    return small


def _embolden(trace: Any) -> None:
    """Thicker lines, larger marks, and no scale beside a map."""
    if "showscale" in trace:
        trace.showscale = False
    if trace.type not in ("scatter", "scatter3d", "scattergl"):
        return
    trace.line.width = BOLDER * (trace.line.width or THIN_LINE)
    if trace.type == "scatter3d":  # a cloud of large marks hides what is in it
        return
    size = trace.marker.size if isinstance(trace.marker.size, int | float) else None
    if size is not None or trace.marker.size is None:
        trace.marker.size = BOLDER * (size or SMALL_MARK)
    trace.opacity = 1


def page_of(figure: go.Figure) -> str:
    """The page that is photographed: a body with a margin would push the figure out of the picture."""
    return f"<style>body {{ margin: 0 }}</style>{figure.to_html(config={'displayModeBar': False})}"


def main(wanted: list[str]) -> None:
    """Run the scripts (all, or those with these numbers) and photograph the last figure of each."""
    from playwright.sync_api import sync_playwright

    pictures.activate()
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport=SIZE)
        for script in sorted(SCRIPTS.glob("plot_*.py")):
            if wanted and script.stem.split("_")[1] not in wanted:
                continue
            runpy.run_path(str(script), run_name="__main__")
            page.set_content(page_of(plain(pictures.COLLECTOR.take()[-1])))
            page.wait_for_timeout(800)
            page.screenshot(path=PLACE / f"{script.stem}.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
