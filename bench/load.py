"""Explorer under load: how long twenty sessions wait for their answers, against one session alone.

Askers send what a page sends when a slider moves, every 150 ms and never before the last answer, but draw nothing, in a
process of their own: the server is what is measured. With as many threads as cores, twenty sessions may wait twenty
shares of a core; three times that is promised. By the clock, so it needs an idle machine; alone is measured before and
after, because other work comes and goes.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import threading
from urllib.parse import urlsplit

from bench.report import Row, show_time
from shallows.support.cores import available
from shallows.uses.explorer.server import make_server, warm

SESSIONS, SECONDS, ALONE = 20, 20, 8
PROMISED = 3.0
ASKERS = """
import http.client, json, sys, threading, time
port, count, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
found, wrong, end = [], [], time.monotonic() + seconds
def session(number):
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    time.sleep(0.15 * number / count)
    asked = 0
    while time.monotonic() < end:
        x = 0.3 + 1.6 * ((asked * 7 + number) % 23) / 23
        body = json.dumps({"view": "ellipse", "values": {"x": f"{x:.2f}"}, "known": []})
        start = time.monotonic()
        line.request("POST", "/scene", body, {"Content-Type": "application/json"})
        answer = json.load(line.getresponse())
        found.append(time.monotonic() - start)
        if answer["message"]:
            wrong.append(answer["message"])
        asked += 1
        time.sleep(max(0.0, 0.15 - (time.monotonic() - start)))
threads = [threading.Thread(target=session, args=(i,)) for i in range(count)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps([found, wrong]))
"""


def run() -> list[Row]:
    """Median seconds from question to answer, alone and together."""
    server = make_server(port=0)
    warm()
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    port = urlsplit(server.address).port
    try:
        one = asked(port, 1, ALONE)
        many = asked(port, SESSIONS, SECONDS)
        one += asked(port, 1, ALONE)
    finally:
        server.stop()
        thread.join(timeout=10)
    alone, together = statistics.median(one), statistics.median(many)
    share = alone * SESSIONS / available()
    return [
        Row(
            f"a slider move with {SESSIONS} sessions at once, median, against {SESSIONS} shares of a core",
            show_time(together),
            show_time(share),
            share / together,
            1 / PROMISED,
            f"alone {show_time(alone)}; {len(many)} answers in {SECONDS} s",
        )
    ]


def asked(port: int | None, count: int, seconds: int) -> list[float]:
    """Seconds from question to answer, of all questions of `count` sessions."""
    command = [sys.executable, "-c", ASKERS, str(port), str(count), str(seconds)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10 * seconds + 60)
    found, wrong = json.loads(ran.stdout)
    if wrong:
        raise RuntimeError(wrong[0])
    return list(found)
