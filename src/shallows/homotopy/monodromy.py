"""Monodromy: from one solution of a generic member of a family to all of them.

Carrying solutions around loops in parameter space permutes them, and transitively when the solution variety
is irreducible. A symmetry group of the system is divided out: one representative an orbit is tracked.
(T. Duff, C. Hill, A. Jensen, K. Lee, A. Leykin, J. Sommars, "Solving polynomial systems via homotopy
continuation and monodromy", IMA J. Numer. Anal. 39, 2019.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.errors import InvalidProblem
from shallows.homotopy.classify import chart_coordinates
from shallows.homotopy.families import Family, Vector
from shallows.homotopy.parameter import random_parameters
from shallows.homotopy.paths import TrackerSettings, track
from shallows.homotopy.solve import seed_of

#: Points closer than this, relatively, are one solution: tracked points are good to about 1e-13.
_SAME = 1e-8
Orbit = Callable[[Vector], NDArray[np.complex128]]


@dataclass(frozen=True)
class MonodromyResult:
    """Solutions found at `parameters`, one an orbit, and what is known about completeness.

    completeness: "count-matched" when the target count was reached, "trace-tested" when the trace test
    passed, "sampled" otherwise: loops stopped bringing new ones, which proves nothing.
    """

    points: NDArray[np.complex128]
    parameters: Vector
    loops: int
    lost: int
    completeness: str
    seed: int

    @property
    def count(self) -> int:
        """The number of orbits found."""
        return len(self.points)

    def __repr__(self) -> str:
        return (
            f"MonodromyResult: {self.count} solutions ({self.completeness}) after {self.loops} loops, "
            f"{self.lost} paths lost on the way, seed {self.seed}"
        )


class PointSet:
    """Distinct points up to a group: `add` returns those that are new."""

    def __init__(self, points: NDArray[np.complex128], orbit: Orbit | None = None) -> None:
        self.orbit = orbit
        self.points = np.zeros((0, points.shape[1]), np.complex128)
        self.add(points)

    def add(self, candidates: NDArray[np.complex128]) -> int:
        """Add the candidates that are no point of the set, nor in the orbit of one; how many there were."""
        from scipy.spatial import cKDTree

        if not len(candidates):
            return 0
        fresh: list[Vector] = []
        images = [self.orbit(x) if self.orbit else x[None] for x in candidates]
        known = np.zeros(len(candidates), bool)
        if len(self.points):
            tree = cKDTree(chart_coordinates(self.points))
            for k, image in enumerate(images):
                distance, _ = tree.query(chart_coordinates(image))
                known[k] = (distance < _SAME).any()
        for k in np.flatnonzero(~known).tolist():
            if fresh:
                near = chart_coordinates(np.array(fresh))
                here = chart_coordinates(images[k])
                gaps = np.linalg.norm(near[:, None] - here[None], axis=2)
                if (gaps < _SAME).any():
                    continue
            fresh.append(candidates[k])
        if fresh:
            self.points = np.vstack([self.points, np.array(fresh)])
        return len(fresh)

    def full(self) -> NDArray[np.complex128]:
        """All points of all orbits, each once."""
        if self.orbit is None:
            return self.points
        return PointSet(np.vstack([self.orbit(x) for x in self.points])).points


def orbit_of(group: Orbit | Sequence[ArrayLike] | None) -> Orbit | None:
    """A group as a function x ↦ its orbit: given so, or as matrices (all of them, not generators)."""
    if group is None or callable(group):
        return group
    matrices = np.array([np.asarray(matrix, np.complex128) for matrix in group])
    return lambda x: np.asarray(matrices @ x)


def monodromy(
    family: Family,
    solutions: ArrayLike,
    parameters: ArrayLike,
    rng: int | np.random.Generator = 0,
    *,
    group: Orbit | Sequence[ArrayLike] | None = None,
    target: int | None = None,
    patience: int = 8,
    max_loops: int = 200,
    trace: bool = True,
    threads: int | None = None,
    settings: TrackerSettings | None = None,
) -> MonodromyResult:
    """All solutions at generic complex `parameters`, from one or more known ones.

    Loops go by two random members. It stops at `target` solutions (orbits, with a `group`), or after
    `patience` loops without a new one; then, with `trace`, the trace test tells whether any are missing,
    and if so the loops go on.
    """
    from shallows.homotopy.trace import trace_test

    seed = seed_of(rng)
    generator = np.random.default_rng(seed)
    settings = settings or TrackerSettings()
    base = np.array(parameters, dtype=np.complex128)
    if base.shape != (family.parameter_count,):
        raise InvalidProblem(f"got {base.size} parameters for a family with {family.parameter_count}")
    known = np.array(solutions, dtype=np.complex128, ndmin=2)
    if known.shape[1] != family.n or not len(known):
        raise InvalidProblem(f"expected known solutions with {family.n} coordinates, got shape {known.shape}")
    orbit = orbit_of(group)
    found = PointSet(known, orbit)
    idle, lost, tests = 0, 0, 0
    size = float(np.abs(base).max())
    loops = 0
    while loops < max_loops:
        if target is not None and len(found.points) >= target:
            return MonodromyResult(found.points, base, loops, lost, "count-matched", seed)
        if idle >= patience:
            if not trace or tests >= 3:
                break
            tests += 1
            test = trace_test(family, found.full(), base, generator, threads=threads, settings=settings)
            if test.passed:
                return MonodromyResult(found.points, base, loops, lost, "trace-tested", seed)
            found.add(test.missing)
            idle = 0
        loops += 1
        corners = [
            base,
            random_parameters(family, generator, size),
            random_parameters(family, generator, size),
        ]
        points = found.points
        for begin, end in zip(corners, [*corners[1:], base], strict=True):
            paths = track(family.segment(begin, end), points, settings, threads=threads, endgame=False)
            arrived = paths.status == 0
            lost += int(np.count_nonzero(~arrived))
            points = paths.ends[arrived]
        idle = 0 if found.add(points) else idle + 1
    return MonodromyResult(found.points, base, loops, lost, "sampled", seed)
