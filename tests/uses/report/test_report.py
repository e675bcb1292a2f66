"""Reports: what they say, that they stand alone, and what is refused."""

import json
import re
import xml.etree.ElementTree as xml
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import shallows as sh
from shallows.support.checks import counted
from shallows.uses.report.build import (
    chart_report,
    charts_html,
    charts_report,
    ensemble_html,
    ensemble_report,
)
from shallows.uses.report.entries import chart_entries, minima_entries, shares_of
from shallows.uses.report.figures import landscape
from shallows.uses.report.mathematics import form, number, problem_html
from shallows.uses.report.templating import figure_json
from shallows.uses.report.words import completeness_words, joined, percent, training_sentences

recipes = import_module("shallows.uses.report.recipe")


@pytest.fixture(scope="module")
def chart():
    return sh.chart(sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), 1))


@pytest.fixture(scope="module")
def page(chart, tmp_path_factory):
    path = chart_report(chart, tmp_path_factory.mktemp("r") / "deep" / "out.html", train=40)
    return path.read_text(encoding="utf-8")


def words(page):
    """The text a reader sees, scripts and tags left out."""
    bare = re.sub(r"<(script|style).*?</\1>", " ", page, flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", bare))


def test_it_says_how_many_of_which_kind_how_complete_and_how_certified(page):
    text = words(page)
    for expected in (
        "14 real critical points: 4 global minima and 10 saddles",
        "13 over the complex numbers at rank 1, 13 of them real",
        "no critical point is missing",
        "Every point and its signature are proved",
        "dimension 3 in a space of 6",
        "Of 40 runs of gradient descent",
        "sh.IID(3, moments=[1.0, 0.0, 1.0, 0.0, 30.0])",
        "moments = [1.0, 0.0, 1.0, 0.0, 30.0]",
        "seed 0",
    ):
        assert expected in text, expected


def test_it_stands_alone(page):
    assert page.count("plotly.js v") == 1 or page.count("/**\n* plotly.js") == 1
    own = re.sub(r"<script>.*?</script>", "", page, flags=re.S)  # Plotly's own texts name addresses
    assert not re.findall(r"""(?:src|href)\s*=\s*["']?(?!#|data:)[^"'\s>]+""", own)
    assert "@import" not in own and "url(" not in own


def test_shares_are_those_of_the_runs(chart):
    runs = sh.ensemble(chart.problem, runs=50, rng=3)
    shares, elsewhere = shares_of(chart, runs)
    assert elsewhere == 0 and sum(shares.values()) == pytest.approx(1.0)
    entries = chart_entries(chart, shares)
    at_best = sum(e.share for e in entries if e.kind == "global minimum")
    assert at_best == pytest.approx(float(np.mean(runs.losses < chart.minimum.loss + 1e-6)))
    assert entries[0].eigenvalues[0] == 0.0  # the fiber of (a, w): a flat direction, not rounding


def test_why_runs_stay_at_saddles_is_said_only_where_it_is_so(chart):
    runs = sh.ensemble(chart.problem, runs=20, rng=0)
    zero, saddle = len(chart.points) - 1, 4
    assert chart.points[zero].rank == 0 and chart.points[saddle].rank == 1
    held = training_sentences(runs, chart_entries(chart, {0: 0.5, zero: 0.5}), 0.0)
    passing = training_sentences(runs, chart_entries(chart, {0: 0.5, saddle: 0.5}), 0.0)
    assert "no negative eigenvalue" in " ".join(held) and "no negative eigenvalue" not in " ".join(passing)
    assert "50.0% end at a global minimum and 50.0% end at a saddle" in held[0]


def test_rings_side_by_side_share_a_label(chart):
    figure = landscape(chart_entries(chart, {0: 0.25, 1: 0.25, 3: 0.25, 13: 0.25}))
    rings = next(trace for trace in figure.data if trace.name == "end of training runs")
    assert sorted(rings.text) == ["", "", "25.0%", "75.0%"]


def test_runs_of_another_problem_are_refused(chart, tmp_path):
    other = sh.ensemble(sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.Gaussian(3), 1), runs=5)
    with pytest.raises(sh.InvalidProblem, match="runs of the chart's problem"):
        chart_report(chart, tmp_path / "no.html", runs=other)
    with pytest.raises(sh.InvalidProblem, match="expected the result of"):
        chart_report("chart", tmp_path / "no.html")
    with pytest.raises(sh.InvalidProblem, match="expected the result of"):
        ensemble_report(chart, tmp_path / "no.html")
    with pytest.raises(sh.InvalidProblem, match="train"):
        chart_report(chart, tmp_path / "no.html", train=-1)
    assert not (tmp_path / "no.html").exists()


