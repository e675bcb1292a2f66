"""Load: many sessions at once, many requests one after the other. Runs under `make test-thorough`."""

import json
import os
import statistics
import time
import urllib.request

import pytest

SESSIONS, SECONDS = 20, 30
REQUESTS = 10_000
#: Resident memory may grow by this much over all requests (allocator slack, caches that are bounded).
GROWTH = 40 * 2**20

#: Moves a slider every 150 ms and collects how long the server took for each answer (its Server-Timing header; from a
#: page's own clock one would measure twenty browsers drawing on the cores they share with the server).
MOVE = """
async (seconds) => {
  const slider = document.querySelector('[data-field="x"] input[type=range]');
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
  performance.clearResourceTimings();
  performance.setResourceTimingBufferSize(5000);
  const end = performance.now() + 1000 * seconds;
  for (let i = 0; performance.now() < end; i++) {
    set.call(slider, String((0.3 + 1.6 * ((i * 7) % 23) / 23).toFixed(2)));
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    slider.dispatchEvent(new Event('change', { bubbles: true }));
    await new Promise((done) => setTimeout(done, 150));
  }
  return performance.getEntriesByType('resource').filter((e) => e.name.includes('_dash-update-component'))
    .map((e) => e.serverTiming[0].duration);
}
"""


def sessions(browser, address, count):
    pages = []
    for _ in range(count):
        page = browser.new_context(viewport={"width": 900, "height": 700}).new_page()
        page.wrong = []
        page.on(
            "console", lambda said, page=page: page.wrong.append(said.text) if said.type == "error" else None
        )
        page.set_default_timeout(240_000)
        page.goto(f"{address}/?view=ellipse", timeout=240_000)
        page.locator(".facts > div").first.wait_for()
        pages.append(page)
    return pages


def answers(pages, seconds):
    """Start all pages, then collect: each moves its slider by itself."""
    for page in pages:
        page.evaluate(f"window.answers = ({MOVE})({seconds}); null")
    found = [page.evaluate("window.answers") for page in pages]
    wrong = [text for page in pages for text in page.wrong]
    for page in pages:
        page.context.close()
    assert not wrong, wrong[:3]
    return [value for values in found for value in values]


@pytest.fixture
def polite_browser(launch, tmp_path):
    """A Chromium that stands for other people's machines: it gives way to the server."""
    program = tmp_path / "polite-chromium"
    program.write_text(f'#!/bin/sh\nexec nice -n 15 "{launch.program}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    chromium = launch(str(program))
    yield chromium
    chromium.close()


@pytest.mark.thorough
def test_twenty_sessions_share_the_server_fairly(polite_browser, explorer):
    alone = statistics.median(answers(sessions(polite_browser, explorer, 1), 8))
    together = answers(sessions(polite_browser, explorer, SESSIONS), SECONDS)
    cores = len(os.sched_getaffinity(0))
    busy = statistics.median(together)
    print(
        f"median answer: {alone:.0f} ms alone, {busy:.0f} ms with {SESSIONS} sessions, {len(together)} answers"
    )
    assert len(together) > SESSIONS * 5
    assert busy <= 3 * alone * SESSIONS / cores, (alone, busy)


def request(address, x):
    """One update of the ellipse, as a page sends it."""
    from shallows.explorer.views.ellipse import VIEW

    names = [field.name for field in VIEW.fields]
    values = {field.name: field.text(field.default) for field in VIEW.fields} | {"x": f"{x:.4f}"}
    boxes = [{"id": {"name": n, "type": "box"}, "property": "value", "value": values[n]} for n in names]
    ids = [{"id": box["id"], "property": "id", "value": box["id"]} for box in boxes]
    graphs = '{"place":["ALL"],"type":"graph"}.figure'
    outputs = (
        f"..{graphs}...facts.children...table.children...code.children...address.data...message.children.."
    )
    body = {
        "output": outputs,
        "outputs": [
            [{"id": {"place": 0, "type": "graph"}, "property": "figure"}],
            *({"id": name, "property": "children"} for name in ("facts", "table", "code")),
            {"id": "address", "property": "data"},
            {"id": "message", "property": "children"},
        ],
        "inputs": [boxes, {"id": "dark", "property": "data", "value": False}],
        "state": [ids, {"id": "view", "property": "data", "value": "ellipse"}],
        "changedPropIds": ['{"name":"x","type":"box"}.value'],
        "parsedChangedPropsIds": [{"name": "x", "type": "box"}],
    }
    post = urllib.request.Request(
        f"{address}/_dash-update-component", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(post, timeout=30) as answer:
        return json.load(answer), float(answer.headers["Server-Timing"].partition("dur=")[2])


def resident():
    """Bytes of memory this process has (the server is one of its threads)."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_one_request_says_what_the_page_shows(explorer):
    answer, milliseconds = request(explorer, 0.45)
    text = json.dumps(answer, ensure_ascii=False)
    assert "real critical points" in text and "x=0.45" in text and milliseconds > 0


@pytest.mark.thorough
def test_memory_stays_flat_over_many_requests(explorer):
    for i in range(500):
        request(explorer, 0.3 + 1.5 * (i % 97) / 97)
    before, begin = resident(), time.monotonic()
    for i in range(REQUESTS):
        request(explorer, 0.3 + 1.5 * (i % 1009) / 1009)
    growth = resident() - before
    assert growth < GROWTH, f"{growth / 2**20:.1f} MB in {time.monotonic() - begin:.0f} s"
