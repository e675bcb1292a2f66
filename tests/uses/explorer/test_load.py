"""Load: many sessions at once, many requests one after the other. Runs under `make test-thorough`.

How long answers take under load is measured by `bench/load.py`; here everybody has to be answered, and rightly.
"""

import json
import os
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

SESSIONS, ANSWERS = 20, 30
REQUESTS = 10_000
#: Resident memory may grow by this much over all requests (allocator slack, caches that are bounded).
GROWTH = 40 * 2**20
#: Moves a slider every 150 ms until so many answers have come, however long that takes.
MOVE = """
async (wanted) => {
  const slider = document.querySelector('[data-field="x"] input[type=range]');
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
  performance.clearResourceTimings();
  performance.setResourceTimingBufferSize(5000);
  const answers = () => performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/scene')).length;
  for (let moves = 0; answers() < wanted; moves++) {
    set.call(slider, String((0.3 + 1.6 * ((moves * 7) % 23) / 23).toFixed(2)));
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    slider.dispatchEvent(new Event('change', { bubbles: true }));
    await new Promise((done) => setTimeout(done, 150));
  }
  return { answers: answers(), message: document.querySelector('#message').textContent };
}
"""


def open_sessions(browser, address, count):
    """Pages of their own contexts: nothing is shared but the machine."""
    pages = []
    for _ in range(count):
        page = browser.new_context(viewport={"width": 900, "height": 700}).new_page()
        page.wrong = []
        page.on("console", lambda m, page=page: page.wrong.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error, page=page: page.wrong.append(str(error)))
        page.set_default_timeout(240_000)
        page.goto(f"{address}/?view=ellipse", timeout=240_000)
        page.locator(".facts > div").first.wait_for()
        pages.append(page)
    return pages


@pytest.mark.thorough
def test_all_of_twenty_sessions_are_answered(browser, explorer):
    pages = open_sessions(browser, explorer, SESSIONS)
    for page in pages:  # all start, each moves its slider by itself
        page.evaluate(f"window.answers = ({MOVE})({ANSWERS}); null")
    found = [page.evaluate("window.answers") for page in pages]
    wrong = [text for page in pages for text in page.wrong] + [f["message"] for f in found if f["message"]]
    for page in pages:
        page.context.close()
    assert not wrong, wrong[:3]
    assert len(found) == SESSIONS and all(f["answers"] >= ANSWERS for f in found)


def test_askers_at_once_get_what_each_gets_alone(explorer):
    """Threads of the server share what is remembered: no answer may be somebody else's."""
    places = [0.3 + 1.6 * i / 23 for i in range(24)]
    alone = [request(explorer, x)[0] for x in places]
    with ThreadPoolExecutor(SESSIONS) as pool:
        together = list(pool.map(lambda x: request(explorer, x)[0], 5 * places))
    assert together == 5 * alone


def request(address, x, known=(), view="ellipse", name="x", **values):
    """One question, as a page asks it, with field `name` at x; the answer, and the server's time in ms."""
    body = {"view": view, "values": {name: f"{x:.4f}", **values}, "known": list(known)}
    post = urllib.request.Request(
        f"{address}/scene", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(post, timeout=600) as answer:
        return json.load(answer), float(answer.headers["Server-Timing"].partition("dur=")[2])


#: Every view has its turn: exact algebra, certified charts, integration, descents.
MOVES = [
    (0.3, 1.8, {"view": "ellipse", "name": "x"}),
    (0.3, 1.8, {"view": "cone", "name": "t11"}),
    (0.3, 1.8, {"view": "quadratic", "name": "t11"}),
    (1.1, 9.0, {"view": "binary", "name": "m4", "law": "moments"}),
    (0.3, 1.8, {"view": "flow", "name": "t1"}),
    (0.1, 0.9, {"view": "relu", "name": "alpha", "k": "4", "runs": "4", "steps": "20", "split": "10"}),
]


def resident():
    """Bytes of memory this process has (the server is one of its threads)."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_one_request_says_what_the_page_shows(explorer):
    answer, milliseconds = request(explorer, 0.45)
    assert ["4", "real critical points"] in answer["facts"] and milliseconds >= 0
    assert "x=0.45" in answer["query"] and answer["message"] == ""


def test_traces_that_the_page_has_are_not_sent_again(explorer):
    first, _ = request(explorer, 0.45)
    traces = dict(first["figures"][0]["data"])
    again, _ = request(explorer, 0.46, known=traces)
    sent = {name: trace for name, trace in again["figures"][0]["data"] if trace is not None}
    spared = [traces[name]["name"] for name, trace in again["figures"][0]["data"] if trace is None]
    assert spared == ["students", "focal curve"] and not set(sent) & set(traces)
    assert len(json.dumps(again)) < len(json.dumps(first)) / 3


@pytest.mark.thorough
def test_memory_stays_flat_over_many_requests(explorer):
    def ask(i):
        low, high, moves = MOVES[i % len(MOVES)]
        answer, _ = request(explorer, low + (high - low) * (i % 1009) / 1009, **moves)
        assert answer["message"] == "", (moves, answer["message"])

    for i in range(1500):  # caches fill
        ask(i)
    before = resident()
    for i in range(REQUESTS):
        ask(i)
    growth = resident() - before
    assert growth < GROWTH, f"{growth / 2**20:.1f} MB more after {REQUESTS} requests"
