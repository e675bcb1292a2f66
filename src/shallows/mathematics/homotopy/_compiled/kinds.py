"""The types of what compiled loops hand to each other: numbers, pointers into arrays that `blocks` owns, and records in
memory.

A pointer is one word where an array is seven with a reference count: what takes records of arrays compiles five times
as long and runs no faster. Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import types

from shallows.support.compiling import record, several
from shallows.support.in_memory import at, in_memory

_pointer: Any = types.CPointer
INT, FLOAT, COMPLEX, BOOL = types.int64, types.float64, types.complex128, types.boolean
INTEGERS, FLOATS, COMPLEXES = _pointer(INT), _pointer(FLOAT), _pointer(COMPLEX)
VOID = types.void
#: Whether, and how much.
ANSWER = several(BOOL, FLOAT)


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


EQUATIONS = in_memory(
    Equations, INT, COMPLEXES, FLOATS, INTEGERS, COMPLEXES, FLOATS, INT, INT, COMPLEXES, COMPLEXES, COMPLEXES,
    COMPLEXES, COMPLEXES, COMPLEXES, INTEGERS,
)  # fmt: skip
HISTORY = in_memory(History, COMPLEXES, COMPLEXES, COMPLEXES, FLOATS, COMPLEXES, COMPLEXES, FLOATS, FLOATS)
equations_at, history_at = at(EQUATIONS), at(HISTORY)
SETTINGS = record(Settings, *(FLOAT,) * len(Settings._fields))
