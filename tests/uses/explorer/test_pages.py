"""The explorer in a real browser: views load, sliders move points, URLs restore views, bad values are sentences."""

import re
from urllib.parse import parse_qs, urlparse

import numpy as np
import pytest

import shallows as sh
from shallows.uses.explorer.views import NAMES, view_of

SIZE = {"width": 1280, "height": 900}
TOO_LONG = re.compile(r"would take about .*; the limit is 5 s")


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


def state_in_url(page):
    """What the address says when everything is drawn, numbers as numbers."""
    page.wait_for_function("document.documentElement.dataset.busy === 'false'")
    values = {name: texts[0] for name, texts in parse_qs(urlparse(page.url).query).items()}
    return {name: float(text) for name, text in values.items() if re.fullmatch(r"[-\d.]+", text)}


HANDLE = """([figure, number]) => {
  const plot = document.querySelectorAll('.js-plotly-plot')[figure], frame = plot.getBoundingClientRect();
  const { xaxis, yaxis } = plot._fullLayout, handle = plot.layout.meta.handles[number];
  return [frame.left + xaxis._offset + xaxis.d2p(handle.x), frame.top + yaxis._offset + yaxis.d2p(handle.y),
          xaxis._m, yaxis._m];
}"""


def lift(page, figure=0, number=0):
    """Press the mouse on a handle; where that is, and pixels a unit along both axes."""
    page.locator(".js-plotly-plot").nth(figure).scroll_into_view_if_needed()
    x, y, *scale = page.evaluate(HANDLE, [figure, number])
    page.mouse.move(x, y)
    page.mouse.down()
    return x, y, *scale


@pytest.mark.parametrize("name", NAMES)
def test_every_view_loads_and_draws(name, shown):
    page = shown(name)
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot .main-svg').length > 0")
    assert page.locator("h1").inner_text() == view_of(name).title
    assert page.locator(".js-plotly-plot").count() == len(view_of(name).captions)
    assert page.locator("tbody tr").count() > 0
    assert "import" in page.locator("#code").text_content()
    assert page.locator("#message").inner_text() == ""


def test_a_slider_changes_the_number_of_critical_points_as_the_chart_says(shown):
    teacher = np.diag([2.0, 1.5, 1.0])
    page = shown("quadratic")
    for kurtosis, known in ((30, 13), (3, 3)):  # README: heavy tails turn 3 critical points into 13
        chart = sh.chart(sh.Problem(teacher, sh.IID(3, [1, 0, 1, 0, kurtosis]), 1))
        assert chart.real_count[1] == known
        set_slider(page, "kurtosis", kurtosis)
        wait_for_fact(page, "critical points of rank one", known)
        rows = "(count) => document.querySelectorAll('tbody tr').length === count"
        page.wait_for_function(rows, arg=len(chart.points))


def test_crossing_the_focal_curve_of_the_ellipse_loses_two_points(shown):
    page = shown("ellipse", x=0.45, y=0.5)
    wait_for_fact(page, "real critical points", 4)
    set_slider(page, "x", 1.9)  # (2x)^(2/3) + y^(2/3) > 3^(2/3): outside the astroid
    wait_for_fact(page, "real critical points", 2)


def test_points_meet_while_the_teacher_is_dragged(shown):
    page = shown("ellipse", x=0, y=0.25)
    wait_for_fact(page, "real critical points", 4)
    x, y, scale, _ = lift(page)
    page.mouse.move(x + 1.9 * scale, y, steps=8)
    wait_for_fact(page, "real critical points", 2)  # and nothing was dropped yet
    page.wait_for_function("Math.abs(new URLSearchParams(location.search).get('x') - 1.9) < 0.03")
    held = page.evaluate(HANDLE, [0, 0])
    assert np.hypot(held[0] - x - 1.9 * scale, held[1] - y) < 3  # the teacher is under the pointer
    page.mouse.move(x, y, steps=8)
    wait_for_fact(page, "real critical points", 4)
    page.mouse.up()
    page.wait_for_function("Math.abs(new URLSearchParams(location.search).get('x')) < 0.03")
    page.mouse.move(x + 1.9 * scale, y)  # what was dropped stays
    assert state_in_url(page)["x"] == pytest.approx(0, abs=0.03)
    assert page.evaluate(HANDLE, [0, 0])[2] == scale  # the figure was not zoomed


