"""Take the pictures of `docs/images` anew: `python docs/_ext/screenshots.py [explorer] [report] [discriminants]`.

This needs a Chromium on the PATH and Playwright; building the site does not, because the pictures are committed. The
explorer and a report are photographed as a reader sees them; figures of discriminants are drawn from the same calls as
on their page.
"""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from thumbnails import FLAGS

import shallows as sh

PLACE = Path(__file__).resolve().parent.parent / "images"
WIDE, HIGH = 1280, 900
#: What each view shows, beyond its defaults.
VIEWS = {
    "quadratic": "kurtosis=30",
    "affine": "",
    "tree": "",
    "path": "t=0.3",
    "slices": "",
    "relu": "",
    "cone": "",
    "ellipse": "",
    "binary": "",
    "flow": "",
}
#: Views whose training runs are on their way down.
TRAINED = ("quadratic", "affine", "path")


def explorer(page: Any) -> None:
    """Every view at one state, the whole page."""
    from shallows.uses.explorer.server import make_server, warm

    server = make_server(port=0)
    warm()
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    for name, state in VIEWS.items():
        page.goto(f"{server.address}/?view={name}&{state}")
        page.locator(".facts > div").first.wait_for()
        page.wait_for_function("document.documentElement.dataset.busy === 'false'")
        page.wait_for_timeout(4000)
        if name in TRAINED:
            page.locator("button:visible", has_text="Train").last.click()
            page.wait_for_timeout(400)
        page.screenshot(path=PLACE / "explorer" / f"{name}.png", full_page=True)
    server.stop()
    thread.join(timeout=10)


def report(page: Any) -> None:
    """The top of a report."""
    chart = sh.chart(sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), width=1))
    with TemporaryDirectory() as folder:
        page.set_viewport_size({"width": 1100, "height": 1500})
        page.goto(chart.report(Path(folder) / "report.html").as_uri())
        page.locator("html[data-ready=true]").wait_for(state="attached")
        page.wait_for_timeout(4000)
        page.screenshot(
            path=PLACE / "report" / "report.png", clip={"x": 0, "y": 0, "width": 1100, "height": 1500}
        )


def discriminants(page: Any) -> None:
    """The figures of the page on discriminants."""
    from shallows.questions.discriminants import figures

    laplace = sh.Problem(np.eye(2), sh.IID.laplace(2), width=1)
    T = np.array([[1.0, 0.2, 0.1], [0.2, 1.0, 0.3], [0.1, 0.3, 1.5]])
    start, end = (sh.Problem(np.array(t), sh.IID.laplace(2), width=1) for t in PATH)
    makers: dict[str, Callable[[], Any]] = {
        "ellipse": figures.figure2_left,
        "metrics": lambda: figures.figure2_centre().update_layout(height=900, width=760),
        "cone": figures.figure2_right,
        "slice": lambda: sh.landscape_regions(laplace, ("t00", -1, 3), ("t01", -2, 2)).figure(),
        "path": lambda: sh.follow(start, end).figure(),
        "activation": lambda: sh.discriminants.activation_regions(
            sh.discriminants.activation(ACTIVATION), (0.05, 3), (-4, 2), 161
        ).figure(),
        "focal-slice": lambda: sh.focal_slice(
            sh.Problem(T, sh.IID.laplace(3), width=1), ("t00", -1, 4), ("t01", -2, 2)
        ).figure(axes=(0, 1)),
    }
    for name, maker in makers.items():
        figure = maker()
        high = int(figure.layout.height or 560)
        wide = int(figure.layout.width or 860)
        page.set_viewport_size({"width": wide, "height": high})
        page.set_content(
            f"<style>body {{ margin: 0 }}</style>{figure.to_html(config={'displayModeBar': False})}"
        )
        page.wait_for_timeout(1200)
        page.screenshot(path=PLACE / "discriminants" / f"{name}.png")


#: The teacher of the page's family of activations.
ACTIVATION = sh.Network([[1.0, 0.5], [-0.5, 1.25]], [1.0, 1.0], activation=sh.Polynomial([1, 1, 1]))
#: The path of problems on the page: its collision and its vertex.
PATH = ([[1.0, 0.1], [0.1, 1.0]], [[-3.0, 1.0], [1.0, 0.5]])


def main(wanted: list[str]) -> None:
    """Take all pictures, or those of the named kinds."""
    from playwright.sync_api import sync_playwright

    kinds = {"explorer": explorer, "report": report, "discriminants": discriminants}
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": WIDE, "height": HIGH})
        for name in wanted or kinds:
            kinds[name](page)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
