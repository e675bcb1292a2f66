"""The entry points of the compiled loops, cached on disk.

Numba checks the file of a cached function for changes, not the files of what it calls. Only these wrappers
are cached, and a digest of all the sources they stand on is part of their key: no stale machine code.

Numba optimises a function together with all that it calls, and again for each caller: functions between the entry
points and `follow`, each called once, are inlined (`inline="always"`) rather than compiled for themselves. Of 33 s of
processor time that a first `solve` took, 28 are left.

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from numba import njit

from shallows.mathematics import error_free
from shallows.mathematics.homotopy._compiled.blocks import evaluate_point, inspect_block, track_block
from shallows.support import tolerances


def sources() -> list[Path]:
    """What the compiled code is made from: every module of this folder, and what they share with others."""
    return [*sorted(Path(__file__).parent.glob("*.py")), Path(error_free.__file__), Path(tolerances.__file__)]


def digest_of(files: Iterable[Path]) -> int:
    """A number for the contents of files, never 0."""
    return zlib.crc32(b"".join(file.read_bytes() for file in files)) + 1


def _entry_points(digest: int) -> tuple[Any, Any, Any]:
    """The three wrappers; `digest` is never 0, and being a closure variable it enters the cache's key."""

    @njit(cache=True, nogil=True, error_model="numpy")
    def run(
        evaluate: Any, complexes: Any, reals: Any, program: Any, sizes: Any, block: Any, how: Any, out: Any
    ) -> None:
        if digest:
            track_block(evaluate, complexes, reals, program, sizes, block, how, out)

    @njit(cache=True, nogil=True, error_model="numpy")
    def inspect(
        evaluate: Any, complexes: Any, reals: Any, program: Any, sizes: Any, block: Any, out: Any
    ) -> None:
        if digest:
            inspect_block(evaluate, complexes, reals, program, sizes, block, out)

    @njit(cache=True, nogil=True, error_model="numpy")
    def evaluate_one(
        evaluate: Any, complexes: Any, reals: Any, program: Any, room: Any, point: Any, out: Any
    ) -> None:
        if digest:
            evaluate_point(evaluate, complexes, reals, program, room, point, out)

    return run, inspect, evaluate_one


run, inspect, evaluate_one = _entry_points(digest_of(sources()))
