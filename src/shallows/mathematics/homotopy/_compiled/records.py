"""Records that Python fills and compiled loops read, and memory for one path: nothing here needs numba.

A record lies in memory, one word a field: an integer, or the address of the first entry of an array. `kinds` tells
compiled code what each field is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

#: Points of a path that are remembered: with their tangents they give a prediction of order 6.
REMEMBERED = 3
#: Doubles that a complex number of 31 digits takes (`double_double`).
PLACES = 4
#: Numbers that a `History` takes: nodes, marks and decades.
MARKS, DECADES = 4, 6


class Equations(NamedTuple):
    """An evaluator (its address) with its constant data, the patch or pencil of its mode, and room for results.

    `matrix` (size × size), `value` and `drift` get the Jacobian, the value and the t-derivative of the square system.
    """

    evaluate: int
    complexes: Any
    reals: Any
    program: Any
    work: Any
    scratch: Any
    mode: int
    size: int
    chart: Any
    point: Any
    buffer: Any
    matrix: Any
    value: Any
    drift: Any
    pivots: Any


class History(NamedTuple):
    """What is known of a path: its last points and the `newest` of them, tangents and nodes, the point being tried, the
    point that is `saved` for the endgame with its |t| behind it (negative when there is none), and marks of how it has
    grown (see `infinity`)."""

    points: Any
    newest: Any
    tangents: Any
    nodes: Any
    trial: Any
    saved: Any
    marks: Any
    decades: Any


class Settings(NamedTuple):
    """`TrackerSettings` as compiled code sees them, in the order of its `array`; the last four are the homotopy's."""

    prediction: float
    contraction: float
    longest: float
    shortest: float
    steps: float
    endgame: float
    divergence: float
    noise: float
    floor: float
    within: float
    rounded: float


class Words:
    """A record in memory with all that it points to: compiled code is given its `address` while this is alive."""

    __slots__ = ("_words", "address", "values")

    def __init__(self, values: Any) -> None:
        self.values = values
        words = [each if isinstance(each, int) else first_entry(each) for each in values]
        self._words = np.array(words, np.int64)
        self.address = first_entry(self._words)


def first_entry(array: np.ndarray) -> int:
    """Where the entries of an array begin; they must lie one after the other."""
    if not array.flags.c_contiguous:
        raise TypeError(f"an array has strides {array.strides}; expected contiguous entries.")
    return int(array.__array_interface__["data"][0])


class Room(NamedTuple):
    """Memory for one path at a time, and behind it room for five points: it must be alive while compiled code runs."""

    equations: Words
    history: Words
    spare: np.ndarray


def room(system: tuple[Any, ...], mode: int, size: int, chart: int, work: int, scratch: int) -> Room:
    """Memory for so many unknowns, a chart of so many numbers, and an evaluator's work and scratch."""
    remembered = REMEMBERED * size
    sizes = [work, chart, size + 1, size * (size + 1), size * size, size, size]
    sizes += [remembered, remembered, size, size + 1, 5 * size]
    complexes = _divided(np.complex128, sizes)
    floats = _divided(np.float64, (scratch, REMEMBERED, MARKS, DECADES))
    own, patch, point, buffer, matrix, value, drift, points, tangents, trial, saved, spare = complexes
    made = (patch, point, buffer, matrix, value, drift, np.zeros(size, np.int64))
    equations = Equations._make((*_checked(system), own, floats[0], mode, size, *made))
    history = History(points, points[remembered - size :], tangents, floats[1], trial, saved, *floats[2:])
    return Room(Words(equations), Words(history), spare)


def _checked(system: tuple[Any, ...]) -> tuple[Any, ...]:
    """An evaluator's address and its data, of the types that it reads."""
    address, *data = system
    for array, kind in zip(data, (np.complex128, np.float64, np.int64), strict=True):
        if array.dtype != kind:
            raise TypeError(f"an evaluator's data are {array.dtype}; expected {np.dtype(kind)}.")
    return int(address), *data


def _divided(kind: type, sizes: Sequence[int]) -> list[np.ndarray]:
    """Arrays of these sizes, one after the other in one piece of memory, all zero."""
    memory: np.ndarray = np.zeros(sum(sizes), kind)
    return [memory[end - size : end] for size, end in zip(sizes, accumulate(sizes), strict=True)]
