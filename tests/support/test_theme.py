"""One look for all figures: kinds of critical points have one colour wherever they are drawn, a legend its place."""

import json
from pathlib import Path

import numpy as np
import pytest

import shallows as sh
from shallows.questions.discriminants.figures import figure2_left
from shallows.questions.discriminants.following.follow import follow
from shallows.support.theme import CYCLE, KIND_COLOURS, LEGEND_BELOW, loss_range, mark_of, titled
from shallows.uses.explorer.fields import defaults
from shallows.uses.explorer.views import NAMES, view_of
from shallows.uses.report.build import charts_html

SADDLE = KIND_COLOURS["saddle"]
#: What Plotly's own template would draw with.
PANELS = ("walk", "sublevels")
PLOTLY = ("#636efa", "#ef553b", "#00cc96", "#ab63fa", "#ffa15a")


@pytest.fixture(scope="module")
def problem():
    return sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), 1)


@pytest.fixture(scope="module")
def figures(problem):
    """Every figure of Python's results, by name."""
    chart, runs = sh.chart(problem), sh.ensemble(problem, runs=8, rng=0)
    recorded = [sh.descend(problem, theta, record=1) for theta in sh.starts(problem, 3, rng=0)]
    tree = chart.connections()
    other = sh.Problem(np.diag([2.0, 1.4, 1.0]), sh.IID(3, [1, 0, 1, 0, 20]), 1)
    plane = sh.Problem(np.eye(2), sh.IID.laplace(2), width=1)
    return {
        "chart": chart.figure(),
        "shares": runs.figure(),
        "losses": runs.figure("losses"),
        "curves": sh.training.loss_curves(recorded),
        "trajectories": sh.training.trajectories(problem, recorded),
        "tree": tree.figure(),
        "crossing": tree.crossing(0).figure(),
        "slice": sh.landscape_regions(plane, ("t00", -1, 3), ("t01", -2, 2), resolution=21).figure(),
        "following": follow(problem, other).figure(),
        "ellipse": figure2_left(),
        "walk": tree.crossing(0).animation(),
        "sublevels": sh.chart(plane).connections().sublevel_figure(),
    }


def colours(figure):
    """All colours that a figure of plain data names, in lower case."""
    found = []

    def walk(value):
        if isinstance(value, dict):
            for each in value.values():
                walk(each)
        elif isinstance(value, list | tuple):
            for each in value:
                walk(each)
        elif isinstance(value, str) and value.startswith("#"):
            found.append(value.lower())

    walk(figure)
    return found


def test_no_figure_has_plotlys_own_look(figures):
    for name, figure in figures.items():
        plain = figure.to_plotly_json()
        assert not set(colours(plain["data"])) & set(PLOTLY), name
        assert figure.layout.template.layout.paper_bgcolor is None, name  # "none": nothing is left to Plotly
        for trace in figure.data:
            drawn = [trace.marker, trace.line] if trace.type == "scatter" else []
            named = [part.color for part in drawn if part.color is not None]
            assert trace.type != "scatter" or named, (name, trace.name)
        if name in PANELS:  # their panels have titles of their own
            continue
        assert figure.layout.title.text and figure.layout.title.yref == "container", name
        legend = figure.layout.legend
        assert legend.yref == "container" and legend.y == LEGEND_BELOW["y"], name


def test_the_site_has_the_same_colours():
    script = (Path(__file__).parents[2] / "docs" / "_static" / "figures.js").read_text(encoding="utf-8")
    assert f"COLOURS = {json.dumps(CYCLE)};" in script


def traces_of_views():
    for name in NAMES:
        for figure in view_of(name).draw(defaults(view_of(name).fields)).figures:
            yield from ((name, trace) for trace in figure.data)


def test_saddles_have_one_colour_everywhere(figures, problem):
    seen = set()
    for name, figure in figures.items():
        for trace in figure.data:
            if trace.type == "scatter" and "saddle" in (trace.name or ""):
                assert trace.marker.color == SADDLE, (name, trace.name)
                seen.add(name)
    joins = next(trace for trace in figures["tree"].data if trace.name == "join")
    assert set(joins.marker.color) == {SADDLE}
    assert next(t for t in figures["crossing"].data if t.name == "join").marker.color == SADDLE
    for name, trace in traces_of_views():
        if "saddle" in str(trace.get("name", "")):
            part = trace.get("marker") or trace["line"]
            assert part["color"] == SADDLE, (name, trace["name"])
            seen.add(name)
    assert {"chart", "cone"} <= seen
    page = charts_html([("", sh.chart(problem))], train=8)
    assert f'"color":"{SADDLE}"' in page


def test_kinds_are_told_apart_without_colours():
    marks = {
        kind: mark_of(kind)[1] for kind in ("global minimum", "local minimum", "saddle", "local maximum")
    }
    assert (
        len({mark["symbol"] for mark in marks.values()})
        == len({mark["color"] for mark in marks.values()})
        == 4
    )
    assert (
        mark_of("saddle", lower=True) != mark_of("saddle")
        and mark_of("local minimum", lower=True)[0] == "local minimum"
    )
    assert SADDLE not in [KIND_COLOURS[kind] for kind in KIND_COLOURS if kind != "saddle"]
    assert len(set(CYCLE)) == len(CYCLE)


def test_a_range_of_losses_does_not_show_rounding():
    low, high = loss_range([1e-31, 3e-32], scale=4.0)
    assert high - low > 1e-7 and low < 0 < high
    low, high = loss_range([1.0, 3.0])
    assert low < 1 and high > 3 and high - low < 3
    assert loss_range([])[0] < loss_range([])[1]


def test_long_titles_get_lines_and_room():
    import plotly.graph_objects as go

    figure = titled(go.Figure(), "a word and another " * 12)
    lines = figure.layout.title.text.count("<br>") + 1
    assert lines > 2 and figure.layout.margin.t >= 20 * lines + 30