def test_a_chart_without_its_problem_has_a_report(chart, tmp_path):
    loaded = replace(chart, problem=None)  # as a chart of version 1 comes
    text = words(chart_report(loaded, tmp_path / "c.html").read_text(encoding="utf-8"))
    assert "No training is shown" in text and "14 real critical points" in text


def test_several_charts_share_a_page(chart, tmp_path):
    path = charts_report([("one", chart), ("two", chart)], tmp_path / "two.html", train=0)
    text = path.read_text(encoding="utf-8")
    assert text.count('class="tiles"') == 2 and "end of training" not in words(text)
    assert len(text) < 6_500_000


def test_an_ensemble_of_relu_networks(tmp_path):
    problem = sh.Problem(sh.Network(np.eye(3), activation=sh.ReLU()), sh.Gaussian(3), 3, outer="ones")
    runs = sh.ensemble(problem, runs=30)
    text = words(ensemble_report(runs, tmp_path / "relu.html").read_text(encoding="utf-8"))
    assert "30 runs of gradient descent, 100% end at the lowest loss found" in text
    assert minima_entries(runs.minima)[0].kind == "lowest minimum"


def test_an_ensemble_with_a_chart_is_the_chart_with_its_runs(chart, tmp_path):
    runs = sh.ensemble(chart.problem, runs=30, chart=chart)
    text = words(ensemble_report(runs, tmp_path / "runs.html").read_text(encoding="utf-8"))
    assert "14 real critical points" in text and "Of 30 runs" in text


@pytest.mark.parametrize("law", [sh.Gaussian(2), sh.IID.laplace(2), sh.Sphere(2), sh.Frobenius(2),
                                 sh.Samples(np.eye(2)), sh.Radial(2, [1, 1, 2, 6, 30]),
                                 sh.Mixture([1.0], [sh.Gaussian(2)]),
                                 sh.Metric(2, 2, np.eye(3))], ids=repr)  # fmt: skip
def test_mathematics_is_well_formed(law):
    problem = sh.Problem([[1.0, -0.5], [-0.5, 2.0]], law, 2)
    root = xml.fromstring(f"<div>{problem_html(problem)}</div>")
    assert "0.5" in "".join(root.itertext())


def test_forms_and_numbers():
    tensor = sh.SymmetricTensor([1.0, 0.0, -2.0, 0.5], 2, 3)  # x³ − 6xy² + y³/2
    text = "".join(xml.fromstring(form(tensor)).itertext())
    assert text == "x13−6x1x22+0.5x23"
    assert number(-1.5) == "<mo>−</mo><mn>1.5</mn>"


def test_words():
    assert counted(1, "saddle") == "1 saddle" and counted(2, "local minimum") == "2 local minima"
    assert joined(["a"]) == "a" and joined(["a", "b", "c"]) == "a, b and c"
    assert [percent(x) for x in (0.0, 0.0001, 0.1234, 1.0)] == ["0%", "less than 0.1%", "12.3%", "100%"]


def test_no_text_in_a_figure_can_end_its_script():
    import plotly.graph_objects as go

    text = figure_json(go.Figure(layout={"title": {"text": "</script><script>alert(1)</script>&"}}))
    assert "<" not in text and "&" not in text


