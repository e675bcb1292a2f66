"""Optional dependencies: what is not installed is named, with the extra that brings it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from shallows.support.errors import MissingExtra


@contextmanager
def needed(package: str, extra: str = "") -> Iterator[None]:
    """Imports that need a package; `MissingExtra` when it is not there, the error itself when it is and fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        raise MissingExtra(package, extra or package) from None
