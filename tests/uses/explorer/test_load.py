"""Load: many sessions at once, many requests one after the other. Runs under `make test-thorough`."""

import json
import os
import statistics
import subprocess
import sys
import time
import urllib.request

import pytest

SESSIONS, SECONDS, ALONE = 20, 30, 10
REQUESTS = 10_000
#: Resident memory may grow by this much over all requests (allocator slack, caches that are bounded).
GROWTH = 40 * 2**20
#: Moves a slider every 150 ms and collects in ms, of every answer: from the moment at which the page asks, from the
#: sending of the request (both until the answer is received), and the server's share.
MOVE = """
async (seconds) => {
  const slider = document.querySelector('[data-field="x"] input[type=range]');
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
  performance.clearResourceTimings();
  performance.setResourceTimingBufferSize(5000);
  const end = performance.now() + 1000 * seconds;
  let moves = 0;
  for (; performance.now() < end; moves++) {
    set.call(slider, String((0.3 + 1.6 * ((moves * 7) % 23) / 23).toFixed(2)));
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    slider.dispatchEvent(new Event('change', { bubbles: true }));
    await new Promise((done) => setTimeout(done, 150));
  }
  const answers = performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/scene'));
  return { moves, message: document.querySelector('#message').textContent,
           answers: answers.map(({ startTime, requestStart, responseEnd, serverTiming }) =>
             [responseEnd - startTime, responseEnd - requestStart, serverTiming[0].duration]) };
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


def answers(pages, seconds):
    """Start all pages, then collect: each moves its slider by itself."""
    for page in pages:
        page.evaluate(f"window.answers = ({MOVE})({seconds}); null")
    found = [page.evaluate("window.answers") for page in pages]
    wrong = [text for page in pages for text in page.wrong] + [f["message"] for f in found if f["message"]]
    assert not wrong, wrong[:3]
    return [answer for session in found for answer in session["answers"]]


@pytest.mark.thorough
def test_twenty_sessions_share_the_server_fairly(browser, explorer):
    first, *others = pages = open_sessions(browser, explorer, SESSIONS)
    alone = answers([first], ALONE)
    together = answers(pages, SECONDS)
    alone += answers([first], ALONE)  # before and after: other work on this machine comes and goes
    for page in pages:
        page.context.close()
    cores = len(os.sched_getaffinity(0))
    clocks = ("page asks to answer", "request sent to answer", "inside the server")
    medians = [[statistics.median(a[i] for a in found) for found in (alone, together)] for i in range(3)]
    allowed = [3 * one * SESSIONS / cores for one, _ in medians]
    said = (
        f"{len(alone)} answers to one session, {len(together)} to {SESSIONS} in {SECONDS} s; medians: "
        + "; ".join(
            f"{clock} {one:.1f} ms alone, {many:.1f} ms together, {most:.0f} allowed"
            for clock, (one, many), most in zip(clocks, medians, allowed, strict=True)
        )
    )
    said += f"; load of the machine {os.getloadavg()[0]:.1f}"
    print(said)
    assert len(others) == SESSIONS - 1 and len(together) > SESSIONS * SECONDS, said
    for (_, many), most in zip(medians, allowed, strict=True):
        assert many <= most, said


#: Asks as often as the pages do but draws nothing, so that the server is what is measured: N sessions, each waiting for
#: its answer before the next question, in a process of their own.
ASKERS = """
import http.client, json, sys, threading, time
port, count, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
found, wrong, end = [], [], time.monotonic() + seconds
def session(number):
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    time.sleep(0.15 * number / count)
    asked = 0
    while time.monotonic() < end:
        x = 0.3 + 1.6 * ((asked * 7 + number) % 23) / 23
        body = json.dumps({"view": "ellipse", "values": {"x": f"{x:.2f}"}, "known": []})
        start = time.monotonic()
        line.request("POST", "/scene", body, {"Content-Type": "application/json"})
        answer = json.load(line.getresponse())
        found.append(1e3 * (time.monotonic() - start))
        if answer["message"]:
            wrong.append(answer["message"])
        asked += 1
        time.sleep(max(0.0, 0.15 - (time.monotonic() - start)))
threads = [threading.Thread(target=session, args=(i,)) for i in range(count)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps([found, wrong]))
"""


def asked(address, count, seconds):
    """Milliseconds from question to answer of sessions that draw nothing."""
    port = address.rpartition(":")[2]
    command = [sys.executable, "-c", ASKERS, port, str(count), str(seconds)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    found, wrong = json.loads(run.stdout)
    assert not wrong, wrong[:3]
    return found


@pytest.mark.thorough
def test_the_server_keeps_up_with_twenty_askers(explorer):
    one = asked(explorer, 1, ALONE)
    many = asked(explorer, SESSIONS, SECONDS)
    one += asked(explorer, 1, ALONE)
    alone, together = statistics.median(one), statistics.median(many)
    allowed = 3 * alone * SESSIONS / len(os.sched_getaffinity(0))
    said = (
        f"question to answer, median: {alone:.1f} ms alone, {together:.1f} ms with {SESSIONS} askers "
        f"({len(many)} answers in {SECONDS} s), {allowed:.0f} allowed; load of the machine {os.getloadavg()[0]:.1f}"
    )
    print(said)
    assert len(many) > SESSIONS * SECONDS, said
    assert together <= allowed, said


def request(address, x, known=(), view="ellipse", name="x", **values):
    """One question, as a page asks it, with field `name` at x; the answer, and the server's time in ms."""
    body = {"view": view, "values": {name: f"{x:.4f}", **values}, "known": list(known)}
    post = urllib.request.Request(
        f"{address}/scene", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(post, timeout=30) as answer:
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
    assert ["4", "real critical points"] in answer["facts"] and milliseconds > 0
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
    before, begin = resident(), time.monotonic()
    for i in range(REQUESTS):
        ask(i)
    growth = resident() - before
    print(f"{growth / 2**20:.1f} MB more after {REQUESTS} requests in {time.monotonic() - begin:.0f} s")
    assert growth < GROWTH, f"{growth / 2**20:.1f} MB in {time.monotonic() - begin:.0f} s"
