"""A progress bar on stderr for work that takes more than two seconds; nothing when stderr is not a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

DELAY = 2.0


class Progress:
    """`with Progress(total, text) as progress: progress.update(done)`."""

    def __init__(self, total: int, text: str) -> None:
        self.total, self.text = total, text
        self.begin = time.perf_counter()
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> Progress:
        return self

    def update(self, done: int) -> None:
        """Show how far things are, once two seconds have passed."""
        if self.bar is None and sys.stderr.isatty() and time.perf_counter() - self.begin > DELAY:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
            )
            self.bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self.task = self.bar.add_task(self.text, total=self.total)
            self.bar.start()
        if self.bar is not None:
            self.bar.update(self.task, completed=done)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()
