"""Slices of a component by linear spaces, and how its points move with them.

A slice of dimension d is d forms a·x + a₀, one a row (a, a₀). The points of a component of dimension d and degree k on
a generic slice are k; they move with the slice along smooth paths, unless the last slice is special.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy._compiled.codes import PathStatus
from shallows.mathematics.homotopy.paths import Homotopy, Paths, TrackerSettings, track
from shallows.mathematics.homotopy.sets.numeric import NumericSystem, Row
from shallows.mathematics.homotopy.sparse import sharpened, straight_line
from shallows.support.seeds import complex_normal

Vector = NDArray[np.complex128]
#: So many paths at once are tracked in double-double, at a fifteenth of the speed.
SHARP_PATHS = 40


def linear_system(forms: Vector) -> NumericSystem:
    """Rows (a, a₀) as equations a·x + a₀ = 0."""
    n = forms.shape[1] - 1
    units = [*(tuple(int(i == j) for i in range(n)) for j in range(n)), (0,) * n]
    return NumericSystem(n, tuple(dict(zip(units, map(complex, form), strict=True)) for form in forms))


def padded(forms: Vector, unknowns: int) -> Vector:
    """The same forms in more unknowns, on which they do not depend."""
    more = np.zeros((len(forms), unknowns + 1 - forms.shape[1]), np.complex128)
    return np.hstack([forms[:, :-1], more, forms[:, -1:]])


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
        self._square = system.squared(system.unknowns - dimension, rng)
        size = dimension * (n + 1)
        full: list[Row] = [
            {(*key, *((0,) * size)): value for key, value in row.items()} for row in self._square.equations
        ]
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

    def sharp_homotopy(self, begin: Vector, end: Vector) -> Homotopy:
        """The same in double-double, from exact coefficients; the forms of both slices are rows like the others."""
        square = self._square
        ends = [
            square.with_equations(linear_system(padded(forms, square.unknowns))) for forms in (end, begin)
        ]
        plain = straight_line(ends[0].equations, ends[1].equations, square.unknowns, self.projective)
        return sharpened(plain, ends[0].exact, ends[1].exact, square.unknowns)

    def move(
        self,
        points: Vector,
        begin: Vector,
        end: Vector,
        settings: TrackerSettings,
        threads: int | None = None,
        endgame: bool = False,
    ) -> Paths:
        """The points on another slice; lost paths are tried again with smaller steps, and then with more digits."""
        homotopy = self.homotopy(begin, end)
        starts = np.hstack([points, np.ones((len(points), 1))]) if self.projective else points
        paths = track(homotopy, starts, settings, threads=threads, endgame=endgame)
        ended = (PathStatus.ARRIVED, PathStatus.CONVERGED, PathStatus.INFINITE)
        rows = np.flatnonzero(~np.isin(paths.status, ended))
        if len(rows) and not endgame:
            again = track(homotopy, starts[rows], settings.tighter(), threads=threads, endgame=False)
            paths = paths.with_rows(rows, again)
            rows = rows[again.status != 0]
        if 0 < len(rows) <= SHARP_PATHS:
            sharp = self.sharp_homotopy(begin, end)
            again = track(sharp, starts[rows], settings.tighter(), threads=threads, endgame=endgame)
            paths = paths.with_rows(rows[again.status == 0], again.rows(np.flatnonzero(again.status == 0)))
        return paths
