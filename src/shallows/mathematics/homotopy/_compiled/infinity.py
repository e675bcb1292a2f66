"""Which paths run to infinity: those on which x₀ (or 1/‖x‖) keeps falling like a power of t.

Near t = 0 a path is a Puiseux series, so that x₀ ~ t^v with a rational v: v > 0 at infinity, v = 0 at a finite end. The
exponent is measured between marks along the way, not from the tangent, which near a singular point at infinity is
noise. (D. Bates, J. Hauenstein, A. Sommese, C. Wampler, "Numerically Solving Polynomial Systems with Bertini", 2013,
ch. 3; HomotopyContinuation.jl's `valuation` measures the same exponent.)

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.mathematics.homotopy._compiled.codes import AFFINE, PROJECTIVE
from shallows.mathematics.homotopy._compiled.equations import largest, length
from shallows.mathematics.homotopy._compiled.kinds import BOOL, COMPLEXES, FLOAT, FLOATS, HISTORY, INT, VOID
from shallows.support.compiling import unit

#: A mark is replaced once |t| has fallen by this factor, so that two marks are always well apart.
MARK_EVERY = 0.7
#: An exponent is measured only when |t| has fallen by this factor or more since the mark: log(1.2) = 0.18.
MEASURABLE = 1.2
#: The same for affine paths, whose size is looked at over two stretches of t, each a factor of 100 ...
DECADE_EVERY = 0.01
#: ... or nearly so: marks that still are where the path started do not count.
DECADE_MEASURABLE = 90.0
#: An affine path is judged below this |t|: three stretches of 100.
STEADY_BELOW = 1e-6
#: It must have grown by this factor over the stretches ...
STEADY_GROWTH = 30.0
#: ... with an exponent above this one: exponents are multiples of 1/w, w the winding number, and 0.08 lets w ≤ 12 pass.
STEADY_EXPONENT = 0.08
#: The exponents of the two stretches differ by less than this share of them.
STEADY_CHANGE = 0.1


@unit(FLOAT(COMPLEXES, INT), rare=True)
def from_infinity(point: Any, size: int) -> float:
    """How far a projective point is from infinity: |x₀|/‖x‖, x₀ the last, homogenising coordinate."""
    return float(abs(point[size - 1]) / np.sqrt(length(point, size)))


@unit(VOID(HISTORY, FLOAT, COMPLEXES, INT), rare=True)
def set_marks(history: Any, radius: float, x: Any, size: int) -> None:
    """The first marks of a path: `marks` holds (|t|, |x₀|/‖x‖) twice, `decades` (|t|, ‖x‖) three times."""
    marks, decades = history.marks, history.decades
    marks[0], marks[1], marks[2], marks[3] = 0.0, 0.0, radius, from_infinity(x, size)
    for j in range(3):
        decades[2 * j], decades[2 * j + 1] = radius, largest(x, size)


@unit(VOID(FLOATS, FLOAT, FLOAT), rare=True)
def mark(marks: Any, radius: float, away: float) -> None:
    """Keep two marks, the older one (0, 1) well behind."""
    if radius < MARK_EVERY * marks[2]:
        marks[0], marks[1], marks[2], marks[3] = marks[2], marks[3], radius, away


@unit(VOID(FLOATS, FLOAT, FLOAT), rare=True)
def mark_decade(decades: Any, radius: float, size: float) -> None:
    """Keep three marks of an affine path, each a factor of 100 in |t| behind the next."""
    if radius < DECADE_EVERY * decades[4]:
        for j in range(4):
            decades[j] = decades[j + 2]
        decades[4], decades[5] = radius, size


@unit(FLOAT(FLOATS, FLOAT, FLOAT), rare=True)
def exponent(marks: Any, radius: float, away: float) -> float:
    """The exponent v in x₀ ~ t^v, from the last mark that lies well before: 0 when there is none."""
    if not (marks[0] > MEASURABLE * radius and away > 0.0):
        return 1.0 if away == 0.0 and marks[0] > 0.0 else 0.0
    return float(np.log(marks[1] / away) / np.log(marks[0] / radius))


@unit(BOOL(FLOATS, FLOAT, FLOAT), rare=True)
def steady(decades: Any, radius: float, size: float) -> bool:
    """Whether ‖x‖ ~ t^(−v) with one v > 0 over the last two stretches of t, each a factor of 100 or more.

    A path that is large and still grows as a power of t at |t| < 10⁻⁶ runs to infinity, as far as double precision can
    tell.
    """
    grown = size > STEADY_GROWTH * decades[1] and decades[0] > DECADE_MEASURABLE * decades[2]
    if not (radius < STEADY_BELOW and grown):
        return False
    before = np.log(decades[3] / decades[1]) / np.log(decades[0] / decades[2])
    now = np.log(size / decades[3]) / np.log(decades[2] / radius)
    return bool(now > STEADY_EXPONENT and abs(now - before) < STEADY_CHANGE * now)


@unit(BOOL(INT, INT, HISTORY, FLOAT, FLOAT, FLOAT, FLOAT), rare=True)
def runs_away(
    mode: int, size: int, history: Any, radius: float, extent: float, near: float, least: float
) -> bool:
    """Whether the newest point is on its way to infinity.

    Projective: nearer to it than `near`, with an exponent above `least`. Affine, of this extent: by its steady growth.
    """
    if mode == AFFINE:
        return bool(steady(history.decades, radius, extent))
    if mode == PROJECTIVE:
        away = from_infinity(history.newest, size)
        return bool(away < near and exponent(history.marks, radius, away) > least)
    return False
