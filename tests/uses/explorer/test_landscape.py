"""The landscape in a browser: painted by the page itself, live, linked, turned, played; on desktops and phones."""

import json
import re

import numpy as np
import pytest

import shallows as sh

HEAVY = {"kurtosis": 30}
#: A digest of what a canvas shows.
DIGEST = """(which) => {
  const canvas = document.querySelectorAll('.landscape-stage canvas')[which];
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  let sum = 0, painted = 0;
  const more = (i) => (sum * 31 + data[i] + 3 * data[i + 1]) % 1000003;
  for (let i = 0; i < data.length; i += 4) { painted += data[i + 3] > 200; sum = more(i); }
  return [painted / (data.length / 4), sum];
}"""
FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def digest(page, which=0):
    page.evaluate(FRAME)
    return page.evaluate(DIGEST, which)


def places(page):
    """Points on the picture with their pixels of the page."""
    found = page.evaluate("shallows.landscape().places()")
    box = page.locator(".landscape-stage").bounding_box()
    return [{**point, "at": [(box["x"] + x, box["y"] + y) for x, y in point["places"]]} for point in found]


def test_the_page_paints_the_loss_and_every_point_is_where_the_chart_has_it(shown):
    page = shown("quadratic", **HEAVY)
    chart = sh.chart(sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), 1))
    drawn = {point["number"]: point for point in places(page)}
    assert set(drawn) == {i + 1 for i, point in enumerate(chart.critical) if point.rank}
    for number, point in drawn.items():
        w = chart.critical[number - 1].network.W[0]
        assert abs(w @ point["u"]) == pytest.approx(np.linalg.norm(w), rel=1e-4)
        js = page.evaluate("(u) => shallows.landscape().lossAt(...u)", point["u"])
        assert js == pytest.approx(chart.critical[number - 1].loss, rel=1e-6)
    painted, first = digest(page)
    assert 0.6 < painted < 0.8  # a disc in its square
    shown("quadratic", kurtosis=3)
    assert digest(page)[1] != first  # and it follows the slider
    assert "global minimum (1)" in page.locator(".landscape-legend").inner_text()


def test_map_hills_and_globe_and_turning_by_hand_and_keys(shown):
    page = shown("quadratic", **HEAVY)
    seen = {digest(page)[1]}
    for mode in ("Hills", "Globe"):
        page.get_by_role("button", name=mode).click()
        assert digest(page)[1] not in seen
        seen.add(digest(page)[1])
        box = page.locator(".landscape-stage").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 60, y + 20, steps=3)
        page.mouse.up()
        assert digest(page)[1] not in seen
        seen.add(digest(page)[1])
        page.locator(".landscape-stage").focus()
        page.keyboard.press("ArrowLeft")
        assert digest(page)[1] not in seen
        seen.add(digest(page)[1])
    page.get_by_role("button", name="Map").click()
    page.locator(".landscape-stage").focus()
    page.keyboard.press("ArrowRight")  # on the map, keys go through the points
    page.locator(".landscape-tip", has_text="1: global minimum").wait_for()
    page.keyboard.press("Escape")
    assert page.locator(".landscape-tip").is_hidden()


def test_pointing_at_a_point_marks_it_everywhere(shown):
    page = shown("quadratic", **HEAVY)
    page.locator(".landscape-stage").scroll_into_view_if_needed()
    point = next(point for point in places(page) if point["number"] == 7)
    page.mouse.move(*point["at"][0])
    page.locator("tbody tr.linked td", has_text="75.2896").first.wait_for()
    assert page.locator("tbody tr").nth(6).get_attribute("class") == "linked"
    assert page.locator(".ring").count() == 1
    page.mouse.move(5, 5)
    page.wait_for_function("!document.querySelector('tr.linked') && !document.querySelector('.ring')")
    page.locator("tbody tr").nth(0).hover()  # from the table
    page.locator(".landscape-tip", has_text="1: global minimum, loss 22.93").wait_for()
    page.mouse.move(5, 5)
    page.locator(".js-plotly-plot").first.scroll_into_view_if_needed()
    x, y = page.evaluate(
        """() => { const plot = document.querySelector('.js-plotly-plot'), box = plot.getBoundingClientRect();
          const { xaxis, yaxis } = plot._fullLayout, trace = plot.data.find((t) => t.name.startsWith('saddle'));
          const [x, y] = [xaxis.d2p(trace.x[0]), yaxis.d2p(trace.y[0])];
          return [box.left + xaxis._offset + x, box.top + yaxis._offset + y]; }"""
    )
    page.mouse.move(x, y)
    page.mouse.move(x + 1, y)
    page.locator("tbody tr.linked td", has_text="41.6027").first.wait_for()
    page.mouse.move(5, 5)


