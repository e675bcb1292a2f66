"""Slices of a component by linear spaces, and how its points move with them.

A slice of dimension d is d forms a·x + a₀, one a row (a, a₀). The points of a component of dimension d and degree k on
a generic slice are k; they move with the slice along smooth paths, unless the last slice is special.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.paths import Homotopy, Paths, TrackerSettings, track
from shallows.mathematics.homotopy.sets.numeric import NumericSystem, Row
from shallows.mathematics.homotopy.sparse import straight_line
from shallows.support.seeds import complex_normal

Vector = NDArray[np.complex128]


def random_slice(n: int, dimension: int, rng: np.random.Generator) -> Vector:
    """So many forms with orthonormal gradients."""
    matrix, _ = np.linalg.qr(complex_normal(rng, n, n))
    return np.hstack([matrix[:dimension], complex_normal(rng, dimension, 1)])


def slice_through(point: Vector, dimension: int, rng: np.random.Generator) -> Vector:
    """Random forms that vanish at a point."""
    forms = random_slice(len(point), dimension, rng)
    forms[:, -1] = -forms[:, :-1] @ point
    return forms


class Sliced:
    """Equations of which a component is a regular solution set, with d forms whose coefficients are parameters."""

    def __init__(
        self,
        system: NumericSystem,
        n: int,
        dimension: int,
        rng: np.random.Generator,
        projective: bool = False,
    ) -> None:
        self.n, self.dimension, self.projective = n, dimension, projective
        rows = system.squared(system.unknowns - dimension, rng)
        size = dimension * (n + 1)
        full: list[Row] = [{(*key, *((0,) * size)): value for key, value in row.items()} for row in rows]
        for i in range(dimension):
            row: Row = {}
            for j in range(n + 1):
                key = [0] * (system.unknowns + size)
                if j < n:
                    key[j] = 1
                key[system.unknowns + i * (n + 1) + j] = 1
                row[tuple(key)] = 1.0 + 0j
            full.append(row)
        nothing = np.zeros(size, np.complex128)
        self._frame = straight_line(
            full, full, system.unknowns, projective=projective, parameters=(nothing, nothing)
        )

    def homotopy(self, begin: Vector, end: Vector) -> Homotopy:
        """From one slice (t = 1) to another (t = 0)."""
        size = self.dimension * (self.n + 1)
        fixed = self._frame.complexes[2 * size :]
        complexes = np.concatenate([end.ravel(), (begin - end).ravel(), fixed])
        return replace(self._frame, complexes=complexes)

    def move(
        self,
        points: Vector,
        begin: Vector,
        end: Vector,
        settings: TrackerSettings,
        threads: int | None = None,
        endgame: bool = False,
    ) -> Paths:
        """The points on another slice; lost paths are tried again with smaller steps."""
        homotopy = self.homotopy(begin, end)
        starts = np.hstack([points, np.ones((len(points), 1))]) if self.projective else points
        paths = track(homotopy, starts, settings, threads=threads, endgame=endgame)
        rows = np.flatnonzero(paths.status != 0)
        if len(rows) and not endgame:
            again = track(homotopy, starts[rows], settings.tighter(), threads=threads, endgame=False)
            paths = paths.with_rows(rows, again)
        return paths
