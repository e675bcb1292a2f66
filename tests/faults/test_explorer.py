"""The explorer as a process of its own: reports that pile up, or that nobody waits for, and broken requests."""

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time

import psutil
import pytest

SERVER = """
import sys
from shallows.uses.explorer import reports
from shallows.uses.explorer.server import make_server
if len(sys.argv) > 1:
    reports.WRITER = sys.argv[1]
server = make_server(port=0)
print(server.port, flush=True)
server.inner.serve_forever()
"""
#: In place of a report: waits until it may go on, and says who it is.
SLOW = """
import os, sys, time
sys.stdin.read()
while not os.path.exists("go"):
    time.sleep(0.02)
print('{"message": "slow"}')
"""
QUESTION = {"view": "cone", "values": {"train": "0"}}


class Explorer:
    """A running explorer: its port, its process, and what it says on stderr."""

    def __init__(self, folder, *arguments):
        self.log = open(folder / "stderr", "w+")  # noqa: SIM115  (closed with the process)
        path = os.pathsep.join([str(folder), *filter(None, sys.path)])
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, *arguments], stdout=subprocess.PIPE, stderr=self.log, text=True, cwd=folder,
            env=os.environ | {"PYTHONPATH": path},
        )  # fmt: skip
        self.port = int(self.process.stdout.readline())

    def post(self, path, body, timeout=600):
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        text = body if isinstance(body, (str, bytes)) else json.dumps(body)
        line.request("POST", path, text, {"Content-Type": "application/json"})
        answer = line.getresponse()
        return answer.status, answer.read().decode()

    def raw(self, text):
        with socket.create_connection(("127.0.0.1", self.port), timeout=600) as line:
            line.sendall(text.encode("latin-1"))
            return line.recv(4096).decode("latin-1")

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def writers(self):
        return psutil.Process(self.process.pid).children(recursive=True)

    def resident(self):
        return psutil.Process(self.process.pid).memory_info().rss / 2**20


@pytest.fixture
def explorer(tmp_path):
    running = []

    def start(*arguments):
        running.append(Explorer(tmp_path, *arguments))
        return running[-1]

    yield start
    for one in running:
        one.process.kill()
        one.process.wait()
        one.process.stdout.close()
        one.log.close()


def wait_until(condition, seconds=600.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


CALLBACK = {
    "output": "page.children",
    "outputs": {"id": "page", "property": "children"},
    "inputs": [{"id": "url", "property": "search", "value": "?view=ellipse"}],
    "changedPropIds": ["url.search"],
}
MALFORMED = [
    "", "null", "[]", "3", "{}", "{", "\xff", CALLBACK | {"output": None}, CALLBACK | {"output": "other.children"},
    CALLBACK | {"output": ["page.children"]}, CALLBACK | {"outputs": []}, CALLBACK | {"outputs": {"id": {}}},
    CALLBACK | {"inputs": None}, CALLBACK | {"inputs": []}, CALLBACK | {"inputs": [3]}, CALLBACK | {"inputs": {}},
    CALLBACK | {"inputs": [CALLBACK["inputs"][0] | {"value": 3}]},
    CALLBACK | {"inputs": [CALLBACK["inputs"][0] | {"value": ["?view=ellipse"]}]},
    CALLBACK | {"inputs": [CALLBACK["inputs"][0] | {"value": {"a": 1}}]},
    CALLBACK | {"inputs": [CALLBACK["inputs"][0] | {"id": {"type": "x"}}]},
    CALLBACK | {"changedPropIds": 3}, CALLBACK | {"changedPropIds": ["other.value"]},
]  # fmt: skip


def test_malformed_requests_get_400_without_a_traceback_and_a_missing_host_is_refused(explorer):
    server = explorer()
    status, text = server.post("/_dash-update-component", CALLBACK)
    assert status == 200 and "ellipse" in text
    for body in MALFORMED:
        status, text = server.post("/_dash-update-component", body)
        assert status == 400 and len(text) < 500, (body, status, text[:200])
    for name in ("/scene", "/report"):
        for body in (
            "",
            "null",
            "[]",
            "{",
            {"view": "cone", "values": {"t11": [1]}},
            {"view": "cone", "values": 3},
        ):
            status, text = server.post(name, body)
            assert status == 200 and json.loads(text)["message"], body  # a sentence for the page
    for request in ("GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n"):
        assert server.raw(request).split(" ")[1] == "400", request
    assert server.raw(f"GET / HTTP/1.1\r\nHost: localhost:{server.port}\r\n\r\n").split(" ")[1] == "200"
    assert server.raw("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").split(" ")[1] == "400"
    assert "Traceback" not in server.said() and "Error" not in server.said(), server.said()


def test_the_line_of_reports_is_bounded_and_one_is_written_at_a_time(explorer, tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    server = explorer("slow")
    answers = []

    def ask():
        answers.append(json.loads(server.post("/report", QUESTION)[1])["message"])

    threads = [threading.Thread(target=ask) for _ in range(9)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(answers) == 4)  # refused while the others wait
    wait_until(lambda: len(server.writers()) == 1)
    for _ in range(10):
        assert len(server.writers()) <= 1
        time.sleep(0.1)
    (tmp_path / "go").touch()
    for thread in threads:
        thread.join(timeout=600)
    assert answers.count("slow") == 5 and sum("Fix: ask again soon" in answer for answer in answers) == 4


def test_an_abandoned_report_stops_and_gives_its_place_back(explorer, tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    server = explorer("slow")
    body = json.dumps(QUESTION)
    head = "POST /report HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    lines = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(5)]
    for line in lines:
        line.sendall((head + body).encode())
    wait_until(lambda: len(server.writers()) == 1)
    for line in lines:
        line.close()
    wait_until(lambda: not server.writers())
    (tmp_path / "go").touch()
    assert json.loads(server.post("/report", QUESTION)[1])["message"] == "slow"


#: Megabytes by which the server may be larger after reports than after the first one (281 → 567 in twenty, before).
GROWTH = 20


@pytest.mark.parametrize("count", [1, pytest.param(20, marks=pytest.mark.thorough)])
def test_memory_goes_back_after_reports(explorer, count):
    server = explorer()

    def report(i):
        values = {"train": "10", "t11": f"1.{i:02d}"}
        answer = json.loads(server.post("/report", {"view": "cone", "values": values})[1])
        assert answer["message"] == "" and len(answer["text"]) > 10**5, answer["message"]

    report(0)  # loads the view
    before = server.resident()
    for i in range(count):
        report(i)
    assert not server.writers()
    assert server.resident() - before < GROWTH, f"{before:.0f} MB before, {server.resident():.0f} MB after"
