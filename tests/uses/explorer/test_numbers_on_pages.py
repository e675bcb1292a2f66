"""Numbers on pages, seen in a browser: the same count everywhere, runs in pieces, regions, axes of reports."""

import json
import re

import numpy as np
import pytest

import shallows as sh
from shallows.uses.explorer.views import relu

CURVES = """() => JSON.stringify(document.querySelector('.js-plotly-plot').calcdata
  .filter((curve) => ['above zero', 'near zero'].includes(curve[0].trace.name))
  .map((curve) => curve.map((point) => [point.x, point.y])))"""
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


def test_a_run_in_pieces_looks_like_one_that_was_loaded(shown, monkeypatch):
    for steps in (0, 20, 40, 500, 520, 1940):
        page = shown("relu", k=4, runs=3, seed=5, steps=steps)
    in_pieces = json.loads(page.evaluate(CURVES))
    monkeypatch.setattr(relu, "MEMORY", relu.Memory())
    shown("relu", k=4, runs=3, seed=6, steps=0)
    page = shown("relu", k=4, runs=3, seed=5, steps=1940)
    loaded = json.loads(page.evaluate(CURVES))
    assert len(loaded) >= 3 and in_pieces == loaded
    assert all(curve[0][0] == 0 and curve[-1][0] == 1940 for curve in loaded)  # from beginning to end


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_numbers_of_the_first_view_agree(shown, size):
    page = shown("quadratic", kurtosis=30)
    page.set_viewport_size(size)
    try:
        facts = page.locator(".facts").inner_text()
        count = int(re.search(r"(\d+)\s+critical points of rank one", facts)[1])
        in_legend = re.findall(
            r"(?:minimum|saddle|maximum) \((\d+)\)", page.locator(".landscape-legend").inner_text()
        )
        rows = [row.split("\t") for row in page.locator("table tbody tr").all_inner_texts()]
    finally:
        page.set_viewport_size(DESKTOP)
    chart = sh.chart(sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), 1))
    assert count == sum(map(int, in_legend)) == len(rows) - 1 == chart.real_count[1]
    assert f"{len(rows)}/{len(rows)}" in facts and "with the zero network" in facts
    (zero,) = (row for row in rows if row[-1].strip() == "zero")
    assert zero[2:4] == ["–", "–"]  # no saddle at index 0
    assert all(row[2] == "0" for row in rows if "minimum" in row[1])


def test_regions_of_the_cone_have_a_legend_and_faces_hide_nothing(shown):
    page = shown("cone")
    legend = page.locator("text=/points?, . minim/").all_text_contents()
    assert {"2 points, 1 minimum", "2 points, 2 minima", "4 points, 2 minima"} <= {
        text.strip() for text in legend
    }
    faces = "[...document.querySelectorAll('.js-plotly-plot')].flatMap((plot) => plot.data)"
    opacities = page.evaluate(
        f"{faces}.filter((trace) => trace.type === 'mesh3d').map((trace) => trace.opacity)"
    )
    assert opacities and max(opacities) < 0.5


TICKS = "[...document.querySelectorAll('.xtick text, .ytick text')].map((tick) => tick.textContent)"


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_a_report_without_a_name_has_words_one_space_and_readable_ticks(tmp_path, watched, size):
    chart = sh.chart(sh.Problem(sh.Network([[1.0, 0.0, 0.0]]), sh.Gaussian(3), width=1))
    chart.report(tmp_path / "report.html")
    with watched((tmp_path / "report.html").as_uri(), device_scale_factor=1) as page:
        page.set_viewport_size(size)
        page.locator("html[data-ready=true]").wait_for(state="attached")
        assert "Problem(" not in page.locator("h1").inner_text()
        assert not re.search(
            r"\b1 local minima\b|\b1 saddles\b|\b1 minima\b", page.locator("body").inner_text()
        )
        page.wait_for_function(f"{TICKS}.length > 0")
        assert not [tick for tick in page.evaluate(TICKS) if re.search(r"\d[fpnµ]$", tick)]  # no "200f"
