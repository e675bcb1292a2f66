"""Numeric focal loci where no polynomial is available: any rank, any number of inputs, any degree.

A teacher t is a focal point of (X, s) when t = s + v/κ for a normal v at s and a principal curvature κ in the
direction v (paper 000, Remark 24). `focal_cloud` draws random s and v; `focal_slices` follows the locus in a plane of
teachers with two free entries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates
from shallows.model.data.base import InnerProduct, as_inner_product
from shallows.questions.geometry.manifolds.local_geometry import LocalGeometry
from shallows.questions.geometry.manifolds.rank_manifolds import ManifoldChart, MatricesOfRank, SumsOfPowers
from shallows.support.checks import Array, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Teacher, student, distance, defect.
Row = tuple[Array, Array, float, float]
#: Curvatures below this times the largest one are flat, the focal point at infinity: they are known to a few ε of the
#: largest, so that a smaller one would have less than seven digits.
_FLAT = 1e-9


@dataclass(frozen=True, eq=False)
class FocalCloud:
    """Focal points, one a row: `teachers` t, the `students` s that degenerate there, and ‖t − s‖ in the metric.

    `focal_cloud` draws them at random, `focal_slice` follows them in a plane of teachers (paper 000, section 3.2).
    `defects` holds the smallest |eigenvalue| of Id − K(t − s), K the shape operator: zero at a focal point. `branches`
    numbers the curves of a slice, whose points are in order; in a cloud all are 0.

    >>> cloud = sh.focal_cloud(sh.Frobenius(2), rank=1, count=3)
    >>> len(cloud), cloud.names
    (3, ('t00', 't01', 't11'))
    >>> float(np.abs(cloud.teachers[:, 0] - cloud.teachers[:, 2]).max().round(9))   # multiples of I (Prop. 33)
    0.0
    """

    title: str
    n: int
    degree: int
    teachers: Array
    students: Array
    distances: Array
    defects: Array
    branches: NDArray[np.int64]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the teacher's entries, as in `rank_one`: t00, t01, …."""
        return entry_names(self.n, self.degree)

    def __len__(self) -> int:
        return len(self.teachers)

    def figure(self, axes: tuple[int, ...] = (0, 1, 2)) -> Figure:
        """The points in two or three of the teacher's entries."""
        from shallows.questions.discriminants.figures import cloud_figure

        return cloud_figure(self, axes)

    def __repr__(self) -> str:
        worst = float(np.max(self.defects, initial=0.0))
        return f"FocalCloud({self.title}: {len(self)} focal points, largest defect {worst:.1e})"


def entry_names(n: int, degree: int) -> tuple[str, ...]:
    """t_I for I in lexicographic order; indices of two digits are separated by underscores."""
    joint = "" if n <= 10 else "_"
    return tuple("t" + joint.join(str(i) for i in row) for row in coordinates.indices(n, degree).tolist())


def focal_cloud(
    data: InnerProduct, rank: int = 1, degree: int = 2, count: int = 200, rng: int | np.random.Generator = 0
) -> FocalCloud:
    """Focal points s + v/κ of rank-`rank` tensors for `count` random students s and random unit normals v.

    κ runs over the principal curvatures of the tensors of this rank at s in the direction v (paper 000, Remark 24).
    Every non-zero one gives a focal point, so that there are up to `count` × dim X of them.

    >>> from shallows import Frobenius
    >>> cloud = focal_cloud(Frobenius(3), rank=2, count=5)
    >>> t00, t01, t02, t11, t12, t22 = cloud.teachers[0]
    >>> values = np.linalg.eigvalsh([[t00, t01, t02], [t01, t11, t12], [t02, t12, t22]])
    >>> bool(np.min(np.diff(values)) < 1e-9)                  # Prop. 33: a double eigenvalue
    True
    """
    data = as_inner_product(data)
    rank, degree = positive_integer("rank", rank), positive_integer("degree", degree, 2)
    count, source = positive_integer("count", count), generator(rng)
    gram = data.gram(degree)
    draw = student_chart(data.n, rank, degree)
    rows: list[Row] = []
    for _ in range(count):
        geometry = LocalGeometry(draw(source), gram)
        normal = geometry.normal_frame @ source.standard_normal(geometry.normal_frame.shape[1])
        normal /= geometry.length(normal)
        curvatures = np.linalg.eigvalsh(geometry.shape_operator(normal))
        largest = float(np.max(np.abs(curvatures)))
        for kappa in curvatures[np.abs(curvatures) > _FLAT * largest]:
            rows.append(focal_row(geometry, geometry.point + normal / kappa))
    return make_cloud(f"rank {rank}, degree {degree}, {data!r}", data.n, degree, rows)


def focal_row(geometry: LocalGeometry, teacher: Array) -> Row:
    """(t, s, ‖t − s‖, defect) of a focal point."""
    operator = geometry.shape_operator(geometry.normal_part(teacher - geometry.point))
    defect = float(np.min(np.abs(1 - np.linalg.eigvalsh(operator))))
    return teacher, geometry.point, geometry.length(teacher - geometry.point), defect


def make_cloud(
    title: str, n: int, degree: int, rows: list[Row], branches: list[int] | None = None
) -> FocalCloud:
    """The rows as arrays."""
    size = coordinates.dimension(n, degree)
    teachers = np.array([row[0] for row in rows]).reshape(-1, size)
    students = np.array([row[1] for row in rows]).reshape(-1, size)
    return FocalCloud(
        title, n, degree, teachers, students, np.array([r[2] for r in rows]), np.array([r[3] for r in rows]),
        np.zeros(len(rows), np.int64) if branches is None else np.array(branches, np.int64),
    )  # fmt: skip


def student_chart(n: int, rank: int, degree: int) -> Callable[[np.random.Generator], ManifoldChart]:
    """Draws a chart at a random student of this rank; refused when students fill an open set."""
    dimension = rank * n - (rank * (rank - 1) // 2 if degree == 2 else 0)
    ambient = coordinates.dimension(n, degree)
    if (degree == 2 and rank >= n) or dimension >= ambient:
        raise InvalidProblem(
            f"Tensors of rank {rank}, degree {degree} and {n} inputs fill the space of dimension {ambient}: there is "
            "no normal direction and no focal locus. Fix: a smaller rank."
        )

    def draw(source: np.random.Generator) -> ManifoldChart:
        W = source.standard_normal((rank, n)) / np.sqrt(n)
        a = source.choice([-1.0, 1.0], size=rank)
        if degree == 2:
            return MatricesOfRank(W.T @ (a[:, None] * W), rank)
        return SumsOfPowers(W, a, degree)

    return draw
