"""Runs side by side: `row` numbers lie between one entry of a lane and its next, and no lane sees another one."""

from __future__ import annotations

from typing import Any

from shallows.model.kernels._compiled.kinds import FLOATS, INT, VOID
from shallows.support.compiling import behind, unit

#: Fused multiply-add, but no reordering: the same bits in every lane.
EXACT = {"contract"}


@unit(VOID(FLOATS, FLOATS, INT, INT, INT, FLOATS), fastmath=EXACT)
def lane_products(x: Any, y: Any, size: int, row: int, lanes: int, out: Any) -> None:
    """x·y of each lane, added to `out`."""
    for i in range(size):
        p, q = behind(x, i * row), behind(y, i * row)
        for l in range(lanes):
            out[l] += p[l] * q[l]


@unit(VOID(FLOATS, INT, FLOATS, INT, INT))
def strided(x: Any, x_step: int, out: Any, out_step: int, size: int) -> None:
    """Copy numbers `x_step` apart to places `out_step` apart: into a lane, out of it, or from lane to lane."""
    for i in range(size):
        out[i * out_step] = x[i * x_step]
