"""Python's collector of garbage, while there is none."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Look for no garbage while modules load: what they make stays, and going through all of it again and again takes a
    sixth of the time that numba needs to load.

    >>> from shallows.support.collector import no_collection
    >>> with no_collection():
    ...     import fractions
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def all_stays() -> None:
    """What there is by now is there until the end: the collector does not go through it again.

    A server that has loaded all its pages has a million objects, and going through them takes as long as two answers.

    >>> import gc
    >>> from shallows.support.collector import all_stays
    >>> before = gc.get_freeze_count()
    >>> all_stays()
    >>> gc.get_freeze_count() > before
    True
    """
    gc.collect()
    gc.freeze()
