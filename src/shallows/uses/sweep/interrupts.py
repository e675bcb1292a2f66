"""Ctrl-C while a cell is computed: the cell is given up, even where the library would answer with what it has.

`sh.ensemble` returns the runs that have finished when it is interrupted. Stored as a finished cell, they would pass for
all of them; so an interrupt is remembered here and raised again when the cell returns.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def given_up() -> Iterator[None]:
    """Raise `KeyboardInterrupt` at the end of the block if there was one during it, whoever caught it."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield  # signals go to the main thread; a process that ignores Ctrl-C goes on ignoring it
        return
    seen = False

    def notice(number: int, frame: Any) -> None:
        nonlocal seen
        seen = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, notice)
    try:
        yield
        if seen:
            raise KeyboardInterrupt
    finally:
        signal.signal(signal.SIGINT, before)
