"""What the compiled evaluators of all critical equations have in common.

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

from numba import types

from shallows.mathematics.homotopy._compiled.kinds import COMPLEX, COMPLEXES, INT
from shallows.support.compiling import unit


@unit(types.void(COMPLEX, COMPLEXES, COMPLEXES, INT, INT))
def gap(t: complex, complexes: Any, work: Any, at_s: int, size: int) -> None:
    """e = G(t) s − g(t), its derivative in t, and G(t): behind each other in `work`, after s.

    `complexes` holds G and g at t = 0 and their slopes in t: G0, G1 (N×N), g0, g1.
    """
    square = size * size
    at_e, at_drift, at_g = at_s + size, at_s + 2 * size, at_s + 3 * size
    for i in range(size):
        total = -(complexes[2 * square + i] + t * complexes[2 * square + size + i])
        drift = -complexes[2 * square + size + i]
        for k in range(size):
            slope = complexes[square + i * size + k]
            entry = complexes[i * size + k] + t * slope
            work[at_g + i * size + k] = entry
            total += entry * work[at_s + k]
            drift += slope * work[at_s + k]
        work[at_e + i] = total
        work[at_drift + i] = drift
