"""The landscape on a slice of teachers: real critical points and local minima, region by region.

Off the discriminant the critical points move smoothly (paper 000, Theorem 25); across it two of them meet and their
number jumps by two. The cone of rank-one tensors has a second wall, which the theorem passes over: where p = ⟨w^⊗d, T⟩
has a double zero a critical point goes through the cone's vertex, the zero tensor. The number of critical points is the
same on both sides (one less on the wall), but a saddle of one side is a local minimum on the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shallows.model.problem import Problem
from shallows.questions.discriminants.costs import require_exact, require_grid
from shallows.questions.discriminants.counting import LandscapeCount, count_at, count_zeros, grid_forms
from shallows.questions.discriminants.curves import RankOneCurve
from shallows.questions.discriminants.figures import slice_figure
from shallows.questions.discriminants.known import rank_one
from shallows.questions.discriminants.metrics import metric_values
from shallows.questions.discriminants.polynomial import DISCRIMINANT, Discriminant
from shallows.questions.discriminants.setting import problem_values
from shallows.questions.discriminants.signs import axis
from shallows.support.arguments import typed
from shallows.support.checks import Array, counted, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.records import Records
from shallows.support.seeds import generator

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Axis = tuple[Any, ...]


@dataclass(frozen=True)
class Region:
    """A connected region of the slice with one landscape; `point` is the grid point in it farthest from its edge.

    >>> problem = sh.Problem(np.eye(2), sh.IID.laplace(2), width=1)
    >>> found = sh.landscape_regions(problem, ("t00", -1, 3), ("t11", -1, 3), resolution=41)
    >>> found.regions[0]
    Region(1: 4 real critical points, 2 local minima, 35.2%, around (1.9, 1.9))
    """

    label: int
    real_count: int
    local_minima: int
    share: float
    point: tuple[float, float]

    def __str__(self) -> str:
        return (
            f"{self.label}: {counted(self.real_count, 'real critical point')}, "
            f"{counted(self.local_minima, 'local minimum')}, "
            f"{self.share:.1%}, around ({self.point[0]:.4g}, {self.point[1]:.4g})"
        )

    def __repr__(self) -> str:
        return f"Region({self})"


@dataclass(frozen=True)
class Wall:
    """Two regions that share an edge: what changes from the first to the second, along how many grid edges.

    At a wall of `kind` "discriminant" two critical points meet (paper 000, Theorem 25); at a "vertex" one goes through
    the zero tensor, a saddle on one side and a local minimum on the other.

    >>> problem = sh.Problem(np.eye(2), sh.IID.laplace(2), width=1)
    >>> found = sh.landscape_regions(problem, ("t00", -1, 3), ("t11", -1, 3), resolution=41)
    >>> for wall in found.walls[:2]:
    ...     print(wall.regions, wall.kind, wall.real_change, wall.minima_change)
    (1, 2) discriminant -2 -1
    (2, 3) vertex 0 1
    """

    regions: tuple[int, int]
    real_change: int
    minima_change: int
    edges: int

    @property
    def kind(self) -> str:
        """ "discriminant" where critical points meet, "vertex" where one goes through the zero tensor."""
        return "discriminant" if self.real_change else "vertex"


@dataclass(frozen=True, eq=False)
class LandscapeRegions:
    """The numbers of real critical points and of local minima on a grid of two variables.

    `real_counts[i, j]` and `local_minima[i, j]` belong to (x[j], y[i]); 0 marks points on a wall. `labels` has the
    region of each point (0: on a wall); parts of a region that are thinner than the grid may come out as regions of
    their own. `exact` counts the points that needed exact arithmetic.

    >>> problem = sh.Problem(np.eye(2), sh.Gaussian(2), width=1)
    >>> found = sh.landscape_regions(problem, ("t00", -2, 2), ("t11", -2, 2), resolution=41)
    >>> sorted({(region.real_count, region.local_minima) for region in found.regions})
    [(2, 1), (2, 2)]
    >>> found.at("1/2", "-1/2")                 # at any point, by exact arithmetic
    LandscapeCount(real_count=2, local_minima=2, on_discriminant=False, at_vertex=0, infinite=False)
    """

    discriminant: Discriminant
    horizontal: str
    vertical: str
    x: Array
    y: Array
    real_counts: NDArray[np.int64]
    local_minima: NDArray[np.int64]
    labels: NDArray[np.int64]
    regions: tuple[Region, ...]
    walls: tuple[Wall, ...]
    exact: int

    def at(self, x: object, y: object) -> LandscapeCount:
        """The landscape at any point of the slice, proved."""
        gram, target = _numbers(self.discriminant, {self.horizontal: x, self.vertical: y})
        return count_at(self.discriminant.curve, gram, target)

    def random_points(self, label: int, count: int, rng: int | np.random.Generator = 0) -> Array:
        """Random points of a region: grid points of it, moved within their cell where that keeps the landscape."""
        source = generator(rng)
        places = np.argwhere(self.labels == label)
        if not len(places):
            raise InvalidProblem(
                f"there is no region {label}; the labels are {[r.label for r in self.regions]}."
            )
        chosen = places[source.integers(len(places), size=count)]
        points = np.stack([self.x[chosen[:, 1]], self.y[chosen[:, 0]]], axis=1)
        steps = np.array([np.min(np.diff(self.x)), np.min(np.diff(self.y))])
        moved = points + steps * source.uniform(-0.5, 0.5, points.shape)
        region = next(r for r in self.regions if r.label == label)
        for k, point in enumerate(moved):
            found = self.at(float(point[0]), float(point[1]))
            if (found.real_count, found.local_minima) == (region.real_count, region.local_minima):
                points[k] = point
        return points

    def save(self, path: str | Path) -> Path:
        """Write `path`.json and `path`.npz; `LandscapeRegions.load` reads them. The path of the first."""
        return RECORDS.save(path, self)

    @classmethod
    def load(cls, path: str | Path) -> LandscapeRegions:
        """What `save` wrote; it still answers `at` any point, by exact arithmetic.

        >>> import tempfile
        >>> problem = sh.Problem(np.eye(2), sh.Gaussian(2), width=1)
        >>> found = sh.landscape_regions(problem, ("t00", -2, 2), ("t11", -2, 2), resolution=11)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = sh.discriminants.LandscapeRegions.load(found.save(f"{folder}/slice"))
        >>> again.regions == found.regions, again.at("1/2", "-1/2").local_minima
        (True, 2)
        """
        regions: LandscapeRegions = RECORDS.load(path)
        return regions

    def figure(self) -> Figure:
        """The slice as a Plotly figure: regions by colour, the focal curve and the vertex wall."""
        return slice_figure(self)

    def __repr__(self) -> str:
        lines = [
            f"LandscapeRegions: {self.discriminant.curve.title}",
            f"  {self.horizontal} in [{self.x[0]:g}, {self.x[-1]:g}], "
            f"{self.vertical} in [{self.y[0]:g}, {self.y[-1]:g}], {len(self.x)} x {len(self.y)} points, "
            f"{self.exact} decided exactly",
        ]
        return "\n".join(lines + [f"  region {region}" for region in self.regions])


RECORDS = Records("shallows-landscape-regions", 1, LandscapeRegions, Region, Wall, DISCRIMINANT)


@typed
def landscape_regions(
    subject: Problem | Discriminant,
    horizontal: Axis,
    vertical: Axis,
    *,
    resolution: int = 201,
    **values: object,
) -> LandscapeRegions:
    """The number of real critical points and of local minima as two variables vary (paper 000, Theorem 25).

    `subject` is a rank-one problem with two inputs (its data and its teacher are the fixed values) or a discriminant,
    with `values` (and `data=`) for its other variables. An axis is (name, low, high) or (name, grid values). Counts
    come from floats with an error bound and from exact root isolation where that does not decide.

    >>> from shallows import IID, Problem
    >>> problem = Problem(np.eye(2), IID.laplace(2), width=1)
    >>> found = landscape_regions(problem, ("t00", -1, 3), ("t11", -1, 3), resolution=41)
    >>> sorted({(region.real_count, region.local_minima) for region in found.regions})
    [(2, 1), (2, 2), (4, 2)]
    """
    resolution = positive_integer("resolution", resolution, 2)
    (name_x, many_x), (name_y, many_y) = (_points(each, resolution) for each in (horizontal, vertical))
    discriminant = _on_slice(subject, (name_x, name_y), values)
    require_grid(discriminant.curve.degree, many_x, many_y)
    x, y = _axis(horizontal, resolution), _axis(vertical, resolution)
    _require_metrics(discriminant, (name_x, name_y), x, y)
    real, minima, exact = _counts(discriminant, (name_x, name_y), x, y)
    labels, regions = label_regions(real, minima, x, y)
    return LandscapeRegions(
        discriminant,
        name_x,
        name_y,
        x,
        y,
        real,
        minima,
        labels,
        regions,
        walls_between(labels, regions),
        exact,
    )


def _on_slice(
    subject: Problem | Discriminant, names: tuple[str, str], values: dict[str, object]
) -> Discriminant:
    if isinstance(subject, Problem):
        curve, teacher = problem_values(subject)
        given = {**{name: value for name, value in teacher.items() if name not in names}, **values}
        if not any(name in curve.metric for name in (*names, *given)):
            given["data"] = subject.data
        else:
            metric = {
                name: value
                for name, value in metric_values(curve, subject.data).items()
                if name not in (*names, *values)
            }
            given = {**given, **metric}
        discriminant = rank_one(curve.tensor_degree).specialize(**given)  # type: ignore[arg-type]
    elif isinstance(subject, Discriminant):
        discriminant = subject.specialize(**values)  # type: ignore[arg-type]
    else:
        raise InvalidProblem(f"subject is {subject!r}; expected a Problem or a Discriminant.")
    every = {*discriminant.curve.teacher, *discriminant.curve.metric, *discriminant.variables}
    unknown = [name for name in names if name not in every]
    if unknown:
        known = ", ".join((*discriminant.curve.teacher, *discriminant.metric))
        raise InvalidProblem(f"There is no variable {' and no '.join(unknown)}; the axes are two of {known}.")
    if names[0] == names[1] or set(discriminant.variables) != set(names):
        raise InvalidProblem(
            f"The slice is in {names[0]} and {names[1]}, but the variables without a value are "
            f"{', '.join(discriminant.variables)}. Fix: give a number for each of the others."
        )
    return discriminant if discriminant.metric else discriminant.reduced()


def _numbers(
    discriminant: Discriminant, values: dict[str, object]
) -> tuple[list[list[Fraction]], list[Fraction]]:
    return discriminant.numbers(**values)  # type: ignore[arg-type]


def _require_metrics(discriminant: Discriminant, names: tuple[str, str], x: Array, y: Array) -> None:
    """Refuse grids with metrics that are not positive definite.

    Where the Gram matrix is linear in the two variables the corners of the grid are enough: metrics form a convex cone.
    """
    degrees = [int(entry.total_degree()) for row in discriminant.gram for entry in row if entry]
    linear = max(degrees, default=0) <= 1
    for a in (x[0], x[-1]) if linear else x:
        for b in (y[0], y[-1]) if linear else y:
            _numbers(discriminant, {names[0]: float(a), names[1]: float(b)})


def _points(given: Axis, resolution: int) -> tuple[str, int]:
    """The name of an axis, and how many points it has."""
    if isinstance(given, str):
        raise InvalidProblem(f"An axis is {given!r}; expected (name, low, high). Fix: ({given!r}, -1, 1)")
    if len(given) not in (2, 3):
        raise InvalidProblem(f"An axis is {given!r}; expected (name, low, high) or (name, grid values).")
    return str(given[0]), resolution if len(given) == 3 else int(np.size(given[1]))


def _axis(given: Axis, resolution: int) -> Array:
    """The points of an axis."""
    name, *values = given
    if len(values) == 2:
        return axis(str(name), np.linspace(float(values[0]), float(values[1]), resolution))
    return axis(str(name), values[0])


def _counts(
    discriminant: Discriminant, names: tuple[str, str], x: Array, y: Array
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Counts on the grid: by the sign of P where that decides, by Bezoutians otherwise."""
    curve = discriminant.curve
    decisive = all(len(curve.counts(sign)) == 1 for sign in (1, -1) if curve.counts(sign))
    if decisive and discriminant.expanded:
        found = discriminant.sign_slice((names[0], x.tolist()), (names[1], y.tolist()))
        table = {sign: (curve.counts(sign) or (0,))[0] for sign in (1, -1)}
        real = np.where(found.signs > 0, table[1], np.where(found.signs < 0, table[-1], 0)).astype(np.int64)
        certain, exact = found.signs != 0, found.exact
    else:
        assert isinstance(curve, RankOneCurve)
        forms = grid_forms(curve.coefficients(discriminant.gram, discriminant.target), names, x, y)
        real, certain = count_zeros(*forms)
        exact = 0
    minima = real // 2
    if isinstance(curve, RankOneCurve):
        forms = grid_forms(curve.pairing(discriminant.gram, discriminant.target), names, x, y)
        zeros, apart = count_zeros(*forms)
        minima, certain = (real + zeros) // 2, certain & apart
    return _decide(discriminant, names, x, y, real, minima, certain, exact)


