"""Progress of work that takes more than two seconds: a bar on stderr, sentences to whoever asked, or nothing.

A bar is drawn only on a terminal, and not inside `silent()`, where bars would be drawn over each other (cells of a
sweep) or over something better (a live table).

Work that counts its progress can be stopped where it counts: `budget.stopped_after`.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from shallows.support.budget import not_counted, require_time, slowness

#: Seconds of work before a bar appears: what is over sooner needs none.
PATIENCE = 2.0
#: Seconds of compiling before a line says so: what is over sooner is not noticed.
NOTICEABLE = 1.0
#: Seconds that compiling takes a byte of bytecode on the reference machine. Measured: 2.1e-4 to 3.9e-4 for the loops of
#: training and of path tracking. (Seconds a function differ by a factor of twenty.)
PACE = 2.8e-4
#: How progress is shown: by a bar (True), not at all (False), or by a function that is told sentences.
Shown = bool | Callable[[str], None]

_silenced = 0
_said_that_it_compiles = False


@contextmanager
def silent() -> Iterator[None]:
    """No bars inside, in any thread of this process; messages still get through."""
    global _silenced
    _silenced += 1
    try:
        yield
    finally:
        _silenced -= 1


class Progress:
    """`with Progress(total, "tracking paths") as progress: progress.update(done)` or `progress.advance(amount)`.

    `unit` is what is counted, for the sentences: "12 of 40 paths".
    """

    def __init__(self, total: int, text: str, shown: Shown = True, unit: str = "") -> None:
        self.total, self.text, self.shown, self.unit = total, text, shown, unit
        self.done = 0
        self.begin = time.perf_counter()
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> Progress:
        return self

    def advance(self, amount: int = 1) -> None:
        """So much more is done."""
        self.update(self.done + amount)

    def update(self, done: int) -> None:
        """So much is done in all; the work stops here if its time is over."""
        require_time()
        self.done = min(done, self.total)
        if not isinstance(self.shown, bool):
            self.shown(f"{self.done:,} of {self.total:,} {self.unit}".rstrip())
            return
        if self.bar is None and self._wanted():
            self.bar, self.task = _new_bar(self.text, self.total)
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done)

    def _wanted(self) -> bool:
        waited = time.perf_counter() - self.begin > PATIENCE
        return bool(self.shown) and waited and not _silenced and sys.stderr.isatty()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()


def _new_bar(text: str, total: int) -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(text, total=total)
    bar.start()
    return bar, task


@contextmanager
def status_line(title: str, shown: bool) -> Iterator[Shown]:
    """A line on stderr while something runs, gone when it is done; what it yields is told what the line should add."""
    if not shown:
        yield False
        return
    from rich.console import Console

    with Console(stderr=True).status(title) as status:
        yield lambda text: status.update(f"{title}: {text}")


@contextmanager
def compiling_line(work: int) -> Iterator[Callable[[int], None]]:
    """A line on stderr, one a process, when compiling so many bytes of bytecode takes more than a second.

    What is yielded is told how many bytes more are done. The rest is estimated by `PACE` and the speed of this machine,
    not by what went before it: the first function waits for numba to load itself, for as long as twenty others take.
    """
    done = 0
    begin, worked = time.perf_counter(), time.process_time()

    def note(size: int) -> None:
        nonlocal done
        done += size

    def say() -> None:
        global _said_that_it_compiles
        _said_that_it_compiles = True
        about = math.ceil(time.perf_counter() - begin + (work - done) * PACE * slowness())
        print(f"shallows: compiling once for this machine, about {about} s", file=sys.stderr, flush=True)

    timer = threading.Timer(NOTICEABLE, say)
    timer.daemon = True
    if work and not (_silenced or _said_that_it_compiles):
        timer.start()
    try:
        yield note
    finally:
        timer.cancel()
        not_counted(time.process_time() - worked)
