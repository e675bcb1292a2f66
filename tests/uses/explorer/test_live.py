"""While the hand moves only what changed is drawn, on a canvas; when it rests Plotly draws the same picture."""

import base64
from itertools import pairwise

import pytest

#: As if the hand trembled on one place: nothing new is asked for, and the page does not rest.
HOLD = "() => { window.held = setInterval(() => shallows.move({}), 40); }"
RELEASE = "() => clearInterval(window.held)"

#: Moves a slider every 60 ms, over the same way again until enough was seen (on a slow machine later); how often Plotly
#: drew meanwhile, how often a canvas was there, and every answer's times.
SWEEP = """
async ([name, from, to, moves, wanted]) => {
  const slider = document.querySelector(`[data-field="${name}"] input[type=range]`), react = Plotly.react;
  const asked = () => performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/scene'));
  const seen = { drawn: 0, live: 0 };
  Plotly.react = (...given) => { seen.drawn++; return react(...given); };
  performance.clearResourceTimings();
  const enough = () => ({ asked: asked().length, ...seen })[wanted[0]] >= wanted[1];
  for (let sweep = 0; sweep < 40 && !(sweep && enough()); sweep++) for (let i = 1; i <= moves; i++) {
    slider.value = from + (to - from) * i / moves;
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((done) => setTimeout(done, 60));
    seen.live += document.querySelector('canvas.live') !== null;
  }
  Plotly.react = react;
  return { ...seen, asked: asked().map((e) => [e.startTime, e.responseEnd]) };
}
"""

#: The share of pixels in which two pictures differ clearly.
DIFFERENCE = """
async ([one, other]) => {
  const pixels = async (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const brush = new OffscreenCanvas(image.width, image.height).getContext('2d');
    brush.drawImage(image, 0, 0);
    return brush.getImageData(0, 0, image.width, image.height).data;
  };
  const [a, b] = [await pixels(one), await pixels(other)];
  let different = 0;
  for (let i = 0; i < a.length; i += 4) different += [0, 1, 2].some((c) => Math.abs(a[i + c] - b[i + c]) > 80);
  return different / (a.length / 4);
}
"""


def picture(page, figure):
    """The inside of a figure's axes as a PNG in base64."""
    box = page.evaluate(
        """(figure) => {
          const plot = document.querySelectorAll('.js-plotly-plot')[figure];
          const { left, top } = plot.getBoundingClientRect(), { xaxis, yaxis } = plot._fullLayout;
          return { x: left + xaxis._offset, y: top + yaxis._offset, width: xaxis._length, height: yaxis._length };
        }""",
        figure,
    )
    return base64.b64encode(page.screenshot(clip=box)).decode()


def at_rest(page):
    page.wait_for_function("document.documentElement.dataset.busy === 'false'")


# lines, dashes, circles, stars, triangles; diamonds over a map; ink and a moved path
CASES = [("ellipse", 0, {"x": "1.4", "y": "0.9"}), ("cone", 0, {"t11": "-1"}), ("flow", 1, {"t1": "-1.2"})]


@pytest.mark.parametrize(("name", "figure", "change"), CASES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_seen_while_moving_is_what_is_drawn_at_rest(shown, name, figure, change, scheme):
    page = shown(name)
    page.emulate_media(color_scheme=scheme)
    page.mouse.move(0, 0)  # or a figure answers to it with a label
    try:
        at_rest(page)
        page.locator(".js-plotly-plot").nth(figure).scroll_into_view_if_needed()
        before = picture(page, figure)
        page.evaluate(HOLD)
        page.evaluate("(texts) => shallows.move(texts)", change)
        page.locator(".js-plotly-plot").nth(figure).locator("canvas.live").wait_for()
        moving = picture(page, figure)
        page.evaluate(RELEASE)
        at_rest(page)
        assert page.locator("canvas.live").count() == 0
        resting = picture(page, figure)
        moved = page.evaluate(DIFFERENCE, [before, resting])
        assert page.evaluate(DIFFERENCE, [moving, resting]) < min(0.001, moved / 5)
    finally:
        page.evaluate(RELEASE)
        page.emulate_media(color_scheme="light")


def test_plotly_draws_nothing_while_the_hand_moves(shown):
    page = shown("ellipse")
    found = page.evaluate(SWEEP, ["x", 0.45, 1.9, 12, ["live", 8]])
    assert found["drawn"] == 0 and found["live"] >= 8, found
    at_rest(page)
    assert page.locator("canvas.live").count() == 0
    assert page.locator('[data-field="x"] input[type=text]').input_value() == "1.9" and "x=1.9&" in page.url


def test_a_page_asks_at_most_a_third_of_its_time(shown):
    asked = shown("ellipse").evaluate(SWEEP, ["x", 0.45, 1.9, 12, ["asked", 4]])["asked"]
    assert len(asked) >= 4
    for (begin, end), (following, _) in pairwise(asked):
        assert following - end >= min(2 * (end - begin), 1000) - 2  # clocks of a page go in steps


def test_what_leaves_the_axes_is_drawn_in_full(shown):
    page = shown("binary")
    assert (
        page.evaluate(SWEEP, ["c0", 1, 3, 25, ["drawn", 1]])["drawn"] > 0
    )  # as often as the machine affords
