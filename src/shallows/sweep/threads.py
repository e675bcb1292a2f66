"""One thread a cell: BLAS, OpenMP and numba are held to it while cells run, so that workers do not fight.

It also makes rows independent of the machine: a threaded sum depends on the number of threads in its last digits.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

#: For processes that are started by us: read by the libraries when they load.
ENVIRONMENT = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold the numerical libraries of this process to one thread; what was set before comes back afterwards."""
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
    from shallows.sweep.extra import need

    need("threadpoolctl")
    import numpy.linalg  # noqa: F401  (its BLAS must be loaded to be found)
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _NoTerminal(io.TextIOBase):
    """A stream that passes text on and is no terminal: bars of cells would be drawn over each other."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Pass the text on."""
        return int(self.stream.write(text))

    def flush(self) -> None:
        """Pass it on at once."""
        self.stream.flush()

    def isatty(self) -> bool:
        """Never."""
        return False


@contextmanager
def no_progress_bars() -> Iterator[None]:
    """Keep progress bars of cells off the terminal; messages still get there."""
    before = sys.stderr
    sys.stderr = _NoTerminal(before)
    try:
        yield
    finally:
        sys.stderr = before
