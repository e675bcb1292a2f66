"""A report in a real browser: it opens from disk, draws its figures, sorts its table, fits a phone and a printer."""

import numpy as np
import pytest

import shallows as sh
from shallows.uses.report.build import chart_report, charts_report


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    problem = sh.Problem(np.diag([4.0, 3.0, 2.0, 1.0]), sh.Frobenius(4), 2)
    path = tmp_path_factory.mktemp("report") / "out.html"
    return chart_report(sh.chart(problem), path, train=20, title="a <b>title</b> & more").as_uri()


@pytest.fixture(scope="module")
def opened(report, kept):
    """The report in a page that these tests share; fails in the end on any error of the page."""
    page, wrong = kept(report)
    page.locator("html[data-ready=true]").wait_for(state="attached")
    yield page
    assert not wrong, wrong


def column(page, number):
    return page.locator(f"table.sortable tbody tr td:nth-child({number})").all_inner_texts()


def test_it_opens_from_disk_and_its_table_sorts(opened):
    page = opened
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length === 5")
    losses = [float(text) for text in column(page, 2)]
    assert losses == sorted(losses) and len(losses) == 11  # C(4,2) + C(4,1) + 1: Theorem 34
    page.locator("th button", has_text="loss").click()
    assert [float(text) for text in column(page, 2)] == losses[::-1]
    page.locator("th button", has_text="kind").click()
    kinds = column(page, 6)
    assert kinds == sorted(kinds) and len(set(kinds)) == 2
    assert page.locator("th[aria-sort]").inner_text().startswith("kind")
    page.locator("th button", has_text="index").focus()
    page.keyboard.press("Enter")
    assert column(page, 4) == sorted(column(page, 4))


def test_text_of_a_title_is_text(opened):
    assert opened.locator("h1").inner_text().lower() == "a <b>title</b> & more"


def test_a_phone_needs_no_sideways_scrolling(opened):
    opened.set_viewport_size({"width": 390, "height": 800})
    opened.wait_for_function(
        "document.querySelector('.js-plotly-plot').layout.font.size === 11"
    )  # drawn again
    opened.wait_for_function("document.documentElement.scrollWidth <= 390")
    opened.set_viewport_size({"width": 1280, "height": 900})


def test_paper_is_white_and_shows_the_whole_table(opened):
    page = opened
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 28)"
    page.wait_for_function("document.querySelector('.js-plotly-plot').layout.font.color === '#e6e8ea'")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.set_viewport_size({"width": 700, "height": 900})  # paper is narrow: figures are drawn again
    page.wait_for_function("document.querySelector('.js-plotly-plot').layout.font.size === 11")
    assert page.evaluate("document.querySelector('.js-plotly-plot').layout.font.color") == "#1c2126"
    page.wait_for_function("document.documentElement.scrollWidth <= 700")
    assert page.locator("details:not([open])").count() == 0 < page.locator("details").count()
    table = page.locator(".scroll").first
    assert table.evaluate("e => e.scrollHeight <= e.clientHeight + 1")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() > 0


def test_the_landscape_is_the_first_picture_of_a_report_and_knows_its_table(watched, tmp_path):
    chart = sh.chart(sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), 1))
    file = chart.report(tmp_path / "landscape.html", train=10)
    assert file.stat().st_size < 6_000_000
    with watched(file.as_uri(), reduced_motion="reduce") as page:
        first = page.locator("section.picture").first
        assert "direction by direction" in first.inner_text()
        assert "saddle (9)" in first.inner_text()
        row = page.locator("table.sortable tbody tr").nth(4)
        row.hover()
        page.locator(".landscape-tip", has_text="5: saddle, loss 41.6").wait_for()
        page.locator(".landscape-stage").focus()
        page.keyboard.press("ArrowRight")
        page.locator("tr.linked").first.wait_for()
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_function("document.documentElement.scrollWidth <= 390")
        width = "document.querySelector('.landscape-stage').getBoundingClientRect().width"
        page.wait_for_function(f"300 < {width} && {width} <= 390")
    wide = sh.chart(sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.Gaussian(3), 2))
    text = wide.report(tmp_path / "two.html", train=0).read_text(encoding="utf-8")
    assert "const shallowsLandscape" not in text  # two neurons have no disc


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    teacher = np.diag([2.0, 1.5, 1.0])
    charts = [
        ("", sh.chart(sh.Problem(teacher, data, 1))) for data in (sh.Gaussian(3), sh.IID(3, [1, 0, 1, 0, 30]))
    ]
    return charts_report(charts, tmp_path_factory.mktemp("two") / "two.html", train=0).as_uri()


def test_two_charts_stand_beside_each_other(two, watched):
    with watched(two) as page:
        page.locator("html[data-ready=true]").wait_for(state="attached")
        left, right = (page.locator(".comparison .plot").nth(i).bounding_box() for i in (0, 1))
        assert abs(left["y"] - right["y"]) < 1 and right["x"] >= left["x"] + left["width"]
        first, second = (page.locator(".comparison .landscape-stage").nth(i).bounding_box() for i in (0, 1))
        assert abs(first["y"] - second["y"]) < 1 and second["width"] > 300
        assert page.evaluate("document.documentElement.scrollHeight") < 2800  # one below the other: 9,000
        page.locator("nav a").nth(
            1
        ).click()  # the rest of the second one unfolds, and its figures have their width
        page.wait_for_function("document.querySelector('#problem-2 details').open")
        page.wait_for_function(
            "[...document.querySelectorAll('#problem-2 .js-plotly-plot')].every((p) => p._fullLayout.width > 700)"
        )
        page.set_viewport_size({"width": 390, "height": 844})
        try:
            page.wait_for_function("document.documentElement.scrollWidth <= 390")
            page.wait_for_function("document.querySelector('.js-plotly-plot').layout.font.size === 11")
            left, right = (page.locator(".comparison .plot").nth(i).bounding_box() for i in (0, 1))
            assert right["y"] > left["y"] + 300 and abs(left["x"] - right["x"]) < 1
        finally:
            page.set_viewport_size({"width": 1280, "height": 900})