def _decide(
    discriminant: Discriminant,
    names: tuple[str, str],
    x: Array,
    y: Array,
    real: NDArray[np.int64],
    minima: NDArray[np.int64],
    certain: NDArray[np.bool_],
    exact: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    require_exact(discriminant.curve.degree, int(np.sum(~certain)))
    for i, j in np.argwhere(~certain):
        gram, target = _numbers(discriminant, {names[0]: float(x[j]), names[1]: float(y[i])})
        found = count_at(discriminant.curve, gram, target)
        wall = found.on_discriminant or found.at_vertex
        real[i, j], minima[i, j] = (0, 0) if wall else (found.real_count, found.local_minima)
    return real, minima, exact + int(np.sum(~certain))


def label_regions(
    real: NDArray[np.int64], minima: NDArray[np.int64], x: Array, y: Array
) -> tuple[NDArray[np.int64], tuple[Region, ...]]:
    """The connected regions of a grid with the same counts, largest first; counts of 0 are walls."""
    from scipy import ndimage  # takes a while to import

    labels = np.zeros(real.shape, dtype=np.int64)
    found: list[tuple[int, int, tuple[slice, ...], NDArray[np.bool_]]] = []
    base = int(minima.max(initial=0)) + 1
    for count, low in (divmod(int(code), base) for code in np.unique((base * real + minima)[real != 0])):
        parts, _ = ndimage.label((real == count) & (minima == low), structure=np.ones((3, 3)))
        boxes = enumerate(ndimage.find_objects(parts), start=1)
        found += [(count, low, box, parts[box] == k) for k, box in boxes]
    found.sort(key=lambda part: -int(np.sum(part[3])))
    regions = []
    for label, (count, low, box, mask) in enumerate(found, start=1):
        labels[box][mask] = label
        depth = ndimage.distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1]
        i, j = np.unravel_index(int(np.argmax(depth)), depth.shape)
        inside = float(x[box[1].start + j]), float(y[box[0].start + i])
        regions.append(Region(label, count, low, int(np.sum(mask)) / labels.size, inside))
    return labels, tuple(regions)


def walls_between(labels: NDArray[np.int64], regions: Sequence[Region]) -> tuple[Wall, ...]:
    """Pairs of regions with neighbouring grid points, and how often."""
    sides = ((labels[1:], labels[:-1]), (labels[:, 1:], labels[:, :-1]))
    pairs = np.concatenate([np.stack(side, axis=-1)[side[0] != side[1]] for side in sides])
    kinds, counts = np.unique(np.sort(pairs[pairs.min(axis=1) > 0], axis=1), axis=0, return_counts=True)
    by_label = {region.label: region for region in regions}
    return tuple(
        Wall(
            (a, b),
            by_label[b].real_count - by_label[a].real_count,
            by_label[b].local_minima - by_label[a].local_minima,
            edges,
        )
        for (a, b), edges in zip(kinds.tolist(), counts.tolist(), strict=True)
    )
