"""The threads that compute: a few that stay, whatever the number of requests.

The server has a thread for every connection. FLINT keeps memory for every thread that has used it and does not give it
back when the thread ends (about 100 kB each, measured), so a computation must not run in a thread that comes and goes.
As many threads as cores also share the machine fairly among sessions; what takes long waits in a line of its own, so
that a slider never waits for somebody else's report.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeVar

from shallows.support.cores import available

R = TypeVar("R")
#: Requests that are expected to take longer than this wait in the line of long ones.
LONG_SECONDS = 0.5


@lru_cache(maxsize=2)
def _pool(long: bool) -> ThreadPoolExecutor:
    name = "shallows-explorer-long" if long else "shallows-explorer"
    return ThreadPoolExecutor(1 if long else available(), thread_name_prefix=name)


def computed(function: Callable[..., R], *arguments: Any, seconds: float = 0.0) -> R:
    """function(*arguments) from one of the threads that stay; its errors come back as they are.

    `seconds`: how long it will take, roughly.
    """
    return _pool(seconds > LONG_SECONDS).submit(function, *arguments).result()