@pytest.mark.thorough
def test_training_rolls_and_layers_can_be_hidden(shown):
    page = shown("quadratic", **HEAVY)
    page.wait_for_function("shallows.landscape().rolling() === 1")
    page.locator(".landscape-roll").click()
    page.wait_for_function("shallows.landscape().rolling() > 0.1 && shallows.landscape().rolling() < 1")
    page.wait_for_function("shallows.landscape().rolling() === 1")
    before, ground = digest(page, 1)[0], digest(page)[1]
    page.get_by_label("training").uncheck()
    page.get_by_label("paths", exact=True).uncheck()
    page.get_by_label("basins").uncheck()
    assert digest(page, 1)[0] < before and digest(page)[1] != ground
    for name in ("training", "paths", "basins"):
        page.get_by_label(name, exact=True).check()


@pytest.mark.thorough
def test_presets_reset_and_words(shown):
    page = shown("quadratic")
    page.get_by_role("button", name="on the discriminant").click()
    page.locator("tbody td", has_text="(2, 1, 0)").first.wait_for()  # a minimum where points have met
    page.get_by_role("button", name="identity teacher").click()
    page.locator(".landscape-legend", has_text="family").wait_for()
    page.get_by_role("button", name="one neuron").click()
    page.locator("tbody tr:first-child td:first-child", has_text=re.compile("^-?0|e-")).wait_for()
    before = page.url
    page.get_by_role("button", name="random teacher").click()
    page.wait_for_function("(before) => location.href !== before", arg=before)
    page.locator("#reset").click()
    page.wait_for_function("location.search.includes('t11=2&') && location.search.includes('kurtosis=3&')")
    link = page.locator("th a.word", has_text="signature")
    assert "curve up" in link.get_attribute("data-tip")
    assert link.get_attribute("href") == "/words#signature"
    with page.context.expect_page() as opened:
        link.click()
    opened.value.locator("dt#signature").wait_for()
    assert opened.value.locator("dt").count() >= 10
    opened.value.close()


@pytest.mark.thorough
def test_steps_of_the_opening(shown):
    page = shown("quadratic")
    assert "Gaussian data: three critical points" in page.locator(".tour-text").inner_text()
    page.locator("#next").click()
    page.locator(".tour-text", has_text="heavier tails").wait_for()
    page.locator("#play").click()
    page.locator("#play", has_text="Pause").wait_for()
    page.locator(".news", has_text="critical points have just been born").wait_for()
    page.locator("#play").click()
    page.locator("#next").click()
    page.wait_for_function("location.search.includes('kurtosis=30')")
    page.locator("#back").click()
    page.locator("#back").click()
    page.locator(".tour-count", has_text="1 of 4").wait_for()
    assert page.locator("#back").is_disabled()


@pytest.mark.thorough
def test_play_sweeps_the_fourth_moment_to_thirty_and_points_meet_on_the_way_back(shown):
    page = shown("quadratic")
    page.locator("#next").click()
    page.locator("#play").click()
    page.wait_for_function("location.search.includes('kurtosis=30&')")
    page.locator(".facts strong", has_text=re.compile("^13$")).wait_for()
    page.locator("#next").click()
    page.locator("#play").click()
    page.locator(".news", has_text="have just met").wait_for()
    page.wait_for_function("location.search.includes('t33=-1&')")
    page.locator("#back").click()
    page.locator("#back").click()


def test_other_tabs_come_back_as_they_were_left(explorer, watched):
    with watched(f"{explorer}/?view=quadratic&kurtosis=12", reduced_motion="reduce") as page:
        page.get_by_role("button", name="Globe").click()
        page.wait_for_function("document.documentElement.dataset.busy === 'false'")
        page.evaluate(
            "Plotly.relayout(document.querySelector('.js-plotly-plot'), {'yaxis.range[0]': 20, 'yaxis.range[1]': 60})"
        )
        page.evaluate("shallows.move({ kurtosis: '13' })")
        page.wait_for_function("location.search.includes('kurtosis=13')")
        zoomed = "JSON.stringify(document.querySelector('.js-plotly-plot')._fullLayout.yaxis.range)"
        assert page.evaluate(zoomed) == "[20,60]"  # the zoom survived a full drawing
        page.get_by_role("link", name="Ellipse").click()
        page.locator("h1", has_text="llipse").wait_for()
        page.get_by_role("link", name="Landscape").click()
        page.locator("h1", has_text="Landscape").wait_for()
        page.wait_for_function("document.documentElement.dataset.busy === 'false'")
        assert "kurtosis=13" in page.url
        assert page.get_by_role("button", name="Globe").get_attribute("aria-pressed") == "true"
        assert page.evaluate(zoomed) == "[20,60]"