def test_a_report_without_a_name_is_headed_by_words():
    problem = sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), 1)
    chart = sh.chart(problem)
    page = charts_html([("", chart)], train=0)
    assert "<h1>One quadratic neuron, 3 inputs, independent inputs of kurtosis 30</h1>" in page
    assert "<h1>mine</h1>" in charts_html([("mine", chart)], train=0)
    named = replace(chart, title="the author's own")
    assert "<h1>the author&#39;s own</h1>" in charts_html([("", named)], train=0)


def drawn(page):
    """The figures of a page, in their order."""
    texts = re.findall(r'<script type="application/json" data-for="[^"]*">(.*?)</script>', page, re.S)
    return [json.loads(text) for text in texts]


def test_indices_of_one_figure_are_of_one_space():
    """Points of a chart have theirs on a stratum and runs theirs in the parameters: they share no axis."""
    problem = sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.Gaussian(3), 1)
    first = drawn(charts_html([("", sh.chart(problem))], train=6))[0]
    assert "rank stratum" in first["layout"]["xaxis"]["title"]["text"]
    assert "training" not in [trace["name"] for trace in first["data"]]
    runs = drawn(ensemble_html(sh.ensemble(problem, runs=6, rng=0)))[0]
    assert "parameters" in runs["layout"]["xaxis"]["title"]["text"]
    assert "training" in [trace["name"] for trace in runs["data"]]


def test_the_zero_network_is_told_apart_and_all_numbers_agree():
    chart = sh.chart(sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), 1))
    page = charts_html([("", chart)], train=0)
    first = drawn(page)[0]
    names = [trace["name"] for trace in first["data"]]
    assert names == ["global minimum (4)", "saddle (9)", "saddle of lower rank (1)"]
    (lower,) = (trace for trace in first["data"] if "lower" in trace["name"])
    assert (
        lower["marker"]["symbol"] == "diamond-open" and lower["x"] == [0] and lower["y"] == [chart.losses[-1]]
    )
    assert "Hollow diamonds have a lower rank" in page
    assert "4 global minima and 10 saddles. 1 saddle, the zero network, has a lower rank" in page
    assert sum(int(re.search(r"[(](.*)[)]", name)[1]) for name in names) == len(chart.points) == 14
    full = drawn(charts_html([("", sh.chart(sh.Problem(np.eye(2), sh.Frobenius(2), 2)))], train=0))[0]
    assert all(
        trace["marker"]["symbol"] != "diamond-open" or "lower" in trace["name"] for trace in full["data"]
    )


def test_rounding_is_not_blown_up():
    """Minima of loss 1e-31 and flat directions of 1e-14: axes that show them as zero, and no prefix of the SI."""
    problem = sh.Problem(sh.Network(np.eye(3)), sh.Gaussian(3), width=4)
    figures = drawn(ensemble_html(sh.ensemble(problem, runs=6, rng=0)))
    for figure in figures:
        for name, axis in figure["layout"].items():
            if name[:5] in ("xaxis", "yaxis") and "visible" not in axis and axis.get("type") != "category":
                assert axis["exponentformat"] == "power"
                low, high = axis.get("range") or (0, 1)
                assert high - low > 1e-9
    titles = [figure["layout"].get("yaxis", {}).get("title", {}).get("text") for figure in figures]
    curvature = figures[titles.index("smallest Hessian eigenvalues")]
    assert [trace["name"] for trace in curvature["data"]] == ["flat"]


def test_a_complete_list_of_relu_networks_says_of_which_networks():
    words = completeness_words(sh.relu.symmetric_chart(6, [1, 5]))
    assert words.startswith("interval arithmetic excludes every direction")
    assert words.endswith(
        "networks fixed by S_1 × S_5, without zero rows, outside 0.01 rad of all rows parallel"
    )


def test_a_list_with_open_boxes_is_not_called_complete():
    chart = sh.relu.symmetric_chart(6, [6], search=True, most=1)
    assert chart.completeness == "sampled" and "but for" in chart.scope
    words = completeness_words(chart)
    assert words.startswith("interval arithmetic has not excluded all directions") and chart.scope in words
