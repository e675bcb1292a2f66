"""Numeric focal loci where no polynomial is available: any rank, any number of inputs, any degree.

A teacher t is a focal point of (X, s) when t = s + v/κ for a normal v at s and a principal curvature κ in the
direction v (paper 000, Remark 24). `focal_cloud` draws random s and v; `focal_slice` moves such points onto a plane of
teachers with two free entries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shallows import coordinates
from shallows._checks import Array, generator, positive_integer
from shallows.activations import Power
from shallows.data.base import InnerProduct, as_inner_product
from shallows.errors import InvalidProblem
from shallows.geometry.manifolds import Chart, MatricesOfRank, SumsOfPowers
from shallows.problem import Problem

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from shallows.geometry.distance import LocalGeometry

#: Curvatures below this times the largest one are flat: the focal point is at infinity.
_FLAT = 1e-9
#: A point counts as focal below this defect; the equations also hold at the zero tensor, where it is about 1.
_FOCAL = 1e-6


@dataclass(frozen=True, eq=False)
class FocalCloud:
    """Focal points, one a row: `teachers` t, the `students` s that degenerate there, and ‖t − s‖ in the metric.

    `defects` holds the smallest |eigenvalue| of Id − K(t − s), K the shape operator: zero at a focal point.
    """

    title: str
    n: int
    degree: int
    teachers: Array
    students: Array
    distances: Array
    defects: Array

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the teacher's entries, as in `rank_one`: t00, t01, …."""
        return entry_names(self.n, self.degree)

    def __len__(self) -> int:
        return len(self.teachers)

    def figure(self, axes: tuple[int, ...] = (0, 1, 2)) -> Figure:
        """The points in two or three of the teacher's entries."""
        from shallows.discriminants.figures import cloud_figure

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

    Every non-zero principal curvature gives one, so that there are up to `count` × dim X points.

    >>> from shallows import Frobenius
    >>> cloud = focal_cloud(Frobenius(3), rank=2, count=5)
    >>> t00, t01, t02, t11, t12, t22 = cloud.teachers[0]
    >>> values = np.linalg.eigvalsh([[t00, t01, t02], [t01, t11, t12], [t02, t12, t22]])
    >>> bool(np.min(np.diff(values)) < 1e-9)                  # Prop. 33: a double eigenvalue
    True
    """
    from shallows.geometry.distance import LocalGeometry  # scipy.linalg takes a while to import

    data = as_inner_product(data)
    rank, degree = positive_integer("rank", rank), positive_integer("degree", degree, 2)
    count, source = positive_integer("count", count), generator(rng)
    gram = data.gram(degree)
    draw = _student_chart(data.n, rank, degree)
    rows: list[tuple[Array, Array, float, float]] = []
    for _ in range(count):
        geometry = LocalGeometry(draw(source), gram)
        normal = geometry.normal_frame @ source.standard_normal(geometry.normal_frame.shape[1])
        normal /= geometry.length(normal)
        curvatures = np.linalg.eigvalsh(geometry.shape_operator(normal))
        largest = float(np.max(np.abs(curvatures)))
        for kappa in curvatures[np.abs(curvatures) > _FLAT * largest]:
            rows.append(_row(geometry, geometry.point + normal / kappa))
    return _cloud(f"rank {rank}, degree {degree}, {data!r}", data.n, degree, rows)


def _row(geometry: LocalGeometry, teacher: Array) -> tuple[Array, Array, float, float]:
    operator = geometry.shape_operator(geometry.normal_part(teacher - geometry.point))
    defect = float(np.min(np.abs(1 - np.linalg.eigvalsh(operator))))
    return teacher, geometry.point, geometry.length(teacher - geometry.point), defect


def _cloud(title: str, n: int, degree: int, rows: list[tuple[Array, Array, float, float]]) -> FocalCloud:
    size = coordinates.dimension(n, degree)
    teachers = np.array([row[0] for row in rows]).reshape(-1, size)
    students = np.array([row[1] for row in rows]).reshape(-1, size)
    return FocalCloud(
        title, n, degree, teachers, students, np.array([r[2] for r in rows]), np.array([r[3] for r in rows])
    )


def _student_chart(n: int, rank: int, degree: int) -> Callable[[np.random.Generator], Chart]:
    """Draws a chart at a random student of this rank; refused when students fill an open set."""
    dimension = rank * n - (rank * (rank - 1) // 2 if degree == 2 else 0)
    ambient = coordinates.dimension(n, degree)
    if (degree == 2 and rank >= n) or dimension >= ambient:
        raise InvalidProblem(
            f"Tensors of rank {rank}, degree {degree} and {n} inputs fill the space of dimension {ambient}: there is "
            "no normal direction and no focal locus. Fix: a smaller rank."
        )

    def draw(source: np.random.Generator) -> Chart:
        W = source.standard_normal((rank, n)) / np.sqrt(n)
        a = source.choice([-1.0, 1.0], size=rank)
        if degree == 2:
            return MatricesOfRank(W.T @ (a[:, None] * W), rank)
        return SumsOfPowers(W, a, degree)

    return draw


def focal_slice(
    problem: Problem,
    horizontal: tuple[str, float, float],
    vertical: tuple[str, float, float],
    count: int = 100,
    rng: int | np.random.Generator = 0,
) -> FocalCloud:
    """Focal points with all entries of the teacher but two equal to the problem's, within a window.

    The unknowns are the student's parameters u, a null vector ν of the Hessian and the two free entries; the equations
    ∇L = 0, ∇²L ν = 0, ‖ν‖ = 1 leave a curve. `count` random starts are moved onto it by Gauss-Newton steps of least
    length; those that arrive inside the window are returned: a picture of the curve, with no promise to be all of it.
    """
    if not isinstance(problem.activation, Power) or problem.degree < 2:
        raise InvalidProblem(f"The activation is {problem.activation!r}; expected Power(d) with d ≥ 2.")
    names = entry_names(problem.n, problem.degree)
    places = [_place(axis[0], names) for axis in (horizontal, vertical)]
    if places[0] == places[1]:
        raise InvalidProblem(
            f"Both axes are {horizontal[0]}; expected two different entries of {', '.join(names)}."
        )
    lows = np.array([horizontal[1], vertical[1]], dtype=np.float64)
    highs = np.array([horizontal[2], vertical[2]], dtype=np.float64)
    if not np.all(lows < highs):
        raise InvalidProblem(f"The window {horizontal}, {vertical} is empty; expected low < high.")
    source, gram = generator(rng), problem.gram()
    draw = _student_chart(problem.n, problem.width, problem.degree)
    target = np.array(problem.target_tensor().entries)
    rows = []
    for _ in range(positive_integer("count", count)):
        free = source.uniform(lows, highs)
        teacher = target.copy()
        teacher[places] = free
        found = _move(_scaled(draw, source, teacher), gram, teacher, places)
        if found is None:
            continue
        geometry, teacher = found
        inside = np.all((teacher[places] >= lows) & (teacher[places] <= highs))
        row = _row(geometry, teacher)
        if inside and row[3] < _FOCAL:
            rows.append(row)
    title = f"rank {problem.width}, degree {problem.degree}, {problem.data!r}, {horizontal[0]} and {vertical[0]} free"
    return _cloud(title, problem.n, problem.degree, rows)


def _place(name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise InvalidProblem(f"unknown variable {name}: the teacher's entries are {', '.join(names)}.")
    return names.index(name)


def _scaled(
    draw: Callable[[np.random.Generator], Chart], source: np.random.Generator, teacher: Array
) -> Chart:
    """A random student about as large as the teacher."""
    chart = draw(source)
    point = chart.value(chart.base)
    factor = float(np.linalg.norm(teacher)) / max(float(np.linalg.norm(point)), 1e-300)
    if isinstance(chart, MatricesOfRank):
        matrix = np.zeros((chart.n, chart.n))
        rows, columns = coordinates.indices(chart.n, 2).T
        matrix[rows, columns] = matrix[columns, rows] = factor * point
        return MatricesOfRank(matrix, chart.rank)
    assert isinstance(chart, SumsOfPowers)
    return SumsOfPowers(chart.neurons, factor * chart.signs, chart.degree)


def _move(
    chart: Chart, gram: Array, teacher: Array, places: list[int], steps: int = 25
) -> tuple[LocalGeometry, Array] | None:
    """Gauss-Newton with steps of least length from a random start; None when it does not arrive."""
    from shallows.geometry.distance import LocalGeometry

    k = chart.dimension
    scale = float(np.sqrt(max(float(teacher @ gram @ teacher), 1e-300)))

    def equations(z: Array) -> Array:
        u, null = z[:k], z[k : 2 * k]
        moved = teacher.copy()
        moved[places] = z[2 * k :]
        residual = gram @ (chart.value(u) - moved)
        jacobian = chart.jacobian(u)
        hessian = jacobian.T @ gram @ jacobian + chart.second(u, residual)
        return np.concatenate([jacobian.T @ residual, hessian @ null, [null @ null - 1]]) / scale

    z = np.concatenate([chart.base, _softest(chart, gram, teacher), teacher[places]])
    for _ in range(steps):
        value = equations(z)
        if not np.isfinite(value).all():
            return None
        if np.max(np.abs(value)) < 1e-11:
            break
        slopes = np.array([(equations(z + e) - value) / 1e-7 for e in 1e-7 * np.eye(len(z))]).T
        step = np.linalg.lstsq(slopes, value, rcond=1e-10)[0]
        z = z - step * min(1.0, 1.0 / max(float(np.linalg.norm(step[: 2 * k])), 1e-300))
    if not np.max(np.abs(equations(z))) < 1e-9:
        return None
    final = teacher.copy()
    final[places] = z[2 * k :]
    try:
        return LocalGeometry(chart, gram, z[:k]), final
    except InvalidProblem:  # the student has left the stratum: its limit is of lower rank
        return None


def _softest(chart: Chart, gram: Array, teacher: Array) -> Array:
    """The unit eigenvector of the Hessian's smallest |eigenvalue| at the start."""
    jacobian = chart.jacobian(chart.base)
    residual = gram @ (chart.value(chart.base) - teacher)
    values, vectors = np.linalg.eigh(jacobian.T @ gram @ jacobian + chart.second(chart.base, residual))
    return np.asarray(vectors[:, int(np.argmin(np.abs(values)))])
