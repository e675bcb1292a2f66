"""Cores: how many this process may use, and how its numerical libraries are held to one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

#: For processes that are started by us: read by the libraries when they load.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


def available() -> int:
    """The cores this process may use: fewer than the machine has, in a container or under `taskset`."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def workers(asked: int | None) -> int:
    """The number asked for, or one a core."""
    return available() if asked is None else max(1, int(asked))


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold the numerical libraries of this process to one thread; what was set before comes back afterwards.

    Workers side by side do not fight then, and results are independent of the machine: a threaded sum depends on the
    number of threads in its last digits. Needs threadpoolctl (extra `sweep`).
    """
    import numba

    before = numba.get_num_threads()
    with _pools().limit(limits=1):
        numba.set_num_threads(1)
        try:
            yield
        finally:
            numba.set_num_threads(before)


@lru_cache(maxsize=1)
def _pools() -> Any:
    import numpy.linalg  # noqa: F401  (its BLAS must be loaded to be found)
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