def test_a_finger_drags_and_the_page_does_not_scroll(shown):
    page = shown("ellipse", x=0, y=0.25)
    finger = page.context.new_cdp_session(page)
    finger.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    page.set_viewport_size({"width": 390, "height": 700})
    try:
        page.wait_for_function("document.querySelector('.js-plotly-plot').layout.font.size === 11")
        page.evaluate("document.querySelector('.js-plotly-plot').scrollIntoView()")
        x, y, along, _ = page.evaluate(HANDLE, [0, 0])
        before = page.evaluate("scrollY")
        for kind, shift in (("touchStart", 0), ("touchMove", 20), ("touchMove", 40), ("touchMove", 60)):
            place = {"x": x + 1.9 * along * shift / 60, "y": y - shift}
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [place]})
        wait_for_fact(page, "real critical points", 2)
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        assert page.evaluate("scrollY") == before
    finally:
        finger.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
        finger.detach()
        page.set_viewport_size(SIZE)


def test_a_phone_shows_picture_and_controls_together(shown):
    page = shown("flow")
    page.set_viewport_size({"width": 390, "height": 844})
    try:
        page.wait_for_function("document.querySelector('.js-plotly-plot').layout.font.size === 11")
        page.wait_for_function("document.documentElement.scrollWidth <= 390")
        page.evaluate("document.querySelector('.js-plotly-plot').scrollIntoView()")
        plot, panel = (
            page.locator(".js-plotly-plot").first.bounding_box(),
            page.locator("#panel").bounding_box(),
        )
        assert plot["height"] > 300 and 350 < plot["width"] <= 390
        assert panel["y"] + panel["height"] <= 845 and panel["y"] > 500 > plot["y"] + 400
    finally:
        page.set_viewport_size(SIZE)
    page.wait_for_function("document.querySelector('.js-plotly-plot').layout.font.size === 13")
    assert page.locator(".js-plotly-plot").first.bounding_box()["height"] > 300


def test_the_teacher_of_the_cone_is_dragged_in_its_slice(shown):
    page = shown("cone", t11=1, t22=1)
    x, y, along, up = lift(page)
    page.mouse.move(x - 2 * along, y + up, steps=6)  # pixels grow downwards: `up` is negative
    page.wait_for_function("Math.abs(new URLSearchParams(location.search).get('t11') - -1) < 0.03")
    page.mouse.up()
    assert state_in_url(page)["t22"] == pytest.approx(2, abs=0.03)


def test_the_curve_of_a_form_is_pulled_at_one_direction(shown):
    page = shown("binary")
    state = state_in_url(page)
    directions = np.pi * (np.arange(4) + 0.5) / 4

    def values(state):
        form = sh.SymmetricTensor([state[f"c{i}"] for i in range(4)], 2, 3)
        return form(np.stack([np.cos(directions), np.sin(directions)], axis=1))

    before = values(state)
    x, y, _, up = lift(page, figure=1, number=2)
    page.mouse.move(x, y + 0.6 * up, steps=4)
    page.wait_for_function("!location.search.includes('c0=1&')")
    page.mouse.up()
    change = values(state_in_url(page)) - before
    np.testing.assert_allclose(change, [0, 0, 0.6, 0], atol=0.03)  # entries go in steps of 0.01


def test_the_start_of_a_flow_is_dragged(shown):
    page = shown("flow", a2=0.3, length2=0.5)
    x, y, along, up = lift(page, number=1)
    page.mouse.move(x + 0.4 * along, y + 0.2 * up, steps=4)
    page.wait_for_function("!location.search.includes('length2=0.5&')")
    page.mouse.up()
    state = state_in_url(page)
    assert (state["length2"], state["a2"]) == (pytest.approx(0.9, abs=0.03), pytest.approx(0.5, abs=0.03))


