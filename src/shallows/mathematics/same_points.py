"""When two computed points are one.

- *To a tolerance*: ‖x − y‖_∞ at most a bound that the caller derives from the accuracy of its points and their size
  (`nearest`, `is_among`, `classes`).
- *In chains*: neighbours of neighbours belong together (`chained`, and `chains` of pairs that the caller knows).
- *Chordal*: points that may be large are compared as (x, 1)/√(1+‖x‖²), by k-d trees when they are many, so that one
  number is a relative distance far out and an absolute one near 0 (`close_pairs`, `nearest_chordal`, `PointSet`); up to
  a symmetry group by orbits or invariants.
- *Proved* the same or different: `balls.collector`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.complex128]
Orbit = Callable[[Vector], NDArray[np.complex128]]
Invariants = Callable[[NDArray[np.complex128]], NDArray[np.complex128]]
#: Chordal distance below which tracked points, good to about 1e-13 when regular, are one solution.
SAME = 1e-8
#: Room for the rounding of a sum of coordinates of a unit vector, of which there are some hundred at most.
ON_A_LINE = 1e-13
#: Up to so many pairs of points are compared along one line; a k-d tree begins with 50 ms for loading SciPy's.
FEW = 1_000_000
#: From so many pairs on SciPy finds the classes, which begins with 30 ms for loading it: as long as these take here.
MANY_PAIRS = 20_000


def nearest(points: NDArray[Any], known: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The number of the known point (a row) next to each point, −1 when there is none, and its distance ‖·‖_∞.

    >>> index, gap = nearest(np.array([[1.0, 2.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 2.5]]))
    >>> index.tolist(), gap.tolist()
    ([1, 0], [0.5, 0.0])
    """
    index, gap = np.full(len(points), -1, np.intp), np.full(len(points), np.inf)
    if len(known):
        for i, point in enumerate(points):
            gaps = np.abs(known - point).max(axis=1)
            index[i], gap[i] = np.argmin(gaps), gaps.min()
    return index, gap


def classes(points: NDArray[Any], tolerance: float) -> list[NDArray[np.intp]]:
    """Rows that are within the tolerance of the first of their class, in the order of these.

    >>> [rows.tolist() for rows in classes(np.array([[0.0], [1.0], [1e-9]]), 1e-8)]
    [[0, 2], [1]]
    """
    left = np.arange(len(points))
    found = []
    while len(left):
        own = np.abs(points[left] - points[left[0]]).max(axis=1, initial=0.0) <= tolerance
        found.append(left[own])
        left = left[~own]
    return found


def is_among(point: NDArray[Any], known: Sequence[NDArray[Any]], tolerance: float) -> bool:
    """Whether a point is one of those known, of the same shape, to a tolerance.

    >>> is_among(np.ones(2), [np.zeros(2), np.ones(2) + 1e-9], 1e-8), is_among(np.ones(2), [], 1e-8)
    (True, False)
    """
    if not len(known):
        return False
    gap = nearest(np.reshape(point, (1, -1)), np.reshape(known, (len(known), -1)))[1]
    return bool(gap[0] <= tolerance)


def chains(count: int, first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int64]:
    """Numbers 0, 1, … of the classes of `count` things when the pairs (first, second) belong together.

    >>> chains(5, np.array([0, 3]), np.array([2, 4])).tolist()
    [0, 1, 0, 2, 2]
    """
    if len(first) > MANY_PAIRS:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        graph = coo_array((np.ones(len(first)), (first, second)), shape=(count, count))
        return np.asarray(connected_components(graph, directed=False)[1], np.int64)
    head = list(range(count))  # each thing hangs on one of its class with no greater number
    for pair in zip(np.asarray(first).tolist(), np.asarray(second).tolist(), strict=True):
        low, high = sorted(_first_of_all(head, k) for k in pair)
        head[high] = low
    heads = np.array([_first_of_all(head, k) for k in range(count)], np.int64)
    return np.unique(heads, return_inverse=True)[1].astype(np.int64)


