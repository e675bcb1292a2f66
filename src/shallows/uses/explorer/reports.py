"""Reports that a page asks for: written one at a time, each by a process of its own.

What a report has loaded and drawn goes back to the machine when its process ends, and a report that nobody waits for
any more (the page was closed) is stopped. A few may wait; more are refused at once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from shallows.support.errors import ShallowsError

#: Reports that may wait while one is written: at the limit of time, the last one waits about twenty seconds.
LONGEST_LINE = 4
#: How often, in seconds, somebody looks whether a report is still wanted.
LOOK = 0.2
#: What writes a report: it reads a question from stdin and prints the answer.
WRITER = "shallows.uses.explorer.report_process"

Wanted = Callable[[], bool]


class Busy(ShallowsError):
    """Too many reports are waiting."""


class Abandoned(ShallowsError):
    """Nobody waits for the report any more."""


class ReportLine:
    """The reports of one server: at most one is written at a time, and at most `longest` wait."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._places = threading.Semaphore(longest + 1)
        self._turn = threading.Lock()

    def written(self, question: Mapping[str, Any], wanted: Wanted = lambda: True) -> str:
        """The answer to a question {view, values}, as JSON; `wanted` is asked now and then while it waits."""
        if not self._places.acquire(blocking=False):
            raise Busy(
                "Other reports are being written, and as many as may wait are waiting. Fix: ask again soon."
            )
        try:
            while not self._turn.acquire(timeout=LOOK):
                _require(wanted)
            try:
                return _of_process(json.dumps(question), wanted)
            finally:
                self._turn.release()
        finally:
            self._places.release()


def _of_process(question: str, wanted: Wanted) -> str:
    """What the writer prints; it is killed when nobody wants it any more."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-m", WRITER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment,
        start_new_session=True,  # Ctrl-C ends the server, and does not print a traceback of the writer
    ) as process:
        try:
            text = _answer(process, question, wanted)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        how = signal.Signals(-process.returncode).name if process.returncode < 0 else str(process.returncode)
        raise ShallowsError(f"The process that writes the report ended with {how}; the terminal may say why.")
    return text


def _answer(process: subprocess.Popen[str], question: str, wanted: Wanted) -> str:
    given: str | None = question
    while True:
        try:
            text, _ = process.communicate(given, timeout=LOOK)
            return text
        except subprocess.TimeoutExpired:
            given = None
            _require(wanted)


def _require(wanted: Wanted) -> None:
    if not wanted():
        raise Abandoned("Nobody waits for this report any more.")
