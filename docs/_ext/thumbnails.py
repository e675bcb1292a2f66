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


def plain(figure: dict[str, Any]) -> go.Figure:
    """The figure without what cannot be read at this size."""
    small = go.Figure(figure)
    small.update_layout(
        title=None, showlegend=False, margin={"l": 8, "r": 8, "t": 8, "b": 8}, annotations=[], **SIZE
    )
    small.update_xaxes(title=None, showticklabels=False)
    small.update_yaxes(title=None, showticklabels=False)
    return small.update_traces(showscale=False, selector={"type": "heatmap"})


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
            page.set_content(plain(pictures.COLLECTOR.take()[-1]).to_html(config={"displayModeBar": False}))
            page.wait_for_timeout(800)
            page.screenshot(path=PLACE / f"{script.stem}.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
