"""Cores: how many this process may use, and how its numerical libraries are held to one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
#: For processes that are started by us: read by the libraries when they load.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
#: The same for numba, which reads it again whenever it compiles and stops where it has changed after its threads were
#: started: it is for the environment of the processes we start, and never for our own, not even for a while.
ONE_NUMBA_THREAD = {"NUMBA_NUM_THREADS": "1"}


def available() -> int:
    """The cores this process may use: fewer than the machine has, in a container or under `taskset`."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def workers(asked: int | None) -> int:
    """The number asked for, or one a core."""
    return available() if asked is None else max(1, int(asked))


def each(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    threads: int,
    tell: Callable[[int], object] | None = None,
) -> list[Result]:
    """What `work` makes of each item, in their order, on so many threads: this one and others, which take the next item
    when they are done with one. This one tells how many items more are done; where it stops, all do.

    >>> from shallows.support.cores import each
    >>> each(lambda k: k * k, range(5), threads=2)
    [0, 1, 4, 9, 16]
    """
    line = _Line(work, items)
    others = [threading.Thread(target=line.run, daemon=True) for _ in range(min(threads, len(items)) - 1)]
    for other in others:
        other.start()
    try:
        line.run(tell)
    finally:
        line.stopped = True
        for other in others:
            other.join()
    if line.error is not None:
        raise line.error
    if tell is not None:
        tell(line.untold())
    return [line.results[k] for k in range(len(items))]


class _Line:
    """Items that wait for a thread."""

    def __init__(self, work: Callable[[Any], Any], items: Sequence[Any]) -> None:
        self.work, self.items = work, items
        self.results: dict[int, Any] = {}
        self.error: BaseException | None = None
        self.stopped = False
        self._lock, self._next, self._told = threading.Lock(), 0, 0

    def run(self, tell: Callable[[int], object] | None = None) -> None:
        """One item after the other, until there are none."""
        while not self.stopped:
            with self._lock:
                k, self._next = self._next, self._next + 1
            if k >= len(self.items):
                return
            try:
                self.results[k] = self.work(self.items[k])
            except BaseException as error:  # raised again by `each`
                self.error, self.stopped = error, True
                return
            if tell is not None:
                tell(self.untold())

    def untold(self) -> int:
        """Items that are done and were not counted yet."""
        done = len(self.results)
        more, self._told = done - self._told, done
        return more


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
