"""The types of what the compiled loops of training hand to each other. Importing this module imports numba."""

from __future__ import annotations

from typing import Any

from numba import types

from shallows.support.compiling import constants

_pointer: Any = types.CPointer
VOID, INT, FLOAT, BOOL = types.void, types.int64, types.float64, types.boolean
INTEGERS, VECTOR, MATRIX, CUBE = INT[::1], FLOAT[::1], FLOAT[:, ::1], FLOAT[:, :, ::1]
#: Arrays that are only read.
FIXED, FIXED_ROWS = constants(FLOAT), constants(FLOAT, 2)
#: Where numbers lie one after the other.
FLOATS, COUNTS = _pointer(FLOAT), _pointer(INT)
