"""The explorer in a real browser: views load, sliders move points, URLs restore views, bad values are sentences."""

import re

import numpy as np
import pytest

import shallows as sh
from shallows.explorer.views import NAMES, view_of


def fact(page, label):
    """The value of the tile with this label."""
    return page.locator(".facts > div", has_text=label).locator("strong").inner_text()


def wait_for_fact(page, label, value):
    page.locator(".facts > div", has_text=label).locator(
        "strong", has_text=re.compile(f"^{value}$")
    ).wait_for()


def set_slider(page, name, value):
    """Move a range input as a hand does: the value and the event it fires."""
    page.locator(f'[data-field="{name}"] input[type=range]').fill(str(value))


def set_box(page, name, text):
    page.locator(f'[data-field="{name}"] input[type=text]').fill(text)


@pytest.mark.parametrize("name", NAMES)
def test_every_view_loads_and_draws(name, explorer, watched):
    with watched(f"{explorer}/?view={name}") as page:
        page.locator(".facts > div").first.wait_for()
        page.wait_for_function("document.querySelectorAll('.js-plotly-plot .main-svg').length > 0")
        assert page.locator("h1").inner_text() == view_of(name).title
        assert page.locator(".js-plotly-plot").count() == len(view_of(name).captions)
        assert page.locator("tbody tr").count() > 0
        assert "import" in page.locator("#code").text_content()
        assert page.locator("#message").inner_text() == ""


def test_a_slider_changes_the_number_of_critical_points_as_the_chart_says(explorer, watched):
    teacher = np.diag([2.0, 1.5, 1.0])
    with watched(f"{explorer}/?view=quadratic") as page:
        for kurtosis, known in ((30, 13), (3, 3)):  # README: heavy tails turn 3 critical points into 13
            chart = sh.chart(sh.Problem(teacher, sh.IID(3, [1, 0, 1, 0, kurtosis]), 1))
            assert chart.real_count[1] == known
            set_slider(page, "kurtosis", kurtosis)
            wait_for_fact(page, "critical points of rank one", known)
            assert page.locator("tbody tr").count() == len(chart.points)


def test_crossing_the_focal_curve_of_the_ellipse_loses_two_points(explorer, watched):
    with watched(f"{explorer}/?view=ellipse&x=0.45&y=0.5") as page:
        wait_for_fact(page, "real critical points", 4)
        set_slider(page, "x", 1.9)  # (2x)^(2/3) + y^(2/3) > 3^(2/3): outside the astroid
        wait_for_fact(page, "real critical points", 2)


def test_the_teacher_can_be_dragged(explorer, watched):
    with watched(f"{explorer}/?view=ellipse&x=0&y=0.25") as page:
        wait_for_fact(page, "real critical points", 4)
        shape = page.locator(".shapelayer path").first
        shape.wait_for()
        box = shape.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 150, y, steps=8)
        page.mouse.up()
        page.wait_for_function("!location.search.includes('x=0&')")
        assert float(re.search(r"[?&]x=([-\d.]+)", page.url)[1]) > 1
        wait_for_fact(page, "real critical points", 2)


def test_a_shared_url_restores_the_view(explorer, watched):
    with watched(f"{explorer}/?view=binary") as page:
        wait_for_fact(page, "real critical points", r"\d")
        page.get_by_text("laplace").click()
        set_slider(page, "c0", -1.5)
        page.wait_for_function(
            "location.search.includes('law=laplace') && location.search.includes('c0=-1.5')"
        )
        address, rows = page.url, page.locator("tbody").inner_text()
    with watched(address) as page:
        page.locator("tbody tr").first.wait_for()
        assert page.locator("tbody").inner_text() == rows
        assert page.locator('[data-field="c0"] input[type=text]').input_value() == "-1.5"
        assert page.locator("input[type=radio][value=laplace]").is_checked()


BAD = {"abc": "expected a number", "99": "from -3 to 3", "nan": "expected a number", "": "is empty",
       "__import__('os')": "expected a number"}  # fmt: skip


def test_a_bad_value_is_a_sentence(explorer, watched):
    with watched(f"{explorer}/?view=ellipse") as page:
        wait_for_fact(page, "real critical points", 4)
        for text, said in BAD.items():
            set_box(page, "x", text)
            page.locator("#message", has_text=said).wait_for()
            assert fact(page, "real critical points") == "4"  # the last good picture stays
        set_box(page, "x", "1.9")
        wait_for_fact(page, "real critical points", 2)
        page.wait_for_function("document.querySelector('#message').textContent === ''")


@pytest.mark.parametrize(
    ("search", "said"),
    [("?view=torus", "no view"), ("?view=flow&t1=99", "from -3 to 3"), ("?view=flow&colour=red", "has no 'colour'")],
)  # fmt: skip
def test_a_bad_url_is_a_sentence_beside_the_defaults(search, said, explorer, watched):
    with watched(f"{explorer}/{search}") as page:
        page.locator("#notice", has_text=said).wait_for()
        page.locator(".facts > div").first.wait_for()


def test_live_descents_run_pause_and_split(explorer, watched):
    with watched(f"{explorer}/?view=relu&k=3&runs=4") as page:
        wait_for_fact(page, "steps", 0)
        page.locator("#run").click()
        page.locator("#run", has_text="Pause").wait_for()
        page.wait_for_function("Number(new URLSearchParams(location.search).get('steps')) >= 40")
        page.locator("#run").click()
        page.locator("#run", has_text="Run").wait_for()
        page.locator("#split").click()
        wait_for_fact(page, "neurons", 4)
        assert int(re.search(r"split=(\d+)", page.url)[1]) >= 40


def test_what_takes_too_long_is_refused_with_its_estimate(explorer, watched):
    with watched(f"{explorer}/?view=relu&k=20&runs=100") as page:
        wait_for_fact(page, "steps", 0)
        set_box(page, "steps", "200000")
        page.locator(
            "#message", has_text=re.compile(r"would take about \d+ s; the explorer's limit is 5 s")
        ).wait_for()


def test_the_report_can_be_downloaded(explorer, watched, tmp_path):
    with watched(f"{explorer}/?view=flow") as page:
        page.locator(".facts > div").first.wait_for()
        with page.expect_download(timeout=30_000) as waiting:
            page.locator("#report").click()
        file = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(file)
    assert file.name == "shallows-flow.html"
    assert "real critical points" in file.read_text(encoding="utf-8")


def test_dark_pages_have_light_ink(explorer, watched):
    with watched(f"{explorer}/?view=ellipse", color_scheme="dark") as page:
        page.locator(".xtick text").first.wait_for()
        assert (
            page.evaluate("getComputedStyle(document.querySelector('.xtick text')).fill")
            == "rgb(230, 232, 234)"
        )
