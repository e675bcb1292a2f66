"""Singular ends that are several close points: told apart by the exact equations, in multiple precision.

Next to the discriminant two critical points are so close that doubles take them for a double one. `close_roots` decides
from the exact numbers given, up to the symmetries of the student: each end stands for its orbit, and those of two close
points may come from different sheets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shallows.mathematics.homotopy.close_roots import OPEN, CloseRoot, Neighbourhood, close_roots
from shallows.mathematics.homotopy.clusters import ILL_CONDITIONED
from shallows.mathematics.homotopy.resolution import resolve_together
from shallows.mathematics.homotopy.solutions import SolutionSet
from shallows.questions.charts.continuation.equations import Complex, CriticalEquations
from shallows.questions.charts.continuation.lost_paths import Settled


@dataclass(frozen=True)
class Resolved:
    """Singular ends as the exact equations have them, in the problem's coordinates: `simple` points, isolated
    `multiple` ones with their `multiplicities`; `run` is left with the ends that are not decided or not isolated."""

    simple: Complex
    multiple: Complex
    multiplicities: list[int]
    run: Settled


def close_points(
    run: Settled, system: Any, equations: CriticalEquations, restored: Callable[[Complex], Complex]
) -> Resolved:
    """Resolve singular ends, together with badly conditioned regular ones next to them."""
    poor = [k for k, end in enumerate(run.finite) if end.condition > ILL_CONDITIONED]
    ends = [*run.singular, *(run.finite[k] for k in poor)] if run.singular else []
    points = restored(np.array([end.point for end in ends]).reshape(len(ends), run.finite.n))
    tensors, singular = equations.tensors(points), run.singular.count

    def decide(group: list[int]) -> Neighbourhood:
        if min(group) >= singular:
            return OPEN
        centre = np.mean([_nearest_image(equations, points[k], points[group[0]]) for k in group], axis=0)
        count = sum(ends[k].multiplicity for k in group)
        return close_roots(system, centre, count, float(np.abs(centre).max()) or None)

    roots: list[CloseRoot] = []
    settled: set[int] = set()
    for group, near in resolve_together(tensors / (np.abs(tensors).max(initial=0.0) or 1.0), decide):
        roots += near.roots
        settled |= set(group) if near.roots else set()
    gone = {poor[k - singular] for k in settled if k >= singular}
    left = [k for k in range(singular) if k not in settled]
    rest = replace(
        run,
        finite=SolutionSet(tuple(end for k, end in enumerate(run.finite) if k not in gone), run.finite.n),
        singular=SolutionSet(tuple(run.singular[k] for k in left), run.singular.n),
        isolated=run.isolated[left],
    )
    multiple = [root for root in roots if root.multiplicity > 1]
    return Resolved(
        _table([root.point for root in roots if root.multiplicity == 1], points),
        _table([root.point for root in multiple], points),
        [root.multiplicity for root in multiple],
        rest,
    )


def _table(rows: list[Complex], like: Complex) -> Complex:
    return np.array(rows, np.complex128).reshape(len(rows), like.shape[1])


def _nearest_image(equations: CriticalEquations, x: Complex, other: Complex) -> Complex:
    """The point of x's orbit that is closest to another point."""
    images = equations.orbit(x)
    return np.asarray(images[np.abs(images - other).max(axis=1).argmin()])
