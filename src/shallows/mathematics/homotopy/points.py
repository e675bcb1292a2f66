"""Distinct solutions, up to the symmetries of a system."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.mathematics.homotopy.classify import chart_coordinates

Vector = NDArray[np.complex128]
Orbit = Callable[[Vector], NDArray[np.complex128]]
Invariants = Callable[[NDArray[np.complex128]], NDArray[np.complex128]]
#: Points closer than this, relatively, are one solution: tracked points are good to about 1e-13.
SAME = 1e-8


class PointSet:
    """Distinct points; with an `orbit` or `invariants`, one point an orbit of a symmetry group.

    `orbit` gives all images of a point. `invariants` maps points (one a row) to numbers that are equal exactly when the
    points are in one orbit: one comparison a point, however large the group.
    """

    def __init__(
        self,
        points: NDArray[np.complex128],
        orbit: Orbit | None = None,
        invariants: Invariants | None = None,
    ) -> None:
        self.orbit, self.invariants = orbit, invariants
        self.points = np.zeros((0, points.shape[1]), np.complex128)
        self._where: NDArray[np.float64] | None = None
        self.add(points)

    def __len__(self) -> int:
        return len(self.points)

    def add(self, candidates: NDArray[np.complex128]) -> int:
        """Add the candidates that are not in the set yet; how many there were."""
        before = len(self.points)
        self.place(candidates)
        return len(self.points) - before

    def place(self, candidates: NDArray[np.complex128]) -> NDArray[np.intp]:
        """The number of each candidate in the set; those that are new are added."""
        from scipy.spatial import cKDTree

        numbers = np.full(len(candidates), -1, dtype=np.intp)
        if not len(candidates):
            return numbers
        images, where = self._images(candidates), self._coordinates(candidates)
        if self._where is not None:
            tree = cKDTree(self._where)
            for k, image in enumerate(images):
                distance, nearest = tree.query(image)
                if distance.min() < SAME:
                    numbers[k] = nearest[distance.argmin()]
        rest = np.flatnonzero(numbers < 0)
        if not len(rest):
            return numbers
        tree, known = cKDTree(where[rest]), len(self.points)
        fresh: list[int] = []
        for place, k in enumerate(rest.tolist()):
            if numbers[k] >= 0:
                continue
            close = {place}.union(*tree.query_ball_point(images[k], SAME))
            numbers[rest[list(close)]] = known + len(fresh)
            fresh.append(k)
        self.points = np.vstack([self.points, candidates[fresh]])
        self._where = where[fresh] if self._where is None else np.vstack([self._where, where[fresh]])
        return numbers

    def _coordinates(self, points: NDArray[np.complex128]) -> NDArray[np.float64]:
        return chart_coordinates(self.invariants(points) if self.invariants else points)

    def _images(self, points: NDArray[np.complex128]) -> list[NDArray[np.float64]]:
        """Where each point, or any of its images, would be in the set."""
        if self.invariants is None and self.orbit is not None:
            return [chart_coordinates(self.orbit(x)) for x in points]
        return list(self._coordinates(points)[:, None, :])

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
