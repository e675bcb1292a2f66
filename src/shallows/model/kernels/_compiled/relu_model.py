"""A ReLU student and its teacher as the compiled loops see them: one record, built in one place."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shallows.model.kernels._compiled.kinds import (
    BOOL,
    COUNTS,
    FIXED,
    FIXED_ROWS,
    FLOAT,
    FLOATS,
    INT,
    VOID,
)
from shallows.model.kernels.arccos_polynomial import arccos_polynomial
from shallows.support.checks import Array
from shallows.support.compiling import entry, pointer
from shallows.support.in_memory import Held, at, in_memory

#: The share of nonzero entries up to which a teacher is cheaper entry by entry (measured).
SPARSE = 0.2


class ReLUModel(NamedTuple):
    """k×n weights and k outer ones, trained if `free`, against m teacher neurons with outer weights b, of energy E y².

    The teacher's nonzero entries `value` are in these `column`s, row t from first[t] to first[t+1]; `norm` is ‖v‖ and
    `length` b‖v‖. Where dense[0] is one, many entries are nonzero, and the rows v̂ and bv are used as matrices: `unit`
    and `weighted`. `c` is `arccos_polynomial`.
    """

    k: int
    n: int
    m: int
    free: bool
    energy: float
    outer: Array
    c: Array
    first: np.ndarray
    column: np.ndarray
    value: Array
    norm: Array
    b: Array
    length: Array
    dense: np.ndarray
    unit: Array
    weighted: Array


MODEL = in_memory(
    ReLUModel, INT, INT, INT, BOOL, FLOAT, FLOATS, FLOATS, COUNTS, COUNTS, FLOATS, FLOATS, FLOATS, FLOATS, COUNTS,
    FLOATS, FLOATS,
)  # fmt: skip
model_at = at(MODEL)


@entry(VOID(INT, FIXED_ROWS, FIXED), rare=True)
def set_teacher(address: int, rows: Array, outer: Array) -> None:
    """Put a teacher into a model with room for it."""
    model, V, b = model_at(address), pointer(rows), pointer(outer)
    n, first, column, value = model.n, model.first, model.column, model.value
    norm, unit, weighted = model.norm, model.unit, model.weighted
    place = 0
    first[0] = 0
    for j in range(model.m):
        square = 0.0
        for i in range(n):
            v = V[j * n + i]
            if v != 0:
                column[place], value[place] = i, v
                square += v * v
                place += 1
        first[j + 1], norm[j], model.b[j] = place, np.sqrt(square), b[j]
        model.length[j] = b[j] * norm[j]
        scale = 1 / norm[j] if norm[j] > 0 else 0.0
        for i in range(n):
            unit[j * n + i], weighted[j * n + i] = V[j * n + i] * scale, b[j] * V[j * n + i]
    model.dense[0] = 1 if place > SPARSE * model.m * n else 0


def room_for(
    k: int, n: int, m: int, outer: Array | None = None, free: bool = True, energy: float = 0.0
) -> Held:
    """A model whose teacher is still to be set."""
    given: Any = np.ones(k) if outer is None else np.ascontiguousarray(outer, dtype=np.float64)
    arrays: Any = (
        *(np.zeros(size, np.int64) for size in (m + 1, m * n)),
        *(np.zeros(size) for size in (m * n, m, m, m)),
        np.zeros(1, np.int64),
        *(np.zeros((m, n)) for _ in range(2)),
    )
    return Held(MODEL, ReLUModel(k, n, m, free, energy, given, arccos_polynomial(), *arrays))


def relu_model(
    k: int, n: int, V: Array, b: Array, outer: Array | None = None, free: bool = True, energy: float = 0.0
) -> Held:  # fmt: skip
    """A student of k neurons in n inputs against the teacher Σ bⱼ ReLU(vⱼ·x)."""
    model = room_for(k, n, len(V), outer, free, energy)
    set_teacher(model.address, V, b)
    return model
