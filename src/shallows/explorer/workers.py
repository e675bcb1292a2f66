"""The threads that compute: a few that stay, whatever the number of requests.

The server has a thread for every connection. FLINT keeps memory for every thread that has used it and does not give it
back when the thread ends (about 100 kB each, measured), so a computation must not run in a thread that comes and goes.
As many threads as cores also share the machine fairly among sessions.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return ThreadPoolExecutor(cores, thread_name_prefix="shallows-explorer")


def computed(function: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> R:
    """function(*arguments) from one of the threads that stay; its errors come back as they are."""
    return _pool().submit(function, *arguments, **options).result()