def test_the_teacher_of_a_flow_is_dragged_into_the_trap(shown):
    page = shown("flow", t1=1, t2=1, a1=1, a2=1, length1=0.5, length2=0.5)
    wait_for_fact(page, "trapped", "not by Cor. 17")
    x, y, along, up = lift(page, figure=1)
    page.mouse.move(x - 2 * along, y - 2 * up, steps=6)  # to a negative definite teacher: Corollary 17
    wait_for_fact(page, "trapped", "yes")
    page.mouse.up()
    state = state_in_url(page)
    assert (state["t1"], state["t2"]) == (pytest.approx(-1, abs=0.03), pytest.approx(-1, abs=0.03))


def test_moving_a_moment_chooses_the_law_with_these_moments(shown):
    page = shown("binary", law="laplace")
    assert page.locator("input[type=radio][value=laplace]").is_checked()
    set_slider(page, "m4", 2)
    page.wait_for_function("location.search.includes('law=moments') && location.search.includes('m4=2&')")
    assert page.locator("input[type=radio][value=moments]").is_checked()
    assert "sh.IID(2, moments=[1.0, 0.0, 1.0, 0.0, 2.0, 0.0, 6.68])" in page.locator("#code").text_content()


def test_a_shared_url_restores_the_view(shown, watched):
    page = shown("binary")
    page.get_by_text("laplace").click()
    set_slider(page, "c0", -1.5)
    page.wait_for_function("location.search.includes('law=laplace') && location.search.includes('c0=-1.5')")
    address, rows = page.url, page.locator("tbody").inner_text()
    with watched(address) as page:
        page.locator("tbody tr").first.wait_for()
        assert page.locator("tbody").inner_text() == rows
        assert page.locator('[data-field="c0"] input[type=text]').input_value() == "-1.5"
        assert page.locator("input[type=radio][value=laplace]").is_checked()


PLACE = "() => document.querySelector('.js-plotly-plot').getBoundingClientRect().top + scrollY"


@pytest.mark.parametrize("width", [1280, 390])
def test_a_warning_moves_nothing(shown, width):
    page = shown("ellipse", m12=0.9)
    page.set_viewport_size({"width": width, "height": 844})
    try:
        page.wait_for_function("document.documentElement.dataset.busy === 'false'")
        before = page.evaluate(PLACE)
        set_slider(page, "m12", 1.2)
        page.locator("#message", has_text="not positive definite").wait_for()
        assert page.evaluate(PLACE) == before
        box = page.locator("#message").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
        assert page.locator(".js-plotly-plot").first.is_visible()
    finally:
        page.set_viewport_size(SIZE)


def test_a_circle_shows_itself_when_its_page_is_opened(explorer, watched):
    with watched(f"{explorer}/?view=ellipse&p=1&q=1&x=0&y=0") as page:
        page.locator("#message", has_text="every point of it is critical").wait_for()
        page.wait_for_function("document.querySelectorAll('.scatterlayer .trace').length >= 3")
        assert fact(page, "real critical points") == "–"


def test_a_slider_without_a_meaning_is_not_there(shown):
    page = shown("binary")
    fourth = page.locator('[data-field="c4"]')
    assert not fourth.is_visible() and page.locator('[data-field="c3"]').is_visible()
    page.locator("input[type=radio][name=degree][value='4']").check()
    assert fourth.is_visible() and page.locator('[data-field="m8"]').is_visible()
    rows = page.locator("tbody").inner_text()
    set_slider(page, "c4", 2.5)
    page.wait_for_function("(rows) => document.querySelector('tbody').innerText !== rows", arg=rows)
    page.locator("input[type=radio][name=degree][value='3']").check()
    assert not fourth.is_visible()


BAD = {
    "abc": "expected a number",
    "99": "from -3 to 3",
    "": "is empty",
    "__import__('os')": "expected a number",
}


