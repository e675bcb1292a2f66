"""The compiled loops over blocks of paths as functions of arrays.

They are C functions, called at their addresses: a process that finds them in the cache (`ready_code`) tracks paths
without numba.
"""

from __future__ import annotations

from ctypes import CFUNCTYPE, c_double, c_int64
from functools import cache
from typing import Any

import numpy as np

from shallows.mathematics.homotopy._compiled.records import Room, first_entry
from shallows.support.ready_code import ReadyCode

BLOCKS = "shallows.mathematics.homotopy._compiled.blocks"
TRACK, INSPECT, EVALUATE = (
    ReadyCode(BLOCKS, name) for name in ("track_block", "inspect_block", "evaluate_points")
)
_WORD = c_int64


@cache
def _function(code: ReadyCode, *kinds: Any) -> Any:
    """What calls a C function without a result; other threads run meanwhile."""
    return CFUNCTYPE(None, *kinds)(code.address)


def _places(*given: tuple[np.ndarray, Any]) -> list[int]:
    """Where arrays begin, which must be of these types."""
    for array, kind in given:
        if array.dtype != kind:
            raise TypeError(f"an array is {array.dtype}; expected {np.dtype(kind)}.")
    return [first_entry(array) for array, _ in given]


def track_block(
    memory: Room,
    ends: np.ndarray,
    charts: np.ndarray,
    options: np.ndarray,
    most: int,
    times: np.ndarray,
    codes: np.ndarray,
    figures: np.ndarray,
) -> None:
    """Track every row of `ends` in place (`blocks.track_block`)."""
    spare, at, patch, chosen, ts, status, numbers = _places(
        (memory.spare, np.complex128), (ends, np.complex128), (charts, np.complex128), (options, np.float64),
        (times, np.complex128), (codes, np.int64), (figures, np.float64),
    )  # fmt: skip
    places = memory.equations.address, memory.history.address
    paths, width = len(ends), charts.shape[1]
    call = _function(TRACK, *(_WORD,) * 12)
    call(*places, spare, paths, at, width, patch, chosen, most, ts, status, numbers)


def inspect_block(
    memory: Room,
    noise: float,
    ends: np.ndarray,
    newton: np.ndarray,
    matrices: np.ndarray,
    values: np.ndarray,
    steps: np.ndarray,
) -> None:
    """Jacobians and values at every row of `ends` (`blocks.inspect_block`)."""
    chosen = newton.astype(np.int64)
    spare, at, which, slopes, residuals, last = _places(
        (memory.spare, np.complex128), (ends, np.complex128), (chosen, np.int64), (matrices, np.complex128),
        (values, np.complex128), (steps, np.float64),
    )  # fmt: skip
    call = _function(INSPECT, _WORD, _WORD, c_double, *(_WORD,) * 6)
    call(memory.equations.address, spare, noise, len(ends), at, which, slopes, residuals, last)


def evaluate_points(
    system: tuple[Any, ...],
    work: np.ndarray,
    scratch: np.ndarray,
    points: np.ndarray,
    values: np.ndarray,
    jacobians: np.ndarray,
) -> None:
    """An evaluator at every row of `points` (`blocks.evaluate_points`)."""
    address, complexes, reals, program = system
    data = _places(
        (complexes, np.complex128), (reals, np.float64), (program, np.int64), (work, np.complex128),
        (scratch, np.float64),
    )  # fmt: skip
    tables = _places((points, np.complex128), (values, np.complex128), (jacobians, np.complex128))
    call = _function(EVALUATE, *(_WORD,) * 12)
    call(address, *data, len(points), points.shape[1], values.shape[1], *tables)
