"""The types of what compiled loops hand to each other: numbers, pointers into arrays that `blocks` owns, and records in
memory.

A pointer is one word where an array is seven with a reference count: what takes records of arrays compiles five times
as long and runs no faster. Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

from numba import types

from shallows.mathematics.homotopy._compiled.records import Equations, History, Settings
from shallows.support.compiling import record, several
from shallows.support.in_memory import at, in_memory

_pointer: Any = types.CPointer
INT, FLOAT, COMPLEX, BOOL = types.int64, types.float64, types.complex128, types.boolean
INTEGERS, FLOATS, COMPLEXES = _pointer(INT), _pointer(FLOAT), _pointer(COMPLEX)
VOID = types.void
#: Whether, and how much.
ANSWER = several(BOOL, FLOAT)

EQUATIONS = in_memory(
    Equations, INT, COMPLEXES, FLOATS, INTEGERS, COMPLEXES, FLOATS, INT, INT, COMPLEXES, COMPLEXES, COMPLEXES,
    COMPLEXES, COMPLEXES, COMPLEXES, INTEGERS,
)  # fmt: skip
HISTORY = in_memory(History, COMPLEXES, COMPLEXES, COMPLEXES, FLOATS, COMPLEXES, COMPLEXES, FLOATS, FLOATS)
equations_at, history_at = at(EQUATIONS), at(HISTORY)
SETTINGS = record(Settings, *(FLOAT,) * len(Settings._fields))
