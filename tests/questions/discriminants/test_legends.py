"""Legends below a figure stay clear of the axis' title and of each other's panels, whatever the size: in a browser."""

import numpy as np
import pytest

import shallows as sh
from shallows.support.theme import LEGEND_BELOW
from shallows.uses.papers.experiments.looks import curve, panels

#: How many pixels of a title or of a tick's label the legend covers.
COVERED = """() => {
  const legend = document.querySelector(".legend").getBoundingClientRect();
  const below = document.querySelector(".js-plotly-plot").getBoundingClientRect().bottom;
  const over = Array.from(document.querySelectorAll(".xtitle, .xtick text")).map((text) => {
    const box = text.getBoundingClientRect();
    const wide = Math.min(legend.right, box.right) - Math.max(legend.left, box.left);
    const high = Math.min(legend.bottom, box.bottom) - Math.max(legend.top, box.top);
    return wide > 0 && high > 0 ? high : 0;
  });
  return Math.max(legend.bottom - below, ...over);
}"""
SIZES = ((1000, 700), (480, 420))


def slice_figure():
    problem = sh.Problem([[1.0, 0.0], [0.0, 1.0]], sh.IID.laplace(2), width=1)
    return sh.landscape_regions(problem, ("t00", -1, 3), ("t01", -2, 2), resolution=41).figure()


def panel_figure():
    figure = panels(["one", "two"], 2, 380)
    for column in (1, 2):
        figure.add_scatter(
            x=[0, 1], y=[0, 1], name=f"a curve of panel {column}", row=1, col=column, **curve("#000")
        )
        figure.update_xaxes(title_text="x", row=1, col=column)
    return figure


def covered(browser, pages):
    """Of every page at every size."""
    found = {}
    for name, page in pages.items():
        for width, height in SIZES:
            window = browser.new_page(viewport={"width": width, "height": height})
            window.goto(page.as_uri())
            window.wait_for_selector(".legend .traces")
            found[name, width] = window.evaluate(COVERED)
            window.close()
    return found


@pytest.fixture(scope="module")
def found(browser, tmp_path_factory):
    """Pixels covered, of every figure at every size; "old" is the legend that anchored its foot above the title."""
    old = slice_figure().update_layout(legend={"yref": "paper", "y": -0.15, "yanchor": "auto"})
    folder = tmp_path_factory.mktemp("legends")
    pages = {}
    for name, figure in (("slice", slice_figure()), ("panels", panel_figure()), ("old", old)):
        pages[name] = folder / f"{name}.html"
        figure.write_html(pages[name], include_plotlyjs="directory", config={"responsive": True})
    return covered(browser, pages)


@pytest.mark.parametrize("width", [width for width, _ in SIZES])
@pytest.mark.parametrize("name", ["slice", "panels"])
def test_legends_cover_nothing(name, width, found):
    assert found[name, width] <= 1


def test_the_check_sees_a_legend_that_covers_a_title(found):
    assert found["old", 480] > 5
    assert LEGEND_BELOW["yref"] == "container"


@pytest.fixture(scope="module")
def others(browser, tmp_path_factory):
    """The same of the figures of charts, trees and training."""
    problem = sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), 1)
    chart, runs = sh.chart(problem), [sh.descend(problem, t, record=1) for t in sh.starts(problem, 5, rng=0)]
    figures = {
        "chart": chart.figure(),
        "tree": chart.connections().figure(),
        "crossing": chart.connections().crossing(0).figure(),
        "curves": sh.training.loss_curves(runs),
        "trajectories": sh.training.trajectories(problem, runs),
    }
    folder = tmp_path_factory.mktemp("others")
    for name, figure in figures.items():
        figure.write_html(folder / f"{name}.html", include_plotlyjs="directory", config={"responsive": True})
    return covered(browser, {name: folder / f"{name}.html" for name in figures})


@pytest.mark.thorough
def test_legends_of_charts_trees_and_training_cover_nothing(others):
    assert len(others) == 10 and all(pixels <= 1 for pixels in others.values()), others