def test_a_bad_value_is_a_sentence(shown):
    page = shown("ellipse")
    wait_for_fact(page, "real critical points", 4)
    for text, said in BAD.items():
        set_box(page, "x", text)
        page.locator("#message", has_text=said).wait_for()
        assert fact(page, "real critical points") == "4"  # the last good picture stays
    set_box(page, "x", "1.9")
    wait_for_fact(page, "real critical points", 2)
    page.wait_for_function("document.querySelector('#message').textContent === ''")


def test_a_bad_url_is_a_sentence_beside_the_defaults(explorer, watched):
    with watched(f"{explorer}/?view=flow&t1=99") as page:
        page.locator("#notice", has_text="from -3 to 3").wait_for()
        page.locator(".facts > div").first.wait_for()


def test_a_server_that_is_gone_is_a_sentence(shown):
    page = shown("ellipse")
    page.route("**/scene", lambda route: route.fulfill(body="gone"))
    set_slider(page, "x", 1)
    page.locator("#message", has_text="does not answer").wait_for()
    page.unroute("**/scene")
    set_slider(page, "x", 1.9)
    wait_for_fact(page, "real critical points", 2)


def test_only_the_newest_state_is_asked_for(shown):
    page = shown("ellipse")
    asked = []
    page.on(
        "request",
        lambda r: asked.append(r.post_data_json["values"]["x"]) if r.url.endswith("/scene") else None,
    )
    waiting = []
    page.route("**/scene", lambda route: route.continue_() if waiting else waiting.append(route))
    for x in (0.1, 0.2, 0.3, 1.9):
        set_slider(page, "x", x)
        page.wait_for_timeout(60)
    waiting[0].continue_()
    wait_for_fact(page, "real critical points", 2)
    page.unroute("**/scene")
    assert asked == ["0.1", "1.9"]


def test_live_descents_run_pause_and_split(shown):
    page = shown("relu", k=3, runs=4, steps=0)
    wait_for_fact(page, "steps", 0)
    page.locator("#run").click()
    page.locator("#run", has_text="Pause").wait_for()
    page.wait_for_function("Number(document.querySelector('.facts strong').textContent) >= 40")
    page.locator("#run").click()
    page.locator("#run", has_text="Run").wait_for()
    page.locator("#split").click()
    wait_for_fact(page, "neurons", 4)
    assert state_in_url(page)["split"] >= 40


def test_what_takes_too_long_is_refused_with_its_estimate(shown):
    page = shown("relu", k=20, runs=32, steps=0)
    set_box(page, "steps", "200000")
    page.locator("#message", has_text=TOO_LONG).filter(has_text="fewer descents or fewer steps").wait_for()
    page = shown("relu", k=20, runs=32, split=1, steps=1)
    set_box(page, "steps", "200000")  # of the wider network, after the split
    page.locator("#message", has_text=TOO_LONG).wait_for()
    page = shown("relu", k=20, train=20_000, steps=0)
    page.locator("#report").click()
    page.locator("#message", has_text=TOO_LONG).filter(has_text="fewer descents in the report").wait_for()


def test_the_report_can_be_downloaded(shown, tmp_path):
    page = shown("flow", train=20)
    with page.expect_download() as waiting:
        page.locator("#report").click()
    file = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(file)
    assert file.name == "shallows-flow.html"
    text = file.read_text(encoding="utf-8")
    assert "real critical points" in text and "Of 20 runs of" in text


def test_dark_pages_have_light_ink(shown):
    page = shown("ellipse")
    try:
        for scheme, ink in (("dark", "rgb(230, 232, 234)"), ("light", "rgb(28, 33, 38)")):
            page.emulate_media(color_scheme=scheme)
            drawn = "getComputedStyle(document.querySelector('.xtick text')).fill"
            page.wait_for_function(f"(ink) => {drawn} === ink", arg=ink)
    finally:
        page.emulate_media(color_scheme="light")
