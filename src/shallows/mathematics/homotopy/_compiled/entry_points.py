"""The entry points of the compiled loops, cached on disk.

Numba checks the file of a cached function for changes, not the files of what it calls. Only these wrappers
are cached, and a digest of all the sources they stand on is part of their key: no stale machine code.

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from shallows.mathematics.homotopy._compiled.endgame import evaluate_point, inspect_block, track_block
from shallows.mathematics.homotopy.paths import PROJECTIVE, Homotopy

_SOURCES = ("linear.py", "tracker.py", "endgame.py", "entry_points.py")


def _digest() -> int:
    here = Path(__file__).parent
    return zlib.crc32(b"".join((here / name).read_bytes() for name in _SOURCES)) + 1


def _entry_points(digest: int) -> tuple[Any, Any, Any]:
    """The three wrappers; `digest` is never 0, and being a closure variable it enters the cache's key."""

    @njit(cache=True, nogil=True)
    def run(
        evaluate: Any, complexes: Any, reals: Any, program: Any, sizes: Any, block: Any, how: Any, out: Any
    ) -> None:
        if digest:
            track_block(evaluate, complexes, reals, program, sizes, block, how, out)

    @njit(cache=True, nogil=True)
    def inspect(
        evaluate: Any, complexes: Any, reals: Any, program: Any, sizes: Any, block: Any, out: Any
    ) -> None:
        if digest:
            inspect_block(evaluate, complexes, reals, program, sizes, block, out)

    @njit(cache=True, nogil=True)
    def evaluate_one(
        evaluate: Any, complexes: Any, reals: Any, program: Any, room: Any, point: Any, out: Any
    ) -> None:
        if digest:
            evaluate_point(evaluate, complexes, reals, program, room, point, out)

    return run, inspect, evaluate_one


run, inspect, evaluate_one = _entry_points(_digest())


def evaluate_once(homotopy: Homotopy, point: Any) -> tuple[Any, Any]:
    """Value and extended Jacobian of an evaluator at (x, t)."""
    size = homotopy.unknowns
    equations = size - 1 if homotopy.mode == PROJECTIVE else size
    value = np.zeros(equations, np.complex128)
    jacobian = np.zeros((equations, size + 1), np.complex128)
    room = (np.empty(homotopy.work, np.complex128), np.empty(homotopy.scratch))
    place = np.ascontiguousarray(point, dtype=np.complex128)
    constants = (homotopy.complexes, homotopy.reals, homotopy.program)
    evaluate_one(homotopy.evaluate, *constants, room, place, (value, jacobian))
    return value, jacobian
