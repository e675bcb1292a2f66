"""Sums and products of vectors, for the compiled loops of training."""

from __future__ import annotations

from typing import Any

from shallows.model.kernels._compiled.kinds import FLOAT, FLOATS, INT, VOID
from shallows.support.compiling import behind, unit


@unit(FLOAT(FLOATS, FLOATS, INT), fastmath={"reassoc", "contract"})
def inner(x: Any, y: Any, count: int) -> float:
    """Σ xᵢyᵢ."""
    total = 0.0
    for i in range(count):
        total += x[i] * y[i]
    return total


@unit(VOID(FLOATS, FLOAT, FLOATS, FLOATS, INT))
def moved(x: Any, factor: float, y: Any, out: Any, count: int) -> None:
    """out ← x + factor·y; out may be x or y."""
    for i in range(count):
        out[i] = x[i] + factor * y[i]


@unit(VOID(FLOATS, FLOAT, FLOATS, INT))
def scaled(x: Any, factor: float, out: Any, count: int) -> None:
    """out ← factor·x."""
    for i in range(count):
        out[i] = factor * x[i]


@unit(VOID(FLOATS, INT, INT, INT, FLOATS, INT))
def turn(x: Any, size: int, x_step: int, count: int, y: Any, y_step: int) -> None:
    """y_il = x_li: networks one after the other become lanes, and lanes networks."""
    for i in range(size):
        source, to = behind(x, i), behind(y, i * y_step)
        for l in range(count):
            to[l] = source[l * x_step]
