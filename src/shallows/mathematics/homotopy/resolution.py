"""What a cluster of ends is, decided in multiple precision from the exact equations.

Doubles cannot tell a double root from a pair at a distance of 10⁻⁸, nor an isolated multiple root from a point of a
curve at which the equations meet badly. Here a cluster at which m paths end becomes m proved simple roots, or multiple
roots that hold to hundreds of bits, or a point of a positive-dimensional set; or it stays undecided, and is called so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.systems import ball_evaluator, precision
from shallows.mathematics.homotopy.close_roots import (
    OPEN,
    Neighbourhood,
    close_roots,
    disjoint,
    simple_root,
)
from shallows.mathematics.homotopy.fat_points import fat_point
from shallows.mathematics.homotopy.systems import PolynomialSystem
from shallows.mathematics.same_points import chained, chordal_coordinates

#: Chordal distance at which singular ends may belong together: rounding splits a fourfold root by ε^{1/4} = 10⁻⁴.
_TOGETHER = 1e-3
#: Clusters of more paths are left undecided: the work grows with the cube of their number.
_MOST_PATHS = 40
#: Bits in which an end that was tracked in multiple precision is proved.
_BITS = 512
#: Steps of such a path: those of `TrackerSettings.tighter`.
_STEPS = 20_000


def resolve_together(
    centres: NDArray[np.complex128], decide: Callable[[list[int]], Neighbourhood]
) -> Iterator[tuple[list[int], Neighbourhood]]:
    """Clusters by number, those that are close to each other at once, and what `decide` says they are.

    Close roots that doubles have put into several clusters can only be told apart together; where that fails each
    cluster is decided by itself.
    """
    for group in chained(chordal_coordinates(centres), _TOGETHER):
        found = decide(group)
        if found.isolated is None and len(group) > 1:
            yield from (([k], decide([k])) for k in group)
        else:
            yield group, found


def resolve(prepared: Any, seed: Any, points: NDArray[np.complex128], rows: Sequence[int]) -> Neighbourhood:
    """What the paths `rows`, of the start points that `seed` gives, end at; `points` are the tracker's coordinates."""
    count = len(rows)
    if not hasattr(prepared, "scaled_system") or count > _MOST_PATHS or not np.isfinite(points).all():
        return OPEN
    system = prepared.scaled_system()
    centre = points.mean(axis=0)
    found = close_roots(system, centre, count)
    if found.isolated is None and isinstance(system, PolynomialSystem):
        found = fat_point(system, centre, count)
    if found.isolated is None and seed is not None and hasattr(prepared, "precise_ends"):
        found = _tracked(system, prepared.precise_ends(np.random.default_rng(seed), rows, _STEPS))
    return found


def _tracked(system: Any, ends: Sequence[Sequence[Any] | None]) -> Neighbourhood:
    """Simple roots, when every path has one of its own in multiple precision."""
    evaluator = ball_evaluator(system, _BITS)
    with precision(_BITS):
        roots = [None if end is None else simple_root(system, evaluator, end, _BITS) for end in ends]
    found = tuple(root for root in roots if root is not None)
    apart = disjoint([root.proof for root in found if root.proof is not None])
    return Neighbourhood(found, True) if apart and len(found) == len(ends) else OPEN