def test_a_page_is_light_and_alone(explorer, watched):
    with watched(
        f"{explorer}/?view=quadratic", reduced_motion="reduce"
    ) as page:  # fails on any outside request
        page.locator(".landscape-legend", has_text="saddle (2)").wait_for()
        sizes = page.evaluate(
            """() => ['resource', 'navigation'].flatMap((kind) => performance.getEntriesByType(kind))
              .map(({ transferSize }) => transferSize)"""
        )
        assert 1_000_000 < sum(sizes) < 6_000_000


def test_a_shared_state_is_not_taken_for_a_step_of_the_tour(explorer, watched):
    with watched(f"{explorer}/?view=quadratic&kurtosis=7", reduced_motion="reduce") as page:
        page.locator(".tour-text", has_text="A state of your own").wait_for()
        page.locator("#next", has_text="Start").click()
        page.locator(".tour-text", has_text="Gaussian data").wait_for()
        page.wait_for_function("location.search.includes('kurtosis=3&')")


def test_a_phone_shows_the_picture_and_a_finger_turns_the_globe(explorer, watched):
    phone = {"has_touch": True, "is_mobile": True, "device_scale_factor": 2}
    with watched(f"{explorer}/?view=quadratic&kurtosis=30", **phone) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        page.locator(".landscape-legend", has_text="saddle (9)").wait_for()
        page.wait_for_function("document.documentElement.scrollWidth <= 390")
        page.locator(".landscape-stage").scroll_into_view_if_needed()
        assert page.locator(".landscape-stage").bounding_box()["width"] > 330
        page.locator(".landscape-modes button", has_text="Globe").tap()
        before, scroll = digest(page)[1], page.evaluate("scrollY")
        box = page.locator(".landscape-stage").bounding_box()
        finger = page.context.new_cdp_session(page)
        for kind, shift in (("touchStart", 0), ("touchMove", 30), ("touchMove", 70)):
            place = {"x": box["x"] + 150 + shift, "y": box["y"] + 60 + shift / 2}
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [place]})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        assert digest(page)[1] != before and page.evaluate("scrollY") == scroll


def fact(page, label):
    return page.locator(".facts > div", has_text=label).locator("strong").inner_text()


def test_the_tree_and_the_landscape_mark_the_same_points(shown):
    page = shown("tree")
    chart = sh.chart(sh.Problem(TREE, sh.IID(3, [1, 0, 1, 0, 30]), 1))
    tree = chart.connections()
    assert (fact(page, "valleys"), fact(page, "joins")) == (str(len(tree.leaves)), str(len(tree.edges)))
    page.locator("tbody tr", has_text="joins 0 and 1").first.hover()
    page.locator(f".landscape-tip:has-text('{tree.edges[0].row + 1}: saddle')").wait_for()
    assert page.locator(".ring").count() == 1  # the diamond in the tree
    page.mouse.move(5, 5)
    assert page.get_by_label("training").is_hidden()


TREE = np.array([[2.0, 0.3, 0.15], [0.3, 1.5, -0.1], [0.15, -0.1, 1.0]])


def test_minima_of_a_neuron_with_a_bias_and_of_a_polynomial(shown):
    page = shown("affine")
    target = np.array([[1.0, 0.5, 0.25], [0.5, 1.5, 0.0], [0.25, 0.0, -1.0]])
    for name, given in (
        ("(w·x + b)²", {"bias": True}), ("1 + z + z²", {"activation": sh.Polynomial([1, 1, 1])})
    ):  # fmt: skip
        page = shown("affine", activation=name)
        chart = sh.chart(sh.Problem(target, sh.IID(2, [1, 0, 1, 0, 3]), 1, **given))
        assert fact(page, "minim") == str(sum("minimum" in kind for kind in chart.critical.table.kind))
        assert page.locator("tbody tr").count() == len(chart.critical)
        for point in places(page):
            js = page.evaluate("(u) => shallows.landscape().lossAt(...u)", point["u"])
            assert js == pytest.approx(chart.critical[point["number"] - 1].loss, rel=1e-5)