def _first_of_all(head: list[int], k: int) -> int:
    """Whom k hangs on in the end; all on the way hang on it from now on."""
    end = k
    while head[end] != end:
        end = head[end]
    while head[k] != end:
        head[k], k = end, head[k]
    return end


def chained(points: NDArray[Any], reach: float) -> list[list[int]]:
    """Rows that hang together: from each to each other by steps ‖·‖₂ no longer than `reach`.

    >>> chained(np.array([[0.0], [1.0], [3.0], [1.9]]), 1.0)
    [[0, 1, 3], [2]]
    """
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
    label = chains(len(points), *np.nonzero(gaps <= reach))
    return [np.flatnonzero(label == number).tolist() for number in range(label.max(initial=-1) + 1)]


def chordal_coordinates(points: NDArray[np.complex128]) -> NDArray[np.float64]:
    """(x, 1)/√(1+‖x‖²) as real vectors: distances between them are relative for large points."""
    ones = np.ones((len(points), 1), np.complex128)
    full = np.hstack([points, ones])
    full = full / np.linalg.norm(full, axis=1, keepdims=True)
    return np.hstack([full.real, full.imag])


def nearest_chordal(
    points: NDArray[np.complex128], known: NDArray[np.complex128]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The chordal distance to the nearest known point, infinite when there is none, and its number."""
    from scipy.spatial import cKDTree

    if not len(known):
        return np.full(len(points), np.inf), np.zeros(len(points), np.intp)
    distance, index = cKDTree(chordal_coordinates(known)).query(chordal_coordinates(points))
    return distance, index


def of_one_sign(points: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Of ±x the one in a half-plane of a functional: points that are close up to sign become close.

    The edge of the half-plane is neither the real nor the imaginary axis, where most points of interest lie.

    >>> of_one_sign(np.array([[-1.0, -2.0], [1.0, 2.0]]) * (1 + 0j)).real.tolist()
    [[-1.0, -2.0], [-1.0, -2.0]]
    """
    value = points @ np.exp(1j + 1j * np.arange(points.shape[1]))
    return np.where((value.real < 0)[:, None], -points, points)


def close_pairs(
    points: NDArray[np.complex128], radius: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs i < j of points no further apart, chordally, than radius[i] + radius[j]: all of them."""
    where = chordal_coordinates(points)
    rows = _with_neighbours(where, radius)
    if len(rows) < 2:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    pairs = rows[_pairs_within(where[rows], 2 * float(radius[rows].max()))]
    apart = np.linalg.norm(where[pairs[:, 0]] - where[pairs[:, 1]], axis=1)
    pairs = pairs[apart <= radius[pairs[:, 0]] + radius[pairs[:, 1]]]
    return pairs[:, 0], pairs[:, 1]


def _pairs_within(points: NDArray[np.float64], radius: float) -> NDArray[np.intp]:
    """Pairs i < j of points no further apart than the radius, one a row."""
    if len(points) ** 2 > FEW:
        from scipy.spatial import cKDTree

        return np.asarray(cKDTree(points).query_pairs(radius, output_type="ndarray"))
    first, second, _ = _within(points, points, radius)
    return np.column_stack([first, second])[first < second]


def _within(
    points: NDArray[np.float64], others: NDArray[np.float64], radius: float
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """All pairs of a point and another no further apart than the radius, and their distances."""
    if len(points) * len(others) > FEW:
        from scipy.spatial import cKDTree

        found = cKDTree(points).sparse_distance_matrix(cKDTree(others), radius, output_type="ndarray")
        return found["i"], found["j"], found["v"]
    line = np.cos(1.0 + np.arange(points.shape[1]))  # distances are at most as long along it as they are
    along = others @ (line / np.linalg.norm(line))
    order, places = np.argsort(along), points @ (line / np.linalg.norm(line))
    slack = radius + ON_A_LINE
    begin = np.searchsorted(along[order], places - slack)
    count = np.searchsorted(along[order], places + slack) - begin
    first = np.repeat(np.arange(len(points)), count)
    second = order[np.arange(len(first)) + np.repeat(begin - np.cumsum(count) + count, count)]
    apart = np.linalg.norm(points[first] - others[second], axis=1)
    close = apart <= radius
    return first[close], second[close], apart[close]


def _with_neighbours(where: NDArray[np.float64], radius: NDArray[np.float64]) -> NDArray[np.int64]:
    """Points that may have another within both radii: seen on a line, where distances shrink, intervals meet."""
    line = np.cos(np.arange(where.shape[1]) ** 2 + 1.0)
    place = where @ (line / np.linalg.norm(line))
    reach = radius + ON_A_LINE
    order = np.argsort(place - reach)
    meets = np.maximum.accumulate((place + reach)[order])[:-1] >= (place - reach)[order][1:]
    linked = np.zeros(len(where), bool)
    linked[1:] |= meets
    linked[:-1] |= meets
    return np.sort(order[linked])


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
        numbers = np.full(len(candidates), -1, dtype=np.intp)
        if not len(candidates):
            return numbers
        where = self._coordinates(candidates)
        images, owner = self._images(candidates, where)
        if self._where is not None:
            first, second, apart = _within(images, self._where, SAME)
            farthest_first = np.argsort(-apart, kind="stable")
            numbers[owner[first[farthest_first]]] = second[farthest_first]
        rest = np.flatnonzero(numbers < 0)
        if not len(rest):
            return numbers
        close: dict[int, list[int]] = {}
        left = np.isin(owner, rest)
        first, second, _ = _within(images[left], where[rest], SAME)
        for k, other in zip(owner[left][first].tolist(), rest[second].tolist(), strict=True):
            close.setdefault(k, []).append(other)
        known, fresh = len(self.points), list[int]()
        for k in rest.tolist():
            if numbers[k] < 0:
                numbers[[k, *close.get(k, ())]] = known + len(fresh)
                fresh.append(k)
        self.points = np.vstack([self.points, candidates[fresh]])
        self._where = where[fresh] if self._where is None else np.vstack([self._where, where[fresh]])
        return numbers

    def _coordinates(self, points: NDArray[np.complex128]) -> NDArray[np.float64]:
        return chordal_coordinates(self.invariants(points) if self.invariants else points)

    def _images(
        self, points: NDArray[np.complex128], where: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Where the points and their images would be in the set, and of which point each is one."""
        if self.invariants is not None or self.orbit is None:
            return where, np.arange(len(points))
        images = [chordal_coordinates(self.orbit(x)) for x in points]
        return np.vstack(images), np.repeat(np.arange(len(points)), [len(image) for image in images])

    def full(self) -> NDArray[np.complex128]:
        """All points of all orbits, each once."""
        if self.orbit is None:
            return self.points
        return PointSet(np.vstack([self.orbit(x) for x in self.points])).points


def most_real(points: NDArray[np.complex128], invariants: Invariants) -> NDArray[np.complex128]:
    """One point of each value of the invariants, one with the least imaginary parts: where real and complex points
    share a value, a real one.

    >>> most_real(np.array([[-0.5 + 0.866j], [1.0], [-0.5 - 0.866j]]), lambda x: np.round(x**3, 2)).real.tolist()
    [[1.0]]
    """
    kept = PointSet(points, invariants=invariants).points
    if len(kept) == len(points):
        return kept
    order = np.argsort(np.abs(points.imag).max(axis=1, initial=0.0), kind="stable")
    return PointSet(points[order], invariants=invariants).points


def orbit_of(group: Orbit | Sequence[ArrayLike] | None) -> Orbit | None:
    """A group as a function x ↦ its orbit: given so, or as matrices (all of them, not generators)."""
    if group is None or callable(group):
        return group
    matrices = np.array([np.asarray(matrix, np.complex128) for matrix in group])
    return lambda x: np.asarray(matrices @ x)