@pytest.mark.thorough
def test_a_path_of_problems_says_where_points_meet(shown):
    page = shown("path")
    data = sh.IID(2, [1, 0, 1, 0, 9])
    ends = [np.array([[1.0, 0.1], [0.1, 1.0]]), np.array([[3.0, 0.3], [0.3, 0.5]])]
    (event,) = sh.follow(*(sh.Problem(end, data, 1) for end in ends), samples=3).collisions
    assert page.locator("tbody td", has_text=f"{event.position:.8f}").count() == 1
    assert fact(page, "critical points of rank one") == "4"
    page = shown("path", t=round(event.position + 0.01, 3))
    assert fact(page, "critical points of rank one") == "2" and fact(page, "next place") == "none"


def test_a_slice_goes_through_three_points_and_its_spectra_are_the_hessians(shown):
    page = shown("slices", first=1, second=2, third=4)
    problem = sh.Problem(np.diag([2.0, 1.0, -1.0]), sh.Gaussian(3), 2)
    chart = sh.chart(problem)
    plots = page.evaluate(
        """() => [...document.querySelectorAll('.js-plotly-plot')].map(
          (plot) => plot.data.map(({ name, x }) => [name, x]))"""
    )
    assert [name for name, _ in plots[0][1:]] == [f"{i}: {chart.critical[i - 1].kind}" for i in (1, 2, 4)]
    for place, i in enumerate((1, 2, 4)):
        values = np.linalg.eigvalsh(problem.hessian(chart.critical[i - 1].network))
        np.testing.assert_allclose(plots[1][2 * place + 1][1], values, atol=1e-9)


def test_relu_opens_with_a_run_and_the_complete_list(shown):
    page = shown("relu")
    assert fact(page, "steps") == "700" and fact(page, "complete within networks fixed by S_12") == "4"
    cells = page.locator("table tr").filter(has_text="αI + β11ᵀ").all_inner_texts()
    assert len(cells) == 4 and "global minimum" in cells[0] and "saddle" in cells[-1]
    names = page.evaluate("document.querySelector('.js-plotly-plot').data.map((trace) => trace.name)")
    assert fact(page, "complete within networks fixed by S_1 × S_11") == "12"
    assert len(page.locator("table tr").filter(has_text="one neuron apart").all_inner_texts()) == 10
    assert sum(name.startswith("αI + β11ᵀ") for name in names) == 3  # the fourth is the teacher, at loss 0


@pytest.mark.parametrize(
    "k", [6, *(pytest.param(k, marks=pytest.mark.thorough) for k in range(2, 21) if k != 6)]
)
def test_the_table_of_symmetric_points_is_what_the_proof_finds(k):
    from shallows.uses.explorer.views.symmetric_points import SYMMETRIC

    chart = sh.relu.symmetric_chart(k, [k])
    assert chart.completeness == "proved"
    assert [kind for _, kind in SYMMETRIC[k]] == [point.kind for point in chart.critical]
    np.testing.assert_allclose([loss for loss, _ in SYMMETRIC[k]], chart.losses, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("k", [3, *(pytest.param(k, marks=pytest.mark.thorough) for k in range(4, 21))])
def test_the_table_of_points_with_one_neuron_apart_is_the_rest_of_the_stored_list(k):
    from shallows.uses.explorer.views.symmetric_points import DISTINCT, ONE_APART, SYMMETRIC, TUBE

    chart = sh.relu.symmetric_chart(k, [1, k - 1])
    assert chart.completeness == "proved" and f"outside {TUBE} rad" in chart.scope
    assert len(ONE_APART[k]) + DISTINCT == len(chart.points)
    shown = sorted([*ONE_APART[k], *SYMMETRIC[k][:DISTINCT]])
    listed = sorted((point.loss, point.kind) for point in chart.points)
    np.testing.assert_allclose(
        [loss for loss, _ in shown], [loss for loss, _ in listed], rtol=1e-9, atol=1e-9
    )
    assert sorted(kind for _, kind in shown) == sorted(kind for _, kind in listed)


LEGEND = "JSON.stringify([...document.querySelectorAll('.legendtext')].map((text) => text.textContent))"


def test_the_legend_keeps_up_with_the_hand(shown):
    page = shown("ellipse", x=0, y=0.25)
    before = page.evaluate(LEGEND)
    page.evaluate("() => { window.held = setInterval(() => shallows.move({}), 40); }")
    try:
        page.evaluate("shallows.move({ x: '1.9' })")
        page.wait_for_function(f"(before) => {LEGEND} !== before", arg=before)
        page.locator("canvas.live").wait_for()  # Plotly has drawn nothing yet
        counted = json.loads(page.evaluate(LEGEND))
    finally:
        page.evaluate("() => clearInterval(window.held)")
    page.wait_for_function("document.documentElement.dataset.busy === 'false'")
    assert {text for text in counted if not text.endswith("(0)")} == set(json.loads(page.evaluate(LEGEND)))
